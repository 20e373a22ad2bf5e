//===- ResumeTest.cpp - Programs that save, stop, and go on ---------------===//
//
// Runs the executables of FakeProgram.cpp and PipelineProgram.cpp.
//
//===----------------------------------------------------------------------===//

#include "ProgramFixture.h"
#include "dtc/Runtime/Checkpoint/Folder.h"

#include <csignal>
#include <random>

using namespace dtc::rt;
using namespace dtc::test;

namespace {

/// A save allocates names and texts, which the programs would count.
class Resume : public Programs {
protected:
  void SetUp() override {
    Programs::SetUp();
    std::filesystem::remove_all(folder / "c");
  }
  Result train(const std::string &program, const std::string &flags) {
    return run("export FAKE_FAULT=${FAKE_FAULT:-none}; $P/" + program +
               " --text text " + flags);
  }
  /// Lines of steps without times.
  std::string steps(const std::string &log) {
    return std::regex_replace(
        std::regex_replace(read(log), std::regex(", \"tokens_per_s.*"), ""),
        std::regex(".*version.*\n"), "");
  }
  /// Resumes on another mesh: the step of the newest checkpoint, which must be
  /// complete and no older than `least` (0: there may be none).
  int64_t checkNewest(int64_t least) {
    Result r = run("FAKE_FAULT=none $P/fake-1x1 --text text --resume c --steps "
                   "100000 --stop-after 0.00001 --save d");
    std::filesystem::remove_all(folder / "d");
    if (least == 0 &&
        r.output.find("no complete checkpoint") != std::string::npos)
      return 0; // killed before the first one
    std::smatch match;
    bool resumed = std::regex_search(r.output, match,
                                     std::regex("resumes 'c/step-0*([0-9]+)'"));
    EXPECT_TRUE(resumed) << r.output;
    EXPECT_EQ(r.status, 0) << r.output;
    EXPECT_EQ(r.output.find("is not complete"), std::string::npos)
        << "published in part: " << r.output;
    int64_t step = resumed ? std::stoll(match[1]) : -1;
    EXPECT_GE(step, least);
    return step;
  }
  std::string checkpoints() {
    std::string names;
    std::vector<std::string> list;
    for (const auto &entry : std::filesystem::directory_iterator(folder / "c"))
      list.push_back(entry.path().filename());
    std::sort(list.begin(), list.end());
    for (const std::string &name : list)
      names += (names.empty() ? "" : " ") + name;
    return names;
  }
};

/// Weights, log and what is saved next do not differ from a run that did not
/// stop: beside training, in step with it, and in files of any size.
TEST_F(Resume, EqualBits) {
  for (const char *program : {"fake-1x1", "fake-2x2", "pipeline-2x2"})
    for (const char *flags :
         {"--save-sync", "", "--save-sync --collectives ring"}) {
      SCOPED_TRACE(cat(program, " ", flags));
      std::filesystem::remove_all(folder / "c");
      std::filesystem::remove(folder / "log");
      std::string all = cat("--steps 12 --save-weights w --log log ", flags);
      Result r = train(program, all + " --save c --save-every 5 --seed 3");
      ASSERT_EQ(r.status, 0) << r.output;
      EXPECT_EQ(checkpoints(), "step-00000005 step-00000010 step-00000012");
      std::string weights = read("w"), log = steps("log"),
                  state = read("c/step-00000012/optimizer-00001-of-00001."
                               "safetensors");
      EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 12);
      ASSERT_GT(state.size(), 100u);
      for (const char *from : {"10", "05"}) {
        std::filesystem::remove_all(folder / "c/step-00000012");
        if (*from == '0')
          std::filesystem::remove_all(folder / "c/step-00000010");
        r = train(program, all + " --resume c --save c");
        ASSERT_EQ(r.status, 0) << r.output;
        EXPECT_HAS(r, cat("resumes 'c/step-000000", from, "'"));
        EXPECT_EQ(r.output.find(" was "), std::string::npos) << r.output;
        EXPECT_EQ(read("w"), weights);
        EXPECT_EQ(steps("log"), log);
        EXPECT_EQ(read("c/step-00000012/optimizer-00001-of-00001.safetensors"),
                  state);
      }
    }
}

