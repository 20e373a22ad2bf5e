//===- Weights.cpp - Parameters in and out of the arenas ------------------===//

#include "dtc/Runtime/Weights.h"
#include "dtc/Runtime/Error.h"
#include "dtc/Runtime/FileSystem.h"
#include "dtc/Runtime/JsonInput.h"
#include "dtc/Runtime/Philox.h"
#include "dtc/Runtime/Values.h"

#include <cmath>
#include <set>

using namespace dtc::rt;

static bool endsWith(const std::string &text, const std::string &end) {
  return text.size() >= end.size() &&
         text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// Tensors that Hugging Face stores but that are not weights.
static bool isBuffer(const std::string &name) {
  return endsWith(name, ".attn.bias") || endsWith(name, ".attn.masked_bias") ||
         endsWith(name, "rotary_emb.inv_freq");
}

WeightFiles::WeightFiles(const std::string &path, const Program &program) {
  open(path);
  check(path, program);
}

void WeightFiles::open(const std::string &path) {
  if (!isFolder(path)) {
    if (endsWith(path, ".json"))
      openIndex(path);
    else
      add(std::make_unique<SafetensorsFile>(path));
    return;
  }
  if (exists(path + "/model.safetensors"))
    return add(std::make_unique<SafetensorsFile>(path + "/model.safetensors"));
  std::vector<std::string> indices;
  for (const std::string &name : listNames(path))
    if (endsWith(name, ".safetensors.index.json") || name == "index.json")
      indices.push_back(name);
  if (indices.size() != 1)
    throw Error(cat("the folder '", path, "' has ",
                    indices.empty() ? "neither model.safetensors nor an index"
                                    : "several indices",
                    "; name the file or the index.json itself"));
  openIndex(path + "/" + indices[0]);
}

void WeightFiles::openIndex(const std::string &path) {
  MappedFile text(path);
  Json json = parseJson({text.data(), size_t(text.size())}, path);
  if (!json.is_object() || !json.contains("weight_map") ||
      !json["weight_map"].is_object())
    throw Error(path + ": not an index of safetensors: it has no weight_map");
  size_t slash = path.rfind('/');
  std::string folder =
      slash == std::string::npos ? "" : path.substr(0, slash + 1);
  std::set<std::string> shards;
  for (auto &[name, shard] : json["weight_map"].items()) {
    if (!shard.is_string())
      throw Error(cat(path, ": the file of '", name, "' is not a string"));
    shards.insert(shard.get<std::string>());
  }
  for (const std::string &shard : shards) {
    auto file = std::make_unique<SafetensorsFile>(folder + shard);
    for (const SafetensorsEntry &entry : file->entries())
      if (!json["weight_map"].contains(entry.name) ||
          json["weight_map"][entry.name] != shard)
        throw Error(cat(path, ": '", entry.name, "' is in ", shard,
                        ", which the index does not say"));
    add(std::move(file));
  }
  for (auto &[name, shard] : json["weight_map"].items())
    if (!byName.count(canonicalName(name)))
      throw Error(cat(path, ": '", name, "' is not in ",
                      shard.get<std::string>(), " as the index says"));
}

void WeightFiles::add(std::unique_ptr<SafetensorsFile> file) {
  for (const SafetensorsEntry &entry : file->entries())
    if (!byName.emplace(canonicalName(entry.name), &entry).second)
      throw Error(cat(file->file().path(), ": the tensor '", entry.name,
                      "' is there twice"));
  list.push_back(std::move(file));
}

const SafetensorsEntry &WeightFiles::get(const std::string &stored) const {
  return *byName.at(canonicalName(stored));
}

static void checkCopy(const SafetensorsEntry &copy,
                      const SafetensorsEntry &original,
                      const std::string &path) {
  auto bad = [&](const std::string &how) {
    throw Error(cat(path, ": '", copy.name, "' is tied to '", original.name,
                    "' and must equal it, but ", how));
  };
  if (copy.shape != original.shape)
    bad(cat("its shape is ", shapeText(copy.shape), ", not ",
            shapeText(original.shape)));
  FloatLoader a = floatLoader(copy.dtype), b = floatLoader(original.dtype);
  if (!a)
    bad("it is " + copy.dtype);
  for (int64_t i = 0, n = copy.elements(); i < n; ++i)
    if (a(copy.data, i) != b(original.data, i))
      bad(cat("element ", i, " is ", a(copy.data, i), ", not ",
              b(original.data, i)));
}

void WeightFiles::check(const std::string &path, const Program &program) const {
  std::map<std::string, std::string> known; // also optional names: original
  for (const Tensor &tensor : program.tensors) {
    std::string name = canonicalName(tensor.stored);
    known[name];
    for (const std::string &copy : tensor.optionalNames)
      known[canonicalName(copy)] = name;
    auto it = byName.find(name);
    if (it == byName.end())
      throw Error(cat(path, ": the tensor '", tensor.stored, "' of shape ",
                      shapeText(tensor.storedShape), " is missing"));
    const SafetensorsEntry &entry = *it->second;
    if (entry.shape != tensor.storedShape)
      throw Error(cat(path, ": the tensor '", entry.name, "' has shape ",
                      shapeText(entry.shape), ", the model's has ",
                      shapeText(tensor.storedShape)));
    if (!floatLoader(entry.dtype))
      throw Error(cat(path, ": the tensor '", entry.name, "' is ", entry.dtype,
                      "; weights are F32, BF16, F16 or F64"));
  }
  for (auto &[name, entry] : byName) {
    auto it = known.find(name);
    if (it == known.end()) {
      if (isBuffer(name))
        continue;
      throw Error(cat(path, ": the tensor '", entry->name, "' of shape ",
                      shapeText(entry->shape),
                      " is superfluous: the model has none of this name"));
    }
    if (!it->second.empty())
      checkCopy(*entry, get(it->second), path);
  }
}

/// Calls f(local element, stored element, n, stored stride) for every run of
/// elements that a rank holds.
template <typename F>
static void forEachStoredRun(const Tensor &tensor, Slot slot, int64_t rank,
                             F f) {
  int64_t stride =
      tensor.storedStrides.empty() ? 1 : tensor.storedStrides.back();
  tensor.piece(slot).forEachRun(
      rank, [&](int64_t local, const std::vector<int64_t> &index, int64_t n) {
        f(local, tensor.storedIndex(index), n, stride);
      });
}

void dtc::rt::initializeParameters(const Program &program, int64_t rank,
                                   char *arena, const WeightFiles *files,
                                   uint32_t seed) {
  for (const Place &place : program.of(rank).tensors) {
    const Tensor &tensor = program.tensors[place.tensor];
    const SafetensorsEntry *entry =
        files ? &files->get(tensor.stored) : nullptr;
    FloatLoader loader = entry ? floatLoader(entry->dtype) : nullptr;
    NormalStream normal(seed, canonicalName(tensor.stored));
    bool random = !files && tensor.init == Tensor::Init::Normal;
    double constant = tensor.init == Tensor::Init::Ones ? 1 : 0;
    auto fill = [&](Slot slot, auto valueAt) {
      if (!place.has(slot))
        return;
      dtc_dtype type = tensor.piece(slot).type;
      char *base = arena + place.at(slot);
      forEachStoredRun(
          tensor, slot, rank,
          [&](int64_t local, int64_t stored, int64_t n, int64_t stride) {
            for (int64_t i = 0; i < n; ++i, stored += stride)
              storeValue(type, base, local + i, valueAt(stored));
          });
    };
    auto initial = [&](int64_t stored) {
      return entry    ? loader(entry->data, stored)
             : random ? tensor.std * normal(uint64_t(stored))
                      : constant;
    };
    fill(Slot::Param, initial);
    fill(Slot::Master, initial);
    fill(Slot::M, [](int64_t) { return 0.0; });
    fill(Slot::V, [](int64_t) { return 0.0; });
  }
}

void dtc::rt::writeTensors(const Program &program, dtc_rank &rank,
                           const char *arena, Slot wanted,
                           const std::string &path) {
  Unwatched fileWork(rank);
  checkReplicas(program, rank, arena, wanted);
  if (wanted == Slot::Param)
    checkReplicas(program, rank, arena, Slot::Master);
  // Stored tensors in the program's order; each may have several views.
  std::vector<SafetensorsWriter::Item> items;
  std::map<std::string, std::vector<size_t>> views;
  for (size_t t = 0; t < program.tensors.size(); ++t) {
    std::string name = canonicalName(program.tensors[t].stored);
    if (views[name].empty())
      items.push_back({name, program.tensors[t].storedShape});
    views[name].push_back(t);
  }

  std::unique_ptr<SafetensorsWriter> writer;
  if (rank.id == 0)
    writer = std::make_unique<SafetensorsWriter>(path, items);
  std::vector<float> whole;
  for (const SafetensorsWriter::Item &item : items) {
    int64_t elements = 1;
    for (int64_t n : item.shape)
      elements *= n;
    if (writer)
      whole.assign(size_t(elements), 0);
    for (size_t t : views[item.name]) {
      const Tensor &tensor = program.tensors[t];
      int64_t ranks = program.ranksPerCoordinate();
      size_t coordinate = program.firstCoordinate(t);
      int64_t first = int64_t(coordinate) * ranks;
      const PipelineRank &owner = program.pipelineRanks[coordinate];
      Slot slot = wanted == Slot::Param && owner.find(t)->has(Slot::Master)
                      ? Slot::Master
                      : wanted;
      const Piece &piece = tensor.piece(slot);
      const Place *mine = program.of(rank.id).find(t);
      for (int64_t i = 0; i < ranks; ++i) {
        if (!piece.isFirstCopy(i))
          continue;
        const char *data = static_cast<const char *>(rank.transport->fetch(
            rank, first + i, mine ? arena + mine->at(slot) : nullptr,
            piece.localBytes()));
        if (!data)
          continue;
        forEachStoredRun(
            tensor, slot, first + i,
            [&](int64_t local, int64_t stored, int64_t n, int64_t stride) {
              for (int64_t k = 0; k < n; ++k, stored += stride)
                whole[size_t(stored)] = loadValue(piece.type, data, local + k);
            });
      }
    }
    if (writer)
      writer->write(whole.data(), elements);
  }
  if (writer)
    writer->finish();
  // Nobody changes what rank 0 has not read yet.
  barrier(rank);
}

int64_t dtc::rt::firstBadGradient(const Program &program, int64_t rank,
                                  const char *arena) {
  for (const Place &place : program.of(rank).tensors) {
    const Tensor &tensor = program.tensors[place.tensor];
    const Piece &piece = tensor.piece(Slot::Grad);
    bool bad = false;
    piece.forEachRun(
        rank, [&](int64_t local, const std::vector<int64_t> &, int64_t n) {
          for (int64_t i = 0; i < n; ++i)
            bad |= !std::isfinite(
                loadValue(piece.type, arena + place.at(Slot::Grad), local + i));
        });
    if (bad)
      return int64_t(place.tensor);
  }
  return int64_t(program.tensors.size());
}
