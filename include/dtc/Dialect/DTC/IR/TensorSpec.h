//===- TensorSpec.h - A tensor type that can be changed ---------*- C++ -*-===//

#ifndef DTC_DIALECT_DTC_IR_TENSORSPEC_H
#define DTC_DIALECT_DTC_IR_TENSORSPEC_H

#include "dtc/Dialect/DTC/IR/Axes.h"
#include "mlir/IR/Types.h"

namespace dtc {

class DTensorType;

/// How the pieces on one mesh axis form the logical tensor.
enum class PlacementKind { Invariant, Replicate, Partial, Max, Shard };

llvm::StringRef toString(PlacementKind kind);

/// Whether a shape has at most 2^50 elements, the limit of this project's
/// types: their bytes, and sums of many of them, fit into 64 bits.
bool isCountable(llvm::ArrayRef<int64_t> shape);

/// The fields of a DTensorType, for building one step by step. Lists need not
/// be merged or sorted: DTensorType::get(spec) does that.
struct TensorSpec {
  llvm::SmallVector<int64_t> shape, padded;
  mlir::Type elementType;
  llvm::SmallVector<AxisList> dims;
  AxisList partial, max, replicate;

  TensorSpec() = default;
  TensorSpec(DTensorType type); // NOLINT: a spec is a type, unfolded
  TensorSpec(llvm::ArrayRef<int64_t> shape, mlir::Type elementType);

  unsigned getRank() const { return shape.size(); }
  /// Splits every axis list into the atoms of a refinement.
  void refine(const Refinement &refinement);
  /// Placement on an atom (after refine), and the dimension for Shard.
  PlacementKind placement(const Axis &atom, unsigned *dim = nullptr) const;
  /// Removes an atom wherever it stands.
  void erase(const Axis &atom);
  /// Sets the placement of an atom that is named nowhere; Shard appends it to
  /// the dimension's minor end.
  void set(const Axis &atom, PlacementKind kind, unsigned dim = 0);
  /// Product of the axes on dimension d divides the padded length, for all d.
  bool divides() const;
};

} // namespace dtc

#endif // DTC_DIALECT_DTC_IR_TENSORSPEC_H
