//===- LayerNorm.cpp - dtc.layer_norm, dtc.layer_norm_grad ----------------===//

#include "Common.h"
#include <cmath>

using namespace mlir;
using namespace dtc;

/// (x - mean) r and r = 1/sqrt(var + epsilon) of one row.
static double normalizeRow(const double *x, int64_t n, double epsilon,
                           MutableArrayRef<double> h) {
  double mean = 0, var = 0;
  for (int64_t e = 0; e < n; ++e)
    mean += x[e] / n;
  for (int64_t e = 0; e < n; ++e)
    var += (x[e] - mean) * (x[e] - mean) / n;
  double r = 1 / std::sqrt(var + epsilon);
  for (int64_t e = 0; e < n; ++e)
    h[e] = (x[e] - mean) * r;
  return r;
}

//===----------------------------------------------------------------------===//
// LayerNormOp
//===----------------------------------------------------------------------===//

FactorRule LayerNormOp::getFactorRule() {
  DTensorType type = getX().getType();
  std::string x = dimLetters(type.getRank()), e = lastLetter(type);
  return FactorRule::get(*this, {x, e, e}, {x}).whole(e).linear({1, 2});
}

LogicalResult LayerNormOp::verify() {
  return verifyNorm(*this, getX().getType(), getEpsilon());
}

SmallVector<Array> LayerNormOp::interpret(const FactorPiece &piece,
                                          ArrayRef<Array> operands) {
  const Array &x = operands[0], &gamma = operands[1], &beta = operands[2];
  Array y(piece.resultShape(0));
  int64_t length = x.shape.back();
  int64_t n = piece.validOf(piece.rule.value(0).back()[0]);
  SmallVector<double> h(n);
  for (int64_t row = 0; row < x.count(); row += length) {
    normalizeRow(&x.data[row], n, getEpsilon().convertToDouble(), h);
    for (int64_t e = 0; e < n; ++e)
      y[row + e] = h[e] * gamma[e] + beta[e];
  }
  return {y};
}

void LayerNormOp::buildBackward(BackwardBuilder &bb) {
  Value dy = bb.cotangent(getResult());
  if (!dy || !(bb.wants(getX()) || bb.wants(getGamma()) || bb.wants(getBeta())))
    return;
  auto grad = bb.create<LayerNormGradOp>(BackwardBuilder::conjugate(getX()),
                                         BackwardBuilder::conjugate(getGamma()),
                                         BackwardBuilder::conjugate(getBeta()),
                                         bb.saved(getX()), bb.saved(getGamma()),
                                         dy, getEpsilonAttr());
  for (auto [operand, cotangent] :
       llvm::zip_equal(getOperands(), grad.getResults()))
    if (bb.wants(operand))
      bb.add(operand, cotangent);
}

//===----------------------------------------------------------------------===//
// LayerNormGradOp
//===----------------------------------------------------------------------===//

FactorRule LayerNormGradOp::getFactorRule() {
  DTensorType type = getX().getType();
  std::string x = dimLetters(type.getRank()), e = lastLetter(type);
  return FactorRule::get(*this, {x, e, x}, {x, e, e})
      .whole(e)
      .summed(1, "*")
      .summed(2, "*")
      .linear({2})
      .linear({1})
      .reads(1, {0, 2})
      .reads(2, {2});
}

LogicalResult LayerNormGradOp::verify() {
  return verifyNorm(*this, getX().getType(), getEpsilon());
}

SmallVector<Array> LayerNormGradOp::interpret(const FactorPiece &piece,
                                              ArrayRef<Array> operands) {
  const Array &x = operands[0], &gamma = operands[1], &dy = operands[2];
  Array dx(piece.resultShape(0)), dgamma(piece.resultShape(1)),
      dbeta(piece.resultShape(2));
  int64_t n = piece.validOf(piece.rule.value(0).back()[0]);
  SmallVector<int64_t> rows(x.shape);
  rows.back() = 1;
  SmallVector<double> h(n);
  forEachIndex(rows, [&](ArrayRef<int64_t> index) {
    int64_t at = x.offset(index);
    double r = normalizeRow(&x.data[at], n, getEpsilon().convertToDouble(), h);
    double meanG = 0, meanGH = 0;
    for (int64_t e = 0; e < n; ++e) {
      double g = dy[at + e] * gamma[e];
      meanG += g / n;
      meanGH += g * h[e] / n;
    }
    bool inside = piece.inside(0, index, piece.rule.summedIn[1]);
    for (int64_t e = 0; e < n; ++e) {
      dx[at + e] = r * (dy[at + e] * gamma[e] - meanG - h[e] * meanGH);
      if (!inside)
        continue;
      dgamma[e] += dy[at + e] * h[e];
      dbeta[e] += dy[at + e];
    }
  });
  return {dx, dgamma, dbeta};
}
