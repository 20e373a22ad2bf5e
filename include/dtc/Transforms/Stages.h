//===- Stages.h - Programs that are cut in stages ---------------*- C++ -*-===//
//
// What the passes that make and change stages share, and the shape that they
// leave (docs/pipeline.md).
//
//===----------------------------------------------------------------------===//

#ifndef DTC_TRANSFORMS_STAGES_H
#define DTC_TRANSFORMS_STAGES_H

#include "dtc/Dialect/DTC/IR/Stages.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <map>

namespace dtc {

/// The stage of a call; none where it is no stage's.
std::optional<int64_t> getStage(mlir::Operation *op);
/// The part of the stage; Forward where there is no stage.
Phase getPhase(mlir::Operation *op);
void setStage(mlir::Operation *op, int64_t stage);
void setPhase(mlir::Operation *op, Phase phase);

/// The stage calls of a loop's body, in order.
llvm::SmallVector<mlir::func::CallOp> getStageCalls(MicroBatchesOp loop);

/// The step's loop over micro-batches; null where it has none.
MicroBatchesOp findLoop(mlir::func::FuncOp step);

/// How often each op (name, attributes, types) stands in a block, stages being
/// looked into and all other calls being ops.
using OpCounts = std::map<std::string, int64_t>;
OpCounts countOps(mlir::Block &body, mlir::SymbolTable &symbols);

/// Checks the shape of a body that has been cut:
/// 1. Forwards come in the order of the stages, from 0 on, one each; then
///    backwards (or input backwards) in reverse order; a weight backward comes
///    after its stage's input backward, or its forward if that is left out.
/// 2. Beside them stand only the prelude, which uses no stage's results, sums
///    of stages' results (dtc.add), and the yield.
/// 3. Each yielded value is the result of a stage.
/// 4. Before differentiation, and if `original` is given: each op that the body
///    had stands in it, or in a stage, exactly once.
/// That values are defined before their use is SSA.
mlir::LogicalResult verifyStages(MicroBatchesOp loop,
                                 mlir::SymbolTable &symbols,
                                 const OpCounts *original = nullptr);

} // namespace dtc

#endif // DTC_TRANSFORMS_STAGES_H
