//===- Config.cpp - Any text as a model config ----------------------------===//

#include "dtc/Tools/Import/Import.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include <cstdlib>

using namespace dtc;

/// A config that is accepted gives a module that verifies.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  std::string warnings;
  llvm::raw_string_ostream os(warnings);
  auto config = parseConfig(text, "config.json", os);
  if (!config) {
    llvm::consumeError(config.takeError());
    return 0;
  }
  ImportOptions options;
  options.batch = 2;
  options.seq = 4;
  options.documents = size % 2;
  options.labelSmoothing = size % 3 ? 0 : 0.1;
  if (llvm::Error error = checkOptions(*config, options)) {
    llvm::consumeError(std::move(error));
    return 0;
  }
  // Many layers take long, and are like few.
  if (config->layers > 4)
    return 0;
  static mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  if (failed(mlir::verify(*buildModel(context, *config, options))))
    abort();
  return 0;
}
