//===- Divide.cpp - dtc.divide --------------------------------------------===//

#include "Common.h"

using namespace mlir;
using namespace dtc;

FactorRule DivideOp::getFactorRule() {
  std::string x = dimLetters(getX().getType().getRank());
  return FactorRule::get(*this, {x, ""}, {x}).linear({0});
}

LogicalResult DivideOp::verify() {
  return verifyI32(*this, getCount(), "count");
}

SmallVector<Array> DivideOp::interpret(const FactorPiece &piece,
                                       ArrayRef<Array> operands) {
  Array y = operands[0];
  double count = operands[1][0];
  for (double &x : y.data)
    x /= count == 0 ? 1 : count;
  return {y};
}

std::optional<unsigned> DivideOp::getInPlaceOperand(unsigned) { return 0; }

void DivideOp::buildBackward(BackwardBuilder &bb) {
  Value dy = bb.cotangent(getResult());
  if (dy && bb.wants(getX()))
    bb.add(getX(), bb.create<DivideOp>(BackwardBuilder::conjugate(getX()), dy,
                                       bb.saved(getCount())));
}