TEST_F(Resume, EqualBitsUnderMpi) {
  if (!haveMpirun())
    GTEST_SKIP() << "no Open MPI's mpirun";
  const std::string all = "--steps 12 --save-weights w --log log ";
  Result r = train("fake-2x2", all + "--save c --save-every 5");
  ASSERT_EQ(r.status, 0) << r.output;
  std::string weights = read("w"), log = steps("log"),
              state =
                  read("c/step-00000012/optimizer-00001-of-00001.safetensors");
  std::filesystem::remove_all(folder / "c/step-00000012");
  r = run(mpirun(4) + "-x FAKE_FAULT=none $P/fake-2x2 --text text " + all +
          "--resume c --save c --keep 1");
  ASSERT_EQ(r.status, 0) << r.output;
  EXPECT_EQ(read("w"), weights);
  EXPECT_EQ(steps("log"), log);
  EXPECT_EQ(read("c/step-00000012/optimizer-00001-of-00001.safetensors"),
            state);
  EXPECT_EQ(checkpoints(), "step-00000012");
}

/// Every mesh writes the same files but for the values, and goes on from what
/// any other wrote.
TEST_F(Resume, AnyMesh) {
  const std::vector<std::string> meshes = {"1x1", "2x1", "2x2", "8x2"};
  for (const std::string &saver : meshes) {
    Result r =
        train("fake-" + saver, "--steps 6 --save c." + saver +
                                   " --save-every 4 --save-weights w." + saver);
    ASSERT_EQ(r.status, 0) << r.output;
    for (const std::string &other : meshes) {
      r = train("fake-" + other, "--steps 6 --resume c." + saver +
                                     "/step-00000004 --save-weights again");
      ASSERT_EQ(r.status, 0) << r.output;
      expectEqualTensors("again", "w." + saver, 1e-6);
      EXPECT_EQ(r.output.find("mesh is") != std::string::npos, saver != other)
          << r.output;
    }
  }
  for (const char *saver : {"1x1", "1x2", "2x1", "2x2"}) {
    Result r = train(cat("pipeline-", saver),
                     cat("--steps 6 --save p.", saver,
                         " --save-every 4 --save-weights w.", saver));
    ASSERT_EQ(r.status, 0) << r.output;
    for (const char *other : {"1x1", "1x2", "2x1", "2x2"}) {
      r = train(cat("pipeline-", other),
                cat("--steps 6 --resume p.", saver,
                    "/step-00000004 --save-weights again"));
      ASSERT_EQ(r.status, 0) << r.output;
      expectEqualTensors("again", cat("w.", saver), 1e-6);
    }
  }
}

TEST_F(Resume, InManyFiles) {
  Result r = run("export FAKE_FAULT=none DTC_SHARD_BYTES=3000; $P/fake-2x2 "
                 "--text text --steps 4 --save c --save-weights w");
  ASSERT_EQ(r.status, 0) << r.output;
  EXPECT_TRUE(exists("c/step-00000004/model-00003-of-00003.safetensors"));
  EXPECT_TRUE(exists("c/step-00000004/optimizer-00006-of-00006.safetensors"));
  // As weights, and to go on.
  for (const char *flags :
       {"--weights c/step-00000004 --steps 1", "--resume c --steps 5"}) {
    r = run(std::string("$P/fake-1x1 --text text ") + flags);
    EXPECT_EQ(r.status, 0) << r.output;
  }
  // Done already: the weights are written all the same.
  r = run("$P/fake-1x1 --text text --resume c --steps 4 --save-weights again");
  EXPECT_EQ(r.status, 0) << r.output;
  EXPECT_EQ(read("again"), read("w"));
  r = run("$P/fake-1x1 --text text --resume c --steps 3");
  EXPECT_EQ(r.status, 1);
  EXPECT_HAS(r, "'c/step-00000004' has 4 steps, more than the 3 of this run");
}

