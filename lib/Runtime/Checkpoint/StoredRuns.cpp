//===- StoredRuns.cpp - A piece in the order of the stored tensor ---------===//

#include "dtc/Runtime/Checkpoint/StoredRuns.h"
#include "dtc/Runtime/Error.h"

using namespace dtc::rt;

StoredRuns::StoredRuns(const Tensor &tensor, Slot slot, int64_t rank) {
  const Piece &piece = tensor.piece(slot);
  firstStored = tensor.storedOffset;
  int64_t localStride = 1;
  for (size_t d = piece.shape.size(); d-- > 0;) {
    int64_t begin = piece.begin(rank, d), length = piece.localLength(d);
    int64_t n = std::clamp<int64_t>(piece.shape[d] - begin, 0, length);
    Dim dim = {n, tensor.storedStrides[d], localStride};
    localStride *= length;
    firstStored += begin * dim.stored;
    if (dim.stored < 0 && n > 0) { // from its end
      firstStored += (n - 1) * dim.stored;
      firstLocal += (n - 1) * dim.local;
      dim.stored = -dim.stored;
      dim.local = -dim.local;
    }
    if (n != 1)
      dims.push_back(dim);
  }
  std::sort(dims.begin(), dims.end(),
            [](const Dim &a, const Dim &b) { return a.stored > b.stored; });
  // Dimensions that go on where the one inside ends are one dimension.
  for (size_t i = dims.size(); i-- > 1;) {
    Dim &outer = dims[i - 1], &inner = dims[i];
    if (outer.stored != inner.n * inner.stored ||
        outer.local != inner.n * inner.local)
      continue;
    inner.n *= outer.n;
    dims.erase(dims.begin() + int64_t(i) - 1);
  }
  if (dims.empty() || dims.back().stored != 1)
    dims.push_back({1, 1, 1});
  if (dims.size() > mostDims)
    throw Error(cat("tensor '", tensor.name, "' has more than ", mostDims - 1,
                    " dimensions"));
}

int64_t StoredRuns::elements() const {
  int64_t n = 1;
  for (const Dim &dim : dims)
    n *= dim.n;
  return n;
}
