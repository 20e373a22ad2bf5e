//===- CheckpointTest.cpp - Layout, runs, checksums, completeness ---------===//

#include "dtc/Runtime/Checkpoint/Checkpoint.h"
#include "dtc/Runtime/Checkpoint/Checksum.h"
#include "dtc/Runtime/Checkpoint/Folder.h"
#include "dtc/Runtime/Checkpoint/Layout.h"
#include "dtc/Runtime/Checkpoint/Owner.h"
#include "dtc/Runtime/Checkpoint/SameModel.h"
#include "dtc/Runtime/Checkpoint/StateWriter.h"
#include "dtc/Runtime/Checkpoint/StoredRuns.h"
#include "dtc/Runtime/Error.h"
#include "dtc/Runtime/FileSystem.h"
#include "dtc/Runtime/Hash.h"
#include "dtc/Runtime/Log.h"
#include "dtc/Runtime/Values.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace dtc::rt;

namespace {

std::string errorOf(const std::function<void()> &f) {
  try {
    f();
  } catch (const Error &e) {
    return e.what();
  }
  return "";
}

#define EXPECT_CONTAINS(text, part)                                            \
  EXPECT_NE((text).find(part), std::string::npos) << (text)

int64_t product(const std::vector<int64_t> &numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), int64_t(1),
                         std::multiplies<int64_t>());
}

/// Views and pieces that are drawn, and programs of them.
struct Draw {
  std::mt19937 gen;
  explicit Draw(uint32_t seed) : gen(seed) {}

  int64_t number(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(gen);
  }

  /// Views that together are a stored tensor: it is cut along one dimension,
  /// and every view has its dimensions in an order of its own.
  std::vector<Tensor> views(const std::string &name) {
    size_t rank = size_t(number(0, 4));
    std::vector<int64_t> shape, strides(rank, 1);
    for (size_t d = 0; d < rank; ++d)
      shape.push_back(number(1, 7));
    for (size_t d = rank; d-- > 1;)
      strides[d - 1] = strides[d] * shape[d];
    size_t along = rank ? size_t(number(0, int64_t(rank) - 1)) : 0;
    std::vector<Tensor> list;
    for (int64_t begin = 0, end; !rank || begin < shape[along]; begin = end) {
      end = rank ? number(begin + 1, shape[along]) : 1;
      std::vector<size_t> order(rank);
      std::iota(order.begin(), order.end(), 0);
      std::shuffle(order.begin(), order.end(), gen);
      Tensor tensor;
      tensor.name = cat(name, list.size());
      tensor.stored = name;
      tensor.storedShape = shape;
      tensor.storedOffset = rank ? begin * strides[along] : 0;
      for (size_t d : order) {
        int64_t n = d == along ? end - begin : shape[d];
        tensor.shape.push_back(n);
        tensor.storedStrides.push_back(strides[d]);
        // Also backwards, which no import makes.
        if (number(0, 7) == 0) {
          tensor.storedOffset += (n - 1) * strides[d];
          tensor.storedStrides.back() = -strides[d];
        }
      }
      list.push_back(std::move(tensor));
      if (!rank)
        break;
    }
    return list;
  }

  /// Axes of a mesh (2, 3, 2) are given to dimensions, each at most once.
  Piece piece(const Piece &logical) {
    Piece piece;
    piece.shape = piece.padded = logical.shape;
    piece.cut.resize(piece.shape.size());
    for (dtc_axis axis : {dtc_axis{6, 2}, dtc_axis{2, 3}, dtc_axis{1, 2}})
      if (int64_t d = number(-1, int64_t(piece.shape.size()) - 1); d >= 0)
        piece.cut[size_t(d)].push_back(axis);
    for (size_t d = 0; d < piece.shape.size(); ++d) {
      int64_t k = 1;
      for (const dtc_axis &axis : piece.cut[d])
        k *= axis.size;
      piece.padded[d] = (piece.shape[d] + k - 1) / k * k;
      if (number(0, 2) == 0)
        piece.padded[d] += k;
    }
    return piece;
  }

