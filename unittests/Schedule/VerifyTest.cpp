//===- VerifyTest.cpp - What the verifier of schedules refuses ------------===//

#include "dtc/Schedule/Verify.h"
#include "Cases.h"
#include "dtc/Schedule/Communicate.h"
#include <ctime>

using namespace dtc::schedule;

namespace {

/// The error of a schedule in text; messages are added to one without.
std::string getError(llvm::StringRef text,
                     VerifyOptions::Sends sends = VerifyOptions::Asynchronous) {
  Schedule schedule = get(parse(text, "s"));
  if (hasOnlyComputations(schedule))
    if (llvm::Error error = addCommunication(schedule))
      return llvm::toString(std::move(error));
  VerifyOptions options;
  options.sends = sends;
  return message(verify(schedule, options));
}

/// Two ranks and two micro-batches, whose second list is given.
std::string getErrorOfRank1(llvm::StringRef list) {
  return getError(("rank 0: post0:1>0 post1:1>0 F0 send0:0>1 F1 send1:0>1 "
                   "wait0:1>0 B0 wait1:1>0 B1 R U\n"
                   "rank 1: " +
                   list)
                      .str());
}

} // namespace

TEST(Verify, AcceptsWhatIsRight) {
  EXPECT_EQ(getErrorOfRank1("post0:0>1 post1:0>1 wait0:0>1 F0 B0 send0:1>0 "
                            "wait1:0>1 F1 B1 send1:1>0 R U"),
            "");
  // Waits may stand early, sends late, and the backward be split on one rank.
  EXPECT_EQ(getErrorOfRank1("post0:0>1 post1:0>1 wait1:0>1 wait0:0>1 F1 F0 I0 "
                            "I1 send0:1>0 send1:1>0 W1 W0 R U"),
            "");
}

/// The blocking 1F1B of textbooks: in the middle, rank 0 sends an activation
/// while rank 1 sends a gradient, and neither receives.
TEST(Verify, RefusesTheTextbooksBlockingOneF1B) {
  llvm::StringRef textbook =
      "rank 0: F0 send0:0>1 F1 send1:0>1 post0:1>0 wait0:1>0 B0 F2 send2:0>1 "
      "post1:1>0 wait1:1>0 B1 post2:1>0 wait2:1>0 B2 R U\n"
      "rank 1: post0:0>1 wait0:0>1 F0 B0 send0:1>0 post1:0>1 wait1:0>1 F1 B1 "
      "send1:1>0 post2:0>1 wait2:0>1 F2 B2 send2:1>0 R U\n";
  EXPECT_EQ(getError(textbook, VerifyOptions::Blocking),
            "deadlock: rank 0 stands at position 4 (send1:0>1) until rank 1 "
            "comes to post1:0>1; rank 1 stands at position 5 (send0:1>0) until "
            "rank 0 comes to post0:1>0");
  // With sends that go on it is right.
  EXPECT_EQ(getError(textbook), "");
  for (int64_t P : {2, 4, 8})
    for (int64_t M : {P, 2 * P}) {
      VerifyOptions options;
      options.sends = VerifyOptions::Blocking;
      std::string error =
          message(verify(make(Kind::OneF1B, P, M, 0, {}, 0), options));
      EXPECT_EQ(error.substr(0, 9), "deadlock:");
      EXPECT_NE(error.find("send1:" + std::to_string(P - 2)),
                std::string::npos);
    }
}

/// Each rank waits for what the other sends later: a cycle with any sends.
TEST(Verify, RefusesCyclesOfWaits) {
  EXPECT_EQ(getError("rank 0: post0:1>0 post1:1>0 F0 send0:0>1 wait0:1>0 B0 F1 "
                     "send1:0>1 wait1:1>0 B1 R U\n"
                     "rank 1: post0:0>1 post1:0>1 wait0:0>1 wait1:0>1 F0 F1 B0 "
                     "send0:1>0 B1 send1:1>0 R U\n"),
            "deadlock: rank 0 stands at position 5 (wait0:1>0) until rank 1 "
            "comes to send0:1>0; rank 1 stands at position 4 (wait1:0>1) until "
            "rank 0 comes to send1:0>1");
}

