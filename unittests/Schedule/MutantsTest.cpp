//===- MutantsTest.cpp - Broken schedules ---------------------------------===//
//
// Every mutant of every generated schedule is refused with a reason, or does
// the same: its lists are executed, with the slots that are assigned to it.
// What is refused as a deadlock does stand still when it is executed.
//
//===----------------------------------------------------------------------===//

#include "AbstractRun.h"
#include "Cases.h"
#include "dtc/Schedule/Communicate.h"
#include "dtc/Schedule/Verify.h"
#include <random>

using namespace dtc::schedule;

namespace {

enum Mutation {
  SwapNeighbours,
  SwapAny,
  Drop,
  Double,
  MoveToOtherRank,
  ChangeMicroBatch,
  ChangeChunk,
  ChangeEdge,
  ChangeDirection,
  ChangeKind,
  numMutations
};
constexpr const char *mutationNames[] = {
    "swap neighbours", "swap any", "drop", "double",    "other rank",
    "micro-batch",     "chunk",    "edge", "direction", "kind",
};

class Mutator {
public:
  explicit Mutator(uint64_t seed) : random(seed) {}

  /// The mutant may be equal to the schedule.
  Schedule mutate(Schedule s, Mutation mutation) {
    std::vector<Action> &list = s.ranks[get(s.ranks.size())];
    size_t i = get(list.size()), j = get(list.size());
    Action &a = list[i];
    switch (mutation) {
    case SwapNeighbours:
      if (i + 1 < list.size())
        std::swap(a, list[i + 1]);
      break;
    case SwapAny:
      std::swap(a, list[j]);
      break;
    case Drop:
      list.erase(list.begin() + i);
      break;
    case Double:
      list.insert(list.begin() + j, Action(a));
      break;
    case MoveToOtherRank: {
      std::vector<Action> &other = s.ranks[get(s.ranks.size())];
      Action moved = a;
      list.erase(list.begin() + i);
      other.insert(other.begin() + get(other.size() + 1), moved);
      break;
    }
    case ChangeMicroBatch:
      if (isCompute(a.kind) || isMessage(a.kind))
        a.microBatch = get(s.microBatches + 1);
      break;
    case ChangeChunk:
      if (isCompute(a.kind))
        a.chunk = get(s.placement.chunks + 1);
      break;
    case ChangeEdge:
      if (isMessage(a.kind))
        a.edge = get(s.graph.edges.size() + 1);
      break;
    case ChangeDirection:
      if (isMessage(a.kind))
        a.direction = Direction(1 - int(a.direction));
      break;
    case ChangeKind:
      // Computations stay computations, messages messages.
      if (isCompute(a.kind))
        a.kind = ActionKind(get(4));
      else if (isMessage(a.kind))
        a.kind = ActionKind(int(ActionKind::Post) + get(3));
      else
        a.kind = ActionKind(int(ActionKind::Reduce) + get(2));
      break;
    case numMutations:
      break;
    }
    return s;
  }

private:
  size_t get(size_t n) { return random() % n; }
  std::mt19937_64 random;
};

struct Counts {
  int64_t refused = 0, equal = 0;
};

class Mutants : public testing::Test {
protected:
  void run(const Schedule &schedule, int64_t perMutation) {
    Outcome expected = getExpectedOutcome(schedule);
    for (int mutation = 0; mutation < numMutations; ++mutation)
      for (int64_t i = 0; i < perMutation; ++i) {
        Schedule mutant = mutator.mutate(schedule, Mutation(mutation));
        if (mutant == schedule)
          continue;
        if (llvm::Error error = verify(mutant)) {
          std::string reason = llvm::toString(std::move(error));
          EXPECT_GT(reason.size(), 20u);
          ++counts[mutation].refused;
          if (reason.substr(0, 9) == "deadlock:") {
            ++deadlocks;
            EXPECT_TRUE(runAbstractly(mutant, getOwnSlots(mutant), i).empty())
                << reason << "\n"
                << toString(mutant);
          }
          continue;
        }
        ++counts[mutation].equal;
        EXPECT_EQ(runAbstractly(mutant, ::get(assignSlots(mutant)), i),
                  expected)
            << mutationNames[mutation] << "\n"
            << toString(mutant);
      }
  }
  void TearDown() override {
    Counts sum;
    for (int i = 0; i < numMutations; ++i) {
      std::printf("%-16s %6d refused, %5d do the same\n", mutationNames[i],
                  int(counts[i].refused), int(counts[i].equal));
      sum.refused += counts[i].refused;
      sum.equal += counts[i].equal;
    }
    std::printf("%-16s %6d refused, %5d do the same\n", "all", int(sum.refused),
                int(sum.equal));
    std::printf("%d of the refused stand still\n", int(deadlocks));
    EXPECT_GT(deadlocks, 20);
    // What is gone, doubled or something else can't do the same.
    for (int i : {Drop, Double, ChangeEdge, ChangeDirection, ChangeMicroBatch})
      EXPECT_EQ(counts[i].equal, 0) << mutationNames[i];
    EXPECT_GT(sum.refused, 1000);
    EXPECT_GT(sum.equal, 100);
  }

