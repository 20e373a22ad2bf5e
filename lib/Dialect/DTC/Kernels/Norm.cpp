//===- Norm.cpp - Kernels of normalizations -------------------------------===//
//
// A row is read several times, from the first-level cache: statistics in two
// passes (mean, then variance) need no more than the element's precision.
//
//===----------------------------------------------------------------------===//

#include "Loops.h"

using namespace mlir;
using namespace dtc;

namespace {

struct Row {
  /// The row's elements, and those from one row to the next: others may cut the
  /// dimension unevenly, and then there is padding.
  int64_t rows, cols, stride;
  Value end; ///< cols as an index
  explicit Row(Loops &k) {
    ArrayRef<int64_t> shape = k.inShape(0);
    stride = shape.back();
    cols = k.rule.factors[k.rule.value(0).back()[0]].size;
    rows = numElements(shape.drop_back());
    end = k.idx(cols);
  }
};

/// Mean and 1 / sqrt(variance + epsilon), in every lane.
struct Statistics {
  Value mean, scale;
  Statistics(Loops &k, Value base, const Row &row, double epsilon) {
    Value zero = k.idx(0), n = k.number(1.0 / row.cols);
    auto x = [&](Value col, Value mask) {
      return k.read(k.in[0], k.add(base, col), mask);
    };
    mean = k.spread(k.mulf(k.sum(zero, row.end, x), n));
    Value variance = k.mulf(k.sum(zero, row.end,
                                  [&](Value col, Value mask) {
                                    Value d = k.subf(x(col, mask), mean);
                                    return k.mulf(d, d);
                                  }),
                            n);
    Value root = k.sqrt(k.addf(variance, k.number(epsilon)));
    scale = k.spread(k.divf(k.number(1.0), root));
  }
};

} // namespace

LogicalResult LayerNormOp::emitKernel(KernelBuilder &kb) {
  Loops k(*this, kb);
  if (failed(k.check(/*readsPaddedWhole=*/true)))
    return failure();
  Row row(k);
  double epsilon = getEpsilon().convertToDouble();
  k.forRows(row.rows, row.cols, [&](Value r) {
    Value base = k.mul(r, row.stride);
    Statistics s(k, base, row, epsilon);
    k.forVectors(k.idx(0), row.end, [&](Value col, Value mask) {
      Value at = k.add(base, col);
      Value h = k.mulf(k.subf(k.read(k.in[0], at, mask), s.mean), s.scale);
      Value y =
          k.fma(h, k.read(k.in[1], col, mask), k.read(k.in[2], col, mask));
      k.write(y, k.out[0], at, mask);
    });
  });
  return success();
}

LogicalResult LayerNormGradOp::emitKernel(KernelBuilder &kb) {
  Loops k(*this, kb);
  if (failed(k.check(/*readsPaddedWhole=*/true)))
    return failure();
  Row row(k);
  double epsilon = getEpsilon().convertToDouble();
  Value x = k.in[0], gamma = k.in[1], dy = k.in[2];
  k.columnSums(
      row.rows, {}, row.cols, {k.out[1], k.out[2]},
      [&](Value r, Loops::AddTerm add) {
        Value base = k.mul(r, row.stride), inside = k.inside(0, r);
        auto body = [&] {
          Statistics s(k, base, row, epsilon);
          auto normalized = [&](Value at, Value mask) {
            return k.mulf(k.subf(k.read(x, at, mask), s.mean), s.scale);
          };
          using F = Loops::Fold;
          SmallVector<Value> sums = k.reduce(
              k.idx(0), row.end, {F::Sum, F::Sum}, [&](Value col, Value mask) {
                Value at = k.add(base, col);
                Value g =
                    k.mulf(k.read(dy, at, mask), k.read(gamma, col, mask));
                return SmallVector<Value>{g, k.mulf(g, normalized(at, mask))};
              });
          Value n = k.number(-1.0 / row.cols);
          Value minusG = k.spread(k.mulf(sums[0], n));
          Value minusGh = k.spread(k.mulf(sums[1], n));
          k.forVectors(k.idx(0), row.end, [&](Value col, Value mask) {
            Value at = k.add(base, col);
            Value h = normalized(at, mask), d = k.read(dy, at, mask);
            Value g = k.fma(d, k.read(gamma, col, mask), minusG);
            k.write(k.mulf(k.fma(h, minusGh, g), s.scale), k.out[0], at, mask);
            add(0, col, k.mulf(d, h), mask);
            add(1, col, d, mask);
          });
        };
        if (inside)
          k.when(inside, body);
        else
          body();
      });
  return success();
}