/// A stage computes ahead only as far as it has buffers for what it sends: two
/// to the next stage.
TEST(Verify, RefusesMoreMessagesThanBuffers) {
  auto getText = [](llvm::StringRef rank0, llvm::StringRef rank1) {
    return ("rank 0: post0:1>0 post1:1>0 post2:1>0 " + rank0 +
            " wait1:1>0 B1 wait2:1>0 B2 R U\nrank 1: " + rank1 +
            " wait2:0>1 F2 B1 send1:1>0 B2 send2:1>0 R U\n")
        .str();
  };
  llvm::StringRef sender =
      "F0 send0:0>1 F1 send1:0>1 F2 send2:0>1 wait0:1>0 B0";
  llvm::StringRef receiver = "wait0:0>1 F0 wait1:0>1 F1 B0 send0:1>0";
  EXPECT_EQ(getError(getText(
                sender, ("post0:0>1 post1:0>1 post2:0>1 " + receiver).str())),
            "");
  EXPECT_EQ(
      getError(getText("F0 F1 F2 send0:0>1 send1:0>1 send2:0>1 "
                       "wait0:1>0 B0",
                       ("post0:0>1 post1:0>1 post2:0>1 " + receiver).str())),
      "rank 0, position 6 (F2): computed into the buffer of a message "
      "that is sent only at position 7 (send0:0>1); the channel has 2");

  // The first message leaves only when rank 1 posts it.
  auto getTwoEdges = [](llvm::StringRef rank1) {
    return ("edges: 0>1! 0>3!\n"
            "rank 0: F0.0 send0:0>1 send0:0>3 F1.0 send1:0>1 send1:0>3 F2.0 "
            "send2:0>1 send2:0>3 F0.1 F1.1 F2.1 B0.0 B1.0 B2.0 B0.1 B1.1 B2.1 "
            "R U\n"
            "rank 1: post0:0>3 post1:0>3 post2:0>3 " +
            rank1 +
            " post1:0>1 post2:0>1 wait0:0>1 wait1:0>1 wait2:0>1 wait0:0>3 "
            "wait1:0>3 F0.0 F1.0 F2.0 F0.1 F1.1 F2.1 B0.0 B1.0 B2.0 B0.1 B1.1 "
            "B2.1 R U\n")
        .str();
  };
  EXPECT_EQ(getError(getTwoEdges("post0:0>1 wait2:0>3")), "");
  EXPECT_EQ(getError(getTwoEdges("wait2:0>3 post0:0>1")),
            "deadlock: rank 0 stands at position 7 (F2.0) until rank 1 comes "
            "to post0:0>1; rank 1 stands at position 4 (wait2:0>3) until rank "
            "0 comes to send2:0>3");
}

TEST(Verify, RefusesWrongComputations) {
  EXPECT_EQ(getError("rank 0: F0 B0 F1"), "rank 0: B1 of stage 0 is missing");
  EXPECT_EQ(getError("micro-batches: 2\nrank 0: F0 B0"),
            "rank 0: F1 of stage 0 is missing");
  EXPECT_EQ(getError("rank 0: F0 F0 B0"),
            "rank 0, position 2 (F0): done already at position 1 (F0)");
  EXPECT_EQ(getError("rank 0: F0 B0 I0 W0"),
            "rank 0, position 3 (I0): done already at position 2 (B0)");
  EXPECT_EQ(getError("rank 0: B0 F0"),
            "rank 0, position 1 (B0): a backward before its forward at "
            "position 2 (F0): there are no saved values");
  EXPECT_EQ(getError("rank 0: F0 I0"), "rank 0: W0 of stage 0 is missing");
  EXPECT_EQ(getError("rank 0: F0 W0"), "rank 0: I0 of stage 0 is missing");
  EXPECT_EQ(getError("rank 0: F0 W0 I0"),
            "rank 0, position 2 (W0): a weight backward before its input "
            "backward at position 3 (I0)");
  EXPECT_EQ(getError("rank 0: F0 B0 W0"),
            "rank 0, position 3 (W0): the backward at position 2 (B0) is whole "
            "and leaves nothing to do");
  // Chunks of one rank hand over in memory.
  EXPECT_EQ(getError("rank 0: F0.1 F0.0 B0.1 B0.0"),
            "rank 0, position 1 (F0.1): needs what position 2 (F0.0) computes");
  EXPECT_EQ(getError("rank 0: F0.0 F0.1 I0.0 I0.1 W0.0 W0.1"),
            "rank 0, position 3 (I0.0): needs what position 4 (I0.1) "
            "computes");
}

