//===- TileProduct.h - Products of cache blocks, by register tiles -*- C++ -*-//
#ifndef DTC_LIB_CODEGEN_TILEPRODUCT_H
#define DTC_LIB_CODEGEN_TILEPRODUCT_H

#include "dtc/Codegen/Emitter.h"
#include <functional>

namespace dtc::codegen {

/// Shape of a register tile: rows x (vectors * lanes).
struct RegisterTile {
  int64_t rows;
  int64_t vectors;
};

/// The register tile for `vectors` vectors a row: the rows of a block of
/// `rows` are divided about evenly, so that no sliver remains.
RegisterTile chooseRegisterTile(int64_t rows, int64_t vectors,
                                const TargetInfo &target);

/// One register tile as a callback sees it.
struct TileContext {
  mlir::Value row;  ///< index of the first row, in the block
  mlir::Value col;  ///< index of the first column, in the block
  int64_t rows;     ///< rows of this tile
  int64_t vectors;  ///< vectors of a row
  mlir::Value mask; ///< lanes of the last vector that exist; null: all
  mlir::Value maskOf(int64_t j) const {
    return j + 1 == vectors ? mask : mlir::Value();
  }
};

/// The product of a block A (rows x k) with a block B (k x cols):
/// acc[i][j] = init[i][j] + sum_k A[i][k] * B[k][j], in increasing k.
/// A is read element by element and broadcast, B by vectors.
struct TileProduct {
  mlir::VectorType vec;
  RegisterTile tile;

  mlir::Value rows;     ///< rows of the block (index)
  int64_t rowRemainder; ///< what `rows` may leave modulo tile.rows, besides 0
  mlir::Value cols;     ///< columns of the block (index)
  int64_t colRemainder; ///< what `cols` may leave modulo the tile's columns
  mlir::Value k;        ///< terms of a sum (index)

  /// Element (i, k) of A: a.base + (i / tile.rows) * aBlock +
  /// (i % tile.rows) * aRow + k * aCol.
  Place a;
  int64_t aBlock, aRow, aCol;
  /// Element (k, j) of B, with W the tile's columns: b.base + (j / W) * bPanel
  /// + k * bRow + j % W.
  Place b;
  int64_t bPanel, bRow;
  /// Whether lanes of B beyond the block must not be read.
  bool maskB = false;

  /// If set, emits what comes before the loop over k (prefetching).
  std::function<void(Emitter &, const TileContext &)> start;
  /// What the accumulators start with, rows x vectors; null: zero.
  std::function<llvm::SmallVector<mlir::Value>(Emitter &, const TileContext &)>
      init;
  /// Takes the sums, rows x vectors.
  std::function<void(Emitter &, const TileContext &,
                     llvm::ArrayRef<mlir::Value>)>
      done;

  void emit(Emitter &e, const TargetInfo &target) const;

private:
  void emitTile(Emitter &e, const TargetInfo &target, mlir::Value rowBlock,
                mlir::Value panel, int64_t tileRows, int64_t tileVectors,
                mlir::Value mask) const;
};

} // namespace dtc::codegen
#endif
