//===- MpiTransport.cpp - Ranks as MPI processes --------------------------===//

#include "dtc/Runtime/MpiTransport.h"
#include "dtc/Runtime/Error.h"
#include "dtc/Runtime/Philox.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <sched.h>

using namespace dtc::rt;

/// Messages of one collective, told apart by the low bits of the tag.
enum Phase { Announce, Reduce, Copy, RingShift };
constexpr int fetchTag = 1 << 30;

MpiTransport::MpiTransport(MpiLibrary &mpi, int64_t slotCount,
                           TransportOptions options,
                           std::vector<PeerProcess> peerProcesses,
                           JobBoard *board, bool oversubscribed)
    : Transport(options), mpi(mpi), peers(std::move(peerProcesses)),
      board(board), oversubscribed(oversubscribed),
      chunkBytes(std::clamp<int64_t>((int64_t(4) << 20) / mpi.size(),
                                     int64_t(64) << 10, int64_t(256) << 10)),
      staging(new char[size_t(2 * mpi.size() * chunkBytes)]),
      slots(size_t(slotCount)), announcements(size_t(slotCount)) {
  for (Slot &slot : slots)
    slot.theirs.resize(size_t(mpi.size()));
  for (auto &list : announcements)
    list.reserve(size_t(2 * mpi.size()) + 32);
  pending.reserve(size_t(2 * mpi.size()));
}

int64_t MpiTransport::scratchBytes() const {
  return 2 * mpi.size() * chunkBytes + (options.ring ? ringScratchBytes : 0);
}

char *MpiTransport::stage(int peer, bool receive) {
  return staging.get() + (2 * peer + receive) * chunkBytes;
}

std::string MpiTransport::Description::text() const {
  return cat("'", name, "' (", nameOf(dtc_collective_kind(kind)), " of ",
             elements, " ", nameOf(dtc_dtype(dtype)), " elements in ", buffers,
             " buffers)");
}

/// Whether a rank exchanges anything with another member.
static bool meets(const Plan &plan, int peer) {
  return plan.kind() != DTC_SHIFT ||
         peer == plan.members()[size_t(plan.next())] ||
         peer == plan.members()[size_t(plan.previous())];
}

void MpiTransport::start(dtc_rank &rank, int index) {
  Slot &slot = slots[size_t(index)];
  const Plan &plan = *rank.slots[size_t(index)].plan;
  // 14 bits of the group, 14 of the number in it, 2 of the phase. Where two
  // groups fall together, MPI's order of messages keeps them apart, and the
  // descriptions show if it did not.
  int number = sequence[plan.members()]++;
  uint64_t group =
      hashName({reinterpret_cast<const char *>(plan.members().data()),
                plan.members().size() * sizeof(int)});
  slot.tag = int((group & 0x3fff) << 16 | uint64_t(number & 0x3fff) << 2);

  Description &mine = slot.mine;
  memset(&mine, 0, sizeof(mine));
  mine.signature = plan.signature();
  mine.step = rank.step;
  mine.elements = plan.elements();
  mine.buffers = plan.what().num_buffers;
  mine.kind = plan.what().kind;
  mine.dtype = plan.what().dtype;
  snprintf(mine.name, sizeof(mine.name), "%s",
           plan.what().name ? plan.what().name : "?");

  std::vector<Pending> &list = announcements[size_t(index)];
  list.clear();
  for (int peer : plan.members()) {
    if (peer == rank.id || !meets(plan, peer))
      continue;
    list.push_back({mpi.receive(&slot.theirs[size_t(peer)], sizeof(Description),
                                peer, slot.tag | Announce),
                    peer});
    list.push_back(
        {mpi.send(&mine, sizeof(mine), peer, slot.tag | Announce), peer});
  }
  if (plan.kind() == DTC_SHIFT)
    startShift(rank, index);
}

/// A shift's data is on its way from the start on: that it runs beside the
/// program's work is what it is for.
void MpiTransport::startShift(dtc_rank &rank, int index) {
  InFlight &flight = rank.slots[size_t(index)];
  const Plan &plan = *flight.plan;
  int tag = slots[size_t(index)].tag | Copy;
  int next = plan.members()[size_t(plan.next())];
  int previous = plan.members()[size_t(plan.previous())];
  int64_t width = plan.elementBytes();
  constexpr int64_t part = int64_t(1) << 26; // elements
  std::vector<Pending> &list = announcements[size_t(index)];
  for (int64_t at = 0; at < plan.elements(); at += part) {
    int64_t end = std::min(plan.elements(), at + part);
    plan.forEachRun(
        Side::Recv, 0, flight.recv.data(), at, end,
        [&](char *x, int64_t n, int64_t) {
          list.push_back(
              {mpi.receive(x, size_t(n * width), previous, tag), previous});
        });
    plan.forEachRun(Side::Send, 0, flight.send.data(), at, end,
                    [&](char *x, int64_t n, int64_t) {
                      list.push_back(
                          {mpi.send(x, size_t(n * width), next, tag), next});
                    });
  }
}

