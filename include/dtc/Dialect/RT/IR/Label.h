//===- Label.h - What profiles call a kernel --------------------*- C++ -*-===//

#ifndef DTC_DIALECT_RT_IR_LABEL_H
#define DTC_DIALECT_RT_IR_LABEL_H

#include "llvm/ADT/StringRef.h"

namespace dtc::rt {

/// A string on a kernel's function: the op's name, attributes and local shapes.
/// Kernels that the runtime level makes itself have none.
constexpr llvm::StringLiteral labelAttr = "rt.label";

} // namespace dtc::rt

#endif // DTC_DIALECT_RT_IR_LABEL_H
