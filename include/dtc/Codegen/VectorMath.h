//===- VectorMath.h - Functions as inline vector code -----------*- C++ -*-===//
//
// exp, log and tanh for f32 (scalars or vectors) without a call: errors of
// about one unit in the last place (exp, log) and two (tanh), equal bits on
// every CPU with fused multiply-add. NaN goes through; exp of x < -86.9 is
// zero. For f64 they emit the math dialect's operation.
//
// The CPU pipeline rewrites math.exp, math.log and math.tanh of f32 to these,
// so that op lowerings may simply use the math dialect.
//
//===----------------------------------------------------------------------===//
#ifndef DTC_CODEGEN_VECTORMATH_H
#define DTC_CODEGEN_VECTORMATH_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"
#include <array>

namespace dtc::codegen {

mlir::Value emitExp(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);
/// For x < 88 (or NaN), somewhat faster.
mlir::Value emitExpBounded(mlir::OpBuilder &b, mlir::Location loc,
                           mlir::Value x);
mlir::Value emitLog(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);
mlir::Value emitTanh(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);

/// Rewrites math.exp, math.log and math.tanh of f32 to inline code.
void populateInlineMathPatterns(mlir::RewritePatternSet &patterns);

/// Philox4x32-10, equal to dtc::philox4x32_10 (dtc/Runtime/Philox.h) in every
/// lane. Counter and key are i32 or vectors of i32, all of one type.
std::array<mlir::Value, 4> emitPhilox(mlir::OpBuilder &b, mlir::Location loc,
                                      std::array<mlir::Value, 4> counter,
                                      std::array<mlir::Value, 2> key);

// The draw of a dropout mask -------------------------------------------------
//
//   key     = { seed ^ (step * 0x9E3779B9), layer * 16 + site }   (32 bits)
//   counter = { global row, c1, c2, c3 }
//   attention:    c1 = query position, c2 = key position, c3 = global head
//   keep the element if word 0 >= floor(p * 2^32), scaled by 1 / (1 - p).
// Positions, not indices, and global rows and heads: every placement and every
// recomputation draws the same mask.

/// The key, as two scalars of i32. `rng`: memref<2xi32> (seed, step); `layer`:
/// memref<i32>.
std::array<mlir::Value, 2> emitDropoutKey(mlir::OpBuilder &b,
                                          mlir::Location loc, mlir::Value rng,
                                          mlir::Value layer, int64_t site);

/// Whether elements are kept (i1 or vector of i1). Counter words and key words
/// as for emitPhilox. p < 1.
mlir::Value emitDropoutKeep(mlir::OpBuilder &b, mlir::Location loc,
                            std::array<mlir::Value, 4> counter,
                            std::array<mlir::Value, 2> key, double p);

} // namespace dtc::codegen
#endif
