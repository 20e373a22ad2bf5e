//===- Communicate.cpp - Messages for an order of computations ------------===//

#include "dtc/Schedule/Communicate.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include <algorithm>

using namespace llvm;

namespace dtc::schedule {

int64_t getPostedWindow(const Edge &edge, int64_t microBatches,
                        int64_t postAhead) {
  if (postAhead == 0)
    return 1;
  return std::min(microBatches, postAhead + edge.to - edge.from);
}

int64_t getOutgoingSlots(const Edge &edge, int64_t microBatches) {
  return std::min(microBatches, 1 + edge.to - edge.from);
}

bool hasOnlyComputations(const Schedule &schedule) {
  return llvm::none_of(schedule.ranks, [](const std::vector<Action> &list) {
    return llvm::any_of(list,
                        [](const Action &a) { return isMessage(a.kind); });
  });
}

namespace {

/// One channel while its messages are added.
struct Channel {
  /// Micro-batches in the order in which they are sent, and the place of each
  /// in this order (-1: not sent).
  std::vector<int32_t> order, place;
  int64_t window = 0;
  int64_t posted = 0, used = 0;
};

class Communicator {
public:
  Communicator(Schedule &schedule, int64_t postAhead)
      : schedule(schedule), postAhead(postAhead), ends(schedule),
        channels(schedule.getChannels()) {}

  Error run();

private:
  Error findOrder();
  Error checkUses();
  std::vector<Action> buildList(int64_t rank);

  template <typename Function>
  void forEachComputation(int64_t rank, Function function) {
    for (const Action &a : schedule.ranks[rank])
      if (isCompute(a.kind))
        function(a, schedule.getStage(rank, a));
  }

  void post(std::vector<Action> &list, int64_t channel, int64_t upTo) {
    Channel &c = channels[channel];
    upTo = std::min<int64_t>(upTo, c.order.size());
    while (c.posted < upTo) {
      list.push_back(message(ActionKind::Post, channel, c.order[c.posted]));
      ++c.posted;
      schedule.claims.posted =
          std::max(schedule.claims.posted, c.posted - c.used);
    }
  }
  static Action message(ActionKind kind, int64_t channel, int64_t m) {
    return Action::message(
        kind, channel % 2 ? Direction::Gradient : Direction::Activation, m,
        channel / 2);
  }