  /// On `stages` times twelve ranks, some tensors on several stages. Each slot
  /// has a piece of its own.
  Program program(int64_t stages, bool master) {
    Program p;
    p.mesh = {{"pp", stages}, {"dp", 2}, {"cp", 3}, {"tp", 2}};
    p.pipelineRanks.resize(size_t(stages));
    std::vector<int64_t> used(size_t(stages), 0);
    for (int i = 0; i < 5; ++i) {
      int64_t first = number(0, stages - 1);
      bool tied = number(0, 3) == 0;
      for (Tensor &tensor : views(cat("w", i))) {
        Piece parameter = piece(tensor);
        static_cast<Piece &>(tensor) = parameter;
        for (Slot slot : {Slot::Grad, Slot::M, Slot::V, Slot::Master})
          tensor.otherPieces[slot] = piece(parameter);
        for (int64_t s = first; s < (tied ? stages : first + 1); ++s) {
          Place place;
          place.tensor = p.tensors.size();
          for (Slot slot :
               {Slot::Param, Slot::Grad, Slot::M, Slot::V, Slot::Master}) {
            if (slot == Slot::Master && !master)
              continue;
            place.offsets[int(slot)] = used[size_t(s)];
            used[size_t(s)] += (tensor.piece(slot).localBytes() + 63) / 64 * 64;
          }
          p.pipelineRanks[size_t(s)].tensors.push_back(place);
        }
        p.tensors.push_back(tensor);
      }
    }
    for (int64_t s = 0; s < stages; ++s)
      p.pipelineRanks[size_t(s)].arenaBytes = used[size_t(s)];
    return p;
  }
};

// Runs ------------------------------------------------------------------------

/// Against the plain loop over the view: the same elements, in the order of the
/// stored tensor, in no more runs than there are elements.
TEST(StoredRuns, EqualThePlainLoop) {
  Draw draw(1);
  int transposed = 0;
  for (int i = 0; i < 2000; ++i) {
    Tensor tensor = draw.views("w").front();
    static_cast<Piece &>(tensor) = draw.piece(tensor);
    int64_t rank = draw.number(0, 11);
    std::map<int64_t, int64_t> expected, found;
    tensor.forEachRun(
        rank, [&](int64_t local, const std::vector<int64_t> &index, int64_t n) {
          std::vector<int64_t> at = index;
          for (int64_t k = 0; k < n; ++k) {
            expected[tensor.storedIndex(at)] = local + k;
            if (!at.empty())
              ++at.back();
          }
        });
    StoredRuns runs(tensor, Slot::Param, rank);
    EXPECT_EQ(runs.elements(), int64_t(expected.size()));
    int64_t before = -1;
    runs.forEach([&](int64_t stored, int64_t local, int64_t n, int64_t stride) {
      EXPECT_GT(stored, before);
      transposed += n > 1 && stride != 1;
      for (int64_t k = 0; k < n; ++k)
        found[stored + k] = local + k * stride;
      before = stored + n - 1;
    });
    EXPECT_EQ(found, expected);
  }
  EXPECT_GT(transposed, 100);
}

/// A whole matrix is one run, a transposed one a run for each row, and a slice
/// of columns too.
TEST(StoredRuns, AreAsLongAsTheyCanBe) {
  auto runsOf = [](std::vector<int64_t> strides, int64_t columns) {
    Tensor tensor;
    tensor.shape = tensor.padded = strides[0] > strides[1]
                                       ? std::vector<int64_t>{5, columns}
                                       : std::vector<int64_t>{columns, 5};
    tensor.cut.resize(2);
    tensor.storedShape = {5, 8};
    tensor.storedStrides = strides;
    int runs = 0;
    StoredRuns(tensor, Slot::Param, 0)
        .forEach([&](int64_t, int64_t, int64_t, int64_t) { ++runs; });
    return runs;
  };
  EXPECT_EQ(runsOf({8, 1}, 8), 1);
  EXPECT_EQ(runsOf({1, 8}, 8), 5);
  EXPECT_EQ(runsOf({8, 1}, 7), 5);
}

// Owners ----------------------------------------------------------------------

/// Every element of every stored tensor is written once, in each slot, at the
/// place that the layout gives it, whatever the pieces are.
TEST(Owners, WriteEveryElementOnce) {
  Draw draw(2);
  for (int i = 0; i < 100; ++i) {
    int64_t stages = draw.number(1, 3);
    Program p = draw.program(stages, i % 2);
    CheckpointLayout layout(p, 400);
    std::vector<std::vector<int>> written;
    for (const StateFile &file : layout.files())
      written.emplace_back(size_t(file.bytes), 0);
    for (int64_t rank = 0; rank < p.ranks(); ++rank)
      for (const Place &place : p.of(rank).tensors)
        for (Slot slot : {Slot::Param, Slot::M, Slot::V, Slot::Master}) {
          if (!place.has(slot) || !owns(p, rank, place.tensor, slot))
            continue;
          const Tensor &tensor = p.tensors[place.tensor];
          const StateTensor &state = layout.find(slot, tensor.stored);
          StoredRuns(tensor, slot, rank)
              .forEach([&](int64_t stored, int64_t, int64_t n, int64_t) {
                for (int64_t b = 4 * stored; b < 4 * (stored + n); ++b)
                  ++written[state.file][size_t(state.offset + b)];
              });
        }
    for (size_t f = 0; f < written.size(); ++f)
      for (size_t b = 0; b < written[f].size(); ++b)
        ASSERT_EQ(written[f][b], b >= layout.files()[f].header.size())
            << layout.files()[f].name << " byte " << b;
  }
}

