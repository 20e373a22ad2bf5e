//===- CountLabels.cpp - dtc.count_labels ---------------------------------===//

#include "Common.h"

using namespace mlir;
using namespace dtc;

FactorRule CountLabelsOp::getFactorRule() {
  return FactorRule::get(*this, {dimLetters(getLabels().getType().getRank())},
                         {""})
      .summed(0, "*");
}

LogicalResult CountLabelsOp::verify() {
  return failure(failed(verifyI32(*this, getLabels(), "labels")) ||
                 failed(verifyI32(*this, getResult(), "result")));
}

SmallVector<Array> CountLabelsOp::interpret(const FactorPiece &piece,
                                            ArrayRef<Array> operands) {
  const Array &labels = operands[0];
  Array count;
  forEachIndex(labels.shape, [&](ArrayRef<int64_t> index) {
    if (piece.inside(0, index, piece.rule.summedIn[0]) && labels(index) >= 0)
      count[0] += 1;
  });
  return {count};
}
