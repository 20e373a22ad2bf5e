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
#include "dtc/Schedule/Schedule.h"
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
// call in the loop over micro-batches: the number of its pipeline stage
constexpr llvm::StringLiteral stage = "dtc.stage";
// the same call: forward, backward, input_backward or weight_backward
constexpr llvm::StringLiteral phase = "dtc.phase";
// module: how attention over a cut sequence exchanges data
constexpr llvm::StringLiteral attentionExchange = "dtc.attention_exchange";
} // namespace attrs

/// The axis of pipeline stages. It cuts the program, never a tensor.
constexpr llvm::StringLiteral pipelineAxis = "pp";

/// The module's mesh; an empty one if it has none.
MeshAttr getMesh(mlir::Operation *op);

/// The token that stands at `index` of a sequence of `length` in a layout of
/// `parts` pieces.
int64_t getLayoutSource(SequenceLayout layout, int64_t index, int64_t length,
                        int64_t parts);
/// What the length must be a multiple of.
int64_t getLayoutMultiple(SequenceLayout layout, int64_t parts);

} // namespace dtc

#endif // DTC_DIALECT_DTC_IR_DTC_H
