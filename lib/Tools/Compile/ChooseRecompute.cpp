//===- ChooseRecompute.cpp - --recompute=auto -----------------------------===//

#include "ChooseRecompute.h"

using namespace llvm;

Expected<std::string> dtc::chooseRecompute(
    int64_t limit, function_ref<Expected<int64_t>(const std::string &)> plan) {
  // Products of a layer cost twice the length that they sum over for each
  // element, from some dozens to some ten thousands of operations a byte.
  SmallVector<std::string> values{"none", "selective"};
  for (int64_t operations = 16; operations <= int64_t(1) << 16; operations *= 2)
    values.push_back(std::to_string(operations));
  values.push_back("full");

  // Small programs may keep least without the most expensive ops, which have
  // buffers of their own while they run: where even `full` does not fit, all
  // are tried in order.
  auto full = plan(values.back());
  if (!full)
    return full.takeError();
  if (*full > limit) {
    int64_t least = *full;
    for (const std::string &value : ArrayRef(values).drop_back()) {
      auto bytes = plan(value);
      if (!bytes)
        return bytes.takeError();
      if (*bytes <= limit)
        return value;
      least = std::min(least, *bytes);
    }
    return createStringError("whatever is computed again, the arena of a rank "
                             "has " +
                             Twine(least) +
                             " bytes or more, above --memory=" + Twine(limit));
  }
  // What computes more again keeps less: the border is between these.
  size_t low = 0, high = values.size() - 1;
  while (low < high) {
    size_t middle = (low + high) / 2;
    auto bytes = plan(values[middle]);
    if (!bytes)
      return bytes.takeError();
    if (*bytes <= limit)
      high = middle;
    else
      low = middle + 1;
  }
  return values[high];
}