TEST(Owners, CopiesAreNumbered) {
  Piece piece;
  piece.shape = piece.padded = {12};
  // Ranks 0..11 are [2, 3, 2]; the axis in the middle cuts.
  piece.cut = {{{2, 3}}};
  for (int64_t rank = 0; rank < 12; ++rank)
    EXPECT_EQ(piece.copyOf(rank, 12),
              std::pair(rank / 6 * 2 + rank % 2, int64_t(4)));
  piece.cut = {{}};
  EXPECT_EQ(piece.copyOf(7, 12), std::pair(int64_t(7), int64_t(12)));
  piece.cut = {{{6, 2}, {1, 6}}};
  EXPECT_EQ(piece.copyOf(7, 12), std::pair(int64_t(0), int64_t(1)));
}

// Layout ----------------------------------------------------------------------

Program modelOf(std::vector<std::pair<std::string, std::vector<int64_t>>> items,
                bool master = false) {
  Program p;
  p.mesh = {{"dp", 1}};
  p.pipelineRanks.resize(1);
  for (auto &[name, shape] : items) {
    Tensor tensor;
    tensor.name = tensor.stored = name;
    tensor.shape = tensor.padded = tensor.storedShape = shape;
    tensor.cut.resize(shape.size());
    tensor.storedStrides.assign(shape.size(), 1);
    for (size_t d = shape.size(); d-- > 1;)
      tensor.storedStrides[d - 1] = tensor.storedStrides[d] * shape[d];
    if (master) {
      for (Slot slot : {Slot::M, Slot::V, Slot::Master})
        tensor.otherPieces[slot] = tensor;
      tensor.type = DTC_BF16;
    }
    Place place;
    place.tensor = p.tensors.size();
    place.offsets[int(Slot::Master)] = master ? 0 : -1;
    p.pipelineRanks[0].tensors.push_back(place);
    p.tensors.push_back(tensor);
  }
  return p;
}

/// What a reader of safetensors finds in the files is what the layout says.
TEST(Layout, OffsetsAreThoseOfTheHeaders) {
  Program p = modelOf({{"a.weight", {5, 3}}, {"b", {7}}, {"c", {2, 2}}}, true);
  CheckpointLayout layout(p, 40);
  std::map<std::string, int> tensors;
  size_t at = 0;
  for (size_t f = 0; f < layout.files().size(); ++f) {
    const StateFile &file = layout.files()[f];
    EXPECT_EQ(file.header.size() % 8, 0u);
    std::string bytes = file.header;
    bytes.resize(size_t(file.bytes));
    for (const SafetensorsEntry &entry :
         parseSafetensors(bytes.data(), file.bytes, file.name)) {
      const StateTensor &state = layout.tensors()[at++];
      EXPECT_EQ(state.file, f);
      EXPECT_EQ(state.name, entry.name);
      EXPECT_EQ(state.shape, entry.shape);
      EXPECT_EQ(state.offset, entry.data - bytes.data());
      EXPECT_EQ(entry.dtype, state.slot == Slot::Param ? "BF16" : "F32");
      EXPECT_EQ(state.bytes, sizeOf(state.type) * product(entry.shape));
      ++tensors[entry.name];
    }
  }
  EXPECT_EQ(at, layout.tensors().size());
  EXPECT_EQ(at, 12u);
  for (const char *name : {"a.weight", "master.b", "m.c", "v.a.weight"})
    EXPECT_EQ(tensors[name], 1) << name;
  // 30 and 14 bytes do not fit into 40, and 14 and 8 do.
  EXPECT_EQ(layout.files()[0].name, "model-00001-of-00002.safetensors");
  EXPECT_EQ(layout.files()[1].name, "model-00002-of-00002.safetensors");
  EXPECT_EQ(layout.files()[2].name.substr(0, 15), "optimizer-00001");
  Json index = parseJson(layout.index(), "index");
  EXPECT_EQ(index["metadata"]["total_size"], 52);
  EXPECT_EQ(index["weight_map"].size(), 3u);
  EXPECT_EQ(index["weight_map"]["c"], "model-00002-of-00002.safetensors");
}

