//===- SlotsTest.cpp - Buffers for what a schedule keeps ------------------===//

#include "dtc/Schedule/Slots.h"
#include "Cases.h"
#include "dtc/Schedule/Communicate.h"
#include <map>

using namespace dtc::schedule;

namespace {

/// Plays the lists with buffers that hold the name of what was last put there,
/// and expects every use to find what it needs. It knows nothing of intervals:
/// who writes when, and who reads when, follows from what the slots are for.
class Player {
public:
  Player(const Schedule &schedule, const SlotAssignment &slots,
         const SlotOptions &options)
      : schedule(schedule), slots(slots), options(options), ends(schedule) {}

  void play() {
    for (int64_t r = 0; r < schedule.placement.ranks; ++r)
      for (const Action &a : schedule.ranks[r])
        play(r, a);
    for (auto &[buffer, highest] : used)
      EXPECT_LT(highest, getCount(buffer.first, buffer.second));
  }

private:
  /// A buffer: what kind, of which set of slots, and which slot.
  using Buffer = std::tuple<char, int64_t, int64_t>;

  Buffer pair(char kind, int64_t stage, int64_t m) {
    int64_t slot = kind == 's'   ? slots.getSaved(stage, m)
                   : kind == 'k' ? slots.getKept(stage, m)
                                 : slots.getGradients(stage, m);
    int64_t set =
        options.shareChunks ? schedule.placement.getRank(stage) : stage;
    return {kind, set, slot};
  }
  Buffer received(int64_t c, int64_t m) {
    return {'r', c, slots.getReceived(c, m)};
  }
  int64_t getCount(char kind, int64_t set) {
    if (kind == 'r')
      return slots.receivedSlots[set];
    int64_t stage =
        options.shareChunks ? schedule.placement.getStage(set, 0) : set;
    return kind == 's'   ? slots.savedSlots[stage]
           : kind == 'k' ? slots.keptSlots[stage]
                         : slots.gradientSlots[stage];
  }
  void write(Buffer buffer, int64_t owner, int64_t m) {
    EXPECT_GE(std::get<2>(buffer), 0);
    content[buffer] = {owner, m};
    auto &highest = used[{std::get<0>(buffer), std::get<1>(buffer)}];
    highest = std::max(highest, std::get<2>(buffer));
  }
  void read(Buffer buffer, int64_t owner, int64_t m) {
    EXPECT_EQ(content[buffer], (std::pair<int64_t, int64_t>(owner, m)));
  }
  void play(int64_t rank, const Action &a);

  const Schedule &schedule;
  const SlotAssignment &slots;
  const SlotOptions options;
  StageChannels ends;
  std::map<Buffer, std::pair<int64_t, int64_t>> content;
  std::map<std::pair<char, int64_t>, int64_t> used;
};

} // namespace

void Player::play(int64_t rank, const Action &a) {
  int64_t m = a.microBatch, c = Schedule::getChannel(a);
  if (a.kind == ActionKind::Post)
    // The network may write from now on.
    return write(received(c, m), c, m);
  if (a.kind == ActionKind::Wait)
    return read(received(c, m), c, m);
  if (!isCompute(a.kind))
    return;
  int64_t stage = schedule.getStage(rank, a);
  for (int64_t in : ends.getInputs(a.kind, stage))
    read(received(in, m), in, m);
  for (int64_t out : ends.getOutputs(a.kind, stage))
    if (!schedule.hasMessages(out))
      write(received(out, m), out, m);
  bool whole = a.kind == ActionKind::Backward;
  if (a.kind == ActionKind::Forward) {
    write(pair('s', stage, m), stage, m);
    write(pair('k', stage, m), stage, m);
    return;
  }
  read(pair('k', stage, m), stage, m);
  if (isBackward(a.kind))
    read(pair('s', stage, m), stage, m);
  if (a.kind == ActionKind::InputBackward)
    write(pair('g', stage, m), stage, m);
  if (a.kind == ActionKind::WeightBackward)
    read(pair('g', stage, m), stage, m);
  if (options.keepActivations)
    for (int64_t in : ends.activationsIn[stage])
      read(received(in, m), in, m);
  if (options.keepGradients && !whole)
    for (int64_t in : ends.gradientsIn[stage])
      read(received(in, m), in, m);
}

