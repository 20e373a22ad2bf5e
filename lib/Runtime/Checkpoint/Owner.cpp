//===- Owner.cpp - Which rank answers for a piece -------------------------===//

#include "dtc/Runtime/Checkpoint/Owner.h"

using namespace dtc::rt;

bool dtc::rt::owns(const Program &program, int64_t rank, size_t tensor,
                   Slot slot) {
  int64_t ranks = program.ranksPerCoordinate();
  if (rank / ranks != int64_t(program.firstCoordinate(tensor)))
    return false;
  auto [copy, copies] =
      program.tensors[tensor].piece(slot).copyOf(rank % ranks, ranks);
  return copy == int64_t(tensor * size_t(slotCount) + size_t(slot)) % copies;
}