TEST(Layout, IsTheSameForEveryMesh) {
  for (uint32_t seed = 0; seed < 30; ++seed) {
    // The same stored tensors on one stage and on three, in other pieces.
    Draw draw(seed);
    Program one = draw.program(1, false), three = one;
    three.mesh[0].second = 3;
    three.pipelineRanks.resize(3);
    std::vector<Place> places = one.pipelineRanks[0].tensors;
    three.pipelineRanks[0].tensors.clear();
    for (const Place &place : places)
      three.pipelineRanks[place.tensor % 3].tensors.push_back(place);
    for (Tensor &tensor : three.tensors)
      for (auto &[slot, piece] : tensor.otherPieces)
        piece = draw.piece(tensor);
    CheckpointLayout a(one, 300), b(three, 300);
    ASSERT_EQ(a.files().size(), b.files().size());
    for (size_t f = 0; f < a.files().size(); ++f) {
      EXPECT_EQ(a.files()[f].name, b.files()[f].name);
      EXPECT_EQ(a.files()[f].header, b.files()[f].header);
    }
  }
}

TEST(Layout, NamesOfOptimizerState) {
  for (Slot slot : {Slot::M, Slot::V, Slot::Master}) {
    Slot found = Slot::Param;
    std::string stored;
    ASSERT_TRUE(parseStateName(stateName(slot, "m.v.w"), found, stored));
    EXPECT_EQ(found, slot);
    EXPECT_EQ(stored, "m.v.w");
  }
  Slot slot;
  std::string stored;
  EXPECT_FALSE(parseStateName("wte.weight", slot, stored));
}

// Checksums -------------------------------------------------------------------

TEST(Checksums, AreSumsOfParts) {
  std::mt19937 gen(3);
  for (int64_t width : {1, 2, 4, 8}) {
    std::string data(size_t(width) * 100, 0);
    for (char &c : data)
      c = char(gen());
    uint64_t whole = sumElements(data.data(), width, 5, 100);
    EXPECT_EQ(sumElements(data.data() + 30 * width, width, 35, 70) +
                  sumElements(data.data(), width, 5, 30),
              whole);
    EXPECT_NE(sumElements(data.data(), width, 6, 100), whole);
    for (size_t i = 0; i < data.size(); ++i)
      for (int bit = 0; bit < 8; ++bit) {
        data[i] = char(data[i] ^ 1 << bit);
        EXPECT_NE(sumElements(data.data(), width, 5, 100), whole);
        data[i] = char(data[i] ^ 1 << bit);
      }
  }
  // Two that change places.
  float x[] = {1, 2};
  float y[] = {2, 1};
  EXPECT_NE(sumElements(reinterpret_cast<char *>(x), 4, 0, 2),
            sumElements(reinterpret_cast<char *>(y), 4, 0, 2));
}

TEST(Checksums, FiniteValues) {
  float f[] = {0, -1, std::numeric_limits<float>::max(),
               std::numeric_limits<float>::denorm_min()};
  EXPECT_TRUE(allFinite(DTC_F32, reinterpret_cast<char *>(f), 4));
  for (float bad : {INFINITY, -INFINITY, NAN, -NAN}) {
    f[3] = bad;
    EXPECT_FALSE(allFinite(DTC_F32, reinterpret_cast<char *>(f), 4));
    EXPECT_TRUE(allFinite(DTC_F32, reinterpret_cast<char *>(f), 3));
    double d = double(bad);
    EXPECT_FALSE(allFinite(DTC_F64, reinterpret_cast<char *>(&d), 1));
  }
  uint16_t b[] = {0x7f7f, 0xff7f, 0x0001};
  EXPECT_TRUE(allFinite(DTC_BF16, reinterpret_cast<char *>(b), 3));
  for (uint16_t bad : {0x7f80, 0xff80, 0x7fc0, 0x7f81}) {
    b[1] = bad;
    EXPECT_FALSE(allFinite(DTC_BF16, reinterpret_cast<char *>(b), 3));
  }
}

// trainer.json ----------------------------------------------------------------

Manifest sample() {
  Manifest m;
  m.state = {100, 99, 800};
  m.seed = 4000000000u;
  m.settings = {{"lr", 3e-4}, {"mesh", "dp=2"}, {"betas", {0.9, 0.95}}};
  m.files = {{"a.safetensors", 64, "0123"}, {"b.json", 2, checksumOf("{}")}};
  return m;
}

TEST(Manifests, ReadBack) {
  std::string text = sample().text();
  Manifest m = Manifest::parse(text, "t");
  EXPECT_EQ(m.state.step, 100);
  EXPECT_EQ(m.state.updates, 99);
  EXPECT_EQ(m.state.samples, 800);
  EXPECT_EQ(m.seed, 4000000000u);
  EXPECT_EQ(m.find("a.safetensors")->bytes, 64);
  EXPECT_EQ(m.find("c"), nullptr);
  EXPECT_EQ(m.text(), text);
}

