//===- ScheduleCommand.cpp - dtc-plan schedule ----------------------------===//

#include "Commands.h"
#include "dtc/Schedule/Chart.h"
#include "dtc/Schedule/Communicate.h"
#include "dtc/Schedule/Generate.h"
#include "dtc/Schedule/Text.h"
#include "dtc/Schedule/Verify.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace llvm;
using namespace dtc::schedule;

cl::SubCommand dtc::scheduleCommand(
    "schedule", "Verifies a pipeline schedule, simulates it and draws it");

namespace {

cl::OptionCategory category("dtc-plan schedule options");

/// The library's message would speak of C++ types.
struct CountParser : cl::parser<long long> {
  using cl::parser<long long>::parser;
  bool parse(cl::Option &option, StringRef, StringRef text, long long &value) {
    if (text.getAsInteger(10, value) || value < 0 || value > INT32_MAX)
      return option.error("'" + text +
                          "' must be a whole number from 0 to 2147483647");
    return false;
  }
};
using Count = cl::opt<long long, false, CountParser>;

enum class Format { Chart, Svg, Trace, Text };

cl::opt<std::string>
    scheduleName("schedule", cl::init("1f1b"), cl::value_desc("NAME|FILE"),
                 cl::desc("gpipe, 1f1b (default), interleaved, zb-h1, zb-v, or "
                          "a file with a schedule by hand (docs/schedules.md)"),
                 cl::sub(dtc::scheduleCommand), cl::cat(category));
Count ranks("pp", cl::value_desc("P"),
            cl::desc("Ranks of the pipeline; a file says it itself"),
            cl::sub(dtc::scheduleCommand), cl::cat(category));
Count microBatches("microbatches", cl::value_desc("M"),
                   cl::desc("Micro-batches (default 1); a file says it itself"),
                   cl::sub(dtc::scheduleCommand), cl::cat(category));
Count virtualStages("virtual-stages", cl::value_desc("V"),
                    cl::desc("Stages on each rank, for interleaved (default "
                             "2)"),
                    cl::sub(dtc::scheduleCommand), cl::cat(category));
Count postAhead("post-ahead", cl::init(1), cl::value_desc("N"),
                cl::desc("Receives posted ahead on each channel (default 1); 0 "
                         "posts each one only when it is waited for"),
                cl::sub(dtc::scheduleCommand), cl::cat(category));
cl::opt<VerifyOptions::Sends>
    sends("sends", cl::init(VerifyOptions::Asynchronous),
          cl::values(clEnumValN(VerifyOptions::Asynchronous, "asynchronous",
                                "they go on at once (default)"),
                     clEnumValN(VerifyOptions::Blocking, "blocking",
                                "they go on when the receive is posted")),
          cl::desc("With which sends the schedule must come to its end:"),
          cl::sub(dtc::scheduleCommand), cl::cat(category));
cl::opt<std::string> timesText(
    "times", cl::init("1,0.5,0.5,0"), cl::value_desc("F,B,W[,COMM]"),
    cl::desc("Times of one micro-batch on one rank: forward, input "
             "gradients, weight gradients, and a message (default "
             "1,0.5,0.5,0: forward and backward are one slot each). "
             "Stages of one rank share a time evenly; times that differ "
             "are given for each stage, with colons (1:1:2:1)"),
    cl::sub(dtc::scheduleCommand), cl::cat(category));
cl::opt<std::string>
    bytesText("bytes", cl::value_desc("SAVED,KEPT,GRADIENTS"),
              cl::desc("Bytes of one micro-batch on one rank: what is freed "
                       "after the input gradients, what is freed after the "
                       "weight gradients, and what the first leave for the "
                       "second. Or for each stage, as with --times"),
              cl::sub(dtc::scheduleCommand), cl::cat(category));
cl::opt<Format> outputFormat(
    "format", cl::init(Format::Chart),
    cl::values(clEnumValN(Format::Chart, "chart",
                          "summary and chart as text (default)"),
               clEnumValN(Format::Svg, "svg", "a picture"),
               clEnumValN(Format::Trace, "trace",
                          "Chrome's JSON, for ui.perfetto.dev; one unit of "
                          "time is 1 ms"),
               clEnumValN(Format::Text, "text",
                          "the schedule with its messages, as --schedule FILE "
                          "takes it")),
    cl::desc("What to write:"), cl::sub(dtc::scheduleCommand),
    cl::cat(category));
Count width("width", cl::value_desc("COLUMNS"),
            cl::desc("Width of the chart (default: as names need)"),
            cl::sub(dtc::scheduleCommand), cl::cat(category));
cl::opt<std::string> outputPath("o", cl::init("-"), cl::value_desc("FILE"),
                                cl::desc("Where it goes (default -, standard "
                                         "output)"),
                                cl::sub(dtc::scheduleCommand),
                                cl::cat(category));

} // namespace

