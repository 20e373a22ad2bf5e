//===- FilesTest.cpp - Files that the runtime reads and writes ------------===//

#include "dtc/Runtime/AtomicFile.h"
#include "dtc/Runtime/Data.h"
#include "dtc/Runtime/Error.h"
#include "dtc/Runtime/Log.h"
#include "dtc/Runtime/Options.h"
#include "dtc/Runtime/Safetensors.h"
#include "dtc/Runtime/Signals.h"
#include "dtc/Runtime/TrainConfig.h"

#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <unistd.h>

using namespace dtc::rt;

namespace {

std::string temporary(const std::string &name) {
  return testing::TempDir() + "dtc" + std::to_string(getpid()) + name;
}

void writeFile(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

template <typename F> std::string errorOf(F f) {
  try {
    f();
  } catch (const Error &e) {
    return e.what();
  }
  return "";
}

std::string safetensors(const std::string &header, size_t data) {
  uint64_t n = header.size();
  std::string bytes(reinterpret_cast<char *>(&n), 8);
  return bytes + header + std::string(data, '\0');
}

std::string readError(const std::string &bytes) {
  return errorOf(
      [&] { parseSafetensors(bytes.data(), int64_t(bytes.size()), "f"); });
}

TEST(Safetensors, RoundTrip) {
  std::string path = temporary("round");
  float a[] = {1, 2, 3, 4, 5, 6}, b[] = {-1};
  SafetensorsWriter writer(path, {{"a", {2, 3}}, {"empty", {0, 4}}, {"b", {}}});
  writer.write(a, 6);
  writer.write(nullptr, 0);
  writer.write(b, 1);
  EXPECT_NE(access(path.c_str(), F_OK), 0) << "appears before it is whole";
  writer.finish();
  SafetensorsFile file(path);
  ASSERT_EQ(file.entries().size(), 3u);
  const SafetensorsEntry *entry = file.find("a");
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(floatLoader("F32")(entry->data, 5), 6);
  EXPECT_EQ(floatLoader("F32")(file.find("b")->data, 0), -1);
  unlink(path.c_str());
}

TEST(Safetensors, NothingIsLeftOfAnUnfinishedFile) {
  std::string path = temporary("half");
  {
    AtomicFile file(path);
    file.write("half", 4);
  }
  EXPECT_NE(access(path.c_str(), F_OK), 0);
  EXPECT_NE(access((path + ".tmp" + std::to_string(getpid())).c_str(), F_OK),
            0);
}

TEST(FilesDeathTest, NothingIsLeftAfterASecondInterrupt) {
  std::string path = temporary("interrupted");
  EXPECT_EXIT(
      {
        installSignalHandlers();
        AtomicFile file(path);
        file.write("half", 4);
        // The first one asks for an end after the step.
        raise(SIGINT);
        bool isThere =
            access((path + ".tmp" + std::to_string(getpid())).c_str(), F_OK) ==
            0;
        fprintf(stderr, "after one: signal %d, file %d\n", stopSignal(),
                isThere);
        raise(SIGINT);
      },
      testing::ExitedWithCode(128 + SIGINT), "after one: signal 2, file 1");
  for (const auto &entry :
       std::filesystem::directory_iterator(testing::TempDir()))
    EXPECT_NE(entry.path().string().rfind(path, 0), 0u) << entry.path();
}

TEST(Safetensors, CorruptFiles) {
  const std::string good =
      R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  EXPECT_EQ(readError(safetensors(good, 8)), "");
  struct {
    std::string bytes, message;
  } cases[] = {
      {"", "not a safetensors file"},
      {"1234567", "not a safetensors file"},
      {std::string(8, '\xff'), "header would have"},
      {safetensors(good, 8).substr(0, 30), "truncated"},
      {safetensors(good, 7), "truncated?"},
      {safetensors(good, 9), "belong to none"},
      {safetensors(good.substr(1), 8), "not valid JSON"},
      {safetensors("[1]", 0), "an object is expected"},
      {safetensors(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})",
                   8),
       "needs 8 bytes"},
      {safetensors(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})",
                   8),
       "bytes 8 to 0"},
      {safetensors(R"({"a":{"dtype":"X9","shape":[2],"data_offsets":[0,8]}})",
                   8),
       "unknown dtype 'X9'"},
      {safetensors(R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})",
                   8),
       "-2 is not a length"},
      {safetensors(R"({"a":{"dtype":"F32","shape":[2]}})", 8),
       "'data_offsets' is missing"},
      {safetensors(
           R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,8]}})",
           8),
       "overflows"},
      {safetensors(
           R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"a":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}})",
           16),
       "stands twice"},
      {safetensors(
           R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
           12),
       "overlap"},
      {safetensors(
           R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[12,20]}})",
           20),
       "belong to no tensor"},
      {safetensors(std::string(100000, '['), 0), "nested too deeply"},
      {safetensors(R"({"__metadata__":{"x":1}})", 0), "no string"},
  };
  for (auto &[bytes, message] : cases)
    EXPECT_NE(readError(bytes).find(message), std::string::npos)
        << message << " expected, got: " << readError(bytes);
}

