//===- SchedulePipeline.cpp - A schedule, and sums over stages ------------===//
//
// Two things. The loop over micro-batches gets a schedule. And where, after the
// loop, an op needs values that different ranks have, a sum over stages is
// written: additions of such values become one (a tied weight's gradient, the
// squares of the norm); a value that is wanted elsewhere (the loss) is made
// known as late as possible, when it meets one that every rank has.
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "dtc/Dialect/DTC/IR/Stages.h"
#include "dtc/Schedule/Communicate.h"
#include "dtc/Schedule/Generate.h"
#include "dtc/Schedule/Text.h"
#include "dtc/Schedule/Verify.h"
#include "dtc/Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MemoryBuffer.h"

namespace dtc {
#define GEN_PASS_DEF_SCHEDULEPIPELINE
#include "dtc/Transforms/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

//===----------------------------------------------------------------------===//
// Sums over stages
//===----------------------------------------------------------------------===//

namespace {
class StageSums {
public:
  StageSums(func::FuncOp step, MicroBatchesOp loop, const StageRanks &ranks,
            int64_t count)
      : step(step), loop(loop), ranks(ranks), count(count), all(count, true) {}

  void run();

private:
  using Ranks = llvm::BitVector;

  /// Where a value is known: everywhere, if it depends neither on the loop nor
  /// on what parameters' owners keep.
  const Ranks &knownAt(Value v) const {
    auto it = known.find(v);
    return it == known.end() ? all : it->second;
  }
  Ranks knownAtAll(Operation *op) const {
    Ranks ranks = all;
    for (Value v : op->getOperands())
      ranks &= knownAt(v);
    return ranks;
  }
  void setKnown(Operation *op, const Ranks &at) {
    for (Value v : op->getResults())
      known[v] = at;
  }
  bool isEverywhere(Operation &op) const {
    return llvm::none_of(op.getOperands(),
                         [&](Value v) { return known.contains(v); });
  }
  static SmallVector<int64_t> list(const Ranks &ranks) {
    return {ranks.set_bits_begin(), ranks.set_bits_end()};
  }

  Value makeSum(OpBuilder &b, Location loc, ArrayRef<Value> values,
                ArrayRef<int64_t> from, const Ranks &to);
  void makeKnown(OpOperand &operand, const Ranks &at);
  void visitBefore(Operation &op);
  void visit(Operation &op);
  bool isInnerAdd(AddOp add) const;
  void visitAdd(AddOp add);

