//===- Lowering.h - Parts of -dtc-lower-to-cpu ------------------*- C++ -*-===//

#ifndef DTC_LIB_CONVERSION_RTTOCPU_LOWERING_H
#define DTC_LIB_CONVERSION_RTTOCPU_LOWERING_H

#include "dtc/Dialect/RT/IR/RT.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace dtc {

/// The functions of the runtime that compiled code calls.
class RuntimeFunctions {
public:
  explicit RuntimeFunctions(mlir::ModuleOp module);

  mlir::LLVM::LLVMFuncOp start, wait, rankId, workspace, threadNumber,
      kernelBegin, kernelEnd;
  /// Messages, and what surrounds a task.
  mlir::LLVM::LLVMFuncOp open, post, receive, send, sent, begin, end;
};

/// The constant that describes a collective (dtc_collective). Returns its
/// symbol. Equal ones are not shared: each has its place in the program.
mlir::LLVM::GlobalOp createDescriptor(mlir::ModuleOp module, rt::StartOp start,
                                      unsigned number);

/// A constant array of bytes, with a final 0.
mlir::LLVM::GlobalOp createString(mlir::OpBuilder &b, mlir::Location loc,
                                  llvm::StringRef name, llvm::StringRef text,
                                  mlir::LLVM::Linkage linkage);

/// Kernels: buffers become pointers, and the rank is the first argument.
/// Returns the most bytes of workspace that any of them asks for.
int64_t lowerKernel(mlir::func::FuncOp kernel, const RuntimeFunctions &rt);

/// A layer: a list of calls. Replaces the function.
void lowerLayer(mlir::func::FuncOp func, const RuntimeFunctions &rt,
                unsigned &numDescriptors);

/// A constant array of channels (dtc_channel).
mlir::LLVM::GlobalOp createChannels(mlir::ModuleOp module,
                                    llvm::StringRef symbol,
                                    llvm::ArrayRef<rt::ChannelAttr> channels);

/// The steps, one for each coordinate on pp: tables and what reads them.
/// Replaces the functions. `symbols` finds storage.
mlir::LogicalResult lowerSteps(mlir::ModuleOp module,
                               const RuntimeFunctions &rt,
                               const mlir::SymbolTable &symbols,
                               unsigned &numDescriptors);

/// The text of `dtc_program_json` (docs/runtime.md).
mlir::FailureOr<std::string> getProgramJson(mlir::ModuleOp module,
                                            llvm::StringRef cpu,
                                            llvm::StringRef flags,
                                            int64_t workspaceBytes);

} // namespace dtc

#endif // DTC_LIB_CONVERSION_RTTOCPU_LOWERING_H
