//===- ProgramsTest.cpp - Executables on the runtime, and their faults ----===//
//
// Runs FakeProgram.cpp's executables in threads and, where it is installed,
// under Open MPI's mpirun.
//
//===----------------------------------------------------------------------===//

#include "ProgramFixture.h"
#include "dtc/Runtime/Safetensors.h"

#include <csignal>
#include <cstring>
#include <random>

using namespace dtc::rt;
using namespace dtc::test;

// Of its own: both GoogleTest's library and the runtime have one to offer.
int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

namespace {

const std::string all = " --text text --steps 12 --log log --dump-grads grads "
                        "--save-weights weights ";

TEST_F(Programs, MeshesAgree) {
  for (const char *mesh : {"1x1", "2x1", "2x2", "8x2"}) {
    Result r =
        run(std::string("$P/fake-") + mesh +
            " --text text --steps 12 --log log." + mesh +
            " --dump-grads=grads." + mesh + " --save-weights=weights." + mesh);
    ASSERT_EQ(r.status, 0) << r.output;
  }
  for (const std::string mesh : {"2x1", "2x2", "8x2"}) {
    expectEqualTensors("grads.1x1", "grads." + mesh, 1e-6);
    expectEqualTensors("weights.1x1", "weights." + mesh, 1e-5);
  }
  std::string log = read("log.2x2");
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 13);
  EXPECT_NE(log.find("\"planned_bytes\":"), std::string::npos);
}

TEST_F(Programs, SixteenRanksAreQuick) {
  Result r = run("$P/fake-8x2 --text text --steps 50");
  EXPECT_EQ(r.status, 0) << r.output;
  EXPECT_LT(r.seconds, 10);
}

TEST_F(Programs, EqualBits) {
  auto bits = [&](const std::string &flags) {
    Result r = run("$P/fake-2x2" + all + flags);
    EXPECT_EQ(r.status, 0) << r.output;
    return read("grads") + read("weights");
  };
  std::string reference = bits("");
  EXPECT_EQ(bits(""), reference);
  EXPECT_EQ(bits("--threads 2"), reference);
  EXPECT_NE(bits("--seed 1"), reference);
  run("DTC_POISON_ARENA=1 $P/fake-2x2" + all);
  EXPECT_EQ(read("grads") + read("weights"), reference);
  if (!haveMpirun())
    GTEST_SKIP() << "no Open MPI's mpirun: not compared with it";
  run(mpirun(4) + "$P/fake-2x2" + all);
  EXPECT_EQ(read("grads") + read("weights"), reference);
  run("$P/fake-2x2 --collectives=ring" + all);
  expectEqualTensors("grads", "grads", 0);
  std::string ring = read("weights");
  run(mpirun(4) + "$P/fake-2x2 --collectives ring" + all);
  EXPECT_EQ(read("weights"), ring);
}

TEST_F(Programs, WeightsRoundTrip) {
  ASSERT_EQ(run("$P/fake-2x2" + all).status, 0);
  std::string first = read("weights");
  // A learning rate of 0 changes nothing: what is loaded is what is saved.
  write("zero.json",
        R"({"lr": 0, "betas": [0.9, 0.95], "eps": 1e-8, "weight_decay": 0.1,
            "grad_clip": 1, "steps": 1, "batch": 8, "seq": 16})");
  for (const char *mesh : {"1x1", "2x2", "8x2"}) {
    Result r = run(std::string("$P/fake-") + mesh +
                   " --weights weights --config zero.json --text text "
                   "--save-weights again");
    ASSERT_EQ(r.status, 0) << r.output;
    EXPECT_EQ(read("again"), first) << mesh;
  }
}