/// No byte of a header can make the reader crash or read outside the file.
TEST(Safetensors, AnyByteChanged) {
  const std::string good = safetensors(
      R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"BF16","shape":[],"data_offsets":[8,10]}})",
      10);
  for (size_t i = 0; i < good.size() - 10; ++i)
    for (char c : {'\0', '"', '9', '{', '\xff', ','}) {
      std::string bytes = good;
      bytes[i] = c;
      readError(bytes);
    }
  for (size_t n = 0; n < good.size(); ++n)
    EXPECT_NE(readError(good.substr(0, n)), "");
}

TEST(Safetensors, FloatTypes) {
  uint16_t half[] = {0x3c00, 0xc000, 0x0001, 0x7c00, 0x7bff};
  FloatLoader load = floatLoader("F16");
  const char *data = reinterpret_cast<char *>(half);
  EXPECT_EQ(load(data, 0), 1);
  EXPECT_EQ(load(data, 1), -2);
  EXPECT_EQ(load(data, 2), std::ldexp(1, -24));
  EXPECT_EQ(load(data, 3), INFINITY);
  EXPECT_EQ(load(data, 4), 65504);
  uint16_t bf16[] = {0x3fc0};
  EXPECT_EQ(floatLoader("BF16")(reinterpret_cast<char *>(bf16), 0), 1.5);
  EXPECT_EQ(floatLoader("I32"), nullptr);
}

const char *const goodConfig =
    R"({"lr": 0.05, "betas": [0.9, 0.95], "eps": 0.01, "weight_decay": 0.5,
        "grad_clip": 0.8, "steps": 8, "batch": 8, "seq": 32,
        "schedule": {"kind": "cosine", "warmup_steps": 3, "decay_steps": 7,
                     "min_lr": 0.01}})";

TEST(TrainConfig, CosineSchedule) {
  TrainConfig c = TrainConfig::parse(goodConfig, "c", 8, 32);
  EXPECT_EQ(c.beta2, 0.95);
  EXPECT_DOUBLE_EQ(c.lrAt(0), 0.05 / 3);
  EXPECT_DOUBLE_EQ(c.lrAt(2), 0.05);
  EXPECT_DOUBLE_EQ(c.lrAt(3), 0.05);
  EXPECT_DOUBLE_EQ(c.lrAt(5), 0.03); // halfway
  EXPECT_DOUBLE_EQ(c.lrAt(4), 0.01 + 0.04 * 0.5 * (1 + std::sqrt(0.5)));
  EXPECT_DOUBLE_EQ(c.lrAt(7), 0.01);
  EXPECT_DOUBLE_EQ(c.lrAt(700), 0.01);
}

