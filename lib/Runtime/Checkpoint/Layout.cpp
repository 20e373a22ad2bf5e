//===- Layout.cpp - Which bytes of which file a tensor has ----------------===//

#include "dtc/Runtime/Checkpoint/Layout.h"
#include "dtc/Runtime/Error.h"
#include "dtc/Runtime/JsonInput.h"
#include "dtc/Runtime/Safetensors.h"

#include <cstdlib>
#include <set>

using namespace dtc::rt;

static const std::pair<const char *, Slot> prefixes[] = {
    {"master.", Slot::Master}, {"m.", Slot::M}, {"v.", Slot::V}};

int64_t dtc::rt::shardBytes() {
  if (const char *text = getenv("DTC_SHARD_BYTES"))
    if (int64_t bytes = atoll(text); bytes > 0)
      return bytes;
  return int64_t(4) << 30;
}

std::string dtc::rt::stateName(Slot slot, const std::string &stored) {
  for (auto &[prefix, of] : prefixes)
    if (slot == of)
      return prefix + stored;
  return stored;
}

bool dtc::rt::parseStateName(const std::string &name, Slot &slot,
                             std::string &stored) {
  for (auto &[prefix, of] : prefixes)
    if (std::string text = prefix; name.compare(0, text.size(), text) == 0) {
      slot = of;
      stored = name.substr(text.size());
      return true;
    }
  return false;
}

std::string dtc::rt::safetensorsType(dtc_dtype type) {
  switch (type) {
  case DTC_F64:
    return "F64";
  case DTC_F32:
    return "F32";
  case DTC_BF16:
    return "BF16";
  case DTC_I32:
  case DTC_I64:
    break;
  }
  return "";
}

CheckpointLayout::CheckpointLayout(const Program &program, int64_t fileBytes) {
  std::vector<StateTensor> model, optimizer;
  for (Slot slot : {Slot::Param, Slot::Master, Slot::M, Slot::V}) {
    std::set<std::string> seen; // a stored tensor may have several views
    for (size_t t = 0; t < program.tensors.size(); ++t) {
      const Tensor &tensor = program.tensors[t];
      const PipelineRank &rank =
          program.pipelineRanks[program.firstCoordinate(t)];
      if (!rank.find(t)->has(slot) || !seen.insert(tensor.stored).second)
        continue;
      StateTensor state;
      state.name = stateName(slot, tensor.stored);
      state.stored = tensor.stored;
      state.slot = slot;
      state.type = tensor.piece(slot).type;
      state.shape = tensor.storedShape;
      state.bytes = sizeOf(state.type);
      for (int64_t n : state.shape)
        state.bytes *= n;
      (slot == Slot::Param ? model : optimizer).push_back(std::move(state));
    }
  }
  addFiles("model", std::move(model), fileBytes);
  addFiles("optimizer", std::move(optimizer), fileBytes);
}

void CheckpointLayout::addFiles(const char *kind,
                                std::vector<StateTensor> tensors,
                                int64_t fileBytes) {
  std::vector<std::vector<StateTensor>> files(1);
  int64_t bytes = 0;
  for (StateTensor &tensor : tensors) {
    if (!files.back().empty() && bytes + tensor.bytes > fileBytes) {
      files.emplace_back();
      bytes = 0;
    }
    bytes += tensor.bytes;
    files.back().push_back(std::move(tensor));
  }
  for (size_t i = 0; i < files.size(); ++i) {
    char name[64];
    snprintf(name, sizeof(name), "%s-%05zu-of-%05zu.safetensors", kind, i + 1,
             files.size());
    std::vector<SafetensorsItem> items;
    for (const StateTensor &tensor : files[i])
      items.push_back(
          {tensor.name, safetensorsType(tensor.type), tensor.shape});
    StateFile file = {name, safetensorsHeader(items), 0};
    file.bytes = int64_t(file.header.size());
    for (StateTensor &tensor : files[i]) {
      tensor.file = fileList.size();
      tensor.offset = file.bytes;
      file.bytes += tensor.bytes;
      byName[{tensor.slot, tensor.stored}] = tensorList.size();
      tensorList.push_back(std::move(tensor));
    }
    fileList.push_back(std::move(file));
  }
}

const StateTensor &CheckpointLayout::find(Slot slot,
                                          const std::string &stored) const {
  return tensorList[byName.at({slot, stored})];
}

std::string CheckpointLayout::index() const {
  int64_t total = 0;
  Json map = Json::object();
  for (const StateTensor &tensor : tensorList)
    if (tensor.slot == Slot::Param) {
      total += tensor.bytes;
      map[tensor.name] = fileList[tensor.file].name;
    }
  Json json;
  json["metadata"]["total_size"] = total;
  json["weight_map"] = std::move(map);
  return json.dump(2) + "\n";
}
