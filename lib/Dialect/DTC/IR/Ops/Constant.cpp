//===- Constant.cpp - dtc.constant ----------------------------------------===//

#include "Common.h"
#include <cmath>

using namespace mlir;
using namespace dtc;

FactorRule ConstantOp::getFactorRule() {
  FactorRule rule =
      FactorRule::get(*this, {}, {dimLetters(getType().getRank())});
  return getValue().isZero() ? rule.zero(0) : rule;
}

LogicalResult ConstantOp::verify() {
  double value = getValue().convertToDouble();
  auto type = dyn_cast<IntegerType>(getType().getElementType());
  if (!type)
    return success();
  double limit = std::ldexp(1.0, static_cast<int>(type.getWidth()) - 1);
  if (!(value >= -limit && value < limit) || value != std::trunc(value))
    return emitOpError("an ")
           << type << " must have an integral value in range, but has "
           << toText(getValue());
  return success();
}

SmallVector<Array> ConstantOp::interpret(const FactorPiece &piece,
                                         ArrayRef<Array> operands) {
  return {Array(piece.resultShape(0), getValue().convertToDouble())};
}
