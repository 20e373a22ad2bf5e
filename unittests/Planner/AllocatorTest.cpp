//===- AllocatorTest.cpp - Offsets for buffers with lifetimes -------------===//

#include "dtc/Planner/Allocator.h"
#include <chrono>
#include <gtest/gtest.h>
#include <random>
#include <vector>

using namespace dtc;

namespace {

std::vector<Lifetime> randomLifetimes(unsigned seed, int n, int64_t longest) {
  std::mt19937_64 random(seed);
  std::vector<Lifetime> lives(n);
  for (Lifetime &l : lives) {
    l.bytes = int64_t(64) << (random() % 12);
    l.first = int64_t(random() % (4 * n));
    l.last = l.first + int64_t(random() % longest);
  }
  return lives;
}

/// A training step: each layer leaves saved values, which its backward uses,
/// and every op has some buffers of its own.
std::vector<Lifetime> stepLifetimes(int layers) {
  std::vector<Lifetime> lives;
  int64_t end = 20 * layers;
  for (int l = 0; l < layers; ++l) {
    int64_t forward = 10 * l, backward = end - 10 * l;
    for (int64_t kb : {16, 48, 16, 64, 1})
      lives.push_back({kb << 10, forward, backward + 5});
    lives.push_back({16 << 10, forward, forward + 10});
    lives.push_back({300 << 10, forward + 1, forward + 1});
    lives.push_back({16 << 10, backward, backward + 10});
    lives.push_back({500 << 10, backward + 1, backward + 1});
    lives.push_back({256 << 10, backward, end + 100});
  }
  return lives;
}

/// By comparing every pair.
bool hasOverlap(const std::vector<Lifetime> &lives) {
  for (size_t i = 0; i < lives.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (lives[i].livesWith(lives[j]) && lives[i].bytes && lives[j].bytes &&
          lives[i].offset < lives[j].offset + lives[j].bytes &&
          lives[j].offset < lives[i].offset + lives[i].bytes)
        return true;
  return false;
}

} // namespace

TEST(Allocator, Nothing) {
  std::vector<Lifetime> none;
  EXPECT_EQ(allocate(none), 0);
  EXPECT_FALSE(findOverlap(none));
}

TEST(Allocator, EmptyBuffersNeedNoPlace) {
  std::vector<Lifetime> lives = {{0, 0, 9, -1}, {64, 0, 9, -1}};
  EXPECT_EQ(allocate(lives), 64);
  EXPECT_GE(lives[0].offset, 0);
  EXPECT_FALSE(findOverlap(lives));
}

TEST(Allocator, ReusesMemory) {
  std::vector<Lifetime> lives = {{128, 0, 1}, {128, 2, 3}, {64, 1, 2}};
  EXPECT_EQ(getLargestLiveBytes(lives), 192);
  EXPECT_EQ(allocate(lives), 192);
  EXPECT_FALSE(findOverlap(lives));
}

TEST(Allocator, TouchingTimesOverlap) {
  // What is used last at time 1 and first at time 1 is used by one op.
  std::vector<Lifetime> lives = {{64, 0, 1, 0}, {64, 1, 2, 0}};
  EXPECT_TRUE(findOverlap(lives));
  EXPECT_EQ(allocate(lives), 128);
}

TEST(Allocator, RandomPlansHold) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    auto lives = randomLifetimes(seed, 1 + seed, 1 + seed * 3);
    int64_t bytes = allocate(lives);
    EXPECT_GE(bytes, getLargestLiveBytes(lives));
    for (const Lifetime &l : lives) {
      EXPECT_GE(l.offset, 0);
      EXPECT_LE(l.offset + l.bytes, bytes);
      EXPECT_EQ(l.offset % 64, 0);
    }
    EXPECT_FALSE(hasOverlap(lives)) << seed;
    EXPECT_FALSE(findOverlap(lives)) << seed;
  }
}

TEST(Allocator, FindsPlantedOverlaps) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    auto lives = randomLifetimes(seed, 40, 60);
    allocate(lives);
    lives[seed % 40].offset = lives[(seed * 7 + 1) % 40].offset;
    EXPECT_EQ(bool(findOverlap(lives)), hasOverlap(lives)) << seed;
  }
}

TEST(Allocator, StepsComeWithinFivePercent) {
  for (int layers : {1, 2, 12, 24, 96}) {
    auto lives = stepLifetimes(layers);
    int64_t bytes = allocate(lives), least = getLargestLiveBytes(lives);
    EXPECT_LE(bytes, least + least / 20) << layers;
    EXPECT_FALSE(findOverlap(lives));
  }
}

TEST(Allocator, ManyBuffersTakeNoLongTime) {
  auto start = std::chrono::steady_clock::now();
  auto lives = stepLifetimes(20000);
  int64_t bytes = allocate(lives), least = getLargestLiveBytes(lives);
  EXPECT_LE(bytes, least + least / 20);
  EXPECT_FALSE(findOverlap(lives));
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  EXPECT_LT(seconds.count(), 20);
}