/// A byte that is changed or lost is seen, unless it says the same all the same
/// (a space).
TEST(Manifests, AnyByteChanged) {
  std::string good = sample().text();
  int refused = 0;
  for (size_t i = 0; i < good.size(); ++i)
    for (char c : {' ', '9', '"', '\0', '-'}) {
      std::string bad = good;
      bad[i] = c;
      std::string same;
      if (std::string error =
              errorOf([&] { same = Manifest::parse(bad, "t").text(); });
          error.empty())
        EXPECT_EQ(same, good) << bad;
      else
        ++refused;
    }
  EXPECT_GT(refused, int(good.size()) * 3);
  for (size_t n = 0; n + 2 < good.size(); n += 7)
    EXPECT_CONTAINS(errorOf([&] { Manifest::parse(good.substr(0, n), "t"); }),
                    "t");
}

TEST(Manifests, NamesStayInTheFolder) {
  for (const char *name : {"../x", "a/b", ".hidden", ""}) {
    Manifest m = sample();
    m.files[0].name = name;
    EXPECT_CONTAINS(errorOf([&] { Manifest::parse(m.text(), "t"); }),
                    "is not a file's name");
  }
  Manifest m = sample();
  m.files[0].name = "b.json";
  EXPECT_CONTAINS(errorOf([&] { Manifest::parse(m.text(), "t"); }), "twice");
}

TEST(Manifests, Differences) {
  Json before = {{"lr", 3e-4}, {"mesh", "dp=2"}, {"flags", ""}},
       now = {
           {"lr", 1e-3}, {"mesh", "dp=2"}, {"flags", "--zero 1"}, {"new", 2}};
  EXPECT_EQ(differences(before, now),
            (std::vector<std::string>{"lr is 0.001, was 0.0003",
                                      "flags is --zero 1, was none",
                                      "new is 2, was not recorded"}));
  EXPECT_TRUE(differences(before, before).empty());
}

/// Tensors do not show the number of heads: it must not differ. Of all else it
/// is said.
TEST(SameModel, HeadsAreItsShape) {
  Json config = {{"model_type", "gpt2"}, {"n_head", 4}, {"attn_pdrop", 0.1}};
  EXPECT_TRUE(compareModels(config, config, "c").empty());
  Json other = config;
  other["n_head"] = 2;
  EXPECT_EQ(errorOf([&] { compareModels(config, other, "c"); }),
            "c: n_head is 4, the program's 2: the model's shape must be the "
            "same");
  // Hugging Face takes 12 for gpt2 and 32 for llama.
  other.erase("n_head");
  EXPECT_CONTAINS(errorOf([&] { compareModels(config, other, "c"); }),
                  "n_head is 4, the program's 12");
  Json llama = {{"model_type", "llama"}};
  EXPECT_CONTAINS(
      errorOf([&] { compareModels({{"num_attention_heads", 8}}, llama, "c"); }),
      "num_attention_heads is 8, the program's 32");
  other = {{"model_type", "gpt2"}, {"n_head", 4}, {"layer_norm_epsilon", 1e-6}};
  EXPECT_EQ(compareModels(config, other, "c"),
            (std::vector<std::string>{
                "config: attn_pdrop is absent, was 0.1",
                "config: layer_norm_epsilon is 1e-06, was absent"}));
}

// Folders ---------------------------------------------------------------------

class Folders : public testing::Test {
protected:
  void SetUp() override {
    root = std::filesystem::temp_directory_path() /
           cat("dtc-checkpoints-", getpid());
    std::filesystem::create_directories(root);
  }
  void TearDown() override { std::filesystem::remove_all(root); }

  std::string path(const std::string &name) { return (root / name).string(); }

  /// A complete checkpoint of one empty tensor file, under any name.
  void make(const std::string &name, int64_t step) {
    std::string folder = path(name);
    makeFolder(folder);
    Manifest m;
    m.state.step = step;
    std::string header = safetensorsHeader({{"w", "F32", {2}}});
    writeText(folder + "/model-1.safetensors", header + std::string(8, '\0'));
    writeText(folder + "/config.json", "{}");
    m.files = {{"model-1.safetensors", int64_t(header.size()) + 8, "0"},
               {"config.json", 2, checksumOf("{}")}};
    writeText(folder + "/trainer.json", m.text());
  }
  std::string names() {
    std::string text;
    for (const std::string &name : listNames(root.string()))
      text += name + " ";
    return text;
  }

  std::filesystem::path root;
};

TEST_F(Folders, Names) {
  EXPECT_EQ(checkpointName(100), "step-00000100");
  EXPECT_EQ(parseCheckpointName("step-00000100"), 100);
  EXPECT_EQ(parseCheckpointName(checkpointName(1234567890123)), 1234567890123);
  for (const char *name :
       {"step-100", "step-", "step-0000010x", "step-00000100.tmp", "other",
        "step--0000001", "step-99999999999999999999"})
    EXPECT_EQ(parseCheckpointName(name), -1) << name;
  EXPECT_TRUE(isUnfinishedName("step-00000100.tmp"));
  EXPECT_FALSE(isUnfinishedName("step-100.tmp"));
  EXPECT_FALSE(isUnfinishedName(".tmp"));
}

