//===- SimulateTest.cpp - Schedules in time, against published figures ----===//

#include "dtc/Schedule/Simulate.h"
#include "Cases.h"
#include "dtc/Schedule/Slots.h"
#include <cmath>
#include <map>

using namespace dtc::schedule;

namespace {

/// Every stage takes the same time: F forward, B and W for the halves of the
/// backward, all for a rank's share of the model.
Simulation run(const Schedule &schedule, double F = 1, double B = 0.5,
               double W = 0.5, double communication = 0) {
  return get(simulate(
      schedule, Times::uniform(schedule.placement, F, B, W, communication)));
}

double round4(double x) { return std::round(x * 1e4) / 1e4; }

/// Zero Bubble Pipeline Parallelism (arXiv 2401.10241), tables 4, 5 and 9: on 8
/// stages, measured milliseconds of forward, input backward, weight backward
/// and message for one micro-batch, and the bubble rates of three schedules.
struct Published {
  const char *model;
  int64_t microBatches, virtualStages;
  double F, B, W, communication;
  double oneF1B, interleaved, zeroBubbleH1;
};
const Published zeroBubbleTable[] = {
    {"1.5B", 24, 3, 18.522, 18.086, 9.337, 0.601, .2431, .1055, .1585},
    {"1.5B", 32, 3, 18.513, 18.086, 9.331, 0.626, .1985, .0818, .1242},
    {"1.5B", 64, 3, 18.546, 18.097, 9.321, 0.762, .1240, .0443, .0674},
    {"6.2B", 24, 4, 29.718, 29.444, 19.927, 0.527, .2347, .0808, .1323},
    {"6.2B", 32, 4, 29.802, 29.428, 19.530, 0.577, .1898, .0628, .1045},
    {"6.2B", 64, 4, 29.935, 29.621, 19.388, 0.535, .1091, .0320, .0554},
};

} // namespace

/// A forward and a whole backward take one slot each.
TEST(Simulate, TextbookFigures) {
  Simulation s = run(make(Kind::OneF1B, 4, 8));
  EXPECT_EQ(s.makespan, 22);
  EXPECT_EQ(round4(s.bubble), 0.2727);
  for (int64_t P : {1, 2, 3, 4, 8, 16})
    for (int64_t M : {1, 2, 3, 5, 8, 64})
      for (Kind kind : {Kind::GPipe, Kind::OneF1B}) {
        s = run(make(kind, P, M));
        EXPECT_EQ(s.makespan, 2 * (M + P - 1));
        EXPECT_EQ(s.cost, s.makespan);
        EXPECT_NEAR(s.bubble, (P - 1.0) / (M + P - 1), 1e-12);
      }
}

TEST(Simulate, InterleavedBubbleIsSmallerByTheChunks) {
  for (int64_t P : {2, 4, 8})
    for (int64_t V : {1, 2, 3, 4})
      for (int64_t M : {P, 2 * P, 8 * P}) {
        Simulation s = run(make(Kind::Interleaved, P, M, V));
        EXPECT_NEAR(s.bubbleOverIdeal, (P - 1.0) / (V * M), 1e-12);
      }
}

/// Qi et al. 2023, table 1: (P - 1)(F + B - W) for H1; and Qi et al. 2024: a V
/// has no bubble if all three times are equal, for rank r starts r half
/// forwards late and ends as much later.
TEST(Simulate, ZeroBubbleFormulas) {
  for (int64_t P : {2, 4, 8})
    for (int64_t M : {2 * P, 3 * P, 8 * P}) {
      Simulation s = run(make(Kind::ZeroBubbleH1, P, M), 1, 1, 1);
      EXPECT_NEAR(s.makespan - 3.0 * M, P - 1, 1e-9);
      s = run(make(Kind::ZeroBubbleH1, P, M), 4, 3, 2);
      EXPECT_NEAR(s.makespan - 9.0 * M, (P - 1) * 5, 1e-9);
      s = run(make(Kind::ZeroBubbleV, P, M), 1, 1, 1);
      EXPECT_NEAR(s.makespan - 3.0 * M, (P - 1) / 2.0, 1e-9);
      EXPECT_NEAR(s.bubble, 0, 1e-12);
    }
}

