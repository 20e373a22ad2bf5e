//===- BalanceStages.cpp - Where to cut a list of ops ---------------------===//
//
// A stage that ends before op i may begin at op j if it fits the memory; the
// least such j grows with i, as does the time of the first i ops in s stages.
// So both recurrences below walk once over the ops for each stage:
//   time:  f[s][i] = min over j of max(f[s-1][j], cost of [j, i))
//   bytes: g[s][i] = min over j of g[s-1][j] + crossing[j], for those j whose
//          stage [j, i) is no slower than the best time allows.
//
//===----------------------------------------------------------------------===//

#include "BalanceStages.h"
#include <cmath>
#include <deque>
#include <limits>

using namespace dtc;

static constexpr double infinity = std::numeric_limits<double>::infinity();

static double inFlight(const StageProblem &p, int64_t stage) {
  return static_cast<double>(std::min(p.stages - stage, p.microbatches));
}

double StageProblem::getMemory(size_t begin, size_t end, int64_t stage) const {
  std::vector<bool> has(parameterBytes.size());
  double bytes = 0;
  for (size_t i = begin; i < end; ++i) {
    bytes += ops[i].kept * inFlight(*this, stage);
    for (unsigned p : ops[i].parameters)
      if (!has[p]) {
        has[p] = true;
        bytes += parameterBytes[p];
      }
  }
  return bytes;
}

namespace {

/// [i]: the least op at which a stage that ends before op i may begin.
using Starts = std::vector<size_t>;

} // namespace

static Starts getMemoryStarts(const StageProblem &p, int64_t stage) {
  size_t n = p.ops.size();
  Starts starts(n + 1, 0);
  if (!p.memory)
    return starts;
  std::vector<unsigned> uses(p.parameterBytes.size());
  // Kept bytes and parameters' are counted apart: whole numbers in doubles.
  double bytes = 0;
  size_t j = 0;
  for (size_t i = 0; i < n; ++i) {
    bytes += p.ops[i].kept * inFlight(p, stage);
    for (unsigned q : p.ops[i].parameters)
      if (uses[q]++ == 0)
        bytes += p.parameterBytes[q];
    for (; j <= i && bytes > *p.memory; ++j) {
      bytes -= p.ops[j].kept * inFlight(p, stage);
      for (unsigned q : p.ops[j].parameters)
        if (--uses[q] == 0)
          bytes -= p.parameterBytes[q];
    }
    starts[i + 1] = j;
  }
  return starts;
}

/// The time of the slowest stage in the best cut; infinity where none fits.
static double getBestTime(const StageProblem &p, llvm::ArrayRef<double> sums,
                          llvm::ArrayRef<Starts> starts) {
  size_t n = p.ops.size();
  std::vector<double> before(n + 1, infinity), now;
  before[0] = 0;
  for (int64_t s = 0; s < p.stages; ++s) {
    now.assign(n + 1, infinity);
    size_t j = 0;
    for (size_t i = s + 1; i <= n; ++i) {
      size_t low = std::max<size_t>(starts[s][i], s);
      // The two terms cross at j: one falls, one grows.
      j = std::max(j, low);
      while (j + 1 < i && before[j] < sums[i] - sums[j])
        ++j;
      for (size_t k : {j, j == 0 ? j : j - 1})
        if (k >= low && k < i)
          now[i] = std::min(now[i], std::max(before[k], sums[i] - sums[k]));
    }
    before = now;
  }
  return before[n];
}

std::optional<std::vector<size_t>> dtc::balanceStages(const StageProblem &p) {
  size_t n = p.ops.size();
  std::vector<double> sums(n + 1, 0);
  for (size_t i = 0; i < n; ++i)
    sums[i + 1] = sums[i] + p.ops[i].cost;
  std::vector<Starts> starts;
  for (int64_t s = 0; s < p.stages; ++s)
    starts.push_back(getMemoryStarts(p, s));
  double best = getBestTime(p, sums, starts);
  if (best == infinity)
    return std::nullopt;

  double limit = best * 1.01;
  std::vector<double> before(n + 1, infinity), now;
  before[0] = 0;
  std::vector<std::vector<size_t>> from(p.stages, std::vector<size_t>(n + 1));
  for (int64_t s = 0; s < p.stages; ++s) {
    now.assign(n + 1, infinity);
    // Candidates for j, each better than all later ones before it was passed.
    std::deque<size_t> window;
    auto value = [&](size_t j) { return before[j] + p.crossing[j]; };
    size_t slow = 0;
    for (size_t i = 1; i <= n; ++i) {
      while (!window.empty() && value(window.back()) > value(i - 1))
        window.pop_back();
      window.push_back(i - 1);
      while (slow < i && sums[i] - sums[slow] > limit)
        ++slow;
      size_t low = std::max(starts[s][i], slow);
      while (!window.empty() && window.front() < low)
        window.pop_front();
      if (window.empty())
        continue;
      now[i] = value(window.front());
      from[s][i] = window.front();
    }
    before = now;
  }
  std::vector<size_t> cuts = {n};
  for (int64_t s = p.stages; s-- > 0;)
    cuts.push_back(from[s][cuts.back()]);
  std::reverse(cuts.begin(), cuts.end());
  return cuts;
}

double dtc::getSmallestMemory(const StageProblem &problem) {
  StageProblem p = problem;
  std::vector<double> sums(p.ops.size() + 1, 0);
  auto fits = [&](double memory) {
    p.memory = memory;
    std::vector<Starts> starts;
    for (int64_t s = 0; s < p.stages; ++s)
      starts.push_back(getMemoryStarts(p, s));
    return getBestTime(p, sums, starts) != infinity;
  };
  double low = 0, high = p.getMemory(0, p.ops.size(), 0);
  while (high - low > 1) {
    double middle = std::floor((low + high) / 2);
    (fits(middle) ? high : low) = middle;
  }
  return high;
}
