//===- Traffic.h - Bytes that a rank sends in a step ------------*- C++ -*-===//

#ifndef DTC_PLANNER_TRAFFIC_H
#define DTC_PLANNER_TRAFFIC_H

#include "dtc/Dialect/RT/IR/RT.h"

namespace dtc {

/// What goes over one group of axes ("dp, cp"), in bytes. In a step of M
/// micro-batches that is once + M each; with one micro-batch, in whose step
/// there is no loop, all of it counts as once.
struct Traffic {
  std::string axes;
  int64_t once = 0, each = 0;

  int64_t getTotal(int64_t microbatches) const {
    return once + each * microbatches;
  }
};

/// Bytes that the first rank of each group sends to others in one run of a
/// step, with direct collectives: of n bytes an all_reduce over k ranks sends
/// n - p + (k - 1) p where p is the rank's piece (2 (k - 1) / k n if k divides
/// n), an all_gather k - 1 times what the rank has, a reduce_scatter and an
/// all_to_all (k - 1) / k n, a shift n, and a message what it has. Other ranks
/// of a group send as much or, where pieces are uneven, less. Groups are in the
/// order of the mesh. Linear in the step and its callees.
llvm::SmallVector<Traffic> getTraffic(mlir::func::FuncOp step);

/// The number of micro-batches of a module's steps.
int64_t getMicrobatches(mlir::ModuleOp module);

/// Prints the bytes for each group of axes, and how many of them each
/// micro-batch adds, with a column for each coordinate on the axis pp.
void printTraffic(mlir::ModuleOp module, llvm::raw_ostream &os);

} // namespace dtc

#endif // DTC_PLANNER_TRAFFIC_H
