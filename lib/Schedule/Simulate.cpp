//===- Simulate.cpp - A schedule in time and memory -----------------------===//

#include "dtc/Schedule/Simulate.h"
#include "Execution.h"
#include "dtc/Schedule/Communicate.h"
#include "dtc/Schedule/Verify.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include <algorithm>
#include <cmath>
#include <numeric>

using namespace llvm;

namespace dtc::schedule {

Times Times::uniform(const Placement &placement, double forward,
                     double inputBackward, double weightBackward,
                     double communication) {
  auto spread = [&](double time) {
    return std::vector<double>(placement.getStages(),
                               time / double(placement.chunks));
  };
  Times times;
  times.forward = spread(forward);
  times.inputBackward = spread(inputBackward);
  times.weightBackward = spread(weightBackward);
  times.communication = communication;
  return times;
}

namespace {

class Simulator {
public:
  Simulator(const Schedule &schedule, const Times &times, const Bytes &bytes)
      : schedule(schedule), times(times), bytes(bytes), ends(schedule),
        channels(schedule.getChannels()), now(schedule.placement.ranks, 0),
        liveBytes(schedule.placement.ranks, 0) {
    result.ranks.resize(schedule.placement.ranks);
    result.memory.resize(schedule.placement.ranks);
    result.peakBytes.resize(schedule.placement.ranks, 0);
    for (Channel &c : channels)
      c.place.resize(schedule.microBatches, -1);
  }

  /// Called in an order in which everything that an action waits for is before.
  void visit(int64_t rank, const Action &action);
  Simulation finish();

private:
  struct Channel {
    /// In the order of the channel.
    std::vector<int32_t> order;
    std::vector<double> posted, sent;
    /// For each micro-batch, its number in the order of posts, which is that of
    /// sends.
    std::vector<int32_t> place;

    /// Message number n needs both ends.
    double getArrival(size_t n, double communication) const {
      return std::max(posted[n], sent[n]) + communication;
    }
  };

  double getDuration(const Action &action, int64_t stage) const;
  void run(int64_t rank, const Action &action);
  void addMemory(int64_t rank, const Event &event, int64_t stage);
  void changeMemory(int64_t rank, double time, int64_t change);

