//===- Reshard.cpp - The cheapest path between two placements -------------===//

#include "dtc/Dialect/DTC/IR/DTC.h"
#include <map>
#include <queue>

using namespace mlir;
using namespace dtc;

using CK = CollectiveKind;
using PK = PlacementKind;

namespace {
/// Bytes first; then what should not be used freely; then the count.
struct Cost {
  double penalty = 0, bytes = 0;
  int steps = 0;
  bool operator<(const Cost &o) const {
    return std::tie(penalty, bytes, steps) <
           std::tie(o.penalty, o.bytes, o.steps);
  }
};

struct Edge {
  DTensorType from;
  CollectiveSpec spec;
};
} // namespace

/// The collectives worth trying, one atom at a time.
static SmallVector<CollectiveSpec> candidates(const TensorSpec &t,
                                              ArrayRef<Axis> atoms) {
  SmallVector<CollectiveSpec> out;
  int64_t rank = t.getRank();
  for (const Axis &a : atoms) {
    unsigned dim = 0;
    PK now = t.placement(a, &dim);
    for (unsigned k = 0; k < numCollectiveKinds; ++k) {
      auto kind = static_cast<CK>(k);
      const CollectiveInfo &info = getInfo(kind);
      if (info.from != now)
        continue;
      if (kind == CK::AllToAll) {
        for (int64_t d = 0; d < rank; ++d)
          if (d != dim)
            out.push_back({kind, {a}, dim, d});
      } else if (info.from == PK::Shard) {
        out.push_back({kind, {a}, dim, -1});
      } else if (info.to == PK::Shard) {
        for (int64_t d = 0; d < rank; ++d)
          out.push_back({kind, {a}, d, -1});
      } else {
        out.push_back({kind, {a}, -1, -1});
      }
    }
  }
  return out;
}

/// Joins neighbours of one kind into one group over several axes.
static SmallVector<CollectiveSpec> merged(ArrayRef<CollectiveSpec> steps) {
  SmallVector<CollectiveSpec> out;
  for (const CollectiveSpec &s : steps) {
    if (!out.empty() && out.back().kind == s.kind && out.back().dim == s.dim &&
        out.back().dim2 == s.dim2 && s.kind != CK::AllToAll) {
      // A dimension loses axes minor first, and gains them major first.
      if (getInfo(s.kind).from == PK::Shard)
        out.back().axes.insert(out.back().axes.begin(), s.axes.begin(),
                               s.axes.end());
      else
        llvm::append_range(out.back().axes, s.axes);
      continue;
    }
    out.push_back(s);
  }
  for (CollectiveSpec &s : out) {
    const CollectiveInfo &info = getInfo(s.kind);
    bool ordered = info.from == PK::Shard || info.to == PK::Shard;
    s.axes = ordered ? mergedList(s.axes) : mergedSet(s.axes);
  }
  return out;
}

FailureOr<SmallVector<CollectiveSpec>> dtc::planReshard(DTensorType from,
                                                        DTensorType to) {
  if (from == to)
    return SmallVector<CollectiveSpec>();
  if (from.getShape() != to.getShape() || from.getPadded() != to.getPadded() ||
      from.getElementType() != to.getElementType())
    return failure();
  Refinement refinement;
  refinement.add(from.getNamedAxes());
  refinement.add(to.getNamedAxes());
  if (!refinement.valid())
    return failure();
  TensorSpec start(from), goal(to);
  start.refine(refinement);
  goal.refine(refinement);
  // Atoms that stand where they shall, on dimensions that nothing changes,
  // need not move.
  AxisList atoms;
  for (const Axis &a : refinement.atoms()) {
    unsigned d1 = 0, d2 = 0;
    PK k1 = start.placement(a, &d1), k2 = goal.placement(a, &d2);
    bool still = k1 == k2 && d1 == d2 &&
                 (k1 != PK::Shard || start.dims[d1] == goal.dims[d1]);
    if (!still)
      atoms.push_back(a);
  }

  // Dijkstra over the types of this tensor; the atoms are few. Ties are
  // broken by the order of insertion, so that the answer is deterministic.
  struct Item {
    Cost cost;
    int64_t order;
    DTensorType type;
    bool operator<(const Item &o) const {
      if (cost < o.cost || o.cost < cost)
        return o.cost < cost;
      return order > o.order;
    }
  };
  std::priority_queue<Item> queue;
  llvm::DenseMap<DTensorType, Cost> best;
  llvm::DenseMap<DTensorType, Edge> came;
  int64_t order = 0;
  best[from] = {};
  queue.push({{}, order++, from});
  while (!queue.empty()) {
    Item item = queue.top();
    queue.pop();
    if (best[item.type] < item.cost)
      continue;
    if (item.type == to)
      break;
    TensorSpec t(item.type);
    t.refine(refinement);
    for (const CollectiveSpec &c : candidates(t, atoms)) {
      FailureOr<DTensorType> next = inferCollectiveType(c, item.type, nullptr);
      if (failed(next))
        continue;
      Cost cost = item.cost;
      cost.bytes += getBytesSent(c, item.type);
      cost.steps += 1;
      if (c.kind == CK::AsOne || c.kind == CK::KeepFirst ||
          c.kind == CK::KeepFirstReplicated)
        cost.penalty += 1;
      auto it = best.find(*next);
      if (it != best.end() && !(cost < it->second))
        continue;
      best[*next] = cost;
      came[*next] = {item.type, c};
      queue.push({cost, order++, *next});
    }
  }
  if (!best.count(to))
    return failure();
  SmallVector<CollectiveSpec> steps;
  for (DTensorType t = to; t != from; t = came[t].from)
    steps.push_back(came[t].spec);
  std::reverse(steps.begin(), steps.end());
  return merged(steps);
}

FailureOr<Value> dtc::reshard(OpBuilder &builder, Location loc, Value value,
                              DTensorType to) {
  FailureOr<SmallVector<CollectiveSpec>> steps =
      planReshard(cast<DTensorType>(value.getType()), to);
  if (failed(steps))
    return failure();
  for (const CollectiveSpec &c : *steps)
    value = createCollective(builder, loc, c, value);
  return value;
}
