//===- Generate.cpp - The usual pipeline schedules ------------------------===//

#include "dtc/Schedule/Generate.h"
#include "dtc/Schedule/Communicate.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"
#include <algorithm>

using namespace llvm;

namespace dtc::schedule {

StringRef getName(Kind kind) {
  switch (kind) {
  case Kind::GPipe:
    return "gpipe";
  case Kind::OneF1B:
    return "1f1b";
  case Kind::Interleaved:
    return "interleaved";
  case Kind::ZeroBubbleH1:
    return "zb-h1";
  case Kind::ZeroBubbleV:
    return "zb-v";
  }
  llvm_unreachable("all kinds are listed");
}

std::optional<Kind> parseKind(StringRef name) {
  return StringSwitch<std::optional<Kind>>(name)
      .Case("gpipe", Kind::GPipe)
      .Case("1f1b", Kind::OneF1B)
      .Case("interleaved", Kind::Interleaved)
      .Case("zb-h1", Kind::ZeroBubbleH1)
      .Case("zb-v", Kind::ZeroBubbleV)
      .Default(std::nullopt);
}

StringRef getKindNames() { return "gpipe, 1f1b, interleaved, zb-h1, zb-v"; }

Expected<Placement> getPlacement(Kind kind, int64_t ranks,
                                 int64_t virtualStages) {
  if (virtualStages < 0)
    return createStringError(Twine(virtualStages) +
                             " virtual stages; there must be at least 1");
  Placement placement{ranks, 1, Placement::Loop};
  if (kind == Kind::Interleaved) {
    placement.chunks = virtualStages ? virtualStages : 2;
  } else {
    if (kind == Kind::ZeroBubbleV)
      placement = {ranks, 2, Placement::V};
    if (virtualStages && virtualStages != placement.chunks)
      return createStringError(
          "schedule " + getName(kind) + " has " + Twine(placement.chunks) +
          (placement.chunks == 1 ? " stage" : " stages") + " on a rank, not " +
          Twine(virtualStages) + "; only interleaved takes other numbers");
  }
  if (Error error = check(placement))
    return error;
  return placement;
}

namespace {

/// Writes the list of one rank.
class ListBuilder {
public:
  explicit ListBuilder(std::vector<Action> &list) : list(list) {}

  void forward(int64_t m, int64_t chunk = 0) {
    add(ActionKind::Forward, m, chunk);
  }
  void backward(int64_t m, int64_t chunk = 0) {
    add(ActionKind::Backward, m, chunk);
  }
  void input(int64_t m, int64_t chunk = 0) {
    add(ActionKind::InputBackward, m, chunk);
  }
  void weight(int64_t m, int64_t chunk = 0) {
    add(ActionKind::WeightBackward, m, chunk);
  }

private:
  void add(ActionKind kind, int64_t m, int64_t chunk) {
    list.push_back(Action::compute(kind, m, chunk));
  }
  std::vector<Action> &list;
};

/// Writes the lists, and claims by formula what their peaks are.
class Generator {
public:
  explicit Generator(Schedule &schedule)
      : schedule(schedule), P(schedule.placement.ranks),
        V(schedule.placement.chunks), M(schedule.microBatches) {}

  void gpipe();
  void oneF1B();
  void interleaved();
  void zeroBubbleH1();
  void zeroBubbleV();

private:
  ListBuilder list(int64_t rank) { return ListBuilder(schedule.ranks[rank]); }
  void claim(int64_t inFlight, int64_t kept) {
    schedule.claims.inFlight.push_back(inFlight);
    schedule.claims.kept.push_back(kept);
  }