TEST(TrainConfig, LinearAndConstantSchedule) {
  TrainConfig c;
  c.lr = 1;
  EXPECT_EQ(c.lrAt(0), 1);
  c.schedule = {Schedule::Kind::Linear, 0, 4, 0};
  EXPECT_DOUBLE_EQ(c.lrAt(0), 1);
  EXPECT_DOUBLE_EQ(c.lrAt(1), 0.75);
  EXPECT_DOUBLE_EQ(c.lrAt(4), 0);
  c.schedule = {Schedule::Kind::Constant, 2, 0, 0};
  EXPECT_DOUBLE_EQ(c.lrAt(0), 0.5);
  EXPECT_DOUBLE_EQ(c.lrAt(9), 1);
  c.schedule = {Schedule::Kind::Linear, 2, 2, 0.25}; // falls at once
  EXPECT_DOUBLE_EQ(c.lrAt(1), 1);
  EXPECT_DOUBLE_EQ(c.lrAt(2), 0.25);
}

TEST(TrainConfig, BadFiles) {
  auto change = [](const std::string &from, const std::string &to) {
    std::string text = goodConfig;
    size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos);
    text.replace(at, from.size(), to);
    return errorOf([&] { TrainConfig::parse(text, "c", 8, 32); });
  };
  struct {
    const char *from, *to, *message;
  } cases[] = {
      {"\"lr\": 0.05", "\"lr\": -1", "'lr' is -1"},
      {"\"lr\": 0.05", "\"lr\": \"x\"", "'lr' must be a number"},
      {"\"lr\": 0.05", "\"lr\": 1e999", "JSON"},
      // f32 does not hold it.
      {"\"lr\": 0.05", "\"lr\": 1e39", "'lr' is 1e+39; it must be at least"},
      {"\"lr\": 0.05,", "", "'lr' is missing"},
      {"\"lr\": 0.05", "\"lr\": 1, \"lr\": 2", "stands twice"},
      {"\"lr\": 0.05", "\"lr\": 1, \"momentum\": 2", "'momentum' is unknown"},
      {"[0.9, 0.95]", "[0.9]", "two numbers"},
      {"[0.9, 0.95]", "[0.9, 1.0]", "less than 1"},
      {"\"steps\": 8", "\"steps\": 0", "'steps' is 0"},
      {"\"steps\": 8", "\"steps\": 8.5", "must be an integer"},
      {"\"batch\": 8", "\"batch\": 4", "'batch' is 4, the program"},
      {"\"seq\": 32", "\"seq\": 33", "'seq' is 33, the program"},
      {"cosine", "sine", "kind 'sine' is unknown"},
      {"\"decay_steps\": 7", "\"decay_steps\": 2", "at least 3"},
      {"\"min_lr\": 0.01", "\"min_lr\": 0.06", "'min_lr' is 0.06"},
      {"\"min_lr\"", "\"minlr\"", "'minlr' is unknown"},
      {"}}", "}", "not valid JSON"},
  };
  for (auto &[from, to, message] : cases)
    EXPECT_NE(change(from, to).find(message), std::string::npos)
        << message << " expected, got: " << change(from, to);
}

/// Two stages, of which both have the tensor w and the last one b.
const char *const twoStages =
    R"({"version": "0", "hash": "", "flags": "", "cpu": "", "cpu_features": [],
"mesh": [["pp", 2], ["dp", 2]], "batch": 2, "seq": 4, "vocab": 8,
"microbatches": 1, "documents": false, "workspace_bytes": 0,
"collective_slots": 1, "tensors": [
{"name": "w", "stored": "w", "dtype": "f32", "shape": [4], "padded": [4],
 "cut": [[[1, 2]]], "stored_shape": [4], "stored_offset": 0,
 "stored_strides": [1], "init": {"kind": "ones"}},
{"name": "b", "stored": "b", "dtype": "f32", "shape": [4], "padded": [4],
 "cut": [[]], "stored_shape": [4], "stored_offset": 0,
 "stored_strides": [1], "init": {"kind": "zeros"}}],
