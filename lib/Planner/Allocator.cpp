//===- Allocator.cpp - Offsets for buffers with lifetimes -----------------===//

#include "dtc/Planner/Allocator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <limits>
#include <map>
#include <set>

using namespace dtc;
using llvm::ArrayRef;
using llvm::MutableArrayRef;
using llvm::SmallVector;

int64_t dtc::getLargestLiveBytes(ArrayRef<Lifetime> buffers) {
  std::map<int64_t, int64_t> change;
  for (const Lifetime &b : buffers) {
    change[b.first] += b.bytes;
    change[b.last + 1] -= b.bytes;
  }
  int64_t live = 0, most = 0;
  for (auto [time, bytes] : change)
    most = std::max(most, live += bytes);
  return most;
}

namespace {
/// Free blocks below the highest byte used so far.
class FreeList {
public:
  enum class Fit { Best, Lowest };

  int64_t take(int64_t bytes, Fit fit) {
    int64_t offset = -1;
    if (fit == Fit::Best) {
      auto it = bySize.lower_bound({bytes, 0});
      if (it != bySize.end())
        offset = it->second;
    } else {
      for (auto [at, size] : byOffset)
        if (size >= bytes) {
          offset = at;
          break;
        }
    }
    if (offset < 0) {
      // Grow, beginning with the free block at the end, if there is one.
      offset = top;
      if (!byOffset.empty()) {
        auto [at, size] = *byOffset.rbegin();
        if (at + size == top)
          offset = at;
      }
      if (offset < top)
        erase(offset, top - offset);
      top = offset + bytes;
      return offset;
    }
    int64_t size = byOffset[offset];
    erase(offset, size);
    if (size > bytes)
      insert(offset + bytes, size - bytes);
    return offset;
  }

  void give(int64_t offset, int64_t bytes) {
    auto next = byOffset.lower_bound(offset);
    if (next != byOffset.end() && next->first == offset + bytes) {
      int64_t size = next->second;
      erase(offset + bytes, size);
      bytes += size;
    }
    auto after = byOffset.lower_bound(offset);
    if (after != byOffset.begin()) {
      auto [at, size] = *std::prev(after);
      if (at + size == offset) {
        erase(at, size);
        offset = at;
        bytes += size;
      }
    }
    insert(offset, bytes);
  }

  int64_t getTop() const { return top; }

private:
  void insert(int64_t offset, int64_t bytes) {
    byOffset[offset] = bytes;
    bySize.insert({bytes, offset});
  }
  void erase(int64_t offset, int64_t bytes) {
    byOffset.erase(offset);
    bySize.erase({bytes, offset});
  }
  std::map<int64_t, int64_t> byOffset;
  std::set<std::pair<int64_t, int64_t>> bySize;
  int64_t top = 0;
};
} // namespace

/// Goes through time, forwards or backwards, giving blocks and taking them
/// back.
static int64_t scan(MutableArrayRef<Lifetime> buffers, FreeList::Fit fit,
                    bool backwards) {
  auto begin = [&](const Lifetime &b) { return backwards ? -b.last : b.first; };
  auto end = [&](const Lifetime &b) { return backwards ? -b.first : b.last; };
  SmallVector<Lifetime *> order;
  for (Lifetime &b : buffers)
    order.push_back(&b);
  // The last criterion is the place in the program: the order is total.
  llvm::sort(order, [&](Lifetime *a, Lifetime *b) {
    if (begin(*a) != begin(*b))
      return begin(*a) < begin(*b);
    // What lives long goes to the bottom, where it leaves no hole.
    if (end(*a) != end(*b))
      return end(*a) > end(*b);
    return a->bytes != b->bytes ? a->bytes > b->bytes : a < b;
  });
  FreeList list;
  std::multimap<int64_t, Lifetime *> live;
  for (Lifetime *b : order) {
    while (!live.empty() && live.begin()->first < begin(*b)) {
      Lifetime *dead = live.begin()->second;
      list.give(dead->offset, dead->bytes);
      live.erase(live.begin());
    }
    if (b->bytes == 0) {
      b->offset = 0;
      continue;
    }
    b->offset = list.take(b->bytes, fit);
    live.insert({end(*b), b});
  }
  return list.getTop();
}

