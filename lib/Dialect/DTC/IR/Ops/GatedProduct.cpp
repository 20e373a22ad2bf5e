//===- GatedProduct.cpp - dtc.gated_product, dtc.gated_product_grad -------===//

#include "Common.h"

using namespace mlir;
using namespace dtc;

//===----------------------------------------------------------------------===//
// GatedProductOp
//===----------------------------------------------------------------------===//

FactorRule GatedProductOp::getFactorRule() {
  return elementwiseRule(*this).linear({1});
}

SmallVector<Array> GatedProductOp::interpret(const FactorPiece &piece,
                                             ArrayRef<Array> operands) {
  Array y = operands[0];
  for (int64_t i = 0; i < y.count(); ++i)
    y[i] = activate(getFunction(), y[i]) * operands[1][i];
  return {y};
}

std::optional<unsigned> GatedProductOp::getInPlaceOperand(unsigned) {
  return 0;
}

void GatedProductOp::buildBackward(BackwardBuilder &bb) {
  Value dy = bb.cotangent(getResult());
  if (!dy || !(bb.wants(getGate()) || bb.wants(getUp())))
    return;
  auto grad = bb.create<GatedProductGradOp>(
      BackwardBuilder::conjugate(getGate()),
      BackwardBuilder::conjugate(getUp()), getFunctionAttr(),
      bb.saved(getGate()), bb.saved(getUp()), dy);
  if (bb.wants(getGate()))
    bb.add(getGate(), grad.getDgate());
  if (bb.wants(getUp()))
    bb.add(getUp(), grad.getDup());
}

//===----------------------------------------------------------------------===//
// GatedProductGradOp
//===----------------------------------------------------------------------===//

FactorRule GatedProductGradOp::getFactorRule() {
  return elementwiseRule(*this).linear({2}).linear({1}).reads(1, {0, 2});
}

SmallVector<Array> GatedProductGradOp::interpret(const FactorPiece &piece,
                                                 ArrayRef<Array> operands) {
  const Array &gate = operands[0], &up = operands[1], &dy = operands[2];
  Array dgate = dy, dup = dy;
  for (int64_t i = 0; i < dy.count(); ++i) {
    dgate[i] *= activateGrad(getFunction(), gate[i]) * up[i];
    dup[i] *= activate(getFunction(), gate[i]);
  }
  return {dgate, dup};
}

std::optional<unsigned> GatedProductGradOp::getInPlaceOperand(unsigned result) {
  return result == 0 ? 2 : 1; // dy is needed no more; gate may be
}