"pipeline_ranks": [
{"arena_bytes": 256, "memory": [["all", 256]], "inputs": [
  {"name": "input_ids", "offset": 64, "dtype": "i32", "shape": [2, 4],
   "padded": [2, 4], "cut": [[[1, 2]], []]}],
 "scalars": {"rng": 0, "optimizer": 8},
 "outputs": {"loss": 40, "grad_norm": 44, "labels": 48, "skipped": 52},
 "tensors": [{"tensor": 0, "offset": 96, "grad": 104, "m": 112, "v": 120}]},
{"arena_bytes": 512, "memory": [["all", 512]], "inputs": [],
 "scalars": {"rng": 64, "optimizer": 72},
 "outputs": {"loss": 104, "grad_norm": 108, "labels": 112, "skipped": 116},
 "tensors": [{"tensor": 1, "offset": 128, "grad": 144, "m": 160, "v": 176},
             {"tensor": 0, "offset": 192, "grad": 200, "m": 208, "v": 504}]}
]})";

TEST(ProgramDescription, PipelineRanks) {
  Program p = Program::parse(twoStages);
  EXPECT_EQ(p.ranks(), 4);
  EXPECT_EQ(p.ranksPerCoordinate(), 2);
  EXPECT_EQ(p.of(1).arenaBytes, 256);
  EXPECT_EQ(p.of(2).arenaBytes, 512);
  EXPECT_EQ(p.of(1).inputs.size(), 1u);
  EXPECT_EQ(p.of(3).loss, 104);
  EXPECT_EQ(p.firstCoordinate(0), 0u);
  EXPECT_EQ(p.firstCoordinate(1), 1u);
  EXPECT_EQ(p.of(0).find(1), nullptr);
  EXPECT_EQ(p.of(0).find(0)->at(Slot::Grad), 104);
  EXPECT_EQ(p.of(2).find(0)->at(Slot::V), 504);
  EXPECT_EQ(p.of(2).find(1)->at(Slot::M), 160);

  struct {
    const char *from, *to, *message;
  } cases[] = {
      {R"(["pp", 2], ["dp", 2])", R"(["dp", 2], ["pp", 2])",
       "pp is not the first axis of the mesh dp=2,pp=2"},
      {R"(["pp", 2])", R"(["pp", 3])",
       "pipeline_ranks has 2 entries, the mesh pp=3,dp=2 needs 3"},
      {R"(["pp", 2], )", "", "the mesh dp=2 needs 1"},
      {R"("tensor": 1)", R"("tensor": 2)",
       "pipeline rank 1: tensor 2 is not one of the 2 tensors"},
      {R"("tensor": 1)", R"("tensor": 0)", "tensor 'w' is there twice"},
      {R"({"tensor": 1, "offset": 128, "grad": 144, "m": 160, "v": 176},)", "",
       "tensor 'b' is on no pipeline rank"},
      {R"("v": 504)", R"("v": 505)",
       "pipeline rank 1: tensor 'w' lies outside the arena"},
      {R"("offset": 64)", R"("offset": 248)",
       "pipeline rank 0: input 'input_ids' lies outside the arena"},
      {R"("skipped": 116)", R"("skipped": 510)",
       "pipeline rank 1: outputs 'skipped' lies outside the arena"},
      // pp cuts nothing.
      {R"([[[1, 2]]])", R"([[[2, 2]]])",
       "tensor 'w': an axis does not lie in the mesh"},
  };
  for (auto &[from, to, message] : cases) {
    std::string text = twoStages;
    size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, strlen(from), to);
    std::string error = errorOf([&] { Program::parse(text.c_str()); });
    EXPECT_NE(error.find(message), std::string::npos)
        << message << " expected, got: " << error;
  }
}

