//===- Ring.cpp - The neighbour-to-neighbour ring -------------------------===//
//
// A piece is reduced while it travels once around: it starts at the member
// behind its owner and ends at the owner, so the order of summation differs
// from piece to piece. Partial sums travel as accumulators (f32 for bf16), and
// are rounded once. Buffers of any size pass in chunks through two buffers of
// fixed size.
//
//===----------------------------------------------------------------------===//

#include "dtc/Runtime/Transport.h"

#include <cstring>

using namespace dtc::rt;

namespace {

class Ring {
public:
  Ring(dtc_rank &rank, int slot)
      : rank(rank), slot(slot), flight(rank.slots[size_t(slot)]),
        plan(*flight.plan), k(plan.size()), me(plan.index()),
        a(rank.ringScratch.get()), b(a + ringChunk * 8) {}

  /// Member i's stream in this rank's send buffers, reduced over all members
  /// and stored into `side` of the receive buffers.
  void reduceScatter() {
    int64_t width = plan.reduce().accumulatorBytes;
    for (int64_t c = 0; c < longest(); c += ringChunk) {
      for (int s = 0; s + 1 < k; ++s) {
        int out = (me - 1 - s + 2 * k) % k, in = (me - 2 - s + 2 * k) % k;
        if (s == 0)
          forEach(out, c, [&](char *x, int64_t n, int64_t at) {
            plan.reduce().load(a + at * width, x, n);
          });
        shift(a, length(out, c) * width, b, length(in, c) * width);
        // The neighbour's partial sum comes first, this rank's term last.
        forEach(in, c, [&](char *x, int64_t n, int64_t at) {
          plan.reduce().add(b + at * width, x, n);
        });
        std::swap(a, b);
      }
      int64_t from = begin(me) + c;
      plan.forEachRun(plan.kind() == DTC_ALL_REDUCE ? Side::Flat : Side::Recv,
                      me, flight.recv.data(), from, from + length(me, c),
                      [&](char *y, int64_t n, int64_t at) {
                        plan.reduce().store(y, a + (at - from) * width, n);
                      });
    }
  }

  /// Passes every member's stream around; this rank's own is at hand.
  void allGather() {
    int64_t width = plan.elementBytes();
    bool reduced = plan.kind() == DTC_ALL_REDUCE;
    for (int64_t c = 0; c < longest(); c += ringChunk) {
      auto own = [&](char *x, int64_t n, int64_t at) {
        memcpy(a + (at - begin(me) - c) * width, x, size_t(n * width));
      };
      int64_t from = begin(me) + c, to = from + length(me, c);
      if (reduced) {
        plan.forEachRun(Side::Flat, me, flight.recv.data(), from, to, own);
      } else {
        plan.forEachRun(Side::Send, me, flight.send.data(), from, to, own);
        unpack(me, c, a);
      }
      for (int s = 0; s + 1 < k; ++s) {
        int out = (me - s + k) % k, in = (me - 1 - s + 2 * k) % k;
        shift(a, length(out, c) * width, b, length(in, c) * width);
        unpack(in, c, b);
        std::swap(a, b);
      }
    }
  }

private:
  int64_t begin(int member) const {
    return plan.kind() == DTC_ALL_REDUCE ? plan.pieceBegin(member) : 0;
  }
  int64_t total(int member) const {
    return plan.kind() == DTC_ALL_REDUCE
               ? plan.pieceEnd(member) - plan.pieceBegin(member)
               : plan.elements();
  }
  /// Member 0's stream is never shorter than another's.
  int64_t longest() const { return total(0); }
  int64_t length(int member, int64_t chunk) const {
    return std::clamp<int64_t>(total(member) - chunk, 0, ringChunk);
  }

  /// Runs of a chunk of a member's stream in this rank's send buffers.
  template <typename F> void forEach(int member, int64_t chunk, F f) {
    int64_t from = begin(member) + chunk;
    plan.forEachRun(
        plan.kind() == DTC_ALL_REDUCE ? Side::Flat : Side::Send, member,
        flight.send.data(), from, from + length(member, chunk),
        [&](char *x, int64_t n, int64_t at) { f(x, n, at - from); });
  }

  void unpack(int member, int64_t chunk, const char *from) {
    int64_t first = begin(member) + chunk, width = plan.elementBytes();
    plan.forEachRun(plan.kind() == DTC_ALL_REDUCE ? Side::Flat : Side::Recv,
                    member, flight.recv.data(), first,
                    first + length(member, chunk),
                    [&](char *y, int64_t n, int64_t at) {
                      memcpy(y, from + (at - first) * width, size_t(n * width));
                    });
  }

  void shift(const char *out, int64_t outBytes, char *in, int64_t inBytes) {
    rank.transport->shift(rank, slot, out, outBytes, in, inBytes);
  }

  dtc_rank &rank;
  int slot;
  InFlight &flight;
  const Plan &plan;
  int k, me;
  char *a, *b;
};

} // namespace

bool dtc::rt::goesAround(dtc_collective_kind kind) {
  return kind != DTC_ALL_TO_ALL && kind != DTC_SHIFT;
}

void dtc::rt::runRing(dtc_rank &rank, int slot) {
  Ring ring(rank, slot);
  switch (rank.slots[size_t(slot)].plan->kind()) {
  case DTC_ALL_REDUCE:
    ring.reduceScatter();
    ring.allGather();
    break;
  case DTC_REDUCE_SCATTER:
    ring.reduceScatter();
    break;
  default:
    ring.allGather();
    break;
  }
}