TEST_F(Folders, CompleteOrNot) {
  make("c", 4);
  EXPECT_EQ(checkComplete(path("c")).state.step, 4);
  auto broken = [&](const std::string &what,
                    const std::function<void()> &damage) {
    make("c", 4);
    damage();
    std::string error = errorOf([&] { checkComplete(path("c")); });
    EXPECT_CONTAINS(error, what);
    EXPECT_CONTAINS(error, path("c/"));
    std::filesystem::remove_all(root / "c");
  };
  std::string model = path("c/model-1.safetensors");
  broken("model-1.safetensors' is missing",
         [&] { std::filesystem::remove(model); });
  broken("(truncated?)", [&] {
    std::filesystem::resize_file(model, std::filesystem::file_size(model) - 1);
  });
  broken("model-1.safetensors' has", [&] {
    std::filesystem::resize_file(model, std::filesystem::file_size(model) + 1);
  });
  broken("is not a regular file", [&] {
    std::filesystem::remove(model);
    std::filesystem::create_directory(model);
  });
  broken("config.json' is damaged",
         [&] { writeText(path("c/config.json"), "[]"); });
  broken("trainer.json' is missing",
         [&] { std::filesystem::remove(path("c/trainer.json")); });
  broken("trainer.json: ",
         [&] { std::filesystem::resize_file(path("c/trainer.json"), 50); });
}

TEST_F(Folders, Publish) {
  make("step-00000004.tmp", 4);
  publish(root.string(), 4);
  EXPECT_EQ(names(), "step-00000004 ");
  // In place of one that is not complete.
  std::filesystem::remove(path("step-00000004/trainer.json"));
  make("step-00000004.tmp", 4);
  publish(root.string(), 4);
  EXPECT_EQ(names(), "step-00000004 ");
  EXPECT_EQ(checkComplete(path("step-00000004")).state.step, 4);
  EXPECT_CONTAINS(errorOf([&] { publish(root.string(), 5); }),
                  "step-00000005.tmp");
}

TEST_F(Folders, KeepTheNewest) {
  for (int64_t step : {1, 2, 3, 4, 5})
    make(checkpointName(step), step);
  make("step-00000009.tmp", 9);
  makeFolder(path("other"));
  // What is not complete is not counted, and stays.
  std::filesystem::remove(path("step-00000004/config.json"));
  removeOld(root.string(), 2);
  EXPECT_EQ(names(), "other step-00000003 step-00000004 step-00000005 "
                     "step-00000009.tmp ");
}

TEST_F(Folders, TheNewestCompleteOneIsOpened) {
  std::vector<std::string> skipped;
  EXPECT_CONTAINS(errorOf([&] { Checkpoint::open(root.string(), skipped); }),
                  "has no complete checkpoint");
  for (int64_t step : {3, 10, 9})
    make(checkpointName(step), step);
  make("step-00000011.tmp", 11);
  auto opened = [&](const std::string &folder) {
    skipped.clear();
    return Checkpoint::open(folder, skipped)->manifest().state.step;
  };
  EXPECT_EQ(opened(root.string()), 10);
  ASSERT_EQ(skipped.size(), 1u);
  EXPECT_CONTAINS(skipped[0], "step-00000011.tmp' was not finished");
  std::filesystem::remove(path("step-00000010/model-1.safetensors"));
  EXPECT_EQ(opened(root.string()), 9);
  ASSERT_EQ(skipped.size(), 2u);
  EXPECT_CONTAINS(skipped[1], "step-00000010' is not complete: ");
  EXPECT_CONTAINS(skipped[1], "model-1.safetensors' is missing");
  // One that is named is that one, or none.
  EXPECT_EQ(opened(path("step-00000003")), 3);
  EXPECT_CONTAINS(
      errorOf([&] { Checkpoint::open(path("step-00000010"), skipped); }),
      "model-1.safetensors' is missing");
  EXPECT_CONTAINS(errorOf([&] { Checkpoint::open(path("none"), skipped); }),
                  "is not a folder");
  // A header that is none is as good as a missing file.
  writeText(path("step-00000009/model-1.safetensors"), "x");
  EXPECT_EQ(opened(root.string()), 3);
}

// Programs --------------------------------------------------------------------

