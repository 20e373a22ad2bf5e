//===- AbstractRun.cpp - Schedules executed with symbols ------------------===//

#include "AbstractRun.h"
#include "dtc/Schedule/Communicate.h"
#include "llvm/ADT/STLExtras.h"
#include <deque>
#include <random>

using namespace dtc::schedule;

namespace {

uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t h = (a ^ (b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2))) *
               0xff51afd7ed558ccdu;
  return h ^ (h >> 32);
}

constexpr uint64_t poison = 0xdead;

/// What stages compute.
uint64_t forward(int64_t stage, int64_t m, const std::vector<uint64_t> &in) {
  uint64_t h = mix(mix(1, stage), m);
  for (uint64_t x : in)
    h = mix(h, x);
  return h;
}
uint64_t savedOf(uint64_t activation) { return mix(activation, 2); }
uint64_t keptOf(uint64_t activation) { return mix(activation, 3); }
uint64_t inputBackward(uint64_t saved, const std::vector<uint64_t> &in) {
  uint64_t h = mix(4, saved);
  for (uint64_t x : in)
    h = mix(h, x);
  return h;
}
uint64_t weightBackward(uint64_t gradient, uint64_t kept) {
  return mix(mix(5, gradient), kept);
}
uint64_t messageOf(uint64_t value, int64_t channel) {
  return mix(value, 6 + channel);
}

class Run {
public:
  Run(const Schedule &schedule, const SlotAssignment &slots, uint64_t seed)
      : schedule(schedule), slots(slots), ends(schedule), random(seed),
        next(schedule.placement.ranks, 0), channels(schedule.getChannels()),
        gradients(schedule.getStages()), outcome(schedule.getStages()) {}

  Outcome run();

private:
  struct Channel {
    /// The senders' slots, and the receivers' slots and micro-batches.
    std::deque<int64_t> sent;
    std::deque<std::pair<int64_t, int64_t>> posted;
    std::map<int64_t, uint64_t> outgoing, received;
    std::map<int64_t, bool> leaving, arrived;
  };

  /// Whether the rank could do its next action.
  bool step(int64_t rank);
  bool compute(const Action &action, int64_t stage);
  void transfer(Channel &channel);

  std::pair<int64_t, int64_t> getBuffer(int64_t stage, int64_t slot) {
    return {schedule.placement.getRank(stage), slot};
  }

  const Schedule &schedule;
  const SlotAssignment &slots;
  StageChannels ends;
  std::mt19937_64 random;
  std::vector<size_t> next;
  std::vector<Channel> channels;
  std::map<std::pair<int64_t, int64_t>, uint64_t> saved, kept, between;
  /// For each stage, what its backwards gave so far.
  Outcome gradients;
  Outcome outcome;
  int64_t updates = 0;
};

} // namespace

void Run::transfer(Channel &c) {
  while (!c.sent.empty() && !c.posted.empty()) {
    c.received[c.posted.front().first] = c.outgoing[c.sent.front()];
    c.leaving[c.sent.front()] = false;
    c.arrived[c.posted.front().second] = true;
    c.sent.pop_front();
    c.posted.pop_front();
  }
}

bool Run::compute(const Action &a, int64_t stage) {
  int64_t m = a.microBatch;
  for (int64_t c : ends.getOutputs(a.kind, stage))
    if (schedule.hasMessages(c) && channels[c].leaving[slots.getOutgoing(c, m)])
      return false;
  std::vector<uint64_t> inputs;
  for (int64_t c : ends.getInputs(a.kind, stage))
    inputs.push_back(channels[c].received[slots.getReceived(c, m)]);

  auto savedAt = getBuffer(stage, slots.getSaved(stage, m));
  auto keptAt = getBuffer(stage, slots.getKept(stage, m));
  auto betweenAt = getBuffer(stage, slots.getGradients(stage, m));
  uint64_t value = 0;
  if (a.kind == ActionKind::Forward) {
    value = forward(stage, m, inputs);
    saved[savedAt] = savedOf(value);
    kept[keptAt] = keptOf(value);
  } else if (isBackward(a.kind)) {
    value = inputBackward(saved[savedAt], inputs);
    saved[savedAt] = poison;
    between[betweenAt] = value;
  }
  if (a.kind == ActionKind::Backward || a.kind == ActionKind::WeightBackward) {
    gradients[stage].push_back(
        weightBackward(between[betweenAt], kept[keptAt]));
    kept[keptAt] = between[betweenAt] = poison;
  }
  for (int64_t c : ends.getOutputs(a.kind, stage)) {
    if (schedule.hasMessages(c))
      channels[c].outgoing[slots.getOutgoing(c, m)] = messageOf(value, c);
    else
      channels[c].received[slots.getReceived(c, m)] = messageOf(value, c);
  }
  return true;
}

