//===- Common.h - What several ops' files share -----------------*- C++ -*-===//

#ifndef DTC_LIB_DIALECT_DTC_IR_OPS_COMMON_H
#define DTC_LIB_DIALECT_DTC_IR_OPS_COMMON_H

#include "dtc/Dialect/DTC/IR/DTC.h"

namespace dtc {

//===----------------------------------------------------------------------===//
// Rules and verifiers
//===----------------------------------------------------------------------===//

/// Every operand and result has the same dimensions, passed through.
FactorRule elementwiseRule(mlir::Operation *op);

/// The letters of dimensions 0 to rank - 1, without those in `dims`: "a c d".
std::string lettersWithout(unsigned rank, llvm::ArrayRef<int64_t> dims);

/// Letters for the dimensions of ids; never 'e' or 'v', a table's own.
std::string idLetters(unsigned rank);

/// "b s" for a value of rank 2, else "s": positions with or without a batch.
std::string positionLetters(mlir::Value positions, char letter = 's');

/// The letter of the last dimension; none for a scalar.
std::string lastLetter(DTensorType type);

/// `dims` is increasing, not empty, and within `rank`.
mlir::LogicalResult verifyDimList(mlir::Operation *op,
                                  llvm::ArrayRef<int64_t> dims, int64_t rank);

/// The elements are i32.
mlir::LogicalResult verifyI32(mlir::Operation *op, mlir::Value value,
                              llvm::StringRef name);

/// The value has rank 1 and `length` elements.
mlir::LogicalResult verifyLength(mlir::Operation *op, mlir::Value value,
                                 llvm::StringRef name, int64_t length);

/// A number as a person writes it.
std::string toText(const llvm::APFloat &value);

/// An attribute is positive and finite.
mlir::LogicalResult verifyPositive(mlir::Operation *op,
                                   const llvm::APFloat &value,
                                   llvm::StringRef name);

/// An attribute lies in [0, 1).
mlir::LogicalResult verifyFraction(mlir::Operation *op,
                                   const llvm::APFloat &value,
                                   llvm::StringRef name);

/// A normalization over x's last dimension.
mlir::LogicalResult verifyNorm(mlir::Operation *op, DTensorType x,
                               const llvm::APFloat &epsilon);

/// rng is [2], layer a scalar, both (and what else is drawn by) i32; the site
/// is below 16.
mlir::LogicalResult verifyRandom(mlir::Operation *op, mlir::Value rng,
                                 mlir::Value layer, mlir::Value rows,
                                 uint64_t site);

//===----------------------------------------------------------------------===//
// Meanings
//===----------------------------------------------------------------------===//

/// An integer that the interpreter holds as a double; -1 for poison, which is
/// no id, label or row.
inline int64_t toInteger(double x) {
  return x == x ? static_cast<int64_t>(x) : -1;
}

/// The activation function and its derivative.
double activate(Activation function, double x);
double activateGrad(Activation function, double x);

/// The numbers that dropout draws, of one op in one step: pure functions of
/// (seed, step, layer, site) and the counter.
class DropoutMask {
public:
  DropoutMask(const Array &rng, const Array &layer, uint64_t site, double p);
  /// 0 for a dropped element, 1/(1-p) for a kept one.
  double operator()(int64_t c0, int64_t c1, int64_t c2, int64_t c3) const;

private:
  uint32_t key0, key1;
  uint64_t threshold;
  double scale;
};

/// Parts of the loss on one piece of the vocabulary, [b, s] each. An empty
/// piece has the maximum -inf and sums 0.
Array vocabMax(const FactorPiece &piece, const Array &logits);
Array vocabSumExp(const FactorPiece &piece, const Array &logits,
                  const Array &shift);
Array vocabPick(const FactorPiece &piece, const Array &logits,
                const Array &labels, double smoothing);

} // namespace dtc

#endif // DTC_LIB_DIALECT_DTC_IR_OPS_COMMON_H
