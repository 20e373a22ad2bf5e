//===- Multiply.cpp - dtc.multiply ----------------------------------------===//

#include "Common.h"

using namespace mlir;
using namespace dtc;

FactorRule MultiplyOp::getFactorRule() {
  return elementwiseRule(*this).linear({0}).linear({1});
}

SmallVector<Array> MultiplyOp::interpret(const FactorPiece &piece,
                                         ArrayRef<Array> operands) {
  Array z = operands[0];
  for (int64_t i = 0; i < z.count(); ++i)
    z[i] *= operands[1][i];
  return {z};
}

std::optional<unsigned> MultiplyOp::getInPlaceOperand(unsigned) { return 0; }

void MultiplyOp::buildBackward(BackwardBuilder &bb) {
  Value dz = bb.cotangent(getResult());
  if (!dz)
    return;
  if (bb.wants(getLhs()))
    bb.add(getLhs(), bb.create<MultiplyOp>(BackwardBuilder::conjugate(getLhs()),
                                           dz, bb.saved(getRhs())));
  if (bb.wants(getRhs()))
    bb.add(getRhs(), bb.create<MultiplyOp>(BackwardBuilder::conjugate(getRhs()),
                                           dz, bb.saved(getLhs())));
}
