//===- Scheduled.cpp - A loop in the order of a schedule ------------------===//

#include "Scheduled.h"
#include "dtc/Dialect/DTC/IR/Stages.h"
#include "dtc/Schedule/Text.h"
#include <set>

using namespace mlir;
using namespace dtc;
using schedule::Action;
using schedule::ActionKind;
using schedule::Direction;
using schedule::Schedule;

namespace {

class ScheduledLoop {
public:
  ScheduledLoop(MicroBatchesOp loop, const Schedule &schedule, Environment &env,
                int64_t simulatedRanks, bool round,
                function_ref<LogicalResult(Operation *, Environment &)> runOp)
      : loop(loop), schedule(schedule), env(env),
        simulatedRanks(simulatedRanks), round(round), runOp(runOp),
        body(loop.getBody().front()), values(schedule.microBatches) {}

  LogicalResult run();

private:
  enum class Progress { Done, Blocked, Failed };
  /// Of a channel and a micro-batch.
  using Message = std::pair<int64_t, int64_t>;

  LogicalResult prepare();
  LogicalResult runPrelude();
  Progress step(int64_t rank, const Action &action);
  LogicalResult compute(int64_t rank, const Action &action);
  LogicalResult makeAvailable(Value v, int64_t stage, int64_t m);
  LogicalResult runOn(Operation *op, int64_t m);
  void addSums(Operation *call, int64_t m);
  LogicalResult checkComplete();
  InFlightDiagnostic fail(int64_t rank, const Action &action);

  func::CallOp find(int64_t stage, Phase phase) const {
    auto it = calls.find({stage, phase});
    return it == calls.end() ? func::CallOp() : it->second;
  }

  MicroBatchesOp loop;
  const Schedule &schedule;
  Environment &env;
  int64_t simulatedRanks;
  bool round;
  function_ref<LogicalResult(Operation *, Environment &)> runOp;
  Block &body;
  std::map<std::pair<int64_t, Phase>, func::CallOp> calls;
  /// Values of the body, for each micro-batch: all that were ever made. Who may
  /// see them is decided by what follows.
  std::vector<Environment> values;
  llvm::DenseSet<Operation *> prelude;
  /// Calls that ran, with the micro-batch.
  std::set<std::pair<Operation *, int64_t>> ran;
  std::set<Message> posted, sent, received;
  llvm::DenseSet<Value> summed;
};

} // namespace

static Phase toPhase(ActionKind kind) {
  switch (kind) {
  case ActionKind::Forward:
    return Phase::Forward;
  case ActionKind::Backward:
    return Phase::Backward;
  case ActionKind::InputBackward:
    return Phase::InputBackward;
  default:
    return Phase::WeightBackward;
  }
}

InFlightDiagnostic ScheduledLoop::fail(int64_t rank, const Action &action) {
  InFlightDiagnostic diag = loop.emitOpError("in schedule '");
  diag << schedule.name << "', rank " << rank << ", "
       << schedule::toString(schedule, action) << ": ";
  return diag;
}

/// The schedule is for this program, and can be indexed.
LogicalResult ScheduledLoop::prepare() {
  if (llvm::Error error = schedule::checkIndices(schedule))
    return loop.emitOpError() << llvm::toString(std::move(error));
  if (schedule.microBatches != static_cast<int64_t>(loop.getCount()))
    return loop.emitOpError("runs ")
           << loop.getCount() << " micro-batches, but schedule '"
           << schedule.name << "' is for " << schedule.microBatches;
  for (auto call : body.getOps<func::CallOp>())
    if (auto stage = getStageOf(call)) {
      if (stage->first >= schedule.getStages())
        return call.emitOpError("is stage ")
               << stage->first << ", but schedule '" << schedule.name
               << "' has " << schedule.getStages() << " stages";
      calls[*stage] = call;
    }
  for (int64_t s = 0; s < schedule.getStages(); ++s)
    if (!find(s, Phase::Forward))
      return loop.emitOpError("has no stage ")
             << s << ", but schedule '" << schedule.name << "' has "
             << schedule.getStages() << " stages";
  return success();
}

