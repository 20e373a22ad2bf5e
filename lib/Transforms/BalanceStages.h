//===- BalanceStages.h - Where to cut a list of ops -------------*- C++ -*-===//
//
// Pure arithmetic on numbers per op: time and memory are linear in ops times
// stages.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_TRANSFORMS_BALANCESTAGES_H
#define DTC_LIB_TRANSFORMS_BALANCESTAGES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace dtc {

/// Ops in order, to be cut in consecutive stages of at least one op each.
struct StageProblem {
  struct Op {
    /// Time, in any unit.
    double cost = 0;
    /// Bytes that one micro-batch keeps.
    double kept = 0;
    /// Numbers of the parameters that it uses.
    llvm::SmallVector<unsigned> parameters;
  };
  std::vector<Op> ops;
  /// Bytes of a parameter with its gradient and optimizer state; a stage has
  /// each of its parameters once.
  std::vector<double> parameterBytes;
  /// Bytes of the values that are made before op i and used from op i on.
  std::vector<double> crossing;
  int64_t stages = 1, microbatches = 1;
  /// Bytes that a stage may take; none: no limit.
  std::optional<double> memory;

  /// Bytes of ops [begin, end) as the given stage, with as many micro-batches
  /// as 1F1B has in flight there.
  double getMemory(size_t begin, size_t end, int64_t stage) const;
};

/// The first op of each stage, and the number of ops at the end: the slowest
/// stage is within 1 % of the fastest possible, and of those cuts the one over
/// whose boundaries the fewest bytes go. None where no cut fits the memory.
std::optional<std::vector<size_t>> balanceStages(const StageProblem &problem);

/// The smallest limit of memory, in whole bytes, for which there is a cut.
double getSmallestMemory(const StageProblem &problem);

} // namespace dtc

#endif // DTC_LIB_TRANSFORMS_BALANCESTAGES_H
