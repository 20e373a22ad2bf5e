//===- SumSquares.cpp - dtc.sum_squares -----------------------------------===//

#include "Common.h"

using namespace mlir;
using namespace dtc;

FactorRule SumSquaresOp::getFactorRule() {
  return FactorRule::get(*this, {dimLetters(getX().getType().getRank())}, {""})
      .summed(0, "*");
}

LogicalResult SumSquaresOp::verify() { return verifyOneFloatType(*this); }

SmallVector<Array> SumSquaresOp::interpret(const FactorPiece &piece,
                                           ArrayRef<Array> operands) {
  Array sum;
  for (double x : piece.masked(0, operands[0]).data)
    sum[0] += x * x;
  return {sum};
}
