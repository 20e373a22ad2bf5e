//===- MemoryReport.h - Where a plan's bytes are ----------------*- C++ -*-===//

#ifndef DTC_PLANNER_MEMORYREPORT_H
#define DTC_PLANNER_MEMORYREPORT_H

#include "dtc/Dialect/RT/IR/RT.h"

namespace dtc {

/// What lives in a step's frame when most does.
struct MemoryPeak {
  struct Buffer {
    int64_t bytes;
    /// Who makes it: "result #2 of @layer_forward", "@einsum_3".
    std::string what;
    mlir::Location where;
    /// Messages receive what other ranks send and are not reduced in place, or
    /// wait in a bucket to be reduced and scattered; gradients are sums over
    /// micro-batches that are not stored as such, and what is stored after the
    /// loop.
    enum Kind { Activation, Message, Gradient } kind;
  };
  /// The op at which it is, innermost call first.
  llvm::SmallVector<mlir::Operation *> at;
  /// In the order of the program, callers' first.
  llvm::SmallVector<Buffer> buffers;

  int64_t getBytes(Buffer::Kind kind) const;
  /// Of all kinds.
  int64_t getBytes() const;
};

/// The peak of a planned step: the largest sum of live bytes, callees'
/// included. Linear in the step and its callees, but for sorting. `symbols` are
/// the module's.
MemoryPeak getMemoryPeak(mlir::func::FuncOp step,
                         const mlir::SymbolTable &symbols);

/// Prints, with a column for each coordinate on the axis pp: the terms of the
/// arena and what lies beside it; the op of the peak; the `count` largest
/// buffers there.
void printMemoryReport(mlir::ModuleOp module, unsigned count,
                       llvm::raw_ostream &os);

} // namespace dtc

#endif // DTC_PLANNER_MEMORYREPORT_H
