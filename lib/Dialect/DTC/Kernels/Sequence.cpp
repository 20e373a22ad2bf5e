//===- Sequence.cpp - Kernels of layouts, documents and rings -------------===//

#include "Loops.h"
#include "dtc/Codegen/VectorMath.h"
#include <limits>

using namespace mlir;
using namespace dtc;

/// A shape around one of its dimensions.
namespace {
struct Around {
  int64_t before = 1, length, after = 1;
  Around(ArrayRef<int64_t> shape, uint64_t dim) : length(shape[dim]) {
    for (auto [d, n] : llvm::enumerate(shape))
      if (d != dim)
        (d < dim ? before : after) *= n;
  }
};
} // namespace

LogicalResult PermuteOp::emitKernel(KernelBuilder &kb) {
  Loops k(*this, kb);
  if (failed(k.check()))
    return failure();
  Around x(k.inShape(0), getDim());
  auto parts = static_cast<int64_t>(getParts());
  int64_t piece = x.length / parts;
  k.forRows(x.before * x.length, x.after, [&](Value row) {
    Value outer = k.div(row, x.length), i = k.rem(row, x.length);
    Value part = k.div(i, piece), place = k.rem(i, piece), from;
    if (getLayout() == SequenceLayout::Striped) {
      from = k.add(k.mul(place, parts), part);
    } else {
      int64_t half = piece / 2;
      Value early =
          k.op<arith::CmpIOp>(arith::CmpIPredicate::ult, place, k.idx(half));
      Value mirrored = k.sub(k.idx(2 * parts - 2), part);
      from = k.add(k.mul(k.select(early, part, mirrored), half), place);
    }
    Value source = k.mul(k.add(k.mul(outer, x.length), from), x.after);
    Value target = k.mul(row, x.after);
    k.loop(k.idx(0), k.idx(x.after), 1, [&](Value j) {
      k.store(k.load(k.in[0], k.add(source, j)), k.out[0], k.add(target, j));
    });
  });
  return success();
}

LogicalResult RepadOp::emitKernel(KernelBuilder &kb) {
  Loops k(*this, kb);
  if (failed(k.check(/*readsPaddedWhole=*/true)))
    return failure();
  // Rows of what is logical; the rest is left as it is.
  Around x(k.inShape(0), getDim()), y(k.outShape(0), getDim());
  int64_t n = getX().getType().getShape()[getDim()];
  k.forRows(x.before * n, x.after, [&](Value row) {
    Value outer = k.div(row, n), i = k.rem(row, n);
    Value source = k.mul(k.add(k.mul(outer, x.length), i), x.after);
    Value target = k.mul(k.add(k.mul(outer, y.length), i), x.after);
    k.loop(k.idx(0), k.idx(x.after), 1, [&](Value j) {
      k.store(k.load(k.in[0], k.add(source, j)), k.out[0], k.add(target, j));
    });
  });
  return success();
}

LogicalResult DocumentPositionsOp::emitKernel(KernelBuilder &kb) {
  Loops k(*this, kb);
  if (failed(k.check()))
    return failure();
  int64_t batch = k.inShape(0)[0], length = k.inShape(0)[1];
  Value zero = k.number(0, k.element), one = k.number(1, k.element);
  k.forRows(batch, length, [&](Value row) {
    Value base = k.mul(row, length);
    k.store(zero, k.out[0], base);
    k.fold(k.idx(1), k.idx(length), zero, [&](Value i, Value before) {
      Value at = k.add(base, i), last = k.sub(at, k.idx(1));
      Value same = k.eq(k.load(k.in[0], at), k.load(k.in[0], last));
      Value next = k.select(same, k.op<arith::AddIOp>(before, one), zero);
      k.store(next, k.out[0], at);
      return next;
    });
  });
  return success();
}

LogicalResult ShiftOp::emitKernel(KernelBuilder &kb) {
  Loops k(*this, kb);
  if (failed(k.check()))
    return failure();
  // Between ranks a shift is communication; this is the whole ring in one.
  if (!getX().getType().getDims()[getDim()].empty())
    return emitOpError("moves data between ranks: it has no kernel");
  Around x(k.inShape(0), getDim());
  int64_t block = x.length / static_cast<int64_t>(getBlocks());
  k.forRows(x.before * x.length, x.after, [&](Value row) {
    Value outer = k.div(row, x.length);
    Value from = k.rem(
        k.add(k.rem(row, x.length), getInverse() ? block : x.length - block),
        x.length);
    Value source = k.mul(k.add(k.mul(outer, x.length), from), x.after);
    Value target = k.mul(row, x.after);
    k.loop(k.idx(0), k.idx(x.after), 1, [&](Value j) {
      k.store(k.load(k.in[0], k.add(source, j)), k.out[0], k.add(target, j));
    });
  });
  return success();
}

LogicalResult MergeAttentionOp::emitKernel(KernelBuilder &kb) {
  Loops k(*this, kb);
  if (failed(k.check()))
    return failure();
  int64_t rows = numElements(k.outShape(1)), width = k.outShape(0).back();
  Value none = k.constant(-std::numeric_limits<double>::infinity());
  Value zero = k.constant(0.0);
  k.forRows(rows, width, [&](Value row) {
    Value x = k.spread(k.load(k.in[1], row)),
          y = k.spread(k.load(k.in[3], row));
    Value top = k.op<arith::MaximumFOp>(x, y);
    // -inf minus -inf is no number: a row without keys takes 0 for the top.
    Value empty = k.op<arith::CmpFOp>(arith::CmpFPredicate::OEQ, top, none);
    Value base = k.select(empty, zero, top);
    auto weight = [&](Value lse) {
      Value missing = k.op<arith::CmpFOp>(arith::CmpFPredicate::OEQ, lse, none);
      Value e = codegen::emitExp(k.b, k.loc,
                                 k.subf(k.select(missing, base, lse), base));
      return Value(k.select(missing, zero, e));
    };
    Value a = weight(x), b = weight(y), sum = k.addf(a, b);
    Value safe = k.select(empty, k.constant(1.0), sum);
    Value lse =
        k.select(empty, none, k.addf(base, codegen::emitLog(k.b, k.loc, safe)));
    Value inverse = k.divf(k.constant(1.0), safe);
    a = k.mulf(a, inverse);
    b = k.mulf(b, inverse);
    k.store(k.op<vector::ExtractOp>(lse, int64_t(0)), k.out[1], row);
    Value start = k.mul(row, width);
    k.forVectors(
        k.idx(0), k.idx(width),
        [&](Value i, Value mask) {
          Value at = k.add(start, i);
          Value u = k.mulf(a, k.read(k.in[0], at, mask));
          k.write(k.fma(b, k.read(k.in[2], at, mask), u), k.out[0], at, mask);
        },
        width % k.lanes == 0);
  });
  return success();
}
