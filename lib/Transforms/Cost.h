//===- Cost.h - What ops and calls cost one rank ----------------*- C++ -*-===//

#ifndef DTC_LIB_TRANSFORMS_COST_H
#define DTC_LIB_TRANSFORMS_COST_H

#include "dtc/Dialect/DTC/IR/DTC.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dtc {

/// Costs of ops on one rank, of calls the sum over the callee, of which each
/// is looked into once.
class CostModel {
public:
  explicit CostModel(mlir::SymbolTable &symbols) : symbols(symbols) {}

  /// Operations that take as long as moving one byte: about what processors
  /// and their memories have had for long; only its order matters here.
  static constexpr double flopsPerByte = 10;

  /// In operations: the larger of the products' and the moved bytes' time (the
  /// roofline of Williams et al. 2009).
  double getCost(mlir::Operation *op) { return get(op).cost; }
  /// Bytes of the results that take memory: about what a forward saves.
  double getResultBytes(mlir::Operation *op) { return get(op).bytes; }

private:
  struct Sum {
    double cost = 0, bytes = 0;
  };
  Sum get(mlir::Operation *op);

  mlir::SymbolTable &symbols;
  llvm::DenseMap<mlir::Operation *, Sum> functions;
};

} // namespace dtc

#endif // DTC_LIB_TRANSFORMS_COST_H
