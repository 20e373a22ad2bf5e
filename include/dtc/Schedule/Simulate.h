//===- Simulate.h - A schedule in time and memory ---------------*- C++ -*-===//

#ifndef DTC_SCHEDULE_SIMULATE_H
#define DTC_SCHEDULE_SIMULATE_H

#include "dtc/Schedule/Schedule.h"

namespace dtc::schedule {

/// Durations, all in one unit of the caller's. A whole backward takes
/// inputBackward + weightBackward.
struct Times {
  /// For each stage, of one micro-batch.
  std::vector<double> forward, inputBackward, weightBackward;
  /// From the time when a message is both sent and posted until it has come.
  double communication = 0;
  double reduce = 0, update = 0;

  /// A rank's time for one micro-batch, evenly on its stages.
  static Times uniform(const Placement &placement, double forward,
                       double inputBackward, double weightBackward,
                       double communication = 0);
};

/// Bytes of one micro-batch on each stage, which live as the slots of the same
/// names do (Slots.h). Empty: not counted.
struct Bytes {
  std::vector<int64_t> saved, kept, gradients;
};

/// A computation, reduction or update in time.
struct Event {
  Action action;
  double start = 0, end = 0;
};

/// A message in time: from Send until it has come.
struct Transfer {
  int64_t channel = 0, microBatch = 0;
  double start = 0, end = 0;
};

struct Simulation {
  /// For each rank, in order.
  std::vector<std::vector<Event>> ranks;
  /// In the order of channels, and of sends.
  std::vector<Transfer> transfers;
  /// For each rank, when its bytes change (in order) and to what.
  std::vector<std::vector<std::pair<double, int64_t>>> memory;
  /// For each rank.
  std::vector<int64_t> peakBytes;
  /// For each rank, the time of its events.
  std::vector<double> busy;

  /// The last end.
  double makespan = 0;
  /// The longest that one rank takes from its first start to its last end: what
  /// a step costs when steps follow each other (Qi et al. 2023, section 4.1).
  double cost = 0;
  /// The part of the cost in which ranks are idle, on average: 1 - mean of busy
  /// / cost.
  double bubble = 0;
  /// The same time over the mean of busy, which is what the papers on
  /// interleaved schedules quote: cost / mean of busy - 1.
  double bubbleOverIdeal = 0;
};

/// Runs the lists in time. An event starts when its rank is free, the messages
/// that the rank waited for have come, and a buffer for the result has left
/// (getOutgoingSlots in Communicate.h). Posts, waits and sends take no time of
/// their own, and messages do not slow each other down. The schedule has
/// messages; what verify refuses is an error, as are vectors that have not one
/// number for each stage, and negative or infinite numbers.
llvm::Expected<Simulation>
simulate(const Schedule &schedule, const Times &times, const Bytes &bytes = {});

} // namespace dtc::schedule

#endif // DTC_SCHEDULE_SIMULATE_H
