//===- Slots.h - Buffers for what a schedule keeps --------------*- C++ -*-===//
//
// Saved values and messages live in slots: buffers of equal size that are used
// again as soon as they are free. Which slot, follows from the lists alone.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_SCHEDULE_SLOTS_H
#define DTC_SCHEDULE_SLOTS_H

#include "dtc/Schedule/Schedule.h"

namespace dtc::schedule {

struct SlotOptions {
  /// The chunks of a rank draw saved values from one set of slots (each as
  /// large as the largest chunk needs), or each chunk has a set of its own.
  bool shareChunks = true;
  /// A received activation stays in its slot until the last backward of its
  /// micro-batch (Backward or WeightBackward), because saved values refer to
  /// it; otherwise until the forward has used it.
  bool keepActivations = false;
  /// A received gradient stays until the WeightBackward, otherwise until the
  /// InputBackward has used it.
  bool keepGradients = false;
};

/// What a schedule needs at most at one time, on one rank.
struct RankPeaks {
  /// As in Claims: pairs of chunk and micro-batch between forward and input
  /// backward, and between forward and weight backward.
  int64_t inFlight = 0, kept = 0;
  /// Pairs between input backward and weight backward.
  int64_t gradients = 0;
  /// Receives of all channels that are posted and not yet waited for.
  int64_t posted = 0;
};

/// A slot of -1: there is none.
struct SlotAssignment {
  int64_t microBatches = 1;

  /// For each stage and micro-batch (getSaved and so on look them up): the slot
  /// of the values that live
  /// - from Forward to Backward or InputBackward (saved);
  /// - from Forward to Backward or WeightBackward (kept);
  /// - from InputBackward to WeightBackward (gradients; none where the backward
  ///   is whole).
  std::vector<int32_t> saved, kept, gradients;
  /// For each channel and micro-batch: the receiver's slot, from Post to the
  /// last use (for a hand-over on one rank: from the computation that makes the
  /// value), and the sender's slot (none for a hand-over). Post, Wait and the
  /// consumer use the first, the producer and Send the second.
  std::vector<int32_t> received, outgoing;

  /// For each stage, how many slots of these kinds there are; the stages of one
  /// rank have the same number, and the same slots, if chunks share.
  std::vector<int64_t> savedSlots, keptSlots, gradientSlots;
  /// For each channel.
  std::vector<int64_t> receivedSlots, outgoingSlots;
  /// For each rank.
  std::vector<RankPeaks> peaks;

  int64_t getSaved(int64_t stage, int64_t microBatch) const {
    return saved[stage * microBatches + microBatch];
  }
  int64_t getKept(int64_t stage, int64_t microBatch) const {
    return kept[stage * microBatches + microBatch];
  }
  int64_t getGradients(int64_t stage, int64_t microBatch) const {
    return gradients[stage * microBatches + microBatch];
  }
  int64_t getReceived(int64_t channel, int64_t microBatch) const {
    return received[channel * microBatches + microBatch];
  }
  int64_t getOutgoing(int64_t channel, int64_t microBatch) const {
    return outgoing[channel * microBatches + microBatch];
  }
};

/// Colours the intervals in the order of the list: each takes the lowest slot
/// that is free, so there are as many as live at one time at most. The error is
/// verify's (Verify.h).
llvm::Expected<SlotAssignment> assignSlots(const Schedule &schedule,
                                           const SlotOptions &options = {});

} // namespace dtc::schedule

#endif // DTC_SCHEDULE_SLOTS_H