bool Run::step(int64_t rank) {
  const Action &a = schedule.ranks[rank][next[rank]];
  int64_t m = a.microBatch, c = Schedule::getChannel(a);
  switch (a.kind) {
  case ActionKind::Post: {
    int64_t slot = slots.getReceived(c, m);
    channels[c].received[slot] = poison;
    channels[c].posted.push_back({slot, m});
    transfer(channels[c]);
    return true;
  }
  case ActionKind::Wait:
    return channels[c].arrived[m];
  case ActionKind::Send: {
    int64_t slot = slots.getOutgoing(c, m);
    channels[c].leaving[slot] = true;
    channels[c].sent.push_back(slot);
    transfer(channels[c]);
    return true;
  }
  case ActionKind::Reduce:
    for (int64_t k = 0; k < schedule.placement.chunks; ++k) {
      int64_t stage = schedule.placement.getStage(rank, k);
      outcome[stage] = gradients[stage];
      llvm::sort(outcome[stage]);
    }
    return true;
  case ActionKind::Update:
    ++updates;
    return true;
  default:
    return compute(a, schedule.getStage(rank, a));
  }
}

Outcome Run::run() {
  std::vector<int64_t> ranks(next.size());
  for (size_t r = 0; r < ranks.size(); ++r)
    ranks[r] = r;
  while (!ranks.empty()) {
    // Any rank that can go on; if none can, they stand still.
    std::shuffle(ranks.begin(), ranks.end(), random);
    bool moved = false;
    for (size_t i = 0; i < ranks.size() && !moved; ++i) {
      int64_t r = ranks[i];
      if (next[r] == schedule.ranks[r].size()) {
        ranks.erase(ranks.begin() + i);
        moved = true;
      } else if (step(r)) {
        ++next[r];
        moved = true;
      }
    }
    if (!moved)
      return {};
  }
  for (const Channel &c : channels)
    if (!c.sent.empty() || !c.posted.empty())
      return {};
  if (updates != schedule.placement.ranks)
    return {};
  return outcome;
}

Outcome dtc::schedule::runAbstractly(const Schedule &schedule,
                                     const SlotAssignment &slots,
                                     uint64_t seed) {
  return Run(schedule, slots, seed).run();
}

SlotAssignment dtc::schedule::getOwnSlots(const Schedule &schedule) {
  int64_t M = schedule.microBatches, stages = schedule.getStages();
  int64_t channels = schedule.getChannels();
  SlotAssignment slots;
  slots.microBatches = M;
  for (int64_t s = 0; s < stages; ++s)
    for (int64_t m = 0; m < M; ++m) {
      int64_t chunk = schedule.placement.getChunk(s);
      for (auto *field : {&slots.saved, &slots.kept, &slots.gradients})
        field->push_back(chunk * M + m);
    }
  for (int64_t i = 0; i < channels * M; ++i)
    slots.received.push_back(i % M);
  slots.outgoing.assign(channels * M, 0);
  std::vector<int64_t> sent(channels, 0);
  for (const auto &list : schedule.ranks)
    for (const Action &a : list)
      if (a.kind == ActionKind::Send) {
        int64_t c = Schedule::getChannel(a);
        slots.outgoing[c * M + a.microBatch] =
            sent[c]++ % getOutgoingSlots(schedule.getEdge(c), M);
      }
  return slots;
}

Outcome dtc::schedule::getExpectedOutcome(const Schedule &schedule) {
  StageChannels ends(schedule);
  int64_t stages = schedule.getStages();
  Outcome outcome(stages);
  for (int64_t m = 0; m < schedule.microBatches; ++m) {
    std::vector<uint64_t> messages(schedule.getChannels()), activations(stages);
    auto getInputs = [&](llvm::ArrayRef<int64_t> in) {
      std::vector<uint64_t> values;
      for (int64_t c : in)
        values.push_back(messages[c]);
      return values;
    };
    for (int64_t s = 0; s < stages; ++s) {
      activations[s] = forward(s, m, getInputs(ends.activationsIn[s]));
      for (int64_t c : ends.activationsOut[s])
        messages[c] = messageOf(activations[s], c);
    }
    for (int64_t s = stages - 1; s >= 0; --s) {
      uint64_t gradient = inputBackward(savedOf(activations[s]),
                                        getInputs(ends.gradientsIn[s]));
      for (int64_t c : ends.gradientsOut[s])
        messages[c] = messageOf(gradient, c);
      outcome[s].push_back(weightBackward(gradient, keptOf(activations[s])));
    }
  }
  for (auto &perStage : outcome)
    llvm::sort(perStage);
  return outcome;
}
