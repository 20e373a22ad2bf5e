//===- Schedule.h - What each rank of a pipeline does, in order -*- C++ -*-===//
//
// A schedule is data: for each rank a list of actions, executed one after the
// other. Nothing here depends on the IR. docs/schedules.md explains it.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_SCHEDULE_SCHEDULE_H
#define DTC_SCHEDULE_SCHEDULE_H

#include "dtc/Schedule/Placement.h"
#include "llvm/ADT/ArrayRef.h"
#include <string>

namespace dtc::schedule {

enum class ActionKind : uint8_t {
  Forward,
  /// The whole backward. For one stage and micro-batch there is either this, or
  /// InputBackward and later WeightBackward.
  Backward,
  /// Gradients of the stage's inputs: what the stage before waits for.
  InputBackward,
  /// Gradients of the weights: no other stage waits for it.
  WeightBackward,
  /// Gives the buffer for a message that will come.
  Post,
  /// Waits until a posted message has come.
  Wait,
  /// Starts sending a message; the list goes on at once.
  Send,
  /// Reduces the rank's weight gradients, which are complete.
  Reduce,
  /// Updates the rank's weights.
  Update
};

inline bool isBackward(ActionKind k) {
  return k == ActionKind::Backward || k == ActionKind::InputBackward;
}
inline bool isCompute(ActionKind k) { return k <= ActionKind::WeightBackward; }
inline bool isMessage(ActionKind k) {
  return k == ActionKind::Post || k == ActionKind::Wait ||
         k == ActionKind::Send;
}

/// Activations go along an edge, gradients against it.
enum class Direction : uint8_t { Activation, Gradient };

struct Action {
  ActionKind kind = ActionKind::Forward;
  /// Of a message.
  Direction direction = Direction::Activation;
  /// Of a computation and a message; else 0.
  int32_t microBatch = 0;
  /// Of a computation: which of the rank's stages; else 0.
  int32_t chunk = 0;
  /// Of a message: which edge of the stage graph; else 0.
  int32_t edge = 0;

  static Action compute(ActionKind kind, int64_t microBatch, int64_t chunk) {
    return {kind, Direction::Activation, int32_t(microBatch), int32_t(chunk),
            0};
  }
  static Action message(ActionKind kind, Direction direction,
                        int64_t microBatch, int64_t edge) {
    return {kind, direction, int32_t(microBatch), 0, int32_t(edge)};
  }
  static Action once(ActionKind kind) {
    return {kind, Direction::Activation, 0, 0, 0};
  }

  bool operator==(const Action &o) const {
    return kind == o.kind && direction == o.direction &&
           microBatch == o.microBatch && chunk == o.chunk && edge == o.edge;
  }
  bool operator!=(const Action &o) const { return !(*this == o); }
};

/// What a schedule promises about its peaks; the verifier holds the lists
/// against it. What is not claimed is empty or 0.
struct Claims {
  /// For each rank, the most pairs (chunk, micro-batch) at one time whose
  /// forward has begun, and whose Backward or InputBackward has not ended.
  std::vector<int64_t> inFlight;
  /// The same until Backward or WeightBackward has ended: how many the rank
  /// must keep what the weight gradients need.
  std::vector<int64_t> kept;
  /// The most receives on any one channel at one time that are posted and not
  /// yet waited for.
  int64_t posted = 0;

  bool operator==(const Claims &o) const {
    return inFlight == o.inFlight && kept == o.kept && posted == o.posted;
  }
};

struct Schedule {
  /// Such as "1f1b": for people. No spaces.
  std::string name = "by-hand";
  Placement placement;
  StageGraph graph;
  int64_t microBatches = 1;
  Claims claims;
  /// The actions of each rank, in order.
  std::vector<std::vector<Action>> ranks;

  int64_t getStages() const { return placement.getStages(); }
  int64_t getStage(int64_t rank, const Action &action) const {
    return placement.getStage(rank, action.chunk);
  }

  /// A channel is an edge in one direction; its messages arrive in the order
  /// in which they are sent. Channels are numbered 2 edge + direction.
  int64_t getChannels() const { return 2 * int64_t(graph.edges.size()); }
  static int64_t getChannel(int64_t edge, Direction direction) {
    return 2 * edge + (direction == Direction::Gradient);
  }
  static int64_t getChannel(const Action &message) {
    return getChannel(message.edge, message.direction);
  }
  const Edge &getEdge(int64_t channel) const {
    return graph.edges[channel / 2];
  }
  /// Whether anything is handed over on this channel: a channel of gradients
  /// needs a differentiable edge.
  bool isUsed(int64_t channel) const {
    return channel % 2 == 0 || getEdge(channel).differentiable;
  }
  int64_t getSenderStage(int64_t channel) const {
    const Edge &e = getEdge(channel);
    return channel % 2 == 0 ? e.from : e.to;
  }
  int64_t getReceiverStage(int64_t channel) const {
    const Edge &e = getEdge(channel);
    return channel % 2 == 0 ? e.to : e.from;
  }
  int64_t getSender(int64_t channel) const {
    return placement.getRank(getSenderStage(channel));
  }
  int64_t getReceiver(int64_t channel) const {
    return placement.getRank(getReceiverStage(channel));
  }
  /// Whether the channel has messages: its stages are on different ranks.
  bool hasMessages(int64_t channel) const {
    return isUsed(channel) && getSender(channel) != getReceiver(channel);
  }

  bool operator==(const Schedule &o) const {
    return name == o.name && placement == o.placement && graph == o.graph &&
           microBatches == o.microBatches && claims == o.claims &&
           ranks == o.ranks;
  }
};

/// The largest number of micro-batches, and of pairs of channel and micro-batch
/// or stage and micro-batch, that schedules may have.
constexpr int64_t maxMicroBatches = int64_t(1) << 20;
constexpr int64_t maxPairs = int64_t(1) << 22;

/// Checks what indexing needs: placement, graph, one list for each rank, and
/// each action's micro-batch, chunk, edge and direction in range. Everything
/// else about order is verify's (Verify.h).
llvm::Error checkIndices(const Schedule &schedule);

/// Checks one action, given that placement and graph are right. The error says
/// what is wrong, not where.
llvm::Error checkIndices(const Schedule &schedule, const Action &action);

/// Channels into and out of each stage.
struct StageChannels {
  /// At [stage]: the channels of activations and of gradients that the stage
  /// receives, and that it sends, hand-overs included.
  std::vector<std::vector<int64_t>> activationsIn, activationsOut;
  std::vector<std::vector<int64_t>> gradientsIn, gradientsOut;

  explicit StageChannels(const Schedule &schedule);

  /// What the computation of this kind takes and gives: a forward takes and
  /// gives activations, a backward or input backward gradients, a weight
  /// backward nothing.
  llvm::ArrayRef<int64_t> getInputs(ActionKind kind, int64_t stage) const;
  llvm::ArrayRef<int64_t> getOutputs(ActionKind kind, int64_t stage) const;
};

} // namespace dtc::schedule

#endif // DTC_SCHEDULE_SCHEDULE_H