/// Places buffers in the given order, each in the tightest gap between those
/// that live with it.
static int64_t place(ArrayRef<Lifetime *> order) {
  int64_t total = 0;
  SmallVector<Lifetime *> placed; // by offset
  for (Lifetime *b : order) {
    int64_t end = 0, best = -1;
    int64_t bestGap = std::numeric_limits<int64_t>::max();
    for (Lifetime *p : placed) {
      if (!p->livesWith(*b) || p->bytes == 0)
        continue;
      int64_t gap = p->offset - end;
      if (gap >= b->bytes && gap < bestGap) {
        bestGap = gap;
        best = end;
      }
      end = std::max(end, p->offset + p->bytes);
    }
    b->offset = best >= 0 ? best : end;
    total = std::max(total, b->offset + b->bytes);
    placed.insert(llvm::upper_bound(placed, b,
                                    [](Lifetime *x, Lifetime *y) {
                                      return x->offset < y->offset;
                                    }),
                  b);
  }
  return total;
}

/// Large buffers first; then again and again with what came to lie above
/// `enough` twice as early, while that is affordable. `attempt` takes a total
/// and says whether it is enough.
static void bySize(MutableArrayRef<Lifetime> buffers, int64_t enough,
                   llvm::function_ref<bool(int64_t)> attempt) {
  SmallVector<Lifetime *> order;
  for (Lifetime &b : buffers)
    order.push_back(&b);
  llvm::sort(order, [](Lifetime *a, Lifetime *b) {
    if (a->bytes != b->bytes)
      return a->bytes > b->bytes;
    size_t lengthA = a->last - a->first, lengthB = b->last - b->first;
    return lengthA != lengthB ? lengthA > lengthB : a < b;
  });
  constexpr size_t affordable = 50'000'000, mostRounds = 100;
  size_t n = std::max<size_t>(order.size(), 1);
  size_t rounds = std::clamp<size_t>(affordable / (n * n), 1, mostRounds);
  for (size_t round = 0; round < rounds; ++round) {
    if (attempt(place(order)))
      return;
    for (size_t i = 1; i < n; ++i)
      if (order[i]->offset + order[i]->bytes > enough)
        std::rotate(order.begin() + i / 2, order.begin() + i,
                    order.begin() + i + 1);
  }
}

int64_t dtc::allocate(MutableArrayRef<Lifetime> buffers) {
  constexpr size_t fewBuffers = 5000;
  int64_t enough = getLargestLiveBytes(buffers);
  enough += enough / 100;
  int64_t best = std::numeric_limits<int64_t>::max();
  SmallVector<int64_t> offsets(buffers.size());
  auto attempt = [&](int64_t total) {
    if (total < best) {
      best = total;
      for (auto [offset, b] : llvm::zip_equal(offsets, buffers))
        offset = b.offset;
    }
    return best <= enough;
  };
  using Fit = FreeList::Fit;
  bool done = attempt(scan(buffers, Fit::Best, false)) ||
              attempt(scan(buffers, Fit::Best, true)) ||
              attempt(scan(buffers, Fit::Lowest, false)) ||
              attempt(scan(buffers, Fit::Lowest, true));
  if (!done && buffers.size() <= fewBuffers)
    bySize(buffers, enough, attempt);
  for (auto [offset, b] : llvm::zip_equal(offsets, buffers))
    b.offset = offset;
  return best;
}

std::optional<std::pair<size_t, size_t>>
dtc::findOverlap(ArrayRef<Lifetime> buffers) {
  // Ends come after starts at the same time, because both are included.
  SmallVector<std::tuple<int64_t, int, size_t>> events;
  for (auto [i, b] : llvm::enumerate(buffers)) {
    if (b.bytes == 0)
      continue;
    events.push_back({b.first, 0, i});
    events.push_back({b.last, 1, i});
  }
  llvm::sort(events);
  std::map<int64_t, size_t> live; // by offset
  for (auto [time, isEnd, i] : events) {
    const Lifetime &b = buffers[i];
    if (isEnd) {
      live.erase(b.offset);
      continue;
    }
    auto next = live.lower_bound(b.offset);
    if (next != live.end() && next->first < b.offset + b.bytes)
      return std::make_pair(next->second, i);
    if (next != live.begin()) {
      auto before = std::prev(next);
      if (before->first + buffers[before->second].bytes > b.offset)
        return std::make_pair(before->second, i);
    }
    live[b.offset] = i;
  }
  return std::nullopt;
}
