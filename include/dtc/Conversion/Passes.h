//===- Passes.h - From the dtc level to machine code ------------*- C++ -*-===//

#ifndef DTC_CONVERSION_PASSES_H
#define DTC_CONVERSION_PASSES_H

#include "dtc/Dialect/RT/IR/RT.h"
#include "mlir/Pass/Pass.h"

namespace dtc {

#define GEN_PASS_DECL
#include "dtc/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "dtc/Conversion/Passes.h.inc"

} // namespace dtc

#endif // DTC_CONVERSION_PASSES_H
