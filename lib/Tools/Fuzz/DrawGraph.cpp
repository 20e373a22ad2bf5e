//===- DrawGraph.cpp - Graphs by chance -----------------------------------===//

#include "Draw.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;
using namespace dtc::fuzz;

namespace {

/// Kinds with their weights: what models consist of is drawn more often.
struct Weighted {
  NodeKind kind;
  unsigned weight;
};
const Weighted weights[] = {
    {NodeKind::RmsNorm, 6},
    {NodeKind::LayerNorm, 5},
    {NodeKind::Add, 6},
    {NodeKind::Multiply, 3},
    {NodeKind::Scale, 2},
    {NodeKind::Bias, 3},
    {NodeKind::Dropout, 4},
    {NodeKind::FeatureMean, 2},
    {NodeKind::SequenceMean, 2},
    {NodeKind::Linear, 3},
    {NodeKind::Derived, 2},
    {NodeKind::Composed, 2},
    {NodeKind::MixSequence, 2},
    {NodeKind::RowProduct, 2},
    {NodeKind::LinearAttention, 2},
    {NodeKind::Scores, 2},
    {NodeKind::AddPositions, 2},
    {NodeKind::AddTokens, 2},
    {NodeKind::Mlp, 9},
    {NodeKind::Gated, 6},
    {NodeKind::HeadMlp, 3},
    {NodeKind::Experts, 2},
    {NodeKind::Attention, 10},
    {NodeKind::Call, 6},
};

class Drawer {
public:
  Drawer(Chance &chance, const Settings &settings)
      : chance(chance), settings(settings) {}

  Graph draw();

private:
  NodeKind drawKind(bool mayCall);
  int drawParam(Function &function, ParamKind kind, double known);
  Node drawNode(Function &function, NodeKind kind, double known);
  void drawBlock(Function &function, int64_t least, int64_t most, double known);

  Chance &chance;
  const Settings &settings;
  Graph graph;
  /// Traits of the whole model, so that they are found together.
  bool documents = false, dropout = false, annotated = false;
};

} // namespace

NodeKind Drawer::drawKind(bool mayCall) {
  while (true) {
    unsigned total = 0;
    for (const Weighted &w : weights)
      total += w.weight;
    auto at = unsigned(chance.between(0, total - 1));
    for (const Weighted &w : weights) {
      if (at < w.weight) {
        bool fits = (w.kind != NodeKind::Call || mayCall) &&
                    (w.kind != NodeKind::Dropout || dropout);
        if (fits)
          return w.kind;
        break;
      }
      at -= w.weight;
    }
  }
}

/// A parameter of the kind: one that is there already with probability
/// `known`.
int Drawer::drawParam(Function &function, ParamKind kind, double known) {
  SmallVector<int> same;
  for (auto [i, k] : llvm::enumerate(function.params))
    if (k == kind)
      same.push_back(int(i));
  if (!same.empty() && chance.with(known))
    return chance.in(same);
  function.params.push_back(kind);
  return int(function.params.size()) - 1;
}

Node Drawer::drawNode(Function &function, NodeKind kind, double known) {
  Node node;
  node.kind = kind;
  auto values = int64_t(function.nodes.size()); // the last value's number
  node.a = int(std::max<int64_t>(0, values - (chance.with(0.75) ? 0 : 1)));
  node.b = chance.with(0.5) ? node.a : int(chance.between(0, values));
  for (auto [flag, p] :
       {std::pair(Named, 0.7), std::pair(NamedInside, 0.8),
        std::pair(WithBias, 0.4), std::pair(Causal, 0.7),
        std::pair(WithRotary, 0.4), std::pair(WithHeadNorm, 0.2)})
    if (chance.with(p))
      node.flags |= flag;
  if (documents && chance.with(0.7))
    node.flags |= WithDocuments;
  if (dropout && chance.with(0.5))
    node.flags |= WithDropout;
  node.variant = int(chance.between(0, 15));
  if (annotated && chance.with(0.15))
    node.sharding = drawSharding(chance, settings, 3);
  if (kind == NodeKind::Call) {
    node.callee = int(chance.between(0, graph.functions.size() - 1));
    for (ParamKind k : graph.functions[node.callee].params)
      node.params.push_back(drawParam(function, k, known));
  } else {
    for (ParamKind k : getRoles(kind))
      node.params.push_back(drawParam(function, k, known));
  }
  return node;
}

