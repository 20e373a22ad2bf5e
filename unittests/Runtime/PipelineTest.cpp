//===- PipelineTest.cpp - Executables with a pipeline, and their faults ---===//
//
// Runs PipelineProgram.cpp's executables in threads and under mpirun.
//
//===----------------------------------------------------------------------===//

#include "ProgramFixture.h"
#include "dtc/Runtime/Program.h"
#include "dtc/Runtime/Safetensors.h"

#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

using namespace dtc::rt;
using namespace dtc::test;
using Json = nlohmann::json;

namespace {

const std::string all = " --text text --steps 12 --log log --dump-grads grads "
                        "--save-weights weights ";

/// False: in threads, true: under mpirun.
class Pipeline : public Programs, public testing::WithParamInterface<bool> {
protected:
  void SetUp() override {
    Programs::SetUp();
    if (GetParam() && !haveMpirun())
      GTEST_SKIP() << "no Open MPI's mpirun";
  }
  Result runOn(int ranks, const std::string &command,
               const std::string &before = "") {
    return run(before + (GetParam() ? mpirun(ranks) : "") + command);
  }
  Json header() {
    std::string log = read("log");
    return Json::parse(log.substr(0, log.find('\n')));
  }
  Result runFault(const std::string &fault, const std::string &flags = "") {
    Result r = runOn(4,
                     "$P/pipeline-2x2 --text text --steps 1000 --log log "
                     "--save-weights w " +
                         flags,
                     "export FAKE_FAULT=" + fault + "; ");
    EXPECT_NE(r.status, 0);
    EXPECT_NE(r.status, 124) << "it hangs: " << r.output;
    EXPECT_EQ(r.errors(), 1) << r.output;
    EXPECT_LT(r.seconds, 15) << r.output;
    EXPECT_EQ(leftovers({"log"}), "");
    return r;
  }
  void expectMatch(const Result &r, const std::string &pattern) {
    EXPECT_TRUE(std::regex_search(r.output, std::regex(pattern))) << r.output;
  }
};

INSTANTIATE_TEST_SUITE_P(, Pipeline, testing::Bool(), [](auto &info) {
  return info.param ? "Mpi" : "Threads";
});

/// Weights, gradients and losses have the bits of the program without stages.
TEST_P(Pipeline, EqualsNoPipeline) {
  for (int dp : {1, 2}) {
    ASSERT_EQ(run(cat("$P/pipeline-1x", dp, all)).status, 0);
    std::string weights = read("weights"), grads = read("grads");
    auto losses = [&] {
      std::vector<Json> values;
      std::istringstream log(read("log"));
      for (std::string line; std::getline(log, line);) {
        Json step = Json::parse(line);
        if (step.contains("loss"))
          values.push_back({step["loss"], step["labels"], step["step"]});
      }
      return values;
    };
    std::vector<Json> before = losses();
    EXPECT_EQ(before.size(), 12u);
    EXPECT_FALSE(header().contains("planned_bytes_per_stage"));
    Result r = runOn(2 * dp, cat("$P/pipeline-2x", dp, all));
    ASSERT_EQ(r.status, 0) << r.output;
    EXPECT_EQ(read("weights"), weights);
    EXPECT_EQ(read("grads"), grads);
    EXPECT_EQ(losses(), before);
    Json stages = header()["planned_bytes_per_stage"];
    ASSERT_EQ(stages.size(), 2u);
    EXPECT_LT(stages[0], stages[1]);
    EXPECT_EQ(header()["planned_bytes"], stages[1]);
    int64_t sum = 0;
    const Json terms = header()["memory"];
    for (const auto &term : terms)
      sum += term.get<int64_t>();
    EXPECT_EQ(sum, stages[1]) << "the terms are those of the largest";
  }
}

/// Each logical tensor once, whichever stages have it.
TEST_P(Pipeline, WeightsRoundTrip) {
  ASSERT_EQ(run("$P/pipeline-1x1" + all).status, 0);
  std::string first = read("weights");
  SafetensorsFile file((folder / "weights").string());
  ASSERT_EQ(file.entries().size(), 3u);
  for (const char *name : {"wte.weight", "wpe.weight", "bias.weight"})
    EXPECT_TRUE(file.find(name)) << name;
  write("zero.json",
        R"({"lr": 0, "betas": [0.9, 0.95], "eps": 1e-8, "weight_decay": 0.1,
            "grad_clip": 1, "steps": 1, "batch": 8, "seq": 16})");
  const std::string use = "$P/pipeline-2x2 --config zero.json --text text ";
  Result r = runOn(4, use + "--weights weights --save-weights again");
  ASSERT_EQ(r.status, 0) << r.output;
  EXPECT_EQ(read("again"), first);

