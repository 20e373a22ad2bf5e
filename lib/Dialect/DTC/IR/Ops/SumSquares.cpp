//===- SumSquares.cpp - dtc.sum_squares -----------------------------------===//

#include "Common.h"

using namespace mlir;
using namespace dtc;

FactorRule SumSquaresOp::getFactorRule() {
  return FactorRule::get(*this, {dimLetters(getX().getType().getRank())}, {""})
      .summed(0, "*")
      .unrelated({1});
}

LogicalResult SumSquaresOp::verify() {
  Type x = getX().getType().getElementType();
  Type want = getWideType(x), sum = getResult().getType().getElementType();
  if (sum != want && !sum.isF64())
    return emitOpError("the sum of squares of ")
           << x << " is " << want << " or f64, but here it is " << sum;
  return success();
}

SmallVector<Array> SumSquaresOp::interpret(const FactorPiece &piece,
                                           ArrayRef<Array> operands) {
  Array sum;
  for (double x : piece.masked(0, operands[0]).data)
    sum[0] += x * x;
  return {sum};
}
