//===- Replicas.cpp - Whether copies are equal ----------------------------===//

#include "dtc/Runtime/Error.h"
#include "dtc/Runtime/Hash.h"
#include "dtc/Runtime/Weights.h"

using namespace dtc::rt;

static bool hasSlot(const Program &program, Slot slot) {
  for (const PipelineRank &coordinate : program.pipelineRanks)
    for (const Place &place : coordinate.tensors)
      if (place.has(slot))
        return true;
  return false;
}

/// Of the rank's piece of each tensor; 0 where it has none.
static std::vector<uint64_t> hashPieces(const Program &program, int64_t rank,
                                        const char *arena, Slot slot) {
  std::vector<uint64_t> hashes(program.tensors.size());
  for (const Place &place : program.of(rank).tensors) {
    if (!place.has(slot))
      continue;
    const Piece &piece = program.tensors[place.tensor].piece(slot);
    const char *base = arena + place.at(slot);
    const int64_t width = sizeOf(piece.type);
    uint64_t hash = 0;
    piece.forEachRun(
        rank, [&](int64_t local, const std::vector<int64_t> &, int64_t n) {
          hash = hashBytes(base + local * width, size_t(n * width), hash);
        });
    hashes[place.tensor] = hash;
  }
  return hashes;
}

static const char *textOf(Slot slot) {
  switch (slot) {
  case Slot::Param:
    return "";
  case Slot::Grad:
    return "the gradient of ";
  case Slot::M:
    return "the first moment of ";
  case Slot::V:
    return "the second moment of ";
  case Slot::Master:
    return "the master copy of ";
  }
  return "";
}

void dtc::rt::checkReplicas(const Program &program, dtc_rank &rank,
                            const char *arena, Slot slot) {
  if (!hasSlot(program, slot))
    return;
  const std::vector<uint64_t> mine = hashPieces(program, rank.id, arena, slot);
  const int64_t ranks = program.ranksPerCoordinate();
  // Of each piece's first rank, which comes before all that have copies.
  std::map<std::pair<size_t, int64_t>, uint64_t> first;
  for (int64_t from = 0; from < rank.count; ++from) {
    const auto *theirs = static_cast<const uint64_t *>(rank.transport->fetch(
        rank, from, mine.data(), int64_t(mine.size() * sizeof(uint64_t))));
    if (!theirs)
      continue;
    for (const Place &place : program.of(from).tensors) {
      if (!place.has(slot))
        continue;
      const size_t t = place.tensor;
      const Tensor &tensor = program.tensors[t];
      const int64_t owner = int64_t(program.firstCoordinate(t)) * ranks +
                            tensor.piece(slot).firstCopy(from % ranks);
      const uint64_t expected =
          first.emplace(std::pair(t, owner), theirs[t]).first->second;
      if (theirs[t] != expected)
        throw Error(cat("rank ", from, "'s copy of ", textOf(slot), "'",
                        tensor.stored, "' differs from rank ", owner,
                        "'s: copies must have equal bits"));
    }
  }
  // Rank 0 reads the last rank's hashes until here.
  barrier(rank);
}
