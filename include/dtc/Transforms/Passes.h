//===- Passes.h - The passes on the dtc dialect -----------------*- C++ -*-===//

#ifndef DTC_TRANSFORMS_PASSES_H
#define DTC_TRANSFORMS_PASSES_H

#include "dtc/Dialect/DTC/IR/DTC.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace dtc {

#define GEN_PASS_DECL
#include "dtc/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "dtc/Transforms/Passes.h.inc"

} // namespace dtc

#endif // DTC_TRANSFORMS_PASSES_H
