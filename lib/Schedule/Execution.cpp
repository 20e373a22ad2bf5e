//===- Execution.cpp - Whether lists come to their end --------------------===//

#include "Execution.h"
#include "dtc/Schedule/Communicate.h"
#include "dtc/Schedule/Text.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;

namespace dtc::schedule {

namespace {

/// What a rank stands at: until the channel's messages up to number `place` are
/// sent, or posted.
struct Condition {
  int64_t channel = -1;
  bool isSend = false;
  int64_t place = 0;
};

class Execution {
public:
  Execution(const Schedule &schedule,
            const std::vector<std::vector<int32_t>> &order,
            const StageChannels &ends, bool blockingSends, Visitor visit)
      : schedule(schedule), order(order), ends(ends),
        blockingSends(blockingSends), visit(visit), places(order.size()),
        sent(order.size(), 0), posted(order.size(), 0),
        next(schedule.placement.ranks, 0), standsAt(schedule.placement.ranks) {
    for (size_t c = 0; c < order.size(); ++c) {
      places[c].resize(order[c].empty() ? 0 : schedule.microBatches, 0);
      for (size_t n = 0; n < order[c].size(); ++n)
        places[c][order[c][n]] = n;
    }
  }

  Error run();

private:
  /// The first condition of an action that does not hold.
  Condition getUnmet(int64_t rank, const Action &action) const;
  void advance(int64_t rank);
  void wake(int64_t rank, int64_t channel, bool isSend) {
    Condition &c = standsAt[rank];
    if (c.channel != channel || c.isSend != isSend)
      return;
    c.channel = -1;
    ready.push_back(rank);
  }
  Error reportCycle(int64_t rank) const;
  std::string describe(int64_t rank) const;

  const Schedule &schedule;
  const std::vector<std::vector<int32_t>> &order;
  const StageChannels &ends;
  const bool blockingSends;
  const Visitor visit;
  /// For each channel, the number of each micro-batch in `order`.
  std::vector<std::vector<int32_t>> places;
  std::vector<int64_t> sent, posted;
  std::vector<size_t> next;
  std::vector<Condition> standsAt;
  std::vector<int64_t> ready;
};

} // namespace

Condition Execution::getUnmet(int64_t rank, const Action &a) const {
  int64_t c = Schedule::getChannel(a);
  if (a.kind == ActionKind::Wait && sent[c] <= places[c][a.microBatch])
    return {c, true, places[c][a.microBatch]};
  if (a.kind == ActionKind::Send && blockingSends &&
      posted[c] <= places[c][a.microBatch])
    return {c, false, places[c][a.microBatch]};
  if (!isCompute(a.kind) || blockingSends)
    return {};
  for (int64_t out : ends.getOutputs(a.kind, schedule.getStage(rank, a))) {
    if (!schedule.hasMessages(out))
      continue;
    // The message that has this one's buffer must have left.
    int64_t earlier =
        places[out][a.microBatch] -
        getOutgoingSlots(schedule.getEdge(out), schedule.microBatches);
    if (posted[out] <= earlier)
      return {out, false, earlier};
  }
  return {};
}

void Execution::advance(int64_t rank) {
  const std::vector<Action> &list = schedule.ranks[rank];
  for (size_t &i = next[rank]; i < list.size(); ++i) {
    const Action &a = list[i];
    Condition unmet = getUnmet(rank, a);
    if (unmet.channel >= 0) {
      standsAt[rank] = unmet;
      return;
    }
    if (visit)
      visit(rank, a);
    int64_t c = Schedule::getChannel(a);
    if (a.kind == ActionKind::Send) {
      ++sent[c];
      wake(schedule.getReceiver(c), c, true);
    } else if (a.kind == ActionKind::Post) {
      ++posted[c];
      wake(schedule.getSender(c), c, false);
    }
  }
}

/// "rank 0 stands at position 5 (send3:0>1) until rank 1 comes to post3:0>1".
std::string Execution::describe(int64_t rank) const {
  const Condition &c = standsAt[rank];
  int64_t other = c.isSend ? schedule.getSender(c.channel)
                           : schedule.getReceiver(c.channel);
  Action wanted = Action::message(
      c.isSend ? ActionKind::Send : ActionKind::Post,
      c.channel % 2 ? Direction::Gradient : Direction::Activation,
      order[c.channel][c.place], c.channel / 2);
  return ("rank " + Twine(rank) + " stands at position " +
          Twine(next[rank] + 1) + " (" +
          toString(schedule, schedule.ranks[rank][next[rank]]) +
          ") until rank " + Twine(other) + " comes to " +
          toString(schedule, wanted))
      .str();
}

/// Follows who waits for whom until a rank comes twice.
Error Execution::reportCycle(int64_t rank) const {
  std::vector<bool> seen(next.size(), false);
  auto getNext = [&](int64_t r) {
    const Condition &c = standsAt[r];
    return c.isSend ? schedule.getSender(c.channel)
                    : schedule.getReceiver(c.channel);
  };
  while (!seen[rank]) {
    seen[rank] = true;
    rank = getNext(rank);
  }
  std::string message = "deadlock: ";
  int64_t first = rank;
  do {
    message += (rank == first ? "" : "; ") + describe(rank);
    rank = getNext(rank);
  } while (rank != first);
  return createStringError(message);
}

Error Execution::run() {
  for (size_t r = next.size(); r > 0; --r)
    ready.push_back(r - 1);
  while (!ready.empty()) {
    int64_t rank = ready.back();
    ready.pop_back();
    advance(rank);
  }
  for (size_t r = 0; r < next.size(); ++r)
    if (next[r] < schedule.ranks[r].size())
      return reportCycle(r);
  return Error::success();
}

Error execute(const Schedule &schedule,
              const std::vector<std::vector<int32_t>> &order,
              const StageChannels &ends, bool blockingSends, Visitor visit) {
  return Execution(schedule, order, ends, blockingSends, visit).run();
}

} // namespace dtc::schedule
