//===- Collectives.h - The closed table of collectives ----------*- C++ -*-===//
//
// Every collective is the identity on the logical value and changes the
// placement on some axes. Each has a transpose (its backward).
//
//===----------------------------------------------------------------------===//

#ifndef DTC_DIALECT_DTC_IR_COLLECTIVES_H
#define DTC_DIALECT_DTC_IR_COLLECTIVES_H

#include "dtc/Dialect/DTC/IR/DTCTypes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"

namespace dtc {

enum class CollectiveKind {
  F,                   // invariant -> replicate
  G,                   // partial -> invariant
  AllReduce,           // partial -> replicate
  AllGather,           // shard -> replicate
  ReduceScatter,       // partial -> shard
  AllGatherInvariant,  // shard -> invariant
  Slice,               // invariant -> shard
  SliceReplicated,     // replicate -> shard
  Pad,                 // shard -> partial
  KeepFirst,           // invariant -> partial
  AsOne,               // replicate -> invariant
  KeepFirstReplicated, // replicate -> partial
  AllToAll,            // shard(dim) -> shard(dim2)
  ReduceMax,           // max -> invariant; no transpose
};
constexpr unsigned numCollectiveKinds = 14;

/// A row of the table.
struct CollectiveInfo {
  llvm::StringRef mnemonic;
  PlacementKind from, to;
  CollectiveKind transpose;
  bool movesData;
};
const CollectiveInfo &getInfo(CollectiveKind kind);

/// A collective without its operand. `axes` are one group; a dimension gains
/// or loses them at its minor end. `dim` is gathered, sliced, scattered or
/// padded; all_to_all gathers `dim` and cuts `dim2`.
struct CollectiveSpec {
  CollectiveKind kind;
  AxisList axes;
  int64_t dim = -1, dim2 = -1;

  bool operator==(const CollectiveSpec &o) const {
    return kind == o.kind && axes == o.axes && dim == o.dim && dim2 == o.dim2;
  }
};

/// The result's type; failure (with a message, if emitError is given) where
/// the collective is illegal on the operand.
mlir::FailureOr<DTensorType>
inferCollectiveType(const CollectiveSpec &spec, DTensorType operand,
                    llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// The collective of the backward; none for ReduceMax.
std::optional<CollectiveSpec> getTranspose(const CollectiveSpec &spec);

/// Creates the op. The collective must be legal.
mlir::Value createCollective(mlir::OpBuilder &builder, mlir::Location loc,
                             const CollectiveSpec &spec, mlir::Value operand);

/// Bytes that each rank sends.
double getBytesSent(const CollectiveSpec &spec, DTensorType operand);

/// The cheapest sequence of collectives (by bytes sent, then by count) over the
/// axes that either type names, from one placement to another of the same
/// logical tensor. Among more than three
/// parts of axes, those that stand where they shall stay there; among fewer
/// they do if nothing is saved by moving them. Total: every pair has a path,
/// except that `max` only goes to others through a maximum. For floats, undoing
/// an f for free (as_one, keep_first of a replicate) is chosen only where
/// nothing else exists, since it moves a reduction.
mlir::FailureOr<llvm::SmallVector<CollectiveSpec>> planReshard(DTensorType from,
                                                               DTensorType to);

/// Creates the collectives of planReshard. Padded lengths may differ too
/// (dtc.repad); a dimension that both types cut is then made whole between.
mlir::FailureOr<mlir::Value> reshard(mlir::OpBuilder &builder,
                                     mlir::Location loc, mlir::Value value,
                                     DTensorType to);

/// The verifier behind CollectiveOpInterface.
mlir::LogicalResult verifyCollectiveOp(mlir::Operation *op);

} // namespace dtc

#endif // DTC_DIALECT_DTC_IR_COLLECTIVES_H