TEST_F(Programs, BadWeights) {
  ASSERT_EQ(run("$P/fake-1x1 --text text --steps 1 --save-weights good").status,
            0);
  std::string good = read("good");
  auto attempt = [&](const std::string &from, const std::string &to) {
    std::string bytes = good;
    size_t at = bytes.find(from);
    EXPECT_NE(at, std::string::npos);
    EXPECT_EQ(from.size(), to.size());
    bytes.replace(at, from.size(), to);
    write("bad", bytes);
    Result r = run("$P/fake-2x2 --weights bad --text text --steps 1 --log log");
    EXPECT_EQ(r.status, 1) << r.output;
    EXPECT_EQ(r.errors(), 1) << r.output;
    EXPECT_FALSE(exists("log"));
    return r;
  };
  EXPECT_HAS(attempt("\"head.weight\"", "\"hoad.weight\""),
             "'head.weight' of shape [257, 8] is missing");
  EXPECT_HAS(attempt("[2,257]", "[257,2]"),
             "'bias' has shape [257, 2], the model's has [2, 257]");
  EXPECT_HAS(attempt("{\"format\"", "{\"\"ormat\""), "not valid JSON");

  // With the prefix, with buffers, with a redundant copy; then without.
  auto make =
      [&](const std::string &path,
          std::vector<std::pair<std::string, std::vector<int64_t>>> items,
          float copyChange) {
        std::vector<SafetensorsWriter::Item> list;
        for (auto &[name, shape] : items)
          list.push_back({name, shape});
        SafetensorsWriter writer((folder / path).string(), list);
        for (auto &[name, shape] : items) {
          int64_t n = 1;
          for (int64_t d : shape)
            n *= d;
          std::vector<float> data(static_cast<size_t>(n), 0.01f);
          if (name == "copy.weight")
            data.back() += copyChange;
          writer.write(data.data(), n);
        }
        writer.finish();
      };
  std::vector<std::pair<std::string, std::vector<int64_t>>> items = {
      {"transformer.wte.weight", {257, 8}},
      {"head.weight", {257, 8}},
      {"bias", {2, 257}},
      {"transformer.h.0.attn.bias", {1, 1, 4, 4}},
      {"copy.weight", {257, 8}}};
  const std::string use = "$P/fake-2x2 --text text --steps 1 --weights ";
  make("w", items, 0);
  EXPECT_EQ(run(use + "w").status, 0);
  make("w", items, 1);
  EXPECT_HAS(run(use + "w"), "'copy.weight' is tied to 'transformer.wte.weight'"
                             " and must equal it, but element 2055");
  items.back() = {"extra.weight", {1}};
  make("w", items, 0);
  EXPECT_HAS(run(use + "w"), "'extra.weight' of shape [1] is superfluous");

  // Shards behind an index.
  items.resize(3);
  std::filesystem::create_directories(folder / "sharded");
  make("sharded/a.safetensors", {items[0]}, 0);
  make("sharded/b.safetensors", {items[1], items[2]}, 0);
  const char *const index =
      R"({"weight_map": {"transformer.wte.weight": "a.safetensors",
          "head.weight": "b.safetensors", "bias": "%s.safetensors"}})";
  char text[512];
  snprintf(text, sizeof(text), index, "b");
  write("sharded/model.safetensors.index.json", text);
  EXPECT_EQ(run(use + "sharded").status, 0);
  EXPECT_EQ(run(use + "sharded/model.safetensors.index.json").status, 0);
  snprintf(text, sizeof(text), index, "a");
  write("sharded/model.safetensors.index.json", text);
  EXPECT_HAS(run(use + "sharded"), "which the index does not say");
  std::filesystem::remove(folder / "sharded/model.safetensors.index.json");
  EXPECT_HAS(run(use + "sharded"), "neither model.safetensors nor an index");
}

