//===- Log.cpp - log.jsonl and the progress line --------------------------===//

#include "dtc/Runtime/Log.h"
#include "dtc/Runtime/Error.h"
#include "dtc/Runtime/Platform.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

using namespace dtc::rt;

LogFile::~LogFile() {
  if (fd >= 0)
    ::close(fd);
}

void LogFile::open(const std::string &name) {
  path = name;
  fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC,
              0666);
  if (fd < 0)
    throw Error(cat("cannot create '", path, "': ", errnoText(errno)));
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
