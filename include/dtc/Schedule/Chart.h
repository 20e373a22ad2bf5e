//===- Chart.h - Simulated schedules, drawn ---------------------*- C++ -*-===//

#ifndef DTC_SCHEDULE_CHART_H
#define DTC_SCHEDULE_CHART_H

#include "dtc/Schedule/Simulate.h"
#include "dtc/Schedule/Slots.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace dtc::schedule {

/// Makespan, bubble and the peaks of each rank, as lines of text that begin
/// with `prefix`.
void printSummary(llvm::raw_ostream &os, const Schedule &schedule,
                  const Simulation &simulation,
                  const std::vector<RankPeaks> &peaks,
                  llvm::StringRef prefix = "");

/// One line for each rank, time from left to right; dots are idle time. With
/// width 0 the chart is so wide that the shortest event has room for its name,
/// but at most maxChartColumns; otherwise it has `width` columns, and names are
/// cut to their events.
constexpr int64_t maxChartColumns = 10000;
void printChart(llvm::raw_ostream &os, const Schedule &schedule,
                const Simulation &simulation, int64_t width = 0);

/// The same as an SVG picture.
void printSvg(llvm::raw_ostream &os, const Schedule &schedule,
              const Simulation &simulation);

/// A trace in Chrome's JSON format, for Perfetto; one unit of time is a
/// millisecond. docs/schedules.md documents names and fields.
void printTrace(llvm::raw_ostream &os, const Schedule &schedule,
                const Simulation &simulation);

} // namespace dtc::schedule

#endif // DTC_SCHEDULE_CHART_H
