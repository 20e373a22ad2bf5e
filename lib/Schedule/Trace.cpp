//===- Trace.cpp - Simulated schedules for Perfetto -----------------------===//

#include "dtc/Schedule/Chart.h"
#include "dtc/Schedule/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace dtc::schedule {

/// Rank 0's process. The ranks of a real run are 1 and up, so that both may be
/// in one file.
static constexpr int64_t firstProcess = int64_t(1) << 21;
/// Of the plan's unit, in the trace's microseconds.
static constexpr double unit = 1000;

static StringRef getCategory(ActionKind kind) {
  switch (kind) {
  case ActionKind::Forward:
    return "forward";
  case ActionKind::Backward:
    return "backward";
  case ActionKind::InputBackward:
    return "input_backward";
  case ActionKind::WeightBackward:
    return "weight_backward";
  case ActionKind::Reduce:
    return "reduce";
  case ActionKind::Update:
    return "update";
  default:
    return "message";
  }
}

namespace {

class TraceWriter {
public:
  TraceWriter(raw_ostream &os, const Schedule &schedule,
              const Simulation &simulation)
      : json(os), schedule(schedule), simulation(simulation) {}

  void write();

private:
  void writeNames();
  void writeEvent(int64_t rank, const Event &event);
  void writeTransfer(int64_t id, const Transfer &transfer);
  void writeCounters(int64_t rank);

  /// The fields that all events have. Lane 0 of a rank's process has its
  /// computations, lane 1 the messages to it.
  void writeHead(StringRef name, StringRef category, StringRef phase,
                 double time, int64_t rank, int64_t lane) {
    json.attribute("name", name);
    if (!category.empty())
      json.attribute("cat", category);
    json.attribute("ph", phase);
    json.attribute("ts", time * unit);
    json.attribute("pid", firstProcess + rank);
    json.attribute("tid", lane);
  }

  json::OStream json;
  const Schedule &schedule;
  const Simulation &simulation;
};

} // namespace

void TraceWriter::writeNames() {
  for (int64_t r = 0; r < schedule.placement.ranks; ++r) {
    auto describe = [&](StringRef what, StringRef key, json::Value value,
                        int64_t lane) {
      json.object([&] {
        writeHead(what, "", "M", 0, r, lane);
        json.attributeObject("args", [&] { json.attribute(key, value); });
      });
    };
    std::string number = std::to_string(r);
    describe("process_name", "name",
             "rank " + number + " (pp=" + number + "): plan " + schedule.name,
             0);
    describe("process_sort_index", "sort_index", r, 0);
    describe("thread_name", "name", "compute", 0);
    describe("thread_name", "name", "communication", 1);
  }
}

void TraceWriter::writeEvent(int64_t rank, const Event &event) {
  const Action &a = event.action;
  if (event.end <= event.start)
    return;
  json.object([&] {
    writeHead(toString(schedule, a), getCategory(a.kind), "X", event.start,
              rank, 0);
    json.attribute("dur", (event.end - event.start) * unit);
    if (!isCompute(a.kind))
      return;
    json.attributeObject("args", [&] {
      json.attribute("stage", schedule.getStage(rank, a));
      json.attribute("chunk", a.chunk);
      json.attribute("micro_batch", a.microBatch);
    });
  });
}

/// Messages of one lane overlap, so they are pairs of begin and end.
void TraceWriter::writeTransfer(int64_t id, const Transfer &t) {
  int64_t from = schedule.getSenderStage(t.channel);
  int64_t to = schedule.getReceiverStage(t.channel);
  std::string name = "stage " + std::to_string(from) + " to " +
                     std::to_string(to) +
                     (t.channel % 2 ? ": gradients" : ": activations");
  for (bool begin : {true, false})
    json.object([&] {
      writeHead(name, "message", begin ? "b" : "e", begin ? t.start : t.end,
                schedule.getReceiver(t.channel), 1);
      json.attribute("id", id);
      if (!begin)
        return;
      json.attributeObject("args", [&] {
        json.attribute("from_rank", schedule.getSender(t.channel));
        json.attribute("to_rank", schedule.getReceiver(t.channel));
        json.attribute("from_stage", from);
        json.attribute("to_stage", to);
        json.attribute("micro_batch", t.microBatch);
      });
    });
}

/// Bytes over time.
void TraceWriter::writeCounters(int64_t rank) {
  for (auto [time, bytes] : simulation.memory[rank])
    json.object([&, time = time, bytes = bytes] {
      writeHead("saved bytes", "", "C", time, rank, 0);
      json.attributeObject("args", [&] { json.attribute("bytes", bytes); });
    });
}

void TraceWriter::write() {
  json.object([&] {
    json.attribute("displayTimeUnit", "ms");
    json.attributeObject("otherData", [&] {
      json.attribute("schedule", schedule.name);
      json.attribute("makespan", simulation.makespan);
      json.attribute("cost", simulation.cost);
      json.attribute("bubble", simulation.bubble);
    });
    json.attributeArray("traceEvents", [&] {
      writeNames();
      for (int64_t r = 0; r < schedule.placement.ranks; ++r) {
        for (const Event &e : simulation.ranks[r])
          writeEvent(r, e);
        writeCounters(r);
      }
      for (auto [id, transfer] : llvm::enumerate(simulation.transfers))
        writeTransfer(id, transfer);
    });
  });
}

void printTrace(raw_ostream &os, const Schedule &schedule,
                const Simulation &simulation) {
  TraceWriter(os, schedule, simulation).write();
  os << "\n";
}

} // namespace dtc::schedule
