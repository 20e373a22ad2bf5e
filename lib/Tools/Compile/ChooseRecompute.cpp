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

  auto least = plan(values.back());
  if (!least)
    return least.takeError();
  if (*least > limit)
    return createStringError("with --recompute=full the arena of a rank has " +
                             Twine(*least) +
                             " bytes, more than --memory=" + Twine(limit));
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
