//===- Safetensors.cpp - Any bytes as a safetensors file ------------------===//

#include "dtc/Runtime/Safetensors.h"
#include "dtc/Runtime/Error.h"

using namespace dtc::rt;

/// Every element of every accepted tensor can be read.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  try {
    auto entries = parseSafetensors(reinterpret_cast<const char *>(data),
                                    int64_t(size), "file");
    double sum = 0;
    for (const SafetensorsEntry &entry : entries)
      if (FloatLoader load = floatLoader(entry.dtype))
        for (int64_t i = 0; i < entry.elements(); ++i)
          sum += load(entry.data, i);
    volatile double keep = sum;
    (void)keep;
  } catch (const Error &) {
  }
  return 0;
}
