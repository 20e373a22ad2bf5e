//===- Scheduled.h - A loop in the order of a schedule ----------*- C++ -*-===//

#ifndef DTC_LIB_INTERPRETER_SCHEDULED_H
#define DTC_LIB_INTERPRETER_SCHEDULED_H

#include "dtc/Interpreter/Interpreter.h"
#include "dtc/Schedule/Schedule.h"

namespace dtc {

/// Runs the body of a loop that is cut in stages as the ranks of a pipeline do:
/// each its list of actions, one after the other. A stage sees what its own
/// rank has computed and what it has waited for, and nothing else; sums are
/// added in the order in which their ranks compute them. Errors: a list that
/// never goes on, a value that is not there, a stage that runs twice or never,
/// and a schedule that is for another program.
///
/// `env` has the values from outside and gets the loop's results; `runOp` runs
/// one op on operands in an environment, and puts the results there;
/// `simulatedRanks` is the number of pieces that a value has; `round` as in
/// Interpreter.
mlir::LogicalResult runScheduled(
    MicroBatchesOp loop, const schedule::Schedule &schedule, Environment &env,
    int64_t simulatedRanks, bool round,
    llvm::function_ref<mlir::LogicalResult(mlir::Operation *, Environment &)>
        runOp);

} // namespace dtc

#endif // DTC_LIB_INTERPRETER_SCHEDULED_H
