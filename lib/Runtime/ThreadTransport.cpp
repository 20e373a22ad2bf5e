//===- ThreadTransport.cpp - Ranks as threads of one process --------------===//

#include "ThreadPort.h"
#include "dtc/Runtime/Error.h"

#include <cstring>

using namespace dtc::rt;

ThreadTransport::ThreadTransport(int64_t ranks, int64_t slotCount,
                                 TransportOptions options, bool oversubscribed)
    : Transport(options), slots(slotCount),
      // Where every rank has a core of its own, a short spin saves the sleep;
      // otherwise it takes time from the rank that is waited for.
      spins(oversubscribed ? 32 : 4000) {
  for (int64_t i = 0; i < ranks; ++i) {
    ports.push_back(std::make_unique<Port>(slots));
    ports.back()->peers.resize(size_t(ranks));
  }
}

ThreadTransport::~ThreadTransport() = default;

int64_t ThreadTransport::scratchBytes() const {
  return options.ring ? ringScratchBytes : 0;
}

uint64_t ThreadTransport::groupOf(const Plan &plan) {
  std::lock_guard<std::mutex> lock(groupsMutex);
  return groups.try_emplace(plan.members(), groups.size() + 1).first->second;
}

void ThreadTransport::notify(Bell &bell) {
  bell.changes.fetch_add(1);
  if (bell.sleepers.load() > 0)
    futexWakeAll(bell.changes);
}

void ThreadTransport::enroll(const dtc_rank &rank) {
  ports[size_t(rank.id)]->owner.store(&rank);
}

void ThreadTransport::timedOut(dtc_rank &rank, const Operation &what,
                               int peer) {
  int culprit = lastInChain(peer, int64_t(ports.size()), [&](int i) {
    return ports[size_t(i)]->waitsFor.load(std::memory_order_relaxed);
  });
  const Port &port = *ports[size_t(culprit)];
  const Operation *other = port.waitingIn.load();
  fatal(cat(whereText(rank), ", ", what.text(), ": rank ", culprit,
            " did not arrive within ", options.timeout, " s; it is in ",
            placeText(*port.owner.load()), ", ",
            other ? "waiting in " + other->text() : "computing",
            culprit != peer
                ? cat(" (rank ", peer, ", which is late, waits for it)")
                : ""));
}

void ThreadTransport::checkAgreement(dtc_rank &rank, const Plan &plan, int peer,
                                     const Plan &other) {
  if (plan.signature() == other.signature())
    return;
  fatal(cat("rank ", rank.id, " and rank ", peer,
            " disagree about a collective in ", placeText(rank), ": rank ",
            rank.id, " has ", plan.text(), ", rank ", peer, " has ",
            other.text()));
}

ThreadTransport::Record &ThreadTransport::find(dtc_rank &rank, const Plan &plan,
                                               uint64_t tag, int peer,
                                               int slot) {
  Port &port = *ports[size_t(peer)];
  Record *found = nullptr;
  await(rank, plan, port.bell, peer, [&] {
    // Mostly all ranks use the same slot.
    for (int64_t i = 0; i < slots; ++i) {
      Record &record = port.records[size_t((slot + i) % slots)];
      if (record.tag.load(std::memory_order_acquire) == tag) {
        found = &record;
        return true;
      }
    }
    return false;
  });
  checkAgreement(rank, plan, peer, *found->plan);
  return *found;
}

void ThreadTransport::start(dtc_rank &rank, int slot) {
  Port &port = *ports[size_t(rank.id)];
  InFlight &flight = rank.slots[size_t(slot)];
  Record &record = port.records[size_t(slot)];
  uint64_t group = groupOf(*flight.plan);
  if (port.sequence.size() <= group)
    port.sequence.resize(group + 1);
  record.plan = flight.plan;
  record.send = flight.send.data();
  record.recv = flight.recv.data();
  record.reduced.store(0, std::memory_order_relaxed);
  record.finished.store(0, std::memory_order_relaxed);
  record.offered.store(0, std::memory_order_relaxed);
  record.taken.store(0, std::memory_order_relaxed);
  record.tag.store(group << 40 | ++port.sequence[group]);
  notify(port.bell);
}

