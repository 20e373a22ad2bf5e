//===- Registry.cpp - Every dialect and pass of the project ---------------===//

#include "dtc/Tools/Registry.h"
#include "dtc/Dialect/DTC/IR/DTC.h"
#include "dtc/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

void dtc::registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<DTCDialect, mlir::func::FuncDialect>();
}

void dtc::registerPasses() { registerDTCPasses(); }
