//===- Registry.h - Every dialect and pass of the project -------*- C++ -*-===//

#ifndef DTC_TOOLS_REGISTRY_H
#define DTC_TOOLS_REGISTRY_H

#include "mlir/IR/DialectRegistry.h"

namespace dtc {
/// The project's dialects, and func.
void registerDialects(mlir::DialectRegistry &registry);
/// The project's passes and pipelines.
void registerPasses();
} // namespace dtc

#endif // DTC_TOOLS_REGISTRY_H
