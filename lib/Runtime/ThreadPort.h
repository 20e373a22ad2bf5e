//===- ThreadPort.h - What rank threads share -------------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_THREADPORT_H
#define DTC_LIB_RUNTIME_THREADPORT_H

#include "dtc/Runtime/Fifo.h"
#include "dtc/Runtime/ThreadTransport.h"

namespace dtc::rt {

/// What a rank publishes about one slot. It stays until all peers have read.
struct alignas(64) ThreadTransport::Record {
  /// Group and number of the collective in its group; 0: none.
  std::atomic<uint64_t> tag{0};
  /// Set when the rank's piece of an all-reduce is in its receive buffers.
  std::atomic<uint32_t> reduced{0};
  /// Peers that need nothing any more.
  alignas(64) std::atomic<uint32_t> finished{0};
  /// The ring: how many pieces were offered to, and taken by, the next member.
  alignas(64) std::atomic<uint32_t> offered{0};
  std::atomic<uint32_t> taken{0};
  const void *offer = nullptr;
  const Plan *plan = nullptr;
  void *const *send = nullptr, *const *recv = nullptr;
};

struct alignas(64) ThreadTransport::Bell {
  std::atomic<uint32_t> changes{0};
  std::atomic<uint32_t> sleepers{0};
};

/// A rank as its peers see it.
struct alignas(64) ThreadTransport::Port {
  explicit Port(int64_t slots) : records(new Record[size_t(slots)]) {}

  /// Rings at changes of the records.
  Bell bell;
  /// For messages: the rank, and what it waits in.
  alignas(64) std::atomic<const dtc_rank *> owner{nullptr};
  std::atomic<const Operation *> waitingIn{nullptr};
  std::atomic<int> waitsFor{-1};
  std::atomic<const void *> shared{nullptr};
  std::unique_ptr<Record[]> records;
  /// Number of collectives that the rank started, by group. Only its own.
  std::vector<uint64_t> sequence;
  /// Records of the members of the collective that the rank waits in.
  std::vector<Record *> peers;
};

/// Where the two ends of a channel meet. The n-th send goes into the n-th
/// posted buffer; the rank that comes second copies. One rank copies at a time,
/// and in order: the other's next call begins after its last one returned, so
/// it finds either a message that nobody copies or none.
struct ThreadTransport::Mailbox {
  std::mutex mutex;
  /// Under the mutex. Each end takes its entries out when it has waited.
  Fifo<void *> posted, sent;
  /// Messages that were copied.
  std::atomic<uint64_t> delivered{0};
  Bell bell;
  /// The ends that were opened; the receiving one is 1.
  const ThreadEnd *ends[2] = {};
};

/// Waits until ready(), which changes when the bell rings.
template <typename Ready>
void ThreadTransport::await(dtc_rank &rank, const Operation &what, Bell &bell,
                            int peer, Ready ready) {
  for (int i = 0; i < spins; ++i) {
    if (ready())
      return;
    cpuPause();
  }
  // No sched_yield: beside other busy processes each costs a turn of all of
  // them, while who sleeps is woken before them.
  std::atomic<int> &waitsFor = ports[size_t(rank.id)]->waitsFor;
  waitsFor.store(peer, std::memory_order_relaxed);
  double deadline = now() + options.timeout;
  for (;;) {
    uint32_t seen = bell.changes.load();
    if (ready()) {
      waitsFor.store(-1, std::memory_order_relaxed);
      return;
    }
    double left = deadline - now();
    if (left <= 0 && rank.watched)
      timedOut(rank, what, peer);
    bell.sleepers.fetch_add(1);
    futexWait(bell.changes, seen, std::clamp(left, 0.001, 1.0));
    bell.sleepers.fetch_sub(1);
  }
}

} // namespace dtc::rt
#endif // DTC_LIB_RUNTIME_THREADPORT_H
