//===- Shrink.cpp - Smaller cases that fail in the same way ---------------===//
//
// A case is a plain value: a step copies it, changes one thing, and keeps the
// copy if it still fails. What removes most is tried first.
//
//===----------------------------------------------------------------------===//

#include "dtc/Tools/Fuzz/Shrink.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace dtc::fuzz;

namespace {

class Shrinker {
public:
  Shrinker(const Case &failing, unsigned most,
           function_ref<bool(const Case &)> fails)
      : most(most), fails(fails) {
    result.smallest = failing;
  }

  ShrinkResult run() {
    unsigned before;
    do {
      before = result.accepted;
      shrinkSettings();
      if (result.smallest.graph)
        shrinkGraph();
      if (result.smallest.imported)
        shrinkImported();
      shrinkSizes();
    } while (result.accepted > before && result.tried < most);
    return result;
  }

private:
  /// Tries a change, which says whether it did anything.
  bool attempt(function_ref<bool(Case &)> change) {
    if (result.tried >= most)
      return false;
    Case next = result.smallest;
    if (!change(next))
      return false;
    ++result.tried;
    if (!fails(next))
      return false;
    result.smallest = std::move(next);
    ++result.accepted;
    return true;
  }
  template <typename T, typename Get> bool reset(Get get, T to) {
    return attempt([&](Case &c) {
      auto &field = get(c);
      if (field == to)
        return false;
      field = to;
      return true;
    });
  }
  /// Tries a field's smaller values, the smallest first.
  template <typename Get> void lower(Get get, int64_t least) {
    for (int64_t n = least; n < get(result.smallest); ++n)
      if (attempt([&](Case &c) {
            get(c) = n;
            return true;
          }))
        return;
  }

  void shrinkSettings();
  void shrinkSizes();
  void shrinkImported();
  void shrinkGraph();
  void dropNodes(int function);
  void simplifyNodes(int function);
  void simplifyGraph();

  /// A function of the graph; -1 is the main one.
  static Function &getFunction(Graph &graph, int index) {
    return index < 0 ? graph.main : graph.functions[index];
  }

  ShrinkResult result;
  unsigned most;
  function_ref<bool(const Case &)> fails;
};

} // namespace

void Shrinker::shrinkSettings() {
  auto axis = [&](int64_t Settings::*member) {
    lower([member](Case &c) -> int64_t & { return c.settings.*member; }, 1);
  };
  axis(&Settings::dp);
  axis(&Settings::cp);
  axis(&Settings::tp);
  axis(&Settings::microbatches);
  axis(&Settings::pp);
  const Settings usual;
  auto flag = [&](auto Settings::*member) {
    reset([member](Case &c) -> auto & { return c.settings.*member; },
          usual.*member);
  };
  flag(&Settings::precision);
  flag(&Settings::gradType);
  flag(&Settings::rules);
  flag(&Settings::sequenceParallel);
  flag(&Settings::gatherAgain);
  flag(&Settings::recompute);
  flag(&Settings::zero);
  flag(&Settings::zero3Reshard);
  flag(&Settings::schedule);
  flag(&Settings::cpLayout);
  flag(&Settings::cpAttention);
  flag(&Settings::bucketBytes);
  // Lines of rules, one by one.
  for (size_t begin = 0; begin < result.smallest.settings.rules.size();) {
    size_t end = result.smallest.settings.rules.find('\n', begin);
    if (end == std::string::npos)
      break;
    if (!attempt([&](Case &c) {
          c.settings.rules.erase(begin, end + 1 - begin);
          return true;
        }))
      begin = end + 1;
  }
}

void Shrinker::shrinkSizes() {
  auto size = [&](int64_t Sizes::*member, int64_t least) {
    lower([member](Case &c) -> int64_t & { return c.sizes().*member; }, least);
  };
  // Both kinds of heads together, as one must divide the other.
  for (int64_t n = 1; n < result.smallest.sizes().heads; ++n)
    if (attempt([&](Case &c) {
          c.sizes().heads = c.sizes().kvHeads = n;
          return true;
        }))
      break;
  size(&Sizes::kvHeads, 1);
  size(&Sizes::batch, 1);
  size(&Sizes::seq, 1);
  size(&Sizes::embed, 1);
  size(&Sizes::mlp, 1);
  size(&Sizes::vocab, 2);
  size(&Sizes::experts, 1);
  if (result.smallest.sizes().headDim > 2)
    attempt([](Case &c) {
      c.sizes().headDim = 2;
      return true;
    });
}

