//===- ScheduledTest.cpp - Programs in the order of a schedule ------------===//
//
// Steps that are cut in stages give the same bits in every schedule, and wrong
// schedules, also such as the verifier of schedules refuses, are seen when the
// program is run.
//
//===----------------------------------------------------------------------===//

#include "dtc/Interpreter/Interpreter.h"
#include "dtc/Schedule/Generate.h"
#include "dtc/Schedule/Text.h"
#include "dtc/Transforms/Pipelines.h"
#include "dtc/Transforms/Stages.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"
#include <set>

using namespace mlir;
using namespace dtc;
using schedule::Action;
using schedule::ActionKind;
using schedule::Kind;
using schedule::Schedule;

namespace {

MLIRContext &getContext() {
  static MLIRContext *context = [] {
    DialectRegistry registry;
    registry.insert<DTCDialect, func::FuncDialect>();
    auto *ctx = new MLIRContext(registry, MLIRContext::Threading::DISABLED);
    ctx->loadAllAvailableDialects();
    return ctx;
  }();
  return *context;
}

/// A whole step, cut in stages.
class Program {
public:
  Program(const std::string &model, const std::string &mesh, int64_t stages,
          int64_t microbatches, bool split)
      : data(7) {
    std::string file = std::string(DTC_MODELS) + "/" + model + ".mlir";
    module = parseSourceFile<ModuleOp>(file, &getContext());
    if (!module)
      return;
    data.vocabulary = ProgramData::getVocabulary(*module);
    TrainingPipelineOptions options;
    options.mesh = mesh;
    options.stages = stages;
    options.microbatches = microbatches;
    options.splitBackward = split;
    PassManager pm(&getContext());
    buildTrainingPipeline(pm, options);
    if (failed(pm.run(*module)) || failed(verify(*module)))
      module = nullptr;
  }

  explicit operator bool() const { return static_cast<bool>(module); }

  MicroBatchesOp getLoop() {
    MicroBatchesOp loop;
    module->walk([&](MicroBatchesOp op) { loop = op; });
    return loop;
  }

  /// The edges that the program's values go along.
  schedule::StageGraph getGraph() {
    std::set<std::pair<int64_t, int64_t>> pairs, gradients;
    std::function<void(Value, int64_t)> see = [&](Value v, int64_t user) {
      Operation *def = v.getDefiningOp();
      if (!def || def->getBlock() != &getLoop().getBody().front())
        return;
      auto stage = getStageOf(def);
      if (!stage) {
        for (Value x : def->getOperands())
          see(x, user);
        return;
      }
      if (stage->first == user)
        return;
      auto pair = std::minmax(stage->first, user);
      pairs.insert(pair);
      if (stage->second != Phase::Forward)
        gradients.insert(pair);
    };
    for (func::CallOp call : getStageCalls(getLoop()))
      for (Value v : call.getOperands())
        see(v, *getStage(call));
    schedule::StageGraph graph;
    for (auto [from, to] : pairs)
      graph.edges.push_back({from, to, gradients.count({from, to}) > 0});
    return graph;
  }

  using Numbers = std::map<std::string, Array>;
  LogicalResult run(std::optional<Schedule> schedule, Numbers &numbers) {
    Interpreter interpreter(*module, &data);
    interpreter.schedule = std::move(schedule);
    if (failed(interpreter.run()))
      return failure();
    for (const auto *list :
         {&interpreter.getOutputs(), &interpreter.getWrites()})
      for (const Interpreter::Named &x : *list)
        numbers[x.name] = x.value;
    return success();
  }

  /// The error of a run.
  std::string getError(const Schedule &schedule) {
    std::string text;
    ScopedDiagnosticHandler handler(&getContext(), [&](Diagnostic &d) {
      text += d.str() + "\n";
      return success();
    });
    Numbers numbers;
    return failed(run(schedule, numbers)) ? text : "no error";
  }

  ProgramData data;
  OwningOpRef<ModuleOp> module;
};

Schedule generate(Kind kind, int64_t pp, int64_t chunks, int64_t microbatches,
                  const schedule::StageGraph &graph) {
  auto placement =
      schedule::getPlacement(kind, pp, kind == Kind::Interleaved ? chunks : 0);
  EXPECT_TRUE(static_cast<bool>(placement));
  auto out = schedule::generate(kind, *placement, microbatches, graph);
  EXPECT_TRUE(static_cast<bool>(out));
  return *out;
}

struct Case {
  Kind kind;
  int64_t pp, chunks, microbatches;
  const char *mesh;
};

const Case cases[] = {
    {Kind::GPipe, 2, 1, 4, "pp=2"},
    {Kind::OneF1B, 2, 1, 1, "pp=2"},
    {Kind::OneF1B, 2, 1, 4, "pp=2,tp=2"},
    {Kind::OneF1B, 3, 1, 2, "pp=3,dp=2"},
    {Kind::OneF1B, 4, 1, 4, "pp=4"},
    {Kind::Interleaved, 2, 2, 2, "pp=2"},
    {Kind::Interleaved, 2, 3, 4, "pp=2"},
    {Kind::ZeroBubbleH1, 2, 1, 4, "pp=2"},
    {Kind::ZeroBubbleH1, 4, 1, 2, "pp=4,tp=2"},
    {Kind::ZeroBubbleV, 2, 2, 4, "pp=2"},
    {Kind::ZeroBubbleV, 3, 2, 2, "pp=3,dp=2"},
};

bool splits(Kind kind) {
  return kind == Kind::ZeroBubbleH1 || kind == Kind::ZeroBubbleV;
}

} // namespace

