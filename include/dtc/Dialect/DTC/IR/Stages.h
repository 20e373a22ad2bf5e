//===- Stages.h - The stages of a pipeline in a step ------------*- C++ -*-===//
//
// After -dtc-cut-stages the body of dtc.micro_batches is a list of calls of
// stages (`dtc.stage` on func.call, and after -dtc-differentiate `dtc.phase`),
// and beside them ops that any rank may run for itself.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_DIALECT_DTC_IR_STAGES_H
#define DTC_DIALECT_DTC_IR_STAGES_H

#include "dtc/Dialect/DTC/IR/DTC.h"

namespace dtc {

/// What a call of a stage computes.
enum class Phase { Forward, Backward, InputBackward, WeightBackward };
constexpr unsigned numPhases = 4;

/// "forward", "backward", "input_backward", "weight_backward".
llvm::StringRef stringifyPhase(Phase phase);

/// A call's stage and phase; nothing if it is no stage's. A call without
/// `dtc.phase` is a forward.
std::optional<std::pair<int64_t, Phase>> getStageOf(mlir::Operation *op);

} // namespace dtc

#endif // DTC_DIALECT_DTC_IR_STAGES_H
