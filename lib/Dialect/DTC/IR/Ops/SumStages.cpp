//===- SumStages.cpp - dtc.sum_stages -------------------------------------===//

#include "Common.h"
#include <set>

using namespace mlir;
using namespace dtc;

FactorRule SumStagesOp::getFactorRule() {
  std::string dims = dimLetters(getType().getRank());
  SmallVector<std::string> operands(getValues().size(), dims);
  return FactorRule::get(*this, operands, {dims})
      .linear(llvm::to_vector(llvm::seq<unsigned>(0, operands.size())));
}

LogicalResult SumStagesOp::verify() {
  if (getValues().empty())
    return emitOpError("needs an operand");
  for (Value v : getValues())
    if (v.getType() != getType())
      return emitOpError("operands must have the result's type ")
             << getType() << ", not " << v.getType();
  if (getFrom().size() != getValues().size())
    return emitOpError("'from' must have ")
           << getValues().size() << " ranks, one for each operand";
  std::set<int64_t> seen;
  for (int64_t rank : getFrom())
    if (rank < 0 || !seen.insert(rank).second)
      return emitOpError("'from' has rank ")
             << rank << (rank < 0 ? ", which is negative" : " twice");
  if (getTo().empty())
    return emitOpError("'to' must have a rank");
  for (auto [i, rank] : llvm::enumerate(getTo()))
    if (rank < 0 || (i > 0 && rank <= getTo()[i - 1]))
      return emitOpError("'to' must be increasing and not negative");
  if (!getType().getMax().empty())
    return emitOpError("a maximum is no sum: ") << getType();
  return success();
}

SmallVector<Array> SumStagesOp::interpret(const FactorPiece &,
                                          ArrayRef<Array> operands) {
  Array z = operands[0];
  for (const Array &x : operands.drop_front())
    for (int64_t i = 0; i < z.count(); ++i)
      z[i] += x[i];
  return {z};
}
