//===- Prepare.h - Rewrites before buffers exist ----------------*- C++ -*-===//

#ifndef DTC_LIB_CONVERSION_DTCTORT_PREPARE_H
#define DTC_LIB_CONVERSION_DTCTORT_PREPARE_H

#include "dtc/Dialect/DTC/IR/DTC.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dtc {

/// Puts the body of loops over one micro-batch in their place. Returns the
/// number of micro-batches of the function's loop, 1 if there is none.
int64_t inlineSingleMicroBatches(mlir::func::FuncOp func);

/// Whether the op is a collective between ranks.
bool movesData(mlir::Operation *op);

/// Whether two collectives may share a bucket: equal in all but dimensions.
bool mayShareBucket(mlir::Operation *a, mlir::Operation *b);

/// Moves collectives that may run as one next to each other, in order, as long
/// as a bucket has at most `bucketBytes` of operands. Only ops that use a
/// result set a limit, so the sums themselves do not depend on it.
void groupCollectives(mlir::Block &block, int64_t bucketBytes);

/// The bucket that starts at `first`: it and the collectives right after it
/// that belong to it.
llvm::SmallVector<mlir::Operation *> getBucket(mlir::Operation *first,
                                               int64_t bucketBytes);

} // namespace dtc

#endif // DTC_LIB_CONVERSION_DTCTORT_PREPARE_H
