//===- CrossEntropy.cpp - dtc.cross_entropy, dtc.cross_entropy_grad -------===//
//
// The label-smoothed loss is that of Szegedy et al. 2016 (section 7), which is
// PyTorch's: (1-e) times the loss of the label plus e times the mean of the
// losses of every label.
//
//===----------------------------------------------------------------------===//

#include "Common.h"
#include <cmath>

using namespace mlir;
using namespace dtc;

/// Whether a label is none: -100, or outside the vocabulary, or poison.
static bool isIgnored(const FactorPiece &piece, double label) {
  auto size = piece.rule.factors[*piece.rule.find('v')].size;
  return !(label >= 0 && label < static_cast<double>(size));
}

//===----------------------------------------------------------------------===//
// CrossEntropyOp
//===----------------------------------------------------------------------===//

FactorRule CrossEntropyOp::getFactorRule() {
  return FactorRule::get(*this, {"b s v", "b s"}, {"", "b s"})
      .communicates("v")
      .summed(0, "bs")
      .reads(1, {0})
      .wide({2, 3});
}

LogicalResult CrossEntropyOp::verify() {
  if (failed(verifyI32(*this, getLabels(), "labels")) ||
      failed(verifyFraction(*this, getLabelSmoothing(), "label_smoothing")))
    return failure();
  return success();
}

bool CrossEntropyOp::hasCotangent(unsigned result) { return result == 0; }

/// Loss and log-sum-exp of one rank's rows, from maxima and sums over the
/// whole vocabulary.
static SmallVector<Array> finish(const FactorPiece &piece, const Array &shift,
                                 const Array &sum, const Array &picked,
                                 const Array &labels) {
  Array loss, lse(shift.shape);
  forEachIndex(lse.shape, [&](ArrayRef<int64_t> index) {
    lse(index) = std::log(sum(index)) + shift(index);
    if (piece.inside(1, index, piece.rule.summedIn[0]) &&
        !isIgnored(piece, labels(index)))
      loss[0] += lse(index) - picked(index);
  });
  return {loss, lse};
}

SmallVector<Array> CrossEntropyOp::interpret(const FactorPiece &piece,
                                             ArrayRef<Array> operands) {
  const Array &logits = operands[0], &labels = operands[1];
  Array shift = vocabMax(piece, logits);
  return finish(
      piece, shift, vocabSumExp(piece, logits, shift),
      vocabPick(piece, logits, labels, getLabelSmoothing().convertToDouble()),
      labels);
}

SmallVector<SmallVector<Array>>
CrossEntropyOp::interpretRanks(const GroupView &group,
                               ArrayRef<FactorPiece> pieces,
                               ArrayRef<SmallVector<Array>> operands) {
  // Every rank of a group gets the elements' total, summed in rank order.
  std::vector<std::vector<int64_t>> groups = group.groups('v');
  auto reduced = [&](SmallVector<Array> xs, auto combine) {
    for (const std::vector<int64_t> &ranks : groups) {
      Array total = xs[ranks.front()];
      for (int64_t r : llvm::drop_begin(ranks))
        for (int64_t i = 0; i < total.count(); ++i)
          total[i] = combine(total[i], xs[r][i]);
      for (int64_t r : ranks)
        xs[r] = total;
    }
    return xs;
  };
  auto larger = [](double a, double b) { return std::max(a, b); };
  auto plus = [](double a, double b) { return a + b; };
  SmallVector<Array> shift, sum, picked;
  for (auto [piece, xs] : llvm::zip_equal(pieces, operands))
    shift.push_back(vocabMax(piece, xs[0]));
  shift = reduced(shift, larger);
  for (auto [r, piece] : llvm::enumerate(pieces)) {
    sum.push_back(vocabSumExp(piece, operands[r][0], shift[r]));
    picked.push_back(vocabPick(piece, operands[r][0], operands[r][1],
                               getLabelSmoothing().convertToDouble()));
  }
  sum = reduced(sum, plus);
  picked = reduced(picked, plus);
  SmallVector<SmallVector<Array>> out;
  for (auto [r, piece] : llvm::enumerate(pieces))
    out.push_back(finish(piece, shift[r], sum[r], picked[r], operands[r][1]));
  return out;
}

