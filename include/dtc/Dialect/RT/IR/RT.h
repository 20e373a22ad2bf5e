//===- RT.h - The runtime-level dialect -------------------------*- C++ -*-===//

#ifndef DTC_DIALECT_RT_IR_RT_H
#define DTC_DIALECT_RT_IR_RT_H

#include "dtc/Dialect/DTC/IR/DTC.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace dtc::rt {

/// A memref of static shape and identity layout.
bool isBuffer(mlir::Type type);

/// The buffer of a rank's local piece of a tensor.
mlir::MemRefType getLocalBufferType(DTensorType type);

/// Bytes of a buffer, and rounded up to the alignment of buffers.
constexpr int64_t bufferAlignment = 64;
int64_t getBytes(mlir::MemRefType type);
inline int64_t alignUp(int64_t bytes) {
  return (bytes + bufferAlignment - 1) / bufferAlignment * bufferAlignment;
}
inline int64_t getAlignedBytes(mlir::MemRefType type) {
  return alignUp(getBytes(type));
}

/// Names of the discardable attributes (see the dialect's description).
namespace attrs {
constexpr llvm::StringLiteral kernel = "rt.kernel";
constexpr llvm::StringLiteral noalias = "rt.noalias";
/// On a buffer of a frame: it adds up a gradient over micro-batches. On
/// storage: it is for that gradient, and part of the frame.
constexpr llvm::StringLiteral gradient = "rt.gradient";
constexpr llvm::StringLiteral step = "rt.step";
constexpr llvm::StringLiteral frameBytes = "rt.frame_bytes";
constexpr llvm::StringLiteral frameOffset = "rt.frame_offset";
constexpr llvm::StringLiteral arenaBytes = "rt.arena_bytes";
constexpr llvm::StringLiteral memory = "rt.memory";
constexpr llvm::StringLiteral slots = "rt.collective_slots";
constexpr llvm::StringLiteral microbatches = "rt.microbatches";
constexpr llvm::StringLiteral stage = "rt.stage";
} // namespace attrs

/// The functions marked `rt.step`, by coordinate on the axis pp.
llvm::SmallVector<mlir::func::FuncOp> getSteps(mlir::ModuleOp module);

/// The coordinate of a step.
int64_t getStage(mlir::func::FuncOp step);

/// What a schedule does: `rt.pipeline` keeps actions as numbers, [kind,
/// operand, number of words n, n words].
struct Action {
  enum Kind : int64_t { Run, Post, Receive, Send, Sent };
  Kind kind;
  /// The task, or the channel.
  int64_t target;
  /// Run: the micro-batch, then a copy for each group of the task. Post and
  /// send: the copy. Else empty.
  llvm::ArrayRef<int64_t> words;
};

void printActions(mlir::OpAsmPrinter &p, mlir::Operation *op,
                  mlir::DenseI64ArrayAttr actions);
mlir::ParseResult parseActions(mlir::OpAsmParser &parser,
                               mlir::DenseI64ArrayAttr &actions);

/// Appends an action to its numbers.
void appendAction(llvm::SmallVectorImpl<int64_t> &to, const Action &action);
/// Reads the next action, or fails where the numbers are no list of actions.
mlir::FailureOr<Action> takeAction(llvm::ArrayRef<int64_t> &words);

} // namespace dtc::rt

#include "dtc/Dialect/RT/IR/RTDialect.h.inc"
#include "dtc/Dialect/RT/IR/RTEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dtc/Dialect/RT/IR/RTAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dtc/Dialect/RT/IR/RTTypes.h.inc"
#define GET_OP_CLASSES
#include "dtc/Dialect/RT/IR/RTOps.h.inc"

namespace dtc::rt {
/// The module's storage by coordinate on pp, in order.
llvm::DenseMap<int64_t, llvm::SmallVector<StorageOp>>
getStorage(mlir::ModuleOp module);

/// Calls `use` for each buffer that the op itself (not what its regions hold)
/// reads or writes, as far as is known: operands of ops that do not say are
/// written. A wait uses what its start does.
void forEachBufferUse(mlir::Operation *op,
                      llvm::function_ref<void(mlir::Value, bool writes)> use);

/// The pipeline's tasks, by number.
llvm::SmallVector<TaskOp> getTasks(PipelineOp pipeline);
} // namespace dtc::rt

#endif // DTC_DIALECT_RT_IR_RT_H
