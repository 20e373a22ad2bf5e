//===- TextTest.cpp - Schedules as text -----------------------------------===//

#include "Cases.h"
#include "dtc/Schedule/Communicate.h"
#include "dtc/Schedule/Verify.h"

using namespace dtc::schedule;

namespace {

std::string error(llvm::StringRef text, const Known &known = {}) {
  return message(parse(text, "s", known));
}

} // namespace

TEST(Text, ReadsWhatItPrints) {
  forEachSchedule(4, 8, [](const Schedule &schedule) {
    EXPECT_TRUE(get(parse(toString(schedule), "s")) == schedule);
  });
  Schedule skipping = make(Kind::ZeroBubbleV, 3, 4, 0, skippingGraph(6), 2);
  EXPECT_TRUE(get(parse(toString(skipping), "s")) == skipping);
  EXPECT_NE(toString(skipping).find("edges: 0>1 0>2 0>5! 1>2 2>3 2>4 3>4 4>5"),
            std::string::npos);
}

/// An order alone is enough: the rest is inferred.
TEST(Text, ReadsAnOrderByHand) {
  Schedule schedule = get(parse("# two ranks\n"
                                "rank 0: F0 F1  I0\tW0 B1 # the last is whole\n"
                                "\n"
                                "  rank 1 : F0 B0 F1 B1\r\n",
                                "s"));
  EXPECT_EQ(schedule.placement, (Placement{2, 1, Placement::Loop}));
  EXPECT_EQ(schedule.microBatches, 2);
  EXPECT_TRUE(hasOnlyComputations(schedule));
  EXPECT_EQ(message(addCommunication(schedule)), "");
  EXPECT_EQ(message(verify(schedule)), "");

  schedule = get(parse("placement: v\nrank 0: F0.0 F0.1 B0.1 B0.0", "s"));
  EXPECT_EQ(schedule.placement, (Placement{1, 2, Placement::V}));
}

TEST(Text, KnownValuesMayBeLeftOut) {
  Known known;
  known.placement = Placement{2, 2, Placement::V};
  known.microBatches = 1;
  known.graph = skippingGraph(4);
  llvm::StringRef lists = "rank 0: F0.0 F0.1 B0.1 B0.0\n"
                          "rank 1: F0.0 F0.1 B0.1 B0.0\n";
  Schedule schedule = get(parse(lists, "s", known));
  EXPECT_EQ(schedule.placement, *known.placement);
  EXPECT_TRUE(schedule.graph == *known.graph);

  auto with = [&](llvm::StringRef line) {
    return error((line + "\n" + lists).str(), known);
  };
  EXPECT_EQ(with("micro-batches: 3"),
            "s:1:1: error: 'micro-batches' is 3, but 1 are asked for");
  EXPECT_EQ(with("placement: loop"),
            "s:1:1: error: 'placement' is loop, but v is asked for");
  EXPECT_EQ(with("virtual-stages: 3"),
            "s:1:1: error: 'virtual-stages' is 3, but 2 is asked for");
  EXPECT_EQ(with("edges: 0>1"), "s:1:1: error: 'edges' are not those of the "
                                "stages that are scheduled");
  known.placement->ranks = 3;
  EXPECT_EQ(error(lists, known),
            "s:3:1: error: lists for 2 ranks, but pp is 3");
}