/// Of w, the gradient is whole and the moments are cut twice; b has a master
/// copy.
TEST(ProgramDescription, SlotsWithPiecesOfTheirOwn) {
  std::string text = twoStages;
  auto replace = [](std::string in, const std::string &from,
                    const std::string &to) {
    size_t at = in.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return in.replace(at, from.size(), to);
  };
  const std::string whole =
      R"("grad": {"dtype": "f32", "shape": [4], "padded": [4], "cut": [[]]})";
  text = replace(text, R"({"name": "w", )",
                 R"({"name": "w", "pieces": {)" + whole + R"(,
"m": {"dtype": "f32", "shape": [4], "padded": [6], "cut": [[[1, 2]]]}}, )");
  text = replace(text, R"({"name": "b", )", R"({"name": "b", "pieces": {
"master": {"dtype": "f64", "shape": [4], "padded": [4], "cut": [[]]}}, )");
  text =
      replace(text, R"("offset": 128, )", R"("offset": 128, "master": 224, )");
  Program p = Program::parse(text.c_str());
  const Tensor &w = p.tensors[0], &b = p.tensors[1];
  EXPECT_EQ(w.piece(Slot::Param).localBytes(), 8);
  EXPECT_EQ(w.piece(Slot::Grad).localBytes(), 16);
  EXPECT_EQ(w.piece(Slot::M).localBytes(), 12);
  EXPECT_EQ(w.piece(Slot::V).localBytes(), 8);
  EXPECT_EQ(b.piece(Slot::Master).type, DTC_F64);
  EXPECT_EQ(p.of(3).find(1)->at(Slot::Master), 224);
  EXPECT_TRUE(p.of(3).find(1)->has(Slot::Master));
  EXPECT_FALSE(p.of(3).find(0)->has(Slot::Master));

  auto error = [&](const std::string &from, const std::string &to) {
    std::string bad = replace(text, from, to);
    return errorOf([&] { Program::parse(bad.c_str()); });
  };
  // The piece of another size counts: 485 + 32 > 512.
  EXPECT_NE(error(R"("master": 224)", R"("master": 485)")
                .find("tensor 'b' lies outside the arena"),
            std::string::npos);
  EXPECT_NE(error(R"("padded": [6])", R"("padded": [5])")
                .find("tensor 'w', m: a padded length is not a multiple"),
            std::string::npos);
  EXPECT_NE(
      error(R"("shape": [4], "padded": [6])", R"("shape": [6], "padded": [6])")
          .find("tensor 'w', m: its shape is [6], the parameter's is "
                "[4]"),
      std::string::npos);
}

Program dataProgram() {
  Program program;
  program.batch = 2;
  program.seq = 4;
  program.vocab = 256;
  program.mesh = {{"dp", 1}};
  return program;
}

TEST(Data, OrderOfSamplesIsAPermutation) {
  for (uint64_t n : {1, 2, 3, 5, 64, 1000})
    for (uint32_t epoch : {0, 1}) {
      std::set<uint64_t> seen;
      for (uint64_t i = 0; i < n; ++i) {
        uint64_t x = permuted(i, n, 3, epoch);
        EXPECT_LT(x, n);
        seen.insert(x);
      }
      EXPECT_EQ(seen.size(), n);
    }
  int equal = 0;
  for (uint64_t i = 0; i < 1000; ++i)
    equal += permuted(i, 1000, 3, 0) == permuted(i, 1000, 4, 0);
  EXPECT_LT(equal, 20);
}