void Shrinker::shrinkImported() {
  lower([](Case &c) -> int64_t & { return c.imported->layers; }, 1);
  const Imported usual;
  auto flag = [&](auto Imported::*member) {
    reset([member](Case &c) -> auto & { return (*c.imported).*member; },
          usual.*member);
  };
  flag(&Imported::dropout);
  flag(&Imported::documents);
  flag(&Imported::bias);
  flag(&Imported::tied);
  flag(&Imported::activation);
  flag(&Imported::labelSmoothing);
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

/// Takes node n of a function out; one of its operands stands for its result.
static void dropNode(Graph &graph, Function &function, int n, bool first) {
  const Node &dropped = function.nodes[n];
  int operand = first ? dropped.a : dropped.b, value = n + 1;
  auto rename = [&](int &v) {
    if (v == value)
      v = operand;
    else if (v > value)
      --v;
  };
  if (&function == &graph.main && graph.middleHead >= 0)
    rename(graph.middleHead);
  function.nodes.erase(function.nodes.begin() + n);
  for (Node &node : function.nodes) {
    rename(node.a);
    rename(node.b);
  }
  for (int &v : function.results)
    rename(v);
}

/// Drops half of the nodes, then a quarter, ... then one by one, from the end.
void Shrinker::dropNodes(int f) {
  auto count = [&] {
    return int(getFunction(*result.smallest.graph, f).nodes.size());
  };
  for (int n = std::max(1, count() / 2);; n /= 2) {
    for (int end = count(); end > 0; end -= n)
      for (bool first : {true, false})
        if (attempt([&](Case &c) {
              Function &function = getFunction(*c.graph, f);
              if (end > int(function.nodes.size()))
                return false;
              for (int i = end; i > std::max(0, end - n); --i)
                dropNode(*c.graph, function, i - 1, first);
              return true;
            }))
          break;
    if (n <= 1)
      return;
  }
}

/// Nodes with fewer flags and operands.
void Shrinker::simplifyNodes(int f) {
  for (size_t n = 0; n < getFunction(*result.smallest.graph, f).nodes.size();
       ++n) {
    auto node = [f, n](Case &c) -> Node & {
      return getFunction(*c.graph, f).nodes[n];
    };
    reset([&](Case &c) -> auto & { return node(c).sharding; },
          std::vector<std::string>());
    for (unsigned flag : {WithBias, WithRotary, WithDocuments, WithDropout,
                          WithHeadNorm, Causal, NamedInside, Named})
      attempt([&](Case &c) {
        unsigned &flags = node(c).flags;
        if (!(flags & flag))
          return false;
        flags &= ~flag;
        return true;
      });
    attempt([&](Case &c) {
      Node &x = node(c);
      if (x.a == x.b)
        return false;
      x.b = x.a;
      return true;
    });
    reset([&](Case &c) -> int & { return node(c).variant; }, 0);
    // A linear op in place of whatever this is.
    attempt([&](Case &c) {
      Node &x = node(c);
      if (x.kind == NodeKind::Scale)
        return false;
      x.kind = NodeKind::Scale;
      x.params.clear();
      return true;
    });
  }
}

void Shrinker::simplifyGraph() {
  auto flag = [&](auto Graph::*member, auto usual) {
    reset([member](Case &c) -> auto & { return (*c.graph).*member; }, usual);
  };
  flag(&Graph::middleHead, -1);
  flag(&Graph::extraLoss, false);
  flag(&Graph::positionTable, false);
  flag(&Graph::unusedParam, false);
  flag(&Graph::passEverything, false);
  flag(&Graph::flat, false);
  flag(&Graph::labelSmoothing, 0.0);
  for (size_t i = 0; i < result.smallest.graph->storage.size(); ++i)
    attempt([&](Case &c) {
      Storage &s = c.graph->storage[i];
      bool any = s.transposed || s.merged || !s.sharding.empty();
      s = Storage();
      return any;
    });
}

void Shrinker::shrinkGraph() {
  dropNodes(-1);
  simplifyGraph();
  auto functions = int(result.smallest.graph->functions.size());
  for (int f = functions - 1; f >= 0; --f) {
    dropNodes(f);
    attempt([&](Case &c) {
      Function &function = c.graph->functions[f];
      if (function.results.size() < 2)
        return false;
      function.results.pop_back();
      return true;
    });
  }
  simplifyNodes(-1);
  for (int f = functions - 1; f >= 0; --f)
    simplifyNodes(f);
  // Functions that nobody calls.
  for (int f = functions - 1; f >= 0; --f)
    attempt([&](Case &c) {
      Graph &graph = *c.graph;
      auto calls = [&](const Function &function) {
        return llvm::any_of(function.nodes, [&](const Node &n) {
          return n.kind == NodeKind::Call && n.callee == f;
        });
      };
      if (calls(graph.main) || llvm::any_of(graph.functions, calls))
        return false;
      graph.functions.erase(graph.functions.begin() + f);
      auto renumber = [&](Function &function) {
        for (Node &n : function.nodes)
          if (n.callee > f)
            --n.callee;
      };
      renumber(graph.main);
      for (Function &function : graph.functions)
        renumber(function);
      return true;
    });
}

ShrinkResult dtc::fuzz::shrink(const Case &failing, unsigned most,
                               function_ref<bool(const Case &)> fails) {
  return Shrinker(failing, most, fails).run();
}
