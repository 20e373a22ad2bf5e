//===- Meaning.h - What an op's meaning may know of its pieces --*- C++ -*-===//

#ifndef DTC_DIALECT_DTC_IR_MEANING_H
#define DTC_DIALECT_DTC_IR_MEANING_H

#include "dtc/Dialect/DTC/IR/FactorRule.h"
#include "dtc/Interpreter/Array.h"

namespace dtc {

/// Which part of each factor one rank's pieces hold.
class FactorPiece {
public:
  FactorPiece(const FactorRule &rule, llvm::ArrayRef<AxisList> factorAxes,
              llvm::function_ref<int64_t(llvm::ArrayRef<Axis>)> indexOf);

  /// First logical index, number of logical elements, local (padded) length.
  int64_t first(char factor) const { return firsts[*rule.find(factor)]; }
  int64_t valid(char factor) const { return valids[*rule.find(factor)]; }
  int64_t length(char factor) const { return lengths[*rule.find(factor)]; }
  int64_t validOf(unsigned f) const { return valids[f]; }
  int64_t lengthOf(unsigned f) const { return lengths[f]; }

  llvm::SmallVector<int64_t> operandShape(unsigned i) const;
  llvm::SmallVector<int64_t> resultShape(unsigned r) const;

  /// Whether an index of a value (operands, then results) lies within the
  /// logical length of every factor in `over`.
  bool inside(unsigned value, llvm::ArrayRef<int64_t> index,
              FactorSet over) const;
  /// Zeros what lies beyond the logical end of the factors that result r
  /// sums (0 times NaN is NaN, so products need it on both sides).
  Array masked(unsigned operand, const Array &x, unsigned result = 0) const;

  const FactorRule &rule;

private:
  llvm::SmallVector<int64_t> localShape(unsigned value) const;
  llvm::SmallVector<int64_t> firsts, valids, lengths;
};

/// The ranks, for ops that communicate.
struct GroupView {
  int64_t ranks = 1;
  /// Factor name -> groups of ranks that differ on its axes only, each in the
  /// order of its pieces.
  std::function<std::vector<std::vector<int64_t>>(char factor)> groups;
};

} // namespace dtc

#endif // DTC_DIALECT_DTC_IR_MEANING_H
