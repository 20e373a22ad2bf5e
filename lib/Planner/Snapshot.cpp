//===- Snapshot.cpp - Bytes for saving beside training --------------------===//

#include "dtc/Planner/Planner.h"
#include "llvm/ADT/StringSwitch.h"
#include <map>

using namespace mlir;
using namespace dtc;

namespace {
/// The axes that cut a tensor, as (stride, size), by their strides: the digits
/// of a rank's number that say which piece it has. The others say which copy.
using Digits = SmallVector<std::pair<int64_t, int64_t>>;
} // namespace

static Digits getDigits(DTensorType type, MeshAttr mesh) {
  Digits digits;
  for (int64_t d = 0; d < type.getRank(); ++d)
    for (const Axis &axis : type.getDimAxes(d))
      digits.push_back({mesh.getStride(axis), axis.size});
  llvm::sort(digits);
  return digits;
}

/// The number of the copy that a rank holds.
static int64_t getCopy(const Digits &digits, int64_t rank) {
  int64_t copy = 0, copies = 1, taken = 1;
  for (auto [stride, size] : digits) {
    copy += rank % stride / taken * copies;
    copies *= stride / taken;
    taken = stride * size;
  }
  return copy + rank / taken * copies;
}

/// The runtime's Slot; -1 for what is not saved.
static int64_t getSlot(rt::StorageKind kind) {
  return llvm::StringSwitch<int64_t>(rt::stringifyStorageKind(kind))
      .Case("param", 0)
      .Case("m", 2)
      .Case("v", 3)
      .Case("master", 4)
      .Default(-1);
}

int64_t dtc::getSnapshotBytes(func::FuncOp step) {
  auto module = step->getParentOfType<ModuleOp>();
  MeshAttr mesh = getMesh(module);
  int64_t ranks = 1;
  for (const Axis &axis : mesh.getAxes())
    if (axis.name.getValue() != pipelineAxis)
      ranks *= axis.size;
  llvm::StringMap<int64_t> numbers, firstStages;
  for (auto param : module.getOps<ParamOp>())
    numbers.try_emplace(param.getSymName(), numbers.size());
  for (auto storage : module.getOps<rt::StorageOp>())
    if (storage.getKind() == rt::StorageKind::Param) {
      auto stage = static_cast<int64_t>(storage.getStage());
      auto [it, isNew] = firstStages.try_emplace(storage.getOf(), stage);
      it->second = std::min(it->second, stage);
    }

  // What each copy saves of the pieces that are cut in one way: the copies take
  // turns, as in lib/Runtime/Checkpoint/Owner.cpp.
  std::map<Digits, SmallVector<int64_t>> loads;
  for (auto storage : module.getOps<rt::StorageOp>()) {
    int64_t slot = getSlot(storage.getKind()), stage = rt::getStage(step);
    if (slot < 0 || static_cast<int64_t>(storage.getStage()) != stage ||
        firstStages.lookup(storage.getOf()) != stage)
      continue;
    Digits digits = getDigits(storage.getTensorType(), mesh);
    int64_t copies = ranks;
    for (auto [stride, size] : digits)
      copies /= size;
    SmallVector<int64_t> &load = loads[digits];
    load.resize(copies);
    load[(numbers.lookup(storage.getOf()) * 5 + slot) % copies] +=
        rt::getAlignedBytes(storage.getBufferType());
  }
  int64_t most = 0;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    int64_t bytes = 0;
    for (auto &[digits, load] : loads)
      bytes += load[getCopy(digits, rank)];
    most = std::max(most, bytes);
  }
  return most + (int64_t(1) << 20);
}
