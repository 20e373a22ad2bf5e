//===- Kernels.cpp - Kernels on pointers ----------------------------------===//

#include "Lowering.h"
#include "dtc/Codegen/Workspace.h"
#include "dtc/Dialect/RT/IR/Label.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace dtc;

/// Tells the runtime when the kernel begins and ends.
static void callProfile(func::FuncOp kernel, Value rank,
                        const RuntimeFunctions &rt) {
  Location loc = kernel.getLoc();
  auto label = kernel->getAttrOfType<StringAttr>(rt::labelAttr);
  StringRef text = label ? label.getValue() : kernel.getSymName();
  OpBuilder top(kernel);
  LLVM::GlobalOp name =
      createString(top, loc, (kernel.getSymName() + "_label").str(), text,
                   LLVM::Linkage::Internal);
  OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
  LLVM::CallOp::create(b, loc, rt.kernelBegin, rank);
  b.setInsertionPoint(kernel.getBody().back().getTerminator());
  Value address =
      LLVM::AddressOfOp::create(b, loc, rank.getType(), name.getSymName());
  LLVM::CallOp::create(b, loc, rt.kernelEnd, ValueRange{rank, address});
}

int64_t dtc::lowerKernel(func::FuncOp kernel, const RuntimeFunctions &rt) {
  MLIRContext *context = kernel.getContext();
  Location loc = kernel.getLoc();
  auto ptr = LLVM::LLVMPointerType::get(context);
  Block &entry = kernel.getBody().front();

  SmallVector<bool> noalias;
  for (unsigned i = 0; i < entry.getNumArguments(); ++i)
    noalias.push_back(bool(kernel.getArgAttr(i, rt::attrs::noalias)));
  OpBuilder b = OpBuilder::atBlockBegin(&entry);
  Value rank = entry.insertArgument(0u, ptr, loc);
  for (unsigned i = 1; i < entry.getNumArguments(); ++i) {
    BlockArgument old = entry.getArgument(i);
    auto type = dyn_cast<MemRefType>(old.getType());
    if (!type)
      continue;
    Value pointer = entry.insertArgument(i, ptr, loc);
    old.replaceAllUsesWith(codegen::memrefFromPointer(b, loc, pointer, type));
    entry.eraseArgument(i + 1);
  }
  kernel.setFunctionType(
      FunctionType::get(context, entry.getArgumentTypes(), {}));
  kernel.setAllArgAttrs(SmallVector<DictionaryAttr>(
      entry.getNumArguments(), DictionaryAttr::get(context)));
  for (auto [i, isAlone] : llvm::enumerate(noalias))
    if (isAlone)
      kernel.setArgAttr(i + 1, LLVM::LLVMDialect::getNoAliasAttrName(),
                        b.getUnitAttr());
  callProfile(kernel, rank, rt);
  kernel->removeAttr(rt::attrs::kernel);
  kernel->removeAttr(rt::labelAttr);
  // A kernel is a symbol of its own in profiles, and is compiled once.
  kernel->setAttr("llvm.linkage",
                  LLVM::LinkageAttr::get(context, LLVM::Linkage::Internal));
  kernel->setAttr("no_inline", b.getUnitAttr());

  int64_t most = 0;
  kernel.walk([&](rt::WorkspaceOp op) {
    OpBuilder at(op);
    MemRefType type = op.getBuffer().getType();
    most = std::max(most, rt::getAlignedBytes(type));
    Value thread =
        LLVM::CallOp::create(at, op.getLoc(), rt.threadNumber, ValueRange())
            .getResult();
    Value wide =
        arith::ExtSIOp::create(at, op.getLoc(), at.getI64Type(), thread);
    Value pointer = LLVM::CallOp::create(at, op.getLoc(), rt.workspace,
                                         ValueRange{rank, wide})
                        .getResult();
    op.replaceAllUsesWith(
        codegen::memrefFromPointer(at, op.getLoc(), pointer, type));
    op.erase();
  });
  return most;
}
