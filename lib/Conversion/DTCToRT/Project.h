//===- Project.h - What one rank of a pipeline runs -------------*- C++ -*-===//

#ifndef DTC_LIB_CONVERSION_DTCTORT_PROJECT_H
#define DTC_LIB_CONVERSION_DTCTORT_PROJECT_H

#include "dtc/Dialect/DTC/IR/Stages.h"
#include "dtc/Dialect/RT/IR/RT.h"
#include "dtc/Schedule/Slots.h"

namespace dtc {

/// The number of the task that an op of a projected loop belongs to (an
/// attribute of these transient functions only).
constexpr llvm::StringLiteral taskAttr = "dtc.task";

/// What one stage hands to another, as one of the two ranks sees it: values
/// side by side in one message.
struct Handover {
  /// The schedule's channel: 2 edge + direction.
  int64_t channel;
  bool arrives, leaves; // both: the rank has both stages
  int64_t peer;         // coordinate of the other end
  /// What lies where in the message: the value of the stage that makes it, if
  /// it leaves, and the argument of the loop's body that the stage which takes
  /// it uses, if it arrives.
  struct Part {
    mlir::Value made, taken;
    int64_t offset;
  };
  llvm::SmallVector<Part> parts;
  int64_t bytes = 0;
};

/// A sum over stages, on one of its ranks.
struct StageSum {
  llvm::SmallVector<int64_t> from, to;
  /// The first of the numbers of its channels: that of operand i to rank to[k]
  /// is first + i to.size() + k.
  int64_t firstChannel;
};

/// The step of the ranks with one coordinate on pp: ops that this rank runs,
/// and a loop with the tasks of its stages, inlined. What a stage takes from
/// another is a further argument of the loop's body; what it hands on is
/// yielded, behind the sums.
struct ProjectedStep {
  struct Task {
    int64_t stage;
    Phase phase;
  };
  mlir::func::FuncOp func;
  int64_t rank = 0, count = 1;
  MicroBatchesOp loop;
  llvm::SmallVector<Task> tasks;
  llvm::SmallVector<Handover> handovers;
  llvm::DenseMap<mlir::Operation *, StageSum> sums;
};

/// A pipeline's program, for all of its ranks.
struct ProjectedPipeline {
  schedule::Schedule schedule;
  schedule::SlotAssignment slots;
  std::vector<ProjectedStep> steps;
};

/// The scheduled loop of a step; null if it has none.
MicroBatchesOp getScheduledLoop(mlir::func::FuncOp step);

/// Cuts a step with a scheduled loop into one for each rank of pp. Linear in
/// what all of them run.
mlir::FailureOr<ProjectedPipeline> projectPipeline(mlir::func::FuncOp step,
                                                   MicroBatchesOp loop);

} // namespace dtc

#endif // DTC_LIB_CONVERSION_DTCTORT_PROJECT_H
