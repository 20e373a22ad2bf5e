//===- Owner.h - Which rank answers for a piece -----------------*- C++ -*-===//

#ifndef DTC_RUNTIME_CHECKPOINT_OWNER_H
#define DTC_RUNTIME_CHECKPOINT_OWNER_H

#include "dtc/Runtime/Program.h"

namespace dtc::rt {

/// Whether a rank is the one, of all that hold a copy of its piece, that writes
/// it. The copies of different tensors are written by different ranks; of a
/// tensor on several stages those of the first write.
bool owns(const Program &program, int64_t rank, size_t tensor, Slot slot);

} // namespace dtc::rt
#endif // DTC_RUNTIME_CHECKPOINT_OWNER_H
