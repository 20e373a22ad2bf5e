//===- Embedding.cpp - dtc.embedding, dtc.embedding_grad ------------------===//

#include "Common.h"

using namespace mlir;
using namespace dtc;

//===----------------------------------------------------------------------===//
// EmbeddingOp
//===----------------------------------------------------------------------===//

FactorRule EmbeddingOp::getFactorRule() {
  std::string ids = idLetters(getIds().getType().getRank());
  return FactorRule::get(*this, {"v e", ids}, {ids + "e"})
      .summed(0, "v")
      .linear({0});
}

/// Of the table, only the rows that are looked up.
double EmbeddingOp::getBytesMoved() {
  return static_cast<double>(getIds().getType().getLocalBytes() +
                             2 * getType().getLocalBytes());
}

LogicalResult EmbeddingOp::verify() {
  return verifyI32(*this, getIds(), "ids");
}

SmallVector<Array> EmbeddingOp::interpret(const FactorPiece &piece,
                                          ArrayRef<Array> operands) {
  const Array &table = operands[0], &ids = operands[1];
  Array y(piece.resultShape(0));
  int64_t width = table.shape[1];
  for (int64_t i = 0; i < ids.count(); ++i) {
    int64_t row = toInteger(ids[i]) - piece.first('v');
    if (row < 0 || row >= piece.valid('v'))
      continue;
    for (int64_t e = 0; e < width; ++e)
      y[i * width + e] = table[row * width + e];
  }
  return {y};
}

void EmbeddingOp::buildBackward(BackwardBuilder &bb) {
  Value dy = bb.cotangent(getResult());
  if (dy && bb.wants(getTable()))
    bb.add(getTable(),
           bb.create<EmbeddingGradOp>(BackwardBuilder::conjugate(getTable()),
                                      bb.saved(getIds()), dy));
}

//===----------------------------------------------------------------------===//
// EmbeddingGradOp
//===----------------------------------------------------------------------===//

FactorRule EmbeddingGradOp::getFactorRule() {
  std::string ids = idLetters(getIds().getType().getRank());
  return FactorRule::get(*this, {ids, ids + "e"}, {"v e"})
      .summed(0, "*")
      .linear({1});
}

/// The whole table is zeroed, then rows are read, and written again.
double EmbeddingGradOp::getBytesMoved() {
  return static_cast<double>(getIds().getType().getLocalBytes() +
                             3 * getDx().getType().getLocalBytes() +
                             getType().getLocalBytes());
}

LogicalResult EmbeddingGradOp::verify() {
  return verifyI32(*this, getIds(), "ids");
}

SmallVector<Array> EmbeddingGradOp::interpret(const FactorPiece &piece,
                                              ArrayRef<Array> operands) {
  const Array &ids = operands[0], &dx = operands[1];
  Array table(piece.resultShape(0));
  int64_t width = table.shape[1], i = 0;
  forEachIndex(ids.shape, [&](ArrayRef<int64_t> index) {
    int64_t row = toInteger(ids[i]) - piece.first('v');
    if (piece.inside(0, index, piece.rule.summedIn[0]) && row >= 0 &&
        row < piece.valid('v'))
      for (int64_t e = 0; e < width; ++e)
        table[row * width + e] += dx[i * width + e];
    ++i;
  });
  return {table};
}
