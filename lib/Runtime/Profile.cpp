//===- Profile.cpp - Where a rank's time goes -----------------------------===//

#include "dtc/Runtime/Profile.h"
#include "dtc/Runtime/JsonInput.h"
#include "dtc/Runtime/Platform.h"

#include <algorithm>
#include <utility>
#include <vector>

using namespace dtc::rt;

void Profile::begin() { began = now(); }

void Profile::end(const char *name, bool collective) {
  Time &time = times[name];
  time.collective = collective;
  ++time.calls;
  time.seconds += now() - began;
}

void Profile::reset() {
  // The entries stay: later steps allocate nothing.
  for (auto &[name, time] : times)
    time.calls = 0, time.seconds = 0;
}

std::string Profile::json(int64_t steps, double milliseconds) const {
  std::map<std::pair<bool, std::string>, Time> byName;
  for (auto &[name, time] : times) {
    Time &sum = byName[{time.collective, name}];
    sum.calls += time.calls;
    sum.seconds += time.seconds;
  }
  std::vector<std::pair<std::pair<bool, std::string>, Time>> sorted(
      byName.begin(), byName.end());
  std::sort(sorted.begin(), sorted.end(), [](auto &a, auto &b) {
    return std::pair(-a.second.seconds, a.first) <
           std::pair(-b.second.seconds, b.first);
  });
  auto count = double(std::max<int64_t>(steps, 1));
  Json out = {{"steps", steps},
              {"step_ms", milliseconds / count},
              {"kernels", Json::array()},
              {"collectives", Json::array()}};
  for (auto &[key, time] : sorted)
    if (time.calls)
      out[key.first ? "collectives" : "kernels"].push_back(
          {{"name", key.second},
           {"calls", double(time.calls) / count},
           {"ms", time.seconds * 1e3 / count}});
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}