  func::FuncOp step;
  MicroBatchesOp loop;
  const StageRanks &ranks;
  int64_t count;
  Ranks all;
  llvm::DenseMap<Value, Ranks> known;
  /// Known everywhere by a sum over stages, or made of such.
  llvm::DenseSet<Value> summed;
  llvm::DenseMap<Value, Value> copies;
  llvm::DenseSet<Operation *> dead;
};
} // namespace

Value StageSums::makeSum(OpBuilder &b, Location loc, ArrayRef<Value> values,
                         ArrayRef<int64_t> from, const Ranks &to) {
  Value sum =
      SumStagesOp::create(b, loc, values[0].getType(), values, from, list(to));
  known[sum] = to;
  if (to == all)
    summed.insert(sum);
  return sum;
}

/// Lets an op use a value that is known at `at` too.
void StageSums::makeKnown(OpOperand &operand, const Ranks &at) {
  Value v = operand.get();
  Ranks missing = at;
  missing.reset(knownAt(v));
  if (missing.none())
    return;
  Value &copy = copies[v];
  if (copy) {
    Ranks more = at;
    more.reset(knownAt(copy));
    if (more.any())
      copy = Value();
  }
  if (!copy) {
    OpBuilder b(v.getContext());
    b.setInsertionPointAfterValue(v);
    Ranks to = cast<DTensorType>(v.getType()).getRank() == 0 ? all : at;
    copy = makeSum(b, v.getLoc(), v, knownAt(v).find_first(), to);
  }
  operand.set(copy);
}

/// An addition whose one use is another: part of a larger sum.
bool StageSums::isInnerAdd(AddOp add) const {
  if (!add->hasOneUse() || add.getRhsDims() ||
      add.getLhs().getType() != add.getRhs().getType())
    return false;
  auto user = dyn_cast<AddOp>(*add->user_begin());
  return user && !user.getRhsDims() && user.getType() == add.getType() &&
         user.getLhs().getType() == user.getRhs().getType();
}

/// The sum that ends here: where its summands are known at different ranks,
/// each rank adds its own, and these are added over stages.
void StageSums::visitAdd(AddOp root) {
  SmallVector<Value> leaves, stack{root.getResult()};
  SmallVector<Operation *> adds;
  while (!stack.empty()) {
    Value v = stack.pop_back_val();
    auto add = v.getDefiningOp<AddOp>();
    if (add && (add == root ||
                (isInnerAdd(add) && add->getBlock() == root->getBlock()))) {
      adds.push_back(add);
      stack.push_back(add.getRhs());
      stack.push_back(add.getLhs());
      continue;
    }
    leaves.push_back(v);
  }
  Ranks common = all, anywhere(count);
  for (Value v : leaves) {
    common &= knownAt(v);
    anywhere |= knownAt(v);
  }
  if (common.any()) {
    for (Operation *add : llvm::reverse(adds))
      setKnown(add, common);
    return;
  }
  OpBuilder b(root);
  Location loc = root.getLoc();
  std::map<int64_t, Value> byRank;
  for (Value v : leaves) {
    Value &sum = byRank[knownAt(v).find_first()];
    sum = sum ? AddOp::create(b, loc, v.getType(), sum, v, DenseI64ArrayAttr())
                    .getResult()
              : v;
  }
  SmallVector<Value> values;
  SmallVector<int64_t> from;
  for (auto [rank, v] : byRank) {
    from.push_back(rank);
    values.push_back(v);
  }
  // A scalar is wanted everywhere, a tensor where its summands are.
  Ranks to(count);
  for (int64_t rank : from)
    to.set(rank);
  if (root.getType().getRank() == 0)
    to = all;
  root.replaceAllUsesWith(makeSum(b, loc, values, from, to));
  dead.insert(adds.begin(), adds.end());
}

/// What stands before the loop may be made of what only owners keep.
void StageSums::visitBefore(Operation &op) {
  if (auto read = dyn_cast<ReadOp>(op))
    setKnown(&op, ranks.ownersOf(read.getParam()));
  else if (!isEverywhere(op))
    setKnown(&op, knownAtAll(&op));
}

void StageSums::visit(Operation &op) {
  if (auto read = dyn_cast<ReadOp>(op))
    return setKnown(&op, ranks.ownersOf(read.getParam()));
  if (auto add = dyn_cast<AddOp>(op)) {
    if (isInnerAdd(add)) {
      setKnown(add, knownAtAll(add)); // decided where the sum ends
      return;
    }
    return visitAdd(add);
  }
  if (isEverywhere(op))
    return;
  const Ranks &need = ranks.needs(&op);
  Ranks at = knownAtAll(&op);
  Ranks missing = need;
  missing.reset(at);
  bool meetsSum = llvm::any_of(op.getOperands(),
                               [&](Value v) { return summed.contains(v); });
  bool isEnd = op.getNumResults() == 0; // a write, the return
  if (missing.any() && (meetsSum || isEnd || at.none())) {
    for (OpOperand &operand : op.getOpOperands())
      makeKnown(operand, need);
    at = knownAtAll(&op);
    meetsSum = true;
  }
  setKnown(&op, at);
  if (meetsSum && at == all)
    summed.insert(op.getResults().begin(), op.getResults().end());
}

void StageSums::run() {
  for (Operation &op : *loop->getBlock()) {
    if (&op == loop)
      break;
    visitBefore(op);
  }
  for (OpResult r : loop->getResults())
    if (int64_t home = ranks.homeOf(r.getResultNumber()); home >= 0) {
      Ranks one(count);
      one.set(home);
      known[r] = one;
    }
  SmallVector<Operation *> ops;
  for (Operation *op = loop->getNextNode(); op; op = op->getNextNode())
    ops.push_back(op);
  for (Operation *op : ops)
    visit(*op);
  // Users stand after what they use.
  for (Operation *op : llvm::reverse(ops))
    if (dead.contains(op))
      op->erase();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
class SchedulePipeline
    : public dtc::impl::SchedulePipelineBase<SchedulePipeline> {
public:
  using SchedulePipelineBase::SchedulePipelineBase;

  void runOnOperation() override {
    if (failed(run()))
      signalPassFailure();
  }

private:
  LogicalResult run();
  FailureOr<schedule::Schedule> getSchedule(MicroBatchesOp loop,
                                            const StagedBody &body, int64_t pp);
};
} // namespace

FailureOr<schedule::Schedule>
SchedulePipeline::getSchedule(MicroBatchesOp loop, const StagedBody &body,
                              int64_t pp) {
  auto fail = [&](llvm::Error error) {
    return loop.emitError(llvm::toString(std::move(error)));
  };
  auto count = static_cast<int64_t>(loop.getCount());
  schedule::StageGraph graph = body.getGraph();
  std::optional<schedule::Kind> kind = schedule::parseKind(scheduleName);
  if (!kind && file.empty())
    return loop.emitError("there is no schedule '")
           << scheduleName << "'; there are " << schedule::getKindNames();
  if (file.empty()) {
    auto placement = schedule::getPlacement(
        *kind, pp,
        *kind == schedule::Kind::Interleaved ? body.numStages / pp : 0);
    if (!placement)
      return fail(placement.takeError());
    if (placement->getStages() != body.numStages)
      return loop.emitError("has ")
             << body.numStages << " stages, but " << scheduleName
             << " on pp=" << pp << " runs " << placement->getStages();
    auto out = schedule::generate(*kind, *placement, count, graph);
    if (!out)
      return fail(out.takeError());
    return *out;
  }
  auto buffer = llvm::MemoryBuffer::getFile(file);
  if (!buffer)
    return loop.emitError("cannot read the schedule '")
           << file << "': " << buffer.getError().message();
  schedule::Known known;
  known.microBatches = count;
  known.graph = graph;
  auto out = schedule::parse((*buffer)->getBuffer(), file, known);
  if (!out)
    return fail(out.takeError());
  if (out->placement.ranks != pp || out->getStages() != body.numStages)
    return loop.emitError("is cut into ")
           << body.numStages << " stages on pp=" << pp << ", but '" << file
           << "' is for " << out->getStages()
           << " stages on pp=" << out->placement.ranks;
  if (schedule::hasOnlyComputations(*out))
    if (llvm::Error error = schedule::addCommunication(*out))
      return fail(std::move(error));
  if (llvm::Error error = schedule::verify(*out))
    return fail(std::move(error));
  return *out;
}

/// A schedule's backward is whole or in two parts; the program must agree.
static LogicalResult checkPhases(MicroBatchesOp loop, const StagedBody &body,
                                 const schedule::Schedule &schedule) {
  std::vector<bool> isSplit(body.numStages);
  for (const auto &[rank, list] : llvm::enumerate(schedule.ranks))
    for (const schedule::Action &a : list)
      if (a.kind == schedule::ActionKind::InputBackward)
        isSplit[schedule.getStage(rank, a)] = true;
  for (int64_t s = 0; s < body.numStages; ++s) {
    bool whole = body.find(s, Phase::Backward);
    if (isSplit[s] && whole)
      return loop.emitError("the schedule splits the backward of stage ")
             << s << ", but the program does not: run -dtc-split-backward";
    if (!isSplit[s] && !whole &&
        (body.find(s, Phase::InputBackward) ||
         body.find(s, Phase::WeightBackward)))
      return loop.emitError("the program splits the backward of stage ")
             << s << ", but the schedule does not";
  }
  return success();
}

LogicalResult SchedulePipeline::run() {
  ModuleOp module = getOperation();
  int64_t pp = getMesh(module).getSize("pp");
  if (pp == 1 && file.empty())
    return success();
  FailureOr<func::FuncOp> step = getPublicFunction(module);
  if (failed(step))
    return failure();
  auto loops = llvm::to_vector(step->getBody().getOps<MicroBatchesOp>());
  if (loops.size() != 1)
    return step->emitError("must have one loop over micro-batches, not ")
           << loops.size();
  MicroBatchesOp loop = loops[0];
  FailureOr<StagedBody> body = StagedBody::get(loop);
  if (failed(body))
    return failure();
  if (body->numStages < pp)
    return loop.emitError("is cut into ")
           << body->numStages << " stages, fewer than pp=" << pp
           << ": run -dtc-cut-stages";
  FailureOr<schedule::Schedule> schedule = getSchedule(loop, *body, pp);
  if (failed(schedule) || failed(checkPhases(loop, *body, *schedule)))
    return failure();

  FailureOr<StageRanks> ranks =
      StageRanks::get(*step, loop, *body, schedule->placement);
  if (failed(ranks))
    return failure();
  StageSums(*step, loop, *ranks, pp).run();

  std::string text = schedule::toString(*schedule);
  SmallVector<StringRef> lines;
  StringRef(text).rtrim().split(lines, '\n');
  OpBuilder b(*step);
  auto op = ScheduleOp::create(b, loop.getLoc(), "pipeline",
                               b.getStrArrayAttr(lines));
  SymbolTable(module).insert(op, Block::iterator(*step));
  loop.setScheduleAttr(FlatSymbolRefAttr::get(op.getSymNameAttr()));
  return success();
}
