//===- Recompute.cpp - What a backward keeps, and what it makes again -----===//
//
// Every value is two nodes, joined by an edge of as many units as it has bytes:
// cutting it is keeping it. An op that may be computed again joins its operands
// to its results without limit; one that may not joins the source to them. What
// the backward needs is joined to the sink. A minimum cut is then the cheapest
// set to keep (Chen et al. 2016 choose among checkpoints, here every value is
// one).
//
//===----------------------------------------------------------------------===//

#include "Recompute.h"
#include "Program.h"
#include "llvm/ADT/MapVector.h"
#include <limits>
#include <queue>

using namespace mlir;
using namespace dtc;

llvm::Expected<RecomputePolicy> RecomputePolicy::parse(StringRef text) {
  RecomputePolicy policy;
  if (text == "none")
    return policy;
  policy.cheap = true;
  if (text == "selective")
    return policy;
  if (text == "full") {
    policy.communication = true;
    policy.limit = std::numeric_limits<double>::infinity();
    return policy;
  }
  if (text.getAsDouble(policy.limit) || !(policy.limit >= 0))
    return llvm::createStringError(
        "recompute is '" + text +
        "', but may be none, selective, full, or how many operations a byte "
        "that need not be kept may cost");
  return policy;
}

bool RecomputePolicy::allows(Operation *op, CostModel &costs) const {
  if (isFreeToRepeat(op))
    return true;
  if (!cheap || !isPure(op) || isa<func::CallOp>(op) || op->getNumRegions())
    return false;
  if (auto collective = dyn_cast<CollectiveOpInterface>(op);
      collective && getInfo(collective.getSpec().kind).movesData)
    return communication;
  if (auto inside = dyn_cast<FactorOpInterface>(op);
      inside && !communication && !getCommunicatingAxes(inside).empty())
    return false;
  auto cost = dyn_cast<CostOpInterface>(op);
  if (!cost || cost.getFlops() == 0)
    return true;
  return costs.getCost(op) <= limit * costs.getResultBytes(op);
}

bool dtc::isFreeToRepeat(Operation *op) {
  if (op->getNumOperands() == 0)
    return isPure(op) && op->getNumResults() == 1;
  auto collective = dyn_cast<CollectiveOpInterface>(op);
  if (!collective)
    return false;
  CollectiveKind kind = collective.getSpec().kind;
  return kind == CollectiveKind::F || kind == CollectiveKind::AsOne;
}

namespace {
/// Maximum flow (Dinic 1970).
class FlowNetwork {
public:
  static constexpr int64_t unlimited = std::numeric_limits<int64_t>::max() / 4;

  unsigned addNode() {
    edgesOf.emplace_back();
    return edgesOf.size() - 1;
  }
  void addEdge(unsigned from, unsigned to, int64_t capacity) {
    edgesOf[from].push_back(edges.size());
    edges.push_back({to, capacity});
    edgesOf[to].push_back(edges.size());
    edges.push_back({from, 0});
  }
  void maximize(unsigned source, unsigned sink) {
    while (findLevels(source, sink)) {
      next.assign(edgesOf.size(), 0);
      while (push(source, sink))
        ;
    }
  }
  /// Nodes from which the sink can still be reached.
  std::vector<bool> getSinkSide(unsigned sink) const {
    std::vector<bool> reaches(edgesOf.size());
    SmallVector<unsigned> todo{sink};
    reaches[sink] = true;
    while (!todo.empty()) {
      unsigned node = todo.pop_back_val();
      for (unsigned e : edgesOf[node]) {
        // The other direction's edge leads here.
        unsigned from = edges[e].to;
        if (edges[e ^ 1].capacity > 0 && !reaches[from]) {
          reaches[from] = true;
          todo.push_back(from);
        }
      }
    }
    return reaches;
  }

private:
  struct Edge {
    unsigned to;
    int64_t capacity; // that is left
  };
  bool findLevels(unsigned source, unsigned sink) {
    level.assign(edgesOf.size(), -1);
    level[source] = 0;
    std::queue<unsigned> todo;
    todo.push(source);
    while (!todo.empty()) {
      unsigned node = todo.front();
      todo.pop();
      for (unsigned e : edgesOf[node])
        if (edges[e].capacity > 0 && level[edges[e].to] < 0) {
          level[edges[e].to] = level[node] + 1;
          todo.push(edges[e].to);
        }
    }
    return level[sink] >= 0;
  }
  /// Pushes along one path by levels; how much. Paths are as long as chains of
  /// ops, so the path is a list, not the stack.
  int64_t push(unsigned source, unsigned sink) {
    SmallVector<unsigned> path; // edges
    unsigned node = source;
    while (node != sink) {
      bool found = false;
      for (unsigned &i = next[node]; i < edgesOf[node].size(); ++i) {
        const Edge &e = edges[edgesOf[node][i]];
        if (e.capacity > 0 && level[e.to] == level[node] + 1) {
          path.push_back(edgesOf[node][i]);
          node = e.to;
          found = true;
          break;
        }
      }
      if (found)
        continue;
      if (path.empty())
        return 0;
      node = edges[path.pop_back_val() ^ 1].to;
      ++next[node];
    }
    int64_t amount = unlimited;
    for (unsigned e : path)
      amount = std::min(amount, edges[e].capacity);
    for (unsigned e : path) {
      edges[e].capacity -= amount;
      edges[e ^ 1].capacity += amount;
    }
    return amount;
  }

  std::vector<Edge> edges; // each with its reverse behind it
  std::vector<SmallVector<unsigned, 4>> edgesOf;
  std::vector<int> level;
  std::vector<unsigned> next;
};
} // namespace

llvm::DenseSet<Value>
dtc::chooseSavedValues(func::FuncOp func, const llvm::SetVector<Value> &needed,
                       function_ref<bool(Operation *)> mayRepeat) {
  FlowNetwork network;
  unsigned source = network.addNode(), sink = network.addNode();
  // The second node of a value follows the first.
  llvm::MapVector<Value, unsigned> nodes;
  auto add = [&](Value v, int64_t bytes) {
    unsigned in = network.addNode(), out = network.addNode();
    nodes[v] = in;
    network.addEdge(in, out, bytes);
    return in;
  };
  for (BlockArgument argument : func.getArguments())
    network.addEdge(source, add(argument, 0), FlowNetwork::unlimited);
  for (Operation &op : func.getBody().front().without_terminator()) {
    bool again = mayRepeat(&op);
    for (Value v : op.getResults()) {
      auto type = dyn_cast<DTensorType>(v.getType());
      unsigned in = add(v, type ? std::max<int64_t>(1, type.getLocalBytes())
                                : FlowNetwork::unlimited);
      if (!again)
        network.addEdge(source, in, FlowNetwork::unlimited);
      else
        for (Value x : op.getOperands())
          if (auto it = nodes.find(x); it != nodes.end())
            network.addEdge(it->second + 1, in, FlowNetwork::unlimited);
    }
  }
  for (Value v : needed)
    if (auto it = nodes.find(v); it != nodes.end())
      network.addEdge(it->second + 1, sink, FlowNetwork::unlimited);
  network.maximize(source, sink);
  // Of equal cuts the one next to the sink: least is computed again.
  std::vector<bool> sinkSide = network.getSinkSide(sink);
  llvm::DenseSet<Value> saved;
  for (auto [v, in] : nodes)
    if (!isa<BlockArgument>(v) && !sinkSide[in] && sinkSide[in + 1])
      saved.insert(v);
  return saved;
}