TEST(Verify, RefusesWrongMessages) {
  EXPECT_EQ(getErrorOfRank1("post0:0>1 post1:0>1 wait0:0>1 F0 B0 wait1:0>1 F1 "
                            "B1 send1:1>0 R U"),
            "rank 1: send0:1>0 is missing");
  EXPECT_EQ(getErrorOfRank1("post0:0>1 wait0:0>1 F0 B0 send0:1>0 wait1:0>1 F1 "
                            "B1 send1:1>0 R U"),
            "rank 1: post1:0>1 is missing");
  EXPECT_EQ(getErrorOfRank1("post0:0>1 post1:0>1 wait0:0>1 F0 B0 send0:1>0 F1 "
                            "B1 send1:1>0 R U"),
            "rank 1: wait1:0>1 is missing");
  EXPECT_EQ(
      getErrorOfRank1("post0:0>1 post0:0>1 wait0:0>1 F0 B0 send0:1>0"),
      "rank 1, position 2 (post0:0>1): done already at position 1 (post0:0>1)");
  EXPECT_EQ(getErrorOfRank1("post0:0>1 post1:0>1 wait0:0>1 F0 send0:1>0 B0 "
                            "wait1:0>1 F1 B1 send1:1>0 R U"),
            "rank 1, position 5 (send0:1>0): sent before it is computed at "
            "position 6 (B0)");
  EXPECT_EQ(getErrorOfRank1("wait0:0>1 post0:0>1 post1:0>1 F0 B0 send0:1>0 "
                            "wait1:0>1 F1 B1 send1:1>0 R U"),
            "rank 1, position 1 (wait0:0>1): waited for before it is posted at "
            "position 2 (post0:0>1)");
  EXPECT_EQ(getErrorOfRank1("post0:0>1 post1:0>1 F0 wait0:0>1 B0 send0:1>0 "
                            "wait1:0>1 F1 B1 send1:1>0 R U"),
            "rank 1, position 3 (F0): needs the message that is waited for at "
            "position 4 (wait0:0>1)");
  EXPECT_EQ(getErrorOfRank1("post0:0>1 send0:0>1"),
            "rank 1, position 2 (send0:0>1): this message is sent by rank 0");
  EXPECT_EQ(getErrorOfRank1("post0:1>0"),
            "rank 1, position 1 (post0:1>0): this message is received by rank "
            "0");
  EXPECT_EQ(getErrorOfRank1("post1:0>1 post0:0>1 wait0:0>1 F0 B0 send0:1>0 "
                            "wait1:0>1 F1 B1 send1:1>0 R U"),
            "rank 1, position 1 (post1:0>1): receive 1 from stage 0 is posted "
            "for micro-batch 1, but rank 0 sends micro-batch 0 there, at "
            "position 4 (send0:0>1)");
}

