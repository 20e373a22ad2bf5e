//===- KernelBuilder.h - What an op's kernel is built with ------*- C++ -*-===//

#ifndef DTC_DIALECT_DTC_IR_KERNELBUILDER_H
#define DTC_DIALECT_DTC_IR_KERNELBUILDER_H

#include "dtc/Codegen/Target.h"
#include "dtc/Dialect/DTC/IR/FactorRule.h"
#include "mlir/IR/Builders.h"

namespace dtc {

/// Properties of the processor that kernels are generated for.
using KernelTarget = codegen::TargetInfo;

/// The buffers and the piece of one op, inside the kernel's function.
class KernelBuilder {
public:
  KernelBuilder(mlir::OpBuilder &builder, mlir::Location loc,
                const KernelTarget &target)
      : builder(builder), loc(loc), target(target) {}
  virtual ~KernelBuilder() = default;

  mlir::OpBuilder &b() { return builder; }
  mlir::Location getLoc() const { return loc; }
  const KernelTarget &getTarget() const { return target; }

  /// Memref of an operand or result: static local shape, identity layout.
  mlir::Value operand(unsigned i) const { return operands[i]; }
  mlir::Value result(unsigned r) const { return results[r]; }

  /// First logical index of the local piece of a factor, as an index value
  /// (a constant 0 where nothing cuts it).
  virtual mlir::Value first(char factor) = 0;
  /// Number of logical elements in the local piece, as an index value; null
  /// where the piece has no padding on any rank.
  virtual mlir::Value valid(char factor) = 0;
  /// Per-thread scratch memory of this kernel, to be called inside a parallel
  /// region: memref<bytes x i8>, aligned to 64 bytes. Its content does not
  /// survive the region.
  virtual mlir::Value workspace(int64_t bytes) = 0;
  /// Scratch memory shared by all threads, for the whole kernel:
  /// memref<bytes x i8>, aligned to 64 bytes. To be called once, at the top.
  virtual mlir::Value scratch(int64_t bytes) = 0;

  llvm::SmallVector<mlir::Value> operands, results;

protected:
  mlir::OpBuilder &builder;
  mlir::Location loc;
  const KernelTarget &target;
};

} // namespace dtc

#endif // DTC_DIALECT_DTC_IR_KERNELBUILDER_H