TEST_F(Resume, WeightsOnly) {
  ASSERT_EQ(train("fake-2x2", "--steps 4 --seed 5 --save c").status, 0);
  ASSERT_EQ(train("fake-1x1", "--steps 3 --weights c/step-00000004 "
                              "--save-weights w --log log")
                .status,
            0);
  std::string weights = read("w"), log = steps("log");
  Result r = train("fake-1x1", "--steps 3 --resume c --resume-weights-only "
                               "--save-weights w --log log --save d");
  EXPECT_EQ(r.status, 0) << r.output;
  EXPECT_HAS(r, "weights of 'c/step-00000004', step 4");
  EXPECT_EQ(read("w"), weights);
  EXPECT_EQ(steps("log"), log);
  // Another run's checkpoints in one folder would be mixed up.
  r = train("fake-1x1", "--steps 3 --resume c --resume-weights-only --save c");
  EXPECT_EQ(r.status, 1);
  EXPECT_HAS(r, "--save: 'c/step-00000004' is later than step 0, where this "
                "run begins");
}

TEST_F(Resume, WhatMayDiffer) {
  const std::string rest =
      R"(, "betas": [0.9, 0.95], "eps": 1e-8, "weight_decay": 0.1,
          "grad_clip": 1, "steps": 4, "batch": 8, "seq": 16)";
  write("a.json", R"({"lr": 0.01)" + rest + "}");
  write("b.json", R"({"lr": 0.02)" + rest +
                      R"(, "schedule": {"kind": "cosine", "decay_steps": 9}})");
  ASSERT_EQ(train("fake-2x2", "--seed 7 --config a.json --save c").status, 0);
  Result r = train("fake-8x2", "--config b.json --steps 6 --resume c "
                               "--collectives ring --log log");
  EXPECT_EQ(r.status, 0) << r.output;
  for (const char *line :
       {"mesh is dp=8,tp=2, was dp=2,tp=2", "steps is 6, was 4",
        "lr is 0.02, was 0.01", "schedule is cosine, was constant",
        "decay_steps is 9, was 0", "collectives is ring, was direct"})
    EXPECT_HAS(r, cat("fake-8x2:   ", line));
  // The seed is the checkpoint's unless one is given.
  EXPECT_EQ(r.output.find("seed"), std::string::npos) << r.output;
  EXPECT_NE(read("log").find("\"seed\":7"), std::string::npos);
  EXPECT_NE(read("log").find("\"resumed\":{\"step\":4,\"samples\":32,"),
            std::string::npos);
  r = train("fake-2x2", "--seed 8 --config a.json --steps 5 --resume c");
  EXPECT_HAS(r, "seed is 8, was 7");
}

TEST_F(Resume, SaveFolders) {
  ASSERT_EQ(train("fake-1x1", "--steps 4 --save c --save-every 2").status, 0);
  Result r = train("fake-1x1", "--steps 4 --save c");
  EXPECT_EQ(r.status, 1);
  EXPECT_HAS(r, "--save: 'c/step-00000004' is later than step 0");
  r = train("fake-1x1", "--steps 4 --resume c/step-00000002 --save c");
  EXPECT_HAS(r, "--save: 'c/step-00000004' is later than step 2");
  // Into another folder it goes.
  r = train("fake-1x1", "--steps 4 --resume c/step-00000002 --save d");
  EXPECT_EQ(r.status, 0) << r.output;
  EXPECT_HAS(train("fake-1x1", "--steps 4 --save text"),
             "--save: 'text' is not a folder");
  EXPECT_HAS(train("fake-1x1", "--steps 4 --save no/c"),
             "--save: cannot create 'no/c'");
  // One that is not complete does not count, and is replaced.
  std::filesystem::remove(folder / "c/step-00000004/trainer.json");
  r = train("fake-1x1", "--steps 4 --resume c --save c");
  EXPECT_EQ(r.status, 0) << r.output;
  EXPECT_HAS(r, "skipped 'c/step-00000004' is not complete: "
                "'c/step-00000004/trainer.json' is missing");
  EXPECT_EQ(train("fake-1x1", "--steps 5 --resume c").status, 0);
}

