//===- BalanceStagesTest.cpp - Cuts against all cuts ----------------------===//

#include "BalanceStages.h"
#include <chrono>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace dtc;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Calls fn for every cut of n ops in `stages` stages.
template <typename Fn>
void forEachCut(size_t n, int64_t stages, std::vector<size_t> &cuts, Fn fn) {
  if (static_cast<int64_t>(cuts.size()) == stages) {
    cuts.push_back(n);
    fn(cuts);
    cuts.pop_back();
    return;
  }
  for (size_t next = cuts.back() + 1; next < n; ++next) {
    cuts.push_back(next);
    forEachCut(n, stages, cuts, fn);
    cuts.pop_back();
  }
}

struct Value {
  double time = 0, crossing = 0, memory = 0;
};

Value evaluate(const StageProblem &p, const std::vector<size_t> &cuts) {
  Value v;
  for (int64_t s = 0; s < p.stages; ++s) {
    double time = 0;
    for (size_t i = cuts[s]; i < cuts[s + 1]; ++i)
      time += p.ops[i].cost;
    v.time = std::max(v.time, time);
    v.memory = std::max(v.memory, p.getMemory(cuts[s], cuts[s + 1], s));
    if (s > 0)
      v.crossing += p.crossing[cuts[s]];
  }
  return v;
}

StageProblem randomProblem(unsigned seed) {
  std::mt19937_64 random(seed);
  auto below = [&](uint64_t n) { return static_cast<int64_t>(random() % n); };
  StageProblem p;
  size_t n = 2 + below(8);
  p.stages = 1 + below(std::min<size_t>(n, 5));
  p.microbatches = 1 + below(4);
  for (int64_t i = 0; i < 1 + below(6); ++i)
    p.parameterBytes.push_back(static_cast<double>(16 * below(20)));
  p.crossing.assign(n + 1, 0);
  for (size_t i = 0; i < n; ++i) {
    StageProblem::Op op;
    op.cost = static_cast<double>(below(4) * below(10));
    op.kept = static_cast<double>(below(50));
    for (int64_t k = below(3); k > 0; --k)
      op.parameters.push_back(below(p.parameterBytes.size()));
    p.ops.push_back(op);
    if (i > 0)
      p.crossing[i] = static_cast<double>(1 + below(5));
  }
  return p;
}

TEST(BalanceStages, EqualsTheBestOfAllCuts) {
  int feasible = 0, impossible = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    StageProblem p = randomProblem(seed);
    size_t n = p.ops.size();
    std::vector<size_t> cuts = {0};
    double leastMemory = infinity;
    forEachCut(n, p.stages, cuts, [&](const std::vector<size_t> &c) {
      leastMemory = std::min(leastMemory, evaluate(p, c).memory);
    });
    EXPECT_EQ(getSmallestMemory(p), std::max(leastMemory, 1.0)) << seed;
    if (seed % 3 != 0)
      p.memory = std::floor(leastMemory * (seed % 3 == 1 ? 1.2 : 0.99));

    double best = infinity, crossing = infinity;
    auto fits = [&](const Value &v) {
      return !p.memory || v.memory <= *p.memory;
    };
    forEachCut(n, p.stages, cuts, [&](const std::vector<size_t> &c) {
      if (Value v = evaluate(p, c); fits(v))
        best = std::min(best, v.time);
    });
    forEachCut(n, p.stages, cuts, [&](const std::vector<size_t> &c) {
      if (Value v = evaluate(p, c); fits(v) && v.time <= best * 1.01)
        crossing = std::min(crossing, v.crossing);
    });
    auto got = balanceStages(p);
    ASSERT_EQ(got.has_value(), best != infinity) << seed;
    if (!got) {
      ++impossible;
      continue;
    }
    ++feasible;
    ASSERT_EQ(static_cast<int64_t>(got->size()), p.stages + 1);
    for (int64_t s = 0; s < p.stages; ++s)
      ASSERT_LT((*got)[s], (*got)[s + 1]) << seed;
    Value v = evaluate(p, *got);
    EXPECT_TRUE(fits(v)) << seed;
    EXPECT_LE(v.time, best * 1.01) << seed;
    EXPECT_EQ(v.crossing, crossing) << seed;
  }
  EXPECT_GT(feasible, 1000);
  EXPECT_GT(impossible, 300);
}

/// The work is linear in ops times stages.
TEST(BalanceStages, ManyOpsAndStages) {
  StageProblem p;
  p.stages = 256;
  p.microbatches = 1024;
  size_t n = 20000;
  p.ops.resize(n);
  p.crossing.assign(n + 1, 1);
  p.parameterBytes.assign(n, 16);
  for (size_t i = 0; i < n; ++i) {
    p.ops[i].cost = static_cast<double>(1 + i % 7);
    p.ops[i].parameters.push_back(i);
  }
  auto start = std::chrono::steady_clock::now();
  auto cuts = balanceStages(p);
  double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  ASSERT_TRUE(cuts);
  double total = 0, slowest = 0;
  for (size_t i = 0; i < n; ++i)
    total += p.ops[i].cost;
  for (int64_t s = 0; s < p.stages; ++s) {
    double time = 0;
    for (size_t i = (*cuts)[s]; i < (*cuts)[s + 1]; ++i)
      time += p.ops[i].cost;
    slowest = std::max(slowest, time);
  }
  EXPECT_LT(slowest, 1.03 * total / static_cast<double>(p.stages));
  // 10 million steps; quadratic work would take minutes.
  EXPECT_LT(seconds, 20);
}

} // namespace
