//===- FuzzTest.cpp - The fuzzer on mistakes that are planted -------------===//

#include "dtc/Dialect/DTC/IR/DTC.h"
#include "dtc/Tools/Fuzz/Shrink.h"
#include "dtc/Tools/Fuzz/Workers.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"
#include <csignal>
#include <unistd.h>

using namespace mlir;
using namespace dtc;
using namespace dtc::fuzz;

namespace {

class FuzzTest : public ::testing::Test {
protected:
  FuzzTest() {
    DialectRegistry registry;
    registerForChecks(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    llvm::SmallString<128> name;
    if (llvm::sys::fs::createUniqueDirectory("dtc-fuzz-test", name))
      ADD_FAILURE() << "cannot make a folder";
    folder = name.str().str();
  }
  ~FuzzTest() override { llvm::sys::fs::remove_directories(folder); }

  Outcome run(const Case &c, std::function<void(ModuleOp)> damage = {}) {
    auto model = printModel(c);
    if (!model) {
      Outcome refused;
      refused.verdict = Verdict::Refused;
      refused.message = llvm::toString(model.takeError());
      return refused;
    }
    CheckOptions options;
    options.dataSeed = c.dataSeed();
    options.folder = folder;
    options.damage = std::move(damage);
    return check(context, *model, c.settings, options);
  }

  /// The first case that the mistake makes fail, made smaller.
  Case findAndShrink(Verdict verdict, std::function<void(ModuleOp)> damage) {
    for (int64_t i = 0; i < 200; ++i) {
      Case c = drawCase(11, i);
      if (!c.graph || run(c, damage).verdict != verdict)
        continue;
      return shrink(c, 400,
                    [&](const Case &smaller) {
                      return run(smaller, damage).verdict == verdict;
                    })
          .smallest;
    }
    ADD_FAILURE() << "no case shows the mistake";
    return drawCase(11, 0);
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  std::string folder;
};

size_t countNodes(const Graph &graph, std::optional<NodeKind> kind = {}) {
  size_t n = 0;
  auto add = [&](const Function &function) {
    for (const Node &node : function.nodes)
      n += node.kind != NodeKind::Call && (!kind || node.kind == *kind);
  };
  add(graph.main);
  for (const Function &function : graph.functions)
    add(function);
  return n;
}

TEST_F(FuzzTest, CasesAreTheSameEveryTime) {
  for (int64_t i = 0; i < 20; ++i) {
    auto one = printModel(drawCase(5, i)), two = printModel(drawCase(5, i)),
         other = printModel(drawCase(6, i));
    ASSERT_EQ(bool(one), bool(two));
    if (one) {
      EXPECT_EQ(*one, *two);
      if (other)
        EXPECT_NE(*one, *other);
    }
    for (auto *e : {&one, &two, &other})
      if (!*e)
        llvm::consumeError(e->takeError());
  }
}

/// What the generator promises to draw.
TEST_F(FuzzTest, EverythingIsDrawn) {
  std::set<NodeKind> kinds;
  unsigned flags = 0;
  int imported = 0, flat = 0, rules = 0, annotated = 0, shared = 0, grouped = 0;
  for (int64_t i = 0; i < 400; ++i) {
    Case c = drawCase(3, i);
    rules += !c.settings.rules.empty();
    imported += c.imported.has_value();
    if (!c.graph)
      continue;
    flat += c.graph->flat;
    shared += c.graph->embeddingTable == c.graph->headTable;
    grouped += c.graph->sizes.kvHeads < c.graph->sizes.heads;
    auto look = [&](const Function &function) {
      for (const Node &node : function.nodes) {
        kinds.insert(node.kind);
        flags |= node.flags;
        annotated += !node.sharding.empty();
      }
    };
    look(c.graph->main);
    for (const Function &function : c.graph->functions)
      look(function);
  }
  EXPECT_EQ(kinds.size(), numNodeKinds);
  EXPECT_EQ(flags, 255u);
  for (int n : {imported, flat, rules, annotated, shared, grouped})
    EXPECT_GT(n, 20);
}

/// A mask that the partitioned program lacks.
TEST_F(FuzzTest, FindsAMissingMask) {
  Case c = findAndShrink(Verdict::Differs, [](ModuleOp module) {
    module.walk([](AttentionOp op) { op.setCausal(false); });
  });
  ASSERT_TRUE(c.graph);
  EXPECT_EQ(countNodes(*c.graph), 1u) << printGraph(*c.graph);
  EXPECT_EQ(countNodes(*c.graph, NodeKind::Attention), 1u);
  EXPECT_EQ(c.settings.numRanks(), 1);
  EXPECT_TRUE(c.settings.rules.empty());
}

/// A sum over the ranks of tp that is lost, as a wrong transposition loses it:
/// the types still fit, the copies do not.
TEST_F(FuzzTest, FindsALostSum) {
  auto damage = [](ModuleOp module) {
    module.walk([](GOp op) {
      if (op.getAxes().getAxes()[0].name != "tp")
        return;
      OpBuilder b(op);
      auto from = cast<DTensorType>(op.getInput().getType());
      Value zero = ScaleOp::create(b, op.getLoc(), from, op.getInput(),
                                   llvm::APFloat(0.5));
      op.getInputMutable().assign(zero);
    });
  };
  Case c = findAndShrink(Verdict::Differs, damage);
  EXPECT_EQ(c.settings.tp, 2);
  EXPECT_EQ(c.settings.numRanks(), 2);
  ASSERT_TRUE(c.graph);
  EXPECT_LE(countNodes(*c.graph), 1u) << printGraph(*c.graph);
}

TEST_F(FuzzTest, RefusalsAreNoFailures) {
  Case c = drawCase(3, 0);
  c.settings = Settings();
  c.settings.tp = 5;
  while (!c.graph || c.graph->flat ||
         countNodes(*c.graph, NodeKind::Attention) == 0) {
    c = drawCase(3, c.number + 1);
    c.settings = Settings();
    c.settings.tp = 5;
  }
  c.graph->sizes.heads = c.graph->sizes.kvHeads = 4;
  Outcome outcome = run(c);
  EXPECT_EQ(outcome.verdict, Verdict::Refused) << outcome.message;
  EXPECT_NE(outcome.message.find("tp=5 does not divide 4 ("), std::string::npos)
      << outcome.message;
}

/// A worker that dies or hangs takes its own case with it, and no other.
TEST_F(FuzzTest, WorkersSurviveCrashes) {
  WorkerOptions options;
  options.folder = folder;
  options.jobs = 2;
  options.secondsPerCase = 2;
  std::map<int64_t, Outcome> outcomes;
  runCases(
      10, 18, options,
      [](MLIRContext &, int64_t i, const std::string &) {
        if (i == 12) {
          signal(SIGSEGV, SIG_DFL); // a sanitizer's handler would exit
          raise(SIGSEGV);
        }
        if (i == 13)
          _exit(7);
        while (i == 15)
          pause();
        Outcome o;
        o.message = "case " + std::to_string(i);
        o.compiled = i % 2;
        return o;
      },
      [&](int64_t i, const Outcome &o) {
        EXPECT_TRUE(outcomes.insert({i, o}).second);
        return true;
      });
  ASSERT_EQ(outcomes.size(), 8u);
  for (auto &[i, o] : outcomes) {
    Verdict want = i == 12 || i == 13 ? Verdict::Crashed
                   : i == 15          ? Verdict::TimedOut
                                      : Verdict::Agrees;
    EXPECT_EQ(o.verdict, want) << i << ": " << o.message;
    if (want == Verdict::Agrees) {
      EXPECT_EQ(o.message, "case " + std::to_string(i));
      EXPECT_EQ(o.compiled, i % 2 == 1);
    }
  }
  EXPECT_NE(outcomes[12].message.find("Segmentation"), std::string::npos);
  EXPECT_NE(outcomes[13].message.find("status 7"), std::string::npos);
}

TEST_F(FuzzTest, StopsWhereToldTo) {
  WorkerOptions options;
  options.folder = folder;
  int count = 0;
  runCases(
      0, 100, options,
      [](MLIRContext &, int64_t, const std::string &) { return Outcome(); },
      [&](int64_t, const Outcome &) { return ++count < 5; });
  EXPECT_EQ(count, 5);
}

} // namespace
