//===- Shift.cpp - dtc.shift ----------------------------------------------===//

#include "Common.h"

using namespace mlir;
using namespace dtc;

/// The letter of the number of the block; no dimension has it.
static constexpr char blockLetter = 'Z';

FactorRule ShiftOp::getFactorRule() {
  auto rank = static_cast<unsigned>(getX().getType().getRank());
  std::string dims;
  for (unsigned d = 0; d < rank; ++d) {
    if (d)
      dims += ' ';
    if (d == getDim())
      dims += blockLetter;
    dims += dimLetter(d);
  }
  FactorRule rule =
      FactorRule::get(*this, {dims}, {dims},
                      {{blockLetter, static_cast<int64_t>(getBlocks())}});
  if (getDim() < rank)
    rule.whole(std::string(1, dimLetter(getDim())));
  return rule.linear({0});
}

LogicalResult ShiftOp::verify() {
  DTensorType x = getX().getType();
  if (getDim() >= static_cast<uint64_t>(x.getRank()))
    return emitOpError("dim ") << getDim() << " is not a dimension of " << x;
  if (getResult().getType().getElementType() != x.getElementType())
    return emitOpError("must keep the element type");
  auto n = static_cast<uint64_t>(x.getShape()[getDim()]);
  if (getBlocks() < 1 || getBlocks() > n || n % getBlocks() != 0)
    return emitOpError("blocks ")
           << getBlocks() << " must divide the dimension's length " << n;
  return success();
}

/// The whole ring of `blocks` blocks, moved by one.
static Array shifted(const Array &x, int64_t dim, int64_t blocks,
                     bool inverse) {
  Array y(x.shape);
  int64_t n = x.shape[dim], block = n / blocks;
  forEachIndex(y.shape, [&](ArrayRef<int64_t> index) {
    SmallVector<int64_t> from(index);
    from[dim] = (index[dim] + (inverse ? block : n - block)) % n;
    y(index) = x(from);
  });
  return y;
}

SmallVector<Array> ShiftOp::interpret(const FactorPiece &piece,
                                      ArrayRef<Array> operands) {
  return {shifted(operands[0], static_cast<int64_t>(getDim()),
                  static_cast<int64_t>(getBlocks()), getInverse())};
}

SmallVector<SmallVector<Array>>
ShiftOp::interpretRanks(const GroupView &group, ArrayRef<FactorPiece> pieces,
                        ArrayRef<SmallVector<Array>> operands) {
  auto dim = static_cast<int64_t>(getDim());
  SmallVector<SmallVector<Array>> out(operands.size());
  for (const std::vector<int64_t> &ranks : group.groups(blockLetter)) {
    // Pieces side by side are the whole ring.
    int64_t piece = operands[ranks.front()][0].shape[dim];
    SmallVector<int64_t> shape(operands[ranks.front()][0].shape);
    shape[dim] = piece * static_cast<int64_t>(ranks.size());
    Array all(shape);
    auto forEachPiece = [&](auto fn) {
      for (auto [i, r] : llvm::enumerate(ranks))
        forEachIndex(operands[r][0].shape,
                     [&, i = i, r = r](ArrayRef<int64_t> index) {
                       SmallVector<int64_t> at(index);
                       at[dim] += static_cast<int64_t>(i) * piece;
                       fn(r, index, at);
                     });
    };
    forEachPiece([&](int64_t r, ArrayRef<int64_t> index, ArrayRef<int64_t> at) {
      all(at) = operands[r][0](index);
    });
    all = shifted(all, dim, static_cast<int64_t>(getBlocks()), getInverse());
    for (int64_t r : ranks)
      out[r].push_back(Array(operands[r][0].shape));
    forEachPiece([&](int64_t r, ArrayRef<int64_t> index, ArrayRef<int64_t> at) {
      out[r][0](index) = all(at);
    });
  }
  return out;
}

void ShiftOp::buildBackward(BackwardBuilder &bb) {
  Value dy = bb.cotangent(getResult());
  if (dy && bb.wants(getX()))
    bb.add(getX(), bb.create<ShiftOp>(dy.getType(), dy, getDim(), getBlocks(),
                                      !getInverse()));
}
