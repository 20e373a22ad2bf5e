//===- Loops.h - What the ops' kernels are written with ---------*- C++ -*-===//
//
// A kernel is loops over flat (one-dimensional) buffers, a vector at a time.
// Vectors are explicit: whether LLVM vectorizes a scalar loop depends on alias
// checks that updates in place always fail.
//
// Every element of a result, and every tile of a sum, is computed by one
// iteration in a fixed order, so that no bit depends on the number of threads.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_DIALECT_DTC_KERNELS_LOOPS_H
#define DTC_LIB_DIALECT_DTC_KERNELS_LOOPS_H

#include "dtc/Codegen/Emitter.h"
#include "dtc/Codegen/Workspace.h"
#include "dtc/Dialect/DTC/IR/DTC.h"
#include "dtc/Dialect/DTC/IR/KernelBuilder.h"

namespace dtc {

class Loops : public codegen::Emitter {
public:
  using Value = mlir::Value;
  using Values = llvm::SmallVector<Value>;

  Loops(mlir::Operation *op, KernelBuilder &kb);

  /// Refuses element types that no kernel is for, and, unless the kernel goes
  /// by logical lengths, whole dimensions with padding.
  mlir::LogicalResult check(bool readsPaddedWhole = false);

  // The op -------------------------------------------------------------------
  KernelBuilder &kb;
  mlir::Operation *root;
  FactorRule rule;
  /// Flat operands and results.
  Values in, out;
  llvm::ArrayRef<int64_t> inShape(unsigned i) const;
  llvm::ArrayRef<int64_t> outShape(unsigned r) const;
  /// What the (first) float, or else the first result, is computed with: all
  /// values that kernels see are of compute types.
  mlir::Type element;
  int64_t lanes;
  mlir::VectorType vec;
  int64_t bytes() const { return element.getIntOrFloatBitWidth() / 8; }

  /// Of dimension d of value v (operands, then results), which is one factor:
  /// its logical index of local index 0, and how many elements are logical.
  Value first(unsigned v, unsigned d);
  Value length(unsigned v, unsigned d);
  bool isPadded(unsigned v, unsigned d);
  /// Whether a row (an index into all but the last `inner` dimensions) is
  /// logical; null if all are.
  Value inside(unsigned v, Value row, unsigned inner = 1);

  /// Scratch memory for the whole kernel; to be called once, at the top.
  Values scratch(llvm::ArrayRef<std::pair<int64_t, mlir::Type>> buffers);

  // Arithmetic ---------------------------------------------------------------
  /// A constant of type `vec`.
  Value constant(double v) { return splat(vec, v); }
  Value number(double v, mlir::Type type);
  Value number(double v) { return number(v, element); }
  /// A scalar in every lane.
  Value spread(Value scalar);
  Value toFloat(Value scalar, mlir::Type type);
  Value fma(Value x, Value y, Value z) {
    return Emitter::fma(x, y, z, kb.getTarget());
  }
  Value divf(Value x, Value y) { return op<mlir::arith::DivFOp>(x, y); }
  Value sqrt(Value x) { return op<mlir::math::SqrtOp>(x); }
  Value toIndex(Value i) {
    return op<mlir::arith::IndexCastOp>(b.getIndexType(), i);
  }
  /// 0, 1, 2, ... in the lanes.
  Value laneNumbers(mlir::Type integer);
  Value lessUnsigned(Value x, Value y) {
    return op<mlir::arith::CmpIOp>(mlir::arith::CmpIPredicate::ult, x, y);
  }

  // Memory -------------------------------------------------------------------
  /// A vector of the buffer's elements, as their compute type; lanes outside of
  /// `mask` (may be null) are zero.
  Value read(Value mem, Value at, Value mask = {});
  void write(Value v, Value mem, Value at, Value mask = {}) {
    vstore(v, mem, at, mask);
  }

  // Loops --------------------------------------------------------------------
  /// Work below this is not worth waking threads for.
  static constexpr int64_t serialBelow = 16384;
  /// Elements of a tile of elementwise work.
  static constexpr int64_t tileElements = 4096;

  /// result[i] = body(operands[i]) for i below `count`; a result may be in an
  /// operand's place. `at` is the index of the first lane.
  using Body = llvm::function_ref<Values(llvm::ArrayRef<Value> x, Value at)>;
  void elementwise(int64_t count, llvm::ArrayRef<Value> operands,
                   llvm::ArrayRef<Value> results, Body body);

  /// One iteration a row, in parallel if rows * cols is enough work.
  void forRows(int64_t rows, int64_t cols,
               llvm::function_ref<void(Value row)> body) {
    tiles(rows, rows * cols < serialBelow, body);
  }
  /// Every row, a piece of its columns at a time, in parallel.
  void
  forBlocks(int64_t rows, int64_t cols,
            llvm::function_ref<void(Value row, Value from, Value to)> body);
  /// Vectors at from, from + lanes, ...; the last one is masked, unless it is
  /// whole. `even`: lanes divide to - from.
  void forVectors(Value from, Value to,
                  llvm::function_ref<void(Value at, Value mask)> body,
                  bool even = false);

  /// Sums or maxima of the vectors that `terms` gives; scalars of `type`.
  enum class Fold { Sum, Max };
  Values reduce(Value from, Value to, llvm::ArrayRef<Fold> folds,
                llvm::function_ref<Values(Value at, Value mask)> terms,
                mlir::Type type = {});
  Value sum(Value from, Value to,
            llvm::function_ref<Value(Value at, Value mask)> term,
            mlir::Type type = {});
  /// acc = body(i, acc) for i from..to.
  Value fold(Value from, Value to, Value init,
             llvm::function_ref<Value(Value i, Value acc)> body);

  /// results[i][col] = sum over rows of what `body` adds by `add(i, col, term,
  /// mask)`: tiles of rows into scratch memory, then the tiles in order. `end`
  /// (of at most `rows`): rows that count.
  using AddTerm =
      std::function<void(unsigned i, Value col, Value term, Value mask)>;
  void columnSums(int64_t rows, Value end, int64_t cols,
                  llvm::ArrayRef<Value> results,
                  llvm::function_ref<void(Value row, AddTerm add)> body);

  void fill(int64_t count, Value mem, Value scalar);

private:
  Value foldLanes(Fold kind, Value v);
  Value combine(Fold kind, Value x, Value y);
};

/// A shape whose dimensions some operand has and some it lacks, as rows and
/// columns: the columns are all present or all absent.
struct Spread {
  Spread(llvm::ArrayRef<int64_t> shape, llvm::function_ref<bool(unsigned)> has);

  int64_t rows = 1, cols = 1;
  bool hasCols = true;
  /// Where a row starts in the operand.
  mlir::Value offset(Loops &k, mlir::Value row) const;

private:
  struct Group {
    int64_t size;
    bool present;
  };
  llvm::SmallVector<Group> outer;
};

inline int64_t ceilDiv(int64_t x, int64_t y) { return (x + y - 1) / y; }
inline int64_t numElements(llvm::ArrayRef<int64_t> shape) {
  int64_t n = 1;
  for (int64_t x : shape)
    n *= x;
  return n;
}

/// Scratch memory of the matrix and attention generators, from the builder.
codegen::Workspace workspaceOf(KernelBuilder &kb);

} // namespace dtc

#endif // DTC_LIB_DIALECT_DTC_KERNELS_LOOPS_H
