//===- Schedule.cpp - Any text as a schedule ------------------------------===//

#include "dtc/Schedule/Text.h"
#include "dtc/Schedule/Verify.h"
#include <cstdlib>

using namespace dtc::schedule;

/// What is accepted prints as what is read back as the same, and can be
/// verified.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  auto schedule = parse(text, "schedule");
  if (!schedule) {
    llvm::consumeError(schedule.takeError());
    return 0;
  }
  std::string printed = toString(*schedule);
  auto again = parse(printed, "printed");
  if (!again || toString(*again) != printed)
    abort();
  llvm::consumeError(verify(*schedule));
  return 0;
}