TEST(Data, Text) {
  std::string path = temporary("text"), bytes;
  for (int i = 0; i < 103; ++i)
    bytes += char(i + 100);
  writeFile(path, bytes);
  Program program = dataProgram();
  auto source = openTokens(path, 1, 5, program);
  std::set<int> starts;
  for (int64_t step = 0; step < 12; ++step)
    for (int64_t row = 0; row < 2; ++row) {
      int32_t ids[4], labels[4], tail[2];
      source->read(InputKind::Ids, 2 * step + row, 0, 4, ids);
      source->read(InputKind::Labels, 2 * step + row, 0, 4, labels);
      source->read(InputKind::Ids, 2 * step + row, 2, 2, tail);
      starts.insert(ids[0]);
      EXPECT_EQ(ids[0] % 4, 0);
      for (int i = 0; i < 4; ++i)
        EXPECT_EQ(labels[i], ids[i] + 1);
      EXPECT_EQ(tail[1], ids[3]);
    }
  EXPECT_EQ(starts.size(), 24u) << "an epoch visits no window twice";
  writeFile(path, "abcd");
  EXPECT_NE(errorOf([&] {
              openTokens(path, 1, 5, program);
            }).find("4 bytes, less than one sample, which has 5"),
            std::string::npos);
  writeFile(path, "abcde");
  EXPECT_EQ(errorOf([&] { openTokens(path, 1, 5, program); }), "");
  program.vocab = 255;
  EXPECT_NE(errorOf([&] { openTokens(path, 1, 5, program); }).find("256"),
            std::string::npos);
  unlink(path.c_str());
}

TEST(Data, Tokens) {
  std::string path = temporary("tokens");
  uint16_t tokens[] = {0, 1, 2, 3, 4, 299, 6};
  writeFile(path, std::string(reinterpret_cast<char *>(tokens), 14));
  Program program = dataProgram();
  program.vocab = 300;
  auto source = openTokens(path, 2, 0, program);
  EXPECT_EQ(errorOf([&] { source->check(0, 2); }), "");
  program.vocab = 299;
  EXPECT_NE(errorOf([&] { source->check(0, 2); }).find("token 5 is 299"),
            std::string::npos);
  writeFile(path, "12345");
  EXPECT_NE(errorOf([&] {
              openTokens(path, 2, 0, program);
            }).find("no multiple of 2"),
            std::string::npos);
  unlink(path.c_str());
}

TEST(Data, Batches) {
  std::string path = temporary("batches");
  auto write = [&](int32_t id, int32_t label, const char *name = "labels") {
    std::string header =
        std::string(R"({"input_ids":{"dtype":"I32","shape":[2,2,4],)") +
        R"("data_offsets":[0,64]},")" + name +
        R"(":{"dtype":"I32","shape":[2,2,4],"data_offsets":[64,128]}})";
    std::string bytes = safetensors(header, 128);
    memcpy(bytes.data() + bytes.size() - 128 + 4 * 14, &id, 4);
    memcpy(bytes.data() + bytes.size() - 64 + 4 * 14, &label, 4);
    writeFile(path, bytes);
  };
  Program program = dataProgram();
  auto check = [&] {
    return errorOf([&] { openBatches(path, program)->check(0, 4); });
  };
  write(255, -100);
  EXPECT_EQ(check(), "");
  write(256, 0);
  EXPECT_NE(check().find("input_ids at step 1, row 1, column 2 is 256"),
            std::string::npos);
  write(-100, 0);
  EXPECT_NE(check().find("is -100"), std::string::npos);
  write(0, -1);
  EXPECT_NE(check().find("labels at step 1, row 1, column 2 is -1"),
            std::string::npos);
  write(0, 0, "targets");
  EXPECT_NE(check().find("unknown tensor 'targets'"), std::string::npos);
  program.batch = 4;
  write(0, 0);
  EXPECT_NE(check().find("[2, 2, 4]; it must be [steps, 4, 4]"),
            std::string::npos);
  program.batch = 2;
  program.documents = true;
  EXPECT_NE(check().find("'document_ids' is missing"), std::string::npos);
  unlink(path.c_str());
}

