//===- Error.cpp - How the runtime reports errors -------------------------===//

#include "dtc/Runtime/Error.h"
#include "dtc/Runtime/AtomicFile.h"

#include <atomic>
#include <cstring>
#include <unistd.h>

using namespace dtc::rt;

static std::string &name() {
  static std::string value = "train";
  return value;
}

static std::atomic<bool> failed{false};
static std::atomic<bool> progressLineOpen{false};
static JobHooks jobHooks;

std::string dtc::rt::shapeText(const std::vector<int64_t> &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

std::string dtc::rt::bytesText(int64_t bytes) {
  static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  double value = double(bytes);
  int unit = 0;
  for (; value >= 1024 && unit < 4; ++unit)
    value /= 1024;
  char text[64];
  snprintf(text, sizeof(text), unit ? "%.1f %s" : "%.0f %s", value,
           units[unit]);
  return text;
}

std::string dtc::rt::errnoText(int number) {
  char buffer[256];
  return strerror_r(number, buffer, sizeof(buffer));
}

void dtc::rt::setProgramName(const char *argv0) {
  if (!argv0 || !*argv0)
    return;
  const char *slash = strrchr(argv0, '/');
  name() = slash ? slash + 1 : argv0;
}

const std::string &dtc::rt::programName() { return name(); }

void dtc::rt::setJobHooks(JobHooks hooks) { jobHooks = hooks; }

void dtc::rt::setProgressLineOpen(bool open) { progressLineOpen = open; }

void dtc::rt::printLine(const std::string &line) {
  std::string text = (progressLineOpen.exchange(false) ? "\n" : "") + line;
  if (text.empty() || text.back() != '\n')
    text += '\n';
  // One write, so that lines of several processes do not mix. A closed
  // standard error leaves nobody to tell.
  [[maybe_unused]] ssize_t n = write(STDERR_FILENO, text.data(), text.size());
}

void dtc::rt::fatal(const std::string &message, int status) {
  // Another thread has begun: its message is the one, and it ends the process.
  if (failed.exchange(true))
    for (;;)
      pause();
  if (jobHooks.claim && !jobHooks.claim()) {
    // Another process has told the user and is ending the job; end on our own
    // only where that fails.
    removeTemporaryFiles();
    sleep(20);
    _exit(status);
  }
  printLine(programName() + ": error: " + message);
  removeTemporaryFiles();
  if (jobHooks.abort)
    jobHooks.abort(status);
  _exit(status);
}
