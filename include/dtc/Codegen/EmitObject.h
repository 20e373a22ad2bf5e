//===- EmitObject.h - From the LLVM dialect to machine code -----*- C++ -*-===//
#ifndef DTC_CODEGEN_EMITOBJECT_H
#define DTC_CODEGEN_EMITOBJECT_H

#include "dtc/Codegen/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace dtc::codegen {

enum class EmitKind { Object, Assembly, LlvmIr };

struct EmitOptions {
  /// A name of LLVM's (`sapphirerapids`, `x86-64-v3`, ...), or `native`.
  std::string cpu = "native";
  EmitKind kind = EmitKind::Object;
  /// 0 to 3.
  int optLevel = 3;
};

/// Machine code (or text) of a module of the LLVM and omp dialects.
llvm::Expected<std::string> emitObject(mlir::ModuleOp module,
                                       const EmitOptions &options);

/// The features of the processor that code for `cpu` may use, as
/// /proc/cpuinfo names them, sorted.
llvm::Expected<std::vector<std::string>>
requiredCpuFeatures(const std::string &cpu);

/// What the kernel generators need to know of `cpu`.
llvm::Expected<TargetInfo> targetInfo(const std::string &cpu);

} // namespace dtc::codegen
#endif
