//===- Permute.cpp - dtc.permute ------------------------------------------===//

#include "Common.h"

using namespace mlir;
using namespace dtc;

int64_t dtc::getLayoutMultiple(SequenceLayout layout, int64_t parts) {
  return layout == SequenceLayout::Zigzag ? 2 * parts : parts;
}

int64_t dtc::getLayoutSource(SequenceLayout layout, int64_t index,
                             int64_t length, int64_t parts) {
  int64_t piece = length / parts, part = index / piece, place = index % piece;
  if (layout == SequenceLayout::Striped)
    return place * parts + part;
  int64_t block = piece / 2;
  return place < block ? part * block + place
                       : (2 * parts - 1 - part) * block + place - block;
}

FactorRule PermuteOp::getFactorRule() {
  auto rank = static_cast<unsigned>(getX().getType().getRank());
  std::string dims = dimLetters(rank);
  FactorRule rule = FactorRule::get(*this, {dims}, {dims});
  if (getDim() < rank)
    rule.whole(std::string(1, dimLetter(getDim())));
  return rule;
}

LogicalResult PermuteOp::verify() {
  DTensorType x = getX().getType();
  if (getDim() >= static_cast<uint64_t>(x.getRank()))
    return emitOpError("dim ") << getDim() << " is not a dimension of " << x;
  if (getResult().getType().getElementType() != x.getElementType())
    return emitOpError("must keep the element type");
  int64_t n = x.getShape()[getDim()];
  auto parts = static_cast<int64_t>(getParts());
  if (parts < 1 || parts > n || n % getLayoutMultiple(getLayout(), parts) != 0)
    return emitOpError("parts ")
           << parts << " must divide " << n
           << (getLayout() == SequenceLayout::Zigzag ? " in pairs" : "");
  return success();
}

SmallVector<Array> PermuteOp::interpret(const FactorPiece &piece,
                                        ArrayRef<Array> operands) {
  const Array &x = operands[0];
  Array y(piece.resultShape(0));
  // Lengths are even multiples of the parts, so nothing is padded here.
  auto dim = static_cast<size_t>(getDim());
  forEachIndex(y.shape, [&](ArrayRef<int64_t> index) {
    SmallVector<int64_t> from(index);
    if (index[dim] < getX().getType().getShape()[dim])
      from[dim] = getLayoutSource(getLayout(), index[dim],
                                  getX().getType().getShape()[dim],
                                  static_cast<int64_t>(getParts()));
    y(index) = x(from);
  });
  return {y};
}
