//===- OpKernel.h - One op's kernel as a function ---------------*- C++ -*-===//
#ifndef DTC_UNITTESTS_KERNELS_OPKERNEL_H
#define DTC_UNITTESTS_KERNELS_OPKERNEL_H

#include "KernelHarness.h"
#include "dtc/Dialect/DTC/IR/DTC.h"

namespace dtc::test {

/// Adds a function with the op's kernel, and returns how many bytes of scratch
/// memory it wants. Its arguments are pointers: the operands, the results, a
/// table of int64_t (first and valid of every factor of `rule`), the scratch
/// memory. None if the op refuses.
std::optional<int64_t> addOpKernel(KernelModule &module,
                                   const std::string &name, mlir::Operation *op,
                                   const FactorRule &rule,
                                   llvm::ArrayRef<AxisList> factorAxes);

/// Calls such a function.
void callOpKernel(void *function, llvm::ArrayRef<void *> arguments);

} // namespace dtc::test

#endif // DTC_UNITTESTS_KERNELS_OPKERNEL_H
