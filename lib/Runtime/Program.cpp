//===- Program.cpp - The description of a compiled program ----------------===//

#include "dtc/Runtime/Program.h"
#include "dtc/Runtime/Error.h"
#include "dtc/Runtime/JsonInput.h"

#include <map>

using namespace dtc::rt;

static dtc_dtype parseType(const std::string &name, const std::string &where) {
  for (dtc_dtype type : {DTC_F64, DTC_F32, DTC_BF16, DTC_I32, DTC_I64})
    if (name == nameOf(type))
      return type;
  throw Error(cat(where, ": unknown dtype '", name, "'"));
}

/// `ranks` are those of one pipeline coordinate: they alone share a tensor.
static void parsePiece(const Json &json, Piece &piece, int64_t ranks,
                       const std::string &where) {
  piece.type = parseType(json.at("dtype").get<std::string>(), where);
  piece.shape = json.at("shape").get<std::vector<int64_t>>();
  piece.padded = json.at("padded").get<std::vector<int64_t>>();
  for (const Json &dimension : json.at("cut")) {
    auto &axes = piece.cut.emplace_back();
    for (const Json &axis : dimension)
      axes.push_back({axis.at(0).get<int64_t>(), axis.at(1).get<int64_t>()});
  }
  if (piece.padded.size() != piece.shape.size() ||
      piece.cut.size() != piece.shape.size())
    throw Error(where + ": shape, padded and cut differ in length");
  for (size_t d = 0; d < piece.shape.size(); ++d) {
    int64_t k = 1;
    for (const dtc_axis &axis : piece.cut[d]) {
      if (axis.stride < 1 || axis.size < 1 || ranks % axis.stride ||
          ranks / axis.stride % axis.size)
        throw Error(where + ": an axis does not lie in the mesh");
      k *= axis.size;
    }
    if (piece.shape[d] < 1 || piece.padded[d] < piece.shape[d] ||
        piece.padded[d] % k)
      throw Error(where + ": a padded length is not a multiple of the pieces");
  }
}

static const std::pair<const char *, Slot> slotKeys[] = {
    {"offset", Slot::Param},
    {"grad", Slot::Grad},
    {"m", Slot::M},
    {"v", Slot::V},
    {"master", Slot::Master}};

static void parseTensor(const Json &json, Tensor &tensor, int64_t ranks) {
  tensor.name = json.at("name").get<std::string>();
  std::string where = "tensor '" + tensor.name + "'";
  parsePiece(json, tensor, ranks, where);
  if (json.contains("pieces"))
    for (auto &[key, slot] : slotKeys)
      if (json.at("pieces").contains(key)) {
        Piece &piece = tensor.otherPieces[slot];
        parsePiece(json.at("pieces").at(key), piece, ranks,
                   cat(where, ", ", key));
        if (piece.shape != tensor.shape)
          throw Error(cat(where, ", ", key, ": its shape is ",
                          shapeText(piece.shape), ", the parameter's is ",
                          shapeText(tensor.shape)));
      }
  tensor.stored = json.at("stored").get<std::string>();
  tensor.storedShape = json.at("stored_shape").get<std::vector<int64_t>>();
  tensor.storedOffset = json.at("stored_offset").get<int64_t>();
  tensor.storedStrides = json.at("stored_strides").get<std::vector<int64_t>>();
  if (json.contains("optional_names"))
    tensor.optionalNames =
        json.at("optional_names").get<std::vector<std::string>>();

  const Json &init = json.at("init");
  std::string kind = init.at("kind").get<std::string>();
  if (kind == "normal") {
    tensor.init = Tensor::Init::Normal;
    tensor.std = init.at("std").get<double>();
  } else if (kind == "ones") {
    tensor.init = Tensor::Init::Ones;
  } else if (kind != "zeros") {
    throw Error(where + ": unknown init '" + kind + "'");
  }

  int64_t elements = 1;
  for (int64_t n : tensor.storedShape)
    elements *= n;
  int64_t least = tensor.storedOffset, most = tensor.storedOffset;
  if (tensor.storedStrides.size() != tensor.shape.size())
    throw Error(where + ": stored_strides and shape differ in length");
  for (size_t d = 0; d < tensor.shape.size(); ++d) {
    int64_t span = (tensor.shape[d] - 1) * tensor.storedStrides[d];
    (span < 0 ? least : most) += span;
  }
  if (least < 0 || most >= elements)
    throw Error(where + ": the view leaves the stored tensor");
}