/// Every schedule adds micro-batches in the same order, so nothing differs.
TEST(Scheduled, EqualsTheLoopInOrder) {
  bool skipped = false;
  for (const char *model : {"gpt2", "llama"})
    for (const Case &c : cases) {
      std::string name = std::string(model) + " " + c.mesh + " " +
                         schedule::getName(c.kind).str();
      Program program(model, c.mesh, c.pp * c.chunks, c.microbatches,
                      splits(c.kind));
      ASSERT_TRUE(program) << name;
      Schedule schedule =
          generate(c.kind, c.pp, c.chunks, c.microbatches, program.getGraph());
      for (const schedule::Edge &edge : schedule.graph.edges)
        skipped |= edge.to > edge.from + 1;
      Program::Numbers want, got;
      ASSERT_TRUE(succeeded(program.run(std::nullopt, want))) << name;
      ASSERT_TRUE(succeeded(program.run(schedule, got))) << name;
      ASSERT_EQ(want.size(), got.size()) << name;
      for (const auto &[what, x] : want)
        EXPECT_EQ(getMaxError(x, got[what]), 0) << name << ": " << what;
    }
  EXPECT_TRUE(skipped) << "no value has skipped a stage";
}

namespace {

/// 1F1B of two stages and four micro-batches, and what may be wrong with it.
class Wrong : public ::testing::Test {
protected:
  Wrong() : program("gpt2", "pp=2", 2, 4, false) {}

  void SetUp() override {
    ASSERT_TRUE(program);
    schedule = generate(Kind::OneF1B, 2, 1, 4, program.getGraph());
  }
  /// The first action of a list that prints so.
  std::vector<Action>::iterator find(int64_t rank, const std::string &text) {
    auto it = llvm::find_if(schedule.ranks[rank], [&](const Action &a) {
      return schedule::toString(schedule, a) == text;
    });
    EXPECT_NE(it, schedule.ranks[rank].end()) << text;
    return it;
  }
  void erase(int64_t rank, const std::string &text) {
    schedule.ranks[rank].erase(find(rank, text));
  }
  void swap(int64_t rank, const std::string &a, const std::string &b) {
    std::iter_swap(find(rank, a), find(rank, b));
  }
  void expectError(const std::string &part) {
    std::string error = program.getError(schedule);
    EXPECT_NE(error.find(part), std::string::npos) << error;
  }

  Program program;
  Schedule schedule;
};

} // namespace

TEST_F(Wrong, MissingWait) {
  erase(1, "wait1:0>1");
  expectError("rank 1: stage 1 uses a value of stage 0 (forward) for "
              "micro-batch 1, which has not been received");
}

TEST_F(Wrong, SentBeforeItIsMade) {
  swap(0, "F1", "send1:0>1");
  expectError("rank 0, send1:0>1: stage 0 has not computed it");
}

TEST_F(Wrong, BackwardBeforeForward) {
  swap(0, "F0", "B0");
  expectError("has not been ");
}

TEST_F(Wrong, Deadlock) {
  // Rank 0 waits for a gradient before it sends what it depends on.
  swap(0, "send0:0>1", "wait0:1>0");
  expectError("never goes on: rank 0 waits at wait0:1>0 rank 1 waits at "
              "wait0:0>1");
}

TEST_F(Wrong, WaitWithoutPost) {
  erase(0, "post0:1>0");
  expectError("rank 0, wait0:1>0: no receive is posted");
}

TEST_F(Wrong, Twice) {
  auto it = find(0, "F2");
  schedule.ranks[0].insert(it, *it);
  expectError("rank 0, F2: has run before");
}

TEST_F(Wrong, Never) {
  erase(1, "send3:1>0");
  erase(0, "wait3:1>0");
  erase(0, "B3");
  expectError("never runs stage 0 (backward) for micro-batch 3");
}

TEST_F(Wrong, OtherProgram) {
  schedule = generate(Kind::OneF1B, 2, 1, 3, program.getGraph());
  expectError("runs 4 micro-batches, but schedule '1f1b' is for 3");
  schedule = generate(Kind::OneF1B, 3, 1, 4, {});
  expectError("has no stage 2, but schedule '1f1b' has 3 stages");
  schedule = generate(Kind::ZeroBubbleH1, 2, 1, 4, program.getGraph());
  expectError("the program's backward of stage 1 is whole");
  Program split("gpt2", "pp=2", 2, 4, true);
  schedule = generate(Kind::OneF1B, 2, 1, 4, program.getGraph());
  EXPECT_NE(split.getError(schedule).find(
                "the program's backward of stage 1 is split"),
            std::string::npos);
}
