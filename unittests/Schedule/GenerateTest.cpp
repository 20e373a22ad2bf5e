//===- GenerateTest.cpp - The usual schedules, with their messages --------===//

#include "Cases.h"
#include "dtc/Schedule/Communicate.h"
#include "dtc/Schedule/Slots.h"
#include "dtc/Schedule/Verify.h"

using namespace dtc::schedule;

namespace {

VerifyOptions blocking() {
  VerifyOptions options;
  options.sends = VerifyOptions::Blocking;
  return options;
}

/// The rank lines of a schedule's text.
std::string getLists(const Schedule &schedule) {
  std::string text = toString(schedule);
  return text.substr(text.find("rank 0:"));
}

} // namespace

TEST(Generate, EveryScheduleVerifies) {
  forEachSchedule(6, 20, [](const Schedule &schedule) {
    EXPECT_EQ(message(verify(schedule)), "");
    // Receives are posted so early that not even blocking sends stand.
    EXPECT_EQ(message(verify(schedule, blocking())), "");
  });
}

TEST(Generate, EveryScheduleVerifiesOnSkippingEdges) {
  for (Kind kind : allKinds)
    for (int64_t P : {2, 3, 4, 5})
      for (int64_t M : {P, 2 * P, 5 * P})
        for (int64_t ahead : {0, 1, 3}) {
          Placement placement = get(getPlacement(kind, P));
          Schedule schedule =
              make(kind, P, M, 0, skippingGraph(placement.getStages()), ahead);
          EXPECT_EQ(message(verify(schedule)), "") << toString(schedule);
        }
}

TEST(Generate, Orders) {
  auto order = [](Kind kind, int64_t P, int64_t M) {
    return getLists(
        get(generateComputations(kind, get(getPlacement(kind, P)), M)));
  };
  EXPECT_EQ(order(Kind::GPipe, 2, 3), "rank 0: F0 F1 F2 B0 B1 B2 R U\n"
                                      "rank 1: F0 F1 F2 B0 B1 B2 R U\n");
  EXPECT_EQ(order(Kind::OneF1B, 3, 4), "rank 0: F0 F1 F2 B0 F3 B1 B2 B3 R U\n"
                                       "rank 1: F0 F1 B0 F2 B1 F3 B2 B3 R U\n"
                                       "rank 2: F0 B0 F1 B1 F2 B2 F3 B3 R U\n");
  EXPECT_EQ(order(Kind::OneF1B, 4, 2), "rank 0: F0 F1 B0 B1 R U\n"
                                       "rank 1: F0 F1 B0 B1 R U\n"
                                       "rank 2: F0 F1 B0 B1 R U\n"
                                       "rank 3: F0 B0 F1 B1 R U\n");
  EXPECT_EQ(order(Kind::Interleaved, 2, 4),
            "rank 0: F0.0 F1.0 F0.1 F1.1 F2.0 B0.1 F3.0 B1.1 F2.1 B0.0 F3.1 "
            "B1.0 B2.1 B3.1 B2.0 B3.0 R U\n"
            "rank 1: F0.0 F1.0 F0.1 B0.1 F1.1 B1.1 F2.0 B0.0 F3.0 B1.0 F2.1 "
            "B2.1 F3.1 B3.1 B2.0 B3.0 R U\n");
  EXPECT_EQ(order(Kind::ZeroBubbleH1, 2, 3),
            "rank 0: F0 F1 I0 W0 F2 I1 W1 I2 W2 R U\n"
            "rank 1: F0 I0 F1 I1 W0 F2 I2 W1 W2 R U\n");
  EXPECT_EQ(order(Kind::ZeroBubbleV, 2, 2),
            "rank 0: F0.0 F1.0 F0.1 I0.1 W0.1 F1.1 I1.1 W1.1 I0.0 W0.0 I1.0 "
            "W1.0 R U\n"
            "rank 1: F0.0 F0.1 F1.0 F1.1 I0.1 W0.1 I0.0 W0.0 I1.1 W1.1 I1.0 "
            "W1.0 R U\n");
}

TEST(Generate, PeaksFollowTheFormulas) {
  auto peaks = [](Kind kind, int64_t P, int64_t M) {
    return get(assignSlots(make(kind, P, M))).peaks;
  };
  for (int64_t P : {1, 2, 4, 7})
    for (int64_t M : {1, 2, 3, 8, 30})
      for (int64_t r = 0; r < P; ++r) {
        EXPECT_EQ(peaks(Kind::GPipe, P, M)[r].inFlight, M);
        EXPECT_EQ(peaks(Kind::OneF1B, P, M)[r].inFlight, std::min(P - r, M));
        EXPECT_EQ(peaks(Kind::ZeroBubbleH1, P, M)[r].kept, std::min(P, M));
        EXPECT_LE(peaks(Kind::ZeroBubbleV, P, M)[r].kept, 2 * P);
      }
}

