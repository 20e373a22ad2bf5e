//===- Recompute.h - What a backward keeps, and what it makes again -*- C++
//-*-//

#ifndef DTC_LIB_TRANSFORMS_RECOMPUTE_H
#define DTC_LIB_TRANSFORMS_RECOMPUTE_H

#include "Cost.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/Error.h"

namespace dtc {

/// Which ops a backward may compute again.
struct RecomputePolicy {
  /// Ops that are bound by memory: norms, activations, sums, dropout.
  bool cheap = false;
  /// And ops with matrix products that cost at most this many operations for
  /// each byte of their results.
  double limit = 0;
  /// And collectives that move data, and ops that exchange data inside.
  bool communication = false;

  /// "none", "selective" (cheap ones), "full" (all), or a number: the limit.
  static llvm::Expected<RecomputePolicy> parse(llvm::StringRef text);

  bool allows(mlir::Operation *op, CostModel &costs) const;
};

/// The op's results cost nothing to have twice: made from nothing, or the same
/// buffer under another type.
bool isFreeToRepeat(mlir::Operation *op);

/// The values that a function keeps for its backward, which needs `needed`:
/// those with the fewest bytes from which ops that may be repeated make all of
/// it again (a minimum cut between the function and its backward; of equal
/// ones that which computes least again). Arguments cost nothing, since a
/// backward gets them anyway.
llvm::DenseSet<mlir::Value>
chooseSavedValues(mlir::func::FuncOp func,
                  const llvm::SetVector<mlir::Value> &needed,
                  llvm::function_ref<bool(mlir::Operation *)> mayRepeat);

} // namespace dtc

#endif // DTC_LIB_TRANSFORMS_RECOMPUTE_H