/// A schedule for 64 ranks and 1024 micro-batches has 10 MiB.
static constexpr uint64_t maxFileBytes = uint64_t(1) << 30;

/// `path` without what the library puts before its reasons.
static Error fileError(StringRef path, const Twine &reason) {
  return createStringError(path + ": error: " + reason);
}

static Expected<Schedule> readSchedule(StringRef path) {
  sys::fs::file_status status;
  std::error_code code = sys::fs::status(path, status);
  if (code == std::errc::no_such_file_or_directory)
    return createStringError("error: --schedule " + path +
                             " is neither a file nor one of " + getKindNames());
  if (!code && status.type() == sys::fs::file_type::directory_file)
    code = std::make_error_code(std::errc::is_a_directory);
  if (code)
    return fileError(path, code.message());
  if (status.getSize() > maxFileBytes)
    return fileError(path, Twine(status.getSize()) +
                               " bytes are too many for a schedule");
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return fileError(path, buffer.getError().message());

  Known known;
  if (microBatches.getNumOccurrences())
    known.microBatches = microBatches;
  auto schedule = parse((*buffer)->getBuffer(), path, known);
  if (!schedule)
    return schedule.takeError();
  const Placement &p = schedule->placement;
  if (ranks.getNumOccurrences() && ranks != p.ranks)
    return fileError(path, "the schedule has " + Twine(p.ranks) +
                               " ranks, but --pp is " + Twine(ranks));
  if (virtualStages.getNumOccurrences() && virtualStages != p.chunks)
    return fileError(path, "the schedule has " + Twine(p.chunks) +
                               " stages on a rank, but --virtual-stages is " +
                               Twine(virtualStages));
  if (hasOnlyComputations(*schedule))
    if (Error error = addCommunication(*schedule, postAhead))
      return fileError(path, toString(std::move(error)));
  return schedule;
}

static Expected<Schedule> makeSchedule() {
  std::optional<Kind> kind = parseKind(scheduleName);
  if (!kind)
    return readSchedule(scheduleName);
  auto fail = [](Error error) {
    return createStringError("error: " + toString(std::move(error)));
  };
  if (!ranks.getNumOccurrences())
    return createStringError("error: --pp is missing, the number of ranks");
  if (virtualStages.getNumOccurrences() && virtualStages == 0)
    return createStringError("error: --virtual-stages is 0; it must be at "
                             "least 1");
  auto placement = getPlacement(*kind, ranks, virtualStages);
  if (!placement)
    return fail(placement.takeError());
  auto schedule =
      generate(*kind, *placement,
               microBatches.getNumOccurrences() ? int64_t(microBatches) : 1, {},
               postAhead);
  if (!schedule)
    return fail(schedule.takeError());
  return schedule;
}

