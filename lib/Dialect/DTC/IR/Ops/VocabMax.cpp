//===- VocabMax.cpp - dtc.vocab_max ---------------------------------------===//

#include "Common.h"
#include <limits>

using namespace mlir;
using namespace dtc;

Array dtc::vocabMax(const FactorPiece &piece, const Array &logits) {
  Array top(ArrayRef<int64_t>(logits.shape).drop_back(),
            -std::numeric_limits<double>::infinity());
  int64_t length = logits.shape.back(), n = piece.valid('v');
  for (int64_t row = 0; row < top.count(); ++row)
    for (int64_t v = 0; v < n; ++v)
      top[row] = std::max(top[row], logits[row * length + v]);
  return top;
}

FactorRule VocabMaxOp::getFactorRule() {
  return FactorRule::get(*this, {"b s v"}, {"b s"}).maximum(0, "v").wide({1});
}

SmallVector<Array> VocabMaxOp::interpret(const FactorPiece &piece,
                                         ArrayRef<Array> operands) {
  return {vocabMax(piece, operands[0])};
}
