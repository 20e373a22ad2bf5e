//===- Chart.cpp - Simulated schedules as text ----------------------------===//

#include "dtc/Schedule/Chart.h"
#include "dtc/Schedule/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>

using namespace llvm;

namespace dtc::schedule {

void printSummary(raw_ostream &os, const Schedule &schedule,
                  const Simulation &simulation,
                  const std::vector<RankPeaks> &peaks, StringRef prefix) {
  const Placement &p = schedule.placement;
  auto line = [&](StringRef name) -> raw_ostream & {
    return os << prefix << left_justify(name, 12);
  };
  line("schedule") << schedule.name << ": " << p.ranks
                   << (p.ranks == 1 ? " rank with " : " ranks with ")
                   << p.chunks
                   << (p.chunks == 1            ? " stage each, "
                       : p.kind == Placement::V ? " stages each (a V), "
                                                : " stages each, ")
                   << schedule.microBatches
                   << (schedule.microBatches == 1 ? " micro-batch\n"
                                                  : " micro-batches\n");
  line("makespan") << format("%g\n", simulation.makespan);
  line("cost") << format("%g", simulation.cost)
               << " (the longest from a rank's first start to its last end)\n";
  line("bubble") << format("%.4f of the cost, %.4f over the ideal time\n",
                           simulation.bubble, simulation.bubbleOverIdeal);
  auto perRank = [&](StringRef name, auto get, StringRef what) {
    line(name);
    for (int64_t r = 0; r < p.ranks; ++r)
      os << get(r) << ' ';
    os << '(' << what << ")\n";
  };
  perRank(
      "in flight", [&](int64_t r) { return peaks[r].inFlight; },
      p.chunks == 1 ? "peaks of ranks, until input gradients are computed"
                    : "peaks of ranks over all chunks, until input gradients "
                      "are computed");
  perRank(
      "kept", [&](int64_t r) { return peaks[r].kept; },
      "the same until weight gradients are computed");
  perRank(
      "posted", [&](int64_t r) { return peaks[r].posted; },
      "receives that are posted and not waited for");
  if (llvm::any_of(simulation.peakBytes, [](int64_t b) { return b > 0; }))
    perRank(
        "bytes", [&](int64_t r) { return simulation.peakBytes[r]; },
        "of saved values");
}

namespace {

/// Lays names over a line of columns.
class Line {
public:
  explicit Line(int64_t columns) : text(columns, '.') {}

  /// The last column stays free where the name leaves room.
  void add(int64_t from, int64_t to, StringRef name) {
    to = std::min<int64_t>(to, text.size());
    for (int64_t i = from; i < to; ++i)
      text[i] = i - from < int64_t(name.size()) ? name[i - from]
                : i + 1 == to                   ? ' '
                                                : '-';
    // Idle time ends before the event.
    if (from > 0 && text[from - 1] == '.')
      text[from - 1] = ' ';
  }
  StringRef get() const { return StringRef(text).rtrim(' '); }

private:
  std::string text;
};

} // namespace

/// The least of 1, 2, 5, 10, 20, ... (and their parts) that is at least x.
static double roundUp(double x) {
  double unit = std::pow(10, std::floor(std::log10(x)));
  for (double factor : {1.0, 2.0, 5.0})
    if (factor * unit >= x)
      return factor * unit;
  return 10 * unit;
}

/// Times above the chart, with room for each.
static std::string getRuler(double scale, int64_t columns) {
  constexpr double room = 9;
  std::string ruler(columns, ' ');
  double step = roundUp(room / scale);
  for (int64_t i = 0; std::llround(double(i) * step * scale) < columns; ++i) {
    std::string number;
    raw_string_ostream(number) << format("%g", double(i) * step);
    int64_t at = std::llround(double(i) * step * scale);
    for (size_t k = 0; k < number.size() && at + int64_t(k) < columns; ++k)
      ruler[at + k] = number[k];
  }
  return StringRef(ruler).rtrim().str();
}

void printChart(raw_ostream &os, const Schedule &schedule,
                const Simulation &simulation, int64_t width) {
  double shortest = 0;
  size_t longestName = 0;
  for (const auto &events : simulation.ranks)
    for (const Event &e : events) {
      double length = e.end - e.start;
      if (length <= 0)
        continue;
      shortest = shortest > 0 ? std::min(shortest, length) : length;
      longestName = std::max(longestName, toString(schedule, e.action).size());
    }
  if (simulation.makespan <= 0)
    return;
  double scale = double(longestName + 1) / shortest;
  if (width > 0)
    scale = double(width) / simulation.makespan;
  scale = std::min(scale, double(maxChartColumns) / simulation.makespan);
  int64_t columns =
      std::max<int64_t>(1, std::llround(simulation.makespan * scale));

  size_t margin = ("rank " + std::to_string(schedule.ranks.size() - 1)).size();
  os << left_justify("time", margin + 2) << getRuler(scale, columns) << "\n";
  for (auto [rank, events] : llvm::enumerate(simulation.ranks)) {
    Line line(columns);
    for (const Event &e : events)
      line.add(std::llround(e.start * scale), std::llround(e.end * scale),
               toString(schedule, e.action));
    os << left_justify("rank " + std::to_string(rank), margin + 2) << line.get()
       << "\n";
  }
}

} // namespace dtc::schedule