/// Number i of a stored tensor in a slot. Single precision holds it, bf16 only
/// a rounded one.
double valueOf(const std::string &stored, Slot slot, int64_t i) {
  // Parameters are those of the master copy.
  uint64_t number = uint64_t(slot == Slot::Master ? 0 : int(slot));
  uint64_t hash = hashBytes(stored.data(), stored.size(), number);
  return double((hash + uint64_t(i)) % 251) + double(i % 7) / 1024;
}

/// Calls f(slot, type, stored name, its element, place in the arena) for all
/// that a rank has, but gradients.
template <typename F> void forEachElement(const Program &p, int64_t rank, F f) {
  for (const Place &place : p.of(rank).tensors)
    for (Slot slot : {Slot::Param, Slot::M, Slot::V, Slot::Master}) {
      const Tensor &tensor = p.tensors[place.tensor];
      const Piece &piece = tensor.piece(slot);
      if (place.has(slot))
        StoredRuns(tensor, slot, rank)
            .forEach(
                [&](int64_t stored, int64_t local, int64_t n, int64_t stride) {
                  for (int64_t k = 0; k < n; ++k)
                    f(slot, piece.type, tensor.stored, stored + k,
                      place.at(slot), local + k * stride);
                });
    }
}

/// Saves what all ranks of a program have, as a complete checkpoint.
void saveAll(const Program &p, const std::string &folder) {
  CheckpointLayout layout(p, 500);
  std::vector<int64_t> sums(layout.files().size());
  std::atomic<bool> abandoned{false};
  makeFolder(folder);
  for (int64_t rank = 0; rank < p.ranks(); ++rank) {
    std::string arena(size_t(p.of(rank).arenaBytes), '\xff'); // NaN
    forEachElement(p, rank,
                   [&](Slot slot, dtc_dtype type, const std::string &stored,
                       int64_t i, int64_t at, int64_t local) {
                     storeValue(type, arena.data() + at, local,
                                valueOf(stored, slot, i));
                   });
    StateWriter writer(p, rank, layout);
    std::string snapshot(size_t(writer.snapshotBytes()), '\0'),
        staging(StateWriter::stagingBytes, '\0');
    bool beside = rank % 2;
    writer.takeSnapshot(arena.data(), snapshot.data());
    writer.write(folder, beside ? snapshot.data() : arena.data(), beside,
                 staging.data(), sums.data(), abandoned);
  }
  Manifest manifest;
  for (size_t f = 0; f < layout.files().size(); ++f)
    manifest.files.push_back({layout.files()[f].name, layout.files()[f].bytes,
                              checksumText(uint64_t(sums[f]))});
  writeText(folder + "/trainer.json", manifest.text());
}

/// The same stored tensors in other pieces, on other stages, in views of their
/// own. `master`: parameters in bf16 with a master copy.
Program another(const Program &p, int64_t stages, bool master, Draw &draw) {
  Program q;
  q.mesh = p.mesh;
  q.mesh[0].second = stages;
  q.pipelineRanks.resize(size_t(stages));
  std::vector<int64_t> used(size_t(stages), 0);
  for (Tensor tensor : p.tensors) {
    Piece logical = tensor;
    static_cast<Piece &>(tensor) = draw.piece(logical);
    tensor.type = master ? DTC_BF16 : DTC_F32;
    for (Slot slot : {Slot::M, Slot::V, Slot::Master})
      tensor.otherPieces[slot] = draw.piece(logical);
    Place place;
    place.tensor = q.tensors.size();
    size_t stage = size_t(draw.number(0, stages - 1));
    for (Slot slot : {Slot::Param, Slot::M, Slot::V, Slot::Master}) {
      if (slot == Slot::Master && !master)
        continue;
      place.offsets[int(slot)] = used[stage];
      used[stage] += (tensor.piece(slot).localBytes() + 63) / 64 * 64;
    }
    q.pipelineRanks[stage].tensors.push_back(place);
    q.tensors.push_back(tensor);
  }
  for (size_t s = 0; s < used.size(); ++s)
    q.pipelineRanks[s].arenaBytes = used[s];
  return q;
}

