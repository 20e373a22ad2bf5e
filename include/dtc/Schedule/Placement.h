//===- Placement.h - Stages, ranks and the edges between them ---*- C++ -*-===//
//
// A pipeline has `ranks` ranks (the mesh axis pp) and stages 0 to
// ranks * chunks - 1, in the order of the forward pass. Each rank owns `chunks`
// of them.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_SCHEDULE_PLACEMENT_H
#define DTC_SCHEDULE_PLACEMENT_H

#include "llvm/Support/Error.h"
#include <cstdint>
#include <vector>

namespace dtc::schedule {

/// Which rank owns which stages.
struct Placement {
  enum Kind {
    /// Stage s is chunk s / ranks of rank s % ranks (Narayanan et al. 2021).
    Loop,
    /// Two chunks: rank r owns stages r and 2 ranks - 1 - r (Qi et al. 2024),
    /// so that the first and the last stage share a rank.
    V
  };

  int64_t ranks = 1;
  int64_t chunks = 1;
  Kind kind = Loop;

  int64_t getStages() const { return ranks * chunks; }
  int64_t getRank(int64_t stage) const {
    int64_t r = stage % ranks;
    return kind == V && stage >= ranks ? ranks - 1 - r : r;
  }
  int64_t getChunk(int64_t stage) const { return stage / ranks; }
  int64_t getStage(int64_t rank, int64_t chunk) const {
    return chunk * ranks + (kind == V && chunk == 1 ? ranks - 1 - rank : rank);
  }

  bool operator==(const Placement &o) const {
    return ranks == o.ranks && chunks == o.chunks && kind == o.kind;
  }
  bool operator!=(const Placement &o) const { return !(*this == o); }
};

/// Numbers are positive, and the V has two chunks; at most 16384 stages.
llvm::Error check(const Placement &placement);

/// All values that stage `from` hands to the later stage `to`, for each
/// micro-batch one message. If one of them has a gradient, the backward sends
/// one message of gradients from `to` to `from`.
struct Edge {
  int64_t from = 0, to = 0;
  bool differentiable = true;

  bool operator==(const Edge &o) const {
    return from == o.from && to == o.to && differentiable == o.differentiable;
  }
};

/// The edges between stages: at most one for each pair, in increasing order of
/// (from, to). An edge may skip stages. One between stages of the same rank is
/// a hand-over in memory, for which there are no messages.
struct StageGraph {
  std::vector<Edge> edges;

  /// Each stage hands to the next.
  static StageGraph chain(int64_t stages);

  /// The edge between two stages, or -1.
  int64_t find(int64_t from, int64_t to) const;

  bool operator==(const StageGraph &o) const { return edges == o.edges; }
  bool operator!=(const StageGraph &o) const { return edges != o.edges; }
};

llvm::Error check(const StageGraph &graph, int64_t stages);

} // namespace dtc::schedule

#endif // DTC_SCHEDULE_PLACEMENT_H