TEST(Slots, HoldWhatIsNeeded) {
  forEachSchedule(5, 12, [](const Schedule &schedule) {
    for (int bits = 0; bits < 8; ++bits) {
      SlotOptions options{bool(bits & 1), bool(bits & 2), bool(bits & 4)};
      Player(schedule, get(assignSlots(schedule, options)), options).play();
    }
  });
  for (Kind kind : allKinds) {
    int64_t stages = get(getPlacement(kind, 4)).getStages();
    Schedule schedule = make(kind, 4, 12, 0, skippingGraph(stages), 2);
    for (bool keep : {false, true}) {
      SlotOptions options{!keep, keep, keep};
      Player(schedule, get(assignSlots(schedule, options)), options).play();
    }
  }
}

TEST(Slots, AreAsFewAsLive) {
  forEachSchedule(5, 12, [](const Schedule &schedule) {
    SlotAssignment slots = get(assignSlots(schedule));
    for (int64_t s = 0; s < schedule.getStages(); ++s) {
      const RankPeaks &peaks = slots.peaks[schedule.placement.getRank(s)];
      EXPECT_EQ(slots.savedSlots[s], peaks.inFlight);
      EXPECT_EQ(slots.keptSlots[s], peaks.kept);
      EXPECT_EQ(slots.gradientSlots[s], peaks.gradients);
    }
    for (int64_t c = 0; c < schedule.getChannels(); ++c)
      if (schedule.hasMessages(c)) {
        EXPECT_EQ(slots.receivedSlots[c],
                  std::min<int64_t>(2, schedule.microBatches));
        EXPECT_EQ(slots.outgoingSlots[c],
                  std::min<int64_t>(2, schedule.microBatches));
      } else {
        EXPECT_EQ(slots.outgoingSlots[c], 0);
      }
  });
}

/// 1f1b needs slots for ranks, not for micro-batches.
TEST(Slots, OfOneF1B) {
  SlotAssignment slots = get(assignSlots(make(Kind::OneF1B, 4, 100)));
  EXPECT_EQ(slots.savedSlots, (std::vector<int64_t>{4, 3, 2, 1}));
  EXPECT_EQ(slots.gradientSlots, (std::vector<int64_t>{0, 0, 0, 0}));
  EXPECT_EQ(slots.getSaved(0, 5), 1);
  EXPECT_EQ(slots.getSaved(3, 5), 0);
  EXPECT_EQ(slots.getGradients(3, 5), -1);
  EXPECT_EQ(slots.getReceived(0, 5), 1);
  EXPECT_EQ(slots.getOutgoing(0, 5), 1);
  // A received activation that saved values refer to stays with them.
  slots = get(assignSlots(make(Kind::OneF1B, 4, 100), {true, true, false}));
  EXPECT_EQ(slots.receivedSlots[0], 5);
}

/// Rank 2 computes weight gradients two micro-batches late: three received
/// gradients are in use, and two are posted.
TEST(Slots, KeepGradients) {
  Schedule schedule = make(Kind::ZeroBubbleH1, 4, 100);
  int64_t channel =
      Schedule::getChannel(schedule.graph.find(2, 3), Direction::Gradient);
  EXPECT_EQ(get(assignSlots(schedule)).receivedSlots[channel], 2);
  EXPECT_EQ(
      get(assignSlots(schedule, {true, false, true})).receivedSlots[channel],
      5);
}

TEST(Slots, OfChunks) {
  Schedule schedule = make(Kind::ZeroBubbleV, 3, 12);
  SlotAssignment shared = get(assignSlots(schedule));
  EXPECT_EQ(shared.keptSlots, (std::vector<int64_t>{6, 6, 6, 6, 6, 6}));
  SlotAssignment apart = get(assignSlots(schedule, {false, false, false}));
  EXPECT_EQ(apart.keptSlots, (std::vector<int64_t>{6, 5, 4, 3, 2, 1}));
}

TEST(Slots, RefuseWhatIsWrong) {
  Schedule schedule = make(Kind::OneF1B, 2, 2);
  schedule.ranks[0].erase(schedule.ranks[0].begin());
  EXPECT_EQ(message(assignSlots(schedule)), "rank 0: post0:1>0 is missing");
}