/// 1 / sqrt(sum / cols + epsilon), a scalar.
static Value rmsScale(Loops &k, Value sum, const Row &row, double epsilon) {
  Value mean = k.mulf(sum, k.number(1.0 / row.cols));
  return k.divf(k.number(1.0), k.sqrt(k.addf(mean, k.number(epsilon))));
}

LogicalResult RmsNormOp::emitKernel(KernelBuilder &kb) {
  Loops k(*this, kb);
  if (failed(k.check(/*readsPaddedWhole=*/true)))
    return failure();
  Row row(k);
  double epsilon = getEpsilon().convertToDouble();
  k.forRows(row.rows, row.cols, [&](Value r) {
    Value base = k.mul(r, row.stride);
    Value squares = k.sum(k.idx(0), row.end, [&](Value col, Value mask) {
      Value v = k.read(k.in[0], k.add(base, col), mask);
      return k.mulf(v, v);
    });
    Value scale = k.spread(rmsScale(k, squares, row, epsilon));
    k.forVectors(k.idx(0), row.end, [&](Value col, Value mask) {
      Value at = k.add(base, col);
      Value h = k.mulf(k.read(k.in[0], at, mask), scale);
      k.write(k.mulf(h, k.read(k.in[1], col, mask)), k.out[0], at, mask);
    });
  });
  return success();
}

LogicalResult RmsNormGradOp::emitKernel(KernelBuilder &kb) {
  Loops k(*this, kb);
  if (failed(k.check(/*readsPaddedWhole=*/true)))
    return failure();
  Row row(k);
  double epsilon = getEpsilon().convertToDouble();
  Value x = k.in[0], gamma = k.in[1], dy = k.in[2];
  k.columnSums(
      row.rows, {}, row.cols, {k.out[1]}, [&](Value r, Loops::AddTerm add) {
        Value base = k.mul(r, row.stride), inside = k.inside(0, r);
        auto body = [&] {
          using F = Loops::Fold;
          SmallVector<Value> sums = k.reduce(
              k.idx(0), row.end, {F::Sum, F::Sum}, [&](Value col, Value mask) {
                Value at = k.add(base, col), v = k.read(x, at, mask);
                Value g =
                    k.mulf(k.read(dy, at, mask), k.read(gamma, col, mask));
                return SmallVector<Value>{k.mulf(v, v), k.mulf(g, v)};
              });
          Value scale = rmsScale(k, sums[0], row, epsilon);
          Value cube = k.mulf(k.mulf(scale, scale), scale);
          Value c = k.spread(
              k.mulf(cube, k.mulf(sums[1], k.number(-1.0 / row.cols))));
          scale = k.spread(scale);
          k.forVectors(k.idx(0), row.end, [&](Value col, Value mask) {
            Value at = k.add(base, col);
            Value v = k.read(x, at, mask), d = k.read(dy, at, mask);
            Value g = k.mulf(k.mulf(d, k.read(gamma, col, mask)), scale);
            k.write(k.fma(v, c, g), k.out[0], at, mask);
            add(0, col, k.mulf(d, k.mulf(v, scale)), mask);
          });
        };
        if (inside)
          k.when(inside, body);
        else
          body();
      });
  return success();
}
