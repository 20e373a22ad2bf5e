//===- VocabSumExp.cpp - dtc.vocab_sum_exp --------------------------------===//

#include "Common.h"
#include <cmath>

using namespace mlir;
using namespace dtc;

Array dtc::vocabSumExp(const FactorPiece &piece, const Array &logits,
                       const Array &shift) {
  Array sum(shift.shape);
  int64_t length = logits.shape.back(), n = piece.valid('v');
  for (int64_t row = 0; row < sum.count(); ++row)
    for (int64_t v = 0; v < n; ++v) {
      double z = logits[row * length + v];
      // A row of -inf has the shift -inf, and -inf - -inf is no number.
      if (!std::isinf(z) || z > 0)
        sum[row] += std::exp(z - shift[row]);
    }
  return sum;
}

FactorRule VocabSumExpOp::getFactorRule() {
  return FactorRule::get(*this, {"b s v", "b s"}, {"b s"})
      .summed(0, "v")
      .wide({1, 2});
}

SmallVector<Array> VocabSumExpOp::interpret(const FactorPiece &piece,
                                            ArrayRef<Array> operands) {
  return {vocabSumExp(piece, operands[0], operands[1])};
}
