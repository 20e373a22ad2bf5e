//===- CheckParts.h - What the checks share ---------------------*- C++ -*-===//

#ifndef DTC_LIB_TOOLS_FUZZ_CHECKPARTS_H
#define DTC_LIB_TOOLS_FUZZ_CHECKPARTS_H

#include "dtc/Interpreter/Interpreter.h"
#include "dtc/Tools/Fuzz/Check.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"

namespace dtc::fuzz {

/// The errors of a stretch of work, as text.
class Errors {
public:
  explicit Errors(mlir::MLIRContext &context);
  const std::string &text() const { return all; }

private:
  std::string all;
  mlir::ScopedDiagnosticHandler handler;
};

/// Ends a check: thrown nowhere, returned everywhere.
using Maybe = std::optional<Outcome>;

/// Runs each pass of a pipeline by itself, and verifies after it: so a pass
/// that refuses is told from one that leaves an invalid program.
Maybe runPasses(mlir::ModuleOp module, mlir::OpPassManager &pipeline);

/// What is told apart from what it should be by more than `tolerance` times
/// its magnitude (`floor` times the largest one of the list where that is
/// more), and, if `moved` is given, by more than `sensitivity` times how far it
/// is there; empty: nothing.
std::string findDifference(llvm::ArrayRef<Interpreter::Named> want,
                           llvm::ArrayRef<Interpreter::Named> got,
                           double tolerance, double floor,
                           llvm::ArrayRef<Interpreter::Named> moved = {},
                           double sensitivity = 0);

/// Compiles the model to a program, runs a step of it, and holds that against
/// the interpreter's step on one device.
Maybe checkCompiled(mlir::ModuleOp oneDevice, const std::string &model,
                    const Settings &settings, const CheckOptions &options,
                    const std::string &rulesFile);

} // namespace dtc::fuzz

#endif // DTC_LIB_TOOLS_FUZZ_CHECKPARTS_H
