//===- Program.h - The parts of a program's module --------------*- C++ -*-===//

#ifndef DTC_LIB_TRANSFORMS_PROGRAM_H
#define DTC_LIB_TRANSFORMS_PROGRAM_H

#include "dtc/Dialect/DTC/IR/DTC.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dtc {

/// The one public function: the model, later the step. Emits an error where
/// there is none, or more than one.
mlir::FailureOr<mlir::func::FuncOp> getPublicFunction(mlir::ModuleOp module);

/// A program is one module. Emits an error at a table of symbols within it.
mlir::LogicalResult checkOneModule(mlir::ModuleOp module);

/// Calls `check` for parameters, and for arguments and results in functions,
/// each with the `dtc.sharding` that stands for it, if any. Emits an error at
/// what is no dtc tensor; `check` emits its own.
mlir::LogicalResult checkTensors(
    mlir::ModuleOp module,
    llvm::function_ref<mlir::LogicalResult(mlir::Operation *, DTensorType,
                                           mlir::Attribute)>
        check);

/// The function that is called. Emits an error where it is not defined in the
/// module.
mlir::FailureOr<mlir::func::FuncOp> getCallee(mlir::func::CallOp call,
                                              mlir::SymbolTable &symbols);

/// Functions that `root` reaches, callees before callers, `root` last. Emits
/// an error on recursion and on functions that are not one block.
mlir::FailureOr<llvm::SmallVector<mlir::func::FuncOp>>
getCallOrder(mlir::func::FuncOp root, mlir::SymbolTable &symbols);

/// Erases private functions that are not among `reachable`: what nothing calls
/// would keep the types and names that others have had.
void dropUnreachable(mlir::ModuleOp module, mlir::SymbolTable &symbols,
                     llvm::ArrayRef<mlir::func::FuncOp> reachable);

/// Each element of every stored tensor must be in exactly one parameter's view:
/// it would be trained twice, or neither trained nor saved. Emits an error at
/// the parameter.
mlir::LogicalResult checkStoredTensors(mlir::ModuleOp module);

/// The public function and what it reaches, in call order, after private
/// functions beside them have been erased. Emits errors as those above do.
mlir::FailureOr<llvm::SmallVector<mlir::func::FuncOp>>
keepReachable(mlir::ModuleOp module, mlir::SymbolTable &symbols);

/// Index of the result that is named so by `dtc.output`.
std::optional<unsigned> findOutput(mlir::func::FuncOp func,
                                   llvm::StringRef name);

/// "1, 2 or 4".
std::string listOfChoices(llvm::ArrayRef<int64_t> choices);

/// The axes over which the op itself exchanges data: those that cut a
/// communicating factor, or both factors of a pair.
AxisList getCommunicatingAxes(FactorOpInterface op);

} // namespace dtc

#endif // DTC_LIB_TRANSFORMS_PROGRAM_H
