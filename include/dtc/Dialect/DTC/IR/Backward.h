//===- Backward.h - Building derivatives ------------------------*- C++ -*-===//

#ifndef DTC_DIALECT_DTC_IR_BACKWARD_H
#define DTC_DIALECT_DTC_IR_BACKWARD_H

#include "dtc/Dialect/DTC/IR/FactorRule.h"
#include "mlir/IR/Builders.h"

namespace dtc {

/// What an op's derivative is built with. The differentiation pass decides
/// where the derivative stands and which forward values are saved.
class BackwardBuilder {
public:
  BackwardBuilder(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}
  virtual ~BackwardBuilder() = default;

  /// The forward value, made available to the backward (saved, recomputed, or
  /// the same value).
  virtual mlir::Value saved(mlir::Value forward) = 0;
  /// The cotangent of a result; null when nothing flows into it (zero).
  virtual mlir::Value cotangent(mlir::Value result) = 0;
  /// Whether the operand's cotangent is wanted (float, and depends on
  /// something that is differentiated).
  virtual bool wants(mlir::Value operand) = 0;
  /// Adds to the operand's cotangent. The type must be the conjugate of the
  /// operand's.
  virtual void add(mlir::Value operand, mlir::Value cotangent) = 0;

  /// Creates a derivative op. Operands that are invariant on an axis which
  /// cuts a factor that they lack are passed through f first (free).
  template <typename OpTy, typename... Args> OpTy create(Args &&...args) {
    auto op = OpTy::create(builder, loc, std::forward<Args>(args)...);
    passThroughF(op);
    return op;
  }
  /// The conjugate of a forward value's type.
  static DTensorType conjugate(mlir::Value forward);

  mlir::OpBuilder &getBuilder() { return builder; }
  mlir::Location getLoc() const { return loc; }

private:
  void passThroughF(mlir::Operation *op);
  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace dtc

#endif // DTC_DIALECT_DTC_IR_BACKWARD_H
