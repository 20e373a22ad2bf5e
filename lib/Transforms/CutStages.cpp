//===- CutStages.cpp - Cut the loop's body into pipeline stages -----------===//
//
// The body's ops are sorted into the prelude, which stays, and the list that
// is cut. Then the cut is chosen (BalanceStages) or read, values before the
// loop are made once for each stage that uses them, and each stage's ops move
// into a function.
//
//===----------------------------------------------------------------------===//

#include "BalanceStages.h"
#include "Cost.h"
#include "Program.h"
#include "dtc/Planner/Formulas.h"
#include "dtc/Transforms/Passes.h"
#include "dtc/Transforms/Stages.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/SetVector.h"

namespace dtc {
#define GEN_PASS_DEF_CUTSTAGES
#include "dtc/Transforms/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

class CutStagesImpl {
public:
  CutStagesImpl(ModuleOp module, const CutStagesOptions &options)
      : module(module), symbols(module), options(options) {}
  LogicalResult run();

private:
  LogicalResult findStages();
  void findActive();
  void sortOps();
  void inlineCalls();
  LogicalResult readCuts();
  LogicalResult chooseCuts();
  LogicalResult checkMemory(const StageProblem &problem);
  StageProblem getProblem();
  void separateUses();
  void build(int64_t stage, ArrayRef<Operation *> ops);
  func::FuncOp findEqual(func::FuncOp stage);

  size_t stageOf(size_t op) const {
    return llvm::upper_bound(cuts, op) - cuts.begin() - 1;
  }

  ModuleOp module;
  SymbolTable symbols;
  const CutStagesOptions &options;
  func::FuncOp step;
  MicroBatchesOp loop;
  Block *body = nullptr;
  int64_t stages = 1;
  /// Values before the loop that depend on a parameter, and on which.
  llvm::DenseMap<Value, llvm::SetVector<Operation *>> active;
  /// What is cut, in order.
  SmallVector<Operation *> ops;
  /// The first op of each stage, and the number of ops.
  std::vector<size_t> cuts;
  /// Distinct stage functions.
  SmallVector<func::FuncOp> functions;
};

} // namespace

/// Calls fn for every operand of an op, and of the ops within it, that comes
/// from outside of it.
static void forEachOuterOperand(Operation *op,
                                llvm::function_ref<void(OpOperand &)> fn) {
  op->walk([&](Operation *inner) {
    for (OpOperand &operand : inner->getOpOperands())
      if (!op->isAncestor(operand.get().getParentBlock()->getParentOp()) ||
          inner == op)
        fn(operand);
  });
}

/// How many stages, and the loop that they are cut from.
LogicalResult CutStagesImpl::findStages() {
  FailureOr<func::FuncOp> found = getPublicFunction(module);
  if (failed(found))
    return failure();
  step = *found;
  if (failed(getCallOrder(step, symbols)))
    return failure();
  int64_t pipeline = getMesh(module).getSize(pipelineAxis);
  stages = options.stages;
  if (stages == 0)
    stages = options.cuts.empty() ? pipeline
                                  : StringRef(options.cuts).count(',') + 1;
  if (stages < 1)
    return emitError(step.getLoc(), "stages must be 1 or more, not ") << stages;
  if (options.memory < 0)
    return emitError(step.getLoc(), "memory must be 0 (no limit) or more, not ")
           << options.memory;
  if (options.zero < 0 || options.zero > 3)
    return emitError(step.getLoc(), "zero must be 0, 1, 2 or 3, not ")
           << options.zero;
  if (stages % pipeline != 0)
    return emitError(step.getLoc(), "stages=")
           << stages << " is not a multiple of pp=" << pipeline
           << " on the mesh";
  loop = findLoop(step);
  if (!loop)
    return emitError(step.getLoc(), "has no loop over micro-batches to cut in "
                                    "stages; -dtc-microbatch makes it");
  body = &loop.getBody().front();
  if (!getStageCalls(loop).empty())
    return loop.emitError("has been cut in stages already");
  return success();
}