  Schedule &schedule;
  int64_t postAhead;
  StageChannels ends;
  std::vector<Channel> channels;
};

} // namespace

/// In which order each channel's messages are sent.
Error Communicator::findOrder() {
  for (int64_t c = 0; c < schedule.getChannels(); ++c) {
    if (!schedule.hasMessages(c))
      continue;
    channels[c].place.assign(schedule.microBatches, -1);
    channels[c].window =
        getPostedWindow(schedule.getEdge(c), schedule.microBatches, postAhead);
  }
  for (int64_t r = 0; r < schedule.placement.ranks; ++r) {
    const Action *doubled = nullptr;
    int64_t doubledStage = 0;
    forEachComputation(r, [&](const Action &a, int64_t stage) {
      for (int64_t c : ends.getOutputs(a.kind, stage)) {
        Channel &channel = channels[c];
        if (!schedule.hasMessages(c))
          continue;
        if (channel.place[a.microBatch] >= 0 && !doubled) {
          doubled = &a;
          doubledStage = stage;
        }
        channel.place[a.microBatch] = channel.order.size();
        channel.order.push_back(a.microBatch);
      }
    });
    if (doubled)
      return createStringError(
          "rank " + Twine(r) + " computes the " +
          (doubled->kind == ActionKind::Forward ? "forward" : "backward") +
          " of micro-batch " + Twine(doubled->microBatch) + " on stage " +
          Twine(doubledStage) + " twice");
  }
  return Error::success();
}

/// Each message has a use, and each use a message.
Error Communicator::checkUses() {
  std::vector<std::vector<bool>> used(channels.size());
  for (size_t c = 0; c < channels.size(); ++c)
    used[c].assign(channels[c].place.size(), false);
  auto describe = [&](int64_t c, int64_t stage, int64_t m) {
    return (Twine("the ") + (c % 2 ? "backward" : "forward") +
            " of micro-batch " + Twine(m) + " on stage " + Twine(stage))
        .str();
  };
  std::string message;
  for (int64_t r = 0; r < schedule.placement.ranks; ++r)
    forEachComputation(r, [&](const Action &a, int64_t stage) {
      for (int64_t c : ends.getInputs(a.kind, stage)) {
        int64_t m = a.microBatch;
        if (!schedule.hasMessages(c) || !message.empty())
          continue;
        if (channels[c].place[m] < 0)
          message = describe(c, stage, m) + " needs " +
                    describe(c, schedule.getSenderStage(c), m) +
                    ", which rank " + std::to_string(schedule.getSender(c)) +
                    " does not compute";
        else if (used[c][m])
          message = "rank " + std::to_string(r) + " computes " +
                    describe(c, stage, m) + " twice";
        used[c][m] = true;
      }
    });
  for (int64_t c = 0, e = channels.size(); c < e && message.empty(); ++c)
    for (int32_t m : channels[c].order)
      if (!used[c][m]) {
        message = describe(c, schedule.getReceiverStage(c), m) +
                  " is missing on rank " +
                  std::to_string(schedule.getReceiver(c)) + ", but rank " +
                  std::to_string(schedule.getSender(c)) + " computes " +
                  describe(c, schedule.getSenderStage(c), m);
        break;
      }
  return message.empty() ? Error::success() : createStringError(message);
}

std::vector<Action> Communicator::buildList(int64_t rank) {
  std::vector<Action> list;
  if (postAhead > 0)
    for (size_t c = 0; c < channels.size(); ++c)
      if (schedule.hasMessages(c) && schedule.getReceiver(c) == rank)
        post(list, c, channels[c].window);
  for (const Action &a : schedule.ranks[rank]) {
    if (!isCompute(a.kind)) {
      list.push_back(a);
      continue;
    }
    int64_t stage = schedule.getStage(rank, a);
    ArrayRef<int64_t> inputs = ends.getInputs(a.kind, stage);
    for (int64_t c : inputs) {
      if (!schedule.hasMessages(c))
        continue;
      post(list, c, channels[c].place[a.microBatch] + 1);
      list.push_back(message(ActionKind::Wait, c, a.microBatch));
      ++channels[c].used;
    }
    list.push_back(a);
    for (int64_t c : inputs)
      if (schedule.hasMessages(c) && postAhead > 0)
        post(list, c, channels[c].used + channels[c].window);
    for (int64_t c : ends.getOutputs(a.kind, stage))
      if (schedule.hasMessages(c))
        list.push_back(message(ActionKind::Send, c, a.microBatch));
  }
  return list;
}

Error Communicator::run() {
  if (Error error = findOrder())
    return error;
  if (Error error = checkUses())
    return error;
  schedule.claims.posted = 0;
  for (int64_t r = 0; r < schedule.placement.ranks; ++r) {
    std::vector<Action> list = buildList(r);
    bool ends = llvm::any_of(schedule.ranks[r], [](const Action &a) {
      return a.kind == ActionKind::Reduce || a.kind == ActionKind::Update;
    });
    if (!ends) {
      list.push_back(Action::once(ActionKind::Reduce));
      list.push_back(Action::once(ActionKind::Update));
    }
    schedule.ranks[r] = std::move(list);
  }
  return Error::success();
}

Error addCommunication(Schedule &schedule, int64_t postAhead) {
  if (Error error = checkIndices(schedule))
    return error;
  if (postAhead < 0)
    return createStringError("receives can't be posted " + Twine(postAhead) +
                             " ahead; the number must be at least 0");
  if (!hasOnlyComputations(schedule))
    return createStringError("the schedule has messages already");
  return Communicator(schedule, std::min(postAhead, maxMicroBatches)).run();
}

} // namespace dtc::schedule