TEST(Simulate, PublishedBubbleRates) {
  for (const Published &row : zeroBubbleTable) {
    SCOPED_TRACE(std::string(row.model) + " with " +
                 std::to_string(row.microBatches));
    auto getBubble = [&](Kind kind, int64_t V) {
      return run(make(kind, 8, row.microBatches, V), row.F, row.B, row.W,
                 row.communication)
          .bubble;
    };
    EXPECT_EQ(round4(getBubble(Kind::OneF1B, 0)), row.oneF1B);
    EXPECT_EQ(round4(getBubble(Kind::ZeroBubbleH1, 0)), row.zeroBubbleH1);
    EXPECT_NEAR(getBubble(Kind::Interleaved, row.virtualStages),
                row.interleaved, 0.005);
  }
}

namespace {

/// The end of each computation, by the definition alone: it starts when its
/// rank is free and the stage before (for a backward, after) has ended, and the
/// message from there has come.
class Reference {
public:
  Reference(const Schedule &schedule, const Times &times)
      : schedule(schedule), times(times) {
    for (int64_t r = 0; r < schedule.placement.ranks; ++r) {
      const Action *before = nullptr;
      for (const Action &a : schedule.ranks[r]) {
        if (!isCompute(a.kind))
          continue;
        if (before)
          previous[key(r, a)] = {r, *before};
        before = &a;
      }
    }
  }

  double getEnd(int64_t rank, const Action &a) {
    auto it = memo.find(key(rank, a));
    if (it != memo.end())
      return it->second;
    int64_t stage = schedule.getStage(rank, a);
    double start = 0;
    auto before = previous.find(key(rank, a));
    if (before != previous.end())
      start = getEnd(before->second.first, before->second.second);
    bool forward = a.kind == ActionKind::Forward;
    int64_t from = forward ? stage - 1 : stage + 1;
    if ((forward || isBackward(a.kind)) && from >= 0 &&
        from < schedule.getStages()) {
      int64_t other = schedule.placement.getRank(from);
      Action producer = a;
      producer.chunk = schedule.placement.getChunk(from);
      start = std::max(start, getEnd(other, producer) +
                                  (other == rank ? 0 : times.communication));
    }
    double B = times.inputBackward[stage], W = times.weightBackward[stage];
    double length = forward                               ? times.forward[stage]
                    : a.kind == ActionKind::InputBackward ? B
                    : a.kind == ActionKind::WeightBackward ? W
                                                           : B + W;
    return memo[key(rank, a)] = start + length;
  }

private:
  using Key = std::tuple<int64_t, ActionKind, int64_t, int64_t>;
  static Key key(int64_t rank, const Action &a) {
    return {rank, a.kind, a.microBatch, a.chunk};
  }

  const Schedule &schedule;
  const Times &times;
  std::map<Key, double> memo;
  std::map<Key, std::pair<int64_t, Action>> previous;
};

} // namespace

TEST(Simulate, EveryEventIsWhereTheDefinitionPutsIt) {
  forEachSchedule(5, 10, [](const Schedule &schedule) {
    for (double communication : {0.0, 0.3}) {
      Times times =
          Times::uniform(schedule.placement, 1.7, 1.1, 0.6, communication);
      Simulation s = get(simulate(schedule, times));
      Reference reference(schedule, times);
      for (int64_t r = 0; r < schedule.placement.ranks; ++r)
        for (const Event &e : s.ranks[r])
          if (isCompute(e.action.kind)) {
            EXPECT_NEAR(e.end, reference.getEnd(r, e.action), 1e-9)
                << toString(schedule, e.action) << " on rank " << r;
          }
    }
  });
}

