//===- FactorRule.h - How an op's dimensions are related --------*- C++ -*-===//
//
// An op declares every dimension of every operand and result as an ordered
// product of named factors. From that follow all placements that the op may
// have (the rule of docs/placements.md). Passes know ops only through this.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_DIALECT_DTC_IR_FACTORRULE_H
#define DTC_DIALECT_DTC_IR_FACTORRULE_H

#include "dtc/Dialect/DTC/IR/DTCTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"
#include <bitset>

namespace dtc {

/// A set of factors of one op.
using FactorSet = std::bitset<32>;

struct Factor {
  char name = 0;
  int64_t size = 0;
  /// Length with padding (equal in all values that have the factor).
  int64_t padded = 0;
  /// No axis may cut it (a normalized dimension).
  bool whole = false;
  /// The op itself exchanges data over the axes that cut it.
  bool communicates = false;
  /// Pieces must be equal: no padding.
  bool even = false;
};

/// One dimension: factors, major to minor. One value: its dimensions.
using DimFactors = llvm::SmallVector<unsigned, 2>;
using ValueFactors = llvm::SmallVector<DimFactors>;

/// The declaration of one op.
///
/// Factors are passed through unless they are declared whole, communicating,
/// summed in a result that lacks them, or a pair.
///   summed[r]  factors of which result r is a sum over slices: the op on the
///              whole is the sum of the op on the slices, operands that lack
///              the factor passed whole to each.
///   maximum[r] likewise for a maximum instead of a sum.
///   pairs      two factors that one axis may cut together, by the same list;
///              the op then exchanges data (attention's query and key
///              position). `pairedOnly` factors may not be cut alone.
///   linear     sets of operands in which the op is jointly linear.
///   reads[r]   operands that result r depends on.
///   zero[r]    result r is zero whatever the operands are: it may be partial.
///              The linear set of these results has no operands.
///
/// Floats have one element type, but:
///   wide       values that are f32 beside others of bf16: statistics (a loss,
///   a
///              log-sum-exp) and the optimizer's state.
///   unrelated  values of any float type (the op converts).
class FactorRule {
public:
  /// Parses one value per string: "b s gm d" has four dimensions, the third
  /// one the product of g and m. Sizes come from the types; a factor that no
  /// dimension has alone is what divides its product's length, unless `sizes`
  /// says it.
  static FactorRule get(mlir::Operation *op,
                        llvm::ArrayRef<std::string> operands,
                        llvm::ArrayRef<std::string> results,
                        llvm::ArrayRef<std::pair<char, int64_t>> sizes = {});

  FactorRule &whole(llvm::StringRef names);
  FactorRule &communicates(llvm::StringRef names);
  FactorRule &even(llvm::StringRef names);
  /// Factors summed in result r; "*" is every factor that it lacks.
  FactorRule &summed(unsigned r, llvm::StringRef names);
  /// Factors over which result r is a maximum over slices ("*" as above).
  FactorRule &maximum(unsigned r, llvm::StringRef names);
  FactorRule &pair(char a, char b);
  FactorRule &pairedOnly(char name);
  FactorRule &linear(llvm::ArrayRef<unsigned> operandSet);
  FactorRule &reads(unsigned r, llvm::ArrayRef<unsigned> operandSet);
  FactorRule &zero(unsigned r);
  /// Values (operands, then results).
  FactorRule &wide(llvm::ArrayRef<unsigned> values);
  FactorRule &unrelated(llvm::ArrayRef<unsigned> values);

  unsigned getNumOperands() const { return operands.size(); }
  unsigned getNumResults() const { return results.size(); }
  /// Operands, then results.
  const ValueFactors &value(unsigned i) const {
    return i < operands.size() ? operands[i] : results[i - operands.size()];
  }
  unsigned getNumValues() const { return operands.size() + results.size(); }
  FactorSet factorsOf(unsigned value) const;
  std::optional<unsigned> find(char name) const;
  /// Whether a result becomes partial when linear set k is partial.
  bool isLinearResult(unsigned k, unsigned result) const;
  bool isPair(FactorSet set) const;
  bool isWide(unsigned value) const {
    return llvm::is_contained(wideValues, value);
  }
  bool isUnrelated(unsigned value) const {
    return llvm::is_contained(unrelatedValues, value);
  }

  llvm::SmallVector<Factor> factors;
  llvm::SmallVector<ValueFactors> operands, results;
  llvm::SmallVector<FactorSet> summedIn, maximumIn;
  llvm::SmallVector<std::pair<unsigned, unsigned>, 1> pairs;
  FactorSet pairedOnlySet;
  llvm::SmallVector<llvm::SmallVector<unsigned, 2>, 1> linearSets;
  llvm::SmallVector<llvm::SmallVector<unsigned>> readsOf;
  llvm::SmallVector<bool, 2> zeroOf;
  llvm::SmallVector<unsigned> wideValues, unrelatedValues;
  /// Why the op has no rule (malformed attributes, too many dimensions): no
  /// types are legal then. Empty otherwise.
  std::string problem;
};

/// The letter of dimension d, and letters for all dimensions of a value: a to
/// z, then A to Z. No rule has more factors than FactorSet, so that is enough.
char dimLetter(unsigned d);
std::string dimLetters(unsigned rank);

/// Per factor its axes (atoms of one refinement), and how the remaining atoms
/// are used: the reading of a typed op, or the plan for one.
struct Assignment {
  llvm::SmallVector<AxisList> factors;
  /// -1 invariant, -2 replicate, k >= 0: linear set k is partial.
  static constexpr int invariant = -1, replicate = -2;
  llvm::SmallVector<std::pair<Axis, int>> others;
};

using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

/// The rule: whether the types are legal for the op. `emitError` is called at
/// most once, and may be null.
mlir::LogicalResult checkRule(const FactorRule &rule,
                              llvm::ArrayRef<DTensorType> operandTypes,
                              llvm::ArrayRef<DTensorType> resultTypes,
                              EmitError emitError);

/// Per factor the axes that cut it in the given types (which must be legal),
/// as atoms.
llvm::SmallVector<AxisList> getFactorAxes(const FactorRule &rule,
                                          llvm::ArrayRef<DTensorType> types);

/// Cuts a dimension's axes at its factors' boundaries: the axes of each of
/// its factors, or failure where an axis straddles them.
mlir::FailureOr<llvm::SmallVector<AxisList>>
splitByFactors(const FactorRule &rule, const DimFactors &dim,
               llvm::ArrayRef<Axis> axes);

/// The rule read constructively: the type that value i (operands, then
/// results) must have under an assignment. `like` gives element type, shape
/// and padding.
DTensorType typeFor(const FactorRule &rule, const Assignment &assignment,
                    unsigned value, DTensorType like);

/// Types of operands and results; none if one is not a dtc tensor.
llvm::SmallVector<DTensorType> getOperandTensorTypes(mlir::Operation *op);
llvm::SmallVector<DTensorType> getResultTensorTypes(mlir::Operation *op);

/// The element type of wide values: f32 for bf16, else the type itself.
mlir::Type getWideType(mlir::Type element);

/// Whether the types' elements are as the rule says.
mlir::LogicalResult checkElements(const FactorRule &rule,
                                  llvm::ArrayRef<DTensorType> types,
                                  EmitError emitError);

/// The verifier behind FactorOpInterface: elements, then placements.
mlir::LogicalResult verifyFactorOp(mlir::Operation *op);

} // namespace dtc

#endif // DTC_DIALECT_DTC_IR_FACTORRULE_H