TEST(Options, Parsing) {
  Options o = Options::parse(
      {"--text=a=b", "--steps", "3", "--collectives=ring", "--timeout=2.5"});
  EXPECT_EQ(o.text, "a=b");
  EXPECT_EQ(*o.steps, 3);
  EXPECT_TRUE(o.ring);
  EXPECT_EQ(o.timeout, 2.5);
  o = Options::parse({"--text=a", "--save", "b//", "--resume=/"});
  EXPECT_EQ(o.save, "b");
  EXPECT_EQ(o.resume, "/");
  struct {
    std::vector<std::string> arguments;
    const char *message;
  } cases[] = {
      {{"--txt", "a"}, "unknown flag '--txt'; did you mean '--text'?"},
      {{"--zzzzzzzzzz"}, "--help lists"},
      {{"file"}, "unexpected argument 'file'"},
      {{"--text"}, "--text needs a value"},
      {{"--text", "a", "--steps", "0"}, "--steps: '0' is not an integer"},
      {{"--text", "a", "--steps", "3x"}, "'3x'"},
      {{"--text", "a", "--steps", "+3"}, "'+3'"},
      {{"--text", "a", "--steps", ""}, "''"},
      {{"--text", "a", "--steps", "99999999999999999999"}, "--steps"},
      {{"--text", "a", "--text", "b"}, "given twice"},
      {{"--text", "a", "--keep", "2"}, "--keep needs --save DIR"},
      {{"--text", "a", "--save-every=2"}, "--save-every needs --save DIR"},
      {{"--text", "a", "--save-sync"}, "--save-sync needs --save DIR"},
      {{"--text", "a", "--stop-after", "2"}, "--stop-after needs --save DIR"},
      {{"--text", "a", "--save", "d", "--stop-after", "0"}, "of minutes"},
      {{"--text", "a", "--save", "d", "--save-every", "0"}, "'0' is not"},
      {{"--text", "a", "--resume-weights-only"}, "needs --resume DIR"},
      {{"--text", "a", "--resume", "d", "--weights", "w"}, "name one"},
      {{"--text", "a", "--trace="}, "--trace: an empty path"},
      {{"--text", "a", "--batches", "b"}, "more than one source"},
      {{}, "no source"},
      {{"--text", "a", "--collectives", "tree"}, "direct or ring"},
      {{"--text", "a", "--timeout", "-1"}, "positive number"},
      {{"--help=1"}, "takes no value"},
  };
  for (auto &[arguments, message] : cases) {
    auto &list = arguments;
    std::string error = errorOf([&] { Options::parse(list); });
    EXPECT_NE(error.find(message), std::string::npos)
        << message << " expected, got: " << error;
  }
}

TEST(Log, NumbersReadBack) {
  StepRecord record;
  record.loss = 0.1f;
  record.gradNorm = NAN;
  record.skipped = true;
  record.reason = "not finite";
  record.badTensor = "w";
  char text[1024];
  int n = formatStep(record, text, sizeof(text));
  std::string line(text, size_t(n));
  EXPECT_NE(line.find("\"loss\": 0.1,"), std::string::npos) << line;
  EXPECT_NE(line.find("\"grad_norm\": null"), std::string::npos) << line;
  EXPECT_NE(line.find("\"bad_tensor\": \"w\"}"), std::string::npos) << line;
}

TEST(Pieces, CutAndPadded) {
  Piece piece;
  piece.shape = {3, 5};
  piece.padded = {3, 8};
  // Ranks 0..7 as [4 (stride 2), 2]; the second dimension is cut by both.
  piece.cut = {{}, {{2, 4}}};
  EXPECT_EQ(piece.localElements(), 6);
  EXPECT_TRUE(piece.isFirstCopy(4));
  EXPECT_FALSE(piece.isFirstCopy(5));
  std::set<std::pair<int64_t, int64_t>> seen;
  for (int64_t rank : {0, 2, 4, 6})
    piece.forEachRun(
        rank, [&](int64_t local, const std::vector<int64_t> &index, int64_t n) {
          EXPECT_EQ(local, index[0] * 2);
          for (int64_t i = 0; i < n; ++i)
            EXPECT_TRUE(seen.insert({index[0], index[1] + i}).second);
        });
  EXPECT_EQ(seen.size(), 15u);
}

} // namespace
