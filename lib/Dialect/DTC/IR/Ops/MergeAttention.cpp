//===- MergeAttention.cpp - dtc.merge_attention ---------------------------===//

#include "Common.h"
#include <cmath>

using namespace mlir;
using namespace dtc;

FactorRule MergeAttentionOp::getFactorRule() {
  return FactorRule::get(*this, {"b s h d", "b s h", "b s h d", "b s h"},
                         {"b s h d", "b s h"})
      .linear({0, 2})
      .reads(1, {1, 3})
      .wide({1, 3, 5});
}

SmallVector<Array> MergeAttentionOp::interpret(const FactorPiece &piece,
                                               ArrayRef<Array> operands) {
  const Array &a = operands[0], &lseA = operands[1], &b = operands[2],
              &lseB = operands[3];
  Array y(piece.resultShape(0)), lse(piece.resultShape(1));
  int64_t width = y.shape.back();
  for (int64_t row = 0; row < lse.count(); ++row) {
    double top = std::max(lseA[row], lseB[row]);
    lse[row] = top;
    if (std::isinf(top) && top < 0)
      continue; // no key is visible
    lse[row] += std::log(std::exp(lseA[row] - top) + std::exp(lseB[row] - top));
    double wa = std::exp(lseA[row] - lse[row]),
           wb = std::exp(lseB[row] - lse[row]);
    for (int64_t i = row * width; i < (row + 1) * width; ++i)
      y[i] = wa * a[i] + wb * b[i];
  }
  return {y, lse};
}

std::optional<unsigned> MergeAttentionOp::getInPlaceOperand(unsigned result) {
  return result == 0 ? 0 : 1;
}
