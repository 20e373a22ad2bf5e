//===- StateWriter.cpp - What one rank writes of a checkpoint -------------===//

#include "dtc/Runtime/Checkpoint/StateWriter.h"
#include "dtc/Runtime/Checkpoint/Checksum.h"
#include "dtc/Runtime/Checkpoint/Owner.h"
#include "dtc/Runtime/Error.h"
#include "dtc/Runtime/FileSystem.h"

#include <cstring>

using namespace dtc::rt;

StateWriter::StateWriter(const Program &program, int64_t rank,
                         const CheckpointLayout &layout)
    : rank(rank), layout(layout), items(layout.files().size()) {
  for (const Place &place : program.of(rank).tensors) {
    const Tensor &tensor = program.tensors[place.tensor];
    for (Slot slot : {Slot::Param, Slot::Master, Slot::M, Slot::V}) {
      if (!place.has(slot) || !owns(program, rank, place.tensor, slot))
        continue;
      int64_t bytes = tensor.piece(slot).localBytes(), at = snapshotSize;
      snapshotSize += (bytes + 63) / 64 * 64;
      StoredRuns runs(tensor, slot, rank);
      if (runs.elements() == 0)
        continue; // padding only
      const StateTensor &state = layout.find(slot, tensor.stored);
      items[state.file].push_back({&state, place.at(slot), at, bytes,
                                   firstNumber(state.name), std::move(runs)});
    }
  }
}

static void addWrapping(int64_t &sum, uint64_t more) {
  sum = int64_t(uint64_t(sum) + more);
}

void StateWriter::takeSnapshot(const char *arena, char *snapshot) const {
  for (const std::vector<Item> &list : items)
    for (const Item &item : list)
      memcpy(snapshot + item.inSnapshot, arena + item.inArena,
             size_t(item.bytes));
}

void StateWriter::write(const std::string &folder, const char *from,
                        bool snapshot, char *staging, int64_t *sums,
                        const std::atomic<bool> &abandoned) const {
  for (size_t f = 0; f < items.size(); ++f) {
    if (items[f].empty() && rank != 0)
      continue;
    const StateFile &state = layout.files()[f];
    SharedFile file(folder + "/" + state.name);
    if (rank == 0) {
      file.resize(state.bytes);
      file.write(state.header.data(), int64_t(state.header.size()), 0);
      addWrapping(sums[f], headerSum(state.header));
    }
    for (const Item &item : items[f])
      writeItem(item, file, from + (snapshot ? item.inSnapshot : item.inArena),
                staging, sums[f], abandoned);
    file.sync();
  }
}

static void gather(const char *from, int64_t n, int64_t stride, int64_t width,
                   char *to) {
  if (stride == 1)
    memcpy(to, from, size_t(n * width));
  else if (width == 4)
    for (int64_t i = 0; i < n; ++i)
      memcpy(to + 4 * i, from + 4 * i * stride, 4);
  else
    for (int64_t i = 0; i < n; ++i)
      memcpy(to + i * width, from + i * stride * width, size_t(width));
}

void StateWriter::writeItem(const Item &item, SharedFile &file,
                            const char *from, char *staging, int64_t &sum,
                            const std::atomic<bool> &abandoned) const {
  const StateTensor &tensor = *item.tensor;
  int64_t width = sizeOf(tensor.type), most = stagingBytes / width;
  int64_t first = 0, held = 0; // the stored elements in the staging memory
  auto flush = [&] {
    if (!held)
      return;
    if (abandoned)
      throw Error("the run has ended");
    if (!allFinite(tensor.type, staging, held))
      throw Error(cat("'", tensor.name, "' has a value that is not finite"));
    addWrapping(
        sum, sumElements(staging, width, item.number + uint64_t(first), held));
    file.write(staging, held * width, tensor.offset + first * width);
    held = 0;
  };
  item.runs.forEach([&](int64_t stored, int64_t local, int64_t n,
                        int64_t stride) {
    if (first + held != stored)
      flush();
    while (n > 0) {
      if (held == most)
        flush();
      if (!held)
        first = stored;
      int64_t now = std::min(n, most - held);
      gather(from + local * width, now, stride, width, staging + held * width);
      held += now;
      stored += now;
      local += now * stride;
      n -= now;
    }
  });
  flush();
}
