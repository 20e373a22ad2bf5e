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

/// Adds a collective of each kind that fits a group of axes with one placement
/// (`dim` for Shard).
static void addCandidates(SmallVectorImpl<CollectiveSpec> &out, PK now,
                          const AxisList &group, int64_t dim, int64_t rank) {
  for (unsigned k = 0; k < numCollectiveKinds; ++k) {
    auto kind = static_cast<CK>(k);
    const CollectiveInfo &info = getInfo(kind);
    // Groups matter where one message costs less than one for each axis; the
    // others are joined afterwards.
    bool saves = kind == CK::G || kind == CK::AllReduce ||
                 kind == CK::ReduceMax || kind == CK::AllToAll;
    if (info.from != now || (group.size() > 1 && !saves))
      continue;
    if (kind == CK::AllToAll) {
      for (int64_t d = 0; d < rank; ++d)
        if (d != dim)
          out.push_back({kind, group, dim, d});
    } else if (info.from == PK::Shard) {
      out.push_back({kind, group, dim, -1});
    } else if (info.to == PK::Shard) {
      for (int64_t d = 0; d < rank; ++d)
        out.push_back({kind, group, d, -1});
    } else {
      out.push_back({kind, group, -1, -1});
    }
  }
}

/// The collectives worth trying on those atoms.
static SmallVector<CollectiveSpec> candidates(const TensorSpec &t,
                                              ArrayRef<Axis> atoms) {
  SmallVector<CollectiveSpec> out;
  int64_t rank = t.getRank();
  auto mayMove = [&](const Axis &a) { return llvm::is_contained(atoms, a); };
  // Summed and reduced over any group: all subsets, single atoms first.
  for (PK kind : {PK::Invariant, PK::Replicate, PK::Partial, PK::Max}) {
    AxisList set;
    for (const Axis &a : atoms)
      if (t.placement(a) == kind)
        set.push_back(a);
    for (const Axis &a : set)
      addCandidates(out, kind, {a}, -1, rank);
    if (kind != PK::Partial && kind != PK::Max)
      continue;
    for (uint64_t bits = 1; bits < uint64_t(1) << set.size(); ++bits) {
      AxisList group;
      for (auto [i, a] : llvm::enumerate(set))
        if (bits >> i & 1)
          group.push_back(a);
      if (group.size() > 1)
        addCandidates(out, kind, group, -1, rank);
    }
  }
  // Taken from the minor end of a dimension.
  for (auto [d, axes] : llvm::enumerate(t.dims))
    for (size_t n = 1; n <= axes.size() && mayMove(axes[axes.size() - n]); ++n)
      addCandidates(out, PK::Shard, AxisList(ArrayRef<Axis>(axes).take_back(n)),
                    d, rank);
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

namespace {
struct Path {
  Cost cost;
  SmallVector<CollectiveSpec> steps;
};
} // namespace

/// Undoes an f, or has the transpose of what does: moves the reduction of the
/// cotangent. Integers have none.
static bool movesReduction(const CollectiveSpec &c, DTensorType type) {
  return !type.isInteger() && (c.kind == CK::AsOne || c.kind == CK::KeepFirst ||
                               c.kind == CK::KeepFirstReplicated);
}

/// Dijkstra over the types of this tensor, moving only `atoms`. Ties are broken
/// by the order of insertion, so that the answer is deterministic. `below`, if
/// given, is what the path must be cheaper than.
static std::optional<Path> search(DTensorType from, DTensorType to,
                                  const Refinement &refinement,
                                  ArrayRef<Axis> atoms,
                                  std::optional<Cost> below) {
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
      cost.penalty += movesReduction(c, item.type);
      if (below && !(cost < *below))
        continue;
      auto it = best.find(*next);
      if (it != best.end() && !(cost < it->second))
        continue;
      best[*next] = cost;
      came[*next] = {item.type, c};
      queue.push({cost, order++, *next});
    }
  }
  auto found = best.find(to);
  if (found == best.end())
    return std::nullopt;
  Path path{found->second, {}};
  for (DTensorType t = to; t != from; t = came[t].from)
    path.steps.push_back(came[t].spec);
  std::reverse(path.steps.begin(), path.steps.end());
  return path;
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
  AxisList all = refinement.atoms(), moving;
  for (const Axis &a : all) {
    unsigned d1 = 0, d2 = 0;
    PK k1 = start.placement(a, &d1), k2 = goal.placement(a, &d2);
    bool still = k1 == k2 && d1 == d2 &&
                 (k1 != PK::Shard || start.dims[d1] == goal.dims[d1]);
    if (!still)
      moving.push_back(a);
  }
  // Atoms that stand where they shall mostly need not move. Where moving them
  // too may save bytes, all are searched, if they are few.
  std::optional<Path> path = search(from, to, refinement, moving, std::nullopt);
  constexpr size_t few = 3;
  bool isFree = path && path->cost.penalty == 0 && path->cost.bytes == 0;
  if (moving.size() < all.size() && all.size() <= few && !isFree) {
    std::optional<Cost> below;
    if (path) // by more than rounding
      below = {path->cost.penalty, path->cost.bytes * (1 - 1e-9), 0};
    if (std::optional<Path> other = search(from, to, refinement, all, below))
      path = other;
  }
  if (!path)
    return failure();
  return merged(path->steps);
}

/// Changes the padded lengths to those of `like` where the dimension is whole.
static Value repad(OpBuilder &builder, Location loc, Value value,
                   DTensorType like) {
  for (int64_t d = 0; d < like.getRank(); ++d) {
    TensorSpec spec(cast<DTensorType>(value.getType()));
    if (spec.padded[d] == like.getPadded()[d] || !spec.dims[d].empty())
      continue;
    spec.padded[d] = like.getPadded()[d];
    value = RepadOp::create(builder, loc, DTensorType::get(spec), value, d);
  }
  return value;
}

/// Follows planReshard.
static FailureOr<Value> followPlan(OpBuilder &builder, Location loc,
                                   Value value, DTensorType to) {
  FailureOr<SmallVector<CollectiveSpec>> steps =
      planReshard(cast<DTensorType>(value.getType()), to);
  if (failed(steps))
    return failure();
  for (const CollectiveSpec &c : *steps)
    value = createCollective(builder, loc, c, value);
  return value;
}

FailureOr<Value> dtc::reshard(OpBuilder &builder, Location loc, Value value,
                              DTensorType to) {
  auto from = cast<DTensorType>(value.getType());
  if (from.getShape() != to.getShape())
    return failure();
  // Other padding comes first where the dimension is not cut yet, and last
  // where it is not cut any more. Where it is cut all along, pieces of one
  // padding are not made of pieces of the other: it is made whole between.
  TensorSpec whole(from), last(to);
  for (int64_t d = 0; d < from.getRank(); ++d) {
    if (from.getPadded()[d] == to.getPadded()[d])
      continue;
    if (to.getDims()[d].empty())
      last.padded[d] = from.getPadded()[d];
    else
      whole.dims[d].clear();
  }
  FailureOr<Value> result =
      followPlan(builder, loc, value, DTensorType::get(whole));
  DTensorType goal = DTensorType::get(last);
  if (succeeded(result))
    result = followPlan(builder, loc, repad(builder, loc, *result, goal), goal);
  if (succeeded(result))
    result = repad(builder, loc, *result, to);
  return result;
}
