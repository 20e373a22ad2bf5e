//===- DTC.h - The dtc dialect ----------------------------------*- C++ -*-===//

#ifndef DTC_DIALECT_DTC_IR_DTC_H
#define DTC_DIALECT_DTC_IR_DTC_H

#include "dtc/Dialect/DTC/IR/Axes.h"
#include "dtc/Dialect/DTC/IR/Backward.h"
#include "dtc/Dialect/DTC/IR/Collectives.h"
#include "dtc/Dialect/DTC/IR/DTCTypes.h"
#include "dtc/Dialect/DTC/IR/FactorRule.h"
#include "dtc/Dialect/DTC/IR/Meaning.h"
#include "dtc/Dialect/DTC/IR/TensorSpec.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace dtc {
class KernelBuilder;
} // namespace dtc

#include "dtc/Dialect/DTC/IR/DTCDialect.h.inc"
#include "dtc/Dialect/DTC/IR/DTCInterfaces.h.inc"

#define GET_OP_CLASSES
#include "dtc/Dialect/DTC/IR/DTCOps.h.inc"

namespace dtc {

/// Names of the discardable attributes (docs/dialect.md).
namespace attrs {
constexpr llvm::StringLiteral mesh = "dtc.mesh";         // module: MeshAttr
constexpr llvm::StringLiteral input = "dtc.input";       // argument: name
constexpr llvm::StringLiteral output = "dtc.output";     // result: name
constexpr llvm::StringLiteral dims = "dtc.dims";         // names of dimensions
constexpr llvm::StringLiteral sharding = "dtc.sharding"; // explicit axes
} // namespace attrs

/// The module's mesh; an empty one if it has none.
MeshAttr getMesh(mlir::Operation *op);

} // namespace dtc

#endif // DTC_DIALECT_DTC_IR_DTC_H
