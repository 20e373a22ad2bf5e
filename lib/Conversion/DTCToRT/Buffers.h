//===- Buffers.h - Which values share a buffer ------------------*- C++ -*-===//

#ifndef DTC_LIB_CONVERSION_DTCTORT_BUFFERS_H
#define DTC_LIB_CONVERSION_DTCTORT_BUFFERS_H

#include "dtc/Dialect/DTC/IR/DTC.h"
#include "dtc/Dialect/RT/IR/RT.h"
#include "llvm/ADT/DenseMap.h"

namespace dtc {

/// Where values of one function lie. Values that are the same bytes (through
/// f, as_one) have one *root*. A root is in a *place* if it is computed
/// directly into memory that exists already: a result that the caller owns, or
/// storage of the arena. Other roots get buffers of the frame.
class Buffers {
public:
  /// A number for a place: results of the function, then storage.
  using Place = int;
  static constexpr Place nowhere = -1;

  /// A value that has to be in a place when the function ends (or at a write).
  struct Target {
    mlir::Operation *op; // the return or the write
    mlir::Value value;
    Place place;
  };

  explicit Buffers(mlir::func::FuncOp func) : func(func) {}

  /// A read of storage: the place that it is a view of.
  void addRead(mlir::Value value, Place place) { reads[value] = place; }
  void addTarget(Target target) { targets.push_back(target); }
  /// Decides. Reads and targets must have been added.
  void analyze();

  mlir::Value getRoot(mlir::Value v) const;
  /// The place that a root is computed into.
  Place getPlace(mlir::Value root) const {
    return fixed.lookup_or(root, nowhere);
  }
  /// The operand (number) whose buffer result r of `op` may take.
  std::optional<unsigned> getInPlace(mlir::Operation *op,
                                     unsigned result) const;

private:
  void number(mlir::Block &block);
  int64_t getPosition(mlir::Value root) const;
  bool isFree(Place place, mlir::Value root) const;
  void fix(mlir::Value root, Place place);

  mlir::func::FuncOp func;
  llvm::DenseMap<mlir::Value, Place> reads, fixed;
  llvm::SmallVector<Target> targets;
  llvm::DenseMap<mlir::Operation *, int64_t> begin, end;
  llvm::DenseMap<mlir::Value, mlir::Value> aliasOf;
  llvm::DenseMap<mlir::Value, int64_t> lastUse;
  llvm::DenseMap<Place, llvm::SmallVector<mlir::Value>> readsOf;
};

/// The operand whose bytes the op's one result is; null if it computes.
mlir::Value getAliasedOperand(mlir::Operation *op);

} // namespace dtc

#endif // DTC_LIB_CONVERSION_DTCTORT_BUFFERS_H
