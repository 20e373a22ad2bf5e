//===- DTCTypes.h - Types and attributes of the dtc dialect -----*- C++ -*-===//

#ifndef DTC_DIALECT_DTC_IR_DTCTYPES_H
#define DTC_DIALECT_DTC_IR_DTCTYPES_H

#include "dtc/Dialect/DTC/IR/Axes.h"
#include "dtc/Dialect/DTC/IR/TensorSpec.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"

#include "dtc/Dialect/DTC/IR/DTCEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dtc/Dialect/DTC/IR/DTCAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dtc/Dialect/DTC/IR/DTCTypes.h.inc"

#endif // DTC_DIALECT_DTC_IR_DTCTYPES_H
