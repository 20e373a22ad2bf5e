//===- MutantsTest.cpp - Broken schedules ---------------------------------===//
//
// Every mutant of every generated schedule is refused with a reason, or does
// the same: its lists are executed, with the slots that are assigned to it.
//
//===----------------------------------------------------------------------===//

#include "AbstractRun.h"
#include "Cases.h"
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
          EXPECT_GT(llvm::toString(std::move(error)).size(), 20u);
          ++counts[mutation].refused;
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
    // What is gone, doubled or something else can't do the same.
    for (int i : {Drop, Double, ChangeEdge, ChangeDirection, ChangeMicroBatch})
      EXPECT_EQ(counts[i].equal, 0) << mutationNames[i];
    EXPECT_GT(sum.refused, 1000);
    EXPECT_GT(sum.equal, 100);
  }

  Mutator mutator{7};
  Counts counts[numMutations];
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
