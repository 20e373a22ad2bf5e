//===- Rules.cpp - Any text as rules of sharding and a mesh ---------------===//

#include "dtc/Dialect/DTC/IR/DTC.h"
#include "dtc/Transforms/Sharding.h"
#include "mlir/IR/MLIRContext.h"
#include <cstdlib>

using namespace dtc;

/// The first line is a mesh, the others are rules. Rules that are accepted
/// print as rules that are the same.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<DTCDialect>();
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  auto [mesh, lines] = text.split('\n');
  if (auto parsed = parseMesh(&context, mesh)) {
    if (parsed->getNumRanks() < 1)
      abort();
  } else {
    llvm::consumeError(parsed.takeError());
  }
  auto print = [](const ShardingRules &rules) {
    std::string out;
    llvm::raw_string_ostream os(out);
    rules.print(os);
    return out;
  };
  auto rules = ShardingRules::parse(lines);
  if (!rules) {
    llvm::consumeError(rules.takeError());
    return 0;
  }
  std::string printed = print(*rules);
  auto again = ShardingRules::parse(printed);
  if (!again || print(*again) != printed)
    abort();
  return 0;
}
