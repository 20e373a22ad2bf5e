//===- Loss.cpp - Kernels of the token loss -------------------------------===//
//
// A row of logits is read from the private cache after its first pass; there
// is never a second buffer of the logits' size. Losses are added in f64.
//
//===----------------------------------------------------------------------===//

#include "Loops.h"
#include "dtc/Codegen/VectorMath.h"

using namespace mlir;
using namespace dtc;

namespace {

/// Logits [b, s, v] as rows of the local vocabulary.
struct Logits {
  int64_t rows, cols;
  double vocabulary; ///< the logical size
  Value mem, first, end;

  explicit Logits(Loops &k) : mem(k.in[0]) {
    ArrayRef<int64_t> shape = k.inShape(0);
    cols = shape.back();
    rows = numElements(shape.drop_back());
    const Factor &v = k.rule.factors[k.rule.value(0)[2][0]];
    vocabulary = v.size;
    first = k.first(0, 2);
    end = k.length(0, 2);
  }

  Value base(Loops &k, Value row) const { return k.mul(row, cols); }
  Value max(Loops &k, Value base) const {
    return k.reduce(
        k.idx(0), end, {Loops::Fold::Max}, [&](Value col, Value mask) {
          return SmallVector<Value>{k.read(mem, k.add(base, col), mask)};
        })[0];
  }
  Value sumExp(Loops &k, Value base, Value shift, bool bounded) const {
    Value vector = k.spread(shift);
    return k.sum(k.idx(0), end, [&](Value col, Value mask) {
      Value x = k.subf(k.read(mem, k.add(base, col), mask), vector);
      return bounded ? codegen::emitExpBounded(k.b, k.loc, x)
                     : codegen::emitExp(k.b, k.loc, x);
    });
  }
  Value sum(Loops &k, Value base) const {
    return k.sum(k.idx(0), end, [&](Value col, Value mask) {
      return k.read(mem, k.add(base, col), mask);
    });
  }
  /// (1-e) logits[label] + e/v sum(logits) of what the piece holds.
  Value picked(Loops &k, Value base, Value label, double smoothing) const {
    Value at = k.sub(k.toIndex(label), first);
    Value has = k.lessUnsigned(at, end);
    // An empty piece has no element to read in a missing one's place.
    Value logit = k.number(0.0);
    auto choice = k.op<scf::IfOp>(TypeRange{k.element}, has, true);
    {
      OpBuilder::InsertionGuard guard(k.b);
      k.b.setInsertionPointToStart(&choice.getThenRegion().front());
      k.op<scf::YieldOp>(ValueRange{k.load(mem, k.add(base, at))});
      k.b.setInsertionPointToStart(&choice.getElseRegion().front());
      k.op<scf::YieldOp>(ValueRange{logit});
    }
    logit = choice.getResult(0);
    if (smoothing == 0)
      return logit;
    Value all = k.mulf(sum(k, base), k.number(smoothing / vocabulary));
    return k.fma(logit, k.number(1 - smoothing), all);
  }
  /// Whether a label counts: -100, and whatever is no token, does not.
  Value counts(Loops &k, Value label) const {
    return k.lessUnsigned(label, k.number(vocabulary, label.getType()));
  }
};

} // namespace

LogicalResult CrossEntropyOp::emitKernel(KernelBuilder &kb) {
  Loops k(*this, kb);
  if (failed(k.check()))
    return failure();
  Logits logits(k);
  double smoothing = getLabelSmoothing().convertToDouble();
  Type wide = k.b.getF64Type();
  Value losses = k.scratch({{logits.rows, wide}})[0];
  Value none = k.number(0.0, wide);
  k.forRows(logits.rows, logits.cols, [&](Value row) {
    Value base = logits.base(k, row);
    Value max = logits.max(k, base);
    Value sum = logits.sumExp(k, base, max, /*bounded=*/true);
    Value log = codegen::emitLog(k.b, k.loc, sum);
    k.store(k.addf(log, max), k.out[1], row);
    Value label = k.load(k.in[1], row), counts = logits.counts(k, label);
    if (Value inside = k.inside(0, row))
      counts = k.op<arith::AndIOp>(counts, inside);
    Value picked = logits.picked(k, base, label, smoothing);
    Value loss = k.addf(k.toFloat(log, wide),
                        k.subf(k.toFloat(max, wide), k.toFloat(picked, wide)));
    k.store(k.select(counts, loss, none), losses, row);
  });
  Value total =
      k.fold(k.idx(0), k.idx(logits.rows), none, [&](Value i, Value acc) {
        return k.addf(acc, k.load(losses, i));
      });
  k.store(k.toFloat(total, k.element), k.out[0], k.idx(0));
  return success();
}

