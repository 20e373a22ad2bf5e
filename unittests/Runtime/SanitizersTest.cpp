//===- SanitizersTest.cpp - Builds under sanitizers see errors ------------===//
//
// A build that lost its sanitizers on the way would pass every other test.
//
//===----------------------------------------------------------------------===//

#include "gtest/gtest.h"
#include <climits>
#include <cstdlib>
#include <thread>

#ifndef __has_feature // GCC
#define __has_feature(x) 0
#endif

namespace {

class SanitizersDeathTest : public testing::Test {
protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

#if __has_feature(address_sanitizer)
TEST_F(SanitizersDeathTest, Address) {
  EXPECT_DEATH(
      {
        volatile char *p = new char[8];
        delete[] p;
        p[0] = 1;
      },
      "heap-use-after-free");
}

TEST_F(SanitizersDeathTest, Leaks) {
  EXPECT_EXIT(
      {
        [[maybe_unused]] static char *volatile p;
        p = new char[1000];
        p = nullptr;
        exit(0);
      },
      testing::ExitedWithCode(1), "detected memory leaks");
}
#endif

#if __has_feature(undefined_behavior_sanitizer)
TEST_F(SanitizersDeathTest, UndefinedBehaviour) {
  EXPECT_DEATH(
      {
        volatile int i = INT_MAX;
        i = i + 1;
      },
      "signed integer overflow");
}
#endif

#if __has_feature(thread_sanitizer)
TEST_F(SanitizersDeathTest, Threads) {
  EXPECT_EXIT(
      {
        [[maybe_unused]] static int number;
        std::thread other([] { ++number; });
        ++number;
        other.join();
        exit(0);
      },
      testing::ExitedWithCode(66), "data race");
}
#endif

} // namespace
