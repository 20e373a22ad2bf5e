//===- Transport.h - How ranks exchange data --------------------*- C++ -*-===//

#ifndef DTC_RUNTIME_TRANSPORT_H
#define DTC_RUNTIME_TRANSPORT_H

#include "dtc/Runtime/Channel.h"
#include "dtc/Runtime/Plan.h"
#include "dtc/Runtime/Platform.h"
#include "dtc/Runtime/Profile.h"
#include "dtc/Runtime/Trace.h"

#include <atomic>
#include <map>
#include <memory>
#include <vector>

namespace dtc::rt {

class Transport;
class ControlCollectives;

struct TransportOptions {
  /// Watchdog of every wait, in seconds.
  double timeout = 600;
  /// Neighbour-to-neighbour rings in place of the direct exchange.
  bool ring = false;
};

/// A collective between its start and its wait.
struct InFlight {
  const Plan *plan = nullptr;
  std::vector<void *> send, recv;
};

/// What was sent under one name.
struct Traffic {
  int64_t calls = 0, bytes = 0;
};

/// What the schedule does on a rank; other ranks may read it.
struct RunningAction {
  std::atomic<const char *> what{nullptr}; // null: between actions
  std::atomic<int64_t> microBatch{-1}, stage{-1};
  double began = 0; // of the trace
};

} // namespace dtc::rt

/// One rank: a thread, or an MPI process.
struct dtc_rank {
  int64_t id = 0, count = 1;
  dtc::rt::Transport *transport = nullptr;
  const dtc::rt::ControlCollectives *control = nullptr;
  int threads = 1;
  char *workspace = nullptr;
  int64_t workspaceBytes = 0;    // of one thread
  std::atomic<int64_t> step{-1}; // -1: before the first
  dtc::rt::RunningAction action;
  /// Waits of file work and of the start are outside the watchdog.
  bool watched = true;
  std::vector<dtc::rt::InFlight> slots;
  std::map<const dtc_collective *, std::unique_ptr<dtc::rt::Plan>> plans;
  int64_t bytesSent = 0;
  std::map<const dtc_collective *, dtc::rt::Traffic> traffic;
  /// By number, and whether this rank receives. All are open before the first
  /// step.
  std::map<std::pair<int32_t, bool>, std::unique_ptr<dtc::rt::ChannelEnd>>
      channels;
  /// By the number of the channel, on the rank that sends.
  std::map<int32_t, dtc::rt::Traffic> messages;
  std::unique_ptr<dtc::rt::Trace> trace;     // null: no --trace
  std::unique_ptr<dtc::rt::Profile> profile; // null: not wanted
  /// Two buffers of the ring's chunk each; none for the direct exchange.
  std::unique_ptr<char[]> ringScratch;

  /// The plan of a collective, made on first use.
  const dtc::rt::Plan &planOf(const dtc_collective &what);
};

namespace dtc::rt {

/// The rank that others really wait for: a late peer may itself be waiting.
/// `waitsFor` gives whom a rank waits for, -1 for nobody (or unknown).
template <typename F> int lastInChain(int peer, int64_t ranks, F waitsFor) {
  for (int64_t i = 0; i < ranks; ++i) {
    int next = waitsFor(peer);
    if (next < 0)
      break;
    peer = next;
  }
  return peer;
}

/// "step 7, forward of micro-batch 2 on stage 1", "before the first step"
std::string placeText(const dtc_rank &rank);
/// The same after "rank 3, ".
std::string whereText(const dtc_rank &rank);

/// Moves the data of collectives and messages. One object serves all ranks of a
/// process.
class Transport {
public:
  explicit Transport(TransportOptions options) : options(options) {}
  virtual ~Transport() = default;

  const TransportOptions &settings() const { return options; }

  /// Announces rank.slots[slot]. Does not wait.
  virtual void start(dtc_rank &rank, int slot) = 0;
  /// Completes it. Does not return after an error.
  virtual void wait(dtc_rank &rank, int slot) = 0;

