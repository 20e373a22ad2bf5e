//===- Trace.cpp - The events of a run, for --trace -----------------------===//

#include "dtc/Runtime/Trace.h"
#include "dtc/Runtime/AtomicFile.h"
#include "dtc/Runtime/Error.h"
#include "dtc/Runtime/JsonInput.h"
#include "dtc/Runtime/Philox.h"
#include "dtc/Runtime/Transport.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <set>

using namespace dtc::rt;

// Zeroed, so that the memory is there before the first step.
Trace::Trace(int64_t room)
    : events(new TraceEvent[size_t(room)]()), room(room) {}

void Trace::add(const TraceEvent &event) {
  if (incomplete >= 0 || event.step < 0)
    return;
  if (count == 0 || events[count - 1].step != event.step)
    stepBegin = count;
  if (count == room) {
    incomplete = event.step;
    // Of a first step that does not fit, its beginning is better than nothing.
    if (stepBegin > 0)
      count = stepBegin;
    return;
  }
  events[count++] = event;
}

TraceSpan::TraceSpan(dtc_rank &rank, const char *category, const char *name,
                     TraceLane lane)
    : rank(rank), category(category), name(name), lane(lane) {
  if (rank.trace)
    began = now();
}

TraceSpan::~TraceSpan() {
  if (rank.trace)
    rank.trace->add({name, category, began, now(), rank.step,
                     rank.action.microBatch, rank.action.stage, lane});
}

namespace {

/// A plan's come later (docs/schedules.md), so that both fit into one file.
constexpr int64_t firstProcess = 1;

/// Ranks that read the same number share a clock.
int32_t bootNumber() {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  return int32_t(dtc::hashName(id));
}

std::string quoted(const std::string &text) {
  return Json(text).dump(-1, ' ', true, Json::error_handler_t::replace);
}

/// "rank 3 (pp=1, dp=1)"
std::string rankText(int64_t rank, const Program &program) {
  std::string text;
  int64_t stride = program.ranks();
  for (auto &[axis, size] : program.mesh) {
    stride /= size;
    text += cat(text.empty() ? " (" : ", ", axis, "=", rank / stride % size);
  }
  return cat("rank ", rank, text, text.empty() ? "" : ")");
}

/// The letter by which schedules call a stage's work; 0: it is none.
char letterOf(const char *action) {
  static const std::pair<const char *, char> letters[] = {
      {"forward", 'F'},
      {"backward", 'B'},
      {"input_backward", 'I'},
      {"weight_backward", 'W'}};
  for (auto &[name, letter] : letters)
    if (!strcmp(action, name))
      return letter;
  return 0;
}

/// The rank's stages, in order: its chunks, in every placement.
std::vector<int64_t> stagesOf(const Trace &trace) {
  std::set<int64_t> stages;
  for (int64_t i = 0; i < trace.size(); ++i)
    if (trace[i].lane == TraceLane::Compute && trace[i].stage >= 0)
      stages.insert(trace[i].stage);
  return {stages.begin(), stages.end()};
}

/// One rank's objects; those before them are the ranks' before it.
std::string rankEvents(const dtc_rank &rank, const Program &program,
                       double origin, int64_t firstLeftOut) {
  std::string text;
  auto metadata = [&](const char *what, const char *lane,
                      const std::string &value) {
    text += cat(rank.id == 0 && text.empty() ? "" : ",\n", "{\"name\": \"",
                what, "\", \"ph\": \"M\", \"pid\": ", firstProcess + rank.id,
                lane, ", \"args\": {", value, "}}");
  };
  metadata("process_name", "",
           "\"name\": " + quoted(rankText(rank.id, program)));
  metadata("process_sort_index", "", cat("\"sort_index\": ", rank.id));
  metadata("thread_name", ", \"tid\": 0", "\"name\": \"compute\"");
  metadata("thread_name", ", \"tid\": 1", "\"name\": \"communication\"");

  std::map<const char *, std::string> texts;
  auto textOf = [&](const char *name) -> const std::string & {
    std::string &known = texts[name];
    if (known.empty())
      known = quoted(name ? name : "?");
    return known;
  };
  const Trace &trace = *rank.trace;
  const std::vector<int64_t> stages = stagesOf(trace);
  for (int64_t i = 0; i < trace.size(); ++i) {
    const TraceEvent &event = trace[i];
    if (event.step >= firstLeftOut)
      break;
    const int64_t chunk =
        std::lower_bound(stages.begin(), stages.end(), event.stage) -
        stages.begin();
    std::string args, name = textOf(event.name);
    if (event.stage >= 0)
      args += cat("\"stage\": ", event.stage, ", \"chunk\": ", chunk, ", ");
    if (event.microBatch >= 0)
      args += cat("\"micro_batch\": ", event.microBatch, ", ");
    // As in schedules.
    if (char letter = letterOf(event.category);
        letter && event.lane == TraceLane::Compute && event.stage >= 0)
      name = cat('"', letter, event.microBatch,
                 stages.size() > 1 ? cat('.', chunk) : "", '"');
    char times[128];
    snprintf(times, sizeof(times), "\"ts\": %.3f, \"dur\": %.3f",
             (event.began - origin) * 1e6, (event.ended - event.began) * 1e6);
    text +=
        cat(",\n{\"name\": ", name, ", \"cat\": ", textOf(event.category),
            ", \"ph\": \"X\", ", times, ", \"pid\": ", firstProcess + rank.id,
            ", \"tid\": ", int(event.lane), ", \"args\": {", args,
            "\"step\": ", event.step, "}}");
  }
  return text;
}

} // namespace

