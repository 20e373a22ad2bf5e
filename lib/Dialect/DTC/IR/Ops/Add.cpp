//===- Add.cpp - dtc.add --------------------------------------------------===//

#include "dtc/Dialect/DTC/IR/DTC.h"

using namespace mlir;
using namespace dtc;

SmallVector<int64_t> AddOp::getRhsDimList() {
  if (std::optional<ArrayRef<int64_t>> dims = getRhsDims())
    return SmallVector<int64_t>(*dims);
  int64_t rank = getLhs().getType().getRank();
  int64_t rhs = std::min(rank, getRhs().getType().getRank());
  return llvm::to_vector(llvm::seq<int64_t>(rank - rhs, rank));
}

FactorRule AddOp::getFactorRule() {
  std::string lhs = dimLetters(getLhs().getType().getRank()), rhs;
  for (int64_t d : getRhsDimList())
    rhs += {dimLetter(d), ' '};
  return FactorRule::get(*this, {lhs, rhs}, {lhs}).linear({0, 1});
}

LogicalResult AddOp::verify() {
  int64_t rank = getLhs().getType().getRank(), last = -1;
  SmallVector<int64_t> dims = getRhsDimList();
  if (dims.size() != static_cast<size_t>(getRhs().getType().getRank()))
    return emitOpError("rhs_dims must list ")
           << getRhs().getType().getRank() << " dimensions";
  for (int64_t d : dims) {
    if (d <= last || d >= rank)
      return emitOpError("rhs_dims must be increasing and below ") << rank;
    last = d;
  }
  Type type = getType().getElementType();
  if (getLhs().getType().getElementType() != type ||
      getRhs().getType().getElementType() != type)
    return emitOpError("element types of operands and result differ");
  return success();
}

SmallVector<Array> AddOp::interpret(const FactorPiece &piece,
                                    ArrayRef<Array> operands) {
  Array z = operands[0];
  SmallVector<int64_t> dims = getRhsDimList();
  forEachIndex(z.shape, [&](ArrayRef<int64_t> index) {
    SmallVector<int64_t> at;
    for (int64_t d : dims)
      at.push_back(index[d]);
    z(index) += operands[1](at);
  });
  return {z};
}

std::optional<unsigned> AddOp::getInPlaceOperand(unsigned) { return 0; }

void AddOp::buildBackward(BackwardBuilder &bb) {
  Value dz = bb.cotangent(getResult());
  if (!dz)
    return;
  if (bb.wants(getLhs()))
    bb.add(getLhs(), dz);
  if (!bb.wants(getRhs()))
    return;
  SmallVector<int64_t> dims = getRhsDimList(), gone;
  for (int64_t d = 0; d < getLhs().getType().getRank(); ++d)
    if (!llvm::is_contained(dims, d))
      gone.push_back(d);
  bb.add(getRhs(), gone.empty()
                       ? dz
                       : bb.create<ReduceSumOp>(
                             BackwardBuilder::conjugate(getRhs()), dz, gone));
}