/// Any pieces, stages and precision load what any others saved, and the sums of
/// what is loaded are those of what was saved.
TEST_F(Folders, AnyProgramLoadsWhatAnyOtherSaved) {
  Draw draw(4);
  for (int i = 0; i < 12; ++i) {
    Program base = draw.program(1, false);
    bool from16 = i & 1, to16 = i & 2, weightsOnly = i % 6 == 5;
    Program from = another(base, draw.number(1, 3), from16, draw);
    Program to = another(base, draw.number(1, 3), to16, draw);
    std::string folder = path(cat("c", i));
    saveAll(from, folder);
    std::vector<std::string> skipped;
    std::unique_ptr<Checkpoint> checkpoint = Checkpoint::open(folder, skipped);
    checkpoint->choose(to, weightsOnly);
    std::vector<uint64_t> sums(checkpoint->manifest().files.size());
    for (int64_t rank = 0; rank < to.ranks(); ++rank) {
      std::string arena(size_t(to.of(rank).arenaBytes), '\xff');
      std::vector<uint64_t> mine = checkpoint->load(to, rank, arena.data());
      ASSERT_EQ(mine.size(), sums.size());
      for (size_t f = 0; f < sums.size(); ++f)
        sums[f] += mine[f];
      int wrong = 0;
      forEachElement(
          to, rank,
          [&](Slot slot, dtc_dtype type, const std::string &stored, int64_t k,
              int64_t at, int64_t local) {
            bool moment = slot == Slot::M || slot == Slot::V;
            auto expected =
                float(weightsOnly && moment ? 0 : valueOf(stored, slot, k));
            if (type == DTC_BF16)
              expected = bf16ToFloat(floatToBf16(expected));
            wrong += loadValue(type, arena.data() + at, local) != expected;
          });
      ASSERT_EQ(wrong, 0) << "rank " << rank;
    }
    EXPECT_EQ(checkpoint->findDamage(sums), "") << i;
    // Of a file that is read, a sum that is wrong is seen.
    sums[0] ^= 1;
    if (from16 == to16 || !from16)
      EXPECT_EQ(checkpoint->findDamage(sums),
                folder + "/" + checkpoint->manifest().files[0].name);
  }
}

TEST_F(Folders, OtherModels) {
  std::vector<std::pair<std::string, std::vector<int64_t>>> items = {
      {"transformer.w", {2, 3}}, {"b", {4}}};
  auto places = [](Program p) {
    p.pipelineRanks[0].arenaBytes = 4096;
    for (Place &place : p.pipelineRanks[0].tensors)
      for (Slot slot : {Slot::Param, Slot::M, Slot::V})
        place.offsets[int(slot)] = 64 * (int(slot) + 8 * int(place.tensor));
    return p;
  };
  saveAll(places(modelOf(items)), path("c"));
  auto refusal = [&](size_t which, const std::string &name,
                     std::vector<int64_t> shape, bool weightsOnly = false) {
    auto other = items;
    if (which < other.size())
      other[which] = {name, shape};
    else
      other.push_back({name, shape});
    std::vector<std::string> skipped;
    std::unique_ptr<Checkpoint> c = Checkpoint::open(path("c"), skipped);
    Program p = modelOf(other);
    return errorOf([&] { c->choose(p, weightsOnly); });
  };
  // Names are the same with and without gpt2's prefix.
  EXPECT_EQ(refusal(0, "w", {2, 3}), "");
  std::string file = path("c/model-00001-of-00001.safetensors");
  EXPECT_EQ(refusal(0, "w", {3, 2}),
            file + ": the tensor 'transformer.w' has shape [2, 3], the model's "
                   "has [3, 2]");
  EXPECT_EQ(refusal(1, "a", {4}),
            file +
                ": the tensor 'b' of shape [4] is superfluous: the model has "
                "none of this name");
  EXPECT_EQ(refusal(2, "more", {1, 5}),
            path("c") + ": the tensor 'more' of shape [1, 5] is missing");
}

// The log of a resumed run ----------------------------------------------------

TEST(Log, HistoryOfAResumedRun) {
  std::string text = "{\"version\": \"1\", \"steps\": 9}\n{\"step\": 0}\n"
                     "{\"step\": 1}\n{\"step\": 2}\n{\"step\": 3}\n{\"step";
  LogHistory history = readLog(text, 2, "log");
  EXPECT_EQ(history.lines, "{\"step\": 0}\n{\"step\": 1}\n");
  EXPECT_EQ(history.lastStep, 1);
  ASSERT_EQ(history.headers.size(), 1u);
  EXPECT_EQ(history.headers[0].dump(),
            R"({"version":"1","steps":9,"until_step":2})");
  // The headers of a run that was itself resumed stay in one list.
  Json header = {{"version", "2"}, {"earlier", history.headers}};
  history = readLog(header.dump() + "\n" + history.lines, 1, "log");
  ASSERT_EQ(history.headers.size(), 2u);
  EXPECT_EQ(history.headers[0]["until_step"], 2);
  EXPECT_EQ(history.headers[1].dump(), R"({"version":"2","until_step":1})");
  EXPECT_EQ(history.lines, "{\"step\": 0}\n");
  EXPECT_EQ(readLog("", 4, "log").lastStep, -1);
  EXPECT_CONTAINS(errorOf([] { readLog("a book\n", 4, "log"); }),
                  "log: line 1: not valid JSON");
  EXPECT_CONTAINS(errorOf([] { readLog("[]\n", 4, "log"); }),
                  "log: line 1 is no line of a log");
}

} // namespace