/// A slow stage, messages that come late, and ends that take time.
TEST(Simulate, UnevenTimes) {
  Schedule schedule = make(Kind::OneF1B, 2, 2);
  Times times;
  times.forward = {1, 3};
  times.inputBackward = {1, 4};
  times.weightBackward = {1, 2};
  times.communication = 0.5;
  times.reduce = 10;
  times.update = 0.25;
  Simulation s = get(simulate(schedule, times));
  // Rank 1: F0 from 1.5 to 4.5, B0 to 10.5, F1 to 13.5, B1 to 19.5, then ends.
  EXPECT_EQ(s.ranks[1].front().start, 1.5);
  EXPECT_EQ(s.ranks[1].back().end, 19.5 + 10.25);
  // Rank 0: B0 from 11, B1 from 20 to 22.
  EXPECT_EQ(s.ranks[0][2].start, 11);
  EXPECT_EQ(s.makespan, 22 + 10.25);
  EXPECT_EQ(s.cost, 22 + 10.25);
  EXPECT_EQ(s.busy, (std::vector<double>{6 + 10.25, 18 + 10.25}));
  EXPECT_NEAR(s.bubble, 1 - 22.25 / 32.25, 1e-12);
  ASSERT_EQ(s.transfers.size(), 4u);
  EXPECT_EQ(s.transfers[0].start, 1);
  EXPECT_EQ(s.transfers[0].end, 1.5);
}

/// A receive that is posted late delays its message.
TEST(Simulate, MessagesComeAfterTheyArePosted) {
  Times times;
  times.forward = {1, 1};
  times.inputBackward = {1, 1};
  times.weightBackward = {1, 1};
  times.communication = 5;
  auto getMakespan = [&](int64_t postAhead) {
    Schedule schedule = make(Kind::OneF1B, 2, 2, 0, {}, postAhead);
    return get(simulate(schedule, times)).makespan;
  };
  // Rank 1: F0 from 6 to 7, B0 to 9, F1 to 10, B1 to 12; rank 0: B1 from 17.
  EXPECT_EQ(getMakespan(1), 19);
  // The second forward's message leaves at 9: F1 from 14, B1 to 17.
  EXPECT_EQ(getMakespan(0), 24);
}

TEST(Simulate, MemoryOverTime) {
  Schedule schedule = make(Kind::ZeroBubbleH1, 2, 2);
  // rank 0: F0 F1 I0 W0 I1 W1; rank 1: F0 I0 F1 I1 W0 W1.
  Bytes bytes{{100, 100}, {10, 10}, {1, 1}};
  Times times = Times::uniform(schedule.placement, 1, 1, 1);
  Simulation s = get(simulate(schedule, times, bytes));
  using Steps = std::vector<std::pair<double, int64_t>>;
  EXPECT_EQ(
      s.memory[0],
      (Steps{
          {0, 110}, {1, 220}, {3, 221}, {4, 121}, {5, 111}, {6, 11}, {7, 0}}));
  EXPECT_EQ(
      s.memory[1],
      (Steps{
          {1, 110}, {2, 111}, {3, 121}, {4, 122}, {5, 22}, {6, 11}, {7, 0}}));
  EXPECT_EQ(s.peakBytes, (std::vector<int64_t>{221, 122}));

  // 1f1b keeps as many micro-batches as there are ranks from there on.
  schedule = make(Kind::OneF1B, 4, 32);
  s = get(simulate(schedule, Times::uniform(schedule.placement, 1, 1, 1),
                   {{100, 100, 100, 100}, {10, 10, 10, 10}, {}}));
  EXPECT_EQ(s.peakBytes, (std::vector<int64_t>{440, 330, 220, 110}));
}

TEST(Simulate, Refusals) {
  Schedule schedule = make(Kind::OneF1B, 2, 2);
  Times times = Times::uniform(schedule.placement, 1, 1, 1);
  Times broken = times;
  broken.forward.pop_back();
  EXPECT_EQ(message(simulate(schedule, broken)),
            "1 numbers for the forward times of 2 stages");
  broken = times;
  broken.weightBackward[1] = -1;
  EXPECT_EQ(message(simulate(schedule, broken)),
            "the weight backward times of stage 1 must be a number, at least "
            "0");
  broken = times;
  broken.communication = INFINITY;
  EXPECT_EQ(message(simulate(schedule, broken)),
            "the times of messages, reduction and update must be numbers, at "
            "least 0");
  EXPECT_EQ(message(simulate(schedule, times, {{1, 2, 3}, {}, {}})),
            "3 numbers for the saved bytes of 2 stages");
  EXPECT_EQ(message(simulate(schedule, times, {{}, {1, INT64_MAX}, {}})),
            "the kept bytes of a stage can be 576460752303423487 at most");
  schedule.ranks[1].pop_back();
  EXPECT_EQ(message(simulate(schedule, times)),
            "rank 1: U (update) is missing");
}