/// Elements [begin, end) of the stream, summed over the members in order.
void ThreadTransport::reduceOwn(dtc_rank &rank, const Plan &plan, Side from,
                                Side to, int64_t begin, int64_t end) {
  constexpr int64_t tile = 1024;
  Port &port = *ports[size_t(rank.id)];
  const Reducer &reducer = plan.reduce();
  int k = plan.size(), me = plan.index();
  auto work = [&](int64_t t) {
    alignas(64) char sums[tile * 8];
    int64_t first = begin + t * tile, last = std::min(end, first + tile);
    for (int j = 0; j < k; ++j)
      plan.forEachRun(from, me, port.peers[size_t(j)]->send, first, last,
                      [&](char *x, int64_t n, int64_t at) {
                        char *acc =
                            sums + (at - first) * reducer.accumulatorBytes;
                        (j ? reducer.add : reducer.load)(acc, x, n);
                      });
    plan.forEachRun(to, me, port.peers[size_t(me)]->recv, first, last,
                    [&](char *y, int64_t n, int64_t at) {
                      reducer.store(
                          y, sums + (at - first) * reducer.accumulatorBytes, n);
                    });
  };
  int64_t tiles = (end - begin + tile - 1) / tile;
  if (rank.threads > 1 && tiles >= 16) {
#pragma omp parallel for num_threads(rank.threads) schedule(static)
    for (int64_t t = 0; t < tiles; ++t)
      work(t);
    return;
  }
  for (int64_t t = 0; t < tiles; ++t)
    work(t);
}

/// What comes from a member: of an all-reduce its reduced piece, else what it
/// sends to this rank.
void ThreadTransport::copyFrom(dtc_rank &rank, const Plan &plan, int peer) {
  Port &port = *ports[size_t(rank.id)];
  const Record &from = *port.peers[size_t(peer)];
  const Record &mine = *port.peers[size_t(plan.index())];
  int64_t width = plan.elementBytes();
  bool flat = plan.kind() == DTC_ALL_REDUCE;
  int64_t begin = flat ? plan.pieceBegin(peer) : 0;
  int64_t end = flat ? plan.pieceEnd(peer) : plan.elements();
  auto work = [&](int64_t first, int64_t last) {
    plan.forEachRun(flat ? Side::Flat : Side::Send, plan.index(),
                    flat ? from.recv : from.send, first, last,
                    [&](char *x, int64_t n, int64_t at) {
                      plan.forEachRun(
                          flat ? Side::Flat : Side::Recv, peer, mine.recv, at,
                          at + n, [&](char *y, int64_t m, int64_t to) {
                            const char *source = x + (to - at) * width;
                            if (y != source)
                              memcpy(y, source, size_t(m * width));
                          });
                    });
  };
  constexpr int64_t tile = 65536;
  int64_t tiles = (end - begin + tile - 1) / tile;
  if (rank.threads > 1 && tiles >= 2) {
#pragma omp parallel for num_threads(rank.threads) schedule(static)
    for (int64_t t = 0; t < tiles; ++t)
      work(begin + t * tile, std::min(end, begin + (t + 1) * tile));
    return;
  }
  work(begin, end);
}

void ThreadTransport::runDirect(dtc_rank &rank, int slot) {
  Port &port = *ports[size_t(rank.id)];
  const Plan &plan = *rank.slots[size_t(slot)].plan;
  Record &mine = port.records[size_t(slot)];
  int k = plan.size(), me = plan.index();

  if (plan.kind() == DTC_REDUCE_SCATTER) {
    reduceOwn(rank, plan, Side::Send, Side::Recv, 0, plan.elements());
  } else if (plan.kind() == DTC_ALL_REDUCE) {
    reduceOwn(rank, plan, Side::Flat, Side::Flat, plan.pieceBegin(me),
              plan.pieceEnd(me));
    mine.reduced.store(1);
    notify(port.bell);
  } else {
    copyFrom(rank, plan, me);
  }
  // Begin with the next member, so that not all read the same one at once.
  for (int i = 1; i < k; ++i) {
    int j = (me + i) % k;
    int peer = plan.members()[size_t(j)];
    Record &record = *port.peers[size_t(j)];
    if (plan.kind() == DTC_ALL_REDUCE)
      await(rank, plan, ports[size_t(peer)]->bell, peer,
            [&] { return record.reduced.load(std::memory_order_acquire); });
    if (plan.kind() != DTC_REDUCE_SCATTER)
      copyFrom(rank, plan, j);
    record.finished.fetch_add(1);
    notify(ports[size_t(peer)]->bell);
  }
  rank.bytesSent += plan.directBytes();
}