void CrossEntropyOp::buildBackward(BackwardBuilder &bb) {
  Value dloss = bb.cotangent(getLoss());
  if (dloss && bb.wants(getLogits()))
    bb.add(getLogits(),
           bb.create<CrossEntropyGradOp>(
               BackwardBuilder::conjugate(getLogits()), bb.saved(getLogits()),
               bb.saved(getLabels()), bb.saved(getLse()), dloss,
               getLabelSmoothingAttr()));
}

/// Each rank's part of the maximum, of the sum of exponentials and of the
/// label's logit, each reduced once; logits never move.
FailureOr<SmallVector<Value>> CrossEntropyOp::expand(OpBuilder &b) {
  Location loc = getLoc();
  ArrayRef<Axis> dim = getLogits().getType().getDimAxes(2);
  AxisList axes = mergedSet(dim);
  DTensorType rows = getLse().getType();
  TensorSpec maxSpec(rows), sumSpec(rows);
  llvm::append_range(maxSpec.max, axes);
  llvm::append_range(sumSpec.partial, axes);
  auto sumType = DTensorType::get(sumSpec);
  auto reduced = [&](CollectiveKind kind, Value v) {
    return createCollective(b, loc, {kind, axes}, v);
  };

  // The labels are used with each rank's logits, where the rule has them
  // replicate, and with the reduced rows, as one value.
  Value labels = getLabels(), oneLabels;
  if (auto f = labels.getDefiningOp<FOp>();
      f && mergedSet(f.getAxes().getAxes()) == axes)
    oneLabels = f.getInput();
  else
    oneLabels = reduced(CollectiveKind::AsOne, labels);

  Value max = reduced(
      CollectiveKind::ReduceMax,
      VocabMaxOp::create(b, loc, DTensorType::get(maxSpec), getLogits()));
  Value shift = reduced(CollectiveKind::F, max);
  Value sumExp =
      reduced(CollectiveKind::G,
              VocabSumExpOp::create(b, loc, sumType, getLogits(), shift));
  Value picked = reduced(CollectiveKind::G,
                         VocabPickOp::create(b, loc, sumType, getLogits(),
                                             labels, getLabelSmoothingAttr()));
  auto loss = TokenLossOp::create(b, loc, getLoss().getType(), rows, max,
                                  sumExp, picked, oneLabels);
  return SmallVector<Value>(loss.getResults());
}

//===----------------------------------------------------------------------===//
// CrossEntropyGradOp
//===----------------------------------------------------------------------===//

FactorRule CrossEntropyGradOp::getFactorRule() {
  return FactorRule::get(*this, {"b s v", "b s", "b s", ""}, {"b s v"})
      .linear({3})
      .wide({2, 3});
}

LogicalResult CrossEntropyGradOp::verify() {
  if (failed(verifyI32(*this, getLabels(), "labels")) ||
      failed(verifyFraction(*this, getLabelSmoothing(), "label_smoothing")))
    return failure();
  return success();
}

SmallVector<Array> CrossEntropyGradOp::interpret(const FactorPiece &piece,
                                                 ArrayRef<Array> operands) {
  const Array &logits = operands[0], &labels = operands[1], &lse = operands[2];
  double dloss = operands[3][0], e = getLabelSmoothing().convertToDouble();
  Array dlogits(piece.resultShape(0));
  int64_t length = logits.shape.back(), n = piece.valid('v');
  auto vocabulary =
      static_cast<double>(piece.rule.factors[*piece.rule.find('v')].size);
  for (int64_t row = 0; row < lse.count(); ++row) {
    if (isIgnored(piece, labels[row]))
      continue;
    int64_t label = toInteger(labels[row]) - piece.first('v');
    for (int64_t v = 0; v < n; ++v) {
      int64_t at = row * length + v;
      dlogits[at] = (std::exp(logits[at] - lse[row]) -
                     (v == label ? 1 - e : 0) - e / vocabulary) *
                    dloss;
    }
  }
  return {dlogits};
}

std::optional<unsigned> CrossEntropyGradOp::getInPlaceOperand(unsigned) {
  return 0;
}