TEST(Generate, Refusals) {
  EXPECT_EQ(message(generateComputations(
                Kind::Interleaved, get(getPlacement(Kind::Interleaved, 4)), 6)),
            "interleaved on pp=4 with 6 micro-batches; there may be 4, 8, 12 "
            "and other multiples of 4");
  EXPECT_EQ(message(getPlacement(Kind::OneF1B, 4, 2)),
            "schedule 1f1b has 1 stage on a rank, not 2; only interleaved "
            "takes other numbers");
  EXPECT_EQ(message(getPlacement(Kind::ZeroBubbleV, 4, 3)),
            "schedule zb-v has 2 stages on a rank, not 3; only interleaved "
            "takes other numbers");
  EXPECT_EQ(message(getPlacement(Kind::GPipe, 0)),
            "0 ranks with 1 stages each; both must be at least 1, and their "
            "product at most 16384");
  Placement loop{2, 2, Placement::Loop};
  EXPECT_EQ(message(generate(Kind::ZeroBubbleV, loop, 4)),
            "schedule zb-v needs 2 stages on a rank, placed as a V");
  Placement two{2, 1, Placement::Loop};
  EXPECT_EQ(message(generate(Kind::GPipe, two, 0)),
            "0 micro-batches; there may be 1 to 1048576");
  EXPECT_EQ(message(generate(Kind::GPipe, two, 4, {{{0, 2, true}}})),
            "edge 0>2 must lead from a stage to a later one; stages are 0 to "
            "1");
  EXPECT_EQ(message(generate(Kind::GPipe, two, 4, {}, -1)),
            "receives can't be posted -1 ahead; the number must be at least 0");
}

TEST(Communicate, PostsEarlyAndSendsAtOnce) {
  EXPECT_EQ(getLists(make(Kind::OneF1B, 2, 3)),
            "rank 0: post0:1>0 post1:1>0 F0 send0:0>1 F1 send1:0>1 wait0:1>0 "
            "B0 post2:1>0 F2 send2:0>1 wait1:1>0 B1 wait2:1>0 B2 R U\n"
            "rank 1: post0:0>1 post1:0>1 wait0:0>1 F0 post2:0>1 B0 send0:1>0 "
            "wait1:0>1 F1 B1 send1:1>0 wait2:0>1 F2 B2 send2:1>0 R U\n");
}

TEST(Communicate, PostsOnlyWhenWaiting) {
  Schedule schedule = make(Kind::OneF1B, 2, 2, 0, {}, /*postAhead=*/0);
  EXPECT_EQ(getLists(schedule),
            "rank 0: F0 send0:0>1 F1 send1:0>1 post0:1>0 wait0:1>0 B0 "
            "post1:1>0 wait1:1>0 B1 R U\n"
            "rank 1: post0:0>1 wait0:0>1 F0 B0 send0:1>0 post1:0>1 wait1:0>1 "
            "F1 B1 send1:1>0 R U\n");
  EXPECT_EQ(schedule.claims.posted, 1);
}

/// One end may use messages in another order than they are sent: they are
/// posted as they come.
TEST(Communicate, OrdersMayDiffer) {
  Schedule schedule;
  schedule.placement = {2, 1, Placement::Loop};
  schedule.graph = StageGraph::chain(2);
  schedule.microBatches = 2;
  auto F = [](int64_t m) { return Action::compute(ActionKind::Forward, m, 0); };
  auto B = [](int64_t m) {
    return Action::compute(ActionKind::Backward, m, 0);
  };
  schedule.ranks = {{F(0), F(1), B(1), B(0)}, {F(1), F(0), B(0), B(1)}};
  EXPECT_EQ(message(addCommunication(schedule, 0)), "");
  EXPECT_EQ(message(verify(schedule)), "");
  EXPECT_EQ(getLists(schedule),
            "rank 0: F0 send0:0>1 F1 send1:0>1 post0:1>0 post1:1>0 wait1:1>0 "
            "B1 wait0:1>0 B0 R U\n"
            "rank 1: post0:0>1 post1:0>1 wait1:0>1 F1 wait0:0>1 F0 B0 "
            "send0:1>0 B1 send1:1>0 R U\n");

  EXPECT_EQ(message(addCommunication(schedule)),
            "the schedule has messages already");
  schedule.ranks = {{F(0), F(1), B(1), B(0)}, {F(1), B(1)}};
  EXPECT_EQ(message(addCommunication(schedule)),
            "the backward of micro-batch 0 on stage 0 needs the backward of "
            "micro-batch 0 on stage 1, which rank 1 does not compute");
  schedule.ranks = {{F(0), F(1), F(1)}, {F(1), F(0)}};
  EXPECT_EQ(message(addCommunication(schedule)),
            "rank 0 computes the forward of micro-batch 1 on stage 0 twice");
  schedule.ranks = {{F(0), F(1)}, {F(1), F(1)}};
  EXPECT_EQ(message(addCommunication(schedule)),
            "rank 1 computes the forward of micro-batch 1 on stage 1 twice");
  schedule.ranks = {{F(0), F(1)}, {F(1)}};
  EXPECT_EQ(message(addCommunication(schedule)),
            "the forward of micro-batch 0 on stage 1 is missing on rank 1, but "
            "rank 0 computes the forward of micro-batch 0 on stage 0");
}

TEST(Placement, StagesOfRanks) {
  Placement loop{3, 2, Placement::Loop}, v{3, 2, Placement::V};
  std::vector<int64_t> loopRanks, vRanks;
  for (int64_t s = 0; s < 6; ++s) {
    loopRanks.push_back(loop.getRank(s));
    vRanks.push_back(v.getRank(s));
    for (const Placement &p : {loop, v})
      EXPECT_EQ(p.getStage(p.getRank(s), p.getChunk(s)), s);
  }
  EXPECT_EQ(loopRanks, (std::vector<int64_t>{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(vRanks, (std::vector<int64_t>{0, 1, 2, 2, 1, 0}));
}