  // The whole model is checked, not what some rank needs.
  auto attempt = [&](const char *from, const char *to) {
    std::string bytes = first;
    size_t at = bytes.find(from);
    ASSERT_NE(at, std::string::npos);
    bytes.replace(at, strlen(from), to);
    write("bad", bytes);
    r = runOn(4, use + "--weights bad");
    EXPECT_EQ(r.status, 1) << r.output;
    EXPECT_EQ(r.errors(), 1) << r.output;
  };
  attempt("\"bias.weight\"", "\"bios.weight\"");
  EXPECT_HAS(r, "'bias.weight' of shape [256] is missing");
  attempt("\"wpe.weight\"", "\"wpx.weight\"");
  EXPECT_HAS(r, "'wpe.weight' of shape [16, 8] is missing");
}

/// One bit of one copy is enough, whether the copies are a tied weight's or
/// those of data-parallel ranks.
TEST_P(Pipeline, CopiesDiffer) {
  for (int bad : {1, 2, 3}) {
    Result r = runOn(4,
                     "$P/pipeline-2x2 --save-weights w" +
                         all.substr(0, all.find("--save")),
                     cat("export FAKE_FAULT=bit:", bad, ":11; "));
    EXPECT_EQ(r.status, 1);
    EXPECT_EQ(r.errors(), 1) << r.output;
    EXPECT_HAS(r, cat("rank ", bad,
                      "'s copy of 'wte.weight' differs from rank "
                      "0's: copies must have equal bits"));
    EXPECT_EQ(leftovers({"log", "grads"}), "");
  }
}

/// The first by the program's order, not by rank or by a rank's own order.
TEST_P(Pipeline, FirstBadGradient) {
  for (auto [fault, name] :
       {std::pair("nan:2:*", "bias.weight"), {"nan:1:*", "wpe.weight"}}) {
    Result r = runFault(fault, "--max-skipped 2");
    EXPECT_HAS(r, cat("first bad gradient: ", name));
    EXPECT_NE(read("log").find(cat("\"bad_tensor\": \"", name)),
              std::string::npos);
  }
}

TEST_P(Pipeline, RankStalls) {
  // Stage 0 waits for stage 1's gradients, or for it in a collective.
  Result r = runFault("sleep:3:4", "--timeout 1");
  expectMatch(r, "rank [0-2], step 4(, forward[a-z ]* of micro-batch [0-3] on "
                 "stage [01])?, '[a-z0-9: ]+' \\(.*: rank 3 did not arrive "
                 "within 1 s");
  if (!GetParam()) {
    EXPECT_HAS(r, "it is in step 4, forward and backward of micro-batch 0 on "
                  "stage 1, computing");
  }
}

/// Nobody else has anything to do with each other: the wait is a message's.
TEST_P(Pipeline, NeighbourStalls) {
  Result r = runOn(2, "$P/pipeline-2x1 --text text --steps 9 --timeout 1",
                   "export FAKE_FAULT=sleep:0:3; ");
  EXPECT_EQ(r.status, 1);
  EXPECT_EQ(r.errors(), 1) << r.output;
  expectMatch(r, "error: rank 1, step 3, 'stage 0 to 1: activations' \\(1024 "
                 "bytes from rank 0\\): rank 0 did not arrive within 1 s");
  r = runOn(2, "$P/pipeline-2x1 --text text --steps 9 --timeout 1",
            "export FAKE_FAULT=sleep:1:3; ");
  EXPECT_EQ(r.status, 1);
  expectMatch(r, "error: rank 0, step 3, 'stage 1 to 0: gradients' \\(1024 "
                 "bytes from rank 1\\): rank 1 did not arrive within 1 s");
}