/// What a killed run leaves is told, and removed by the next one that saves.
TEST_F(Resume, Leftovers) {
  ASSERT_EQ(train("fake-1x1", "--steps 2 --save c").status, 0);
  std::filesystem::create_directory(folder / "c/step-00000009.tmp");
  write("c/step-00000009.tmp/model-00001-of-00001.safetensors", "x");
  Result r = train("fake-1x1", "--steps 3 --resume c");
  EXPECT_HAS(r, "skipped 'c/step-00000009.tmp' was not finished");
  EXPECT_TRUE(exists("c/step-00000009.tmp"));
  r = train("fake-1x1", "--steps 3 --resume c --save c");
  EXPECT_EQ(r.status, 0) << r.output;
  EXPECT_EQ(checkpoints(), "step-00000002 step-00000003");
}

// Faults ----------------------------------------------------------------------

/// Every way to damage every file is told with its name, before anything is
/// written.
TEST_F(Resume, DamagedFiles) {
  ASSERT_EQ(
      run("export FAKE_FAULT=none DTC_SHARD_BYTES=9000; $P/fake-2x2 --text "
          "text --steps 2 --save c")
          .status,
      0);
  std::vector<std::string> files;
  for (const auto &entry :
       std::filesystem::directory_iterator(folder / "c/step-00000002"))
    files.push_back(entry.path().filename());
  ASSERT_GT(files.size(), 5u);
  std::mt19937 gen(1);
  auto refused = [&](const std::string &file, const std::string &what) {
    Result r = train("fake-2x1", "--steps 3 --resume c --log log");
    EXPECT_EQ(r.status, 1) << file << " " << what << ": " << r.output;
    EXPECT_EQ(r.errors(), 1) << r.output;
    EXPECT_HAS(r, "c/step-00000002/" + file);
    EXPECT_FALSE(exists("log"));
  };
  for (const std::string &file : files) {
    std::string name = "c/step-00000002/" + file, good = read(name);
    std::filesystem::remove(folder / name);
    refused(file, "missing");
    // The last byte of a text is a line's end.
    write(name, good.substr(0, good.size() - 2));
    refused(file, "truncated");
    write(name, good + "\n");
    if (file != "trainer.json") // nobody says how long it is
      refused(file, "longer");
    write(name, "");
    refused(file, "empty");
    // Headers at the begin, and values behind them.
    for (int i = 0; i < 8; ++i) {
      std::string bad = good;
      size_t at =
          gen() % (i % 2 ? good.size() : std::min<size_t>(200, good.size()));
      bad[at] = char(bad[at] ^ 1 << gen() % 8);
      if (file == "trainer.json" && isspace(good[at]))
        continue;
      write(name, bad);
      refused(file, cat("byte ", at));
    }
    write(name, good);
  }
  Result r = train("fake-2x1", "--steps 3 --resume c --log log");
  EXPECT_EQ(r.status, 0) << r.output;
}

/// Files of another model, put together so that they are complete.
TEST_F(Resume, AnotherModel) {
  ASSERT_EQ(train("fake-1x1", "--steps 2 --save c").status, 0);
  Result r = train("pipeline-1x1", "--steps 3 --resume c --log log");
  EXPECT_EQ(r.status, 1);
  EXPECT_HAS(r, "c/step-00000002/model-00001-of-00001.safetensors: the tensor "
                "'bias' of shape [2, 257] is superfluous");
  EXPECT_FALSE(exists("log"));
}

TEST_F(Resume, MoreBatchesAreNeeded) {
  std::string header =
      R"({"input_ids":{"dtype":"I32","shape":[4,8,16],"data_offsets":[0,2048]},"labels":{"dtype":"I32","shape":[4,8,16],"data_offsets":[2048,4096]}})";
  uint64_t n = header.size();
  std::string bytes(reinterpret_cast<char *>(&n), 8);
  write("b", bytes + header + std::string(4096, '\0'));
  auto with = [&](const std::string &flags) {
    return run("FAKE_FAULT=none $P/fake-2x2 --batches b " + flags);
  };
  ASSERT_EQ(with("--steps 3 --save c").status, 0);
  Result r = with("--steps 5 --resume c");
  EXPECT_EQ(r.status, 1);
  EXPECT_HAS(r, "b: it has 32 samples; after the 24 that were seen they are "
                "enough for step 4, not for the 5 steps");
  r = with("--resume c --log log");
  EXPECT_EQ(r.status, 0) << r.output;
  EXPECT_NE(read("log").find("\"step\": 3,"), std::string::npos);
}

