//===- AllReduceBench.cpp - All-reduce against copying its bytes ----------===//
//
// dtc-bench-collectives [--ranks N] [--seconds S]
//
// Ranks as threads sum a buffer of f32, in place. Beside it every rank copies
// as many bytes as it sends, 2 (N-1)/N of the buffer, with memcpy, at the same
// time as the others: what moving the data costs at least. Every figure is the
// best of many repetitions, and the two take turns.
//
//===----------------------------------------------------------------------===//

#include "dtc/Runtime/ThreadTransport.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

using namespace dtc;

// The runtime's own main is for compiled programs.
int main(int argc, char **argv) {
  int ranks = 2;
  double seconds = 1;
  for (int i = 1; i + 1 < argc; i += 2) {
    std::string flag = argv[i];
    if (flag == "--ranks")
      ranks = atoi(argv[i + 1]);
    else if (flag == "--seconds")
      seconds = atof(argv[i + 1]);
    else
      return fprintf(stderr, "unknown flag %s\n", argv[i]), 2;
  }
  if (ranks < 2 || ranks > 64)
    return fprintf(stderr, "--ranks: 2 to 64\n"), 2;
  printf("%d ranks, best of %g s each\n%12s %14s %14s %8s\n", ranks, seconds,
         "bytes", "all-reduce ms", "memcpy ms", "ratio");
  for (int64_t bytes = int64_t(64) << 10; bytes <= int64_t(64) << 20;
       bytes *= 4) {
    rt::ThreadWorld world(ranks, 1, {60, false}, ranks > rt::allowedCores());
    dtc_axis axis = {1, ranks};
    dtc_block block = {{bytes / 4, 1, 1, 1, 1}, 0, 0};
    dtc_collective what = {"sum", DTC_ALL_REDUCE, DTC_SUM, DTC_F32,
                           1,     &axis,          1,       &block};
    double best[2] = {1e30, 1e30};
    std::vector<std::thread> threads;
    for (int r = 0; r < ranks; ++r)
      threads.emplace_back([&, r] {
        dtc_rank &rank = world.rank(r);
        std::vector<float> data(size_t(bytes / 4), 0.0f), copy = data;
        void *buffer = data.data();
        size_t sent = size_t(2 * (ranks - 1) * bytes / ranks);
        // Everybody runs as often: the ranks agree on the end.
        double end = rt::now() + seconds;
        for (int32_t go[4] = {1, 0, 0, 0}; go[0];) {
          rt::barrier(rank);
          double t = rt::now();
          dtc_rt_start(&rank, &what, 0, &buffer, &buffer);
          dtc_rt_wait(&rank, 0);
          rt::barrier(rank);
          double u = rt::now();
          for (size_t at = 0; at < sent; at += size_t(bytes))
            memcpy(copy.data(), data.data(),
                   std::min(size_t(bytes), sent - at));
          rt::barrier(rank);
          if (r == 0) {
            best[0] = std::min(best[0], u - t);
            best[1] = std::min(best[1], rt::now() - u);
          }
          go[0] = rt::now() < end;
          rt::agree(rank, go);
        }
      });
    for (std::thread &thread : threads)
      thread.join();
    printf("%12lld %14.3f %14.3f %8.2f\n", static_cast<long long>(bytes),
           best[0] * 1e3, best[1] * 1e3, best[0] / best[1]);
    fflush(stdout);
  }
  return 0;
}
