//===- Print.cpp - Schedules as text --------------------------------------===//

#include "dtc/Schedule/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace dtc::schedule {

static StringRef getName(ActionKind kind) {
  switch (kind) {
  case ActionKind::Forward:
    return "F";
  case ActionKind::Backward:
    return "B";
  case ActionKind::InputBackward:
    return "I";
  case ActionKind::WeightBackward:
    return "W";
  case ActionKind::Post:
    return "post";
  case ActionKind::Wait:
    return "wait";
  case ActionKind::Send:
    return "send";
  case ActionKind::Reduce:
    return "R";
  case ActionKind::Update:
    return "U";
  }
  llvm_unreachable("all kinds are listed");
}

void print(raw_ostream &os, const Schedule &schedule, const Action &a) {
  os << getName(a.kind);
  if (isCompute(a.kind)) {
    os << a.microBatch;
    if (schedule.placement.chunks > 1)
      os << '.' << a.chunk;
  } else if (isMessage(a.kind)) {
    int64_t channel = Schedule::getChannel(a);
    os << a.microBatch << ':' << schedule.getSenderStage(channel) << '>'
       << schedule.getReceiverStage(channel);
  }
}

std::string toString(const Schedule &schedule, const Action &action) {
  std::string text;
  raw_string_ostream os(text);
  print(os, schedule, action);
  return text;
}

void print(raw_ostream &os, const Schedule &schedule) {
  const Placement &p = schedule.placement;
  os << "schedule: " << schedule.name << "\npp: " << p.ranks << "\n";
  if (p.chunks != 1)
    os << "virtual-stages: " << p.chunks << "\n";
  if (p.kind == Placement::V)
    os << "placement: v\n";
  os << "micro-batches: " << schedule.microBatches << "\n";
  if (schedule.graph != StageGraph::chain(p.getStages())) {
    os << "edges:";
    for (const Edge &e : schedule.graph.edges)
      os << ' ' << e.from << '>' << e.to << (e.differentiable ? "" : "!");
    os << "\n";
  }
  auto printPeaks = [&](StringRef key, const std::vector<int64_t> &peaks) {
    if (peaks.empty())
      return;
    os << key << ':';
    for (int64_t peak : peaks)
      os << ' ' << peak;
    os << "\n";
  };
  printPeaks("in-flight", schedule.claims.inFlight);
  printPeaks("kept", schedule.claims.kept);
  if (schedule.claims.posted)
    os << "posted: " << schedule.claims.posted << "\n";
  for (auto [rank, list] : llvm::enumerate(schedule.ranks)) {
    os << "rank " << rank << ':';
    for (const Action &a : list) {
      os << ' ';
      print(os, schedule, a);
    }
    os << "\n";
  }
}

std::string toString(const Schedule &schedule) {
  std::string text;
  raw_string_ostream os(text);
  print(os, schedule);
  return text;
}

} // namespace dtc::schedule