TEST_F(Programs, CommandLine) {
  Result help = run("$P/fake-2x2 --help");
  EXPECT_EQ(help.status, 0);
  EXPECT_HAS(help, "--collectives KIND");
  Result r = run("$P/fake-2x2 --text text --steps 1 --ranks 3");
  EXPECT_EQ(r.status, 1);
  EXPECT_HAS(r, "fake-2x2: error: --ranks=3: the program is compiled for 4 "
                "ranks (dp=2,tp=2)");
  EXPECT_HAS(run("$P/fake-no-feature --text text --steps 1"),
             "this processor lacks avx999");
  EXPECT_HAS(run("$P/fake-1x1 --text text"), "give --steps N");
  EXPECT_HAS(run("$P/fake-1x1 --text none --steps 1"), "cannot open 'none'");
  EXPECT_HAS(run("$P/fake-1x1 --text . --steps 1"), "not a regular file");
  EXPECT_HAS(run("$P/fake-1x1 --text text --steps 1 --log no/log"),
             "--log: cannot create 'no/log'");
  EXPECT_HAS(run("$P/fake-1x1 --text text --steps 1 --log x --save-weights x"),
             "--log and --save-weights name the same file");
  EXPECT_HAS(run("$P/fake-1x1 --text text --steps 1 --threads 1000000"),
             "--threads: '1000000' is not an integer from 1 to ");
  EXPECT_EQ(leftovers(), "");
}

/// Neither the file to train on nor its settings are ever overwritten.
TEST_F(Programs, OutputsAreNoInputs) {
  write("config", R"({"lr": 1, "betas": [0.9, 0.95], "eps": 1e-8, "steps": 1,
        "weight_decay": 0.1, "grad_clip": 1, "batch": 8, "seq": 16})");
  ASSERT_EQ(run("$P/fake-1x1 --text text --steps 1 --save-weights w; ln -s "
                "text link")
                .status,
            0);
  const std::string text = read("text"), weights = read("w");
  for (const char *flag :
       {"--log", "--save-weights", "--dump-grads", "--trace", "--profile"})
    for (auto [path, input] : {std::pair("./text", "--text"),
                               {"link", "--text"},
                               {"config", "--config"},
                               {"w", "--weights"}}) {
      // Training goes on from a file into itself.
      bool may = !strcmp(flag, "--save-weights") && !strcmp(path, "w");
      Result r = run(cat("$P/fake-2x2 --text text --config config --weights w ",
                         flag, " ", path));
      EXPECT_EQ(r.status, may ? 0 : 1) << r.output;
      if (may) {
        EXPECT_NE(read("w"), weights);
        write("w", weights);
      } else {
        EXPECT_HAS(r, cat(flag, ": '", path, "' is read by ", input));
        EXPECT_EQ(r.errors(), 1) << r.output;
      }
      EXPECT_EQ(read("text"), text);
    }
  EXPECT_EQ(read("w"), weights);
}

/// A pipe without another end is an error: nobody waits for one.
TEST_F(Programs, Pipes) {
  ASSERT_EQ(run("mkfifo pipe").status, 0);
  for (const char *flags :
       {"--text pipe", "--text text --weights pipe",
        "--text text --config pipe", "--batches pipe", "--tokens pipe"}) {
    Result r = run(cat("$P/fake-2x2 --steps 1 ", flags));
    EXPECT_EQ(r.status, 1) << r.output;
    EXPECT_HAS(r, "'pipe' is not a regular file");
  }
  for (const char *flag : {"--log", "--dump-grads", "--save-weights"}) {
    Result r = run(cat("$P/fake-2x2 --text text --steps 1 ", flag, " pipe"));
    EXPECT_EQ(r.status, 1) << r.output;
    EXPECT_HAS(r, "cannot create 'pipe': No such device or address");
  }
  // With a reader it is written, and a slow one is waited for.
  Result r = run("(sleep 0.5; cat) <>pipe >copy & $P/fake-2x2 --text text "
                 "--steps 1000 --log pipe; s=$?; sleep 1; kill %1; exit $s");
  EXPECT_EQ(r.status, 0) << r.output;
  std::string copy = read("copy");
  EXPECT_EQ(std::count(copy.begin(), copy.end(), '\n'), 1001);
}

/// Whatever the number of ranks that read it.
TEST_F(Programs, InputIsTruncated) {
  Result r = run("FAKE_FAULT=slow:1:* $P/fake-2x2 --text text --steps 100000 "
                 "--log log & sleep 0.5; : >text; wait $!");
  EXPECT_EQ(r.status, 1) << r.output;
  EXPECT_HAS(r, "a file that is being read was truncated");
  EXPECT_EQ(r.errors(), 1) << r.output;
  EXPECT_EQ(read("log").back(), '\n');
  EXPECT_EQ(leftovers({"log"}), "");
}

