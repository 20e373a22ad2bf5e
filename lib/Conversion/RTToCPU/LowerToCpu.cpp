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
  open = declare("dtc_rt_open", none, {ptr, ptr, i32});
  post = declare("dtc_rt_post", none, {ptr, ptr, ptr});
  receive = declare("dtc_rt_receive", none, {ptr, ptr});
  send = declare("dtc_rt_send", none, {ptr, ptr, ptr});
  sent = declare("dtc_rt_sent", none, {ptr, ptr});
  begin = declare("dtc_rt_begin", none, {ptr, ptr, i64, i64});
  end = declare("dtc_rt_end", none, {ptr});
}

namespace {
class LowerToCpu : public dtc::impl::LowerToCpuBase<LowerToCpu> {
public:
  using LowerToCpuBase::LowerToCpuBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<func::FuncOp> steps = rt::getSteps(module);
    for (auto [i, step] : llvm::enumerate(steps))
      if (rt::getStage(step) != static_cast<int64_t>(i)) {
        step.emitError("is the step of coordinate ")
            << rt::getStage(step) << " on pp, but there is "
            << (rt::getStage(step) > static_cast<int64_t>(i) ? "none"
                                                             : "another one")
            << " for " << i;
        return signalPassFailure();
      }
    if (steps.empty() || !llvm::all_of(steps, [](func::FuncOp step) {
          return step->hasAttr(rt::attrs::arenaBytes);
        })) {
      module.emitError("has no step whose memory is planned");
      return signalPassFailure();
    }
    if (static_cast<int64_t>(steps.size()) != getMesh(module).getSize("pp")) {
      module.emitError("has ")
          << steps.size() << " steps for pp=" << getMesh(module).getSize("pp");
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
    if (failed(lowerSteps(module, functions, symbols, numDescriptors)))
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
