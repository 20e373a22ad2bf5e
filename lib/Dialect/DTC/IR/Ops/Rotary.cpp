//===- Rotary.cpp - dtc.rotary --------------------------------------------===//

#include "Common.h"
#include <cmath>

using namespace mlir;
using namespace dtc;

FactorRule RotaryOp::getFactorRule() {
  return FactorRule::get(*this, {"b s h d", positionLetters(getPositions())},
                         {"b s h d"})
      .whole("d")
      .even("d")
      .linear({0});
}

LogicalResult RotaryOp::verify() {
  DTensorType x = getX().getType();
  if (x.getRank() != 4 || x.getShape()[3] % 2 != 0)
    return emitOpError("x must have rank 4 and an even last length, but is ")
           << x;
  int64_t rank = getPositions().getType().getRank();
  if (rank != 1 && rank != 2)
    return emitOpError("positions must have rank 1 or 2, but have rank ")
           << rank;
  if (failed(verifyI32(*this, getPositions(), "positions")) ||
      failed(verifyPositive(*this, getTheta(), "theta")))
    return failure();
  return success();
}

SmallVector<Array> RotaryOp::interpret(const FactorPiece &piece,
                                       ArrayRef<Array> operands) {
  const Array &x = operands[0], &positions = operands[1];
  Array y(piece.resultShape(0));
  int64_t d = x.shape[3];
  double theta = getTheta().convertToDouble(), sign = getInverse() ? -1 : 1;
  SmallVector<int64_t> pairs(x.shape);
  pairs[3] = d / 2;
  forEachIndex(pairs, [&](ArrayRef<int64_t> index) {
    double position = positions.rank() == 1 ? positions[index[1]]
                                            : positions({index[0], index[1]});
    double angle = sign * position * std::pow(theta, -2.0 * index[3] / d);
    int64_t at = x.offset(index), half = d / 2;
    y[at] = x[at] * std::cos(angle) - x[at + half] * std::sin(angle);
    y[at + half] = x[at] * std::sin(angle) + x[at + half] * std::cos(angle);
  });
  return {y};
}

/// Both features of a pair are read before either is written.
std::optional<unsigned> RotaryOp::getInPlaceOperand(unsigned) { return 0; }

void RotaryOp::buildBackward(BackwardBuilder &bb) {
  Value dy = bb.cotangent(getResult());
  if (dy && bb.wants(getX()))
    bb.add(getX(), bb.create<RotaryOp>(BackwardBuilder::conjugate(getX()), dy,
                                       bb.saved(getPositions()), getTheta(),
                                       !getInverse()));
}
