//===- Frame.h - What lies in a function's frame, and when ------*- C++ -*-===//

#ifndef DTC_LIB_PLANNER_FRAME_H
#define DTC_LIB_PLANNER_FRAME_H

#include "dtc/Dialect/RT/IR/RT.h"
#include "dtc/Planner/Allocator.h"

namespace dtc {

/// Buffers and callees' frames of one function. Time is the number of an op in
/// program order.
struct Frame {
  /// An rt.alloc or an rt.call, and its lifetime.
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::SmallVector<Lifetime> lifetimes;
  /// Collectives and when they are in flight; `offset` is the slot.
  llvm::SmallVector<rt::StartOp> starts;
  llvm::SmallVector<Lifetime> flights;
  /// When each call happens.
  llvm::SmallVector<std::pair<rt::CallOp, int64_t>> calls;

  static Frame get(mlir::func::FuncOp func);
};

/// The function's calls, resolved.
mlir::func::FuncOp getCallee(rt::CallOp call);

} // namespace dtc

#endif // DTC_LIB_PLANNER_FRAME_H