  Schedule &schedule;
  const int64_t P, V, M;
};

} // namespace

void Generator::gpipe() {
  for (int64_t r = 0; r < P; ++r) {
    for (int64_t m = 0; m < M; ++m)
      list(r).forward(m);
    for (int64_t m = 0; m < M; ++m)
      list(r).backward(m);
    claim(M, M);
  }
}

void Generator::oneF1B() {
  for (int64_t r = 0; r < P; ++r) {
    int64_t warmUp = std::min(P - 1 - r, M), next = 0;
    while (next < warmUp)
      list(r).forward(next++);
    for (int64_t m = 0; m < M; ++m) {
      if (next < M)
        list(r).forward(next++);
      list(r).backward(m);
    }
    claim(std::min(P - r, M), std::min(P - r, M));
  }
}

/// Forwards go through the chunks in groups of P micro-batches, backwards
/// through the chunks in reverse. A rank starts its backwards when the first
/// micro-batch can have come back to it: 2 (P - 1 - r) + (V - 1) P forwards
/// before, where the factor 2 lets the last chunk's forwards arrive without a
/// gap (Narayanan et al. 2021, section 2.2). With one chunk this is 1f1b.
void Generator::interleaved() {
  int64_t total = M * V;
  auto getMicroBatch = [&](int64_t k) { return k / (P * V) * P + k % P; };
  auto getChunk = [&](int64_t k) { return k % (P * V) / P; };
  for (int64_t r = 0; r < P; ++r) {
    int64_t warmUp = (P - 1 - r) * (V == 1 ? 1 : 2) + (V - 1) * P, next = 0;
    warmUp = std::min(warmUp, total);
    auto forward = [&] {
      list(r).forward(getMicroBatch(next), getChunk(next));
      ++next;
    };
    while (next < warmUp)
      forward();
    for (int64_t k = 0; k < total; ++k) {
      if (next < total)
        forward();
      list(r).backward(getMicroBatch(k), V - 1 - getChunk(k));
    }
    int64_t peak = std::min(warmUp + 1, total);
    claim(peak, peak);
  }
}

/// The handcrafted schedule H1 of Qi et al. 2023 (arXiv 2401.10241, section 2):
/// 1f1b whose weight backwards are r micro-batches late on rank r, so that
/// every rank keeps as much as rank 0. The late ones fill the end.
void Generator::zeroBubbleH1() {
  for (int64_t r = 0; r < P; ++r) {
    int64_t warmUp = std::min(P - 1 - r, M), next = 0, nextWeight = 0;
    while (next < warmUp)
      list(r).forward(next++);
    for (int64_t m = 0; m < M; ++m) {
      if (next < M)
        list(r).forward(next++);
      list(r).input(m);
      if (m >= r)
        list(r).weight(nextWeight++);
    }
    while (nextWeight < M)
      list(r).weight(nextWeight++);
    claim(std::min(P - r, M), std::min(P, M));
  }
}

/// The V-shaped zero bubble schedule (Qi et al. 2024, arXiv 2405.15362): the
/// pattern for 2P - 1 or more micro-batches, without those that do not exist.
/// That leaves the order of the others as it is, hence right.
void Generator::zeroBubbleV() {
  int64_t n = std::max(M, 2 * P - 1);
  for (int64_t r = 0; r < P; ++r) {
    // The next micro-batch of each chunk, for each kind.
    int64_t f[2] = {0, 0}, b[2] = {0, 0}, w[2] = {0, 0};
    auto forward = [&](int c) {
      if (f[c] < M)
        list(r).forward(f[c], c);
      ++f[c];
    };
    auto input = [&](int c) {
      if (b[c] < M)
        list(r).input(b[c], c);
      ++b[c];
    };
    auto weight = [&](int c) {
      if (w[c] < M)
        list(r).weight(w[c], c);
      ++w[c];
    };

    // Until the first micro-batch comes down the V's second leg.
    for (int64_t i = 0; i < 2 * (P - r) - 1; ++i)
      forward(0);
    for (int64_t i = 0; i < r; ++i) {
      forward(1);
      forward(0);
    }
    // Until its gradient comes back to the first leg.
    for (int64_t i = 0; i < P - r; ++i) {
      forward(1);
      input(1);
      weight(1);
    }
    while (f[1] < f[0] || f[0] < n) {
      if (f[0] < n)
        forward(0);
      input(0);
      weight(0);
      forward(1);
      input(1);
      weight(1);
    }
    // The end: input gradients first, for others wait for them.
    for (int64_t i = 0; i < r; ++i) {
      input(0);
      input(1);
    }
    for (int64_t i = 0; i < P - r; ++i) {
      input(0);
      weight(0);
    }
    while (w[1] < b[1])
      weight(1);
    while (w[0] < b[0])
      weight(0);
    int64_t peak = std::min(M, 2 * P - 1 - r) + std::min(M, r + 1);
    claim(peak, peak);
  }
}

Expected<Schedule> generateComputations(Kind kind, const Placement &placement,
                                        int64_t microBatches,
                                        const StageGraph &graph) {
  if (Error error = check(placement))
    return error;
  auto wanted = getPlacement(kind, placement.ranks,
                             kind == Kind::Interleaved ? placement.chunks : 0);
  if (!wanted)
    return wanted.takeError();
  if (placement != *wanted)
    return createStringError(
        "schedule " + getName(kind) + " needs " + Twine(wanted->chunks) +
        (wanted->chunks == 1 ? " stage" : " stages") + " on a rank, placed " +
        (wanted->kind == Placement::V ? "as a V" : "in a loop"));
  int64_t P = placement.ranks, M = microBatches;
  if (kind == Kind::Interleaved && M > 0 && M % P != 0) {
    std::string legal = (Twine(P) + ", " + Twine(2 * P) + ", " + Twine(3 * P) +
                         " and other multiples of " + Twine(P))
                            .str();
    return createStringError("interleaved on pp=" + Twine(P) + " with " +
                             Twine(M) + " micro-batches; there may be " +
                             legal);
  }

  Schedule schedule;
  schedule.name = getName(kind).str();
  schedule.placement = placement;
  schedule.graph =
      graph.edges.empty() ? StageGraph::chain(placement.getStages()) : graph;
  schedule.microBatches = M;
  schedule.ranks.resize(P);
  if (Error error = checkIndices(schedule))
    return error;

  Generator generator(schedule);
  switch (kind) {
  case Kind::GPipe:
    generator.gpipe();
    break;
  case Kind::OneF1B:
    generator.oneF1B();
    break;
  case Kind::Interleaved:
    generator.interleaved();
    break;
  case Kind::ZeroBubbleH1:
    generator.zeroBubbleH1();
    break;
  case Kind::ZeroBubbleV:
    generator.zeroBubbleV();
    break;
  }
  for (std::vector<Action> &list : schedule.ranks) {
    list.push_back(Action::once(ActionKind::Reduce));
    list.push_back(Action::once(ActionKind::Update));
  }
  return schedule;
}

Expected<Schedule> generate(Kind kind, const Placement &placement,
                            int64_t microBatches, const StageGraph &graph,
                            int64_t postAhead) {
  auto schedule = generateComputations(kind, placement, microBatches, graph);
  if (!schedule)
    return schedule.takeError();
  if (Error error = addCommunication(*schedule, postAhead))
    return error;
  return schedule;
}

} // namespace dtc::schedule
