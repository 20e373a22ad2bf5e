//===- TrainJson.cpp - Any text as train.json -----------------------------===//

#include "dtc/Runtime/Error.h"
#include "dtc/Runtime/TrainConfig.h"
#include <cmath>
#include <cstdlib>

using namespace dtc::rt;

/// What is accepted has a learning rate at every step, of the right sign.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  try {
    TrainConfig config = TrainConfig::parse(
        {reinterpret_cast<const char *>(data), size}, "train.json", 8, 64);
    for (int64_t t : {int64_t(0), int64_t(1), int64_t(1000), config.steps - 1,
                      config.schedule.warmupSteps, config.schedule.decaySteps})
      if (double lr = config.lrAt(t); !std::isfinite(lr) || lr < 0)
        abort();
  } catch (const Error &) {
  }
  return 0;
}
