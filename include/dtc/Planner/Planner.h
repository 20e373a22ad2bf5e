//===- Planner.h - Places of buffers in frames and arena --------*- C++ -*-===//

#ifndef DTC_PLANNER_PLANNER_H
#define DTC_PLANNER_PLANNER_H

#include "dtc/Dialect/RT/IR/RT.h"

namespace dtc {

/// Places all buffers of the module (-dtc-plan-memory).
mlir::LogicalResult planMemory(mlir::ModuleOp module);

/// Proves a plan: every buffer has a place within its frame or the arena, no
/// two that live at once overlap, and what a collective has in flight is not
/// written, nor read where it receives, until its wait. Computes lifetimes anew
/// from the program.
mlir::LogicalResult verifyPlan(mlir::ModuleOp module);

/// The arena's terms (name, bytes) of a planned step, in order.
llvm::SmallVector<std::pair<llvm::StringRef, int64_t>>
getMemoryTerms(mlir::func::FuncOp step);

/// The largest sum of bytes of storage and buffers that live at once, callees'
/// included: no plan of the module's arena needs less.
int64_t getLiveBytes(mlir::func::FuncOp step);

/// Where in the arena of a planned module its last buffer begins; the shortest
/// of them, where several take turns there.
int64_t getLastBuffer(mlir::func::FuncOp step);

/// Bytes of workspace of one thread: the most that a kernel asks for.
int64_t getWorkspaceBytes(mlir::ModuleOp module);

/// What a program takes beside the arena to save beside training: the largest
/// snapshot of the stage's ranks, and the memory in which a piece is put
/// together.
int64_t getSnapshotBytes(mlir::func::FuncOp step);

/// Prints the terms and their sum, a line each, with a column for each
/// coordinate on the axis pp; and what lies beside the arena.
void printMemory(mlir::ModuleOp module, llvm::raw_ostream &os);

} // namespace dtc

#endif // DTC_PLANNER_PLANNER_H
