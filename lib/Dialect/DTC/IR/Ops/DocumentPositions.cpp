//===- DocumentPositions.cpp - dtc.document_positions ---------------------===//

#include "Common.h"

using namespace mlir;
using namespace dtc;

FactorRule DocumentPositionsOp::getFactorRule() {
  return FactorRule::get(*this, {"b s"}, {"b s"}).whole("s").even("s");
}

LogicalResult DocumentPositionsOp::verify() {
  return failure(failed(verifyI32(*this, getDocuments(), "documents")) ||
                 failed(verifyI32(*this, getResult(), "result")));
}

SmallVector<Array> DocumentPositionsOp::interpret(const FactorPiece &piece,
                                                  ArrayRef<Array> operands) {
  const Array &x = operands[0];
  Array y(piece.resultShape(0));
  for (int64_t b = 0; b < y.shape[0]; ++b)
    for (int64_t s = 1; s < y.shape[1]; ++s)
      if (x({b, s}) == x({b, s - 1}))
        y({b, s}) = y({b, s - 1}) + 1;
  return {y};
}
