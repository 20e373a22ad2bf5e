//===- Repad.cpp - dtc.repad ----------------------------------------------===//

#include "Common.h"

using namespace mlir;
using namespace dtc;

/// The letter of the dimension in the result; no dimension has it.
static constexpr char paddedLetter = 'Z';

FactorRule RepadOp::getFactorRule() {
  auto rank = static_cast<unsigned>(getX().getType().getRank());
  std::string from = dimLetters(rank), to = from;
  if (getDim() >= rank)
    return FactorRule::get(*this, {from}, {to});
  char letter = dimLetter(getDim());
  to[to.find(letter)] = paddedLetter;
  return FactorRule::get(*this, {from}, {to})
      .whole(std::string{letter, paddedLetter})
      .linear({0});
}

LogicalResult RepadOp::verify() {
  DTensorType x = getX().getType(), y = getResult().getType();
  if (getDim() >= static_cast<uint64_t>(x.getRank()))
    return emitOpError("dim ") << getDim() << " is not a dimension of " << x;
  if (x.getShape() != y.getShape() || x.getElementType() != y.getElementType())
    return emitOpError("must keep shape and element type, but makes ")
           << y << " of " << x;
  return success();
}

SmallVector<Array> RepadOp::interpret(const FactorPiece &piece,
                                      ArrayRef<Array> operands) {
  Array y(piece.resultShape(0));
  forEachIndex(y.shape, [&](ArrayRef<int64_t> index) {
    if (index[getDim()] < getX().getType().getShape()[getDim()])
      y(index) = operands[0](index);
  });
  return {y};
}

void RepadOp::buildBackward(BackwardBuilder &bb) {
  Value dy = bb.cotangent(getResult());
  if (dy && bb.wants(getX()))
    bb.add(getX(), bb.create<RepadOp>(BackwardBuilder::conjugate(getX()), dy,
                                      getDim()));
}
