//===- Plan.h - A collective as one rank sees it ----------------*- C++ -*-===//

#ifndef DTC_RUNTIME_PLAN_H
#define DTC_RUNTIME_PLAN_H

#include "dtc/Runtime/Operation.h"
#include "dtc/Runtime/Piece.h"
#include "dtc/Runtime/Reduce.h"

#include <algorithm>
#include <string>
#include <vector>

namespace dtc::rt {

/// Which elements of the buffers two members exchange.
enum class Side {
  Send, ///< what goes to a peer, in the send buffers
  Recv, ///< what comes from a peer, in the receive buffers
  Flat, ///< all elements of the buffers (all-reduce)
};

/// What a rank works out once about a collective. What a pair of members
/// exchanges is a *stream*: the elements of all buffers of the bucket, one
/// after the other, which rank's memory holds in runs.
class Plan : public Operation {
public:
  Plan(const dtc_collective &what, int64_t rank);

  const dtc_collective &what() const { return *collective; }
  dtc_collective_kind kind() const {
    return dtc_collective_kind(collective->kind);
  }
  int64_t elementBytes() const { return bytes; }
  const Reducer &reduce() const { return *reductions; }
  /// Members in order, as ranks, and this rank's place among them.
  const std::vector<int> &members() const { return ranks; }
  int size() const { return int(ranks.size()); }
  int index() const { return place; }
  /// The neighbours in the order of the members, which is a ring.
  int next() const { return (place + 1) % size(); }
  int previous() const { return (place + size() - 1) % size(); }
  /// Equal on all members that announce the same collective.
  uint64_t signature() const { return hash; }
  /// Elements of the stream of a pair; all elements for an all-reduce.
  int64_t elements() const { return starts.back(); }
  /// An all-reduce cuts its stream into one piece per member.
  int64_t pieceBegin(int member) const {
    return std::min(elements(), member * pieceLength);
  }
  int64_t pieceEnd(int member) const { return pieceBegin(member + 1); }
  /// Bytes that this rank sends by the direct exchange, (k-1)/k of all for a
  /// gather or a scatter.
  int64_t directBytes() const;

  /// "'grads 0' (all_reduce of 12 f32 elements in 3 buffers)"
  std::string text() const override;

  /// Calls f(pointer, n, position) for the runs of elements [begin, end) of
  /// the stream that this rank's `side` exchanges with `peer`.
  template <typename F>
  void forEachRun(Side side, int peer, void *const *buffers, int64_t begin,
                  int64_t end, F f) const {
    if (begin >= end)
      return;
    size_t b = size_t(std::upper_bound(starts.begin(), starts.end(), begin) -
                      starts.begin()) -
               1;
    for (int64_t at = begin; at < end; ++b) {
      int64_t stop = std::min(end, starts[b + 1]);
      if (stop <= at)
        continue;
      View view = viewOf(side, peer, collective->blocks[b]);
      char *base = static_cast<char *>(buffers[b]) + view.offset * bytes;
      int64_t row = (at - starts[b]) / view.length;
      int64_t column = (at - starts[b]) % view.length;
      while (at < stop) {
        int64_t n = std::min(view.length - column, stop - at);
        f(base + (row * view.stride + column) * bytes, n, at);
        at += n;
        column = 0;
        ++row;
      }
    }
  }

  /// Compares fields, not contents behind pointers.
  bool describes(const dtc_collective &other) const;

private:
  /// Rows of `length` elements, `stride` apart.
  struct View {
    int64_t offset, length, stride;
  };
  View viewOf(Side side, int peer, const dtc_block &block) const;

  const dtc_collective *collective;
  dtc_collective copy;
  std::vector<int> ranks;
  int place = 0;
  int64_t bytes;
  const Reducer *reductions;
  std::vector<int64_t> starts;
  int64_t pieceLength = 0;
  uint64_t hash;
};

const char *nameOf(dtc_collective_kind kind);

} // namespace dtc::rt
#endif // DTC_RUNTIME_PLAN_H
