//===- Frame.h - What lies in a function's frame, and when ------*- C++ -*-===//

#ifndef DTC_LIB_PLANNER_FRAME_H
#define DTC_LIB_PLANNER_FRAME_H

#include "dtc/Dialect/RT/IR/RT.h"
#include "dtc/Planner/Allocator.h"

namespace dtc {

/// Buffers and callees' frames of one function. Time is the number of an op in
/// program order.
///
/// A gradient whose sum over micro-batches is another buffer (`rt.gradient`:
/// stage 1 of ZeRO) is stored in the step's frame, from its first use to the
/// end: it takes the place of sums that have been reduced.
struct Frame {
  /// An rt.alloc, rt.call or rt.storage, and its lifetime.
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::SmallVector<Lifetime> lifetimes;
  /// Collectives and when they are in flight; `offset` is the slot.
  llvm::SmallVector<rt::StartOp> starts;
  llvm::SmallVector<Lifetime> flights;
  /// When each call happens.
  llvm::SmallVector<std::pair<rt::CallOp, int64_t>> calls;

  static Frame get(mlir::func::FuncOp func, const mlir::SymbolTable &symbols);
};

/// The function's calls, resolved.
mlir::func::FuncOp getCallee(rt::CallOp call, const mlir::SymbolTable &symbols);

} // namespace dtc

#endif // DTC_LIB_PLANNER_FRAME_H
