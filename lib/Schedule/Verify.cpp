//===- Verify.cpp - Proof that a schedule is right ------------------------===//

#include "dtc/Schedule/Verify.h"
#include "Execution.h"
#include "dtc/Schedule/Communicate.h"
#include "dtc/Schedule/Text.h"
#include "llvm/ADT/Twine.h"
#include <algorithm>

using namespace llvm;

namespace dtc::schedule {

namespace {

/// Positions in the lists, from 0; -1: the action is missing.
using Positions = std::vector<int32_t>;

class Verifier {
public:
  Verifier(const Schedule &schedule, const VerifyOptions &options)
      : schedule(schedule), options(options), M(schedule.microBatches),
        ends(schedule), order(schedule.getChannels()),
        postOrder(schedule.getChannels()) {}

  Error run();

private:
  // In the order of the constraints in the header.
  Error findPositions();
  Error checkComputations();
  Error checkMessages();
  Error checkHandOvers();
  Error checkChannelOrder();
  Error checkOutgoing();
  Error checkEnds();
  Error checkPeaks();

  Error recordOnce(Positions &positions, int64_t pair, int64_t rank,
                   int64_t index);
  Error checkPair(int64_t stage, int64_t m);
  Error checkMessage(int64_t channel, int64_t m);
  Error comparePeaks(StringRef what, const std::vector<int64_t> &claimed,
                     const std::vector<int64_t> &peaks, StringRef until);

  /// "rank 1, position 7 (wait3:0>1): what".
  Error fail(int64_t rank, int64_t index, const Twine &what) const {
    return createStringError("rank " + Twine(rank) + ", " +
                             describe(rank, index) + ": " + what);
  }
  /// "position 7 (wait3:0>1)".
  std::string describe(int64_t rank, int64_t index) const {
    return ("position " + Twine(index + 1) + " (" +
            toString(schedule, schedule.ranks[rank][index]) + ")")
        .str();
  }
  std::string name(ActionKind kind, int64_t stage, int64_t m) const {
    Action a = Action::compute(kind, m, schedule.placement.getChunk(stage));
    return toString(schedule, a) + " of stage " + std::to_string(stage);
  }
  /// Where a stage computes what goes into, or needs what comes from, a
  /// channel: its forward for activations, its backward for gradients.
  int32_t getCompute(int64_t channel, int64_t stage, int64_t m) const {
    return (channel % 2 ? backward : forward)[stage * M + m];
  }

