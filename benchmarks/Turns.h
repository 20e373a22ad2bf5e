//===- Turns.h - Work in turns with what it is held against -----*- C++ -*-===//
//
// Other programs slow a machine down for seconds at a time. So a kernel takes
// turns with its peers, a ratio is that of neighbours in time, and a figure is
// the median of all turns.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_BENCHMARKS_TURNS_H
#define DTC_BENCHMARKS_TURNS_H

#include <algorithm>
#include <benchmark/benchmark.h>
#include <functional>
#include <string>
#include <sys/mman.h>
#include <time.h>
#include <vector>

namespace dtc::bench {

/// Memory on huge pages where the system has them, as the arena is; not zeroed.
class HugePages {
public:
  explicit HugePages(size_t bytes) {
    bytes = ((bytes >> 21) + 1) << 21;
    memory = aligned_alloc(size_t(1) << 21, bytes);
    madvise(memory, bytes, MADV_HUGEPAGE);
  }
  ~HugePages() { free(memory); }
  HugePages(const HugePages &) = delete;

  template <typename T> T *as() const { return static_cast<T *>(memory); }

private:
  void *memory;
};

/// What `work` takes, in seconds of the clock `id`.
inline double timeOf(const std::function<void()> &work, clockid_t id) {
  auto now = [id] {
    timespec t;
    clock_gettime(id, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * t.tv_nsec;
  };
  double start = now();
  work();
  return now() - start;
}

inline double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2,
                   values.end());
  return values[values.size() / 2];
}

/// Seconds of each turn, of the work and of each peer.
struct Turns {
  std::vector<double> work;
  std::vector<std::vector<double>> peers;

  /// Of the work's time in a turn to the peer's.
  double medianRatio(size_t peer) const {
    std::vector<double> ratios;
    for (size_t i = 0; i < work.size(); ++i)
      ratios.push_back(work[i] / peers[peer][i]);
    return median(ratios);
  }
};

/// One turn for each iteration, whose time is the work's. Needs UseManualTime.
inline Turns takeTurns(benchmark::State &state,
                       const std::function<void()> &work,
                       const std::vector<std::function<void()>> &peers,
                       clockid_t clock = CLOCK_MONOTONIC) {
  Turns turns;
  turns.peers.resize(peers.size());
  work();
  for (const auto &peer : peers)
    peer();
  for (auto _ : state) {
    turns.work.push_back(timeOf(work, clock));
    state.SetIterationTime(turns.work.back());
    for (size_t i = 0; i < peers.size(); ++i)
      turns.peers[i].push_back(timeOf(peers[i], clock));
  }
  state.counters["median_ms"] = 1e3 * median(turns.work);
  return turns;
}

/// How many turns take about `seconds`, within what is worth while.
inline int64_t turnsFor(double seconds, double secondsPerTurn) {
  return std::clamp<int64_t>(int64_t(seconds / secondsPerTurn), 7, 1000);
}

} // namespace dtc::bench

#endif // DTC_BENCHMARKS_TURNS_H