void ThreadTransport::wait(dtc_rank &rank, int slot) {
  Port &port = *ports[size_t(rank.id)];
  const Plan &plan = *rank.slots[size_t(slot)].plan;
  Record &mine = port.records[size_t(slot)];
  uint64_t tag = mine.tag.load(std::memory_order_relaxed);
  int k = plan.size(), me = plan.index();
  port.waitingIn.store(&plan, std::memory_order_release);

  port.peers[size_t(me)] = &mine;
  if (plan.kind() == DTC_SHIFT) {
    // Neighbours alone meet: the others may be ahead or behind.
    int from = plan.previous(), to = plan.members()[size_t(plan.next())];
    int peer = plan.members()[size_t(from)];
    Record &record = find(rank, plan, tag, peer, slot);
    port.peers[size_t(from)] = &record;
    copyFrom(rank, plan, from);
    record.finished.fetch_add(1);
    notify(ports[size_t(peer)]->bell);
    rank.bytesSent += plan.directBytes();
    await(rank, plan, port.bell, to,
          [&] { return mine.finished.load(std::memory_order_acquire) == 1; });
    mine.tag.store(0, std::memory_order_relaxed);
    port.waitingIn.store(nullptr, std::memory_order_relaxed);
    return;
  }
  for (int i = 1; i < k; ++i) {
    int j = (me + i) % k;
    port.peers[size_t(j)] =
        &find(rank, plan, tag, plan.members()[size_t(j)], slot);
  }
  if (options.ring && goesAround(plan.kind())) {
    runRing(rank, slot);
    for (int i = 1; i < k; ++i) {
      int j = (me + i) % k;
      port.peers[size_t(j)]->finished.fetch_add(1);
      notify(ports[size_t(plan.members()[size_t(j)])]->bell);
    }
  } else {
    runDirect(rank, slot);
  }

  // Wait until nobody reads this rank's buffers any more. Readers are counted,
  // not named: a late one is most likely a member that still computes.
  auto done = [&] {
    return mine.finished.load(std::memory_order_acquire) == uint32_t(k - 1);
  };
  int late = plan.members()[size_t((me + 1) % k)];
  for (int peer : plan.members())
    if (peer != rank.id && !ports[size_t(peer)]->waitingIn.load())
      late = peer;
  await(rank, plan, port.bell, late, done);
  mine.tag.store(0, std::memory_order_relaxed);
  port.waitingIn.store(nullptr, std::memory_order_relaxed);
}

void ThreadTransport::shift(dtc_rank &rank, int slot, const void *send,
                            int64_t sendBytes, void *recv, int64_t recvBytes) {
  Port &port = *ports[size_t(rank.id)];
  const Plan &plan = *rank.slots[size_t(slot)].plan;
  Record &mine = port.records[size_t(slot)];
  int k = plan.size(), me = plan.index();
  int previous = plan.members()[size_t((me + k - 1) % k)];
  int next = plan.members()[size_t((me + 1) % k)];
  Record &from = *port.peers[size_t((me + k - 1) % k)];

  mine.offer = send;
  uint32_t number = mine.offered.load(std::memory_order_relaxed) + 1;
  mine.offered.store(number);
  notify(port.bell);
  await(rank, plan, ports[size_t(previous)]->bell, previous,
        [&] { return from.offered.load(std::memory_order_acquire) == number; });
  if (recvBytes)
    memcpy(recv, from.offer, size_t(recvBytes));
  from.taken.store(number);
  notify(ports[size_t(previous)]->bell);
  await(rank, plan, port.bell, next,
        [&] { return mine.taken.load(std::memory_order_acquire) == number; });
  rank.bytesSent += sendBytes;
}

const void *ThreadTransport::fetch(dtc_rank &rank, int64_t from,
                                   const void *data, int64_t bytes) {
  // Everybody offers an address; rank 0 takes the one of `from`.
  Port &port = *ports[size_t(rank.id)];
  port.shared.store(data);
  barrier(rank);
  const void *found =
      rank.id == 0 ? ports[size_t(from)]->shared.load() : nullptr;
  barrier(rank);
  return found;
}

ThreadWorld::ThreadWorld(int64_t ranks, int64_t programSlots,
                         TransportOptions options, bool oversubscribed)
    : threads(ranks, programSlots + controlSlots, options, oversubscribed),
      control(ranks) {
  for (int64_t i = 0; i < ranks; ++i) {
    auto &rank = *list.emplace_back(std::make_unique<dtc_rank>());
    rank.id = i;
    rank.count = ranks;
    rank.transport = &threads;
    rank.control = &control;
    threads.enroll(rank);
    rank.slots.resize(size_t(programSlots + controlSlots));
    if (options.ring)
      rank.ringScratch.reset(new char[ringScratchBytes]);
  }
}
