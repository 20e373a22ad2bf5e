//===- Platform.cpp - Processor, threads and memory -----------------------===//

#include "dtc/Runtime/Platform.h"
#include "dtc/Runtime/Error.h"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <fstream>
#include <linux/futex.h>
#include <omp.h>
#include <sched.h>
#include <set>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

using namespace dtc::rt;

// An extension of LLVM's OpenMP runtime.
extern "C" void kmp_set_blocktime(int milliseconds) __attribute__((weak));

int dtc::rt::onlineCores() {
  return std::max(1, int(sysconf(_SC_NPROCESSORS_ONLN)));
}

int dtc::rt::allowedCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0)
    return onlineCores();
  return std::max(1, CPU_COUNT(&set));
}

void dtc::rt::flushDenormals() {
#if defined(__x86_64__)
  constexpr unsigned flushToZero = 0x8000, denormalsAreZero = 0x0040;
  _mm_setcsr(_mm_getcsr() | flushToZero | denormalsAreZero);
#elif defined(__aarch64__)
  uint64_t fpcr;
  __asm__ __volatile__("mrs %0, fpcr" : "=r"(fpcr));
  __asm__ __volatile__("msr fpcr, %0" ::"r"(fpcr | (uint64_t(1) << 24)));
#endif
}

void dtc::rt::setUpThreads(int threads, bool oversubscribed) {
  flushDenormals();
  omp_set_dynamic(0);
  omp_set_num_threads(threads);
  if (oversubscribed && kmp_set_blocktime)
    kmp_set_blocktime(0);
  if (threads > 1) {
#pragma omp parallel
    flushDenormals();
  }
}

static std::set<std::string> processorFlags() {
  std::set<std::string> flags;
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    size_t colon = line.find(':');
    if (colon == std::string::npos || (line.compare(0, 5, "flags") != 0 &&
                                       line.compare(0, 8, "Features") != 0))
      continue;
    std::istringstream words(line.substr(colon + 1));
    for (std::string word; words >> word;)
      flags.insert(word);
    break;
  }
  return flags;
}

/// LLVM's and Linux's names agree up to punctuation, with these exceptions.
static std::string linuxName(std::string name) {
  static const std::pair<const char *, const char *> special[] = {
      {"sse3", "pni"},
      {"lzcnt", "abm"},
      {"prfchw", "3dnowprefetch"},
      {"sahf", "lahflm"},
      {"x87", "fpu"},
      {"crc32", "sse42"},
      {"64bit", "lm"},
      {"pclmul", "pclmulqdq"},
      {"rdrnd", "rdrand"},
      {"sha", "shani"},
      {"avx512vpopcntdq", "avx512vpopcntdq"},
      {"kl", "aeskeylocker"},
      {"neon", "asimd"},
      {"fullfp16", "fphp"}};
  name.erase(std::remove_if(name.begin(), name.end(),
                            [](char c) {
                              return c == '.' || c == '_' || c == '-' ||
                                     c == '+';
                            }),
             name.end());
  for (auto &[llvm, kernel] : special)
    if (name == llvm)
      return kernel;
  return name;
}

void dtc::rt::checkCpuFeatures(const std::vector<std::string> &features,
                               const std::string &cpu) {
  if (features.empty())
    return;
  std::set<std::string> present;
  for (const std::string &flag : processorFlags())
    present.insert(linuxName("+" + flag));
  // Without /proc nothing can be said.
  if (present.empty())
    return;
  std::string missing;
  for (const std::string &feature : features)
    if (!present.count(linuxName(feature)))
      missing += (missing.empty() ? "" : ", ") + feature;
  if (!missing.empty())
    throw Error(cat("this program was compiled for the processor '", cpu,
                    "', and this processor lacks ", missing,
                    "; compile with --cpu=native on this machine, or name its "
                    "processor with --cpu"));
}

double dtc::rt::now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

void dtc::rt::futexWait(std::atomic<uint32_t> &word, uint32_t expected,
                        double seconds) {
  timespec time;
  time.tv_sec = time_t(seconds);
  time.tv_nsec = long((seconds - double(time.tv_sec)) * 1e9);
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), FUTEX_WAIT_PRIVATE,
          expected, &time, nullptr, 0);
}

void dtc::rt::futexWakeAll(std::atomic<uint32_t> &word) {
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), FUTEX_WAKE_PRIVATE,
          INT32_MAX, nullptr, nullptr, 0);
}

GuardedMemory::GuardedMemory(int64_t wanted, const char *what)
    : bytes((wanted + 63) / 64 * 64) {
  int64_t page = sysconf(_SC_PAGESIZE);
  int64_t body = (bytes + page - 1) / page * page;
  mapped = body + 2 * page;
  void *address = mmap(nullptr, size_t(mapped), PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED)
    throw Error(cat("cannot map ", bytesText(bytes), " for ", what, ": ",
                    errnoText(errno)));
  mapping = static_cast<char *>(address);
  if (body &&
      mprotect(mapping + page, size_t(body), PROT_READ | PROT_WRITE) != 0) {
    int error = errno;
    munmap(mapping, size_t(mapped));
    throw Error(cat("cannot get ", bytesText(bytes), " for ", what, ": ",
                    errnoText(error)));
  }
  madvise(mapping + page, size_t(body), MADV_HUGEPAGE);
  // What is left of a page lies before: the first byte behind is guarded.
  base = mapping + page + (body - bytes);
}

GuardedMemory::~GuardedMemory() { munmap(mapping, size_t(mapped)); }
