//===- ExpandCommunication.cpp - Ops that communicate inside --------------===//

#include "Program.h"
#include "dtc/Transforms/Passes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace dtc {
#define GEN_PASS_DEF_EXPANDCOMMUNICATION
#include "dtc/Transforms/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

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
      if (AxisList axes = getCommunicatingAxes(op); !axes.empty())
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
      Operation *before = op->getPrevNode();
      FailureOr<SmallVector<Value>> values = expandable.expand(builder);
      if (failed(values))
        return signalPassFailure();
      op->replaceAllUsesWith(*values);
      // What makes a result that nobody uses (statistics of a layer that is
      // computed again) must not exchange data.
      for (Operation *last = op->getPrevNode(); last != before;) {
        Operation *next = last->getPrevNode();
        if (isOpTriviallyDead(last))
          last->erase();
        last = next;
      }
      op->erase();
    }
  }
};
} // namespace