TEST_F(Programs, FullDisk) {
  Result r = run("$P/fake-2x2 --text text --steps 3 --log /dev/full");
  EXPECT_EQ(r.status, 1);
  EXPECT_HAS(r, "cannot write '/dev/full': No space left on device");
  EXPECT_EQ(r.errors(), 1) << r.output;
  for (auto [flag, step] : {std::pair("--dump-grads", 0),
                            {"--save-weights", 2},
                            {"--trace", 2},
                            {"--profile", 2}}) {
    r = run(cat("$P/fake-2x2 --text text --steps 3 ", flag, " /dev/full"));
    EXPECT_EQ(r.status, 1);
    EXPECT_HAS(r, cat("error: rank 0, step ", step, ", ", flag,
                      ": cannot write '/dev/full': No space left"));
    EXPECT_EQ(r.errors(), 1) << r.output;
  }
  // A limit on the size of files: the log keeps whole lines only.
  r = run("ulimit -f 1; $P/fake-2x2 --text text --steps 100 --log log");
  EXPECT_EQ(r.status, 1);
  EXPECT_TRUE(std::regex_search(
      r.output, std::regex("rank 0, step [0-9]+, --log: cannot write 'log': "
                           "File too large")))
      << r.output;
  EXPECT_EQ(read("log").back(), '\n');
  r = run("ulimit -f 4; $P/fake-2x2 --text text --steps 3 --save-weights w");
  EXPECT_EQ(r.status, 1);
  EXPECT_HAS(r, "cannot write 'w': File too large");
  EXPECT_EQ(leftovers({"log"}), "");
}

TEST_F(Programs, NoLabels) {
  std::string header =
      R"({"input_ids":{"dtype":"I32","shape":[4,8,16],"data_offsets":[0,2048]},"labels":{"dtype":"I32","shape":[4,8,16],"data_offsets":[2048,4096]}})";
  uint64_t n = header.size();
  std::string bytes(reinterpret_cast<char *>(&n), 8);
  bytes += header + std::string(2048, '\0');
  for (int i = 0; i < 512; ++i) {
    int32_t label = i < 384 ? -100 : 5; // three steps without any
    bytes.append(reinterpret_cast<char *>(&label), 4);
  }
  write("b", bytes);
  Result r = run("$P/fake-2x2 --batches b --log log --max-skipped 1");
  EXPECT_EQ(r.status, 0) << r.output;
  EXPECT_NE(read("log").find("\"step\": 0, \"loss\": 0, \"grad_norm\": 0"),
            std::string::npos)
      << read("log");
  EXPECT_NE(read("log").find("\"reason\": \"no labels\""), std::string::npos);
  EXPECT_HAS(run("$P/fake-2x2 --batches b --steps 5"),
             "it has 4 batches, fewer than the 5 steps");
}

TEST_F(Programs, Signals) {
  for (auto [name, number] : {std::pair("INT", 2), std::pair("TERM", 15)}) {
    Result r = run(std::string("FAKE_FAULT=slow:1:* $P/fake-2x2 --text text "
                               "--steps 100000 --log log --save-weights w & "
                               "sleep 0.5; kill -") +
                   name + " $!; wait $!");
    EXPECT_EQ(r.status, 128 + number) << r.output;
    EXPECT_HAS(r, std::string("stopped by SIG") + name + " after step");
    EXPECT_EQ(read("log").back(), '\n');
    EXPECT_FALSE(exists("w"));
  }
}

// Faults, in threads and under mpirun ----------------------------------------

