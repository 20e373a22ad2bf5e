//===- StoredRuns.h - A piece in the order of the stored tensor -*- C++ -*-===//

#ifndef DTC_RUNTIME_CHECKPOINT_STOREDRUNS_H
#define DTC_RUNTIME_CHECKPOINT_STOREDRUNS_H

#include "dtc/Runtime/Program.h"

namespace dtc::rt {

/// The elements of a rank's piece of a parameter in the order in which the
/// stored tensor has them, in runs that are as long as they can be. A view may
/// be transposed, and may be a part of the stored tensor.
class StoredRuns {
public:
  StoredRuns(const Tensor &tensor, Slot slot, int64_t rank);

  /// Elements that are not padding.
  int64_t elements() const;

  /// Calls f(stored, local, n, stride) in the order of `stored`: elements
  /// stored, stored + 1, ... of the flattened stored tensor are the buffer's
  /// local, local + stride, ... Padding is left out. Allocates nothing.
  template <typename F> void forEach(F f) const {
    if (elements() == 0)
      return;
    const Dim *d = dims.data();
    size_t outer = dims.size() - 1;
    const Dim &run = d[outer];
    int64_t index[mostDims] = {}, stored = firstStored, local = firstLocal;
    for (;;) {
      f(stored, local, run.n, run.local);
      size_t at = outer;
      while (at-- > 0) {
        stored += d[at].stored;
        local += d[at].local;
        if (++index[at] < d[at].n)
          break;
        index[at] = 0;
        stored -= d[at].n * d[at].stored;
        local -= d[at].n * d[at].local;
      }
      if (at == size_t(-1))
        return;
    }
  }

private:
  static constexpr size_t mostDims = 16;

  /// n elements; distances of neighbours in the stored tensor and locally.
  struct Dim {
    int64_t n, stored, local;
  };
  /// Outermost first; in the last one neighbours are neighbours when stored.
  std::vector<Dim> dims;
  int64_t firstStored = 0, firstLocal = 0;
};

} // namespace dtc::rt
#endif // DTC_RUNTIME_CHECKPOINT_STOREDRUNS_H
