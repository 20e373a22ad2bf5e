//===- MlirText.cpp - Any text as a program -------------------------------===//

#include "dtc/Dialect/DTC/IR/DTC.h"
#include "dtc/Dialect/RT/IR/RT.h"
#include "dtc/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include <cstdio>
#include <cstdlib>

using namespace mlir;
using namespace dtc;

static MLIRContext &getContext() {
  // Types live as long as their context: a fresh one now and then.
  static std::unique_ptr<MLIRContext> context;
  static unsigned uses = 0;
  if (uses++ % 1000 == 0) {
    DialectRegistry registry;
    registry.insert<DTCDialect, dtc::rt::RTDialect, func::FuncDialect>();
    context.reset();
    context = std::make_unique<MLIRContext>(registry,
                                            MLIRContext::Threading::DISABLED);
    context->loadAllAvailableDialects();
  }
  return *context;
}

static std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

/// A pass either refuses, or leaves a program that verifies.
static bool run(ModuleOp module, std::unique_ptr<Pass> pass) {
  std::string name = pass->getArgument().str();
  PassManager pm(module.getContext());
  pm.enableVerifier(false);
  pm.addPass(std::move(pass));
  if (failed(pm.run(module)))
    return false;
  if (succeeded(verify(module)))
    return true;
  fprintf(stderr, "-%s leaves what does not verify:\n%s\n", name.c_str(),
          print(module).c_str());
  abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  MLIRContext &context = getContext();
  ScopedDiagnosticHandler quiet(&context,
                                [](Diagnostic &) { return success(); });
  // MLIR's lexer, and with it our parsers, read the byte behind a text: every
  // buffer of LLVM's has a zero there, libFuzzer's data has not.
  const std::string text(reinterpret_cast<const char *>(data), size);
  auto module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return 0;
  // What is printed can be read again.
  std::string printed = print(*module);
  auto again = parseSourceString<ModuleOp>(printed, &context);
  if (!again || print(*again) != printed) {
    fprintf(stderr, "cannot be read again:\n%s\n", printed.c_str());
    abort();
  }
  LayoutSequenceOptions layout;
  layout.layout = size % 2 ? "zigzag" : "contiguous";
  layout.mesh = "cp=2";
  PropagateShardingOptions sharding;
  sharding.mesh = size % 2 ? "dp=2,cp=2,tp=2" : "dp=2,tp=2";
  sharding.sequenceParallel = size % 3 == 0;
  MicrobatchOptions microbatch;
  microbatch.count = 1 + size % 2;
  run(*module, createOutlineLayers()) &&
      run(*module, createLayoutSequence(layout)) &&
      run(*module, createPropagateSharding(sharding)) &&
      run(*module, createInsertCollectives()) &&
      run(*module, createMicrobatch(microbatch)) &&
      run(*module, createDifferentiate()) &&
      run(*module, createExpandCommunication()) &&
      run(*module, createPartitionOptimizer());
  return 0;
}
