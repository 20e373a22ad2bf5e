//===- Reduce.cpp - Kernel of sums over dimensions ------------------------===//

#include "Loops.h"

using namespace mlir;
using namespace dtc;

namespace {
/// Neighbouring dimensions that are all summed or all kept.
struct Group {
  int64_t size, stride;
  bool summed;
  bool padded; ///< and summed: the rest ends early
  Value end;   ///< how many are logical
};
} // namespace

static SmallVector<Group> groupDims(Loops &k, ArrayRef<int64_t> summed) {
  SmallVector<Group> groups;
  ArrayRef<int64_t> shape = k.inShape(0);
  int64_t stride = 1;
  for (unsigned d = shape.size(); d-- > 0; stride *= shape[d]) {
    bool isSummed = llvm::is_contained(summed, d);
    bool padded = isSummed && k.isPadded(0, d);
    if (shape[d] == 1 && !padded)
      continue;
    // Elements stay consecutive unless the inner dimensions end early.
    if (!groups.empty() && groups.back().summed == isSummed &&
        !groups.back().padded) {
      Group &g = groups.back();
      g.end = k.mul(isSummed ? k.length(0, d) : k.idx(shape[d]), g.size);
      g.size *= shape[d];
      g.padded = padded;
      continue;
    }
    groups.push_back({shape[d], stride, isSummed, padded,
                      isSummed ? k.length(0, d) : k.idx(shape[d])});
  }
  std::reverse(groups.begin(), groups.end());
  return groups;
}

/// acc = body(offset, acc) for every index of the groups, in order.
static Value foldGroups(Loops &k, ArrayRef<Group> groups, Value offset,
                        Value init,
                        function_ref<Value(Value offset, Value acc)> body) {
  if (groups.empty())
    return body(offset, init);
  const Group &g = groups.front();
  return k.fold(k.idx(0), g.end, init, [&](Value i, Value acc) {
    return foldGroups(k, groups.drop_front(), k.add(offset, k.mul(i, g.stride)),
                      acc, body);
  });
}

LogicalResult ReduceSumOp::emitKernel(KernelBuilder &kb) {
  Loops k(*this, kb);
  if (failed(k.check()))
    return failure();
  Value x = k.in[0], result = k.out[0];
  SmallVector<Group> groups = groupDims(k, getDims());
  int64_t total = numElements(k.inShape(0));

  // A bias's gradient.
  if (groups.size() == 2 && groups[0].summed && !groups[1].summed) {
    int64_t cols = groups[1].size;
    k.columnSums(groups[0].size, groups[0].end, cols, {result},
                 [&](Value row, Loops::AddTerm add) {
                   Value base = k.mul(row, cols);
                   k.forVectors(
                       k.idx(0), k.idx(cols), [&](Value col, Value mask) {
                         add(0, col, k.read(x, k.add(base, col), mask), mask);
                       });
                 });
    return success();
  }

  bool sumsCols = !groups.empty() && groups.back().summed;
  Group inner =
      groups.empty() ? Group{1, 1, false, false, {}} : groups.pop_back_val();
  SmallVector<Group> kept, summed;
  int64_t rows = 1;
  for (const Group &g : groups) {
    (g.summed ? summed : kept).push_back(g);
    if (!g.summed)
      rows *= g.size;
  }
  auto offsetOf = [&](Value row) {
    Value offset = k.idx(0);
    for (const Group &g : llvm::reverse(kept)) {
      offset = k.add(offset, k.mul(k.rem(row, g.size), g.stride));
      row = k.div(row, g.size);
    }
    return offset;
  };
  if (sumsCols) {
    k.forRows(rows, total / rows, [&](Value row) {
      Value sum = foldGroups(
          k, summed, offsetOf(row), k.number(0.0), [&](Value base, Value acc) {
            Value part = k.sum(k.idx(0), inner.end, [&](Value col, Value mask) {
              return k.read(x, k.add(base, col), mask);
            });
            return k.addf(acc, part);
          });
      k.store(sum, result, row);
    });
    return success();
  }
  int64_t cols = inner.size, blocks = ceilDiv(cols, Loops::tileElements);
  k.tiles(rows * blocks, total < Loops::serialBelow, [&](Value task) {
    Value row = k.div(task, blocks), offset = offsetOf(row);
    Value from = k.mul(k.rem(task, blocks), Loops::tileElements);
    Value to = k.min(k.add(from, Loops::tileElements), k.idx(cols));
    k.forVectors(
        from, to,
        [&](Value col, Value mask) {
          Value sum = foldGroups(k, summed, k.add(offset, col), k.constant(0.0),
                                 [&](Value at, Value acc) {
                                   return k.addf(acc, k.read(x, at, mask));
                                 });
          k.write(sum, result, k.add(k.mul(row, cols), col), mask);
        },
        cols % k.lanes == 0);
  });
  return success();
}