TEST_P(Pipeline, RankThrows) {
  Result r = runFault("throw:2:5");
  EXPECT_HAS(r, "rank 2, step 5, forward and backward of micro-batch 0 on "
                "stage 1: a fault of the test");
}

TEST_P(Pipeline, SizesDiffer) {
  Result r = runFault("size:3:0");
  expectMatch(r, "rank [13] and rank [13] disagree about channel 0: ");
  EXPECT_HAS(r, "rank 3 has 'stage 0 to 1: halves' (256 bytes");
  EXPECT_HAS(r, "rank 1 has 'stage 0 to 1: activations' (512 bytes");
}

/// Before the first step. Processes wait in vain for an end that is not there.
TEST_P(Pipeline, AnEndIsNotOpened) {
  Result r = runFault("half:3:0", "--timeout 1");
  if (GetParam())
    EXPECT_HAS(r, "did not arrive within 1 s");
  else
    EXPECT_HAS(r, "rank 1 and rank 3 disagree about channel 1: rank 1 has "
                  "'stage 1 to 0: gradients' (512 bytes from rank 3), rank 3 "
                  "has none");
}

TEST_P(Pipeline, MessagesAreLeft) {
  Result r = runFault("forget:1:2");
  EXPECT_HAS(r, "rank 1, step 2: the step ends, 1 of 12 messages of 'stage 0 "
                "to 1: activations' (512 bytes to rank 3) are not waited for");
}

TEST_P(Pipeline, RankIsKilled) {
  if (!GetParam())
    GTEST_SKIP() << "threads die together";
  for (int rank : {1, 3}) {
    Result r = runFault(cat("kill:", rank, ":4"), "--timeout 10");
    EXPECT_HAS(r, "step 4");
    EXPECT_HAS(r, cat("rank ", rank, " died"));
    r = runFault(cat("stop:", rank, ":4"), "--timeout 1");
    EXPECT_HAS(r, cat("rank ", rank, " did not arrive within 1 s (process "));
    EXPECT_HAS(r, "is stopped)");
  }
}

TEST_P(Pipeline, Stops) {
  Result r = runOn(4,
                   cat("$P/pipeline-2x2 --text text --steps 100000 --log log "
                       "--trace trace & sleep ",
                       GetParam() ? 2 : 0.5, "; kill -TERM $!; wait $!"),
                   "export FAKE_FAULT=slow:1:*; ");
  // mpirun has a status of its own.
  EXPECT_EQ(r.status, GetParam() ? 1 : 128 + 15) << r.output;
  EXPECT_HAS(r, "stopped by SIGTERM after step");
  EXPECT_EQ(read("log").back(), '\n');
  EXPECT_FALSE(Json::parse(read("trace"))["traceEvents"].empty());
}

// Traces ---------------------------------------------------------------------

