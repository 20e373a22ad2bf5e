//===- Clip.cpp - dtc.clip ------------------------------------------------===//

#include "Common.h"
#include <cmath>

using namespace mlir;
using namespace dtc;

FactorRule ClipOp::getFactorRule() {
  return FactorRule::get(*this, {"", "", "", "z"}, {"", "", ""})
      .whole("z")
      .even("z")
      .wide({1, 3, 4, 5})
      .unrelated({0});
}

LogicalResult ClipOp::verify() {
  return failure(failed(verifyI32(*this, getLabels(), "labels")) ||
                 failed(verifyI32(*this, getSkip(), "skip")) ||
                 failed(verifyLength(*this, getScalars(), "scalars", 8)));
}

SmallVector<Array> ClipOp::interpret(const FactorPiece &piece,
                                     ArrayRef<Array> operands) {
  double loss = operands[1][0], labels = operands[2][0], c = operands[3][7];
  Array norm, coefficient, skip;
  norm[0] = std::sqrt(operands[0][0]);
  coefficient[0] = c == 0 ? 1 : std::min(1.0, c / (norm[0] + 1e-6));
  skip[0] = !std::isfinite(norm[0]) || !std::isfinite(loss) || labels == 0;
  return {norm, coefficient, skip};
}
