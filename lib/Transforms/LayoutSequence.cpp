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
struct LayoutSequencePass : dtc::impl::LayoutSequenceBase<LayoutSequencePass> {
  using LayoutSequenceBase::LayoutSequenceBase;

  void runOnOperation() override {
    if (layout == "contiguous")
      return;
    if (parts == 0) {
      llvm::Expected<MeshAttr> parsed = parseMesh(&getContext(), mesh);
      if (!parsed) {
        getOperation().emitError() << llvm::toString(parsed.takeError());
        return signalPassFailure();
      }
      parts = parsed->getSize("cp");
    }
    if (parts == 1)
      return;
    kind = symbolizeSequenceLayout(layout);
    if (!kind) {
      getOperation().emitError("layout of the sequence is '")
          << layout << "', but may be contiguous, striped or zigzag";
      return signalPassFailure();
    }
    FailureOr<func::FuncOp> model = getPublicFunction(getOperation());
    if (failed(model) || failed(run(*model)))
      signalPassFailure();
  }

  LogicalResult run(func::FuncOp model);
  LogicalResult permute(Value v, unsigned dim, ArrayAttr names);

  std::optional<SequenceLayout> kind;
};
} // namespace

LogicalResult LayoutSequencePass::permute(Value v, unsigned dim,
                                          ArrayAttr names) {
  auto type = cast<DTensorType>(v.getType());
  int64_t n = type.getShape()[dim], multiple = getLayoutMultiple(*kind, parts);
  if (parts < 1 || n % multiple != 0)
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
  for (OpOperand *use : uses)
    use->set(op.getResult());
  return success();
}

LogicalResult LayoutSequencePass::run(func::FuncOp model) {
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
  return success();
}
