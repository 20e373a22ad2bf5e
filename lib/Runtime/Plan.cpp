//===- Plan.cpp - A collective as one rank sees it ------------------------===//

#include "dtc/Runtime/Plan.h"
#include "dtc/Runtime/Error.h"
#include "dtc/Runtime/Philox.h"

#include <cstring>

using namespace dtc::rt;

const char *dtc::rt::nameOf(dtc_collective_kind kind) {
  switch (kind) {
  case DTC_ALL_REDUCE:
    return "all_reduce";
  case DTC_ALL_GATHER:
    return "all_gather";
  case DTC_REDUCE_SCATTER:
    return "reduce_scatter";
  case DTC_ALL_TO_ALL:
    return "all_to_all";
  case DTC_SHIFT:
    return "shift";
  }
  return "an unknown collective";
}

static int64_t count(const dtc_block &block) {
  int64_t n = 1;
  for (int64_t d : block.n)
    n *= d;
  return n;
}

Plan::Plan(const dtc_collective &what, int64_t rank)
    : collective(&what), copy(what), bytes(sizeOf(dtc_dtype(what.dtype))),
      reductions(
          &reducer(dtc_dtype(what.dtype), dtc_reduction(what.reduction))) {
  // The axes span the group: start at the rank's coordinate 0 on all of them.
  int64_t origin = rank, k = 1;
  for (int a = 0; a < what.num_axes; ++a) {
    const dtc_axis &axis = what.axes[a];
    origin -= (rank / axis.stride) % axis.size * axis.stride;
    k *= axis.size;
  }
  for (int64_t i = 0; i < k; ++i) {
    int64_t member = origin, rest = i;
    for (int a = what.num_axes; a-- > 0;) {
      member += rest % what.axes[a].size * what.axes[a].stride;
      rest /= what.axes[a].size;
    }
    if (member == rank)
      place = int(i);
    ranks.push_back(int(member));
  }

  starts.push_back(0);
  for (int64_t b = 0; b < what.num_buffers; ++b)
    starts.push_back(starts.back() + count(what.blocks[b]));
  pieceLength = (elements() + k - 1) / k;

  int64_t header[] = {what.kind, what.reduction, what.dtype, what.num_buffers,
                      k,         origin};
  hash = hashName({reinterpret_cast<const char *>(header), sizeof(header)});
  hash = hash * 0x9E3779B97F4A7C15ull ^
         hashName({reinterpret_cast<const char *>(ranks.data()),
                   ranks.size() * sizeof(int)});
  for (int64_t b = 0; b < what.num_buffers; ++b) {
    const dtc_block &block = what.blocks[b];
    hash = hash * 0x9E3779B97F4A7C15ull ^
           hashName({reinterpret_cast<const char *>(block.n), sizeof(block.n)});
    // Any number but 0 gathers first.
    hash = hash * 3 + (block.gather_first != 0);
  }
}

bool Plan::describes(const dtc_collective &other) const {
  return copy.kind == other.kind && copy.reduction == other.reduction &&
         copy.dtype == other.dtype && copy.num_axes == other.num_axes &&
         copy.axes == other.axes && copy.num_buffers == other.num_buffers &&
         copy.blocks == other.blocks && copy.name == other.name;
}

int64_t Plan::directBytes() const {
  if (kind() == DTC_SHIFT)
    return elements() * bytes;
  int64_t others = size() - 1;
  if (kind() != DTC_ALL_REDUCE)
    return others * elements() * bytes;
  int64_t mine = pieceEnd(index()) - pieceBegin(index());
  return (elements() - mine + others * mine) * bytes;
}

std::string Plan::text() const {
  int64_t n = elements();
  return cat("'", collective->name ? collective->name : "?", "' (",
             nameOf(kind()), " of ", n, " ",
             nameOf(dtc_dtype(collective->dtype)),
             n == 1 ? " element in " : " elements in ", collective->num_buffers,
             collective->num_buffers == 1 ? " buffer)" : " buffers)");
}

Plan::View Plan::viewOf(Side side, int peer, const dtc_block &block) const {
  const int64_t *n = block.n;
  int64_t k = size(), all = count(block);
  View whole = {0, std::max<int64_t>(all, 1), 0};
  if (side == Side::Flat)
    return whole;
  // A dimension of k pieces, of which the peer's is one; `inner` elements
  // belong to a piece.
  auto cut = [&](int64_t inner) {
    return View{peer * inner, inner, k * inner};
  };
  int64_t outside = n[1] * n[2] * n[3] * n[4], inside = n[3] * n[4];
  switch (kind()) {
  case DTC_ALL_REDUCE:
  case DTC_SHIFT:
    return whole;
  case DTC_ALL_GATHER:
    return side == Side::Send ? whole : cut(outside);
  case DTC_REDUCE_SCATTER:
    return side == Side::Send ? cut(outside) : whole;
  case DTC_ALL_TO_ALL:
    return (side == Side::Send) == (block.gather_first != 0) ? cut(inside)
                                                             : cut(outside);
  }
  return whole;
}