/// The views of each stored tensor must have as many elements as it; together
/// with their bounds this finds a forgotten view.
static void checkCover(const std::vector<Tensor> &tensors) {
  std::map<std::string, std::pair<int64_t, const Tensor *>> covered;
  for (const Tensor &tensor : tensors) {
    int64_t n = 1;
    for (int64_t d : tensor.shape)
      n *= d;
    auto &entry = covered[canonicalName(tensor.stored)];
    if (entry.second && entry.second->storedShape != tensor.storedShape)
      throw Error("the views of '" + tensor.stored + "' differ in its shape");
    entry.first += n;
    entry.second = &tensor;
  }
  for (auto &[name, entry] : covered) {
    int64_t n = 1;
    for (int64_t d : entry.second->storedShape)
      n *= d;
    if (n != entry.first)
      throw Error(cat("the views of '", name, "' have ", entry.first,
                      " elements, the stored tensor has ", n));
  }
}

static void parseInput(const Json &json, Input &input, const Program &p,
                       int64_t arenaBytes) {
  input.name = json.at("name").get<std::string>();
  const std::string where = "input '" + input.name + "'";
  parsePiece(json, input, p.ranksPerCoordinate(), where);
  input.offset = json.at("offset").get<int64_t>();
  if (input.offset < 0 || input.offset + input.localBytes() > arenaBytes)
    throw Error(where + " lies outside the arena");
  int64_t elements = 1;
  for (int64_t n : input.shape)
    elements *= n;
  if (input.type != DTC_I32 || elements != p.batch * p.seq ||
      input.shape.empty() || input.shape.back() != p.seq)
    throw Error(where + " is not an i32 tensor of batch by seq elements");
  if (input.name != "input_ids" && input.name != "labels" &&
      input.name != "document_ids")
    throw Error(where + " is unknown");
}

static void parsePipelineRank(const Json &json, PipelineRank &rank,
                              const Program &p) {
  rank.arenaBytes = json.at("arena_bytes").get<int64_t>();
  if (rank.arenaBytes < 0)
    throw Error("a size is out of range");
  for (const Json &term : json.at("memory"))
    rank.memory.emplace_back(term.at(0).get<std::string>(),
                             term.at(1).get<int64_t>());

  auto scalar = [&](const char *group, const char *key, int64_t bytes) {
    int64_t offset = json.at(group).at(key).get<int64_t>();
    if (offset < 0 || offset + bytes > rank.arenaBytes)
      throw Error(cat(group, " '", key, "' lies outside the arena"));
    return offset;
  };
  rank.rng = scalar("scalars", "rng", 8);
  rank.optimizer = scalar("scalars", "optimizer", 32);
  rank.loss = scalar("outputs", "loss", 4);
  rank.gradNorm = scalar("outputs", "grad_norm", 4);
  rank.labels = scalar("outputs", "labels", 4);
  rank.skipped = scalar("outputs", "skipped", 4);

  for (const Json &item : json.at("inputs"))
    parseInput(item, rank.inputs.emplace_back(), p, rank.arenaBytes);
  for (const Json &item : json.at("tensors")) {
    Place place;
    place.tensor = item.at("tensor").get<size_t>();
    if (place.tensor >= p.tensors.size())
      throw Error(cat("tensor ", place.tensor, " is not one of the ",
                      p.tensors.size(), " tensors"));
    const Tensor &tensor = p.tensors[place.tensor];
    for (auto &[key, slot] : slotKeys) {
      if (slot == Slot::Master && !item.contains(key))
        continue;
      int64_t offset = item.at(key).get<int64_t>();
      if (offset < 0 ||
          offset + tensor.piece(slot).localBytes() > rank.arenaBytes)
        throw Error("tensor '" + tensor.name + "' lies outside the arena");
      place.offsets[int(slot)] = offset;
    }
    rank.tensors.push_back(place);
  }
  auto before = [](const Place &a, const Place &b) {
    return a.tensor < b.tensor;
  };
  std::sort(rank.tensors.begin(), rank.tensors.end(), before);
  for (size_t i = 1; i < rank.tensors.size(); ++i)
    if (rank.tensors[i - 1].tensor == rank.tensors[i].tensor)
      throw Error("tensor '" + p.tensors[rank.tensors[i].tensor].name +
                  "' is there twice");
}

