//===- Allocator.h - Offsets for buffers with lifetimes ---------*- C++ -*-===//

#ifndef DTC_PLANNER_ALLOCATOR_H
#define DTC_PLANNER_ALLOCATOR_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <optional>
#include <utility>

namespace dtc {

/// A buffer that lives from time `first` to time `last`, both included.
struct Lifetime {
  int64_t bytes = 0;
  int64_t first = 0, last = 0;
  int64_t offset = -1;

  bool livesWith(const Lifetime &o) const {
    return first <= o.last && o.first <= last;
  }
};

/// The largest sum of bytes that live at one time: no plan needs less.
int64_t getLargestLiveBytes(llvm::ArrayRef<Lifetime> buffers);

/// Sets the offsets so that buffers that live together are apart; returns the
/// bytes needed. Sizes should be multiples of the alignment. Tries several
/// orders, until one comes within 1 % of the largest sum of live bytes; all
/// but the last, which is for at most some thousand buffers, take time n log n.
int64_t allocate(llvm::MutableArrayRef<Lifetime> buffers);

/// Two buffers that live together and overlap; none in a right plan. Time
/// n log n.
std::optional<std::pair<size_t, size_t>>
findOverlap(llvm::ArrayRef<Lifetime> buffers);

} // namespace dtc

#endif // DTC_PLANNER_ALLOCATOR_H
