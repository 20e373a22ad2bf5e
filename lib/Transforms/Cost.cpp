//===- Cost.cpp - What ops and calls cost one rank ------------------------===//

#include "Cost.h"

using namespace mlir;
using namespace dtc;

static double localBytes(TypeRange types) {
  double bytes = 0;
  for (Type type : types)
    if (auto tensor = dyn_cast<DTensorType>(type))
      bytes += static_cast<double>(tensor.getLocalBytes());
  return bytes;
}

CostModel::Sum CostModel::get(Operation *op) {
  if (auto call = dyn_cast<func::CallOp>(op)) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    auto it = functions.find(callee);
    if (it != functions.end())
      return it->second;
    Sum sum;
    for (Operation &inner : callee.getBody().front().without_terminator()) {
      Sum s = get(&inner);
      sum.cost += s.cost;
      sum.bytes += s.bytes;
    }
    return functions[callee] = sum;
  }
  // The same buffer under another type.
  if (auto collective = dyn_cast<CollectiveOpInterface>(op))
    if (CollectiveKind kind = collective.getSpec().kind;
        kind == CollectiveKind::F || kind == CollectiveKind::AsOne)
      return {};
  double results = localBytes(op->getResultTypes());
  double flops = 0, moved = localBytes(op->getOperandTypes()) + results;
  if (auto cost = dyn_cast<CostOpInterface>(op)) {
    flops = cost.getFlops();
    moved = cost.getBytesMoved();
  }
  return {std::max(flops, flopsPerByte * moved), results};
}
