//===- LowerToCpu.cpp - -dtc-lower-to-cpu ---------------------------------===//

#include "Lowering.h"
#include "dtc/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace dtc {
#define GEN_PASS_DEF_LOWERTOCPU
#include "dtc/Conversion/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

RuntimeFunctions::RuntimeFunctions(ModuleOp module) {
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  Type ptr = LLVM::LLVMPointerType::get(b.getContext());
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  Type none = LLVM::LLVMVoidType::get(b.getContext());
  auto declare = [&](StringRef name, Type result, ArrayRef<Type> types) {
    return LLVM::LLVMFuncOp::create(b, module.getLoc(), name,
                                    LLVM::LLVMFunctionType::get(result, types));
  };
  start = declare("dtc_rt_start", none, {ptr, ptr, i32, ptr, ptr});
  wait = declare("dtc_rt_wait", none, {ptr, i32});
  rankId = declare("dtc_rt_rank_id", i64, {ptr});
  workspace = declare("dtc_rt_workspace", ptr, {ptr, i64});
  kernelBegin = declare("dtc_rt_kernel_begin", none, {ptr});
  kernelEnd = declare("dtc_rt_kernel_end", none, {ptr, ptr});
  threadNumber = declare("omp_get_thread_num", i32, {});
}

namespace {
class LowerToCpu : public dtc::impl::LowerToCpuBase<LowerToCpu> {
public:
  using LowerToCpuBase::LowerToCpuBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (!rt::getStep(module) || !module->hasAttr(rt::attrs::arenaBytes)) {
      module.emitError("has no step whose memory is planned");
      return signalPassFailure();
    }
    // The hash is of the program before anything is changed.
    int64_t workspaceBytes = 0;
    module.walk([&](rt::WorkspaceOp op) {
      workspaceBytes = std::max(workspaceBytes,
                                rt::getAlignedBytes(op.getBuffer().getType()));
    });
    FailureOr<std::string> text =
        getProgramJson(module, cpu, flags, workspaceBytes);
    if (failed(text))
      return signalPassFailure();

    SymbolTable symbols(module);
    RuntimeFunctions functions(module);
    unsigned numDescriptors = 0;
    for (auto func : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (func->hasAttr(rt::attrs::kernel))
        lowerKernel(func, functions);
      else if (!func->hasAttr(rt::attrs::step))
        lowerLayer(func, functions, numDescriptors);
      else if (failed(lowerStep(func, functions, symbols, numDescriptors)))
        return signalPassFailure();
    for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
      if (isa<rt::StorageOp, ParamOp>(op))
        op.erase();
    OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
    createString(b, module.getLoc(), "dtc_program_json", *text,
                 LLVM::Linkage::External);
    for (NamedAttribute attr : llvm::to_vector(module->getAttrs()))
      if (attr.getName().strref().starts_with("rt.") ||
          attr.getName() == dtc::attrs::mesh)
        module->removeAttr(attr.getName());
  }
};
} // namespace
