//===- Error.h - How the runtime reports errors -----------------*- C++ -*-===//

#ifndef DTC_RUNTIME_ERROR_H
#define DTC_RUNTIME_ERROR_H

#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace dtc::rt {

/// An error of the user's input or of the machine, with a complete message.
class Error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Concatenates its arguments as text.
template <typename... Args> std::string cat(const Args &...args) {
  std::ostringstream os;
  (void)(os << ... << args);
  return os.str();
}

/// "[2, 3]"
std::string shapeText(const std::vector<int64_t> &shape);

/// "12 bytes", "1.5 GiB"
std::string bytesText(int64_t bytes);

/// The text of errno, thread safe.
std::string errnoText(int number);

/// The name before every message ("train"): the file name of argv[0].
void setProgramName(const char *argv0);
const std::string &programName();

/// What another process of the job needs to know when this one fails. claim
/// returns whether this process may print the message (one message a job);
/// abort ends the whole job and does not return.
struct JobHooks {
  bool (*claim)() = nullptr;
  void (*abort)(int status) = nullptr;
};
void setJobHooks(JobHooks hooks);

/// Ends the job: one message for all ranks (the first caller's), temporary
/// files removed, non-zero status. Callable from any thread.
[[noreturn]] void fatal(const std::string &message, int status = 1);

/// Prints one line to standard error, closing an open progress line first.
void printLine(const std::string &line);

/// Whether the cursor stands behind a progress line without a newline.
void setProgressLineOpen(bool open);

} // namespace dtc::rt
#endif // DTC_RUNTIME_ERROR_H
