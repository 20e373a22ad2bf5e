//===- MatmulPacking.h - Blocks of matrices in the order of use -*- C++ -*-===//
#ifndef DTC_LIB_CODEGEN_MATMULPACKING_H
#define DTC_LIB_CODEGEN_MATMULPACKING_H

#include "dtc/Codegen/Emitter.h"

namespace dtc::codegen {

/// A block of a matrix: element (i, j) at base + i * row + j * col.
struct BlockView {
  Place at;
  int64_t row, col;
};

/// Writes rows [0, k) and columns [0, n) of B to panels of `width` columns
/// (a multiple of the lanes): element (r, j) goes to dst + (j / width) *
/// panelStride + r * width + j % width. Columns beyond n are zero up to the
/// width. panelStride leaves room for k rounded up to the lanes.
/// `nRemainder`: what n may leave modulo width, besides 0.
void emitPackPanels(Emitter &e, mlir::VectorType vec, const BlockView &b,
                    mlir::Value k, mlir::Value n, int64_t nRemainder,
                    int64_t width, Place dst, int64_t panelStride);

/// Writes A (rows x k), whose rows run along consecutive addresses (row == 1),
/// to blocks of `tileRows` rows: element (i, c) goes to dst +
/// (i / tileRows) * blockStride + c * tileRows + i % tileRows.
/// blockStride leaves room for one vector more. `rowRemainder` as above.
void emitPackRowBlocks(Emitter &e, mlir::VectorType vec, const BlockView &a,
                       mlir::Value rows, int64_t rowRemainder, int64_t tileRows,
                       mlir::Value k, Place dst, int64_t blockStride);

/// Copies A (rows x k), col == 1, to rows of `stride` elements, which leaves
/// room for k rounded up to the lanes.
void emitCopyRows(Emitter &e, mlir::VectorType vec, const BlockView &a,
                  mlir::Value rows, mlir::Value k, Place dst, int64_t stride);

} // namespace dtc::codegen
#endif
