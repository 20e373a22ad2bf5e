//===- Stages.cpp - Programs that are cut in stages -----------------------===//

#include "dtc/Transforms/Stages.h"

using namespace mlir;
using namespace dtc;

std::optional<int64_t> dtc::getStage(Operation *op) {
  auto stage = getStageOf(op);
  return stage ? std::optional(stage->first) : std::nullopt;
}

Phase dtc::getPhase(Operation *op) {
  auto stage = getStageOf(op);
  return stage ? stage->second : Phase::Forward;
}

void dtc::setStage(Operation *op, int64_t stage) {
  op->setAttr(attrs::stage, Builder(op->getContext()).getI64IntegerAttr(stage));
}

void dtc::setPhase(Operation *op, Phase phase) {
  op->setAttr(attrs::phase,
              StringAttr::get(op->getContext(), stringifyPhase(phase)));
}

SmallVector<func::CallOp> dtc::getStageCalls(MicroBatchesOp loop) {
  SmallVector<func::CallOp> calls;
  for (auto call : loop.getBody().front().getOps<func::CallOp>())
    if (getStage(call))
      calls.push_back(call);
  return calls;
}

MicroBatchesOp dtc::findLoop(func::FuncOp step) {
  auto loops = step.getBody().front().getOps<MicroBatchesOp>();
  return loops.empty() ? MicroBatchesOp() : *loops.begin();
}

static void countOps(Block &block, SymbolTable &symbols, OpCounts &counts) {
  for (Operation &op : block.without_terminator()) {
    if (getStage(&op)) {
      auto stage =
          symbols.lookup<func::FuncOp>(cast<func::CallOp>(op).getCallee());
      countOps(stage.getBody().front(), symbols, counts);
      continue;
    }
    std::string key;
    llvm::raw_string_ostream os(key);
    os << op.getName() << " " << op.getAttrDictionary();
    for (Type type : op.getOperandTypes())
      os << " " << type;
    os << " ->";
    for (Type type : op.getResultTypes())
      os << " " << type;
    ++counts[key];
  }
}

OpCounts dtc::countOps(Block &body, SymbolTable &symbols) {
  OpCounts counts;
  ::countOps(body, symbols, counts);
  return counts;
}

/// Order of the phases of stages: forwards up, backwards down.
static LogicalResult verifyOrder(ArrayRef<func::CallOp> calls) {
  int64_t forwards = 0, last = -1;
  bool backward = false;
  llvm::DenseMap<int64_t, bool> weights;
  for (func::CallOp call : calls) {
    int64_t stage = *getStage(call);
    Phase phase = getPhase(call);
    if (phase == Phase::Forward) {
      if (backward)
        return call.emitError("forward of stage ")
               << stage << " stands after a backward";
      if (stage != forwards)
        return call.emitError("is stage ")
               << stage << " where stage " << forwards << " is expected";
      last = ++forwards;
      continue;
    }
    if (stage >= forwards)
      return call.emitError("backward of stage ")
             << stage << ", but the stages are 0 to " << forwards - 1;
    backward = true;
    if (phase == Phase::WeightBackward) {
      if (!weights.try_emplace(stage, true).second)
        return call.emitError("is a second weight backward of stage ") << stage;
      continue;
    }
    if (stage >= last)
      return call.emitError("backward of stage ")
             << stage << " stands after that of stage " << last;
    if (weights.count(stage))
      return call.emitError("input backward of stage ")
             << stage << " stands after its weight backward";
    last = stage;
  }
  return success();
}

LogicalResult dtc::verifyStages(MicroBatchesOp loop, SymbolTable &symbols,
                                const OpCounts *original) {
  Block &body = loop.getBody().front();
  if (failed(verifyOrder(getStageCalls(loop))))
    return failure();
  llvm::DenseSet<Value> ofStages;
  for (Operation &op : body.without_terminator()) {
    bool uses = llvm::any_of(op.getOperands(),
                             [&](Value v) { return ofStages.contains(v); });
    if (!getStage(&op) && !uses)
      continue;
    if (!getStage(&op) && !isa<AddOp>(op))
      return op.emitError("uses the result of a stage, but stands in none");
    ofStages.insert(op.result_begin(), op.result_end());
  }
  for (auto [i, v] : llvm::enumerate(body.getTerminator()->getOperands()))
    if (Operation *def = v.getDefiningOp(); !def || !getStage(def))
      return loop.emitError("yielded value #")
             << i << " is not the result of a stage";
  if (!original)
    return success();
  OpCounts now = countOps(body, symbols);
  if (now == *original)
    return success();
  for (const auto &[op, n] : *original)
    if (now[op] != n)
      return loop.emitError("had ")
             << n << " and has " << now[op] << " of the op " << op;
  return loop.emitError("has ops that it did not have before it was cut");
}
