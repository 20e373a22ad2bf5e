//===- Elementwise.cpp - Kernels of plain arithmetic ----------------------===//

#include "Loops.h"

using namespace mlir;
using namespace dtc;

LogicalResult AddOp::emitKernel(KernelBuilder &kb) {
  Loops k(*this, kb);
  if (failed(k.check()))
    return failure();
  auto plus = [&](Value x, Value y) -> Value {
    if (isa<IntegerType>(k.element))
      return k.op<arith::AddIOp>(x, y);
    return k.addf(x, y);
  };
  ArrayRef<int64_t> shape = k.outShape(0);
  SmallVector<int64_t> dims = getRhsDimList();
  Spread rhs(shape, [&](unsigned d) { return llvm::is_contained(dims, d); });
  if (rhs.rows == 1 && rhs.hasCols) {
    k.elementwise(numElements(shape), k.in, k.out,
                  [&](ArrayRef<Value> x, Value) {
                    return SmallVector<Value>{plus(x[0], x[1])};
                  });
    return success();
  }
  k.forBlocks(rhs.rows, rhs.cols, [&](Value row, Value from, Value to) {
    Value base = k.mul(row, rhs.cols), other = rhs.offset(k, row);
    Value same = rhs.hasCols ? Value() : k.spread(k.load(k.in[1], other));
    k.forVectors(
        from, to,
        [&](Value col, Value mask) {
          Value at = k.add(base, col);
          Value y = same ? same : k.read(k.in[1], k.add(other, col), mask);
          k.write(plus(k.read(k.in[0], at, mask), y), k.out[0], at, mask);
        },
        rhs.cols % k.lanes == 0);
  });
  return success();
}

LogicalResult BroadcastOp::emitKernel(KernelBuilder &kb) {
  Loops k(*this, kb);
  if (failed(k.check()))
    return failure();
  Spread x(k.outShape(0),
           [&](unsigned d) { return !llvm::is_contained(getDims(), d); });
  k.forBlocks(x.rows, x.cols, [&](Value row, Value from, Value to) {
    Value base = k.mul(row, x.cols), source = x.offset(k, row);
    Value same = x.hasCols ? Value() : k.spread(k.load(k.in[0], source));
    k.forVectors(
        from, to,
        [&](Value col, Value mask) {
          Value v = same ? same : k.read(k.in[0], k.add(source, col), mask);
          k.write(v, k.out[0], k.add(base, col), mask);
        },
        x.cols % k.lanes == 0);
  });
  return success();
}

LogicalResult MultiplyOp::emitKernel(KernelBuilder &kb) {
  Loops k(*this, kb);
  if (failed(k.check()))
    return failure();
  k.elementwise(numElements(k.outShape(0)), k.in, k.out,
                [&](ArrayRef<Value> x, Value) {
                  return SmallVector<Value>{k.mulf(x[0], x[1])};
                });
  return success();
}

LogicalResult ScaleOp::emitKernel(KernelBuilder &kb) {
  Loops k(*this, kb);
  if (failed(k.check()))
    return failure();
  Value factor = k.constant(getFactor().convertToDouble());
  k.elementwise(numElements(k.outShape(0)), k.in, k.out,
                [&](ArrayRef<Value> x, Value) {
                  return SmallVector<Value>{k.mulf(x[0], factor)};
                });
  return success();
}

LogicalResult ConvertOp::emitKernel(KernelBuilder &kb) {
  Loops k(*this, kb);
  if (failed(k.check()))
    return failure();
  Type to = codegen::getComputeType(getType().getElementType());
  auto vec = VectorType::get({k.lanes}, to);
  k.elementwise(numElements(k.outShape(0)), k.in, k.out,
                [&](ArrayRef<Value> x, Value) {
                  return SmallVector<Value>{k.toFloat(x[0], vec)};
                });
  return success();
}

LogicalResult DivideOp::emitKernel(KernelBuilder &kb) {
  Loops k(*this, kb);
  if (failed(k.check()))
    return failure();
  Value count = k.load(k.in[1], k.idx(0));
  Type type = count.getType();
  count = k.select(k.eq(count, k.number(0, type)), k.number(1, type), count);
  Value divisor = k.spread(k.toFloat(count, k.element));
  k.elementwise(numElements(k.outShape(0)), {k.in[0]}, k.out,
                [&](ArrayRef<Value> x, Value) {
                  return SmallVector<Value>{k.divf(x[0], divisor)};
                });
  return success();
}

LogicalResult ConstantOp::emitKernel(KernelBuilder &kb) {
  Loops k(*this, kb);
  if (failed(k.check()))
    return failure();
  k.fill(numElements(k.outShape(0)), k.out[0],
         k.number(getValue().convertToDouble()));
  return success();
}

LogicalResult IotaOp::emitKernel(KernelBuilder &kb) {
  Loops k(*this, kb);
  if (failed(k.check()))
    return failure();
  Value first = k.first(0, 0);
  Value steps = k.laneNumbers(k.element);
  k.elementwise(k.outShape(0)[0], {}, k.out, [&](ArrayRef<Value>, Value at) {
    Value start = k.op<arith::IndexCastOp>(k.element, k.add(first, at));
    Value numbers = k.op<arith::AddIOp>(k.spread(start), steps);
    return SmallVector<Value>{numbers};
  });
  return success();
}

LogicalResult MicroBatchOp::emitKernel(KernelBuilder &kb) {
  Loops k(*this, kb);
  if (failed(k.check()))
    return failure();
  // The local piece holds some of the parts, or is within one of them.
  int64_t cut = product(getX().getType().getDimAxes(0));
  int64_t parts = std::max<int64_t>(1, getParts() / cut);
  int64_t total = numElements(k.outShape(0)), part = total / parts;
  Value m = k.toIndex(k.load(k.in[1], k.idx(0)));
  k.forBlocks(parts, part, [&](Value r, Value from, Value to) {
    Value target = k.mul(r, part);
    Value source = k.mul(k.add(k.mul(r, getCount()), m), part);
    k.forVectors(
        from, to,
        [&](Value at, Value mask) {
          k.write(k.read(k.in[0], k.add(source, at), mask), k.out[0],
                  k.add(target, at), mask);
        },
        part % k.lanes == 0);
  });
  return success();
}
