//===- Ring.cpp - dtc.ring ------------------------------------------------===//
//
// The verifier follows every value of the body: how many shifts lie between it
// and the argument that it comes from, and whether that argument travels. An
// argument travels if its next value is one shift away; in iteration j it has
// then travelled j blocks, and after as many iterations as there are blocks it
// is back.
//
//===----------------------------------------------------------------------===//

#include "Common.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace dtc;

/// The operand through which an op's result is the same carried value: the
/// shifted one, the sum so far, the merged output so far.
static Value carriedThrough(OpResult v) {
  Operation *op = v.getOwner();
  if (auto merge = dyn_cast<MergeAttentionOp>(op))
    return v.getResultNumber() == 0 ? merge.getA() : merge.getLseA();
  if (isa<ShiftOp, AddOp>(op))
    return op->getOperand(0);
  return {};
}

/// Shifts between an argument and what takes its place; none if it does not
/// come from the argument.
static std::optional<int64_t> countShifts(Value from, BlockArgument to) {
  int64_t shifts = 0;
  // Dominance is verified later: values may still depend on themselves.
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (from && from != to) {
    auto result = dyn_cast<OpResult>(from);
    if (!result || result.getOwner()->getBlock() != to.getOwner() ||
        !seen.insert(result.getOwner()).second)
      return std::nullopt;
    if (auto shift = dyn_cast<ShiftOp>(result.getOwner()))
      shifts += shift.getInverse() ? -1 : 1;
    from = carriedThrough(result);
  }
  if (!from)
    return std::nullopt;
  return shifts;
}

bool RingOp::isTravelling(unsigned i) {
  Block &block = getBody().front();
  return countShifts(block.getTerminator()->getOperand(i),
                     block.getArgument(i)) == 1;
}

namespace {
/// How far a value has travelled in iteration j: `shifts`, and j more where it
/// comes from an argument that travels.
struct Distance {
  bool travels = false;
  int64_t shifts = 0;
  bool operator==(const Distance &o) const {
    return travels == o.travels && shifts == o.shifts;
  }
  bool operator!=(const Distance &o) const { return !(*this == o); }
};

/// Distances of the body's values.
class Travel {
public:
  explicit Travel(RingOp ring) : ring(ring) {}
  LogicalResult visitArguments();
  LogicalResult visit(Operation &op);

private:
  Distance of(Value v) const { return distances.lookup(v); }
  /// All have one distance, which is returned.
  FailureOr<Distance> meet(Operation &op, ValueRange values);
  template <typename OpTy>
  LogicalResult visitAttention(OpTy op, ValueRange queries, ValueRange keys);

  RingOp ring;
  llvm::DenseMap<Value, Distance> distances;
};
} // namespace

LogicalResult Travel::visitArguments() {
  Block &block = ring.getBody().front();
  for (auto [arg, next] : llvm::zip_equal(
           block.getArguments(), block.getTerminator()->getOperands())) {
    unsigned n = arg.getArgNumber();
    std::optional<int64_t> shifts = countShifts(next, arg);
    if (!shifts)
      return ring.emitOpError("yielded value #")
             << n << " does not come from argument #" << n
             << ": its block would be lost";
    if (*shifts < 0)
      return ring.emitOpError("value #") << n << " is shifted backwards";
    if (*shifts > 1)
      return ring.emitOpError("value #")
             << n << " is shifted " << *shifts
             << " times in one iteration: it would miss blocks";
    distances[arg] = {*shifts == 1, 0};
  }
  return success();
}

FailureOr<Distance> Travel::meet(Operation &op, ValueRange values) {
  std::optional<Distance> all;
  for (Value v : values) {
    if (!v)
      continue;
    Distance d = of(v);
    if (all && d != *all)
      return op.emitOpError("in a ring: values meet that have not travelled "
                            "equally far: a shift is missing or doubled");
    all = d;
  }
  return all ? *all : Distance();
}

template <typename OpTy>
LogicalResult Travel::visitAttention(OpTy op, ValueRange queries,
                                     ValueRange keys) {
  FailureOr<Distance> home = meet(*op, queries), away = meet(*op, keys);
  if (failed(home) || failed(away))
    return failure();
  if (op.getBlocks() != ring.getBlocks())
    return op.emitOpError("has blocks ")
           << op.getBlocks() << " in a ring of " << ring.getBlocks();
  if (home->travels || home->shifts)
    return op.emitOpError("in a ring: queries must stay");
  if (!away->travels)
    return op.emitOpError("in a ring: keys do not travel, so every query would "
                          "meet its own block only");
  if constexpr (std::is_same_v<OpTy, AttentionGradOp>) {
    distances[op.getDk()] = *away;
    distances[op.getDv()] = *away;
  }
  return success();
}

LogicalResult Travel::visit(Operation &op) {
  if (auto shift = dyn_cast<ShiftOp>(op)) {
    if (shift.getBlocks() != ring.getBlocks())
      return shift.emitOpError("has blocks ")
             << shift.getBlocks() << " in a ring of " << ring.getBlocks();
    if (shift.getInverse())
      return shift.emitOpError("in a ring may not go backwards");
    Distance d = of(shift.getX());
    ++d.shifts;
    distances[shift.getResult()] = d;
    return success();
  }
  if (auto a = dyn_cast<AttentionOp>(op))
    return visitAttention(
        a, {a.getQ(), a.getQPositions(), a.getQDocuments()},
        {a.getK(), a.getV(), a.getKPositions(), a.getKDocuments()});
  if (auto a = dyn_cast<AttentionGradOp>(op))
    return visitAttention(
        a,
        {a.getQ(), a.getQPositions(), a.getQDocuments(), a.getOut(), a.getLse(),
         a.getDout()},
        {a.getK(), a.getV(), a.getKPositions(), a.getKDocuments()});
  if (isa<YieldOp>(op))
    return success();
  FailureOr<Distance> d = meet(op, op.getOperands());
  if (failed(d))
    return failure();
  for (Value v : op.getResults())
    distances[v] = *d;
  return success();
}

LogicalResult RingOp::verify() {
  if (getBlocks() < 1)
    return emitOpError("blocks must be positive");
  Block &body = getBody().front();
  auto yield = body.empty() ? YieldOp() : dyn_cast<YieldOp>(body.back());
  if (!yield || yield.getOperandTypes() != getResultTypes() ||
      body.getArgumentTypes() != getResultTypes() ||
      getInits().getTypes() != getResultTypes())
    return emitOpError("types of inits, arguments, yielded values and results "
                       "must agree");
  return success();
}

LogicalResult RingOp::verifyRegions() {
  Travel travel(*this);
  if (failed(travel.visitArguments()))
    return failure();
  for (Operation &op : getBody().front())
    if (failed(travel.visit(op)))
      return failure();
  return success();
}