TEST_P(Pipeline, Trace) {
  Result r = runOn(4, "$P/pipeline-2x2 --trace trace" + all);
  ASSERT_EQ(r.status, 0) << r.output;
  EXPECT_EQ(header()["memory"]["trace"].get<int64_t>() % (1 << 17), 0);
  Json events = Json::parse(read("trace"))["traceEvents"];
  std::map<std::string, int> names;
  std::map<std::pair<int, int>, std::string> processes;
  std::map<std::pair<int, int>, std::vector<std::pair<double, double>>> lanes;
  std::map<std::tuple<int, int, std::string>, double> ends, begins;
  for (const Json &e : events) {
    int pid = e.at("pid").get<int>() - 1;
    if (e.at("ph") == "M") {
      if (e.at("name") == "process_name")
        processes[{pid, 0}] = e.at("args").at("name");
      continue;
    }
    ASSERT_EQ(e.at("ph"), "X");
    double ts = e.at("ts"), dur = e.at("dur");
    EXPECT_GE(ts, 0);
    EXPECT_GE(dur, 0);
    std::string cat = e.at("cat"), name = e.at("name");
    const Json &args = e.at("args");
    int step = args.at("step");
    bool action = cat.find("ward") != std::string::npos;
    EXPECT_EQ(e.at("tid"), cat == "step" || action ? 0 : 1);
    if (action) {
      EXPECT_EQ(args.at("stage"), pid / 2);
      EXPECT_EQ(args.at("chunk"), 0);
      int m = args.at("micro_batch");
      begins[{pid, step * 4 + m, cat}] = ts;
      ends[{pid, step * 4 + m, cat}] = ts + dur;
    }
    if (step == 3)
      ++names[std::to_string(pid) + " " + cat + " " + name];
    lanes[{pid, e.at("tid")}].push_back({ts, ts + dur});
  }
  EXPECT_EQ((processes[{3, 0}]), "rank 3 (pp=1, dp=1)");
  EXPECT_EQ(names["0 step step"], 1);
  // Stages' work has the names of schedules.
  for (const char *m : {"0", "1", "2", "3"}) {
    EXPECT_EQ(names[cat("1 forward F", m)], 1);
    EXPECT_EQ(names[cat("1 backward B", m)], 1);
  }
  EXPECT_EQ(names["2 forward and backward forward and backward"], 4);
  EXPECT_EQ(names["2 receive stage 0 to 1: activations"], 4);
  EXPECT_EQ(names["0 send stage 0 to 1: activations"], 4);
  EXPECT_EQ(names["0 sent stage 0 to 1: activations"], 4);
  EXPECT_EQ(names["3 post stage 0 to 1: activations"], 4);
  EXPECT_EQ(names["3 collective last gradients"], 1);
  EXPECT_EQ(lanes.size(), 8u);
  // The clocks of ranks agree: stage 1 computes after stage 0.
  for (int pid : {0, 1})
    for (int m = 0; m < 48; ++m) {
      double ended = ends.at({pid, m, "forward"});
      EXPECT_LE(ended, begins.at({pid + 2, m, "forward and backward"}));
      double back = ends.at({pid + 2, m, "forward and backward"});
      EXPECT_LE(back, begins.at({pid, m, "backward"}));
    }
  // What is on one lane is nested or apart.
  for (auto &[lane, spans] : lanes) {
    std::sort(spans.begin(), spans.end(), [](auto &a, auto &b) {
      return a.first != b.first ? a.first < b.first : a.second > b.second;
    });
    std::vector<double> open;
    for (auto &[from, to] : spans) {
      while (!open.empty() && open.back() <= from + 0.002)
        open.pop_back();
      EXPECT_TRUE(open.empty() || to <= open.back() + 0.002)
          << lane.first << " " << lane.second << " " << from << " " << to;
      open.push_back(to);
    }
  }
}

/// A rank's events have an end: whole steps, and it is said.
TEST_P(Pipeline, LongTrace) {
  if (GetParam())
    GTEST_SKIP() << "as in threads";
  Result r = run("FAKE_FAULT='many:1:*' $P/pipeline-2x1 --text text --steps "
                 "80 --trace trace");
  ASSERT_EQ(r.status, 0) << r.output;
  std::smatch match;
  ASSERT_TRUE(std::regex_search(
      r.output, match,
      std::regex("--trace: a rank's 131072 events are full: 'trace' has steps "
                 "0 to ([0-9]+)\n")))
      << r.output;
  int last = std::stoi(match[1]);
  std::map<int, int> perStep[2];
  const Json events = Json::parse(read("trace"))["traceEvents"];
  for (const Json &e : events)
    if (e.at("ph") == "X")
      ++perStep[e.at("pid").get<int>() - 1][e.at("args").at("step").get<int>()];
  for (auto &steps : perStep) {
    EXPECT_EQ(int(steps.size()), last + 1);
    EXPECT_EQ(steps.rbegin()->first, last);
    EXPECT_EQ(steps[last], steps[1]);
  }
}

} // namespace