TEST(Verify, RefusesWrongEnds) {
  EXPECT_EQ(getError("rank 0: F0 B0 U"), "rank 0: R (reduce) is missing");
  EXPECT_EQ(getError("rank 0: F0 B0 R"), "rank 0: U (update) is missing");
  EXPECT_EQ(getError("rank 0: F0 I0 R W0 U"),
            "rank 0, position 3 (R): weight gradients are not complete before "
            "position 4 (W0)");
  EXPECT_EQ(getError("rank 0: F0 B0 U R"),
            "rank 0, position 3 (U): an update before the reduction at "
            "position 4 (R)");
  EXPECT_EQ(getError("rank 0: F0 F1 B0 B1 R R U"),
            "rank 0, position 6 (R): done already at position 5 (R)");
  EXPECT_EQ(getError("rank 0: post0:1>0 F0 send0:0>1 wait0:1>0 B0 R U\n"
                     "rank 1: post0:0>1 wait0:0>1 F0 B0 R U send0:1>0"),
            "rank 1, position 6 (U): nothing may follow the update");
}

TEST(Verify, RefusesWrongClaims) {
  EXPECT_EQ(getError("in-flight: 2\nkept: 2\nrank 0: F0 F1 B0 B1"), "");
  EXPECT_EQ(getError("in-flight: 1\nrank 0: F0 F1 B0 B1"),
            "rank 0: 'in-flight' claims a peak of 1 micro-batches between "
            "forward and backward (or input backward); the list has 2");
  EXPECT_EQ(getError("in-flight: 2\nrank 0: F0 B0 F1 B1"),
            "rank 0: 'in-flight' claims a peak of 2 micro-batches between "
            "forward and backward (or input backward); the list has 1");
  EXPECT_EQ(getError("in-flight: 1\nkept: 1\nrank 0: F0 I0 F1 I1 W0 W1"),
            "rank 0: 'kept' claims a peak of 1 micro-batches between forward "
            "and backward (or weight backward); the list has 2");
  Schedule schedule = make(Kind::OneF1B, 2, 4);
  schedule.claims.posted = 1;
  EXPECT_EQ(message(verify(schedule)),
            "rank 0, position 2 (post1:1>0): the channel has 2 posted "
            "receives; 'posted' claims at most 1");
  schedule.claims.posted = 2;
  schedule.claims.kept = {2};
  EXPECT_EQ(message(verify(schedule)), "'kept' claims 1 numbers for 2 ranks");
}

TEST(Verify, RefusesIndicesOutOfRange) {
  Schedule schedule = make(Kind::OneF1B, 2, 4);
  auto with = [&](Action action) {
    Schedule broken = schedule;
    broken.ranks[1][0] = action;
    return message(verify(broken));
  };
  std::string where = "rank 1, position 1: ";
  EXPECT_EQ(with(Action::compute(ActionKind::Forward, 4, 0)),
            where + "micro-batch 4 does not exist; there are 0 to 3");
  EXPECT_EQ(with(Action::compute(ActionKind::Forward, -1, 0)),
            where + "micro-batch -1 does not exist; there are 0 to 3");
  EXPECT_EQ(with(Action::compute(ActionKind::Forward, 0, 1)),
            where + "chunk 1 does not exist; a rank has 0 to 0");
  EXPECT_EQ(
      with(Action::message(ActionKind::Post, Direction::Activation, 0, 1)),
      where + "edge number 1 does not exist; there are 1");
  Schedule broken = schedule;
  broken.ranks.pop_back();
  EXPECT_EQ(message(verify(broken)), "1 lists for 2 ranks");
  broken = schedule;
  broken.microBatches = int64_t(1) << 40;
  EXPECT_EQ(message(verify(broken)),
            "1099511627776 micro-batches; there may be 1 to 1048576");
}

/// 64 ranks and 1024 micro-batches take less than a second of processor time (a
/// tenth of it on usual machines), unless a sanitizer slows everything down.
TEST(Verify, IsFast) {
  for (Kind kind : allKinds) {
    std::clock_t start = std::clock();
    EXPECT_EQ(message(verify(make(kind, 64, 1024))), "");
    double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
#if defined(NDEBUG) && !__has_feature(address_sanitizer) &&                    \
    !__has_feature(thread_sanitizer)
    EXPECT_LT(seconds, 1) << getName(kind).str();
#endif
    std::printf("%s, 64 x 1024: generated and verified in %.3f s\n",
                getName(kind).str().c_str(), seconds);
  }
}
