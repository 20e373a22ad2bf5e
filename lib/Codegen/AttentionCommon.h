//===- AttentionCommon.h - Shared by both directions of attention -*- C++ -*-=//
#ifndef DTC_LIB_CODEGEN_ATTENTIONCOMMON_H
#define DTC_LIB_CODEGEN_ATTENTIONCOMMON_H

#include "MatmulPacking.h"
#include "TileProduct.h"
#include "dtc/Codegen/Attention.h"
#include "dtc/Codegen/VectorMath.h"

namespace dtc::codegen {

/// Sizes and flat operands of one attention op.
struct AttentionKernel {
  AttentionKernel(Emitter &e, const AttentionSpec &spec,
                  const AttentionInputs &in, const TargetInfo &target);

  /// Checks types and shapes, with diagnostics.
  static mlir::LogicalResult
  check(mlir::Location loc, const AttentionSpec &spec,
        const AttentionInputs &in, llvm::ArrayRef<mlir::Value> likeQ,
        llvm::ArrayRef<mlir::Value> likeK, mlir::Value lse);

  const AttentionSpec &spec;
  const TargetInfo &target;
  mlir::Type element;
  int64_t bits, lanes;
  mlir::VectorType vec;    ///< of T
  mlir::VectorType intVec; ///< of i32, equal lanes
  int64_t width;           ///< of a tile along the vectors
  int64_t heads;
  int64_t qStride, kStride; ///< elements between queries, between keys
  mlir::Value q, k, v, posQ, posK, docQ, docK, rows;
  bool positionsPerRow;
  std::array<mlir::Value, 2> key; ///< of the dropout mask
  mlir::Value headOffset;

  bool masked() const { return spec.causal || docQ; }

  /// Whether no query of a tile sees a key of another, and whether all do.
  struct Visibility {
    mlir::Value none, all; ///< i1; null: never none, always all
  };
  struct Range {
    mlir::Value low, high;
  };
  /// Positions and documents of a tile of queries or of keys.
  struct TileIds {
    Range pos, doc; ///< of what the kernel masks by, else null
  };
  /// `count` of at most `most` ids from `at`; `count` is null if it is always
  /// `most`.
  TileIds idsOf(Emitter &e, mlir::Value pos, mlir::Value doc, mlir::Value posAt,
                mlir::Value docAt, mlir::Value count, int64_t most) const;
  Visibility visibility(Emitter &e, const TileIds &queries,
                        const TileIds &keys) const;

  /// Lanes [first, first + lanes) of a tile of `count` ids at `at`; what lies
  /// beyond `count` (null: nothing does) repeats the first id.
  mlir::Value loadIds(Emitter &e, mlir::Value mem, mlir::Value at,
                      int64_t first, mlir::Value count) const;

  /// x where visible, else -infinity. Ids are vectors or null.
  mlir::Value applyMask(Emitter &e, mlir::Value x, mlir::Value posQ,
                        mlir::Value posK, mlir::Value docQ,
                        mlir::Value docK) const;

  /// The kept elements of p, scaled; zero for the dropped ones.
  mlir::Value applyDropout(Emitter &e, mlir::Value p, mlir::Value row,
                           mlir::Value posQ, mlir::Value posK,
                           mlir::Value head) const;

  /// Sum of the lanes in a fixed order.
  mlir::Value sumLanes(Emitter &e, mlir::Value v) const;

  /// Of a tile along the vectors.
  static int64_t getWidth(int64_t elementBits, const TargetInfo &target);

  /// What chooseRows aims at in either direction.
  static constexpr int64_t aboutRows = 64;

  /// Rows of a tile that are read one by one: whole register tiles, about
  /// `target` in all.
  static int64_t chooseRows(int64_t total, int64_t about,
                            const TargetInfo &target, int64_t &registerRows);

  /// Writes the transpose of a panel [headDim][width] at `src`:
  /// column j to dst + j * stride, for j below `count` (null: all).
  /// `scale` gives a vector per lane group to multiply with, or null.
  void storeTransposed(Emitter &e, Place src, Place dst, int64_t stride,
                       mlir::Value count, int64_t remainder,
                       llvm::ArrayRef<mlir::Value> scale) const;
};

} // namespace dtc::codegen
#endif
