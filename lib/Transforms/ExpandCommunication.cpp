//===- ExpandCommunication.cpp - Ops that communicate inside --------------===//

#include "dtc/Transforms/Passes.h"

namespace dtc {
#define GEN_PASS_DEF_EXPANDCOMMUNICATION
#include "dtc/Transforms/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

/// The axes over which the op itself exchanges data: those that cut a
/// communicating factor, or both factors of a pair.
static AxisList communicatingAxes(FactorOpInterface op) {
  FactorRule rule = op.getFactorRule();
  bool may = !rule.pairs.empty() ||
             llvm::any_of(rule.factors,
                          [](const Factor &f) { return f.communicates; });
  if (!may)
    return {};
  SmallVector<DTensorType> types = getOperandTensorTypes(op);
  llvm::append_range(types, getResultTensorTypes(op));
  SmallVector<AxisList> axes = getFactorAxes(rule, types);
  AxisList out;
  for (auto [f, factor] : llvm::enumerate(rule.factors))
    if (factor.communicates)
      llvm::append_range(out, axes[f]);
  for (auto [a, b] : rule.pairs)
    for (const Axis &axis : axes[a])
      if (llvm::is_contained(axes[b], axis))
        out.push_back(axis);
  return mergedSet(out);
}

namespace {
struct ExpandCommunicationPass
    : dtc::impl::ExpandCommunicationBase<ExpandCommunicationPass> {
  using ExpandCommunicationBase::ExpandCommunicationBase;

  void runOnOperation() override {
    if (!attention.empty())
      getOperation()->setAttr(attrs::attentionExchange,
                              StringAttr::get(&getContext(), attention));
    SmallVector<std::pair<Operation *, AxisList>> todo;
    getOperation().walk([&](FactorOpInterface op) {
      if (AxisList axes = communicatingAxes(op); !axes.empty())
        todo.push_back({op, axes});
    });
    OpBuilder builder(&getContext());
    for (auto &[op, axes] : todo) {
      auto expandable = dyn_cast<ExpandableOpInterface>(op);
      if (!expandable) {
        op->emitOpError("exchanges data over ")
            << toString(axes) << " inside, and has no expansion yet";
        return signalPassFailure();
      }
      builder.setInsertionPoint(op);
      FailureOr<SmallVector<Value>> values = expandable.expand(builder);
      if (failed(values))
        return signalPassFailure();
      op->replaceAllUsesWith(*values);
      op->erase();
    }
  }
};
} // namespace
