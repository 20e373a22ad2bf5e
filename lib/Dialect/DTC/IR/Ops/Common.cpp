//===- Common.cpp - What several ops' files share -------------------------===//

#include "Common.h"
#include "dtc/Runtime/Philox.h"
#include "llvm/ADT/SmallString.h"
#include <cmath>

using namespace mlir;
using namespace dtc;

//===----------------------------------------------------------------------===//
// Rules and verifiers
//===----------------------------------------------------------------------===//

FactorRule dtc::elementwiseRule(Operation *op) {
  auto type = cast<DTensorType>(op->getOperand(0).getType());
  std::string letters = dimLetters(type.getRank());
  return FactorRule::get(
      op, SmallVector<std::string>(op->getNumOperands(), letters),
      SmallVector<std::string>(op->getNumResults(), letters));
}

std::string dtc::lettersWithout(unsigned rank, ArrayRef<int64_t> dims) {
  std::string s;
  for (unsigned d = 0; d < rank; ++d)
    if (!llvm::is_contained(dims, static_cast<int64_t>(d)))
      s += {dimLetter(d), ' '};
  return s;
}

std::string dtc::idLetters(unsigned rank) {
  std::string s;
  for (unsigned i = 0, n = 0; n < rank; ++i) {
    char c = i < 2 ? "bs"[i] : dimLetter(i - 2);
    if (i >= 2 && StringRef("bsev").contains(c))
      continue;
    s += {c, ' '};
    ++n;
  }
  return s;
}

std::string dtc::positionLetters(Value positions, char letter) {
  bool batch = cast<DTensorType>(positions.getType()).getRank() == 2;
  return std::string(batch ? "b " : "") + letter;
}

std::string dtc::lastLetter(DTensorType type) {
  int64_t rank = type.getRank();
  return rank ? std::string(1, dimLetter(rank - 1)) : "";
}

LogicalResult dtc::verifyDimList(Operation *op, ArrayRef<int64_t> dims,
                                 int64_t rank) {
  if (dims.empty())
    return op->emitOpError("dims must not be empty");
  int64_t last = -1;
  for (int64_t d : dims) {
    if (d <= last || d >= rank)
      return op->emitOpError("dims must be increasing, from 0 to ")
             << rank - 1 << ", but are [" << dims << "]";
    last = d;
  }
  return success();
}

LogicalResult dtc::verifyI32(Operation *op, Value value, StringRef name) {
  Type type = cast<DTensorType>(value.getType()).getElementType();
  if (!type.isInteger(32))
    return op->emitOpError() << name << " must be i32, but is " << type;
  return success();
}

LogicalResult dtc::verifyLength(Operation *op, Value value, StringRef name,
                                int64_t length) {
  auto type = cast<DTensorType>(value.getType());
  if (type.getShape() != ArrayRef<int64_t>(length))
    return op->emitOpError() << name << " must have rank 1 and " << length
                             << " elements, but is " << type;
  return success();
}

std::string dtc::toText(const APFloat &value) {
  SmallString<32> text;
  value.toString(text, 10, 12);
  return text.str().str();
}

LogicalResult dtc::verifyPositive(Operation *op, const APFloat &value,
                                  StringRef name) {
  double x = value.convertToDouble();
  if (!(x > 0) || !std::isfinite(x))
    return op->emitOpError()
           << name << " must be positive and finite, but is " << toText(value);
  return success();
}

LogicalResult dtc::verifyFraction(Operation *op, const APFloat &value,
                                  StringRef name) {
  double x = value.convertToDouble();
  if (!(x >= 0) || !(x < 1))
    return op->emitOpError()
           << name << " must be at least 0 and below 1, but is "
           << toText(value);
  return success();
}

LogicalResult dtc::verifyNorm(Operation *op, DTensorType x,
                              const APFloat &epsilon) {
  if (x.getRank() < 1)
    return op->emitOpError("x must have a dimension to normalize");
  return verifyPositive(op, epsilon, "epsilon");
}

LogicalResult dtc::verifyRandom(Operation *op, Value rng, Value layer,
                                Value rows, uint64_t site) {
  if (failed(verifyI32(op, rng, "rng")) ||
      failed(verifyLength(op, rng, "rng", 2)) ||
      failed(verifyI32(op, layer, "layer")) ||
      failed(verifyI32(op, rows, "rows")))
    return failure();
  // The key holds layer * 16 + site.
  if (site >= 16)
    return op->emitOpError("site must be from 0 to 15, but is ")
           << static_cast<int64_t>(site);
  return success();
}

//===----------------------------------------------------------------------===//
// Meanings
//===----------------------------------------------------------------------===//

static uint32_t word(int64_t x) { return static_cast<uint32_t>(x); }

DropoutMask::DropoutMask(const Array &rng, const Array &layer, uint64_t site,
                         double p)
    : key0(word(toInteger(rng[0])) ^ (word(toInteger(rng[1])) * 0x9E3779B9u)),
      key1(word(toInteger(layer[0]) * 16 + static_cast<int64_t>(site))),
      threshold(static_cast<uint64_t>(std::floor(p * 4294967296.0))),
      scale(1 / (1 - p)) {}

double DropoutMask::operator()(int64_t c0, int64_t c1, int64_t c2,
                               int64_t c3) const {
  PhiloxCounter x =
      philox4x32_10({word(c0), word(c1), word(c2), word(c3)}, {key0, key1});
  return x[0] >= threshold ? scale : 0;
}