void CutStagesImpl::findActive() {
  for (Operation &op : step.getBody().front()) {
    if (&op == loop)
      return;
    llvm::SetVector<Operation *> on;
    if (auto read = dyn_cast<ReadOp>(op); read && read.getSlot() == Slot::Param)
      on.insert(module.lookupSymbol(read.getParam()));
    for (Value v : op.getOperands())
      if (auto it = active.find(v); it != active.end())
        on.insert(it->second.begin(), it->second.end());
    if (!on.empty())
      for (Value v : op.getResults())
        active[v] = on;
  }
}

/// The ops to cut: those that depend on a parameter, or make what is yielded,
/// and what depends on them. The others move to the front: they need nothing
/// of these.
void CutStagesImpl::sortOps() {
  ops.clear();
  llvm::DenseSet<Operation *> cut;
  for (Value v : body->getTerminator()->getOperands())
    if (Operation *def = v.getDefiningOp(); def && def->getBlock() == body)
      cut.insert(def);
  SmallVector<Operation *> prelude;
  for (Operation &op : body->without_terminator()) {
    bool isCut = cut.contains(&op);
    forEachOuterOperand(&op, [&](OpOperand &operand) {
      Value v = operand.get();
      isCut |= active.count(v) || cut.contains(v.getDefiningOp());
    });
    if (isCut)
      cut.insert(&op);
    (isCut ? ops : prelude).push_back(&op);
  }
  for (Operation *op : llvm::reverse(prelude))
    op->moveBefore(body, body->begin());
}

/// Puts every call's ops in its place, one level deep.
void CutStagesImpl::inlineCalls() {
  for (Operation *op : ops) {
    auto call = dyn_cast<func::CallOp>(op);
    if (!call)
      continue;
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    Block &block = callee.getBody().front();
    IRMapping map;
    map.map(block.getArguments(), call.getOperands());
    OpBuilder b(call);
    for (Operation &inner : block.without_terminator())
      b.clone(inner, map);
    for (auto [v, r] : llvm::zip_equal(call.getResults(),
                                       block.getTerminator()->getOperands()))
      v.replaceAllUsesWith(map.lookupOrDefault(r));
    call.erase();
  }
}

//===----------------------------------------------------------------------===//
// Where to cut
//===----------------------------------------------------------------------===//

/// The cut by hand.
LogicalResult CutStagesImpl::readCuts() {
  StringRef text = StringRef(options.cuts).trim();
  bool countsOps = text.consume_front("ops:");
  SmallVector<StringRef> parts;
  text.split(parts, ',');
  Location loc = loop.getLoc();
  if (static_cast<int64_t>(parts.size()) != stages)
    return emitError(loc, "the cuts name ")
           << parts.size() << " stages, but there are " << stages;
  std::vector<size_t> counts;
  size_t sum = 0;
  for (StringRef part : parts) {
    size_t count = 0;
    if (part.trim().getAsInteger(10, count))
      return emitError(loc, "'")
             << part.trim() << "' in the cuts is not a number of "
             << (countsOps ? "ops" : "layers");
    counts.push_back(count);
    sum += count;
  }
  // Where each counted op stands.
  std::vector<size_t> places;
  for (auto [i, op] : llvm::enumerate(ops))
    if (countsOps || isa<func::CallOp>(op))
      places.push_back(i);
  if (sum != places.size())
    return emitError(loc, "stages have ")
           << places.size() << (countsOps ? " ops" : " layers")
           << " in all, the cuts name " << sum;
  size_t seen = 0;
  cuts.push_back(0);
  for (size_t count : ArrayRef(counts).drop_back()) {
    seen += count;
    cuts.push_back(seen < places.size() ? places[seen]
                   : places.empty()     ? 0
                                        : places.back() + 1);
  }
  cuts.push_back(ops.size());
  for (int64_t s = 0; s < stages; ++s)
    if (cuts[s] == cuts[s + 1])
      return emitError(loc, "stage ")
             << s << " would be empty: the cuts give it no "
             << (countsOps ? "op" : "layer, nor ops beside layers");
  return success();
}

