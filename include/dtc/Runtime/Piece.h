//===- Piece.h - Which part of a tensor a rank has --------------*- C++ -*-===//

#ifndef DTC_RUNTIME_PIECE_H
#define DTC_RUNTIME_PIECE_H

#include "dtc/Runtime/ABI.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace dtc::rt {

int64_t sizeOf(dtc_dtype type);
const char *nameOf(dtc_dtype type);

/// How a tensor is cut into pieces; see docs/runtime.md, "piece".
struct Piece {
  dtc_dtype type = DTC_F32;
  std::vector<int64_t> shape, padded;
  std::vector<std::vector<dtc_axis>> cut;

  /// Length of dimension d of the local buffer.
  int64_t localLength(size_t d) const;
  int64_t localElements() const;
  int64_t localBytes() const { return localElements() * sizeOf(type); }
  /// Logical index of the rank's first element in dimension d.
  int64_t begin(int64_t rank, size_t d) const;
  /// Of all ranks that hold copies of the rank's piece, the one with coordinate
  /// 0 on every axis that cuts nothing.
  int64_t firstCopy(int64_t rank) const;
  bool isFirstCopy(int64_t rank) const { return firstCopy(rank) == rank; }
  /// The number of a rank's copy, and of how many: ranks 0 to `ranks` - 1 share
  /// the tensor.
  std::pair<int64_t, int64_t> copyOf(int64_t rank, int64_t ranks) const;

  /// Calls f(local offset in elements, logical index, length) for every run
  /// along the last dimension of elements that are not padding.
  template <typename F> void forEachRun(int64_t rank, F f) const {
    size_t n = shape.size();
    if (n == 0) {
      f(int64_t(0), std::vector<int64_t>(), int64_t(1));
      return;
    }
    std::vector<int64_t> first(n), length(n), valid(n), stride(n, 1);
    for (size_t d = n; d-- > 0;) {
      first[d] = begin(rank, d);
      length[d] = localLength(d);
      valid[d] = std::clamp<int64_t>(shape[d] - first[d], 0, length[d]);
      if (d + 1 < n)
        stride[d] = stride[d + 1] * length[d + 1];
      if (valid[d] == 0)
        return;
    }
    std::vector<int64_t> index = first;
    for (;;) {
      int64_t local = 0;
      for (size_t d = 0; d + 1 < n; ++d)
        local += (index[d] - first[d]) * stride[d];
      f(local, const_cast<const std::vector<int64_t> &>(index), valid[n - 1]);
      size_t d = n - 1;
      while (d-- > 0) {
        if (++index[d] < first[d] + valid[d])
          break;
        index[d] = first[d];
      }
      if (d == size_t(-1))
        return;
    }
  }
};

} // namespace dtc::rt
#endif // DTC_RUNTIME_PIECE_H
