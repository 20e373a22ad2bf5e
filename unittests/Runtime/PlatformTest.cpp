//===- PlatformTest.cpp - Threads and memory ------------------------------===//

#include "dtc/Runtime/Platform.h"

#include <cfloat>
#include <gtest/gtest.h>
#include <omp.h>
#include <thread>
#include <vector>

using namespace dtc::rt;

namespace {

/// What half of the smallest normal number is, and a denormal times a large
/// number: 0 where results and operands are flushed.
bool flushes() {
  volatile float small = FLT_MIN, half = 0.5f, denormal = FLT_TRUE_MIN,
                 large = 1e30f;
  return small * half == 0 && denormal * large == 0;
}

TEST(Platform, EveryThreadFlushesDenormals) {
  EXPECT_FALSE(flushes()) << "the test shows nothing";
  // Two ranks of three threads each, as in a program.
  std::vector<std::vector<int>> flushed(2, std::vector<int>(3, 0));
  std::vector<std::thread> ranks;
  for (auto &mine : flushed)
    ranks.emplace_back([&mine] {
      setUpThreads(3, true);
#pragma omp parallel num_threads(3)
      mine[size_t(omp_get_thread_num())] = flushes();
    });
  for (std::thread &rank : ranks)
    rank.join();
  for (auto &mine : flushed)
    EXPECT_EQ(mine, std::vector<int>(3, 1));
}

void writeByte(volatile char *at) { *at = 1; }

TEST(Platform, GuardPages) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  GuardedMemory memory(8192, "a test");
  volatile char *first = memory.data();
  EXPECT_EQ(first[0], 0);
  first[8191] = 1;
  EXPECT_DEATH(first[-1] = 1, "");
  EXPECT_DEATH(first[8192] = 1, "");
  // Of a size that is no multiple of a page's, the end is guarded.
  GuardedMemory uneven(4160, "a test");
  uneven.data()[0] = uneven.data()[4159] = 1;
  EXPECT_DEATH(writeByte(uneven.data() + 4160), "");
  EXPECT_DEATH(writeByte(uneven.data() - 4096), "");
}

} // namespace