  /// Sends to the group's next member and receives from the previous one: the
  /// ring's only operation.
  virtual void shift(dtc_rank &rank, int slot, const void *send,
                     int64_t sendBytes, void *recv, int64_t recvBytes) = 0;

  /// This rank's end of a channel. Does not wait for the other.
  virtual std::unique_ptr<ChannelEnd>
  open(dtc_rank &rank, const dtc_channel &channel, bool receives) = 0;
  /// Ends the job where the other end is not there or is another. All ranks
  /// have opened theirs.
  virtual void confirm(dtc_rank &rank, ChannelEnd &end) = 0;
  /// Starts the end's next message: posts its receive, or sends it. Does not
  /// wait.
  virtual void startMessage(dtc_rank &rank, ChannelEnd &end, void *buffer) = 0;
  /// Waits for the oldest message that is not finished. Does not return after
  /// an error.
  virtual void finishMessage(dtc_rank &rank, ChannelEnd &end) = 0;

  /// The bytes at `data` of rank `from`, on rank 0; null on all other ranks.
  /// Called by all ranks with equal `from` and `bytes`; rank 0 may use the
  /// result until the next call or barrier.
  virtual const void *fetch(dtc_rank &rank, int64_t from, const void *data,
                            int64_t bytes) = 0;

  /// Bytes that the transport itself allocates for one rank.
  virtual int64_t scratchBytes() const = 0;

protected:
  TransportOptions options;
};

/// Slots that the runtime adds to the program's.
constexpr int64_t controlSlots = 1;

/// Elements of a ring's chunk and the bytes of its two buffers.
constexpr int64_t ringChunk = 32768;
constexpr int64_t ringScratchBytes = 2 * ringChunk * 8;

/// Whether `--collectives=ring` is about collectives of this kind: those that
/// reach every member.
bool goesAround(dtc_collective_kind kind);

/// Runs the collective in the slot around the ring, over transport.shift.
void runRing(dtc_rank &rank, int slot);

/// Collectives of the runtime itself, over all ranks.
class ControlCollectives {
public:
  explicit ControlCollectives(int64_t ranks);
  ControlCollectives(const ControlCollectives &) = delete;
  ControlCollectives &operator=(const ControlCollectives &) = delete;

  /// Maximum of four i32.
  dtc_collective step;

private:
  dtc_axis axis;
  dtc_block block;
};

/// An all-reduce of 64-bit integers over all ranks, in the last slot.
class AllReduce {
public:
  AllReduce(dtc_rank &rank, const char *name, dtc_reduction reduction,
            int64_t count);
  ~AllReduce();
  AllReduce(const AllReduce &) = delete;
  AllReduce &operator=(const AllReduce &) = delete;

  void run(int64_t *data);

private:
  dtc_rank &rank;
  dtc_axis axis;
  dtc_block block;
  dtc_collective what;
};

/// Maximum over all ranks of four numbers, in the last slot, which the program
/// never uses.
void agree(dtc_rank &rank, int32_t (&data)[4]);

/// Compares all ends that the rank has opened with the others', in the order of
/// the channels' numbers. Called by all ranks after a barrier.
void confirmChannels(dtc_rank &rank);

/// A step finishes the messages that it starts; throws Error where it did not.
void checkMessagesFinished(const dtc_rank &rank);

/// All ranks arrive before one leaves.
void barrier(dtc_rank &rank);

/// While it lives, the rank waits for others without a watchdog: file work.
class Unwatched {
public:
  explicit Unwatched(dtc_rank &rank) : rank(rank), before(rank.watched) {
    rank.watched = false;
  }
  ~Unwatched() { rank.watched = before; }
  Unwatched(const Unwatched &) = delete;
  Unwatched &operator=(const Unwatched &) = delete;

private:
  dtc_rank &rank;
  bool before;
};

} // namespace dtc::rt
#endif // DTC_RUNTIME_TRANSPORT_H
