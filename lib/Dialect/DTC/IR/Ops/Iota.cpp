//===- Iota.cpp - dtc.iota ------------------------------------------------===//

#include "Common.h"

using namespace mlir;
using namespace dtc;

FactorRule IotaOp::getFactorRule() {
  return FactorRule::get(*this, {}, {std::string("a")});
}

LogicalResult IotaOp::verify() {
  return verifyI32(*this, getResult(), "result");
}

SmallVector<Array> IotaOp::interpret(const FactorPiece &piece,
                                     ArrayRef<Array> operands) {
  Array y(piece.resultShape(0));
  for (int64_t i = 0; i < y.count(); ++i)
    y[i] = static_cast<double>(piece.first('a') + i);
  return {y};
}
