//===- Trace.h - The events of a run, for --trace ---------------*- C++ -*-===//

#ifndef DTC_RUNTIME_TRACE_H
#define DTC_RUNTIME_TRACE_H

#include "dtc/Runtime/Program.h"

#include <cstdint>
#include <memory>
#include <string>

struct dtc_rank;

namespace dtc::rt {

/// A rank's threads in the trace: actions of the schedule and steps; waits.
enum class TraceLane : uint8_t { Compute = 0, Communication = 1 };

struct TraceEvent {
  const char *name, *category; // outlive the run
  double began, ended;         // seconds, see now()
  int64_t step, microBatch, stage;
  TraceLane lane;
};

/// Events of one rank, in memory that is taken at the start. When it is full,
/// the step that does not fit and all later ones are left out.
class Trace {
public:
  static constexpr int64_t capacity = int64_t(1) << 17;
  static constexpr int64_t bytes = capacity * int64_t(sizeof(TraceEvent));

  explicit Trace(int64_t room = capacity);

  void add(const TraceEvent &event);

  int64_t size() const { return count; }
  const TraceEvent &operator[](int64_t i) const { return events[i]; }
  /// The first step that is not there as a whole; -1: all are there.
  int64_t firstIncompleteStep() const { return incomplete; }

private:
  std::unique_ptr<TraceEvent[]> events;
  int64_t room, count = 0, stepBegin = 0, incomplete = -1;
};

/// Times a piece of work, if the rank has a trace.
class TraceSpan {
public:
  TraceSpan(dtc_rank &rank, const char *category, const char *name,
            TraceLane lane);
  ~TraceSpan();
  TraceSpan(const TraceSpan &) = delete;
  TraceSpan &operator=(const TraceSpan &) = delete;

private:
  dtc_rank &rank;
  const char *category, *name;
  TraceLane lane;
  double began = 0;
};

/// Writes all ranks' events as a JSON object that Chrome and Perfetto read.
/// Called by all ranks; rank 0 writes. `origin` is a moment of this rank near
/// the first step: where machines do not share a clock, it is their zero.
void writeTrace(dtc_rank &rank, const Program &program, double origin,
                const std::string &path);

} // namespace dtc::rt
#endif // DTC_RUNTIME_TRACE_H
