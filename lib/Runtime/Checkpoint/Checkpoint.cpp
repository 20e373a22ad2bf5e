//===- Checkpoint.cpp - Reading a checkpoint ------------------------------===//

#include "dtc/Runtime/Checkpoint/Checkpoint.h"
#include "dtc/Runtime/Checkpoint/Checksum.h"
#include "dtc/Runtime/Checkpoint/Folder.h"
#include "dtc/Runtime/Checkpoint/Layout.h"
#include "dtc/Runtime/Checkpoint/Owner.h"
#include "dtc/Runtime/Checkpoint/StoredRuns.h"
#include "dtc/Runtime/Error.h"
#include "dtc/Runtime/FileSystem.h"
#include "dtc/Runtime/Values.h"

#include <cstring>

using namespace dtc::rt;

static bool startsWith(const std::string &text, const char *start) {
  return text.compare(0, strlen(start), start) == 0;
}

Checkpoint::Checkpoint(const std::string &path)
    : folder(path), trainer(checkComplete(path)) {
  for (const FileRecord &record : trainer.files) {
    bool model = startsWith(record.name, "model-");
    if (!model && !startsWith(record.name, "optimizer-"))
      continue;
    std::string name = folder + "/" + record.name;
    auto file = std::make_unique<SafetensorsFile>(name);
    for (const SafetensorsEntry &entry : file->entries()) {
      Slot slot = Slot::Param;
      std::string stored = entry.name;
      if (!model && !parseStateName(entry.name, slot, stored))
        throw Error(cat(name, ": '", entry.name, "' is no optimizer's state"));
      if (!floatLoader(entry.dtype))
        throw Error(cat(name, ": the tensor '", entry.name, "' is ",
                        entry.dtype, "; it must be F32, BF16, F16 or F64"));
      if (!slots[int(slot)]
               .emplace(canonicalName(stored), Source{&entry, files.size()})
               .second)
        throw Error(
            cat(name, ": the tensor '", entry.name, "' is there twice"));
    }
    files.push_back(std::move(file));
  }
}

std::unique_ptr<Checkpoint>
Checkpoint::open(const std::string &path, std::vector<std::string> &skipped) {
  if (!isFolder(path))
    throw Error(cat("--resume: '", path, "' is not a folder"));
  std::string name = path.substr(path.rfind('/') + 1);
  if (exists(path + "/" + Manifest::fileName) ||
      parseCheckpointName(name) >= 0 || isUnfinishedName(name))
    return std::unique_ptr<Checkpoint>(new Checkpoint(path));

  for (const std::string &unfinished : listUnfinished(path))
    skipped.push_back(cat("'", unfinished, "' was not finished"));
  for (int64_t step : listCheckpoints(path)) {
    std::string candidate = path + "/" + checkpointName(step);
    try {
      return std::unique_ptr<Checkpoint>(new Checkpoint(candidate));
    } catch (const Error &e) {
      skipped.push_back(cat("'", candidate, "' is not complete: ", e.what()));
    }
  }
  std::string reasons;
  for (const std::string &line : skipped)
    reasons += "\n  " + line;
  throw Error(cat("--resume: '", path, "' has no complete checkpoint",
                  reasons.empty() ? "" : ":", reasons));
}

/// Every name is a parameter's, and the shape is the parameter's.
void Checkpoint::checkNames(const Program &program, const Names &names) const {
  std::map<std::string, const Tensor *> known;
  for (const Tensor &tensor : program.tensors)
    known[canonicalName(tensor.stored)] = &tensor;
  for (auto &[name, source] : names) {
    const std::string &file = files[source.file]->file().path();
    auto it = known.find(name);
    if (it == known.end())
      throw Error(cat(file, ": the tensor '", source.entry->name, "' of shape ",
                      shapeText(source.entry->shape),
                      " is superfluous: the model has none of this name"));
    if (source.entry->shape != it->second->storedShape)
      throw Error(cat(file, ": the tensor '", source.entry->name,
                      "' has shape ", shapeText(source.entry->shape),
                      ", the model's has ",
                      shapeText(it->second->storedShape)));
  }
}

const Checkpoint::Source &Checkpoint::require(Slot slot,
                                              const Tensor &tensor) const {
  const Names &names = slots[int(slot)];
  auto it = names.find(canonicalName(tensor.stored));
  if (it == names.end())
    throw Error(cat(folder, ": the tensor '", stateName(slot, tensor.stored),
                    "' of shape ", shapeText(tensor.storedShape),
                    " is missing"));
  return it->second;
}

