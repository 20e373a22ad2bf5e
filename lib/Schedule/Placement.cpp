//===- Placement.cpp - Stages, ranks and the edges between them -----------===//

#include "dtc/Schedule/Placement.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include <tuple>

using namespace llvm;

namespace dtc::schedule {

/// Far above any pipeline, and small enough for products to fit.
static constexpr int64_t maxStages = 16384;

Error check(const Placement &placement) {
  auto [ranks, chunks, kind] = placement;
  if (ranks < 1 || chunks < 1 || ranks > maxStages || chunks > maxStages ||
      ranks * chunks > maxStages)
    return createStringError(Twine(ranks) + " ranks with " + Twine(chunks) +
                             " stages each; both must be at least 1, and their "
                             "product at most " +
                             Twine(maxStages));
  if (kind == Placement::V && chunks != 2)
    return createStringError("a V places 2 stages on each rank, not " +
                             Twine(chunks));
  return Error::success();
}

StageGraph StageGraph::chain(int64_t stages) {
  StageGraph graph;
  for (int64_t s = 0; s + 1 < stages; ++s)
    graph.edges.push_back({s, s + 1, true});
  return graph;
}

static bool isBefore(const Edge &a, const Edge &b) {
  return std::tie(a.from, a.to) < std::tie(b.from, b.to);
}

int64_t StageGraph::find(int64_t from, int64_t to) const {
  auto it = llvm::lower_bound(edges, Edge{from, to}, isBefore);
  bool found = it != edges.end() && it->from == from && it->to == to;
  return found ? it - edges.begin() : -1;
}

Error check(const StageGraph &graph, int64_t stages) {
  const Edge *last = nullptr;
  for (const Edge &e : graph.edges) {
    if (e.from < 0 || e.from >= e.to || e.to >= stages)
      return createStringError(
          "edge " + Twine(e.from) + ">" + Twine(e.to) +
          " must lead from a stage to a later one; stages are 0 to " +
          Twine(stages - 1));
    if (last && !isBefore(*last, e))
      return createStringError("edge " + Twine(e.from) + ">" + Twine(e.to) +
                               " stands after " + Twine(last->from) + ">" +
                               Twine(last->to) +
                               "; edges are in increasing order, each once");
    last = &e;
  }
  return Error::success();
}

} // namespace dtc::schedule
