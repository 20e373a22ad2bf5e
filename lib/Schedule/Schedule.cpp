//===- Schedule.cpp - What each rank of a pipeline does, in order ---------===//

#include "dtc/Schedule/Schedule.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;

namespace dtc::schedule {

Error checkIndices(const Schedule &schedule, const Action &a) {
  auto fail = [](const Twine &what) { return createStringError(what); };
  if (!isCompute(a.kind) && !isMessage(a.kind))
    return Error::success();
  if (a.microBatch < 0 || a.microBatch >= schedule.microBatches)
    return fail("micro-batch " + Twine(a.microBatch) +
                " does not exist; there are 0 to " +
                Twine(schedule.microBatches - 1));
  if (isCompute(a.kind)) {
    if (a.chunk < 0 || a.chunk >= schedule.placement.chunks)
      return fail("chunk " + Twine(a.chunk) +
                  " does not exist; a rank has 0 to " +
                  Twine(schedule.placement.chunks - 1));
    return Error::success();
  }
  int64_t edges = schedule.graph.edges.size();
  if (a.edge < 0 || a.edge >= edges)
    return fail("edge number " + Twine(a.edge) + " does not exist; there are " +
                Twine(edges));
  int64_t channel = Schedule::getChannel(a);
  if (!schedule.isUsed(channel))
    return fail("stages " + Twine(schedule.getEdge(channel).from) + " and " +
                Twine(schedule.getEdge(channel).to) + " exchange no gradients");
  if (!schedule.hasMessages(channel))
    return fail("stages " + Twine(schedule.getEdge(channel).from) + " and " +
                Twine(schedule.getEdge(channel).to) + " are both on rank " +
                Twine(schedule.getSender(channel)) +
                ": what they hand over is no message");
  return Error::success();
}

Error checkIndices(const Schedule &schedule) {
  if (Error error = check(schedule.placement))
    return error;
  int64_t stages = schedule.getStages(), M = schedule.microBatches;
  if (Error error = check(schedule.graph, stages))
    return error;
  if (M < 1 || M > maxMicroBatches)
    return createStringError(Twine(M) + " micro-batches; there may be 1 to " +
                             Twine(maxMicroBatches));
  int64_t rows = std::max(stages, schedule.getChannels());
  if (M * rows > maxPairs)
    return createStringError(
        Twine(M) + " micro-batches on " + Twine(stages) + " stages with " +
        Twine(schedule.graph.edges.size()) + " edges are too many; " +
        Twine(maxPairs / rows) + " are possible");
  if (int64_t(schedule.ranks.size()) != schedule.placement.ranks)
    return createStringError(Twine(schedule.ranks.size()) + " lists for " +
                             Twine(schedule.placement.ranks) + " ranks");
  for (int64_t r = 0; r < schedule.placement.ranks; ++r)
    for (size_t i = 0; i < schedule.ranks[r].size(); ++i)
      if (Error error = checkIndices(schedule, schedule.ranks[r][i]))
        return createStringError("rank " + Twine(r) + ", position " +
                                 Twine(i + 1) + ": " +
                                 toString(std::move(error)));
  return Error::success();
}

StageChannels::StageChannels(const Schedule &schedule)
    : activationsIn(schedule.getStages()), activationsOut(schedule.getStages()),
      gradientsIn(schedule.getStages()), gradientsOut(schedule.getStages()) {
  for (int64_t c = 0; c < schedule.getChannels(); ++c) {
    if (!schedule.isUsed(c))
      continue;
    bool gradient = c % 2 == 1;
    (gradient ? gradientsOut : activationsOut)[schedule.getSenderStage(c)]
        .push_back(c);
    (gradient ? gradientsIn : activationsIn)[schedule.getReceiverStage(c)]
        .push_back(c);
  }
}

ArrayRef<int64_t> StageChannels::getInputs(ActionKind kind,
                                           int64_t stage) const {
  if (kind == ActionKind::Forward)
    return activationsIn[stage];
  if (isBackward(kind))
    return gradientsIn[stage];
  return {};
}

ArrayRef<int64_t> StageChannels::getOutputs(ActionKind kind,
                                            int64_t stage) const {
  if (kind == ActionKind::Forward)
    return activationsOut[stage];
  if (isBackward(kind))
    return gradientsOut[stage];
  return {};
}

} // namespace dtc::schedule