/// A limit on the size of files, as a full disk, while training goes on: what
/// was saved stays and can be resumed, the message names the file, and the
/// status says that the last state is not on the disk.
TEST_F(Resume, WriteErrors) {
  for (const char *flags : {"", "--save-sync"}) {
    SCOPED_TRACE(flags);
    std::filesystem::remove_all(folder / "c");
    ASSERT_EQ(train("fake-2x2", "--steps 2 --save c").status, 0);
    Result r = run(cat("export FAKE_FAULT=none; ulimit -f 20; $P/fake-2x2 "
                       "--text text --steps 7 --resume c --save c "
                       "--save-every 2 --log log ",
                       flags));
    EXPECT_EQ(r.status, 1) << r.output;
    EXPECT_HAS(r, "step 4 is not saved: rank 0: cannot write 'c/"
                  "step-00000004.tmp/optimizer-00001-of-00001.safetensors': "
                  "File too large; what was saved before stays");
    EXPECT_HAS(r, "step 6 is not saved");
    EXPECT_EQ(r.errors(), 1) << r.output;
    EXPECT_HAS(r, "error: the state after the last step, 6, is not saved");
    EXPECT_EQ(checkpoints(), "step-00000002");
    EXPECT_NE(read("log").find("\"step\": 6,"), std::string::npos);
    EXPECT_EQ(train("fake-2x2", "--steps 7 --resume c").status, 0);
  }
}

/// A disk that is really full, where this user can mount one: two checkpoints
/// fit.
TEST_F(Resume, FullDisk) {
  std::filesystem::create_directory(folder / "disk");
  for (const char *flags : {"", "--save-sync"}) {
    Result r =
        run(cat("export FAKE_FAULT=none; unshare -m bash -c 'mount -t "
                "tmpfs -o size=180k none disk || exit 77; $P/fake-2x2 "
                "--text text --steps 2 --save disk/c && $P/fake-2x2 "
                "--text text --steps 6 --resume disk/c --save disk/c "
                "--save-every 2 ",
                flags,
                "; echo status $?; echo there: $(ls disk/c); $P/fake-2x2 "
                "--text text --steps 9 --resume disk/c'"));
    if (r.status == 77 || r.output.find("unshare") != std::string::npos)
      GTEST_SKIP() << "cannot mount: " << r.output;
    EXPECT_EQ(r.status, 0) << r.output;
    EXPECT_HAS(r, "No space left on device; what was saved before stays");
    EXPECT_HAS(r, "status 1\nthere: step-00000002 step-00000004\n");
    EXPECT_HAS(r, "resumes 'disk/c/step-00000004'");
  }
}

TEST_F(Resume, NotFiniteIsNeverSaved) {
  // The step that is not finite is not saved; the next one is.
  Result r =
      run("FAKE_FAULT=nan:1:3 $P/fake-2x2 --text text --steps 6 --save c "
          "--save-every 4");
  EXPECT_EQ(r.status, 0) << r.output;
  EXPECT_EQ(checkpoints(), "step-00000005 step-00000006");
  std::filesystem::remove_all(folder / "c");
  // The last step: there is no state to keep.
  r = run("FAKE_FAULT=nan:1:3 $P/fake-2x2 --text text --steps 4 --save c");
  EXPECT_EQ(r.status, 1) << r.output;
  EXPECT_HAS(r, "error: the state after the last step, 3, is not saved");
  EXPECT_EQ(checkpoints(), "");
  // A value in the state, which neither loss nor norm shows.
  r = run("FAKE_FAULT=poison:3:3 $P/fake-2x2 --text text --steps 4 --save c "
          "--save-every 3");
  EXPECT_EQ(r.status, 1) << r.output;
  EXPECT_HAS(r, "'v.bias' has a value that is not finite");
  EXPECT_EQ(checkpoints(), "step-00000003");
}

