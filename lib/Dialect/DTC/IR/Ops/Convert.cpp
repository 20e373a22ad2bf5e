//===- Convert.cpp - dtc.convert ------------------------------------------===//

#include "Common.h"

using namespace mlir;
using namespace dtc;

FactorRule ConvertOp::getFactorRule() {
  return elementwiseRule(*this).linear({0}).unrelated({0, 1});
}

/// The rounding is the interpreter's, which rounds every result to its type.
SmallVector<Array> ConvertOp::interpret(const FactorPiece &piece,
                                        ArrayRef<Array> operands) {
  return {operands[0]};
}

void ConvertOp::buildBackward(BackwardBuilder &bb) {
  Value dy = bb.cotangent(getResult());
  if (dy && bb.wants(getX()))
    bb.add(getX(),
           bb.create<ConvertOp>(BackwardBuilder::conjugate(getX()), dy));
}
