//===- Scale.cpp - dtc.scale ----------------------------------------------===//

#include "Common.h"

using namespace mlir;
using namespace dtc;

FactorRule ScaleOp::getFactorRule() {
  return elementwiseRule(*this).linear({0});
}

LogicalResult ScaleOp::verify() {
  if (!getFactor().isFinite())
    return emitOpError("factor must be finite");
  return success();
}

SmallVector<Array> ScaleOp::interpret(const FactorPiece &piece,
                                      ArrayRef<Array> operands) {
  Array y = operands[0];
  for (double &x : y.data)
    x *= getFactor().convertToDouble();
  return {y};
}

std::optional<unsigned> ScaleOp::getInPlaceOperand(unsigned) { return 0; }

void ScaleOp::buildBackward(BackwardBuilder &bb) {
  Value dy = bb.cotangent(getResult());
  if (dy && bb.wants(getX()))
    bb.add(getX(), bb.create<ScaleOp>(BackwardBuilder::conjugate(getX()), dy,
                                      getFactorAttr()));
}
