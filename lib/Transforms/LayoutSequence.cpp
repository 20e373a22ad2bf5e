//===- LayoutSequence.cpp - The order of the sequence ---------------------===//
//
// Whatever brings the sequence into the program (inputs, positions) is permuted
// once, where it comes in. What needs the original order (positions that
// restart with each document) is an op whose sequence is whole: it stays before
// the permutation, and its result is permuted.
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "dtc/Transforms/Passes.h"
#include "dtc/Transforms/Sharding.h"

namespace dtc {
#define GEN_PASS_DEF_LAYOUTSEQUENCE
#include "dtc/Transforms/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

/// Position of "seq" in names of dimensions.
static std::optional<unsigned> findSequence(ArrayAttr names) {
  if (names)
    for (auto [d, name] : llvm::enumerate(names.getAsRange<StringAttr>()))
      if (name.getValue() == "seq")
        return d;
  return std::nullopt;
}

/// Whether an op reads the order of an operand's dimension.
static bool needsOrder(OpOperand &use, unsigned dim) {
  auto op = dyn_cast<FactorOpInterface>(use.getOwner());
  if (!op)
    return false;
  FactorRule rule = op.getFactorRule();
  const ValueFactors &factors = rule.value(use.getOperandNumber());
  return dim < factors.size() &&
         llvm::any_of(
             factors[dim], [&](unsigned f) { return rule.factors[f].whole; });
}

namespace {
/// Finds what would notice that the sequence has another order: from the
/// permuted values on, through factors and calls, no dimension of the sequence
/// may belong to a parameter (which is not permuted), to an op that numbers
/// its elements, or to one that reads their order.
class OrderCheck {
public:
  OrderCheck(ModuleOp module, SequenceLayout layout)
      : layout(layout), symbols(module) {
    module.walk([&](func::CallOp call) {
      calls[symbols.lookup(call.getCallee())].push_back(call);
    });
  }
  void add(Value v, unsigned dim) { mark(v, dim); }
  LogicalResult run();

private:
  using Place = std::pair<Value, unsigned>;

  void mark(Value v, unsigned dim) {
    if (seen.insert({v, dim}).second)
      worklist.push_back({v, dim});
  }
  std::string advice() const {
    return (", so its layout must be contiguous, not " +
            stringifySequenceLayout(layout))
        .str();
  }
  LogicalResult visitOp(Operation *op, Place place);
  void visitCall(func::CallOp call, Place place);
  void visitReturn(func::ReturnOp op, Place place);

  SequenceLayout layout;
  SymbolTable symbols;
  llvm::DenseMap<Operation *, SmallVector<func::CallOp>> calls;
  llvm::DenseSet<Place> seen;
  SmallVector<Place> worklist;
};

struct LayoutSequencePass : dtc::impl::LayoutSequenceBase<LayoutSequencePass> {
  using LayoutSequenceBase::LayoutSequenceBase;

  void runOnOperation() override {
    if (layout == "contiguous")
      return;
    kind = symbolizeSequenceLayout(layout);
    if (!kind) {
      getOperation().emitError("layout of the sequence is '")
          << layout << "', but may be contiguous, striped or zigzag";
      return signalPassFailure();
    }
    if (parts == 0) {
      llvm::Expected<MeshAttr> parsed = parseMesh(&getContext(), mesh);
      if (!parsed) {
        getOperation().emitError() << llvm::toString(parsed.takeError());
        return signalPassFailure();
      }
      parts = parsed->getSize("cp");
    }
    if (parts < 1) {
      getOperation().emitError("the sequence has parts = ")
          << int64_t(parts) << ", but it must be at least 1";
      return signalPassFailure();
    }
    if (parts == 1)
      return;
    FailureOr<func::FuncOp> model = getPublicFunction(getOperation());
    if (failed(model) || failed(run(*model)))
      signalPassFailure();
  }

  LogicalResult run(func::FuncOp model);
  LogicalResult permute(Value v, unsigned dim, ArrayAttr names);

