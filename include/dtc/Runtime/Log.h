//===- Log.h - log.jsonl and the progress line ------------------*- C++ -*-===//

#ifndef DTC_RUNTIME_LOG_H
#define DTC_RUNTIME_LOG_H

#include "dtc/Runtime/JsonInput.h"

#include <cstdint>
#include <string>

namespace dtc::rt {

/// What rank 0 knows about a finished step.
struct StepRecord {
  int64_t step = 0;
  float loss = 0, gradNorm = 0;
  double lr = 0;
  int64_t tokens = 0, labels = 0;
  double milliseconds = 0;
  bool skipped = false;
  const char *reason = nullptr;    // why it was skipped
  const char *badTensor = nullptr; // stored name of the first bad gradient
};

/// Appends whole lines: a line that does not fit on the disk is taken back.
class LogFile {
public:
  LogFile() = default;
  ~LogFile();
  LogFile(const LogFile &) = delete;
  LogFile &operator=(const LogFile &) = delete;

  /// Replaces a file that is there.
  void open(const std::string &path);
  /// Goes on with a file that is there, whose steps from `firstStep` on are
  /// taken away: the file is replaced whole, and begins with `header`, which
  /// lists the headers of the runs before.
  void resume(const std::string &path, int64_t firstStep, Json header);
  void line(const char *text, int64_t length);
  void step(const StepRecord &record);
  /// Waits until what was written is on the disk.
  void sync();
  /// Throws if what was written did not reach the disk.
  void close();

private:
  std::string path;
  int fd = -1;
  int64_t whole = 0;
};

/// What a resumed run keeps of a log: the lines of steps before its first one,
/// and the headers of the runs that wrote them, each with `until_step`. A last
/// line without an end is dropped. Throws Error on what is not a log.
struct LogHistory {
  Json headers = Json::array();
  std::string lines;
  int64_t lastStep = -1; // of the lines
};
LogHistory readLog(std::string_view text, int64_t firstStep,
                   const std::string &where);

/// Standard error: one updating line on a terminal, otherwise a line every few
/// seconds.
class Progress {
public:
  Progress(int64_t firstStep, int64_t steps);
  void step(const StepRecord &record);
  void finish();

private:
  int64_t first, steps;
  bool terminal;
  double began, shown = 0;
  int64_t tokens = 0;
};

/// One JSON object without newline; allocates nothing. Numbers that JSON does
/// not have are null.
int formatStep(const StepRecord &record, char *out, int size);

} // namespace dtc::rt
#endif // DTC_RUNTIME_LOG_H
