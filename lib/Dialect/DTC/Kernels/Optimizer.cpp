//===- Optimizer.cpp - Kernels of clipping and AdamW ----------------------===//

#include "Loops.h"
#include <cmath>

using namespace mlir;
using namespace dtc;

LogicalResult SumSquaresOp::emitKernel(KernelBuilder &kb) {
  Loops k(*this, kb);
  if (failed(k.check()))
    return failure();
  // Rows of consecutive logical elements: up to the last padded dimension,
  // whose rest may end early.
  ArrayRef<int64_t> shape = k.inShape(0);
  unsigned split = shape.size();
  while (split > 0 && !k.isPadded(0, split - 1))
    --split;
  int64_t cols = numElements(shape), rows = 1;
  Value end = k.idx(cols);
  if (split > 0) {
    int64_t rest = numElements(shape.drop_front(split));
    rows = numElements(shape.take_front(split - 1));
    cols = shape[split - 1] * rest;
    end = k.mul(k.length(0, split - 1), rest);
  }
  int64_t tile = 4 * Loops::tileElements;
  int64_t blocks = std::max<int64_t>(1, ceilDiv(cols, tile));
  int64_t group = std::max<int64_t>(1, tile / std::max<int64_t>(cols, 1));
  int64_t count = ceilDiv(rows, group) * blocks;
  Type wide = k.b.getF64Type();
  Value sums = k.scratch({{count, wide}})[0], none = k.number(0.0, wide);
  auto wideVec = VectorType::get({k.lanes}, wide);
  k.tiles(count, rows * cols < Loops::serialBelow, [&](Value task) {
    Value firstRow = k.mul(k.div(task, blocks), group);
    Value lastRow = k.min(k.add(firstRow, group), k.idx(rows));
    Value from = k.mul(k.rem(task, blocks), tile);
    Value total = k.fold(firstRow, lastRow, none, [&](Value row, Value acc) {
      Value to = blocks == 1 ? end : k.min(k.add(from, tile), end);
      // Where a piece ends early a tile may begin beyond.
      to = k.max(to, from);
      if (split > 1)
        if (Value inside = k.inside(0, row, shape.size() - split + 1))
          to = k.select(inside, to, from);
      Value base = k.mul(row, cols);
      Value sum = k.sum(
          from, to,
          [&](Value col, Value mask) {
            Value x =
                k.toFloat(k.read(k.in[0], k.add(base, col), mask), wideVec);
            return k.mulf(x, x);
          },
          wide);
      return k.addf(acc, sum);
    });
    k.store(total, sums, task);
  });
  Value total = k.fold(k.idx(0), k.idx(count), none, [&](Value i, Value acc) {
    return k.addf(acc, k.load(sums, i));
  });
  Type to = cast<MemRefType>(k.out[0].getType()).getElementType();
  k.store(k.toFloat(total, to), k.out[0], k.idx(0));
  return success();
}

static Value loadScalar(Loops &k, Value mem, int64_t i, Type type) {
  return k.toFloat(k.load(mem, k.idx(i)), type);
}

LogicalResult ClipOp::emitKernel(KernelBuilder &kb) {
  Loops k(*this, kb);
  if (failed(k.check()))
    return failure();
  auto typeOf = [](Value mem) {
    return cast<MemRefType>(mem.getType()).getElementType();
  };
  Type wide = k.b.getF64Type(), integer = typeOf(k.out[2]);
  Value norm = k.sqrt(loadScalar(k, k.in[0], 0, wide));
  Value loss = loadScalar(k, k.in[1], 0, wide);
  Value limit = loadScalar(k, k.in[3], 7, wide);
  Value zero = k.number(0.0, wide), one = k.number(1.0, wide);
  auto compare = [&](arith::CmpFPredicate p, Value x, Value y) {
    return k.op<arith::CmpFOp>(p, x, y);
  };
  Value ratio = k.divf(limit, k.addf(norm, k.number(1e-6, wide)));
  Value reduce =
      k.op<arith::AndIOp>(compare(arith::CmpFPredicate::ONE, limit, zero),
                          compare(arith::CmpFPredicate::OLT, ratio, one));
  Value finite = k.op<arith::AndIOp>(
      compare(arith::CmpFPredicate::OLT, k.op<math::AbsFOp>(norm),
              k.number(INFINITY, wide)),
      compare(arith::CmpFPredicate::OLT, k.op<math::AbsFOp>(loss),
              k.number(INFINITY, wide)));
  Value labels = k.load(k.in[2], k.idx(0));
  Value go =
      k.op<arith::AndIOp>(finite, k.ne(labels, k.number(0, labels.getType())));
  k.store(k.toFloat(norm, typeOf(k.out[0])), k.out[0], k.idx(0));
  k.store(k.toFloat(k.select(reduce, ratio, one), typeOf(k.out[1])), k.out[1],
          k.idx(0));
  k.store(k.select(go, k.number(0, integer), k.number(1, integer)), k.out[2],
          k.idx(0));
  return success();
}

LogicalResult AdamWOp::emitKernel(KernelBuilder &kb) {
  Loops k(*this, kb);
  if (failed(k.check()))
    return failure();
  Type wide = k.b.getF64Type();
  auto scalar = [&](int64_t i) { return loadScalar(k, k.in[6], i, wide); };
  // Everything that does not depend on the element, rounded once.
  auto vector = [&](Value v) { return k.spread(k.toFloat(v, k.element)); };
  Value one = k.number(1.0, wide), lr = scalar(0), b1 = scalar(1),
        b2 = scalar(2);
  Value coefficient = vector(loadScalar(k, k.in[4], 0, wide));
  Value decay = vector(k.mulf(lr, scalar(4)));
  Value beta1 = vector(b1), beta2 = vector(b2);
  Value rest1 = vector(k.subf(one, b1)), rest2 = vector(k.subf(one, b2));
  Value step = vector(k.divf(lr, scalar(5)));
  Value inverse2 = vector(k.divf(one, scalar(6)));
  Value epsilon = vector(scalar(3));
  Value skip = k.load(k.in[5], k.idx(0));
  skip = k.spread(k.ne(skip, k.number(0, skip.getType())));
  k.elementwise(numElements(k.outShape(0)),
                {k.in[0], k.in[1], k.in[2], k.in[3]}, k.out,
                [&](ArrayRef<Value> x, Value) {
                  Value g = k.mulf(coefficient, x[1]);
                  Value m = k.fma(beta1, x[2], k.mulf(rest1, g));
                  Value v = k.fma(beta2, x[3], k.mulf(k.mulf(rest2, g), g));
                  Value p = x[0];
                  if (getDecay())
                    p = k.subf(p, k.mulf(decay, p));
                  Value root = k.addf(k.sqrt(k.mulf(v, inverse2)), epsilon);
                  p = k.subf(p, k.divf(k.mulf(step, m), root));
                  return SmallVector<Value>{k.select(skip, x[0], p),
                                            k.select(skip, x[2], m),
                                            k.select(skip, x[3], v)};
                });
  return success();
}
