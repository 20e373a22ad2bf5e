//===- LocalKernels.cpp - Copies, slices, paddings ------------------------===//
//
// What collectives that move no data between ranks do on each of them. Buffers
// are seen as [n0, n1, n2], n1 being the dimension that changes.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace dtc;

namespace {
/// A buffer as three dimensions.
struct Block3 {
  int64_t n[3] = {1, 1, 1};
  Value view;

  Block3(OpBuilder &b, Location loc, Value buffer, int64_t dim) {
    auto type = cast<MemRefType>(buffer.getType());
    for (auto [d, length] : llvm::enumerate(type.getShape()))
      n[static_cast<int64_t>(d) < dim    ? 0
        : static_cast<int64_t>(d) == dim ? 1
                                         : 2] *= length;
    auto flat = MemRefType::get({n[0], n[1], n[2]}, type.getElementType());
    view = memref::ReinterpretCastOp::create(
        b, loc, flat, buffer, int64_t(0), ArrayRef<int64_t>(n, 3),
        ArrayRef<int64_t>({n[1] * n[2], n[2], 1}));
  }
};

/// Loops over [n0, n1, n2] for the kernels here.
struct Loops {
  OpBuilder &b;
  Location loc;

  Value constant(int64_t i) {
    return arith::ConstantIndexOp::create(b, loc, i);
  }
  /// Calls `body` for each index of n, the first two in parallel.
  void over(const int64_t (&n)[3], function_ref<void(ValueRange)> body) {
    OpBuilder::InsertionGuard guard(b);
    Value zero = constant(0), one = constant(1);
    auto outer = scf::ParallelOp::create(
        b, loc, ValueRange{zero, zero},
        ValueRange{constant(n[0]), constant(n[1])}, ValueRange{one, one});
    b.setInsertionPointToStart(outer.getBody());
    auto inner = scf::ForOp::create(b, loc, zero, constant(n[2]), one);
    b.setInsertionPointToStart(inner.getBody());
    SmallVector<Value> index(outer.getInductionVars());
    index.push_back(inner.getInductionVar());
    body(index);
  }
  Value load(const Block3 &x, ValueRange i) {
    return memref::LoadOp::create(b, loc, x.view, i);
  }
  void store(const Block3 &x, ValueRange i, Value value) {
    memref::StoreOp::create(b, loc, value, x.view, i);
  }
  Value zeroOf(const Block3 &x) {
    Type type = cast<MemRefType>(x.view.getType()).getElementType();
    return arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  }
};
} // namespace

/// Dimensions so that both the number of parallel iterations and the inner
/// loop are reasonable.
static int64_t splitDim(Value buffer) {
  return std::max<int64_t>(0, cast<MemRefType>(buffer.getType()).getRank() - 2);
}

void KernelCache::copy(OpBuilder &b, Location loc, Value from, Value to) {
  int64_t dim = splitDim(from);
  launchLocal(
      b, loc, "copy", "", from, to, {}, [&](OpBuilder &inner, ValueRange args) {
        Loops loops{inner, loc};
        Block3 x(inner, loc, args[0], dim), y(inner, loc, args[1], dim);
        loops.over(y.n,
                   [&](ValueRange i) { loops.store(y, i, loops.load(x, i)); });
      });
}

void KernelCache::slice(OpBuilder &b, Location loc, Value from, Value to,
                        int64_t dim, Value first) {
  launchLocal(b, loc, "slice", Twine(dim), from, to, first,
              [&](OpBuilder &inner, ValueRange args) {
                Loops loops{inner, loc};
                Block3 x(inner, loc, args[0], dim), y(inner, loc, args[1], dim);
                loops.over(y.n, [&](ValueRange i) {
                  Value j = arith::AddIOp::create(inner, loc, i[1], args[2]);
                  loops.store(y, i, loops.load(x, {i[0], j, i[2]}));
                });
              });
}

void KernelCache::pad(OpBuilder &b, Location loc, Value from, Value to,
                      int64_t dim, Value first) {
  launchLocal(b, loc, "pad", Twine(dim), from, to, first,
              [&](OpBuilder &inner, ValueRange args) {
                Loops loops{inner, loc};
                Block3 x(inner, loc, args[0], dim), y(inner, loc, args[1], dim);
                Value n = loops.constant(x.n[1]);
                loops.over(y.n, [&](ValueRange i) {
                  // Unsigned: below `first` is far above n.
                  Value j = arith::SubIOp::create(inner, loc, i[1], args[2]);
                  Value own = arith::CmpIOp::create(
                      inner, loc, arith::CmpIPredicate::ult, j, n);
                  auto branch = scf::IfOp::create(
                      inner, loc, own,
                      [&](OpBuilder &then, Location) {
                        Value v = memref::LoadOp::create(
                            then, loc, x.view, ValueRange{i[0], j, i[2]});
                        scf::YieldOp::create(then, loc, v);
                      },
                      [&](OpBuilder &other, Location) {
                        Loops in{other, loc};
                        scf::YieldOp::create(other, loc, in.zeroOf(x));
                      });
                  loops.store(y, i, branch.getResult(0));
                });
              });
}

void KernelCache::keepFirst(OpBuilder &b, Location loc, Value from, Value to,
                            Value index) {
  int64_t dim = splitDim(from);
  launchLocal(b, loc, "keep_first", "", from, to, index,
              [&](OpBuilder &inner, ValueRange args) {
                Loops loops{inner, loc};
                Block3 x(inner, loc, args[0], dim), y(inner, loc, args[1], dim);
                Value first =
                    arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::eq,
                                          args[2], loops.constant(0));
                Value zero = loops.zeroOf(x);
                loops.over(y.n, [&](ValueRange i) {
                  loops.store(y, i,
                              arith::SelectOp::create(inner, loc, first,
                                                      loops.load(x, i), zero));
                });
              });
}