void MpiTransport::wait(dtc_rank &rank, int index) {
  Slot &slot = slots[size_t(index)];
  const Plan &plan = *rank.slots[size_t(index)].plan;
  finish(rank, plan, announcements[size_t(index)]);
  for (int peer : plan.members()) {
    const Description &theirs = slot.theirs[size_t(peer)];
    if (peer != rank.id && meets(plan, peer) &&
        theirs.signature != slot.mine.signature)
      fatal(cat("rank ", rank.id, " and rank ", peer,
                " disagree about a collective in ", placeText(rank), ": rank ",
                rank.id, " has ", slot.mine.text(), ", rank ", peer, " has ",
                theirs.text()));
  }
  if (plan.kind() == DTC_SHIFT) {
    rank.bytesSent += plan.directBytes();
    return;
  }
  if (options.ring && goesAround(plan.kind())) {
    runRing(rank, index);
    return;
  }
  if (plan.kind() == DTC_ALL_REDUCE || plan.kind() == DTC_REDUCE_SCATTER)
    reducePhase(rank, index);
  if (plan.kind() != DTC_REDUCE_SCATTER)
    copyPhase(rank, index);
}

/// The state letter of a process in /proc, 0 where there is no such process.
static char processState(int64_t pid) {
  char path[64], text[512];
  snprintf(path, sizeof(path), "/proc/%lld/stat", static_cast<long long>(pid));
  FILE *file = fopen(path, "re");
  if (!file)
    return kill(pid_t(pid), 0) != 0 && errno == ESRCH ? 0 : '?';
  size_t n = fread(text, 1, sizeof(text) - 1, file);
  fclose(file);
  text[n] = 0;
  // The name before it is in parentheses and may hold anything.
  const char *close = strrchr(text, ')');
  return close && close[1] == ' ' ? close[2] : '?';
}

/// Ends the job if a peer that we wait for is dead or, `late`, did not arrive.
void MpiTransport::checkPeers(dtc_rank &rank, const Operation &operation,
                              const Pending *list, size_t n, bool late) {
  auto isDead = [&](int i) {
    const PeerProcess &peer = peers[size_t(i)];
    char state = peer.local ? processState(peer.pid) : '?';
    return state == 0 || state == 'Z' || state == 'X';
  };
  auto waitsFor = [&](int i) {
    // A dead rank's last word counts no more.
    return board && peers[size_t(i)].local && !isDead(i)
               ? board->waitsFor[i].load(std::memory_order_relaxed) - 1
               : -1;
  };
  for (size_t i = 0; i < n; ++i) {
    const Pending &item = list[i];
    if (!item.request)
      continue;
    int culprit = lastInChain(item.peer, int64_t(peers.size()), waitsFor);
    bool dead = isDead(culprit);
    if (!dead && !late)
      continue;
    const PeerProcess &peer = peers[size_t(culprit)];
    bool stopped = peer.local && processState(peer.pid) == 'T';
    std::string what =
        dead ? cat(" died (process ", peer.pid, " is gone)")
             : cat(" did not arrive within ", options.timeout, " s",
                   stopped ? cat(" (process ", peer.pid, " is stopped)") : "");
    fatal(cat(whereText(rank), ", ", operation.text(), ": rank ", culprit, what,
              culprit != item.peer
                  ? cat(" (rank ", item.peer, ", which is late, waits for it)")
                  : ""));
  }
}

void MpiTransport::finish(dtc_rank &rank, const Operation &what,
                          std::vector<Pending> &list) {
  finish(rank, what, list.data(), list.size());
  list.clear();
}

/// Completes requests, under the watchdog.
void MpiTransport::finish(dtc_rank &rank, const Operation &what, Pending *list,
                          size_t n) {
  const int spins = oversubscribed ? 4 : 2000;
  double began = 0, checked = 0; // 0: not idle for long
  for (int idle = 0;;) {
    bool progress = false;
    int open = -1;
    for (size_t i = 0; i < n; ++i) {
      Pending &item = list[i];
      if (!item.request)
        continue;
      if (mpi.test(item.request))
        progress = true;
      else
        open = item.peer;
    }
    if (open < 0)
      break;
    if (progress) {
      idle = 0;
      began = 0;
    }
    ++idle;
    if (idle < spins) {
      cpuPause();
      continue;
    }
    if (idle < spins + 8) {
      sched_yield();
      continue;
    }
    double time = now();
    if (began == 0) {
      began = checked = time;
      if (board)
        board->waitsFor[rank.id].store(open + 1, std::memory_order_relaxed);
    }
    if (time - checked > 0.1) {
      checked = time;
      checkPeers(rank, what, list, n, false);
    }
    if (time - began > options.timeout && rank.watched)
      checkPeers(rank, what, list, n, true);
    timespec nap = {0, 20000};
    nanosleep(&nap, nullptr);
  }
  if (board)
    board->waitsFor[rank.id].store(0, std::memory_order_relaxed);
}