/// Nodes, and often a residual connection around them.
void Drawer::drawBlock(Function &function, int64_t least, int64_t most,
                       double known) {
  auto input = int(function.nodes.size());
  int64_t count = chance.between(least, most);
  for (int64_t i = 0; i < count; ++i)
    function.nodes.push_back(
        drawNode(function, drawKind(!graph.functions.empty()), known));
  if (chance.with(0.5)) {
    Node add;
    add.kind = NodeKind::Add;
    add.a = input;
    add.b = int(function.nodes.size());
    add.flags = Named;
    function.nodes.push_back(add);
  }
}

Graph Drawer::draw() {
  graph.sizes = drawSizes(chance, settings);
  documents = chance.with(0.25);
  dropout = chance.with(0.35);
  annotated = chance.with(0.25);
  graph.flat = chance.with(0.2);
  int64_t count = chance.between(1, 3);
  for (int64_t i = 0; i < count; ++i) {
    Function function;
    // Whether it may call those before it.
    std::vector<Function> hidden;
    if (chance.with(0.5))
      std::swap(hidden, graph.functions);
    drawBlock(function, 1, 5, 0.3);
    function.results = {int(function.nodes.size())};
    if (chance.with(0.3))
      function.results.push_back(int(chance.between(0, function.nodes.size())));
    if (!hidden.empty())
      std::swap(hidden, graph.functions);
    graph.functions.push_back(std::move(function));
  }

  Function &main = graph.main;
  main.params = {ParamKind::Table, ParamKind::Row};
  graph.embeddingTable = 0;
  graph.finalRow = 1;
  double known = chance.of({0.0, 0.3, 0.6});
  count = chance.between(1, 3);
  for (int64_t i = 0; i < count; ++i) {
    if (chance.with(0.6)) {
      // The same function again and again, as layers are.
      int64_t repeats = chance.with(0.4) ? 2 : 1;
      Node call = drawNode(main, NodeKind::Call, known);
      for (int64_t r = 0; r < repeats; ++r) {
        Node again = drawNode(main, NodeKind::Call, known);
        again.a = again.b = int(main.nodes.size());
        again.callee = call.callee;
        again.params.clear();
        for (ParamKind k : graph.functions[call.callee].params)
          again.params.push_back(drawParam(main, k, known));
        main.nodes.push_back(std::move(again));
      }
    } else {
      drawBlock(main, 1, 3, known);
    }
  }
  main.results = {int(main.nodes.size())};
  graph.headTable = drawParam(main, ParamKind::Table, 0.5);
  graph.positionTable = chance.with(0.3);
  graph.extraLoss = chance.with(0.2);
  if (chance.with(0.15))
    graph.middleHead = int(chance.between(0, main.nodes.size()));
  graph.unusedParam = chance.with(0.15);
  graph.passEverything = chance.with(0.3);
  if (chance.with(0.25))
    graph.labelSmoothing = 0.125;
  graph.storage.resize(main.params.size());
  for (auto [storage, kind] : llvm::zip_equal(graph.storage, main.params)) {
    storage.transposed = chance.with(0.3);
    storage.merged = chance.with(0.3);
    if (annotated && chance.with(0.08))
      storage.sharding = drawSharding(chance, settings, getRank(kind));
  }
  return graph;
}

Graph dtc::fuzz::drawGraph(Chance &chance, const Settings &settings) {
  return Drawer(chance, settings).draw();
}