void Checkpoint::choose(const Program &program, bool weightsOnly) {
  for (const Names &names : slots)
    checkNames(program, names);
  bool haveMaster = !slots[int(Slot::Master)].empty();
  sources.assign(program.tensors.size(), {});
  std::set<const SafetensorsEntry *> used;
  for (size_t t = 0; t < program.tensors.size(); ++t) {
    const Tensor &tensor = program.tensors[t];
    auto &from = sources[t];
    const Source &model = require(Slot::Param, tensor);
    const Source &exact = haveMaster ? require(Slot::Master, tensor) : model;
    bool hasMaster =
        program.pipelineRanks[program.firstCoordinate(t)].find(t)->has(
            Slot::Master);
    // A parameter of the type that was saved keeps its bits; any other is made
    // from what is most exact.
    bool sameType =
        model.entry->dtype == safetensorsType(tensor.piece(Slot::Param).type);
    from[int(Slot::Param)] = sameType && hasMaster ? model : exact;
    from[int(Slot::Master)] = exact;
    if (!weightsOnly)
      for (Slot slot : {Slot::M, Slot::V})
        from[int(slot)] = require(slot, tensor);
    for (Slot slot : {Slot::Param, Slot::Master, Slot::M, Slot::V})
      if (slot != Slot::Master || hasMaster)
        used.insert(from[int(slot)].entry);
  }
  for (const auto &file : files) {
    bool all = true;
    for (const SafetensorsEntry &entry : file->entries())
      all &= used.count(&entry) != 0;
    whole.push_back(all);
  }
}

/// Elements at `from`, one after the other, to every `stride`-th of `to`.
static void copyElements(const SafetensorsEntry &entry, const char *from,
                         int64_t n, dtc_dtype type, char *to, int64_t local,
                         int64_t stride) {
  int64_t width = sizeOf(type);
  if (entry.dtype != safetensorsType(type)) {
    FloatLoader load = floatLoader(entry.dtype);
    for (int64_t i = 0; i < n; ++i)
      storeValue(type, to, local + i * stride, load(from, i));
    return;
  }
  // Bits, not values: denormals stay what they are.
  if (stride == 1) {
    memcpy(to + local * width, from, size_t(n * width));
    return;
  }
  for (int64_t i = 0; i < n; ++i)
    memcpy(to + (local + i * stride) * width, from + i * width, size_t(width));
}

std::vector<uint64_t> Checkpoint::load(const Program &program, int64_t rank,
                                       char *arena) const {
  std::vector<uint64_t> sums(files.size());
  for (size_t f = 0; f < files.size() && rank == 0; ++f) {
    const MappedFile &file = files[f]->file();
    uint64_t length;
    memcpy(&length, file.data(), 8);
    sums[f] = headerSum({file.data(), size_t(8 + length)});
  }
  for (const Place &place : program.of(rank).tensors) {
    const Tensor &tensor = program.tensors[place.tensor];
    for (Slot slot : {Slot::Master, Slot::Param, Slot::M, Slot::V}) {
      if (!place.has(slot))
        continue;
      const Source &source = sources[place.tensor][size_t(slot)];
      const Piece &piece = tensor.piece(slot);
      char *to = arena + place.at(slot);
      if (!source.entry) {
        memset(to, 0, size_t(piece.localBytes()));
        continue;
      }
      const SafetensorsEntry &entry = *source.entry;
      int64_t width = sizeOfType(entry.dtype);
      uint64_t first = firstNumber(entry.name);
      // What two slots come from is summed once.
      bool sum = owns(program, rank, place.tensor, slot) &&
                 (slot != Slot::Param || !place.has(Slot::Master) ||
                  sources[place.tensor][size_t(Slot::Master)].entry != &entry);
      StoredRuns(tensor, slot, rank)
          .forEach(
              [&](int64_t stored, int64_t local, int64_t n, int64_t stride) {
                const char *from = entry.data + stored * width;
                copyElements(entry, from, n, piece.type, to, local, stride);
                if (sum)
                  sums[source.file] +=
                      sumElements(from, width, first + uint64_t(stored), n);
              });
    }
  }
  return sums;
}

std::string Checkpoint::findDamage(const std::vector<uint64_t> &sums) const {
  for (size_t f = 0; f < files.size(); ++f) {
    const std::string &path = files[f]->file().path();
    const FileRecord *record = trainer.find(path.substr(folder.size() + 1));
    if (whole[f] && checksumText(sums[f]) != record->checksum)
      return path;
  }
  return "";
}
