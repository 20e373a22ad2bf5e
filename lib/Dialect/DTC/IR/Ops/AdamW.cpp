//===- AdamW.cpp - dtc.adamw ----------------------------------------------===//

#include "Common.h"
#include <cmath>

using namespace mlir;
using namespace dtc;

FactorRule AdamWOp::getFactorRule() {
  std::string x = dimLetters(getParam().getType().getRank());
  return FactorRule::get(*this, {x, x, x, x, "", "", "z"}, {x, x, x})
      .whole("z")
      .even("z")
      .wide({0, 2, 3, 4, 6, 7, 8, 9});
}

LogicalResult AdamWOp::verify() {
  if (failed(verifyI32(*this, getSkip(), "skip")) ||
      failed(verifyLength(*this, getScalars(), "scalars", 8)))
    return failure();
  return success();
}

SmallVector<Array> AdamWOp::interpret(const FactorPiece &piece,
                                      ArrayRef<Array> operands) {
  Array p = operands[0], m = operands[2], v = operands[3];
  const Array &grad = operands[1], &scalars = operands[6];
  double coefficient = operands[4][0], lr = scalars[0], b1 = scalars[1],
         b2 = scalars[2], eps = scalars[3], decay = getDecay() ? scalars[4] : 0,
         correction1 = scalars[5], correction2 = scalars[6];
  if (operands[5][0] != 0)
    return {p, m, v};
  for (int64_t i = 0; i < p.count(); ++i) {
    double g = coefficient * grad[i];
    p[i] -= lr * decay * p[i];
    m[i] = b1 * m[i] + (1 - b1) * g;
    v[i] = b2 * v[i] + (1 - b2) * g * g;
    p[i] -= lr * (m[i] / correction1) / (std::sqrt(v[i] / correction2) + eps);
  }
  return {p, m, v};
}

std::optional<unsigned> AdamWOp::getInPlaceOperand(unsigned result) {
  return result == 0 ? 0 : result + 1; // param, m, v
}
