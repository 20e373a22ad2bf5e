//===- Attention.h - Generator of attention kernels -------------*- C++ -*-===//
//
// softmax(scale * Q K^T) V by tiles with an online softmax: the matrix of
// queries by keys never exists. Emits loops of upstream dialects at the
// builder's insertion point.
//
// Shapes, all row-major, of one element type T (f32, f64 or bf16) unless said:
//   q, o, do, dq   [batch, queries, heads, headDim], heads = kvHeads * group
//   k, v, dk, dv   [batch, keys, kvHeads, headDim]
//   lse            [batch, queries, heads] of T, or f32 for bf16: log of the
//   sum
//                  of exponentials
//   posQ, posK     [queries], [keys] or [batch, queries], [batch, keys] of i32
//   docQ, docK     [batch, queries], [batch, keys] of i32
// Query head x uses key/value head x / group.
//
// A query sees a key if (causal) posK <= posQ and (documents) docK == docQ. A
// query that sees no key has o = 0 and lse = -inf, and no gradient.
//
// All sums are in f32 for bf16; results are rounded once.
//
// Each element of a result is computed by one thread in an order that depends
// on shapes and target only.
//
//===----------------------------------------------------------------------===//
#ifndef DTC_CODEGEN_ATTENTION_H
#define DTC_CODEGEN_ATTENTION_H

#include "dtc/Codegen/Target.h"
#include "dtc/Codegen/Workspace.h"

namespace dtc::codegen {

struct AttentionSpec {
  int64_t batch = 1;
  int64_t queries = 0;
  int64_t keys = 0;
  int64_t kvHeads = 1;
  int64_t group = 1; ///< query heads of one key/value head
  int64_t headDim = 0;
  bool causal = true;
  double scale = 1.0;
  /// Probability that an attention weight is dropped (0: none). The draw is
  /// described in VectorMath.h.
  double dropout = 0.0;
  int64_t site = 0;
};

/// Sizes of the tiles that a kernel visits, the last ones of a dimension being
/// shorter. A pair of tiles is executed if the ranges of its positions and
/// documents allow that a query sees a key.
struct AttentionTiles {
  int64_t queries, keys;
};
AttentionTiles getAttentionTiles(int64_t queries, int64_t keys,
                                 int64_t elementBits, bool backward,
                                 const TargetInfo &target);

/// What attention reads. The caller owns all memory; all are memrefs of static
/// shape and identity layout.
struct AttentionInputs {
  mlir::Value q, k, v;
  mlir::Value posQ, posK; ///< may be null if not causal and without dropout
  mlir::Value docQ, docK; ///< null: no documents
  // Dropout only:
  mlir::Value rng;        ///< memref<2xi32>: seed, step
  mlir::Value layer;      ///< memref<i32>
  mlir::Value rows;       ///< memref<batch x i32>: global rows
  mlir::Value headOffset; ///< index: global head of local head 0; null: 0
};

/// Writes o and lse.
mlir::LogicalResult emitAttention(mlir::OpBuilder &b, mlir::Location loc,
                                  const AttentionSpec &spec,
                                  const AttentionInputs &in, mlir::Value o,
                                  mlir::Value lse, Workspace &ws,
                                  const TargetInfo &target);

/// Writes dq, dk and dv. `o` and `lse` are final: where keys are cut into
/// pieces (a ring), they are those of all keys, and the gradients are this
/// piece's part.
mlir::LogicalResult
emitAttentionBackward(mlir::OpBuilder &b, mlir::Location loc,
                      const AttentionSpec &spec, const AttentionInputs &in,
                      mlir::Value o, mlir::Value lse, mlir::Value dO,
                      mlir::Value dq, mlir::Value dk, mlir::Value dv,
                      Workspace &ws, const TargetInfo &target);

} // namespace dtc::codegen
#endif
