//===- Emitter.h - Short names for building index arithmetic ----*- C++ -*-===//
#ifndef DTC_CODEGEN_EMITTER_H
#define DTC_CODEGEN_EMITTER_H

#include "dtc/Codegen/Target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

namespace dtc::codegen {

/// What elements are computed with: f32 for bf16, else their own type. A load
/// converts to it, a store rounds to the buffer's type: nothing in between
/// knows of bf16.
mlir::Type getComputeType(mlir::Type element);

/// Whether a buffer's elements are converted when they are loaded.
bool isConverted(mlir::Value mem);

/// A flat (one-dimensional) buffer and the place in it where something starts.
struct Place {
  mlir::Value mem;
  mlir::Value base; ///< index
};

/// Builds IR at the insertion point of `b`, folding constants on the way.
class Emitter {
public:
  Emitter(mlir::OpBuilder &b, mlir::Location loc) : b(b), loc(loc) {}

  mlir::OpBuilder &b;
  mlir::Location loc;

  template <typename Op, typename... Args> auto op(Args &&...args) {
    return Op::create(b, loc, std::forward<Args>(args)...);
  }

  // Index arithmetic ---------------------------------------------------------
  mlir::Value idx(int64_t v) { return op<mlir::arith::ConstantIndexOp>(v); }
  mlir::Value add(mlir::Value x, mlir::Value y) {
    return b.createOrFold<mlir::arith::AddIOp>(loc, x, y);
  }
  mlir::Value add(mlir::Value x, int64_t y) { return y ? add(x, idx(y)) : x; }
  mlir::Value sub(mlir::Value x, mlir::Value y) {
    return b.createOrFold<mlir::arith::SubIOp>(loc, x, y);
  }
  mlir::Value mul(mlir::Value x, mlir::Value y) {
    return b.createOrFold<mlir::arith::MulIOp>(loc, x, y);
  }
  mlir::Value mul(mlir::Value x, int64_t y) {
    return y == 1 ? x : mul(x, idx(y));
  }
  mlir::Value div(mlir::Value x, int64_t y) {
    return y == 1 ? x : b.createOrFold<mlir::arith::DivUIOp>(loc, x, idx(y));
  }
  mlir::Value rem(mlir::Value x, int64_t y) {
    return b.createOrFold<mlir::arith::RemUIOp>(loc, x, idx(y));
  }
  mlir::Value min(mlir::Value x, mlir::Value y) {
    return b.createOrFold<mlir::arith::MinSIOp>(loc, x, y);
  }
  mlir::Value max(mlir::Value x, mlir::Value y) {
    return b.createOrFold<mlir::arith::MaxSIOp>(loc, x, y);
  }
  mlir::Value eq(mlir::Value x, mlir::Value y) {
    return b.createOrFold<mlir::arith::CmpIOp>(
        loc, mlir::arith::CmpIPredicate::eq, x, y);
  }
  mlir::Value ne(mlir::Value x, mlir::Value y) {
    return b.createOrFold<mlir::arith::CmpIOp>(
        loc, mlir::arith::CmpIPredicate::ne, x, y);
  }
  /// min(size, total - i * size): the length of block i.
  mlir::Value blockLength(mlir::Value i, int64_t size, int64_t total) {
    if (total % size == 0)
      return idx(size);
    return min(idx(size), sub(idx(total), mul(i, size)));
  }

