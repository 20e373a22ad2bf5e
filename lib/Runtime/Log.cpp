//===- Log.cpp - log.jsonl and the progress line --------------------------===//

#include "dtc/Runtime/Log.h"
#include "dtc/Runtime/AtomicFile.h"
#include "dtc/Runtime/Error.h"
#include "dtc/Runtime/Platform.h"
#include "dtc/Runtime/Safetensors.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace dtc::rt;

LogFile::~LogFile() {
  if (fd >= 0)
    ::close(fd);
}

void LogFile::open(const std::string &name) {
  path = name;
  fd = openForWriting(path, O_TRUNC | O_APPEND);
  if (fd < 0)
    throw Error(cat("cannot create '", path, "': ", errnoText(errno)));
}

void LogFile::resume(const std::string &name, int64_t firstStep, Json header) {
  struct stat info;
  bool there = stat(name.c_str(), &info) == 0;
  bool regular = there && S_ISREG(info.st_mode);
  LogHistory history;
  if (regular) {
    MappedFile file(name);
    history = readLog({file.data(), size_t(file.size())}, firstStep, name);
    if (history.lastStep + 1 != firstStep)
      printLine(cat(programName(), ": warning: '", name, "' has steps up to ",
                    history.lastStep, ", this run begins at ", firstStep));
    if (!history.headers.empty())
      header["earlier"] = std::move(history.headers);
  }
  std::string text =
      header.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n" +
      history.lines;
  if (there && !regular) {
    open(name);
    return line(text.data(), int64_t(text.size()));
  }
  AtomicFile file(name);
  file.write(text.data(), text.size());
  file.commit();
  path = name;
  whole = int64_t(text.size());
  fd = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fd < 0)
    throw Error(cat("cannot write '", path, "': ", errnoText(errno)));
}

LogHistory dtc::rt::readLog(std::string_view text, int64_t firstStep,
                            const std::string &where) {
  LogHistory history;
  int64_t number = 0;
  bool cut = false;
  for (size_t at = 0; at < text.size();) {
    size_t end = text.find('\n', at);
    if (end == std::string_view::npos)
      break; // the machine stopped while it was written
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    Json json = parseJson(line, cat(where, ": line ", ++number));
    if (!json.is_object() ||
        (json.contains("step") && !json["step"].is_number_integer()))
      throw Error(cat(where, ": line ", number, " is no line of a log"));
    if (!json.contains("step")) {
      for (Json &header : json.value("earlier", Json::array()))
        history.headers.push_back(std::move(header));
      json.erase("earlier");
      json["until_step"] = firstStep;
      history.headers.push_back(std::move(json));
      continue;
    }
    int64_t step = json["step"].get<int64_t>();
    cut |= step >= firstStep;
    if (cut)
      continue;
    history.lastStep = step;
    history.lines.append(line).push_back('\n');
  }
  return history;
}

void LogFile::line(const char *text, int64_t length) {
  if (fd < 0)
    return;
  int64_t done = 0;
  while (done < length) {
    ssize_t n = write(fd, text + done, size_t(length - done));
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0) {
      int error = n < 0 ? errno : ENOSPC;
      // Half a line would break every reader. A device has no length to cut.
      if (done && ftruncate(fd, whole) != 0)
        printLine(cat("warning: '", path, "' ends within a line"));
      throw Error(cat("cannot write '", path, "': ", errnoText(error)));
    }
    done += n;
  }
  whole += length;
}

void LogFile::step(const StepRecord &record) {
  char text[2048];
  int n = formatStep(record, text, int(sizeof(text)) - 1);
  text[n] = '\n';
  line(text, n + 1);
}

void LogFile::sync() {
  if (fd >= 0 && fsync(fd) != 0 && errno != EINVAL && errno != EROFS)
    throw Error(cat("cannot write '", path, "': ", errnoText(errno)));
}

void LogFile::close() {
  if (fd < 0)
    return;
  int error = fsync(fd) != 0 && errno != EINVAL && errno != EROFS ? errno : 0;
  if (::close(fd) != 0 && !error)
    error = errno;
  fd = -1;
  if (error)
    throw Error(cat("cannot write '", path, "': ", errnoText(error)));
}

/// The shortest digits that read back as the same number.
template <typename T> static void number(char (&out)[32], T value) {
  char *end = out + sizeof(out) - 1;
  if (std::isfinite(value))
    end = std::to_chars(out, end, value).ptr;
  else
    end = std::copy_n("null", 4, out);
  *end = 0;
}

int dtc::rt::formatStep(const StepRecord &r, char *out, int size) {
  char loss[32], norm[32], lr[32], speed[32];
  number(loss, r.loss);
  number(norm, r.gradNorm);
  number(lr, r.lr);
  number(speed, r.milliseconds > 0
                    ? std::round(double(r.tokens) * 1e4 / r.milliseconds) / 10
                    : 0.0);
  int n = snprintf(out, size_t(size),
                   "{\"step\": %lld, \"loss\": %s, \"grad_norm\": %s, \"lr\": "
                   "%s, \"tokens\": %lld, \"labels\": %lld, \"tokens_per_s\": "
                   "%s, \"step_ms\": %.6g",
                   static_cast<long long>(r.step), loss, norm, lr,
                   static_cast<long long>(r.tokens),
                   static_cast<long long>(r.labels), speed, r.milliseconds);
  auto append = [&](const char *format, const char *text) {
    if (n < size)
      n += snprintf(out + n, size_t(size - n), format, text);
  };
  if (r.skipped)
    append(", \"skipped\": true, \"reason\": \"%s\"", r.reason);
  if (r.badTensor)
    append(", \"bad_tensor\": \"%s\"", r.badTensor);
  append("%s", "}");
  return std::min(n, size - 1);
}

Progress::Progress(int64_t firstStep, int64_t stepCount)
    : first(firstStep), steps(stepCount), terminal(isatty(STDERR_FILENO)),
      began(now()) {}

void Progress::step(const StepRecord &record) {
  tokens += record.tokens;
  double time = now();
  int64_t done = record.step + 1;
  bool last = done == steps;
  // Without a terminal the first step shows that it runs.
  double pause = terminal ? 0.1 : 5;
  if (!last && done != first + 1 && time - shown < pause)
    return;
  shown = time;
  double elapsed = std::max(time - began, 1e-9);
  int64_t left =
      int64_t(elapsed / double(done - first) * double(steps - done) + 0.5);
  char line[256];
  int n = snprintf(
      line, sizeof(line),
      "%sstep %lld/%lld  loss %.4f  %.0f tokens/s  %lld:%02lld:%02lld left%s%s",
      terminal ? "\r" : "", static_cast<long long>(done),
      static_cast<long long>(steps), double(record.loss),
      double(tokens) / elapsed, static_cast<long long>(left / 3600),
      static_cast<long long>(left / 60 % 60), static_cast<long long>(left % 60),
      record.skipped ? "  (skipped)" : "", terminal ? "\033[K" : "\n");
  n = std::min(n, int(sizeof(line)) - 1);
  setProgressLineOpen(terminal);
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, line, size_t(n));
}

void Progress::finish() {
  if (!terminal)
    return;
  setProgressLineOpen(false);
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, "\n", 1);
}