StageProblem CutStagesImpl::getProblem() {
  StageProblem p;
  p.stages = stages;
  p.microbatches = static_cast<int64_t>(loop.getCount());
  if (options.memory > 0)
    p.memory = static_cast<double>(options.memory);
  // All of f32, without a master copy.
  MeshAttr mesh = getMesh(module);
  const double stateBytes =
      getStateBytes(1, mesh.getSize("dp") * mesh.getSize("cp"),
                    static_cast<int>(options.zero), {4, 4, 0, 8});
  CostModel costs(symbols);
  llvm::DenseMap<Operation *, unsigned> numbers;
  llvm::DenseMap<Operation *, size_t> place;
  for (auto [i, op] : llvm::enumerate(ops))
    place[op] = i;
  // Sums of differences: + where a value begins to cross, - behind its end.
  p.crossing.assign(ops.size() + 1, 0);
  for (auto [i, op] : llvm::enumerate(ops)) {
    StageProblem::Op &o = p.ops.emplace_back();
    o.cost = costs.getCost(op);
    o.kept = costs.getResultBytes(op);
    forEachOuterOperand(op, [&, &o = o](OpOperand &operand) {
      auto it = active.find(operand.get());
      if (it == active.end())
        return;
      for (Operation *param : it->second) {
        auto [number, isNew] = numbers.try_emplace(param, numbers.size());
        if (isNew)
          p.parameterBytes.push_back(
              stateBytes *
              static_cast<double>(
                  cast<ParamOp>(param).getTensorType().getNumLocalElements()));
        o.parameters.push_back(number->second);
      }
    });
    for (Value v : op->getResults()) {
      size_t last = i;
      for (Operation *user : v.getUsers())
        if (Operation *at = body->findAncestorOpInBlock(*user))
          if (auto it = place.find(at); it != place.end())
            last = std::max(last, it->second);
      if (last == i)
        continue;
      auto bytes =
          static_cast<double>(cast<DTensorType>(v.getType()).getLocalBytes());
      p.crossing[i + 1] += bytes;
      p.crossing[last + 1] -= bytes;
    }
  }
  for (size_t i = 1; i <= ops.size(); ++i)
    p.crossing[i] += p.crossing[i - 1];
  return p;
}

LogicalResult CutStagesImpl::checkMemory(const StageProblem &problem) {
  for (int64_t s = 0; s < stages && problem.memory; ++s)
    if (double bytes = problem.getMemory(cuts[s], cuts[s + 1], s);
        bytes > *problem.memory)
      return emitError(loop.getLoc(), "stage ")
             << s << " of the cuts needs " << static_cast<int64_t>(bytes)
             << " bytes, more than memory=" << options.memory;
  return success();
}

LogicalResult CutStagesImpl::chooseCuts() {
  if (!options.cuts.empty()) {
    if (failed(readCuts()))
      return failure();
    return checkMemory(getProblem());
  }
  while (static_cast<int64_t>(ops.size()) < stages &&
         llvm::any_of(ops, llvm::IsaPred<func::CallOp>)) {
    inlineCalls();
    sortOps();
  }
  if (static_cast<int64_t>(ops.size()) < stages)
    return emitError(loop.getLoc(), "cannot be cut in ")
           << stages << " stages: it has " << ops.size()
           << " ops that depend on a parameter, so stages may be 1 to "
           << ops.size();
  StageProblem problem = getProblem();
  auto best = balanceStages(problem);
  if (!best)
    return emitError(loop.getLoc(), "no cut in ")
           << stages << " stages fits memory=" << options.memory
           << "; the smallest that has one is "
           << static_cast<int64_t>(getSmallestMemory(problem));
  cuts = *best;
  return success();
}

//===----------------------------------------------------------------------===//
// Building stages
//===----------------------------------------------------------------------===//

/// Makes values before the loop that depend on a parameter once for each stage
/// that uses them, so that each has a cotangent, and an accumulator, of its
/// own.
void CutStagesImpl::separateUses() {
  llvm::DenseMap<Operation *, size_t> owner;
  llvm::DenseMap<std::pair<Operation *, size_t>, Operation *> copies;
  for (auto [i, op] : llvm::enumerate(ops)) {
    size_t stage = stageOf(i);
    forEachOuterOperand(op, [&](OpOperand &operand) {
      if (!active.count(operand.get()))
        return;
      auto result = cast<OpResult>(operand.get());
      Operation *def = result.getOwner();
      if (owner.try_emplace(def, stage).first->second == stage)
        return;
      Operation *&copy = copies[{def, stage}];
      if (!copy) {
        OpBuilder b(def->getBlock(), std::next(def->getIterator()));
        copy = b.clone(*def);
      }
      operand.set(copy->getResult(result.getResultNumber()));
    });
  }
}