class Faults : public Programs, public testing::WithParamInterface<bool> {
protected:
  void SetUp() override {
    Programs::SetUp();
    if (GetParam() && !haveMpirun())
      GTEST_SKIP() << "no Open MPI's mpirun";
  }
  Result runWith(const std::string &fault, const std::string &flags) {
    return run("export FAKE_FAULT=" + fault + "; " +
               (GetParam() ? mpirun(4) : "") +
               "$P/fake-2x2 --text text "
               "--steps 1000 --log log --save-weights w " +
               flags);
  }
  void expectOneError(const Result &r) {
    EXPECT_NE(r.status, 0);
    EXPECT_NE(r.status, 124) << "it hangs: " << r.output;
    EXPECT_EQ(r.errors(), 1) << r.output;
    EXPECT_LT(r.seconds, 15) << r.output;
    EXPECT_EQ(leftovers({"log"}), "");
    if (exists("log")) {
      EXPECT_EQ(read("log").back(), '\n');
    }
  }
};

INSTANTIATE_TEST_SUITE_P(, Faults, testing::Bool(), [](auto &info) {
  return info.param ? "Mpi" : "Threads";
});

TEST_P(Faults, NotFinite) {
  auto train = [&](const std::string &fault) {
    return run("export FAKE_FAULT=" + fault + "; " +
               (GetParam() ? mpirun(4) : "") + "$P/fake-2x2" + all);
  };
  Result r = train("nan:1:*");
  EXPECT_EQ(r.status, 1);
  EXPECT_EQ(r.errors(), 1) << r.output;
  EXPECT_HAS(r, "for the 3rd step in a row");
  EXPECT_HAS(r, "first bad gradient: head.weight");
  std::string log = read("log");
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 4);
  EXPECT_NE(log.find("\"skipped\": true, \"reason\": \"not finite\", "
                     "\"bad_tensor\": \"head.weight\""),
            std::string::npos)
      << log;
  EXPECT_FALSE(exists("weights"));
  // A single one is skipped, and the next update is the first one's again.
  r = train("nan:1:1");
  EXPECT_EQ(r.status, 0) << r.output;
  log = read("log");
  EXPECT_EQ(log.find("skipped"), log.rfind("skipped"));
}

TEST_P(Faults, RankIsSignalled) {
  for (auto [name, number] :
       {std::pair("interrupt", SIGINT), std::pair("terminate", SIGTERM)}) {
    Result r = runWith(std::string(name) + ":3:4", "");
    EXPECT_EQ(r.status, 128 + number) << r.output;
    EXPECT_EQ(r.errors(), 0) << r.output;
    EXPECT_HAS(r, "after step 4: 5 of 1000 steps are done");
    EXPECT_EQ(read("log").back(), '\n');
    EXPECT_EQ(leftovers({"log"}), "");
  }
}

/// To the process of all ranks, or to mpirun itself, whenever it comes: before
/// main, while files are read, in a step.
TEST_P(Faults, SignalsAtRandomMoments) {
  std::mt19937 gen{static_cast<uint32_t>(getpid())};
  for (const char *name : {"INT", "TERM"})
    for (int most : {30, 300, 1000}) {
      std::filesystem::remove(folder / "log");
      int delay = int(gen() % unsigned(most));
      SCOPED_TRACE(cat("SIG", name, " after ", delay, " ms"));
      // Without job control a shell's background jobs ignore SIGINT.
      Result r = run(cat("set -m; export FAKE_FAULT=slow:1:*; ",
                         GetParam() ? mpirun(4) : "",
                         "$P/fake-2x2 --text text --steps 100000 --log log "
                         "--save-weights w & sleep ",
                         delay / 1000.0, "; kill -", name, " $!; wait $!"));
      EXPECT_NE(r.status, 0) << r.output;
      EXPECT_NE(r.status, 124) << "it hangs: " << r.output;
      EXPECT_EQ(r.errors(), 0) << r.output;
      EXPECT_LT(r.seconds, 15) << r.output;
      EXPECT_EQ(leftovers({"log"}), "");
      if (std::string log = read("log"); !log.empty())
        EXPECT_EQ(log.back(), '\n');
    }
}

TEST_P(Faults, RankThrows) {
  Result r = runWith("throw:2:5", "");
  expectOneError(r);
  EXPECT_HAS(r, "rank 2, step 5: a fault of the test");
}

