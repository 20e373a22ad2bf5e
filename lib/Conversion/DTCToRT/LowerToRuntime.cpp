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
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

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
    for (func::FuncOp func : functions)
      if (!func.getBody().hasOneBlock()) {
        func.emitError("must have a body of one block");
        return signalPassFailure();
      }
    SmallVector<func::FuncOp> all = functions;
    FailureOr<ProjectedPipeline> pipeline = ProjectedPipeline();
    if (MicroBatchesOp loop = getScheduledLoop(step)) {
      pipeline = projectPipeline(step, loop);
      if (failed(pipeline))
        return signalPassFailure();
    } else if (getMesh(module).getSize("pp") > 1) {
      step.emitError("has no scheduled loop, but the mesh has pp=")
          << getMesh(module).getSize("pp") << ": run -dtc-schedule-pipeline";
      return signalPassFailure();
    }
    // Stages have become part of steps.
    if (!pipeline->steps.empty()) {
      SmallVector<func::FuncOp> steps;
      for (ProjectedStep &p : pipeline->steps)
        steps.push_back(p.func);
      functions = getReachable(steps);
      llvm::append_range(all, steps);
    } else {
      llvm::erase(functions, step);
    }
    names.clear();
    for (auto symbol : module.getOps<SymbolOpInterface>())
      names.insert(symbol.getName());
    if (pipeline->steps.empty()
            ? failed(createStorage(step, step, nullptr))
            : llvm::any_of(pipeline->steps, [&](auto &p) {
                return failed(createStorage(p.func, step, &p));
              }))
      return signalPassFailure();

    KernelTarget target;
    target.vectorBits = vectorBits;
    KernelCache kernels(module, target);
    SymbolTable symbols(module);
    auto lowering = [&](func::FuncOp func) {
      return FunctionLowering(module, func, symbols, kernels, bucketBytes);
    };
    auto prepare = [&](func::FuncOp func) {
      int64_t count = inlineSingleMicroBatches(func);
      groupCollectives(func.getBody().front(), bucketBytes);
      return count;
    };
    for (func::FuncOp func : functions) {
      prepare(func);
      if (failed(lowering(func).lowerLayer()))
        return signalPassFailure();
    }
    int64_t count = 1;
    if (pipeline->steps.empty()) {
      count = prepare(step);
      if (failed(lowering(step).lowerStep()))
        return signalPassFailure();
    }
    for (ProjectedStep &p : pipeline->steps) {
      count = prepare(p.func);
      if (failed(lowering(p.func).lowerStep(*pipeline, p)))
        return signalPassFailure();
    }
    module->setAttr(rt::attrs::microbatches,
                    Builder(module).getI64IntegerAttr(count));
    for (func::FuncOp func : all)
      func.erase();
    for (auto op : llvm::make_early_inc_range(module.getOps<ScheduleOp>()))
      op.erase();
  }

private:
  LogicalResult addStorage(OpBuilder &b, Location loc, const Twine &name,
                           rt::StorageKind kind, StringRef of, Type type,
                           const ProjectedStep *rank) {
    if (!names.insert(name.str()).second)
      return emitError(loc)
             << "needs the symbol @" << name << ", which is taken";
    rt::StorageOp::create(b, loc, b.getStringAttr(name),
                          rt::StorageKindAttr::get(&getContext(), kind),
                          b.getStringAttr(of), TypeAttr::get(type),
                          IntegerAttr(),
                          b.getI64IntegerAttr(rank ? rank->rank : 0));
    return success();
  }

  /// Symbols that are taken.
  llvm::StringSet<> names;

  /// The functions that steps call, callees before callers.
  SmallVector<func::FuncOp> getReachable(ArrayRef<func::FuncOp> steps) {
    SymbolTable symbols(getOperation());
    llvm::SetVector<Operation *> found;
    std::function<void(func::FuncOp)> visit = [&](func::FuncOp func) {
      func.walk([&](func::CallOp call) {
        auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
        if (!callee || found.contains(callee))
          return;
        visit(callee);
        found.insert(callee);
      });
    };
    llvm::for_each(steps, visit);
    SmallVector<func::FuncOp> out;
    for (Operation *op : found)
      out.push_back(cast<func::FuncOp>(op));
    return out;
  }

  /// What the arena holds for the whole run: kind by kind, so that the plan's
  /// terms are contiguous. A rank of a pipeline has what its step uses of the
  /// whole.
  LogicalResult createStorage(func::FuncOp step, func::FuncOp whole,
                              const ProjectedStep *rank) {
    ModuleOp module = getOperation();
    OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
    SmallVector<ParamOp> params(module.getOps<ParamOp>());
    if (!params.empty())
      b.setInsertionPointAfter(params.back());
    for (auto earlier : module.getOps<rt::StorageOp>())
      b.setInsertionPointAfter(earlier);

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
        {Slot::Master, rt::StorageKind::Master},
        {Slot::M, rt::StorageKind::M},
        {Slot::V, rt::StorageKind::V}};
    for (auto [slot, kind] : slots)
      for (ParamOp p : params) {
        Type type = types.lookup({p.getSymName(), unsigned(slot)});
        if (slot == Slot::Master && !p.hasMaster())
          continue;
        if (rank && !types.contains({p.getSymName(), unsigned(Slot::Param)}))
          continue;
        if (!type)
          type = p.getTensorType().withElementType(p.getSlotElementType(slot));
        if (failed(addStorage(b, p.getLoc(),
                              getSlotSymbol(p.getSymName(), slot, rank), kind,
                              p.getSymName(), type, rank)))
          return failure();
      }

    for (BlockArgument a : step.getArguments()) {
      auto name = step.getArgAttrOfType<StringAttr>(a.getArgNumber(),
                                                    dtc::attrs::input);
      if (!name)
        return step.emitError("argument ")
               << a.getArgNumber() << " of the step has no dtc.input";
      bool isScalar = name == "rng" || name == "optimizer";
      // What nobody reads is an input of the program all the same.
      bool isRead =
          !a.use_empty() || (rank && rank->rank == 0 &&
                             whole.getArgument(a.getArgNumber()).use_empty());
      if (rank && !isScalar && !isRead)
        continue;
      if (failed(addStorage(b, a.getLoc(), getInputSymbol(name, rank),
                            isScalar ? rt::StorageKind::Scalar
                                     : rt::StorageKind::Input,
                            name, a.getType(), rank)))
        return failure();
    }
    // Nothing is drawn in a model without dropout; the runtime writes the
    // scalars all the same.
    if (!names.contains(getInputSymbol("rng", rank)) &&
        failed(addStorage(b, step.getLoc(), getInputSymbol("rng", rank),
                          rt::StorageKind::Scalar, "rng",
                          DTensorType::get({2}, b.getI32Type()), rank)))
      return failure();
    for (unsigned i = 0; i < step.getNumResults(); ++i) {
      auto name = step.getResultAttrOfType<StringAttr>(i, dtc::attrs::output);
      if (!name)
        return step.emitError("result ")
               << i << " of the step has no dtc.output";
      if (failed(addStorage(b, step.getLoc(), getOutputSymbol(name, rank),
                            rt::StorageKind::Output, name,
                            step.getResultTypes()[i], rank)))
        return failure();
    }
    return success();
  }
};

} // namespace
