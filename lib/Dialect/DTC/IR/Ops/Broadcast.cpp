//===- Broadcast.cpp - dtc.broadcast --------------------------------------===//

#include "Common.h"

using namespace mlir;
using namespace dtc;

FactorRule BroadcastOp::getFactorRule() {
  auto rank = static_cast<unsigned>(getType().getRank());
  return FactorRule::get(*this, {lettersWithout(rank, getDims())},
                         {dimLetters(rank)})
      .linear({0});
}

LogicalResult BroadcastOp::verify() {
  return verifyDimList(*this, getDims(), getType().getRank());
}

SmallVector<Array> BroadcastOp::interpret(const FactorPiece &piece,
                                          ArrayRef<Array> operands) {
  Array y(piece.resultShape(0));
  ArrayRef<int64_t> dims = getDims();
  forEachIndex(y.shape, [&](ArrayRef<int64_t> index) {
    SmallVector<int64_t> at;
    for (auto [d, i] : llvm::enumerate(index))
      if (!llvm::is_contained(dims, static_cast<int64_t>(d)))
        at.push_back(i);
    y(index) = operands[0](at);
  });
  return {y};
}

void BroadcastOp::buildBackward(BackwardBuilder &bb) {
  Value dy = bb.cotangent(getResult());
  if (dy && bb.wants(getX()))
    bb.add(getX(), bb.create<ReduceSumOp>(BackwardBuilder::conjugate(getX()),
                                          dy, getDimsAttr()));
}
