//===- Matmul.h - Generator of matrix products ------------------*- C++ -*-===//
//
// C[z][m][n] (+)= sum_k A[z][m][k] * B[z][k][n], as loops of upstream dialects
// (scf, arith, memref, vector, math) at the builder's insertion point.
//
// Each element of C is summed by one thread in increasing k, so that its bits
// depend neither on the number of threads nor on the schedule. Sums are in f32
// for f32 and bf16, and in f64 for f64; a result of bf16 is rounded once.
//
//===----------------------------------------------------------------------===//
#ifndef DTC_CODEGEN_MATMUL_H
#define DTC_CODEGEN_MATMUL_H

#include "dtc/Codegen/Target.h"
#include "dtc/Codegen/Workspace.h"

namespace dtc::codegen {

/// Element (z, i, j) of an operand lies at z * batch + i * row + j * col, in
/// elements from the memref's first.
struct MatrixLayout {
  int64_t batch = 0;
  int64_t row = 0;
  int64_t col = 1;

  static MatrixLayout rowMajor(int64_t rows, int64_t cols) {
    return {rows * cols, cols, 1};
  }
  /// A matrix of rows x cols that is stored transposed (cols x rows).
  static MatrixLayout transposed(int64_t rows, int64_t cols) {
    return {rows * cols, 1, rows};
  }
};

struct MatmulSpec {
  int64_t batch = 1;
  int64_t m = 0, n = 0, k = 0;
  MatrixLayout a; ///< rows m, columns k
  MatrixLayout b; ///< rows k, columns n; not used if packedB
  MatrixLayout c; ///< rows m, columns n; c.col must be 1
  /// B is what emitPackB wrote: batch consecutive blocks of
  /// packedBElements(k, n).
  bool packedB = false;
  /// A is bf16. emitMatmul sees that by itself.
  bool convertsA = false;
  /// C += product. The product is summed first and added once.
  bool accumulate = false;
  /// If set, an index: rows of B and columns of A at or beyond it are padding.
  /// They are not read, and contribute nothing.
  mlir::Value validK;
  /// If set, maps each vector of finished sums (before `accumulate`) to what is
  /// stored. `row` and `col` are the logical place of lane 0 in C; `mask` is
  /// null for a whole vector, else the lanes (vector of i1) that exist: loads
  /// of the epilogue must not touch the others.
  using EpilogueFn = std::function<mlir::Value(
      mlir::OpBuilder &, mlir::Location, mlir::Value z, mlir::Value row,
      mlir::Value col, mlir::Value sums, mlir::Value mask)>;
  EpilogueFn epilogue;
};

/// Emits the product. `a`, `b` and `c` are memrefs of static shape and identity
/// layout, of one element type (f32, f64 or bf16; beside bf16 any of them may
/// be f32, as a packed B is); the kernel reads a and b and writes c, which must
/// not overlap them. Independent tiles are iterations of one scf.parallel.
/// Zero-size dimensions are legal: with k = 0 the result is zero. Fails with a
/// diagnostic at `loc` on what it does not support.
mlir::LogicalResult emitMatmul(mlir::OpBuilder &b, mlir::Location loc,
                               const MatmulSpec &spec, mlir::Value a,
                               mlir::Value bMat, mlir::Value c, Workspace &ws,
                               const TargetInfo &target);

/// Elements of a packed B of k rows and n columns: panels of equal width, the
/// last padded with zeros.
int64_t packedBElements(int64_t k, int64_t n, int64_t elementBits,
                        const TargetInfo &target);

/// Elements of a packed B that all tiles of this product should share, as each
/// of them would otherwise pack its part anew; 0 if that is cheaper. To be
/// given to emitPackB and then to emitMatmul with packedB; the bits are the
/// same.
int64_t sharedPackedElements(const MatmulSpec &spec, int64_t elementBits,
                             const TargetInfo &target);

/// Writes `batch` packed blocks of the k x n matrix B (any layout) to `packed`,
/// a memref of batch * packedBElements elements, f32 for bf16.
mlir::LogicalResult emitPackB(mlir::OpBuilder &b, mlir::Location loc,
                              int64_t batch, int64_t k, int64_t n,
                              const MatrixLayout &layout, mlir::Value bMat,
                              mlir::Value packed, const TargetInfo &target);

} // namespace dtc::codegen
#endif