LogicalResult ScheduledLoop::runOn(Operation *op, int64_t m) {
  for (Value v : op->getOperands())
    if (auto it = values[m].find(v); it != values[m].end())
      env[v] = it->second;
  if (failed(runOp(op, env)))
    return failure();
  for (Value v : op->getResults())
    values[m][v] = std::move(env[v]);
  return success();
}

/// What needs no stage: every rank could run it for itself.
LogicalResult ScheduledLoop::runPrelude() {
  llvm::DenseSet<Value> ofStages;
  for (Operation &op : body.without_terminator()) {
    if (getStageOf(&op) || llvm::any_of(op.getOperands(), [&](Value v) {
          return ofStages.contains(v);
        }))
      ofStages.insert(op.result_begin(), op.result_end());
    else
      prelude.insert(&op);
  }
  for (int64_t m = 0; m < schedule.microBatches; ++m) {
    Array number(ArrayRef<int64_t>{}, static_cast<double>(m));
    values[m][body.getArgument(0)] = Pieces(simulatedRanks, number);
    for (Operation &op : body.without_terminator())
      if (prelude.contains(&op) && failed(runOn(&op, m)))
        return failure();
  }
  return success();
}

/// Whether stage `stage` may use a value of the body now. Sums of cotangents
/// are made here, by their user. Emits the end of an error.
LogicalResult ScheduledLoop::makeAvailable(Value v, int64_t stage, int64_t m) {
  Operation *def = v.getDefiningOp();
  if (!def || def->getBlock() != &body || prelude.contains(def))
    return success();
  auto where = getStageOf(def);
  if (!where) {
    for (Value x : def->getOperands())
      if (failed(makeAvailable(x, stage, m)))
        return failure();
    return runOn(def, m);
  }
  int64_t from = where->first;
  Phase phase = where->second;
  int64_t rank = schedule.placement.getRank(stage);
  auto error = [&](const Twine &what) {
    return loop.emitOpError("in schedule '")
           << schedule.name << "', rank " << rank << ": stage " << stage
           << " uses a value of stage " << from << " (" << stringifyPhase(phase)
           << ") for micro-batch " << m << ", which " << what.str();
  };
  if (schedule.placement.getRank(from) == rank) {
    if (!ran.count({def, m}))
      return error("has not been computed");
    return success();
  }
  int64_t edge =
      schedule.graph.find(std::min(from, stage), std::max(from, stage));
  if (edge < 0)
    return error("the schedule does not send");
  int64_t channel = Schedule::getChannel(
      edge, from < stage ? Direction::Activation : Direction::Gradient);
  if (!received.count({channel, m}))
    return error("has not been received");
  return success();
}

/// Adds what the loop yields of a call.
void ScheduledLoop::addSums(Operation *call, int64_t m) {
  for (auto [v, sum] : llvm::zip_equal(body.getTerminator()->getOperands(),
                                       loop.getResults())) {
    if (v.getDefiningOp() != call)
      continue;
    const Pieces &x = values[m][v];
    if (summed.insert(sum).second) {
      env[sum] = x;
      continue;
    }
    addTo(env[sum], x, cast<DTensorType>(sum.getType()).getElementType(),
          round);
  }
}

LogicalResult ScheduledLoop::compute(int64_t rank, const Action &action) {
  int64_t stage = schedule.getStage(rank, action), m = action.microBatch;
  Phase phase = toPhase(action.kind);
  func::CallOp call = find(stage, phase);
  if (!call) {
    // A stage may have nothing to do, but its work may not be in another form.
    bool isWhole = phase == Phase::Backward;
    if (isWhole ? find(stage, Phase::InputBackward) ||
                      find(stage, Phase::WeightBackward)
                : bool(find(stage, Phase::Backward)))
      return fail(rank, action) << "the program's backward of stage " << stage
                                << " is " << (isWhole ? "split" : "whole");
    return success();
  }
  for (Value v : call.getOperands())
    if (failed(makeAvailable(v, stage, m)))
      return failure();
  if (!ran.insert({call, m}).second)
    return fail(rank, action) << "has run before";
  if (failed(runOn(call, m)))
    return failure();
  addSums(call, m);
  return success();
}