/// The pipeline axis is the slowest, as Program::of takes for granted.
static int64_t getPipelineSize(const Program &p) {
  for (size_t a = 0; a < p.mesh.size(); ++a)
    if (p.mesh[a].first == "pp") {
      if (a)
        throw Error("pp is not the first axis of the mesh " + p.meshText());
      return p.mesh[a].second;
    }
  return 1;
}

static Program parseProgram(const Json &json) {
  Program p;
  p.version = json.at("version").get<std::string>();
  p.hash = json.at("hash").get<std::string>();
  p.flags = json.at("flags").get<std::string>();
  p.cpu = json.at("cpu").get<std::string>();
  if (json.contains("config"))
    p.config = json.at("config").get<std::string>();
  p.cpuFeatures = json.at("cpu_features").get<std::vector<std::string>>();
  for (const Json &axis : json.at("mesh"))
    p.mesh.emplace_back(axis.at(0).get<std::string>(),
                        axis.at(1).get<int64_t>());
  p.batch = json.at("batch").get<int64_t>();
  p.seq = json.at("seq").get<int64_t>();
  p.vocab = json.at("vocab").get<int64_t>();
  p.microbatches = json.at("microbatches").get<int64_t>();
  p.documents = json.at("documents").get<bool>();
  p.workspaceBytes = json.at("workspace_bytes").get<int64_t>();
  p.collectiveSlots = json.at("collective_slots").get<int64_t>();
  if (p.ranks() < 1 || p.batch < 1 || p.seq < 1 || p.vocab < 1 ||
      p.workspaceBytes < 0 || p.collectiveSlots < 0)
    throw Error("a size is out of range");

  const Json &pipeline = json.at("pipeline_ranks");
  int64_t coordinates = getPipelineSize(p);
  if (int64_t(pipeline.size()) != coordinates)
    throw Error(cat("pipeline_ranks has ", pipeline.size(),
                    " entries, the mesh ", p.meshText(), " needs ",
                    coordinates));
  p.pipelineRanks.resize(pipeline.size());
  for (const Json &item : json.at("tensors"))
    parseTensor(item, p.tensors.emplace_back(), p.ranksPerCoordinate());
  checkCover(p.tensors);
  for (size_t i = 0; i < pipeline.size(); ++i) {
    try {
      parsePipelineRank(pipeline[i], p.pipelineRanks[i], p);
    } catch (const Error &e) {
      throw Error(cat("pipeline rank ", i, ": ", e.what()));
    }
  }
  for (size_t t = 0; t < p.tensors.size(); ++t)
    if (p.firstCoordinate(t) == p.pipelineRanks.size())
      throw Error("tensor '" + p.tensors[t].name + "' is on no pipeline rank");
  return p;
}

Program Program::parse(const char *text) {
  const std::string where = "the description of the compiled program";
  try {
    return parseProgram(parseJson(text, where));
  } catch (const Json::exception &e) {
    throw Error(where + " is not valid: " + e.what());
  } catch (const Error &e) {
    std::string what = e.what();
    throw Error(what.compare(0, where.size(), where) == 0
                    ? what
                    : where + " is not valid: " + what);
  }
}

int64_t Program::ranks() const {
  int64_t n = 1;
  for (auto &[name, size] : mesh)
    n *= size;
  return n;
}

const Place *PipelineRank::find(size_t tensor) const {
  auto it = std::lower_bound(
      tensors.begin(), tensors.end(), tensor,
      [](const Place &place, size_t t) { return place.tensor < t; });
  return it != tensors.end() && it->tensor == tensor ? &*it : nullptr;
}

size_t Program::firstCoordinate(size_t tensor) const {
  size_t i = 0;
  while (i < pipelineRanks.size() && !pipelineRanks[i].find(tensor))
    ++i;
  return i;
}

std::string Program::meshText() const {
  std::string text;
  for (auto &[name, size] : mesh)
    text += (text.empty() ? "" : ",") + name + "=" + std::to_string(size);
  return text;
}

std::string dtc::rt::canonicalName(const std::string &name) {
  static const std::string prefix = "transformer.";
  return name.compare(0, prefix.size(), prefix) == 0
             ? name.substr(prefix.size())
             : name;
}
