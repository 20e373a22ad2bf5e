//===- MessagesTest.cpp - Messages over threads ---------------------------===//

#include "MessageCases.h"
#include "dtc/Runtime/Fifo.h"
#include "dtc/Runtime/ThreadTransport.h"

#include <gtest/gtest.h>
#include <thread>

using namespace dtc;

namespace {

void onRanks(rt::ThreadWorld &world, void (*work)(dtc_rank &)) {
  std::vector<std::thread> threads;
  for (int64_t i = 0; i < world.size(); ++i)
    threads.emplace_back([&, i] { work(world.rank(i)); });
  for (std::thread &thread : threads)
    thread.join();
}

class Messages : public testing::TestWithParam<int> {};

TEST_P(Messages, ArriveInOrder) {
  rt::ThreadWorld world(GetParam(), 0, {60, false});
  onRanks(world,
          [](dtc_rank &rank) { EXPECT_EQ(test::runMessages(rank), ""); });
}

INSTANTIATE_TEST_SUITE_P(Ranks, Messages, testing::Values(2, 3, 4, 8));

TEST(Messages, PassThroughEightRanksOnFewCores) {
  rt::ThreadWorld world(8, 0, {60, false});
  double began = rt::now();
  onRanks(world, [](dtc_rank &rank) {
    // A token goes 300 times through all ranks.
    int next = int(rank.id + 1) % 8, previous = int(rank.id + 7) % 8;
    test::Exchange token(rank, 0, 8, 1);
    for (int i = 0; i < 300; ++i) {
      token.post(previous);
      if (rank.id == 0)
        token.send(next);
      token.receive(previous);
      if (rank.id != 0)
        token.send(next);
      token.sent(next);
    }
    EXPECT_EQ(token.error, "");
  });
  EXPECT_LT((rt::now() - began) / 2400, 0.005) << "seconds a message";
}

TEST(Messages, FifoKeepsOrderWhileItGrows) {
  rt::Fifo<int> fifo(2, 1);
  int pushed = 0, popped = 0;
  auto push = [&] {
    int *entry = fifo.push();
    entry[0] = pushed;
    entry[1] = -pushed++;
  };
  for (int most : {1, 2, 3, 7, 40}) {
    for (int i = 0; i < most; ++i)
      push();
    EXPECT_EQ(fifo.at(uint64_t(pushed - 1))[1], 1 - pushed);
    for (int i = 0; i + 1 < most; ++i) {
      EXPECT_EQ(fifo.front()[0], popped);
      EXPECT_EQ(fifo.front()[1], -popped++);
      fifo.pop();
    }
  }
  EXPECT_EQ(fifo.size(), 5u);
}

TEST(Actions, ArePartOfTheRanksPlace) {
  rt::ThreadWorld world(4, 0, {60, false});
  dtc_rank &rank = world.rank(3);
  EXPECT_EQ(rt::whereText(rank), "rank 3, before the first step");
  rank.step = 7;
  EXPECT_EQ(rt::whereText(rank), "rank 3, step 7");
  dtc_rt_begin(&rank, "forward", 2, 1);
  EXPECT_EQ(rt::whereText(rank),
            "rank 3, step 7, forward of micro-batch 2 on stage 1");
  dtc_rt_end(&rank);
  dtc_rt_begin(&rank, "update", -1, -1);
  EXPECT_EQ(rt::whereText(rank), "rank 3, step 7, update");
  dtc_rt_end(&rank);
  EXPECT_EQ(rt::whereText(rank), "rank 3, step 7");
}

TEST(Traces, KeepWholeSteps) {
  auto add = [](rt::Trace &trace, int64_t step, int n) {
    for (int i = 0; i < n; ++i)
      trace.add({"x", "action", 0, 1, step, 0, 0, rt::TraceLane::Compute});
  };
  rt::Trace trace(10);
  add(trace, -1, 3); // before the first step
  add(trace, 0, 4);
  add(trace, 1, 6);
  EXPECT_EQ(trace.size(), 10);
  EXPECT_EQ(trace.firstIncompleteStep(), -1);
  add(trace, 1, 1);
  EXPECT_EQ(trace.size(), 4);
  EXPECT_EQ(trace.firstIncompleteStep(), 1);
  add(trace, 2, 1); // later steps would leave a hole
  EXPECT_EQ(trace.size(), 4);
  rt::Trace tiny(3);
  add(tiny, 0, 5);
  EXPECT_EQ(tiny.size(), 3);
  EXPECT_EQ(tiny.firstIncompleteStep(), 0);
}

/// Misuse ends the process with a message.
class MessagesDeathTest : public testing::Test {
protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  rt::ThreadWorld world{2, 0, {60, false}};
  dtc_rank &rank = world.rank(0);
  dtc_channel channel = {"x", 3, 0, {1, 2}, 1, 16};
  char buffer[16] = {};
};

TEST_F(MessagesDeathTest, WaitForNothing) {
  dtc_rt_open(&rank, &channel, true);
  EXPECT_DEATH(dtc_rt_receive(&rank, &channel),
               "waits for 'x' \\(16 bytes from rank 1\\), of which nothing is "
               "posted");
  dtc_rt_open(&rank, &channel, false);
  EXPECT_DEATH(dtc_rt_sent(&rank, &channel), "nothing is sent");
}

TEST_F(MessagesDeathTest, EndsAreOpenedOnce) {
  EXPECT_DEATH(dtc_rt_post(&rank, &channel, buffer),
               "rank 0, before the first step: channel 3 is not open to "
               "receive");
  EXPECT_DEATH(dtc_rt_send(&rank, &channel, buffer), "is not open to send");
  dtc_rt_open(&rank, &channel, false);
  EXPECT_DEATH(dtc_rt_open(&rank, &channel, false),
               "channel 3 is opened twice");
}

TEST_F(MessagesDeathTest, BadChannels) {
  for (dtc_channel bad : {dtc_channel{"x", 3, 0, {1, 2}, 2, 16},
                          dtc_channel{"x", 3, 0, {1, 2}, 0, 16},
                          dtc_channel{"x", 3, 0, {1, 3}, 1, 16},
                          dtc_channel{"x", 3, 0, {1, 2}, 1, -1},
                          dtc_channel{"x", -1, 0, {1, 2}, 1, 16}})
    EXPECT_DEATH(dtc_rt_open(&rank, &bad, false),
                 "internal error: rank 0 of 2: channel ");
  dtc_rt_open(&rank, &channel, false);
  dtc_rt_send(&rank, &channel, buffer);
  channel.bytes = 8;
  EXPECT_DEATH(dtc_rt_send(&rank, &channel, buffer), "has 8 bytes now");
}

TEST_F(MessagesDeathTest, SizesOfTheEndsDiffer) {
  dtc_rt_open(&rank, &channel, false);
  EXPECT_DEATH(rt::confirmChannels(rank),
               "rank 0 and rank 1 disagree about channel 3: rank 0 has 'x' "
               "\\(16 bytes to rank 1\\), rank 1 has none");
  dtc_channel other = {"y", 3, 0, {1, 2}, 0, 8};
  dtc_rt_open(&world.rank(1), &other, true);
  EXPECT_DEATH(
      rt::confirmChannels(world.rank(1)),
      "rank 1 and rank 0 disagree about channel 3: rank 1 has 'y' \\(8 "
      "bytes from rank 0\\), rank 0 has 'x' \\(16 bytes to rank 1\\)");
}

TEST_F(MessagesDeathTest, ActionsDoNotNest) {
  EXPECT_DEATH(dtc_rt_end(&rank), "no action to end");
  dtc_rt_begin(&rank, "forward", 0, 0);
  EXPECT_DEATH(dtc_rt_begin(&rank, "backward", 0, 0),
               "'backward' begins before the end of 'forward'");
}

} // namespace