TEST_P(Faults, RankStalls) {
  Result r = runWith("sleep:3:4", "--timeout 1");
  expectOneError(r);
  EXPECT_TRUE(std::regex_search(
      r.output, std::regex("rank [0-9], step 4, '[a-z ]+' \\(all_reduce.*: "
                           "rank 3 did not arrive within 1 s")))
      << r.output;
}

TEST_P(Faults, RanksDisagree) {
  Result r = runWith("disagree:3:4", "");
  expectOneError(r);
  EXPECT_HAS(r, "disagree about a collective in step 4");
  EXPECT_HAS(r, "'gradients' (all_reduce of");
  EXPECT_HAS(r, "'fewer gradients' (all_reduce of");
}

/// Ranks that are threads die together; what was written stays whole.
TEST_F(Programs, ProcessIsKilled) {
  std::mt19937 gen{static_cast<uint32_t>(getpid())};
  for (int i = 0; i < 4; ++i) {
    int delay = 50 + int(gen() % 400);
    SCOPED_TRACE(cat("after ", delay, " ms"));
    std::filesystem::remove(folder / "log");
    Result r = run(cat("FAKE_FAULT=slow:1:* $P/fake-2x2 --text text --steps "
                       "100000 --log log --save-weights w & sleep ",
                       delay / 1000.0, "; kill -KILL $!; wait $!"));
    EXPECT_EQ(r.status, 128 + SIGKILL) << r.output;
    EXPECT_EQ(leftovers({"log"}), "");
    if (std::string log = read("log"); !log.empty())
      EXPECT_EQ(log.back(), '\n');
  }
}

class MpiFaults : public Faults {};
INSTANTIATE_TEST_SUITE_P(, MpiFaults, testing::Values(true));

TEST_P(MpiFaults, RankIsKilled) {
  Result r = runWith("kill:3:4", "--timeout 10");
  expectOneError(r);
  EXPECT_HAS(r, "step 4");
  EXPECT_HAS(r, "rank 3 died");
}

TEST_P(MpiFaults, RankIsStopped) {
  Result r = runWith("stop:3:4", "--timeout 1");
  expectOneError(r);
  EXPECT_HAS(r, "step 4");
  EXPECT_HAS(r, "rank 3 did not arrive within 1 s (process ");
  EXPECT_HAS(r, "is stopped)");
}

TEST_P(MpiFaults, WrongNumberOfRanks) {
  Result r = run(mpirun(3) + "$P/fake-2x2 --text text --steps 1");
  expectOneError(r);
  EXPECT_HAS(r, "mpirun started 3 processes; the program is compiled for 4");
}

