//===- Registry.cpp - Every dialect and pass of the project ---------------===//

#include "dtc/Tools/Registry.h"
#include "dtc/Conversion/Passes.h"
#include "dtc/Dialect/DTC/IR/DTC.h"
#include "dtc/Dialect/RT/IR/RT.h"
#include "dtc/Transforms/Passes.h"
#include "dtc/Transforms/Pipelines.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

void dtc::registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<DTCDialect, rt::RTDialect, mlir::func::FuncDialect>();
}

void dtc::registerPasses() {
  registerDTCPasses();
  registerDTCConversionPasses();
  registerTrainingPipeline();
}
