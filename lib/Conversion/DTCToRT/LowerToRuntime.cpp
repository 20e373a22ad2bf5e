//===- LowerToRuntime.cpp - -dtc-lower-to-runtime -------------------------===//

#include "LowerFunction.h"
#include "Prepare.h"
#include "dtc/Conversion/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace dtc {
#define GEN_PASS_DEF_LOWERTORUNTIME
#include "dtc/Conversion/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

class LowerToRuntime : public dtc::impl::LowerToRuntimeBase<LowerToRuntime> {
public:
  using LowerToRuntimeBase::LowerToRuntimeBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (vectorBits != 128 && vectorBits != 256 && vectorBits != 512) {
      module.emitError("vector-bits is ")
          << unsigned(vectorBits) << ", but may be 128, 256 or 512";
      return signalPassFailure();
    }
    if (bucketBytes < 1) {
      module.emitError("bucket-bytes is ")
          << int64_t(bucketBytes) << ", but must be at least 1";
      return signalPassFailure();
    }
    SmallVector<func::FuncOp> functions;
    func::FuncOp step;
    for (auto func : module.getOps<func::FuncOp>()) {
      functions.push_back(func);
      if (func.isPrivate())
        continue;
      if (step) {
        func.emitError("is public, and so is @")
            << step.getName() << ": a program has one public function";
        return signalPassFailure();
      }
      step = func;
    }
    if (!step) {
      module.emitError("has no public function");
      return signalPassFailure();
    }
    if (failed(createStorage(step)))
      return signalPassFailure();

    KernelTarget target;
    target.vectorBits = vectorBits;
    KernelCache kernels(module, target);
    SymbolTable symbols(module);
    for (func::FuncOp func : functions) {
      if (!func.getBody().hasOneBlock()) {
        func.emitError("must have a body of one block");
        return signalPassFailure();
      }
      int64_t count = inlineSingleMicroBatches(func);
      if (func == step)
        module->setAttr(rt::attrs::microbatches,
                        Builder(module).getI64IntegerAttr(count));
      groupCollectives(func.getBody().front(), bucketBytes);
      FunctionLowering lowering(module, func, symbols, kernels, bucketBytes);
      if (failed(func == step ? lowering.lowerStep() : lowering.lowerLayer()))
        return signalPassFailure();
    }
    for (func::FuncOp func : functions)
      func.erase();
  }

private:
  void addStorage(OpBuilder &b, Location loc, const Twine &name,
                  rt::StorageKind kind, StringRef of, Type type) {
    rt::StorageOp::create(b, loc, b.getStringAttr(name),
                          rt::StorageKindAttr::get(&getContext(), kind),
                          b.getStringAttr(of), TypeAttr::get(type),
                          IntegerAttr());
  }

  /// What the arena holds for the whole run: kind by kind, so that the plan's
  /// terms are contiguous.
  LogicalResult createStorage(func::FuncOp step) {
    ModuleOp module = getOperation();
    OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
    SmallVector<ParamOp> params(module.getOps<ParamOp>());
    if (!params.empty())
      b.setInsertionPointAfter(params.back());

    // Reads and writes say the placement of gradients and optimizer state.
    DenseMap<std::pair<StringRef, unsigned>, Type> types;
    WalkResult ok = step.walk([&](Operation *op) {
      StringRef param;
      Slot slot;
      Type type;
      if (auto read = dyn_cast<ReadOp>(op)) {
        param = read.getParam();
        slot = read.getSlot();
        type = read.getType();
      } else if (auto write = dyn_cast<WriteOp>(op)) {
        param = write.getParam();
        slot = write.getSlot();
        type = write.getValue().getType();
      } else {
        return WalkResult::advance();
      }
      Type &known = types[{param, unsigned(slot)}];
      if (known && known != type) {
        op->emitError() << stringifySlot(slot) << " of @" << param << " is "
                        << type << " here but " << known << " elsewhere";
        return WalkResult::interrupt();
      }
      known = type;
      return WalkResult::advance();
    });
    if (ok.wasInterrupted())
      return failure();
    static const std::pair<Slot, rt::StorageKind> slots[] = {
        {Slot::Param, rt::StorageKind::Param},
        {Slot::Grad, rt::StorageKind::Grad},
        {Slot::M, rt::StorageKind::M},
        {Slot::V, rt::StorageKind::V}};
    for (auto [slot, kind] : slots)
      for (ParamOp p : params) {
        Type type = types.lookup({p.getSymName(), unsigned(slot)});
        addStorage(b, p.getLoc(), getSlotSymbol(p.getSymName(), slot), kind,
                   p.getSymName(), type ? type : Type(p.getTensorType()));
      }

    for (BlockArgument a : step.getArguments()) {
      auto name = step.getArgAttrOfType<StringAttr>(a.getArgNumber(),
                                                    dtc::attrs::input);
      if (!name)
        return step.emitError("argument ")
               << a.getArgNumber() << " of the step has no dtc.input";
      bool isScalar = name == "rng" || name == "optimizer";
      addStorage(b, a.getLoc(), getInputSymbol(name),
                 isScalar ? rt::StorageKind::Scalar : rt::StorageKind::Input,
                 name, a.getType());
    }
    // Nothing is drawn in a model without dropout; the runtime writes the
    // scalars all the same.
    if (!module.lookupSymbol(getInputSymbol("rng")))
      addStorage(b, step.getLoc(), getInputSymbol("rng"),
                 rt::StorageKind::Scalar, "rng",
                 DTensorType::get({2}, b.getI32Type()));
    for (unsigned i = 0; i < step.getNumResults(); ++i) {
      auto name = step.getResultAttrOfType<StringAttr>(i, dtc::attrs::output);
      if (!name)
        return step.emitError("result ")
               << i << " of the step has no dtc.output";
      addStorage(b, step.getLoc(), getOutputSymbol(name),
                 rt::StorageKind::Output, name, step.getResultTypes()[i]);
    }
    return success();
  }
};

} // namespace
