//===- CollectivesTest.cpp - Collectives over threads ---------------------===//

#include "CollectiveCases.h"
#include "dtc/Runtime/ThreadTransport.h"

#include <gtest/gtest.h>
#include <thread>

using namespace dtc;

namespace {

class Collectives : public testing::TestWithParam<std::tuple<int, bool>> {};

TEST_P(Collectives, EqualPlainLoops) {
  int ranks = std::get<0>(GetParam());
  bool ring = std::get<1>(GetParam());
  rt::ThreadWorld world(ranks, 2, {60, ring});
  std::vector<std::string> errors(static_cast<size_t>(ranks));
  std::vector<std::thread> threads;
  for (int i = 0; i < ranks; ++i)
    threads.emplace_back([&, i] {
      std::deque<test::Case> cases = test::makeCases(ranks);
      errors[size_t(i)] = test::runCases(world.rank(i), cases);
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &error : errors)
    EXPECT_EQ(error, "");
}

INSTANTIATE_TEST_SUITE_P(Ranks, Collectives,
                         testing::Combine(testing::Range(2, 9),
                                          testing::Bool()));

/// A rank's OpenMP threads share the work; the bits are the same.
TEST(Collectives, ThreadsOfARank) {
  rt::ThreadWorld world(2, 2, {60, false});
  std::vector<std::string> errors(2);
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&, i] {
      world.rank(i).threads = 3;
      std::deque<test::Case> cases = test::makeCases(2);
      errors[size_t(i)] = test::runCases(world.rank(i), cases);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(errors[0], "");
  EXPECT_EQ(errors[1], "");
}

TEST(Collectives, SixteenRanksOnFewCores) {
  constexpr int ranks = 16, rounds = 500;
  rt::ThreadWorld world(ranks, 0, {60, false});
  std::vector<std::thread> threads;
  double began = rt::now();
  for (int i = 0; i < ranks; ++i)
    threads.emplace_back([&, i] {
      for (int n = 0; n < rounds; ++n) {
        int32_t data[4] = {i == n % ranks ? n : -1, i, 0, 0};
        rt::agree(world.rank(i), data);
        ASSERT_EQ(data[0], n);
        ASSERT_EQ(data[1], ranks - 1);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_LT((rt::now() - began) / rounds, 0.05) << "seconds a collective";
}

TEST(Reduce, Bf16RoundsToNearestEven) {
  EXPECT_EQ(rt::floatToBf16(1.0f), 0x3f80);
  EXPECT_EQ(rt::floatToBf16(1.00390625f), 0x3f80); // a tie goes to even
  EXPECT_EQ(rt::floatToBf16(1.01171875f), 0x3f82);
  EXPECT_EQ(rt::floatToBf16(3.4e38f), 0x7f80); // overflows to infinity
  EXPECT_TRUE(std::isnan(rt::bf16ToFloat(rt::floatToBf16(NAN))));
}

TEST(Reduce, MaximumKeepsNaN) {
  float a[] = {NAN, 1, 3}, b[] = {1, NAN, 2};
  rt::reducer(DTC_F32, DTC_MAX).add(a, b, 3);
  EXPECT_TRUE(std::isnan(a[0]));
  EXPECT_TRUE(std::isnan(a[1]));
  EXPECT_EQ(a[2], 3);
}

} // namespace