// Stops -----------------------------------------------------------------------

TEST_F(Resume, Stops) {
  for (const char *name : {"interrupt", "terminate"}) {
    Result r = run(cat("FAKE_FAULT=", name,
                       ":3:4 $P/fake-2x2 --text text --steps 100 --save c ",
                       "--log log"));
    EXPECT_EQ(r.status, 0) << r.output;
    EXPECT_HAS(r, "after step 4: 5 of 100 steps are done");
    EXPECT_EQ(checkpoints(), "step-00000005");
    r = train("fake-2x2", "--steps 7 --resume c --log log");
    EXPECT_EQ(r.status, 0) << r.output;
    std::string log = read("log");
    EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 8) << log;
    std::filesystem::remove_all(folder / "c");
  }
  Result r = run("FAKE_FAULT=slow:1:* $P/fake-2x2 --text text --steps 100000 "
                 "--save c --stop-after 0.01 --log log");
  EXPECT_EQ(r.status, 0) << r.output;
  EXPECT_LT(r.seconds, 10);
  EXPECT_HAS(r, "stopped by --stop-after after step");
  EXPECT_EQ(train("fake-2x2", "--steps 100000 --stop-after 0.001 --resume c "
                              "--save c")
                .status,
            0);
  // A stop that is not saved is none.
  r = run("ulimit -f 20; FAKE_FAULT=terminate:3:4 $P/fake-2x2 --text text "
          "--steps 100 --save d");
  EXPECT_EQ(r.status, 1) << r.output;
  EXPECT_HAS(r, "error: the state after the last step, 4, is not saved");
}

// Under mpirun
// -----------------------------------------------------------------

class ResumeMpi : public Resume {
protected:
  void SetUp() override {
    Resume::SetUp();
    if (!haveMpirun())
      GTEST_SKIP() << "no Open MPI's mpirun";
  }
};

TEST_F(ResumeMpi, RankThatSeesAnotherFolder) {
  std::filesystem::create_directory(folder / "elsewhere");
  write("elsewhere/text", read("text"));
  Result r = run(mpirun(3) + "-wdir . $P/fake-2x2 --text text --steps 2 --save "
                             "c : -n 1 -wdir elsewhere $P/fake-2x2 --text text "
                             "--steps 2 --save c");
  EXPECT_EQ(r.status, 1) << r.output;
  EXPECT_EQ(r.errors(), 1) << r.output;
  EXPECT_HAS(r, "--save: rank 3 does not see the folder 'c' of rank 0");
  EXPECT_EQ(checkpoints(), "");
}

TEST_F(ResumeMpi, RanksThatResumeOtherCheckpoints) {
  ASSERT_EQ(train("fake-2x2", "--steps 2 --save c --save-every 1").status, 0);
  Result r = run(mpirun(3) + "$P/fake-2x2 --text text --steps 3 --resume c : "
                             "-n 1 $P/fake-2x2 --text text --steps 3 --resume "
                             "c/step-00000001");
  EXPECT_EQ(r.status, 1) << r.output;
  EXPECT_HAS(r, "ranks differ in the checkpoint: rank 3 has");
}

TEST_F(ResumeMpi, StopsAndErrors) {
  Result r = run("export FAKE_FAULT=terminate:3:4; " + mpirun(4) +
                 "$P/fake-2x2 --text text --steps 100 --save c --save-every 2 "
                 "--keep 2");
  EXPECT_EQ(r.status, 0) << r.output;
  EXPECT_EQ(checkpoints(), "step-00000004 step-00000005");
}

TEST_F(ResumeMpi, FullDisk) {
  std::filesystem::create_directory(folder / "disk");
  Result r = run("export FAKE_FAULT=none; unshare -m bash -c 'mount -t tmpfs "
                 "-o size=180k none disk || exit 77; $P/fake-2x2 --text text "
                 "--steps 2 --save disk/c && " +
                 mpirun(4) +
                 "$P/fake-2x2 --text text --steps 9 --resume disk/c --save "
                 "disk/c --save-every 2; echo status $?; ls disk/c'");
  if (r.status == 77 || r.output.find("unshare") != std::string::npos)
    GTEST_SKIP() << "cannot mount: " << r.output;
  EXPECT_HAS(r, "No space left on device; what was saved before stays");
  EXPECT_HAS(r, "is not saved: rank 0: cannot write 'disk/c/step-0000000");
  EXPECT_HAS(r, "status 1");
  EXPECT_EQ(r.errors(), 1) << r.output;
  EXPECT_EQ(r.output.find(".tmp\n"), std::string::npos) << r.output;
}

