//===- RmsNorm.cpp - dtc.rms_norm, dtc.rms_norm_grad ----------------------===//

#include "Common.h"
#include <cmath>

using namespace mlir;
using namespace dtc;

/// 1/sqrt(mean(x^2) + epsilon).
static double inverseRms(const double *x, int64_t n, double epsilon) {
  double square = 0;
  for (int64_t e = 0; e < n; ++e)
    square += x[e] * x[e] / n;
  return 1 / std::sqrt(square + epsilon);
}

//===----------------------------------------------------------------------===//
// RmsNormOp
//===----------------------------------------------------------------------===//

FactorRule RmsNormOp::getFactorRule() {
  DTensorType type = getX().getType();
  std::string x = dimLetters(type.getRank()), e = lastLetter(type);
  return FactorRule::get(*this, {x, e}, {x}).whole(e).linear({1});
}

LogicalResult RmsNormOp::verify() {
  return verifyNorm(*this, getX().getType(), getEpsilon());
}

SmallVector<Array> RmsNormOp::interpret(const FactorPiece &piece,
                                        ArrayRef<Array> operands) {
  const Array &x = operands[0], &gamma = operands[1];
  Array y(piece.resultShape(0));
  int64_t length = x.shape.back();
  int64_t n = piece.validOf(piece.rule.value(0).back()[0]);
  for (int64_t row = 0; row < x.count(); row += length) {
    double r = inverseRms(&x.data[row], n, getEpsilon().convertToDouble());
    for (int64_t e = 0; e < n; ++e)
      y[row + e] = x[row + e] * r * gamma[e];
  }
  return {y};
}

void RmsNormOp::buildBackward(BackwardBuilder &bb) {
  Value dy = bb.cotangent(getResult());
  if (!dy || !(bb.wants(getX()) || bb.wants(getGamma())))
    return;
  auto grad = bb.create<RmsNormGradOp>(BackwardBuilder::conjugate(getX()),
                                       BackwardBuilder::conjugate(getGamma()),
                                       bb.saved(getX()), bb.saved(getGamma()),
                                       dy, getEpsilonAttr());
  for (auto [operand, cotangent] :
       llvm::zip_equal(getOperands(), grad.getResults()))
    if (bb.wants(operand))
      bb.add(operand, cotangent);
}

//===----------------------------------------------------------------------===//
// RmsNormGradOp
//===----------------------------------------------------------------------===//

FactorRule RmsNormGradOp::getFactorRule() {
  DTensorType type = getX().getType();
  std::string x = dimLetters(type.getRank()), e = lastLetter(type);
  return FactorRule::get(*this, {x, e, x}, {x, e})
      .whole(e)
      .summed(1, "*")
      .linear({2})
      .linear({1})
      .reads(1, {0, 2});
}

LogicalResult RmsNormGradOp::verify() {
  return verifyNorm(*this, getX().getType(), getEpsilon());
}

SmallVector<Array> RmsNormGradOp::interpret(const FactorPiece &piece,
                                            ArrayRef<Array> operands) {
  const Array &x = operands[0], &gamma = operands[1], &dy = operands[2];
  Array dx(piece.resultShape(0)), dgamma(piece.resultShape(1));
  int64_t n = piece.validOf(piece.rule.value(0).back()[0]);
  SmallVector<int64_t> rows(x.shape);
  rows.back() = 1;
  forEachIndex(rows, [&](ArrayRef<int64_t> index) {
    int64_t at = x.offset(index);
    double r = inverseRms(&x.data[at], n, getEpsilon().convertToDouble());
    double meanGX = 0;
    for (int64_t e = 0; e < n; ++e)
      meanGX += dy[at + e] * gamma[e] * x[at + e] / n;
    bool inside = piece.inside(0, index, piece.rule.summedIn[1]);
    for (int64_t e = 0; e < n; ++e) {
      dx[at + e] = r * dy[at + e] * gamma[e] - x[at + e] * r * r * r * meanGX;
      if (inside)
        dgamma[e] += dy[at + e] * x[at + e] * r;
    }
  });
  return {dx, dgamma};
}