ScheduledLoop::Progress ScheduledLoop::step(int64_t rank,
                                            const Action &action) {
  if (schedule::isCompute(action.kind))
    return succeeded(compute(rank, action)) ? Progress::Done : Progress::Failed;
  if (!schedule::isMessage(action.kind))
    return Progress::Done;
  Message message{Schedule::getChannel(action), action.microBatch};
  switch (action.kind) {
  case ActionKind::Post:
    posted.insert(message);
    return Progress::Done;
  case ActionKind::Wait:
    if (!posted.count(message)) {
      fail(rank, action) << "no receive is posted";
      return Progress::Failed;
    }
    if (!sent.count(message))
      return Progress::Blocked;
    received.insert(message);
    return Progress::Done;
  default: { // Send
    int64_t stage = schedule.getSenderStage(message.first);
    bool isForward = action.direction == Direction::Activation;
    func::CallOp maker =
        find(stage, isForward ? Phase::Forward : Phase::Backward);
    if (!maker && !isForward)
      maker = find(stage, Phase::InputBackward);
    if (maker && !ran.count({maker, message.second})) {
      fail(rank, action) << "stage " << stage << " has not computed it";
      return Progress::Failed;
    }
    sent.insert(message);
    return Progress::Done;
  }
  }
}

LogicalResult ScheduledLoop::checkComplete() {
  for (auto &[key, call] : calls)
    for (int64_t m = 0; m < schedule.microBatches; ++m)
      if (!ran.count({call, m}))
        return loop.emitOpError("schedule '")
               << schedule.name << "' never runs stage " << key.first << " ("
               << stringifyPhase(key.second) << ") for micro-batch " << m;
  for (auto [i, v] : llvm::enumerate(loop.getResults()))
    if (!summed.contains(v))
      return loop.emitOpError("yields value #")
             << i << " from no stage: it cannot be scheduled";
  return success();
}

LogicalResult ScheduledLoop::run() {
  if (failed(prepare()) || failed(runPrelude()))
    return failure();
  auto ranks = static_cast<int64_t>(schedule.ranks.size());
  std::vector<size_t> next(ranks);
  bool finished = false;
  while (!finished) {
    finished = true;
    bool moved = false;
    for (int64_t rank = 0; rank < ranks; ++rank) {
      const std::vector<Action> &list = schedule.ranks[rank];
      while (next[rank] < list.size()) {
        Progress progress = step(rank, list[next[rank]]);
        if (progress == Progress::Failed)
          return failure();
        if (progress == Progress::Blocked)
          break;
        ++next[rank];
        moved = true;
      }
      finished &= next[rank] == list.size();
    }
    if (finished || moved)
      continue;
    InFlightDiagnostic diag = loop.emitOpError("schedule '");
    diag << schedule.name << "' never goes on:";
    for (int64_t rank = 0; rank < ranks; ++rank)
      if (next[rank] < schedule.ranks[rank].size())
        diag << " rank " << rank << " waits at "
             << schedule::toString(schedule, schedule.ranks[rank][next[rank]]);
    return diag;
  }
  return checkComplete();
}

LogicalResult dtc::runScheduled(
    MicroBatchesOp loop, const Schedule &schedule, Environment &env,
    int64_t simulatedRanks, bool round,
    function_ref<LogicalResult(Operation *, Environment &)> runOp) {
  return ScheduledLoop(loop, schedule, env, simulatedRanks, round, runOp).run();
}