LogicalResult CrossEntropyGradOp::emitKernel(KernelBuilder &kb) {
  Loops k(*this, kb);
  if (failed(k.check()))
    return failure();
  Logits logits(k);
  double smoothing = getLabelSmoothing().convertToDouble();
  Value scales = k.spread(k.load(k.in[3], k.idx(0)));
  Value steps = k.laneNumbers(k.b.getI32Type());
  auto number = [&](Value index) {
    return k.op<arith::IndexCastOp>(k.b.getI32Type(), index).getResult();
  };
  Value zero = k.constant(0.0), result = k.out[0];
  Value all = k.idx(logits.cols);
  k.forRows(logits.rows, logits.cols, [&](Value row) {
    Value base = logits.base(k, row);
    auto zeros = [&](Value from) {
      k.forVectors(from, all, [&](Value col, Value mask) {
        k.write(zero, result, k.add(base, col), mask);
      });
    };
    Value label = k.load(k.in[1], row);
    k.when(
        logits.counts(k, label),
        [&] {
          Value lse = k.spread(k.load(k.in[2], row));
          // The label's place in the piece, or none of its places.
          Value hot = k.spread(number(k.sub(k.toIndex(label), logits.first)));
          k.forVectors(k.idx(0), logits.end, [&](Value col, Value mask) {
            Value at = k.add(base, col);
            Value x = k.subf(k.read(logits.mem, at, mask), lse);
            Value p = codegen::emitExpBounded(k.b, k.loc, x);
            if (smoothing != 0)
              p = k.subf(p, k.constant(smoothing / logits.vocabulary));
            Value other =
                k.ne(k.op<arith::AddIOp>(k.spread(number(col)), steps), hot);
            p = k.select(other, p, k.addf(p, k.constant(smoothing - 1)));
            k.write(k.mulf(p, scales), result, at, mask);
          });
          if (k.isPadded(0, 2))
            zeros(logits.end);
        },
        [&] { zeros(k.idx(0)); });
  });
  return success();
}

LogicalResult VocabMaxOp::emitKernel(KernelBuilder &kb) {
  Loops k(*this, kb);
  if (failed(k.check()))
    return failure();
  Logits logits(k);
  k.forRows(logits.rows, logits.cols, [&](Value row) {
    k.store(logits.max(k, logits.base(k, row)), k.out[0], row);
  });
  return success();
}

LogicalResult VocabSumExpOp::emitKernel(KernelBuilder &kb) {
  Loops k(*this, kb);
  if (failed(k.check()))
    return failure();
  Logits logits(k);
  k.forRows(logits.rows, logits.cols, [&](Value row) {
    Value shift = k.load(k.in[1], row);
    k.store(logits.sumExp(k, logits.base(k, row), shift, /*bounded=*/false),
            k.out[0], row);
  });
  return success();
}

LogicalResult VocabPickOp::emitKernel(KernelBuilder &kb) {
  Loops k(*this, kb);
  if (failed(k.check()))
    return failure();
  Logits logits(k);
  double smoothing = getLabelSmoothing().convertToDouble();
  int64_t work = smoothing == 0 ? 16 : logits.cols;
  k.forRows(logits.rows, work, [&](Value row) {
    Value label = k.load(k.in[1], row), base = logits.base(k, row);
    k.store(logits.picked(k, base, label, smoothing), k.out[0], row);
  });
  return success();
}

LogicalResult TokenLossOp::emitKernel(KernelBuilder &kb) {
  Loops k(*this, kb);
  if (failed(k.check()))
    return failure();
  Value shift = k.in[0], sumExp = k.in[1], picked = k.in[2], labels = k.in[3];
  int64_t rows = numElements(k.inShape(0)), tile = Loops::tileElements;
  int64_t count = ceilDiv(rows, tile);
  Type wide = k.b.getF64Type();
  Value sums = k.scratch({{count, wide}})[0], none = k.number(0.0, wide);
  k.tiles(count, rows < Loops::serialBelow, [&](Value t) {
    Value from = k.mul(t, tile), to = k.min(k.add(from, tile), k.idx(rows));
    Value sum = k.fold(from, to, none, [&](Value row, Value acc) {
      Value top = k.load(shift, row);
      Value log = codegen::emitLog(k.b, k.loc, k.load(sumExp, row));
      k.store(k.addf(log, top), k.out[1], row);
      Value label = k.load(labels, row);
      Value counts = k.op<arith::CmpIOp>(arith::CmpIPredicate::sge, label,
                                         k.number(0, label.getType()));
      if (Value inside = k.inside(0, row, 0))
        counts = k.op<arith::AndIOp>(counts, inside);
      Value rest =
          k.subf(k.toFloat(top, wide), k.toFloat(k.load(picked, row), wide));
      Value loss = k.addf(k.toFloat(log, wide), rest);
      return k.addf(acc, k.select(counts, loss, none));
    });
    k.store(sum, sums, t);
  });
  Value total = k.fold(k.idx(0), k.idx(count), none, [&](Value i, Value acc) {
    return k.addf(acc, k.load(sums, i));
  });
  k.store(k.toFloat(total, k.element), k.out[0], k.idx(0));
  return success();
}

LogicalResult CountLabelsOp::emitKernel(KernelBuilder &kb) {
  Loops k(*this, kb);
  if (failed(k.check()))
    return failure();
  Value zero = k.splatInt(k.vec, 0), one = k.splatInt(k.vec, 1);
  ArrayRef<int64_t> shape = k.inShape(0);
  int64_t cols = shape.empty() ? 1 : shape.back();
  Value end = shape.empty() ? k.idx(1) : k.length(0, shape.size() - 1);
  Value total =
      k.fold(k.idx(0), k.idx(numElements(shape) / cols), k.number(0.0),
             [&](Value row, Value acc) {
               Value base = k.mul(row, cols);
               Value count = k.sum(k.idx(0), end, [&](Value col, Value mask) {
                 Value label = k.read(k.in[0], k.add(base, col), mask);
                 Value counts = k.op<arith::CmpIOp>(arith::CmpIPredicate::sge,
                                                    label, zero);
                 return k.select(counts, one, zero);
               });
               if (!shape.empty())
                 if (Value inside = k.inside(0, row))
                   count = k.select(inside, count, k.number(0.0));
               return k.op<arith::AddIOp>(acc, count);
             });
  k.store(total, k.out[0], k.idx(0));
  return success();
}
