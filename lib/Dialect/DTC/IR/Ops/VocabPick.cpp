//===- VocabPick.cpp - dtc.vocab_pick -------------------------------------===//

#include "Common.h"

using namespace mlir;
using namespace dtc;

Array dtc::vocabPick(const FactorPiece &piece, const Array &logits,
                     const Array &labels, double smoothing) {
  Array picked(labels.shape);
  int64_t length = logits.shape.back(), n = piece.valid('v');
  auto vocabulary =
      static_cast<double>(piece.rule.factors[*piece.rule.find('v')].size);
  for (int64_t row = 0; row < picked.count(); ++row) {
    const double *z = &logits.data[row * length];
    int64_t label = toInteger(labels[row]) - piece.first('v');
    if (label >= 0 && label < n)
      picked[row] += (1 - smoothing) * z[label];
    if (smoothing > 0)
      for (int64_t v = 0; v < n; ++v)
        picked[row] += smoothing / vocabulary * z[v];
  }
  return picked;
}

FactorRule VocabPickOp::getFactorRule() {
  return FactorRule::get(*this, {"b s v", "b s"}, {"b s"})
      .summed(0, "v")
      .linear({0})
      .wide({2});
}

LogicalResult VocabPickOp::verify() {
  if (failed(verifyI32(*this, getLabels(), "labels")) ||
      failed(verifyFraction(*this, getLabelSmoothing(), "label_smoothing")))
    return failure();
  return success();
}

SmallVector<Array> VocabPickOp::interpret(const FactorPiece &piece,
                                          ArrayRef<Array> operands) {
  return {vocabPick(piece, operands[0], operands[1],
                    getLabelSmoothing().convertToDouble())};
}