/// What an option says of each stage: numbers of at least 0 with commas between
/// them, each either one number for a rank, which its stages share, or numbers
/// for all stages with colons between them.
static Expected<std::vector<std::vector<double>>>
parsePerStage(StringRef option, StringRef text, size_t least, size_t most,
              StringRef form, const Placement &placement) {
  auto fail = [&](const Twine &what) {
    return createStringError("error: " + option + " is '" + text + "'; " +
                             what);
  };
  SmallVector<StringRef> parts;
  text.split(parts, ',');
  if (parts.size() < least || parts.size() > most)
    return fail("it must be " + form);
  std::vector<std::vector<double>> result;
  for (StringRef part : parts) {
    SmallVector<StringRef> words;
    part.split(words, ':');
    std::vector<double> numbers;
    for (StringRef word : words) {
      double number = 0;
      // Beyond 2^53 a double is no longer any whole number of bytes.
      if (word.getAsDouble(number) || !(number >= 0) ||
          number > 9007199254740992.0)
        return fail("'" + word + "' must be a number of at least 0");
      numbers.push_back(number);
    }
    int64_t stages = placement.getStages();
    if (numbers.size() == 1)
      numbers.assign(stages, numbers.front() / double(placement.chunks));
    if (int64_t(numbers.size()) != stages)
      return fail("'" + part + "' has " + Twine(numbers.size()) +
                  " numbers; there may be 1" +
                  (stages > 1 ? ", for each rank, or " +
                                    std::to_string(stages) + ", for each stage"
                              : ""));
    result.push_back(numbers);
  }
  return result;
}

static Expected<Simulation> simulateSchedule(const Schedule &schedule) {
  const Placement &p = schedule.placement;
  // The time of a message is no stage's.
  StringRef stageTimes = timesText, communication = "0";
  if (stageTimes.count(',') == 3)
    std::tie(stageTimes, communication) = stageTimes.rsplit(',');
  auto t = parsePerStage("--times", stageTimes, 3, 3, "F,B,W or F,B,W,COMM", p);
  if (!t)
    return t.takeError();
  auto c =
      parsePerStage("--times", communication, 1, 1, "COMM", {1, 1, p.Loop});
  if (!c)
    return c.takeError();
  Times times;
  times.forward = (*t)[0];
  times.inputBackward = (*t)[1];
  times.weightBackward = (*t)[2];
  times.communication = c->front().front();
  Bytes bytes;
  if (bytesText.getNumOccurrences()) {
    auto b =
        parsePerStage("--bytes", bytesText, 3, 3, "SAVED,KEPT,GRADIENTS", p);
    if (!b)
      return b.takeError();
    bytes.saved.assign((*b)[0].begin(), (*b)[0].end());
    bytes.kept.assign((*b)[1].begin(), (*b)[1].end());
    bytes.gradients.assign((*b)[2].begin(), (*b)[2].end());
  }
  auto simulation = simulate(schedule, times, bytes);
  if (!simulation)
    return createStringError("error: " + toString(simulation.takeError()));
  return simulation;
}

Error dtc::runScheduleCommand() {
  auto schedule = makeSchedule();
  if (!schedule)
    return schedule.takeError();
  VerifyOptions options;
  options.sends = sends;
  auto fail = [&](Error error) {
    return createStringError(
        (parseKind(scheduleName) ? "" : scheduleName + ": ") +
        "error: " + toString(std::move(error)));
  };
  if (Error error = verify(*schedule, options))
    return fail(std::move(error));
  auto slots = assignSlots(*schedule);
  if (!slots)
    return fail(slots.takeError());
  auto simulation = simulateSchedule(*schedule);
  if (!simulation)
    return simulation.takeError();

  // Written aside and renamed: a file of this name is complete.
  Error error = writeToOutput(outputPath, [&](raw_ostream &os) {
    switch (outputFormat) {
    case Format::Chart:
      printSummary(os, *schedule, *simulation, slots->peaks);
      os << "\n";
      printChart(os, *schedule, *simulation, width);
      break;
    case Format::Svg:
      printSvg(os, *schedule, *simulation);
      break;
    case Format::Trace:
      printTrace(os, *schedule, *simulation);
      break;
    case Format::Text:
      printSummary(os, *schedule, *simulation, slots->peaks, "# ");
      print(os, *schedule);
      break;
    }
    return Error::success();
  });
  if (error) {
    std::string message = toString(std::move(error));
    StringRef reason = message;
    reason.consume_front("'" + outputPath + "': ");
    return fileError(outputPath, reason);
  }
  return Error::success();
}
