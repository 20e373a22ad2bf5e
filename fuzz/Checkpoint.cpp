//===- Checkpoint.cpp - Any bytes as what a resumed run reads
//---------------===//

#include "dtc/Runtime/Checkpoint/Manifest.h"
#include "dtc/Runtime/Error.h"
#include "dtc/Runtime/Log.h"
#include <cstdlib>

using namespace dtc::rt;

/// The first byte says whether it is trainer.json or a log. What is read and
/// written again says the same.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  std::string_view text(reinterpret_cast<const char *>(data + 1), size - 1);
  try {
    if (data[0] & 1) {
      LogHistory history = readLog(text, data[0] >> 1, "log");
      LogHistory again = readLog(history.lines, data[0] >> 1, "log");
      if (again.lines != history.lines || again.lastStep != history.lastStep)
        abort();
      return 0;
    }
    Manifest manifest = Manifest::parse(text, "trainer.json");
    std::string written = manifest.text();
    if (Manifest::parse(written, "trainer.json").text() != written)
      abort();
  } catch (const Error &) {
  }
  return 0;
}