/// The elements' address where they lie side by side, else null.
static char *contiguous(const Plan &plan, Side side, int peer,
                        void *const *buffers, int64_t begin, int64_t end) {
  char *address = nullptr;
  plan.forEachRun(side, peer, buffers, begin, end,
                  [&](char *x, int64_t n, int64_t at) {
                    if (at == begin && n == end - begin)
                      address = x;
                  });
  return address;
}

static void pack(const Plan &plan, Side side, int peer, void *const *buffers,
                 int64_t begin, int64_t end, char *to) {
  int64_t width = plan.elementBytes();
  plan.forEachRun(side, peer, buffers, begin, end,
                  [&](char *x, int64_t n, int64_t at) {
                    memcpy(to + (at - begin) * width, x, size_t(n * width));
                  });
}

static void unpack(const Plan &plan, Side side, int peer, void *const *buffers,
                   int64_t begin, int64_t end, const char *from) {
  int64_t width = plan.elementBytes();
  plan.forEachRun(side, peer, buffers, begin, end,
                  [&](char *x, int64_t n, int64_t at) {
                    memcpy(x, from + (at - begin) * width, size_t(n * width));
                  });
}

/// Every member receives all terms of its own piece and sums them in order.
void MpiTransport::reducePhase(dtc_rank &rank, int index) {
  InFlight &flight = rank.slots[size_t(index)];
  const Plan &plan = *flight.plan;
  int tag = slots[size_t(index)].tag | Reduce;
  bool flat = plan.kind() == DTC_ALL_REDUCE;
  Side from = flat ? Side::Flat : Side::Send;
  Side to = flat ? Side::Flat : Side::Recv;
  int64_t width = plan.elementBytes(), chunk = chunkBytes / width;
  int k = plan.size(), me = plan.index();
  auto begin = [&](int j) { return flat ? plan.pieceBegin(j) : 0; };
  auto end = [&](int j) { return flat ? plan.pieceEnd(j) : plan.elements(); };

  // Member 0's piece is the longest.
  for (int64_t c = 0; c < end(0); c += chunk) {
    int64_t first = std::min(begin(me) + c, end(me));
    int64_t last = std::min(first + chunk, end(me));
    for (int i = 1; i < k; ++i) {
      int j = (me + i) % k, peer = plan.members()[size_t(j)];
      if (first < last)
        pending.push_back(
            {mpi.receive(stage(peer, true), size_t((last - first) * width),
                         peer, tag),
             peer});
    }
    for (int i = 1; i < k; ++i) {
      int j = (me + i) % k, peer = plan.members()[size_t(j)];
      int64_t a = std::min(begin(j) + c, end(j));
      int64_t b = std::min(a + chunk, end(j));
      if (a >= b)
        continue;
      char *data = contiguous(plan, from, j, flight.send.data(), a, b);
      if (!data) {
        data = stage(peer, false);
        pack(plan, from, j, flight.send.data(), a, b, data);
      }
      pending.push_back(
          {mpi.send(data, size_t((b - a) * width), peer, tag), peer});
      rank.bytesSent += (b - a) * width;
    }
    finish(rank, plan, pending);

    constexpr int64_t tile = 1024;
    alignas(64) char sums[tile * 8];
    const Reducer &reducer = plan.reduce();
    for (int64_t at = first; at < last; at += tile) {
      int64_t n = std::min(tile, last - at);
      for (int j = 0; j < k; ++j) {
        auto *fold = j ? reducer.add : reducer.load;
        if (j != me) {
          const char *term = stage(plan.members()[size_t(j)], true);
          fold(sums, term + (at - first) * width, n);
          continue;
        }
        plan.forEachRun(from, me, flight.send.data(), at, at + n,
                        [&](char *x, int64_t m, int64_t p) {
                          fold(sums + (p - at) * reducer.accumulatorBytes, x,
                               m);
                        });
      }
      plan.forEachRun(to, me, flight.recv.data(), at, at + n,
                      [&](char *y, int64_t m, int64_t p) {
                        reducer.store(
                            y, sums + (p - at) * reducer.accumulatorBytes, m);
                      });
    }
  }
}

