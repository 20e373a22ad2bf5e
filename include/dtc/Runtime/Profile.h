//===- Profile.h - Where a rank's time goes ---------------------*- C++ -*-===//

#ifndef DTC_RUNTIME_PROFILE_H
#define DTC_RUNTIME_PROFILE_H

#include <cstdint>
#include <map>
#include <string>

namespace dtc::rt {

/// Times of one rank's kernels, and of the starts and waits of its
/// collectives (`--profile`). Without the flag there is none, and kernels cost
/// one test of a pointer.
class Profile {
public:
  void begin();
  /// Ends what began last. `name` is a constant of the program; equal names of
  /// different kernels are added.
  void end(const char *name, bool collective);
  /// Forgets all: the first step warms caches up.
  void reset();

  /// {"steps", "step_ms", "kernels": [{"name", "calls", "ms"}...],
  /// "collectives": likewise}; calls and milliseconds are means of a step,
  /// most time first.
  std::string json(int64_t steps, double milliseconds) const;

private:
  struct Time {
    bool collective = false;
    int64_t calls = 0;
    double seconds = 0;
  };
  std::map<const char *, Time> times;
  double began = 0;
};

} // namespace dtc::rt
#endif // DTC_RUNTIME_PROFILE_H
