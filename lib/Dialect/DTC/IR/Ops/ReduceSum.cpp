//===- ReduceSum.cpp - dtc.reduce_sum -------------------------------------===//

#include "Common.h"

using namespace mlir;
using namespace dtc;

FactorRule ReduceSumOp::getFactorRule() {
  auto rank = static_cast<unsigned>(getX().getType().getRank());
  return FactorRule::get(*this, {dimLetters(rank)},
                         {lettersWithout(rank, getDims())})
      .summed(0, "*")
      .linear({0});
}

LogicalResult ReduceSumOp::verify() {
  return verifyDimList(*this, getDims(), getX().getType().getRank());
}

SmallVector<Array> ReduceSumOp::interpret(const FactorPiece &piece,
                                          ArrayRef<Array> operands) {
  Array x = piece.masked(0, operands[0]);
  Array y(piece.resultShape(0));
  ArrayRef<int64_t> dims = getDims();
  forEachIndex(x.shape, [&](ArrayRef<int64_t> index) {
    SmallVector<int64_t> at;
    for (auto [d, i] : llvm::enumerate(index))
      if (!llvm::is_contained(dims, static_cast<int64_t>(d)))
        at.push_back(i);
    y(at) += x(index);
  });
  return {y};
}

void ReduceSumOp::buildBackward(BackwardBuilder &bb) {
  Value dy = bb.cotangent(getResult());
  if (dy && bb.wants(getX()))
    bb.add(getX(), bb.create<BroadcastOp>(BackwardBuilder::conjugate(getX()),
                                          dy, getDimsAttr()));
}