  const Schedule &schedule;
  const Times &times;
  const Bytes &bytes;
  StageChannels ends;
  std::vector<Channel> channels;
  /// For each rank, when it is free.
  std::vector<double> now;
  std::vector<int64_t> liveBytes;
  Simulation result;
};

} // namespace

double Simulator::getDuration(const Action &a, int64_t stage) const {
  switch (a.kind) {
  case ActionKind::Forward:
    return times.forward[stage];
  case ActionKind::Backward:
    return times.inputBackward[stage] + times.weightBackward[stage];
  case ActionKind::InputBackward:
    return times.inputBackward[stage];
  case ActionKind::WeightBackward:
    return times.weightBackward[stage];
  case ActionKind::Reduce:
    return times.reduce;
  case ActionKind::Update:
    return times.update;
  default:
    return 0;
  }
}

void Simulator::changeMemory(int64_t rank, double time, int64_t change) {
  if (change == 0)
    return;
  int64_t &live = liveBytes[rank];
  live += change;
  result.peakBytes[rank] = std::max(result.peakBytes[rank], live);
  auto &memory = result.memory[rank];
  if (!memory.empty() && memory.back().first == time)
    memory.back().second = live;
  else
    memory.push_back({time, live});
}

void Simulator::addMemory(int64_t rank, const Event &event, int64_t stage) {
  auto get = [&](const std::vector<int64_t> &perStage) {
    return perStage.empty() ? 0 : perStage[stage];
  };
  int64_t saved = get(bytes.saved), kept = get(bytes.kept);
  switch (event.action.kind) {
  case ActionKind::Forward:
    return changeMemory(rank, event.start, saved + kept);
  case ActionKind::Backward:
    return changeMemory(rank, event.end, -saved - kept);
  case ActionKind::InputBackward:
    changeMemory(rank, event.start, get(bytes.gradients));
    return changeMemory(rank, event.end, -saved);
  case ActionKind::WeightBackward:
    return changeMemory(rank, event.end, -kept - get(bytes.gradients));
  default:
    return;
  }
}

/// A computation, a reduction or an update.
void Simulator::run(int64_t rank, const Action &a) {
  int64_t stage = schedule.getStage(rank, a);
  Event event{a, now[rank], 0};
  if (isCompute(a.kind)) {
    for (int64_t c : ends.getOutputs(a.kind, stage)) {
      if (!schedule.hasMessages(c))
        continue;
      int64_t earlier =
          int64_t(channels[c].sent.size()) -
          getOutgoingSlots(schedule.getEdge(c), schedule.microBatches);
      if (earlier >= 0)
        event.start = std::max(
            event.start, channels[c].getArrival(earlier, times.communication));
    }
  }
  event.end = event.start + getDuration(a, stage);
  now[rank] = event.end;
  result.ranks[rank].push_back(event);
  if (isCompute(a.kind))
    addMemory(rank, event, stage);
}

void Simulator::visit(int64_t rank, const Action &a) {
  Channel *c = isMessage(a.kind) ? &channels[Schedule::getChannel(a)] : nullptr;
  switch (a.kind) {
  case ActionKind::Post:
    c->place[a.microBatch] = c->posted.size();
    c->posted.push_back(now[rank]);
    return;
  case ActionKind::Send:
    c->order.push_back(a.microBatch);
    c->sent.push_back(now[rank]);
    return;
  case ActionKind::Wait:
    now[rank] = std::max(
        now[rank], c->getArrival(c->place[a.microBatch], times.communication));
    return;
  default:
    return run(rank, a);
  }
}

Simulation Simulator::finish() {
  for (size_t c = 0; c < channels.size(); ++c)
    for (size_t n = 0; n < channels[c].order.size(); ++n)
      result.transfers.push_back(
          {int64_t(c), channels[c].order[n], channels[c].sent[n],
           channels[c].getArrival(n, times.communication)});
  for (const std::vector<Event> &events : result.ranks) {
    double busy = 0;
    for (const Event &e : events)
      busy += e.end - e.start;
    result.busy.push_back(busy);
    result.makespan = std::max(result.makespan, events.back().end);
    result.cost =
        std::max(result.cost, events.back().end - events.front().start);
  }
  double mean = std::accumulate(result.busy.begin(), result.busy.end(), 0.0) /
                double(result.busy.size());
  if (mean > 0) {
    result.bubble = 1 - mean / result.cost;
    result.bubbleOverIdeal = result.cost / mean - 1;
  }
  return std::move(result);
}

/// One finite number, at least 0, for each stage.
template <typename T>
static Error checkNumbers(StringRef what, const std::vector<T> &numbers,
                          int64_t stages) {
  if (int64_t(numbers.size()) != stages)
    return createStringError(Twine(numbers.size()) + " numbers for the " +
                             what + " of " + Twine(stages) + " stages");
  for (auto [stage, number] : llvm::enumerate(numbers))
    if (!(number >= 0) || !std::isfinite(double(number)))
      return createStringError("the " + what + " of stage " + Twine(stage) +
                               " must be a number, at least 0");
  return Error::success();
}

static Error check(const Schedule &schedule, const Times &times,
                   const Bytes &bytes) {
  int64_t stages = schedule.getStages();
  for (auto [what, numbers] :
       {std::pair("forward times", &times.forward),
        std::pair("input backward times", &times.inputBackward),
        std::pair("weight backward times", &times.weightBackward)})
    if (Error error = checkNumbers(what, *numbers, stages))
      return error;
  for (double time : {times.communication, times.reduce, times.update})
    if (!(time >= 0) || !std::isfinite(time))
      return createStringError("the times of messages, reduction and update "
                               "must be numbers, at least 0");
  for (auto [what, numbers] : {std::pair("saved bytes", &bytes.saved),
                               std::pair("kept bytes", &bytes.kept),
                               std::pair("gradient bytes", &bytes.gradients)})
    if (!numbers->empty()) {
      if (Error error = checkNumbers(what, *numbers, stages))
        return error;
      // Sums of all of them fit.
      int64_t most = INT64_MAX / (4 * schedule.microBatches * stages);
      if (*llvm::max_element(*numbers) > most)
        return createStringError("the " + Twine(what) + " of a stage can be " +
                                 Twine(most) + " at most");
    }
  return Error::success();
}

Expected<Simulation> simulate(const Schedule &schedule, const Times &times,
                              const Bytes &bytes) {
  if (Error error = verify(schedule))
    return error;
  if (Error error = check(schedule, times, bytes))
    return error;
  std::vector<std::vector<int32_t>> order(schedule.getChannels());
  for (const std::vector<Action> &list : schedule.ranks)
    for (const Action &a : list)
      if (a.kind == ActionKind::Send)
        order[Schedule::getChannel(a)].push_back(a.microBatch);
  Simulator simulator(schedule, times, bytes);
  Error error =
      execute(schedule, order, StageChannels(schedule), /*blockingSends=*/false,
              [&](int64_t rank, const Action &a) { simulator.visit(rank, a); });
  if (error)
    return error;
  return simulator.finish();
}

} // namespace dtc::schedule
