//===- Compile.h - From model IR to an executable ---------------*- C++ -*-===//

#ifndef DTC_TOOLS_COMPILE_COMPILE_H
#define DTC_TOOLS_COMPILE_COMPILE_H

#include "dtc/Tools/Compile/Mesh.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace dtc {

/// What dtc-compile stops at.
enum class CompileLevel {
  Mlir,   ///< the last program of the dtc level
  Llvm,   ///< LLVM IR, optimized
  Object, ///< an object file
  Exe,    ///< linked with the runtime
};

struct CompileOptions {
  std::string input;
  std::string output; ///< "-" is standard output
  MeshSizes mesh;
  int64_t microbatches = 1;
  std::string rulesFile;
  /// Of parameters and activations: f32 or bf16. Of gradients: likewise, or
  /// empty for what is usual.
  std::string precision = "f32", gradType;
  bool sequenceParallel = false;
  std::string cpLayout = "contiguous", cpAttention = "ring";
  /// Whether what sequence parallelism gathers is gathered again in the
  /// backward.
  bool gatherAgain = false;
  /// none, selective, full, auto (under `memory` bytes), or operations per
  /// byte, as -dtc-differentiate takes it.
  std::string recompute = "none";
  /// ZeRO: what is cut over dp and cp, and how long stage 3 keeps gathered
  /// parameters.
  int64_t zero = 0;
  std::string zero3Reshard = "micro-batch";
  /// A name, or with `isScheduleFile` a file.
  std::string schedule = "1f1b";
  bool isScheduleFile = false;
  /// Stages of each pipeline rank; 0: as many as the schedule usually has.
  int64_t virtualStages = 0;
  /// Layers of each stage, as -dtc-cut-stages takes them.
  std::string stages;
  /// The most bytes that a rank's arena may have; 0: no limit.
  int64_t memory = 0;
  int64_t bucketBytes = 25 << 20;
  /// Whether collectives may be in flight while ops run.
  bool overlap = true;
  std::string cpu = "native";
  CompileLevel emit = CompileLevel::Exe;
  /// Passes (by argument) after which the program is printed to standard
  /// output.
  std::vector<std::string> printAfter;
  /// The command line's flags, for the program's description.
  std::string flags;
  /// Path of the tool, from which the runtime library is found.
  std::string toolPath;
};

/// Dialects and translations that compiling needs.
void registerCompileDialects(mlir::DialectRegistry &registry);

/// Adds the passes from the model to the last program of the dtc level. The
/// error says why the mesh cannot have the schedule.
llvm::Error addTrainingPasses(mlir::OpPassManager &pm,
                              const CompileOptions &options);

/// The passes by the arguments that --print-after takes, in order.
std::vector<std::string> getCompilePassNames();

/// The model as a program whose memory is planned, before code exists; what
/// `auto` chose is said on `report`. Diagnostics as below.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
planProgram(mlir::MLIRContext &context, const CompileOptions &options,
            llvm::raw_ostream &report);

/// Compiles; the output is complete or untouched. Diagnostics of the program
/// go to the context's handler; the error is then empty text.
llvm::Error compile(mlir::MLIRContext &context, const CompileOptions &options);

/// Links an object file with the runtime library into `output`. Runs clang++,
/// else another C++ compiler.
llvm::Error linkExecutable(llvm::StringRef object, llvm::StringRef output,
                           llvm::StringRef toolPath);

} // namespace dtc

#endif // DTC_TOOLS_COMPILE_COMPILE_H
