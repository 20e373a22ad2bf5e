//===- Slots.cpp - Buffers for what a schedule keeps ----------------------===//

#include "dtc/Schedule/Slots.h"
#include "dtc/Schedule/Communicate.h"
#include "dtc/Schedule/Verify.h"
#include <functional>
#include <queue>

using namespace llvm;

namespace dtc::schedule {

namespace {

/// Equal buffers, of which each request gets the lowest free one.
class Pool {
public:
  int32_t take() {
    if (free.empty())
      return count++;
    int32_t slot = free.top();
    free.pop();
    return slot;
  }
  void give(int32_t slot) { free.push(slot); }
  int64_t getCount() const { return count; }

private:
  std::priority_queue<int32_t, std::vector<int32_t>, std::greater<int32_t>>
      free;
  int32_t count = 0;
};

class Assigner {
public:
  Assigner(const Schedule &schedule, const SlotOptions &options)
      : schedule(schedule), options(options), M(schedule.microBatches),
        ends(schedule), saved(schedule.getStages()), kept(schedule.getStages()),
        gradients(schedule.getStages()), channels(schedule.getChannels()),
        sent(schedule.getChannels(), 0) {
    size_t pairs = schedule.getStages() * M;
    size_t messages = schedule.getChannels() * M;
    result.microBatches = M;
    for (auto *slots : {&result.saved, &result.kept, &result.gradients})
      slots->assign(pairs, -1);
    for (auto *slots : {&result.received, &result.outgoing})
      slots->assign(messages, -1);
    result.peaks.resize(schedule.placement.ranks);
  }

  SlotAssignment run();

private:
  void runList(int64_t rank);
  void compute(const Action &action, int64_t stage);
  void finish();
  /// After the last backward: what kept and received values are held for.
  void release(int64_t stage, int64_t m, ActionKind kind);
  /// The received values of a stage that nobody needs any more.
  void releaseReceived(ArrayRef<int64_t> inputs, int64_t m);

  int64_t getPool(int64_t stage) const {
    return options.shareChunks ? schedule.placement.getRank(stage) : stage;
  }
  void count(int64_t &now, int64_t change, int64_t &peak) {
    now += change;
    peak = std::max(peak, now);
  }

  const Schedule &schedule;
  SlotOptions options;
  const int64_t M;
  StageChannels ends;
  std::vector<Pool> saved, kept, gradients, channels;
  /// Messages sent so far on each channel.
  std::vector<int64_t> sent;
  SlotAssignment result;
  /// Of the rank whose list is being read.
  RankPeaks now;
};

} // namespace

void Assigner::releaseReceived(ArrayRef<int64_t> inputs, int64_t m) {
  for (int64_t c : inputs)
    channels[c].give(result.received[c * M + m]);
}

void Assigner::release(int64_t stage, int64_t m, ActionKind kind) {
  int64_t pair = stage * M + m, pool = getPool(stage);
  RankPeaks &peaks = result.peaks[schedule.placement.getRank(stage)];
  bool last = kind != ActionKind::InputBackward;
  if (isBackward(kind)) {
    saved[pool].give(result.saved[pair]);
    count(now.inFlight, -1, peaks.inFlight);
    if (!options.keepGradients || last)
      releaseReceived(ends.gradientsIn[stage], m);
  }
  if (kind == ActionKind::WeightBackward) {
    gradients[pool].give(result.gradients[pair]);
    count(now.gradients, -1, peaks.gradients);
    if (options.keepGradients)
      releaseReceived(ends.gradientsIn[stage], m);
  }
  if (last) {
    kept[pool].give(result.kept[pair]);
    count(now.kept, -1, peaks.kept);
    if (options.keepActivations)
      releaseReceived(ends.activationsIn[stage], m);
  }
}

void Assigner::compute(const Action &a, int64_t stage) {
  int64_t m = a.microBatch, pair = stage * M + m, pool = getPool(stage);
  RankPeaks &peaks = result.peaks[schedule.placement.getRank(stage)];
  for (int64_t c : ends.getOutputs(a.kind, stage))
    if (!schedule.hasMessages(c))
      result.received[c * M + m] = channels[c].take();
  if (a.kind == ActionKind::Forward) {
    result.saved[pair] = saved[pool].take();
    result.kept[pair] = kept[pool].take();
    count(now.inFlight, 1, peaks.inFlight);
    count(now.kept, 1, peaks.kept);
    if (!options.keepActivations)
      releaseReceived(ends.activationsIn[stage], m);
    return;
  }
  if (a.kind == ActionKind::InputBackward) {
    result.gradients[pair] = gradients[pool].take();
    count(now.gradients, 1, peaks.gradients);
  }
  release(stage, m, a.kind);
}

/// Reads a list in order.
void Assigner::runList(int64_t rank) {
  now = RankPeaks();
  RankPeaks &peaks = result.peaks[rank];
  for (const Action &a : schedule.ranks[rank]) {
    int64_t c = Schedule::getChannel(a), pair = c * M + a.microBatch;
    if (a.kind == ActionKind::Post) {
      result.received[pair] = channels[c].take();
      count(now.posted, 1, peaks.posted);
    } else if (a.kind == ActionKind::Wait) {
      count(now.posted, -1, peaks.posted);
    } else if (a.kind == ActionKind::Send) {
      result.outgoing[pair] =
          sent[c]++ % getOutgoingSlots(schedule.getEdge(c), M);
    } else if (isCompute(a.kind)) {
      compute(a, schedule.getStage(rank, a));
    }
  }
}

void Assigner::finish() {
  auto fill = [&](std::vector<int64_t> &counts,
                  const std::vector<Pool> &pools) {
    for (int64_t s = 0; s < schedule.getStages(); ++s)
      counts.push_back(pools[getPool(s)].getCount());
  };
  fill(result.savedSlots, saved);
  fill(result.keptSlots, kept);
  fill(result.gradientSlots, gradients);
  for (int64_t c = 0; c < schedule.getChannels(); ++c) {
    result.receivedSlots.push_back(channels[c].getCount());
    result.outgoingSlots.push_back(
        schedule.hasMessages(c) ? getOutgoingSlots(schedule.getEdge(c), M) : 0);
  }
}

SlotAssignment Assigner::run() {
  for (int64_t r = 0; r < schedule.placement.ranks; ++r)
    runList(r);
  finish();
  return std::move(result);
}

Expected<SlotAssignment> assignSlots(const Schedule &schedule,
                                     const SlotOptions &options) {
  if (Error error = verify(schedule))
    return error;
  return Assigner(schedule, options).run();
}

} // namespace dtc::schedule