TEST_P(MpiFaults, RanksDiffer) {
  Result r = run(mpirun(2) + "$P/fake-2x2 --text text --steps 1 --log log : "
                             "-n 2 $P/fake-2x2-other --text text --steps 1 "
                             "--log log");
  expectOneError(r);
  EXPECT_HAS(r, "ranks differ in the compiled program: rank 2, 3 have");
  r = run(mpirun(3) + "$P/fake-2x2 --text text --steps 1 : -n 1 $P/fake-2x2 "
                      "--text text --steps 2");
  expectOneError(r);
  EXPECT_HAS(r, "ranks differ in arguments: rank 3 has");
  for (const char *other : {"--seed 7", "--collectives ring"}) {
    r = run(mpirun(3) +
            "$P/fake-2x2 --text text --steps 1 : -n 1 $P/fake-2x2 "
            "--text text --steps 1 " +
            other);
    expectOneError(r);
    EXPECT_HAS(r, "ranks differ in arguments: rank 3 has");
  }
  r = run(mpirun(3) + "$P/fake-2x2 --text text --steps 1 : -n 1 $P/fake-2x2 "
                      "--help");
  expectOneError(r);
  EXPECT_HAS(r, "ranks differ in arguments: rank 3 has --help, rank 0 has not");
  for (int seed : {0, 1})
    ASSERT_EQ(run(cat("$P/fake-1x1 --text text --steps 1 --seed ", seed,
                      " --save-weights w", seed))
                  .status,
              0);
  r = run(mpirun(3) + "$P/fake-2x2 --text text --steps 1 --weights w0 : -n 1 "
                      "$P/fake-2x2 --text text --steps 1 --weights w1");
  std::filesystem::remove(folder / "w0");
  std::filesystem::remove(folder / "w1");
  expectOneError(r);
  EXPECT_HAS(r, "ranks differ in weights: rank 3 has");
  const std::string config =
      R"(, "betas": [0.9, 0.95], "eps": 1e-8, "weight_decay": 0.1,
          "grad_clip": 1, "steps": 1, "batch": 8, "seq": 16})";
  write("a.json", R"({"lr": 0.1)" + config);
  write("b.json", R"({"lr": 0.2)" + config);
  r = run(mpirun(3) + "$P/fake-2x2 --text text --config a.json : -n 1 "
                      "$P/fake-2x2 --text text --config b.json");
  std::filesystem::remove(folder / "a.json");
  std::filesystem::remove(folder / "b.json");
  expectOneError(r);
  EXPECT_HAS(r, "ranks differ in settings (train.json): rank 3 has");
  std::string text = read("text");
  text[4000] ^= 1;
  write("other", text);
  r = run(mpirun(3) + "$P/fake-2x2 --text text --steps 1 : -n 1 $P/fake-2x2 "
                      "--text other --steps 1");
  std::filesystem::remove(folder / "other");
  expectOneError(r);
  EXPECT_HAS(r, "ranks differ in training data: rank 3 has");
  r = run(mpirun(3) + "$P/fake-2x2 --text text --steps 1 : -n 1 $P/fake-2x2 "
                      "--text missing --steps 1");
  expectOneError(r);
  EXPECT_HAS(r, "rank 3: cannot open 'missing'");
}

TEST_P(MpiFaults, FullDisk) {
  Result r = run(mpirun(4) + "$P/fake-2x2 --text text --steps 3 --log "
                             "/dev/full");
  expectOneError(r);
  EXPECT_HAS(r, "cannot write '/dev/full': No space left on device");
  for (auto [flag, step] :
       {std::pair("--dump-grads", 0), {"--save-weights", 2}}) {
    r = run(cat(mpirun(4), "$P/fake-2x2 --text text --steps 3 ", flag,
                " /dev/full"));
    expectOneError(r);
    EXPECT_HAS(r, cat("error: rank 0, step ", step, ", ", flag,
                      ": cannot write '/dev/full'"));
  }
}

TEST_P(MpiFaults, NoOrOtherMpi) {
  Result r = run("DTC_MPI_LIBRARY=/nonexistent/libmpi.so " + mpirun(2) +
                 "-x DTC_MPI_LIBRARY $P/fake-2x1 --text text --steps 1");
  expectOneError(r);
  EXPECT_HAS(r, "Open MPI's library cannot be opened");
  // A library that is no Open MPI.
  r = run("DTC_MPI_LIBRARY=libm.so.6 " + mpirun(2) +
          "-x DTC_MPI_LIBRARY $P/fake-2x1 --text text --steps 1");
  expectOneError(r);
  EXPECT_HAS(r, "DTC speaks Open MPI only");
  r = run("PMI_RANK=0 PMI_SIZE=2 $P/fake-2x1 --text text --steps 1");
  expectOneError(r);
  EXPECT_HAS(r, "the launcher of another MPI");
}

TEST_P(MpiFaults, Collectives) {
  for (int ranks = 2; ranks <= 8; ++ranks)
    for (const char *kind : {"direct", "ring"}) {
      Result r = run(cat("export FAKE_RANKS=", ranks, "; ", mpirun(ranks),
                         "$P/collectives-program --text text --steps 1 "
                         "--collectives=",
                         kind));
      EXPECT_EQ(r.status, 0) << ranks << " " << kind << ": " << r.output;
    }
}

} // namespace
