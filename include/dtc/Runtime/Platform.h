//===- Platform.h - Processor, threads and memory ---------------*- C++ -*-===//

#ifndef DTC_RUNTIME_PLATFORM_H
#define DTC_RUNTIME_PLATFORM_H

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace dtc::rt {

/// Cores of the machine.
int onlineCores();

/// Cores that this process may run on (its affinity mask).
int allowedCores();

/// Flushes denormals to zero in the calling thread.
void flushDenormals();

/// Gives the calling rank `threads` OpenMP threads, each of which flushes
/// denormals to zero. `oversubscribed`: more threads than cores run, so idle
/// workers sleep at once.
void setUpThreads(int threads, bool oversubscribed);

/// Throws, naming it, when the processor lacks one of `features` (LLVM names).
void checkCpuFeatures(const std::vector<std::string> &features,
                      const std::string &cpu);

/// Seconds of a clock that never goes back.
double now();

/// Waits until *word != expected, a wake, or `seconds`; may return early.
void futexWait(std::atomic<uint32_t> &word, uint32_t expected, double seconds);
void futexWakeAll(std::atomic<uint32_t> &word);

inline void cpuPause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  __asm__ __volatile__("" ::: "memory");
#endif
}

/// Zeroed memory, aligned to 64 bytes, with an inaccessible page at both ends.
/// The size is rounded up to 64 bytes: the page behind begins right there, that
/// before less than a page further.
class GuardedMemory {
public:
  GuardedMemory(int64_t bytes, const char *what);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory &) = delete;
  GuardedMemory &operator=(const GuardedMemory &) = delete;

  char *data() const { return base; }
  int64_t size() const { return bytes; }

private:
  char *mapping = nullptr;
  char *base = nullptr;
  int64_t mapped = 0;
  int64_t bytes;
};

} // namespace dtc::rt
#endif // DTC_RUNTIME_PLATFORM_H
