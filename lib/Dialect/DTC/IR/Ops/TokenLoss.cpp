//===- TokenLoss.cpp - dtc.token_loss -------------------------------------===//

#include "Common.h"
#include <cmath>

using namespace mlir;
using namespace dtc;

FactorRule TokenLossOp::getFactorRule() {
  return FactorRule::get(*this, {"b s", "b s", "b s", "b s"}, {"", "b s"})
      .summed(0, "*")
      .reads(1, {0, 1})
      .wide({0, 1, 2, 4, 5});
}

LogicalResult TokenLossOp::verify() {
  return verifyI32(*this, getLabels(), "labels");
}

SmallVector<Array> TokenLossOp::interpret(const FactorPiece &piece,
                                          ArrayRef<Array> operands) {
  const Array &shift = operands[0], &sum = operands[1], &picked = operands[2],
              &labels = operands[3];
  Array loss, lse(piece.resultShape(1));
  forEachIndex(lse.shape, [&](ArrayRef<int64_t> index) {
    lse(index) = std::log(sum(index)) + shift(index);
    if (piece.inside(3, index, piece.rule.summedIn[0]) && labels(index) >= 0)
      loss[0] += lse(index) - picked(index);
  });
  return {loss, lse};
}