void dtc::rt::writeTrace(dtc_rank &rank, const Program &program, double origin,
                         const std::string &path) {
  Unwatched fileWork(rank);
  // Rank 0's origin and clock, and the first step that some rank lacks: maxima,
  // for which the others give the least numbers.
  constexpr int32_t none = INT32_MIN;
  const int32_t clock = bootNumber();
  const auto nanoseconds = int64_t(std::llround(origin * 1e9));
  const int64_t incomplete = rank.trace->firstIncompleteStep();
  int32_t data[4] = {none, none, none,
                     incomplete < 0 ? none : int32_t(-incomplete)};
  if (rank.id == 0) {
    data[0] = int32_t(nanoseconds >> 32);
    data[1] = int32_t(nanoseconds & 0xffffffff);
    data[2] = clock;
  }
  agree(rank, data);
  if (data[2] == clock)
    origin = double(int64_t(data[0]) * (int64_t(1) << 32) +
                    int64_t(uint32_t(data[1]))) /
             1e9;
  bool allThere = data[3] == none;
  int64_t firstLeftOut = allThere ? INT64_MAX : -int64_t(data[3]);
  if (firstLeftOut == 0)
    firstLeftOut = 1; // what there is of the first step

  // Texts differ in length and pass in parts of equal size.
  constexpr int64_t part = int64_t(1) << 20;
  std::string text = rankEvents(rank, program, origin, firstLeftOut);
  std::unique_ptr<AtomicFile> file;
  auto write = [&](const std::string &x) { file->write(x.data(), x.size()); };
  if (rank.id == 0) {
    file = std::make_unique<AtomicFile>(path);
    write("{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n");
  }
  const auto length = int64_t(text.size());
  text.resize(size_t((length + part - 1) / part * part), '\n');
  for (int64_t from = 0; from < rank.count; ++from) {
    int32_t parts[4] = {rank.id == from ? int32_t(text.size() / part) : 0,
                        rank.id == from ? int32_t(length % part) : 0, 0, 0};
    agree(rank, parts);
    for (int64_t i = 0; i < parts[0]; ++i) {
      const void *bytes = rank.transport->fetch(
          rank, from, rank.id == from ? text.data() + i * part : nullptr, part);
      bool last = i + 1 == parts[0];
      if (file)
        file->write(bytes, size_t(last && parts[1] ? parts[1] : part));
    }
  }
  if (file) {
    write("\n]}\n");
    file->commit();
    if (!allThere)
      printLine(cat(programName(), ": --trace: a rank's ", Trace::capacity,
                    " events are full: '", path, "' has ",
                    data[3] == 0 ? std::string("the beginning of step 0 only")
                                 : cat("steps 0 to ", firstLeftOut - 1)));
  }
  barrier(rank);
}