// Slow: kills -----------------------------------------------------------------

/// Commands that wait until a newer checkpoint than `newest` is there.
std::string waitForNewer(int64_t newest) {
  return cat("until [[ $(ls c 2>/dev/null | grep -v tmp | tail -n 1) > ",
             checkpointName(newest), " ]]; do sleep 0.01; done; ");
}

/// Killed at fifty random moments, in the same folder: after each there is a
/// complete checkpoint, it is never older than the one before, and the state is
/// to the bit that of a run that was never killed. Every other time the run
/// gets as far as its next checkpoint before.
TEST_F(Resume, KilledFiftyTimes) {
  std::mt19937 gen{static_cast<uint32_t>(getpid())};
  int64_t newest = 0;
  for (int i = 0; i < 50; ++i) {
    int delay = int(gen() % 200);
    Result r = run(cat(
        "FAKE_FAULT=none DTC_SHARD_BYTES=4000 $P/fake-2x2 --text text --steps "
        "100000 --save c --save-every 1 --keep 3 --log log --threads 1 ",
        i % 3 ? "" : "--save-sync ", newest ? "--resume c " : "", "& ",
        i % 2 ? "" : waitForNewer(newest), "sleep ", delay / 1000.0,
        "; kill -KILL $!; wait $!"));
    SCOPED_TRACE(cat("kill ", i, " after ", delay, " ms: ", r.output));
    ASSERT_EQ(r.status, 128 + SIGKILL);
    newest = checkNewest(newest);
    ASSERT_FALSE(HasFailure());
    std::string log = read("log");
    EXPECT_EQ(log.empty() || log.back() == '\n', true);
  }
  EXPECT_GE(newest, 25);
  // The log has every step once, and the weights are those of one run.
  Result last = train("fake-2x2", cat("--resume c --log log --steps ",
                                      newest + 1, " --save-weights w"));
  ASSERT_EQ(last.status, 0) << last.output;
  Result whole = train(
      "fake-2x2", cat("--log whole --steps ", newest + 1, " --save-weights v"));
  ASSERT_EQ(whole.status, 0) << whole.output;
  EXPECT_EQ(read("w"), read("v"));
  EXPECT_EQ(steps("log"), steps("whole"));
}

/// One process of four is killed, at random moments: the others end, and the
/// newest checkpoint is complete and can be resumed by another mesh.
TEST_F(ResumeMpi, RankKilledTenTimes) {
  std::mt19937 gen{static_cast<uint32_t>(getpid())};
  int64_t newest = 0;
  for (int i = 0; i < 10; ++i) {
    int delay = int(gen() % 200), victim = int(gen() % 4);
    Result r = run(
        cat("export FAKE_FAULT=none DTC_SHARD_BYTES=4000; ", mpirun(4),
            "bash -c 'if [ $OMPI_COMM_WORLD_RANK = ", victim,
            " ]; then echo $$ > victim; fi; exec $P/fake-2x2 --text text "
            "--steps 1000000 --save c --save-every 1 --keep 3 --threads 1 ",
            newest ? "--resume c" : "", "' & ", waitForNewer(newest), "sleep ",
            delay / 1000.0, "; kill -KILL $(cat victim); wait $!"));
    SCOPED_TRACE(cat("kill ", i, " of rank ", victim, ": ", r.output));
    ASSERT_NE(r.status, 0);
    ASSERT_NE(r.status, 124) << "it hangs";
    int64_t before = newest;
    newest = checkNewest(newest);
    ASSERT_FALSE(HasFailure());
    EXPECT_GT(newest, before);
  }
}

} // namespace