  std::optional<SequenceLayout> kind;
  std::optional<OrderCheck> check;
};
} // namespace

LogicalResult OrderCheck::visitOp(Operation *op, Place place) {
  auto [value, dim] = place;
  if (op == value.getDefiningOp() &&
      (isa<ReadOp>(op) || (op->getNumOperands() == 0 && !isa<ConstantOp>(op))))
    return op->emitError("has the sequence as dimension ")
           << dim << " in its original order" << advice();
  auto factorOp = dyn_cast<FactorOpInterface>(op);
  // Where a permutation ends, or begins.
  if (!factorOp || isa<PermuteOp>(op))
    return success();
  FactorRule rule = factorOp.getFactorRule();
  SmallVector<Value> values(op->getOperands());
  llvm::append_range(values, op->getResults());
  llvm::SmallDenseSet<unsigned> factors;
  for (auto [i, v] : llvm::enumerate(values))
    if (v == value)
      factors.insert_range(rule.value(i)[dim]);
  for (unsigned f : factors)
    if (rule.factors[f].whole)
      return op->emitError("reads the order of the sequence") << advice();
  for (auto [i, v] : llvm::enumerate(values))
    for (auto [d, list] : llvm::enumerate(rule.value(i)))
      if (llvm::any_of(list, [&](unsigned f) { return factors.contains(f); }))
        mark(v, d);
  return success();
}

void OrderCheck::visitCall(func::CallOp call, Place place) {
  auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
  if (!callee || callee.isExternal())
    return;
  for (auto [v, arg] :
       llvm::zip_equal(call.getOperands(), callee.getArguments()))
    if (v == place.first)
      mark(arg, place.second);
  Operation *end = callee.getBody().front().getTerminator();
  for (auto [v, result] :
       llvm::zip_equal(call.getResults(), end->getOperands()))
    if (v == place.first)
      mark(result, place.second);
}

void OrderCheck::visitReturn(func::ReturnOp op, Place place) {
  for (func::CallOp call : calls.lookup(op->getParentOp()))
    for (auto [v, result] :
         llvm::zip_equal(op.getOperands(), call.getResults()))
      if (v == place.first)
        mark(result, place.second);
}

LogicalResult OrderCheck::run() {
  while (!worklist.empty()) {
    Place place = worklist.pop_back_val();
    Value value = place.first;
    SmallVector<Operation *> ops(value.getUsers());
    if (auto arg = dyn_cast<BlockArgument>(value)) {
      for (func::CallOp call : calls.lookup(arg.getOwner()->getParentOp()))
        mark(call.getOperand(arg.getArgNumber()), place.second);
    } else {
      ops.push_back(value.getDefiningOp());
    }
    for (Operation *op : ops) {
      if (auto call = dyn_cast<func::CallOp>(op))
        visitCall(call, place);
      else if (auto end = dyn_cast<func::ReturnOp>(op))
        visitReturn(end, place);
      else if (failed(visitOp(op, place)))
        return failure();
    }
  }
  return success();
}

LogicalResult LayoutSequencePass::permute(Value v, unsigned dim,
                                          ArrayAttr names) {
  auto type = cast<DTensorType>(v.getType());
  if (!type.isInteger())
    return emitError(v.getLoc())
           << "only integers of the sequence are put in another order, not "
           << type << ": its layout must be contiguous, not "
           << stringifySequenceLayout(*kind);
  int64_t n = type.getShape()[dim], multiple = getLayoutMultiple(*kind, parts);
  if (n % multiple != 0)
    return emitError(v.getLoc())
           << stringifySequenceLayout(*kind) << " over " << int64_t(parts)
           << " pieces needs a sequence whose length is a multiple of "
           << multiple << ", but it is " << n;
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : v.getUses())
    if (!needsOrder(use, dim))
      uses.push_back(&use);
  if (uses.empty())
    return success();
  OpBuilder b(&getContext());
  b.setInsertionPointAfterValue(v);
  auto op = PermuteOp::create(b, v.getLoc(), type, *kind, v, dim,
                              static_cast<uint64_t>(parts));
  op->setAttr(attrs::dims, names);
  check->add(op.getResult(), dim);
  for (OpOperand *use : uses)
    use->set(op.getResult());
  return success();
}

LogicalResult LayoutSequencePass::run(func::FuncOp model) {
  check.emplace(getOperation(), *kind);
  auto renamed = [&](ArrayAttr names, unsigned dim) {
    SmallVector<Attribute> all(names.begin(), names.end());
    // No rule cuts it: the permutation needs the whole, and cutting its result
    // is free.
    all[dim] = StringAttr::get(&getContext(), "input_seq");
    return ArrayAttr::get(&getContext(), all);
  };
  for (BlockArgument arg : model.getArguments()) {
    unsigned n = arg.getArgNumber();
    auto names = model.getArgAttrOfType<ArrayAttr>(n, attrs::dims);
    std::optional<unsigned> dim = findSequence(names);
    if (!dim)
      continue;
    if (failed(permute(arg, *dim, names)))
      return failure();
    model.setArgAttr(n, attrs::dims, renamed(names, *dim));
  }
  SmallVector<Operation *> ops;
  for (Operation &op : model.getBody().front())
    if (!isa<PermuteOp>(op))
      ops.push_back(&op);
  for (Operation *op : ops) {
    auto names = op->getAttrOfType<ArrayAttr>(attrs::dims);
    std::optional<unsigned> dim = findSequence(names);
    bool ordered = op->getNumOperands() == 0;
    for (OpOperand &operand : op->getOpOperands())
      ordered |= dim && needsOrder(operand, *dim);
    if (!dim || !ordered)
      continue;
    if (failed(permute(op->getResult(0), *dim, names)))
      return failure();
    op->setAttr(attrs::dims, renamed(names, *dim));
  }
  return check->run();
}