  Mutator mutator{7};
  Counts counts[numMutations];
  int64_t deadlocks = 0;
};

} // namespace

/// The interpreter itself: generated schedules give the expected outcome, in
/// any order of execution.
TEST(AbstractRun, GivesTheExpectedOutcome) {
  forEachSchedule(4, 6, [](const Schedule &schedule) {
    SlotAssignment slots = get(assignSlots(schedule));
    Outcome expected = getExpectedOutcome(schedule);
    for (uint64_t seed = 0; seed < 3; ++seed)
      EXPECT_EQ(runAbstractly(schedule, slots, seed), expected);
  });
}

/// And it sees what goes wrong without being told: too few slots, wrong order.
TEST(AbstractRun, SeesWrongSlots) {
  Schedule schedule = make(Kind::ZeroBubbleH1, 3, 6);
  SlotAssignment right = get(assignSlots(schedule));
  Outcome expected = getExpectedOutcome(schedule);
  for (auto field : {&SlotAssignment::saved, &SlotAssignment::kept,
                     &SlotAssignment::gradients, &SlotAssignment::received,
                     &SlotAssignment::outgoing}) {
    SlotAssignment wrong = right;
    for (int32_t &slot : wrong.*field)
      slot = std::min(slot, 0);
    // One buffer for what leaves makes the sender wait, nothing worse; one for
    // weight gradients is too few on the last rank only.
    bool same = field == &SlotAssignment::outgoing;
    EXPECT_EQ(runAbstractly(schedule, wrong, 1) == expected, same);
  }
}

TEST_F(Mutants, OfAllSchedules) {
  forEachSchedule(4, 6, [&](const Schedule &s) { run(s, 30); });
}

TEST_F(Mutants, OfSkippingEdges) {
  for (Kind kind : allKinds)
    for (int64_t P : {2, 3, 4})
      for (int64_t ahead : {0, 1, 2}) {
        int64_t stages = get(getPlacement(kind, P)).getStages();
        run(make(kind, P, 2 * P, 0, skippingGraph(stages), ahead), 30);
      }
}

/// Orders by hand: computations in any order that some execution has, and more
/// or less early receives. Most are right; the verifier and the execution agree
/// on which.
TEST(RandomOrders, AreRightOrStandStill) {
  std::mt19937_64 random(3);
  int64_t right = 0, wrong = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    Schedule s;
    s.placement = {int64_t(random() % 3 + 2), int64_t(random() % 3 + 1),
                   Placement::Loop};
    if (s.placement.chunks == 2 && random() % 2)
      s.placement.kind = Placement::V;
    s.graph = random() % 2 ? skippingGraph(s.getStages())
                           : StageGraph::chain(s.getStages());
    s.microBatches = random() % 6 + 1;
    s.ranks.resize(s.placement.ranks);
    int64_t M = s.microBatches, stages = s.getStages();

    // Of each stage and micro-batch: forward, input and weight backward done.
    std::vector<int> done(stages * M, 0);
    bool ordered = random() % 2, split = random() % 2;
    auto canRun = [&](int64_t stage, int64_t m, int what) {
      if (done[stage * M + m] != what || what > 2)
        return false;
      // Each stage in the order of micro-batches, or in any.
      if (ordered && m > 0 && done[stage * M + m - 1] <= what)
        return false;
      for (const Edge &e : s.graph.edges) {
        if (what == 0 && e.to == stage && done[e.from * M + m] < 1)
          return false;
        if (what == 1 && e.from == stage && e.differentiable &&
            done[e.to * M + m] < 2)
          return false;
      }
      return true;
    };
    for (int64_t left = 3 * stages * M; left > 0;) {
      int64_t stage = random() % stages, m = random() % M;
      int what = done[stage * M + m];
      if (!canRun(stage, m, what))
        continue;
      ActionKind kinds[] = {ActionKind::Forward,
                            split ? ActionKind::InputBackward
                                  : ActionKind::Backward,
                            ActionKind::WeightBackward};
      if (what < 2 || split)
        s.ranks[s.placement.getRank(stage)].push_back(
            Action::compute(kinds[what], m, s.placement.getChunk(stage)));
      ++done[stage * M + m];
      --left;
    }

    ASSERT_EQ(message(addCommunication(s, random() % 4)), "");
    std::string reason = message(verify(s));
    if (reason.empty()) {
      ++right;
      EXPECT_EQ(runAbstractly(s, get(assignSlots(s)), trial),
                getExpectedOutcome(s));
    } else {
      ++wrong;
      EXPECT_EQ(reason.substr(0, 9), "deadlock:") << reason;
      EXPECT_TRUE(runAbstractly(s, getOwnSlots(s), trial).empty())
          << reason << "\n"
          << toString(s);
    }
  }
  std::printf("%d orders are right, %d stand still\n", int(right), int(wrong));
  EXPECT_GT(right, 2000);
}