  // Control ------------------------------------------------------------------
  void loop(mlir::Value from, mlir::Value to, int64_t step,
            llvm::function_ref<void(mlir::Value)> body) {
    mlir::OpBuilder::InsertionGuard guard(b);
    auto f = op<mlir::scf::ForOp>(from, to, idx(step));
    b.setInsertionPointToStart(f.getBody());
    body(f.getInductionVar());
  }
  void when(mlir::Value condition, llvm::function_ref<void()> then,
            llvm::function_ref<void()> otherwise = nullptr) {
    mlir::OpBuilder::InsertionGuard guard(b);
    auto i = op<mlir::scf::IfOp>(condition, /*withElse=*/bool(otherwise));
    b.setInsertionPointToStart(&i.getThenRegion().front());
    then();
    if (otherwise) {
      b.setInsertionPointToStart(&i.getElseRegion().front());
      otherwise();
    }
  }
  /// A loop of `count` independent iterations: parallel unless `serial`.
  void tiles(int64_t count, bool serial,
             llvm::function_ref<void(mlir::Value)> body) {
    if (serial || count <= 1)
      return loop(idx(0), idx(count), 1, body);
    mlir::OpBuilder::InsertionGuard guard(b);
    auto p = op<mlir::scf::ParallelOp>(mlir::ValueRange{idx(0)},
                                       mlir::ValueRange{idx(count)},
                                       mlir::ValueRange{idx(1)});
    b.setInsertionPointToStart(p.getBody());
    body(p.getInductionVars()[0]);
  }

  // Memory -------------------------------------------------------------------
  /// A one-dimensional view of a whole memref of identity layout.
  mlir::Value flat(mlir::Value mem);
  /// Values are of the compute type of the buffer's elements.
  mlir::Value load(mlir::Value mem, mlir::Value at);
  void store(mlir::Value v, mlir::Value mem, mlir::Value at);
  /// Lanes outside of `mask` (may be null) are zero and not touched.
  mlir::Value vload(mlir::VectorType type, mlir::Value mem, mlir::Value at,
                    mlir::Value mask = {});
  void vstore(mlir::Value v, mlir::Value mem, mlir::Value at,
              mlir::Value mask = {});

  // Vectors ------------------------------------------------------------------
  mlir::Value splat(mlir::VectorType type, double v);
  mlir::Value splatInt(mlir::VectorType type, int64_t v);
  mlir::Value broadcast(mlir::VectorType type, mlir::Value scalar) {
    return op<mlir::vector::BroadcastOp>(type, scalar);
  }
  /// The first `count` of `lanes` lanes; null if that is all of them.
  mlir::Value firstLanes(int64_t count, int64_t lanes);
  /// x * y + z, rounded once where the target can.
  mlir::Value fma(mlir::Value x, mlir::Value y, mlir::Value z,
                  const TargetInfo &target) {
    if (target.fma)
      return op<mlir::math::FmaOp>(x, y, z);
    return op<mlir::arith::AddFOp>(op<mlir::arith::MulFOp>(x, y), z);
  }
  mlir::Value addf(mlir::Value x, mlir::Value y) {
    return op<mlir::arith::AddFOp>(x, y);
  }
  mlir::Value subf(mlir::Value x, mlir::Value y) {
    return op<mlir::arith::SubFOp>(x, y);
  }
  mlir::Value mulf(mlir::Value x, mlir::Value y) {
    return op<mlir::arith::MulFOp>(x, y);
  }
  mlir::Value select(mlir::Value c, mlir::Value x, mlir::Value y) {
    return op<mlir::arith::SelectOp>(c, x, y);
  }
  /// Transposes as many vectors as each has lanes (a power of two).
  void transpose(llvm::SmallVectorImpl<mlir::Value> &rows);
};

/// Hands out 64-byte aligned ranges of a workspace.
class WorkspaceLayout {
public:
  /// Returns the byte offset of `count` elements of `bits`.
  int64_t reserve(int64_t count, int64_t bits) {
    int64_t at = bytes;
    bytes = (bytes + count * (bits / 8) + 63) / 64 * 64;
    return at;
  }
  int64_t bytes = 0;

  /// The typed, flat view of what was reserved.
  static mlir::Value view(Emitter &e, mlir::Value workspace, int64_t offset,
                          int64_t count, mlir::Type element) {
    auto type = mlir::MemRefType::get({count}, element);
    return e.op<mlir::memref::ViewOp>(type, workspace, e.idx(offset),
                                      mlir::ValueRange{});
  }
};

} // namespace dtc::codegen
#endif
