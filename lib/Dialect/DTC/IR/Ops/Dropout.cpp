//===- Dropout.cpp - dtc.dropout ------------------------------------------===//

#include "Common.h"

using namespace mlir;
using namespace dtc;

FactorRule DropoutOp::getFactorRule() {
  return FactorRule::get(
             *this, {"b s e", "z", "", "b", positionLetters(getPositions())},
             {"b s e"})
      .whole("z")
      .even("z")
      .linear({0});
}

LogicalResult DropoutOp::verify() {
  int64_t rank = getPositions().getType().getRank();
  if (rank != 1 && rank != 2)
    return emitOpError("positions must have rank 1 or 2, but have rank ")
           << rank;
  if (failed(verifyFraction(*this, getP(), "p")) ||
      failed(verifyRandom(*this, getRng(), getLayer(), getRows(), getSite())) ||
      failed(verifyI32(*this, getPositions(), "positions")))
    return failure();
  return success();
}

SmallVector<Array> DropoutOp::interpret(const FactorPiece &piece,
                                        ArrayRef<Array> operands) {
  const Array &rows = operands[3], &positions = operands[4];
  DropoutMask mask(operands[1], operands[2], getSite(),
                   getP().convertToDouble());
  Array y = operands[0];
  forEachIndex(y.shape, [&](ArrayRef<int64_t> index) {
    double position = positions.rank() == 1 ? positions[index[1]]
                                            : positions({index[0], index[1]});
    // The last word keeps the numbers apart from attention's, whose counter
    // ends in a head.
    y(index) *= mask(toInteger(rows[index[0]]), toInteger(position),
                     piece.first('e') + index[2], 0xD0D0);
  });
  return {y};
}

std::optional<unsigned> DropoutOp::getInPlaceOperand(unsigned) { return 0; }

void DropoutOp::buildBackward(BackwardBuilder &bb) {
  // The same operands draw the same mask.
  Value dy = bb.cotangent(getResult());
  if (dy && bb.wants(getX()))
    bb.add(getX(),
           bb.create<DropoutOp>(BackwardBuilder::conjugate(getX()), dy,
                                bb.saved(getRng()), bb.saved(getLayer()),
                                bb.saved(getRows()), bb.saved(getPositions()),
                                getPAttr(), getSiteAttr()));
}