func::FuncOp CutStagesImpl::findEqual(func::FuncOp stage) {
  for (func::FuncOp other : functions)
    if (other.getFunctionType() == stage.getFunctionType() &&
        OperationEquivalence::isRegionEquivalentTo(
            &other.getBody(), &stage.getBody(),
            OperationEquivalence::IgnoreLocations))
      return other;
  return {};
}

/// Moves ops into a function, and calls it. Arguments come in the order of
/// their first use and results in that of their making, so that stages of
/// equal ops are equal functions.
void CutStagesImpl::build(int64_t stage, ArrayRef<Operation *> mine) {
  llvm::SmallPtrSet<Operation *, 16> inside(mine.begin(), mine.end());
  Location loc = mine.front()->getLoc();
  OpBuilder b(module.getContext());
  b.setInsertionPoint(step);
  auto func = func::FuncOp::create(b, loc, "stage_" + std::to_string(stage),
                                   b.getFunctionType({}, {}));
  func.setPrivate();
  Block *block = func.addEntryBlock();

  SmallVector<Value> results;
  for (Operation *op : mine)
    for (Value v : op->getResults())
      if (llvm::any_of(v.getUsers(), [&](Operation *user) {
            return !inside.contains(body->findAncestorOpInBlock(*user));
          }))
        results.push_back(v);

  b.setInsertionPoint(mine.front());
  SmallVector<Value> operands;
  llvm::DenseMap<Value, Value> arguments;
  for (Operation *op : mine)
    forEachOuterOperand(op, [&](OpOperand &operand) {
      Value v = operand.get();
      if (inside.contains(v.getDefiningOp()))
        return;
      Value &argument = arguments[v];
      if (!argument) {
        argument = block->addArgument(v.getType(), v.getLoc());
        operands.push_back(v);
      }
      operand.set(argument);
    });
  auto call = func::CallOp::create(b, loc, func.getSymName(),
                                   ValueRange(results).getTypes(), operands);
  setStage(call, stage);
  for (auto [v, r] : llvm::zip_equal(results, call.getResults()))
    v.replaceUsesWithIf(r, [&](OpOperand &use) {
      return !inside.contains(body->findAncestorOpInBlock(*use.getOwner()));
    });
  for (Operation *op : mine)
    op->moveBefore(block, block->end());
  b.setInsertionPointToEnd(block);
  func::ReturnOp::create(b, loc, results);
  func.setFunctionType(b.getFunctionType(block->getArgumentTypes(),
                                         ValueRange(results).getTypes()));
  if (func::FuncOp equal = findEqual(func)) {
    call.setCallee(equal.getSymName());
    func.erase();
    return;
  }
  symbols.insert(func); // may give it another name
  call.setCallee(func.getSymName());
  functions.push_back(func);
}

LogicalResult CutStagesImpl::run() {
  if (failed(findStages()))
    return failure();
  if (stages == 1 && options.cuts.empty() && options.memory == 0)
    return success();
  findActive();
  sortOps();
  if (failed(chooseCuts()))
    return failure();
  if (stages == 1)
    return success();
  OpCounts original = countOps(*body, symbols);
  separateUses();
  for (int64_t s = 0; s < stages; ++s)
    build(s, ArrayRef(ops).slice(cuts[s], cuts[s + 1] - cuts[s]));
  auto order = getCallOrder(step, symbols);
  if (failed(order))
    return failure();
  dropUnreachable(module, symbols, *order); // callees that were inlined
  return verifyStages(loop, symbols, &original);
}

namespace {
struct CutStagesPass : dtc::impl::CutStagesBase<CutStagesPass> {
  using CutStagesBase::CutStagesBase;
  void runOnOperation() override {
    CutStagesOptions options;
    options.stages = stages;
    options.cuts = cuts;
    options.memory = memory;
    options.zero = zero;
    if (failed(CutStagesImpl(getOperation(), options).run()))
      signalPassFailure();
  }
};
} // namespace
