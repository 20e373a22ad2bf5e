//===- Sharding.h - Rules, and choosing factors for an op -------*- C++ -*-===//
//
// What propagation and the insertion of collectives share: the table of rules,
// which values are parameters, and how the axes of an op's operands become
// axes of its factors.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_TRANSFORMS_SHARDING_H
#define DTC_TRANSFORMS_SHARDING_H

#include "dtc/Dialect/DTC/IR/DTC.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/Error.h"

namespace dtc {

/// The axes of every dimension of a value.
using DimAxes = llvm::SmallVector<AxisList>;

/// One line of the table: dimensions of this name are cut by these axes.
struct ShardingRule {
  std::string dimension;
  llvm::SmallVector<std::string> axes;
  /// Where the axis is larger than the dimension, its major part cuts.
  bool majorPart = false;
  /// The axes must divide the length (no padding).
  bool even = false;
};

/// The table of rules, by name of dimension. Text form: one rule a line (or
/// separated by semicolons), `NAME = AXIS, AXIS... [major] [even]`; `#` starts
/// a comment.
class ShardingRules {
public:
  /// The rules that the command-line flags stand for.
  static ShardingRules getDefault(bool sequenceParallel);
  static llvm::Expected<ShardingRules> parse(llvm::StringRef text);

  const ShardingRule *find(llvm::StringRef dimension) const;
  void print(llvm::raw_ostream &os) const;
  llvm::ArrayRef<ShardingRule> getRules() const { return rules; }

private:
  llvm::SmallVector<ShardingRule> rules;
};

/// Names of axes that a mesh may have in any program, in their order on it.
llvm::ArrayRef<llvm::StringRef> getStandardAxes();

/// Parses `dp=2,tp=4` (or `dp:2`), in any order; the mesh has the given axes
/// in the order pp, dp, cp, ep, tp, and other names after them.
llvm::Expected<MeshAttr> parseMesh(mlir::MLIRContext *context,
                                   llvm::StringRef text);

/// The values that are parameters: results of dtc.read, what collectives make
/// of them, and arguments of private functions that are given parameters at
/// every call.
class ParameterValues {
public:
  /// `more` are taken as parameters too.
  explicit ParameterValues(mlir::ModuleOp module,
                           llvm::ArrayRef<mlir::Value> more = {});
  bool contains(mlir::Value value) const { return values.contains(value); }
  void insert(mlir::Value value) { values.insert(value); }

private:
  void add(mlir::Value value);

  llvm::DenseSet<mlir::Value> values;
};

/// How much an operand's axes count where operands disagree.
enum class Priority { Parameter, Annotation, Residual, Other };
Priority getPriority(mlir::Value value, const ParameterValues &parameters);

/// Something that lost: operand `operand`'s axes on a factor.
struct FactorConflict {
  unsigned operand;
  char factor;
  AxisList axes;
};

/// Chooses the axes of an op's factors from its operands' axes, parameters
/// first, then annotated values, then the residual stream (values with named
/// dimensions), then the others, in operand order. `resultDims[r]` (may be
/// empty) gives axes to factors that only results have, and, if no operand is
/// an activation (`resultsDecide`), to every factor that its operands leave
/// whole: cutting parameters and integers is free. Never illegal by the rule:
/// what may not be cut is left uncut.
llvm::SmallVector<AxisList>
chooseFactors(const FactorRule &rule, llvm::ArrayRef<DimAxes> operandDims,
              llvm::ArrayRef<Priority> priorities,
              llvm::ArrayRef<DimAxes> resultDims, bool resultsDecide = false,
              llvm::SmallVectorImpl<FactorConflict> *conflicts = nullptr);

/// Whether every operand is a parameter or an integer.
bool hasNoActivation(mlir::Operation *op, const ParameterValues &parameters);

/// A value's axes under chosen factors.
DimAxes getDimAxes(const FactorRule &rule, unsigned value,
                   llvm::ArrayRef<AxisList> factors);

/// `dtc.sharding` attributes.
DimAxes fromAttr(mlir::Attribute attr);
mlir::ArrayAttr toAttr(mlir::MLIRContext *context, const DimAxes &dims);
bool isUncut(const DimAxes &dims);

} // namespace dtc

#endif // DTC_TRANSFORMS_SHARDING_H