TEST(Text, Errors) {
  std::string forms =
      "; expected F, B, I or W with a micro-batch (F3; with several stages on "
      "a rank F3.CHUNK), post, wait or send with a message (send3:FROM>TO), R, "
      "or U";
  EXPECT_EQ(error(""),
            "s:1:1: error: no list of a rank; one is 'rank 0: F0 B0'");
  EXPECT_EQ(error("rank 0: F0 X0"),
            "s:1:12: error: unknown action 'X0'" + forms);
  EXPECT_EQ(error("rank 0: F"), "s:1:9: error: unknown action 'F'" + forms);
  EXPECT_EQ(error("rank 0: F0x"), "s:1:9: error: unknown action 'F0x'" + forms);
  EXPECT_EQ(error("rank 0: send0"),
            "s:1:9: error: unknown action 'send0'" + forms);
  EXPECT_EQ(error("rank 0: F0.x"), "s:1:12: error: expected a number, not 'x'");
  EXPECT_EQ(error("rank 0: F99999999999999999999"),
            "s:1:10: error: 99999999999999999999 is too large; numbers go to "
            "2147483647");
  EXPECT_EQ(error("rank 0: F2147483647"),
            "s: error: 2147483648 micro-batches; there may be 1 to 1048576");
  EXPECT_EQ(error("rank 1: F0"), "s:1:6: error: expected rank 0, not 1: ranks "
                                 "stand in order, each on one line");
  EXPECT_EQ(error("rank: F0"), "s:1:5: error: expected a number");
  EXPECT_EQ(error("F0 B0"),
            "s:1:1: error: expected 'KEY: ...', where KEY is schedule, pp, "
            "virtual-stages, placement, micro-batches, edges, in-flight, kept, "
            "posted, or rank N");
  EXPECT_EQ(error("ranks: 3"),
            "s:1:1: error: unknown 'ranks'; a line begins with schedule, pp, "
            "virtual-stages, placement, micro-batches, edges, in-flight, kept, "
            "posted, or rank N");
  EXPECT_EQ(error("pp: 1\npp: 1"), "s:2:1: error: 'pp' stands twice");
  EXPECT_EQ(error("pp: 3\nrank 0: F0"),
            "s:1:1: error: 'pp' is 3, but there are lists for 1 ranks");
  EXPECT_EQ(error("pp: 1 2"), "s:1:7: error: 'pp' takes one number");
  EXPECT_EQ(error("pp:"), "s:1:1: error: 'pp' needs a number");
  EXPECT_EQ(error("pp: 0"), "s:1:5: error: 0 is too small; the least is 1");
  EXPECT_EQ(error("placement: w"), "s:1:12: error: 'placement' is loop or v");
  EXPECT_EQ(error("placement: v\nvirtual-stages: 3\nrank 0: F0.0"),
            "s:2:1: error: a V places 2 stages on each rank, not 3");
  EXPECT_EQ(error("virtual-stages: 2\nrank 0: F0"),
            "s:2:9: error: 'F0' needs a chunk, for a rank has 2 stages: F0.0 "
            "to F0.1");
  EXPECT_EQ(error("micro-batches: 2\nrank 0: F0 F2"),
            "s:2:12: error: micro-batch 2 does not exist; there are 0 to 1");
  EXPECT_EQ(error("virtual-stages: 2\nrank 0: F0.2"),
            "s:2:9: error: chunk 2 does not exist; a rank has 0 to 1");
  EXPECT_EQ(error("rank 0: send0:0>2\nrank 1: F0"),
            "s:1:9: error: no edge between stages 0 and 2");
  EXPECT_EQ(error("virtual-stages: 2\nrank 0: send0:0>1"),
            "s:2:9: error: stages 0 and 1 are both on rank 0: what they hand "
            "over is no message");
  EXPECT_EQ(error("edges: 0>1!\nrank 0: F0\nrank 1: F0 send0:1>0"),
            "s:3:12: error: stages 0 and 1 exchange no gradients");
  EXPECT_EQ(error("edges: 1>0\nrank 0: F0\nrank 1: F0"),
            "s:1:1: error: edge 1>0 must lead from a stage to a later one; "
            "stages are 0 to 1");
  EXPECT_EQ(error("edges: 0-1"),
            "s:1:8: error: expected an edge FROM>TO, or FROM>TO! without a "
            "gradient, not '0-1'");
  EXPECT_EQ(error("edges: 0>1?"), "s:1:8: error: unexpected '?' after the "
                                  "edge");
  EXPECT_EQ(error("in-flight: 1 2\nrank 0: F0"),
            "s:1:1: error: 'in-flight' needs one number for each of 1 ranks, "
            "not 2");
  EXPECT_EQ(error("schedule: a b"),
            "s:1:1: error: 'schedule' takes one name without spaces");
}

/// Broken text gives an error or a schedule, never a crash.
TEST(Text, SurvivesNoise) {
  std::string text = toString(make(Kind::Interleaved, 2, 2));
  uint64_t state = 1;
  auto random = [&](uint64_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % n;
  };
  const llvm::StringRef noise = "0129FBIW.:>!# \n\tpostx-";
  int64_t failed = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string broken = text;
    for (uint64_t n = random(4) + 1; n > 0; --n)
      broken[random(broken.size())] = noise[random(noise.size())];
    if (auto schedule = parse(broken, "s"))
      consumeError(verify(*schedule));
    else {
      EXPECT_EQ(llvm::toString(schedule.takeError()).substr(0, 2), "s:");
      ++failed;
    }
  }
  EXPECT_GT(failed, 3000);
}