  const Schedule &schedule;
  const VerifyOptions options;
  const int64_t M;
  StageChannels ends;
  /// For each stage and micro-batch; the input backward counts as backward.
  Positions forward, backward, weight;
  /// For each channel and micro-batch.
  Positions posted, waited, sent;
  /// For each rank.
  Positions reduced, updated;
  /// For each channel, micro-batches in the order of sends, and of posts.
  std::vector<std::vector<int32_t>> order, postOrder;
};

} // namespace

Error Verifier::recordOnce(Positions &positions, int64_t pair, int64_t rank,
                           int64_t index) {
  if (positions[pair] >= 0)
    return fail(rank, index,
                "done already at " + describe(rank, positions[pair]));
  positions[pair] = index;
  return Error::success();
}

/// Where everything stands; nothing stands twice, nor on a wrong rank.
Error Verifier::findPositions() {
  for (Positions *p : {&forward, &backward, &weight})
    p->assign(schedule.getStages() * M, -1);
  for (Positions *p : {&posted, &waited, &sent})
    p->assign(schedule.getChannels() * M, -1);
  for (Positions *p : {&reduced, &updated})
    p->assign(schedule.placement.ranks, -1);

  auto getPositions = [&](ActionKind kind) -> Positions & {
    switch (kind) {
    case ActionKind::Forward:
      return forward;
    case ActionKind::Backward:
    case ActionKind::InputBackward:
      return backward;
    case ActionKind::WeightBackward:
      return weight;
    case ActionKind::Post:
      return posted;
    case ActionKind::Wait:
      return waited;
    case ActionKind::Send:
      return sent;
    case ActionKind::Reduce:
      return reduced;
    case ActionKind::Update:
      return updated;
    }
    llvm_unreachable("all kinds are listed");
  };
  for (int64_t r = 0; r < schedule.placement.ranks; ++r) {
    const std::vector<Action> &list = schedule.ranks[r];
    for (size_t i = 0; i < list.size(); ++i) {
      const Action &a = list[i];
      int64_t pair = r, channel = Schedule::getChannel(a);
      if (isCompute(a.kind)) {
        pair = schedule.getStage(r, a) * M + a.microBatch;
      } else if (isMessage(a.kind)) {
        pair = channel * M + a.microBatch;
        bool sends = a.kind == ActionKind::Send;
        int64_t right =
            sends ? schedule.getSender(channel) : schedule.getReceiver(channel);
        if (r != right)
          return fail(r, i,
                      Twine("this message is ") +
                          (sends ? "sent" : "received") + " by rank " +
                          Twine(right));
        if (sends)
          order[channel].push_back(a.microBatch);
        if (a.kind == ActionKind::Post)
          postOrder[channel].push_back(a.microBatch);
      }
      if (Error error = recordOnce(getPositions(a.kind), pair, r, i))
        return error;
    }
  }
  return Error::success();
}

/// The computations of one micro-batch on one stage.
Error Verifier::checkPair(int64_t stage, int64_t m) {
  int64_t rank = schedule.placement.getRank(stage), pair = stage * M + m;
  int32_t f = forward[pair], b = backward[pair], w = weight[pair];
  auto missing = [&](ActionKind kind) {
    return createStringError("rank " + Twine(rank) + ": " +
                             name(kind, stage, m) + " is missing");
  };
  if (f < 0)
    return missing(ActionKind::Forward);
  if (b < 0)
    return missing(w < 0 ? ActionKind::Backward : ActionKind::InputBackward);
  bool split = schedule.ranks[rank][b].kind == ActionKind::InputBackward;
  if (split && w < 0)
    return missing(ActionKind::WeightBackward);
  if (!split && w >= 0)
    return fail(rank, w,
                "the backward at " + describe(rank, b) +
                    " is whole and leaves nothing to do");
  if (b < f)
    return fail(rank, b,
                "a backward before its forward at " + describe(rank, f) +
                    ": there are no saved values");
  if (split && w < b)
    return fail(rank, w,
                "a weight backward before its input backward at " +
                    describe(rank, b));
  return Error::success();
}

Error Verifier::checkComputations() {
  for (int64_t s = 0; s < schedule.getStages(); ++s)
    for (int64_t m = 0; m < M; ++m)
      if (Error error = checkPair(s, m))
        return error;
  return Error::success();
}

/// One message at its two ends.
Error Verifier::checkMessage(int64_t channel, int64_t m) {
  int64_t from = schedule.getSenderStage(channel);
  int64_t to = schedule.getReceiverStage(channel);
  int64_t sender = schedule.getSender(channel);
  int64_t receiver = schedule.getReceiver(channel);
  int64_t pair = channel * M + m;
  std::string message = ":" + std::to_string(from) + ">" + std::to_string(to);
  auto missing = [&](int64_t rank, StringRef what) {
    return createStringError("rank " + Twine(rank) + ": " + what + Twine(m) +
                             message + " is missing");
  };
  if (sent[pair] < 0)
    return missing(sender, "send");
  if (posted[pair] < 0)
    return missing(receiver, "post");
  if (waited[pair] < 0)
    return missing(receiver, "wait");
  int32_t producer = getCompute(channel, from, m);
  if (sent[pair] < producer)
    return fail(sender, sent[pair],
                "sent before it is computed at " + describe(sender, producer));
  if (waited[pair] < posted[pair])
    return fail(receiver, waited[pair],
                "waited for before it is posted at " +
                    describe(receiver, posted[pair]));
  int32_t consumer = getCompute(channel, to, m);
  if (consumer < waited[pair])
    return fail(receiver, consumer,
                "needs the message that is waited for at " +
                    describe(receiver, waited[pair]));
  return Error::success();
}

Error Verifier::checkMessages() {
  for (int64_t c = 0; c < schedule.getChannels(); ++c)
    if (schedule.hasMessages(c))
      for (int64_t m = 0; m < M; ++m)
        if (Error error = checkMessage(c, m))
          return error;
  return Error::success();
}

Error Verifier::checkHandOvers() {
  for (int64_t c = 0; c < schedule.getChannels(); ++c) {
    if (!schedule.isUsed(c) || schedule.hasMessages(c))
      continue;
    int64_t rank = schedule.getSender(c);
    int64_t from = schedule.getSenderStage(c),
            to = schedule.getReceiverStage(c);
    for (int64_t m = 0; m < M; ++m) {
      int32_t producer = getCompute(c, from, m),
              consumer = getCompute(c, to, m);
      if (consumer < producer)
        return fail(rank, consumer,
                    "needs what " + describe(rank, producer) + " computes");
    }
  }
  return Error::success();
}

/// The n-th message that is sent fills the n-th buffer that is posted.
Error Verifier::checkChannelOrder() {
  for (int64_t c = 0; c < schedule.getChannels(); ++c)
    for (size_t n = 0; n < order[c].size(); ++n) {
      if (order[c][n] == postOrder[c][n])
        continue;
      int64_t receiver = schedule.getReceiver(c),
              sender = schedule.getSender(c);
      int32_t post = posted[c * M + postOrder[c][n]];
      int32_t send = sent[c * M + order[c][n]];
      return fail(receiver, post,
                  "receive " + Twine(n + 1) + " from stage " +
                      Twine(schedule.getSenderStage(c)) +
                      " is posted for micro-batch " + Twine(postOrder[c][n]) +
                      ", but rank " + Twine(sender) + " sends micro-batch " +
                      Twine(order[c][n]) + " there, at " +
                      describe(sender, send));
    }
  return Error::success();
}

/// A message is computed into the buffer of an earlier one, which must be sent.
/// That it has left, is for the execution to see.
Error Verifier::checkOutgoing() {
  for (int64_t c = 0; c < schedule.getChannels(); ++c) {
    int64_t rank = schedule.getSender(c), stage = schedule.getSenderStage(c);
    size_t slots = getOutgoingSlots(schedule.getEdge(c), M);
    for (size_t n = slots; n < order[c].size(); ++n) {
      int32_t producer = getCompute(c, stage, order[c][n]);
      int32_t send = sent[c * M + order[c][n - slots]];
      if (producer < send)
        return fail(rank, producer,
                    "computed into the buffer of a message that is sent only "
                    "at " +
                        describe(rank, send) + "; the channel has " +
                        Twine(slots));
    }
  }
  return Error::success();
}

Error Verifier::checkEnds() {
  for (int64_t r = 0; r < schedule.placement.ranks; ++r) {
    const std::vector<Action> &list = schedule.ranks[r];
    for (auto [positions, what] :
         {std::pair(&reduced, "R (reduce)"), std::pair(&updated, "U (update)")})
      if ((*positions)[r] < 0)
        return createStringError("rank " + Twine(r) + ": " + what +
                                 " is missing");
    for (int64_t i = reduced[r] + 1, e = list.size(); i < e; ++i)
      if (list[i].kind == ActionKind::Backward ||
          list[i].kind == ActionKind::WeightBackward)
        return fail(r, reduced[r],
                    "weight gradients are not complete before " +
                        describe(r, i));
    if (updated[r] < reduced[r])
      return fail(r, updated[r],
                  "an update before the reduction at " +
                      describe(r, reduced[r]));
    if (updated[r] + 1 != int64_t(list.size()))
      return fail(r, updated[r], "nothing may follow the update");
  }
  return Error::success();
}

Error Verifier::comparePeaks(StringRef what,
                             const std::vector<int64_t> &claimed,
                             const std::vector<int64_t> &peaks,
                             StringRef until) {
  if (claimed.empty())
    return Error::success();
  if (claimed.size() != peaks.size())
    return createStringError("'" + what + "' claims " + Twine(claimed.size()) +
                             " numbers for " + Twine(peaks.size()) + " ranks");
  for (size_t r = 0; r < peaks.size(); ++r)
    if (claimed[r] != peaks[r])
      return createStringError("rank " + Twine(r) + ": '" + what +
                               "' claims a peak of " + Twine(claimed[r]) +
                               " micro-batches between forward and " + until +
                               "; the list has " + Twine(peaks[r]));
  return Error::success();
}

Error Verifier::checkPeaks() {
  std::vector<int64_t> inFlightPeaks, keptPeaks;
  std::vector<int64_t> postedNow(schedule.getChannels(), 0);
  for (int64_t r = 0; r < schedule.placement.ranks; ++r) {
    int64_t inFlight = 0, kept = 0, inFlightPeak = 0, keptPeak = 0;
    for (size_t i = 0; i < schedule.ranks[r].size(); ++i) {
      const Action &a = schedule.ranks[r][i];
      int64_t c = Schedule::getChannel(a);
      if (a.kind == ActionKind::Forward) {
        inFlightPeak = std::max(inFlightPeak, ++inFlight);
        keptPeak = std::max(keptPeak, ++kept);
      } else if (isBackward(a.kind)) {
        --inFlight;
        kept -= a.kind == ActionKind::Backward;
      } else if (a.kind == ActionKind::WeightBackward) {
        --kept;
      } else if (a.kind == ActionKind::Wait) {
        --postedNow[c];
      } else if (a.kind == ActionKind::Post &&
                 ++postedNow[c] > schedule.claims.posted &&
                 schedule.claims.posted) {
        return fail(r, i,
                    "the channel has " + Twine(postedNow[c]) +
                        " posted receives; 'posted' claims at most " +
                        Twine(schedule.claims.posted));
      }
    }
    inFlightPeaks.push_back(inFlightPeak);
    keptPeaks.push_back(keptPeak);
  }
  if (Error error = comparePeaks("in-flight", schedule.claims.inFlight,
                                 inFlightPeaks, "backward (or input backward)"))
    return error;
  return comparePeaks("kept", schedule.claims.kept, keptPeaks,
                      "backward (or weight backward)");
}

Error Verifier::run() {
  if (Error error = findPositions())
    return error;
  if (Error error = checkComputations())
    return error;
  if (Error error = checkMessages())
    return error;
  if (Error error = checkHandOvers())
    return error;
  if (Error error = checkChannelOrder())
    return error;
  if (Error error = checkOutgoing())
    return error;
  if (Error error = checkEnds())
    return error;
  if (Error error = execute(schedule, order, ends,
                            options.sends == VerifyOptions::Blocking))
    return error;
  return checkPeaks();
}

Error verify(const Schedule &schedule, const VerifyOptions &options) {
  if (Error error = checkIndices(schedule))
    return error;
  return Verifier(schedule, options).run();
}

} // namespace dtc::schedule
