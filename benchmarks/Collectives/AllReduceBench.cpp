//===- AllReduceBench.cpp - All-reduce against copying its bytes ----------===//
//
// dtc-bench-collectives [--benchmark_filter=ranks:2/]
//
// Ranks as threads sum a buffer of f32, in place. In turns with it every rank
// copies as many bytes as it sends, 2 (N-1)/N of the buffer, with memcpy, at
// the same time as the others: what moving the data costs at least.
// `to_memcpy` is the median ratio of the times.
//
//===----------------------------------------------------------------------===//

#include "../Turns.h"
#include "dtc/Runtime/ThreadTransport.h"

#include <cstring>
#include <thread>

using namespace dtc;

/// Every rank's part of the turns. Rank 0 keeps the time.
static bench::Turns takePart(dtc_rank &rank, int64_t ranks, int64_t bytes,
                             int64_t turns, benchmark::State *state) {
  dtc_axis axis = {1, ranks};
  dtc_block block = {{bytes / 4, 1, 1, 1, 1}, 0, 0};
  dtc_collective what = {"sum", DTC_ALL_REDUCE, DTC_SUM, DTC_F32,
                         1,     &axis,          1,       &block};
  std::vector<float> data(size_t(bytes / 4), 0.0f), copy = data;
  void *buffer = data.data();
  auto sent = size_t(2 * (ranks - 1) * bytes / ranks);
  std::function<void()> reduce = [&] {
    dtc_rt_start(&rank, &what, 0, &buffer, &buffer);
    dtc_rt_wait(&rank, 0);
    rt::barrier(rank);
  };
  std::function<void()> move = [&] {
    for (size_t at = 0; at < sent; at += size_t(bytes))
      memcpy(copy.data(), data.data(), std::min(size_t(bytes), sent - at));
    rt::barrier(rank);
  };
  if (state)
    return bench::takeTurns(*state, reduce, {move});
  for (int64_t i = 0; i <= turns; ++i) {
    reduce();
    move();
  }
  return {};
}

static void runAllReduce(benchmark::State &state) {
  int64_t ranks = state.range(0), bytes = state.range(1);
  auto turns = int64_t(state.max_iterations);
  rt::ThreadWorld world(int(ranks), 1, {60, false}, ranks > rt::allowedCores());
  std::vector<std::thread> threads;
  for (int r = 1; r < ranks; ++r)
    threads.emplace_back([&, r] {
      takePart(world.rank(r), ranks, bytes, turns, /*state=*/nullptr);
    });
  bench::Turns times = takePart(world.rank(0), ranks, bytes, turns, &state);
  for (std::thread &thread : threads)
    thread.join();
  state.counters["to_memcpy"] = times.medianRatio(0);
}

BENCHMARK(runAllReduce)
    ->Name("all_reduce")
    ->ArgNames({"ranks", "bytes"})
    ->ArgsProduct({{2, 4, 8, 16},
                   benchmark::CreateRange(64 << 10, 64 << 20, /*multi=*/4)})
    ->UseManualTime()
    ->Iterations(30);

// The runtime's own main is for compiled programs.
int main(int argc, char **argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv))
    return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
