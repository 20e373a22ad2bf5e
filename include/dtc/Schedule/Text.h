//===- Text.h - Schedules as text -------------------------------*- C++ -*-===//
//
// docs/schedules.md documents the format.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_SCHEDULE_TEXT_H
#define DTC_SCHEDULE_TEXT_H

#include "dtc/Schedule/Schedule.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace dtc::schedule {

/// One action, such as "F3", "I3.1", "wait3:0>1" or "R". The chunk is written
/// where a rank has several.
void print(llvm::raw_ostream &os, const Schedule &schedule,
           const Action &action);
std::string toString(const Schedule &schedule, const Action &action);

/// The whole schedule, one line for each rank. parse reads it back.
void print(llvm::raw_ostream &os, const Schedule &schedule);
std::string toString(const Schedule &schedule);

/// What is known from elsewhere (the compiler's flags): a text may leave it
/// out, and may not say otherwise.
struct Known {
  std::optional<Placement> placement;
  std::optional<int64_t> microBatches;
  std::optional<StageGraph> graph;
};

/// Reads a schedule; errors begin with `fileName`:line:column. The result
/// passes checkIndices; it has messages only if the text has.
llvm::Expected<Schedule> parse(llvm::StringRef text, llvm::StringRef fileName,
                               const Known &known = {});

} // namespace dtc::schedule

#endif // DTC_SCHEDULE_TEXT_H
