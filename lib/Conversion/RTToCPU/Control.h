//===- Control.h - Code that only calls -------------------------*- C++ -*-===//

#ifndef DTC_LIB_CONVERSION_RTTOCPU_CONTROL_H
#define DTC_LIB_CONVERSION_RTTOCPU_CONTROL_H

#include "Lowering.h"
#include "mlir/IR/IRMapping.h"

namespace dtc {

/// Emits the runtime-level ops as calls, in a function whose first arguments
/// are the rank and a frame.
class Control {
public:
  Control(mlir::ModuleOp module, const RuntimeFunctions &rt,
          unsigned &numDescriptors)
      : module(module), rt(rt), numDescriptors(numDescriptors), b(module),
        ptr(mlir::LLVM::LLVMPointerType::get(module.getContext())) {}
  virtual ~Control() = default;

protected:
  /// The address of a buffer.
  virtual mlir::Value address(mlir::Value buffer, mlir::Location loc) = 0;
  /// An array of the addresses of buffers, on the stack.
  virtual mlir::Value emitPointers(mlir::ValueRange buffers,
                                   mlir::Location loc);

  mlir::LLVM::LLVMFuncOp createFunction(mlir::Location loc,
                                        llvm::StringRef name,
                                        llvm::ArrayRef<mlir::Type> types,
                                        mlir::LLVM::Linkage linkage);
  mlir::Value constant(mlir::Location loc, int64_t n);
  mlir::Value offset(mlir::Location loc, mlir::Value base, int64_t bytes);

  void emitLaunch(rt::LaunchOp op);
  void emitCall(rt::CallOp op, mlir::Value calleeFrame);
  void emitStart(rt::StartOp op);
  void emitWait(mlir::Value slot, mlir::Location loc);
  void emitFill(rt::FillOp op);

  mlir::ModuleOp module;
  const RuntimeFunctions &rt;
  unsigned &numDescriptors;
  mlir::OpBuilder b;
  mlir::Type ptr;
  // Of the function that is being written:
  mlir::Block *entry = nullptr;
  mlir::Value rank, frame, rankId;

private:
  mlir::Value getRankId(mlir::Location loc);
  llvm::SmallVector<mlir::Value> addresses(mlir::ValueRange buffers,
                                           mlir::Location loc);
  mlir::Value emitIndex(rt::IndexOp op);
};

} // namespace dtc

#endif // DTC_LIB_CONVERSION_RTTOCPU_CONTROL_H