/// Every member sends what another needs; an all-reduce its reduced piece.
void MpiTransport::copyPhase(dtc_rank &rank, int index) {
  InFlight &flight = rank.slots[size_t(index)];
  const Plan &plan = *flight.plan;
  int tag = slots[size_t(index)].tag | Copy;
  bool flat = plan.kind() == DTC_ALL_REDUCE;
  Side from = flat ? Side::Flat : Side::Send;
  Side to = flat ? Side::Flat : Side::Recv;
  void *const *source = flat ? flight.recv.data() : flight.send.data();
  int64_t width = plan.elementBytes(), chunk = chunkBytes / width;
  int k = plan.size(), me = plan.index();
  auto begin = [&](int j) { return flat ? plan.pieceBegin(j) : 0; };
  auto end = [&](int j) { return flat ? plan.pieceEnd(j) : plan.elements(); };

  if (!flat)
    plan.forEachRun(from, me, source, 0, plan.elements(),
                    [&](char *x, int64_t n, int64_t at) {
                      plan.forEachRun(to, me, flight.recv.data(), at, at + n,
                                      [&](char *y, int64_t m, int64_t p) {
                                        const char *term = x + (p - at) * width;
                                        if (y != term)
                                          memcpy(y, term, size_t(m * width));
                                      });
                    });

  for (int64_t c = 0; c < end(0); c += chunk) {
    auto range = [&](int j) {
      int64_t first = std::min(begin(j) + c, end(j));
      return std::pair(first, std::min(first + chunk, end(j)));
    };
    for (int i = 1; i < k; ++i) {
      int j = (me + i) % k, peer = plan.members()[size_t(j)];
      auto [a, b] = range(j);
      if (a >= b)
        continue;
      char *data = contiguous(plan, to, j, flight.recv.data(), a, b);
      pending.push_back({mpi.receive(data ? data : stage(peer, true),
                                     size_t((b - a) * width), peer, tag),
                         peer});
    }
    auto [first, last] = range(me);
    for (int i = 1; i < k && first < last; ++i) {
      int j = (me + i) % k, peer = plan.members()[size_t(j)];
      char *data = contiguous(plan, from, j, source, first, last);
      if (!data) {
        data = stage(peer, false);
        pack(plan, from, j, source, first, last, data);
      }
      pending.push_back(
          {mpi.send(data, size_t((last - first) * width), peer, tag), peer});
      rank.bytesSent += (last - first) * width;
    }
    finish(rank, plan, pending);
    for (int i = 1; i < k; ++i) {
      int j = (me + i) % k, peer = plan.members()[size_t(j)];
      auto [a, b] = range(j);
      if (a < b && !contiguous(plan, to, j, flight.recv.data(), a, b))
        unpack(plan, to, j, flight.recv.data(), a, b, stage(peer, true));
    }
  }
}

void MpiTransport::shift(dtc_rank &rank, int index, const void *send,
                         int64_t sendBytes, void *recv, int64_t recvBytes) {
  const Plan &plan = *rank.slots[size_t(index)].plan;
  int tag = slots[size_t(index)].tag | RingShift;
  int k = plan.size(), me = plan.index();
  int next = plan.members()[size_t((me + 1) % k)];
  int previous = plan.members()[size_t((me + k - 1) % k)];
  if (recvBytes)
    pending.push_back(
        {mpi.receive(recv, size_t(recvBytes), previous, tag), previous});
  if (sendBytes)
    pending.push_back({mpi.send(send, size_t(sendBytes), next, tag), next});
  finish(rank, plan, pending);
  rank.bytesSent += sendBytes;
}

const void *MpiTransport::fetch(dtc_rank &rank, int64_t from, const void *data,
                                int64_t bytes) {
  if (from == 0)
    return rank.id == 0 ? data : nullptr;
  constexpr int64_t part = int64_t(1) << 26;
  if (rank.id == 0)
    fetched.resize(std::max(fetched.size(), size_t(bytes)));
  const Plan &plan = rank.planOf(rank.control->step); // for messages
  for (int64_t at = 0; at < bytes; at += part) {
    size_t n = size_t(std::min(part, bytes - at));
    if (rank.id == 0)
      pending.push_back(
          {mpi.receive(fetched.data() + at, n, int(from), fetchTag),
           int(from)});
    else if (rank.id == from)
      pending.push_back(
          {mpi.send(static_cast<const char *>(data) + at, n, 0, fetchTag), 0});
    finish(rank, plan, pending);
  }
  return rank.id == 0 ? fetched.data() : nullptr;
}
