//===- Cases.h - What the tests of schedules share --------------*- C++ -*-===//

#ifndef DTC_UNITTESTS_SCHEDULE_CASES_H
#define DTC_UNITTESTS_SCHEDULE_CASES_H

#include "dtc/Schedule/Generate.h"
#include "dtc/Schedule/Text.h"
#include <gtest/gtest.h>

namespace dtc::schedule {

constexpr Kind allKinds[] = {Kind::GPipe, Kind::OneF1B, Kind::Interleaved,
                             Kind::ZeroBubbleH1, Kind::ZeroBubbleV};

/// What a test expects to succeed.
template <typename T> T get(llvm::Expected<T> value) {
  if (value)
    return std::move(*value);
  ADD_FAILURE() << llvm::toString(value.takeError());
  std::abort();
}

/// The message of an error, or "" of a success.
inline std::string message(llvm::Error error) {
  return error ? llvm::toString(std::move(error)) : "";
}
template <typename T> std::string message(llvm::Expected<T> value) {
  return value ? "" : llvm::toString(value.takeError());
}

/// A generated schedule with its messages; V of 0 is the usual number.
inline Schedule make(Kind kind, int64_t P, int64_t M, int64_t V = 0,
                     const StageGraph &graph = {}, int64_t postAhead = 1) {
  return get(
      generate(kind, get(getPlacement(kind, P, V)), M, graph, postAhead));
}

/// Calls function(schedule) for all kinds with P up to maxRanks and M up to
/// maxMicroBatches, interleaved with 1 to 3 chunks.
template <typename Function>
void forEachSchedule(int64_t maxRanks, int64_t maxMicroBatches,
                     Function function) {
  for (Kind kind : allKinds)
    for (int64_t P = 1; P <= maxRanks; ++P)
      for (int64_t M = 1; M <= maxMicroBatches; ++M) {
        bool interleaved = kind == Kind::Interleaved;
        if (interleaved && M % P != 0)
          continue;
        for (int64_t V = interleaved ? 1 : 0; V <= (interleaved ? 3 : 0); ++V) {
          Schedule schedule = make(kind, P, M, V);
          SCOPED_TRACE(schedule.name + " P=" + std::to_string(P) +
                       " M=" + std::to_string(M) + " V=" + std::to_string(V));
          function(schedule);
        }
      }
}

/// Each stage hands to the next, and some skip stages; the last skipping edge
/// has no gradient.
inline StageGraph skippingGraph(int64_t stages) {
  StageGraph graph;
  for (int64_t s = 0; s + 1 < stages; ++s) {
    graph.edges.push_back({s, s + 1, true});
    if (s + 2 < stages && s % 2 == 0)
      graph.edges.push_back({s, s + 2, true});
    if (s == 0 && stages > 3)
      graph.edges.push_back({s, stages - 1, false});
  }
  return graph;
}

} // namespace dtc::schedule

#endif // DTC_UNITTESTS_SCHEDULE_CASES_H
