//===- Interpreter.h - Runs dtc programs on simulated ranks -----*- C++ -*-===//
//
// The meaning of a program at any level of the dtc dialect, in float64, on all
// ranks of the module's mesh at once. Ops are known through
// MeaningOpInterface and CollectiveOpInterface only, apart from calls,
// parameters, micro-batches and rings. Errors are diagnostics at the op.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_INTERPRETER_INTERPRETER_H
#define DTC_INTERPRETER_INTERPRETER_H

#include "dtc/Interpreter/Pieces.h"
#include "dtc/Interpreter/ProgramData.h"
#include "dtc/Schedule/Schedule.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"

namespace dtc {

/// Values by SSA name, as pieces of their types.
using Environment = llvm::DenseMap<mlir::Value, Pieces>;

/// Runs one op that is a collective or has a meaning; results are rounded to
/// their element types (see Interpreter::round), poisoned, and checked against
/// their types.
mlir::FailureOr<llvm::SmallVector<Pieces>>
interpretOp(mlir::Operation *op, llvm::ArrayRef<const Pieces *> operands,
            MeshAttr mesh, double tolerance = 1e-9, bool round = true);

/// As above under a given declaration instead of the op's own.
mlir::FailureOr<llvm::SmallVector<Pieces>>
interpretOp(mlir::Operation *op, const FactorRule &rule,
            llvm::ArrayRef<const Pieces *> operands, MeshAttr mesh,
            double tolerance = 1e-9, bool round = true);

class Interpreter {
public:
  /// Without data, a program may not read parameters.
  explicit Interpreter(mlir::ModuleOp module,
                       const ProgramData *data = nullptr);

  /// How far copies may differ.
  double tolerance = 1e-9;

  /// Whether values of bf16 are rounded to it wherever a program rounds them:
  /// at every op's result, and after every addition to a sum. Else the program
  /// is run as if all of its floats were float64.
  bool round = true;

  /// The order in which the ranks of a pipeline run the loop over
  /// micro-batches, where the program itself names none.
  std::optional<schedule::Schedule> schedule;

  /// Runs the one public function on the data's inputs.
  mlir::LogicalResult run();

  struct Named {
    std::string name;
    DTensorType type;
    Array value; // logical
  };
  /// What the program returned: by `dtc.output`.
  const std::vector<Named> &getOutputs() const { return outputs; }
  /// What it wrote, in the order of first writing: "grad of @wte".
  const std::vector<Named> &getWrites() const { return writes; }
  /// The largest finite magnitude of any op's result.
  double getLargest() const { return largest; }

  /// Runs a function on given arguments.
  mlir::FailureOr<llvm::SmallVector<Pieces>>
  call(mlir::func::FuncOp func, llvm::ArrayRef<Pieces> arguments);

  /// Runs the ops of a block up to its terminator.
  mlir::LogicalResult runBlock(mlir::Block &block, Environment &env);

  static std::string getWriteName(Slot slot, llvm::StringRef param);

private:
  mlir::LogicalResult runOp(mlir::Operation *op, Environment &env);
  mlir::LogicalResult runCall(mlir::func::CallOp op, Environment &env);
  mlir::LogicalResult runRead(ReadOp op, Environment &env);
  mlir::LogicalResult runWrite(WriteOp op, Environment &env);
  mlir::LogicalResult runMicroBatches(MicroBatchesOp op, Environment &env);
  mlir::LogicalResult runRing(RingOp op, Environment &env);
  mlir::FailureOr<mlir::func::FuncOp> getEntry();
  mlir::LogicalResult checkMesh(mlir::Operation *op, mlir::Type type);

  mlir::ModuleOp module;
  const ProgramData *data;
  MeshAttr mesh;
  mlir::SymbolTable symbols;
  llvm::SmallVector<mlir::func::FuncOp> stack;
  /// What was written: by slot and parameter.
  struct Kept {
    DTensorType type;
    Pieces pieces;
  };
  std::map<std::string, Kept> kept;
  std::vector<std::string> writeOrder;
  std::vector<Named> outputs, writes;
  double largest = 0;
};

/// The largest |a - b| of two logical arrays of one shape; infinity where only
/// one is finite, or where both are NaN: a NaN agrees with nothing.
double getMaxError(const Array &a, const Array &b);
/// The largest finite magnitude.
double getMagnitude(const Array &a);

} // namespace dtc

#endif // DTC_INTERPRETER_INTERPRETER_H
