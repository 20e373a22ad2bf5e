//===- Stages.h - The stages of a pipeline in a step ------------*- C++ -*-===//
//
// After -dtc-cut-stages the body of dtc.micro_batches is a list of calls of
// stages (`dtc.stage` on func.call, and after -dtc-differentiate `dtc.phase`),
// and between them ops that any rank may run for itself.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_DIALECT_DTC_IR_STAGES_H
#define DTC_DIALECT_DTC_IR_STAGES_H

#include "dtc/Dialect/DTC/IR/DTC.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/BitVector.h"

namespace dtc {

/// What a call of a stage computes.
enum class Phase { Forward, Backward, InputBackward, WeightBackward };
constexpr unsigned numPhases = 4;

/// "forward", "backward", "input_backward", "weight_backward".
llvm::StringRef stringifyPhase(Phase phase);

/// A call's stage and phase; nothing if it is no stage's. A call without
/// `dtc.phase` is a forward.
std::optional<std::pair<int64_t, Phase>> getStageOf(mlir::Operation *op);

/// The body of a loop over micro-batches, cut into stages. Linear in its size
/// to make.
struct StagedBody {
  /// All values that one stage hands to another, forward and backward, in the
  /// order of their definitions.
  struct Edge {
    int64_t from, to;
    llvm::SmallVector<mlir::Value> activations, gradients;
  };
  struct Task {
    int64_t stage;
    Phase phase;
    mlir::func::CallOp call;
    /// The ops of the body, none of them a stage's call, that the call's
    /// operands are made by; in program order.
    llvm::SmallVector<mlir::Operation *> before;
  };

  int64_t numStages = 0;
  /// In program order.
  llvm::SmallVector<Task> tasks;
  /// Ordered by (from, to).
  llvm::SmallVector<Edge> edges;

  /// Emits an error where a stage has no forward or is called twice, or a
  /// value goes to an earlier stage in the forward.
  static mlir::FailureOr<StagedBody> get(MicroBatchesOp loop);

  const Task *find(int64_t stage, Phase phase) const;

  /// The edges as schedules have them, in the same order.
  schedule::StageGraph getGraph() const;
};

/// Which ranks of the axis pp run what, outside of the loop too.
class StageRanks {
public:
  static mlir::FailureOr<StageRanks> get(mlir::func::FuncOp step,
                                         MicroBatchesOp loop,
                                         const StagedBody &body,
                                         const schedule::Placement &placement);

  /// The ranks that need the op's results (or effects).
  const llvm::BitVector &needs(mlir::Operation *op) const;
  /// The ranks whose stages use the parameter; the first if none does.
  const llvm::BitVector &ownersOf(llvm::StringRef param) const;
  /// The rank that has the loop's result r; -1: every rank.
  int64_t homeOf(unsigned r) const { return homes[r]; }

private:
  llvm::DenseMap<mlir::Operation *, llvm::BitVector> need;
  llvm::StringMap<llvm::BitVector> owners;
  llvm::SmallVector<int64_t> homes;
  llvm::BitVector none;
};

} // namespace dtc

#endif // DTC_DIALECT_DTC_IR_STAGES_H
