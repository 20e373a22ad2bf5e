//===- Kernels.h - Kernels outlined, equal ones once ------------*- C++ -*-===//

#ifndef DTC_LIB_CONVERSION_DTCTORT_KERNELS_H
#define DTC_LIB_CONVERSION_DTCTORT_KERNELS_H

#include "dtc/Dialect/DTC/IR/KernelBuilder.h"
#include "dtc/Dialect/RT/IR/RT.h"
#include "llvm/ADT/StringMap.h"

namespace dtc {

/// The module's kernels. Two ops share one if they differ neither in name,
/// attributes and shapes, nor in how many pieces each factor has: which axes
/// cut it is the caller's affair, which passes the piece's first index.
class KernelCache {
public:
  /// Operand and result that are one buffer.
  using InPlace = llvm::SmallVector<std::pair<unsigned, unsigned>, 2>;

  KernelCache(mlir::ModuleOp module, const KernelTarget &target)
      : module(module), target(target) {}

  /// Launches the kernel of an op that has one.
  mlir::LogicalResult launch(mlir::OpBuilder &b, mlir::Operation *op,
                             mlir::ValueRange ins, mlir::ValueRange outs,
                             const InPlace &inPlace);

  /// Copies a buffer to one of the same type.
  void copy(mlir::OpBuilder &b, mlir::Location loc, mlir::Value from,
            mlir::Value to);
  /// Copies elements [first, first + n) of dimension `dim` of `from` to `to`,
  /// n being to's length.
  void slice(mlir::OpBuilder &b, mlir::Location loc, mlir::Value from,
             mlir::Value to, int64_t dim, mlir::Value first);
  /// Sets `to` to zero but for elements [first, first + n) of dimension `dim`,
  /// which are `from`'s.
  void pad(mlir::OpBuilder &b, mlir::Location loc, mlir::Value from,
           mlir::Value to, int64_t dim, mlir::Value first);
  /// Copies if `index` is 0, else sets `to` to zero. May be in place.
  void keepFirst(mlir::OpBuilder &b, mlir::Location loc, mlir::Value from,
                 mlir::Value to, mlir::Value index);

private:
  struct Kernel {
    mlir::func::FuncOp func;
    llvm::SmallVector<mlir::MemRefType, 1> scratch;
    llvm::SmallVector<unsigned, 2> factors; // whose first index is passed
  };
  class Builder;

  mlir::func::FuncOp create(mlir::Location loc, llvm::StringRef name,
                            mlir::TypeRange arguments);
  mlir::FailureOr<Kernel *> get(mlir::Operation *op, mlir::TypeRange ins,
                                mlir::TypeRange outs, const InPlace &inPlace);
  /// A kernel with one input, one output, and perhaps an index.
  void launchLocal(
      mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef name,
      const llvm::Twine &variant, mlir::Value from, mlir::Value to,
      mlir::Value index,
      llvm::function_ref<void(mlir::OpBuilder &, mlir::ValueRange)> body);

  mlir::ModuleOp module;
  const KernelTarget &target;
  llvm::StringMap<Kernel> kernels;
};

} // namespace dtc

#endif // DTC_LIB_CONVERSION_DTCTORT_KERNELS_H
