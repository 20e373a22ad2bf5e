//===- Import.h - From a model config to model IR ---------------*- C++ -*-===//

#ifndef DTC_TOOLS_IMPORT_IMPORT_H
#define DTC_TOOLS_IMPORT_IMPORT_H

#include "dtc/Tools/Import/Config.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace dtc {

/// The model as one device would train it: parameters with their stored form,
/// a private function per distinct layer, and a function that calls them and
/// returns the loss. Config and options have been checked.
mlir::OwningOpRef<mlir::ModuleOp> buildModel(mlir::MLIRContext &context,
                                             const ModelConfig &config,
                                             const ImportOptions &options);

} // namespace dtc

#endif // DTC_TOOLS_IMPORT_IMPORT_H
