//===- dtc-opt.cpp - Runs passes on model IR ------------------------------===//

#include "dtc/Tools/Registry.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllPasses();
  dtc::registerDialects(registry);
  dtc::registerPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "Distributed Training Compiler: pass driver\n", registry));
}
