// Linked into a compiled program beside the real runtime, with
// -Wl,--wrap=dtc_program_step: counts allocations that DTC's own code makes
// after the first step, and tells the highest byte of a poisoned arena
// (DTC_POISON_ARENA=1) that two steps have written.
//
// DTC's own is what the executable's code asks for (the runtime and the
// compiled step), by itself or through libstdc++. What libc, libomp and libmpi
// allocate for themselves is outside: their calls come from their own code.

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <link.h>
#include <unistd.h>

extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
extern const char dtc_program_json[];
int64_t dtc_rt_rank_id(void *rank);
void __real_dtc_program_step(void *rank, char *arena);
}

namespace {

struct Range {
  uintptr_t begin, end;
};
Range own[2]; // the executable's and libstdc++'s code
int ranges;
std::atomic<long> total, after;
std::atomic<bool> counting;
thread_local int steps;

int findCode(dl_phdr_info *info, size_t, void *) {
  bool executable = !info->dlpi_name || !*info->dlpi_name;
  if (!executable && !strstr(info->dlpi_name, "libstdc++"))
    return 0;
  for (int i = 0; i < info->dlpi_phnum && ranges < 2; ++i) {
    const ElfW(Phdr) &header = info->dlpi_phdr[i];
    if (header.p_type == PT_LOAD && (header.p_flags & PF_X))
      own[ranges++] = {info->dlpi_addr + header.p_vaddr,
                       info->dlpi_addr + header.p_vaddr + header.p_memsz};
  }
  return 0;
}

void count(void *caller) {
  auto at = reinterpret_cast<uintptr_t>(caller);
  for (int i = 0; i < ranges; ++i)
    if (at >= own[i].begin && at < own[i].end) {
      ++total;
      if (counting)
        ++after;
    }
}

/// The arena of the rank's coordinate on pp, the slowest axis. PROBE_RANKS says
/// how many ranks there are.
int64_t arenaBytes(int64_t rank) {
  const char *name = "\"arena_bytes\":";
  int64_t bytes[64], stages = 0;
  for (const char *at = dtc_program_json;
       stages < 64 && (at = strstr(at, name)); ++stages)
    bytes[stages] = atoll(at += strlen(name));
  const char *ranks = getenv("PROBE_RANKS");
  return ranks && stages ? bytes[rank * stages / atoll(ranks)] : 0;
}

__attribute__((constructor)) void begin() {
  dl_iterate_phdr(findCode, nullptr);
}
__attribute__((destructor)) void end() {
  fprintf(stderr, "probe: %ld allocations, %ld after the first step\n",
          total.load(), after.load());
}

} // namespace

#define CALLER __builtin_return_address(0)

extern "C" {

void *malloc(size_t n) {
  count(CALLER);
  return __libc_malloc(n);
}
void *calloc(size_t n, size_t m) {
  count(CALLER);
  return __libc_calloc(n, m);
}
void *realloc(void *p, size_t n) {
  count(CALLER);
  return __libc_realloc(p, n);
}
void *memalign(size_t alignment, size_t n) {
  count(CALLER);
  return __libc_memalign(alignment, n);
}
void *aligned_alloc(size_t alignment, size_t n) {
  count(CALLER);
  return __libc_memalign(alignment, n);
}
int posix_memalign(void **p, size_t alignment, size_t n) {
  count(CALLER);
  *p = __libc_memalign(alignment, n);
  return *p ? 0 : ENOMEM;
}

void __wrap_dtc_program_step(void *rank, char *arena) {
  // A fault to show that the probe sees one.
  static const bool fault = getenv("PROBE_FAULT") != nullptr;
  if (steps == 2 && fault)
    free(malloc(100));
  // Whoever reaches its second step comes from an agreement of all ranks at the
  // end of the first.
  if (++steps == 2)
    counting = true;
  // Without poison every byte would count as written.
  if (int64_t n = arenaBytes(dtc_rt_rank_id(rank));
      steps == 1 && n && arena[n - 1] == char(0xff))
    fprintf(stderr, "probe: rank %lld has a poisoned arena\n",
            (long long)dtc_rt_rank_id(rank));
  __real_dtc_program_step(rank, arena);
  if (steps == 2) {
    int64_t n = arenaBytes(dtc_rt_rank_id(rank));
    while (n > 0 && arena[n - 1] == char(0xff))
      --n;
    fprintf(stderr, "probe: rank %lld wrote byte %lld last\n",
            (long long)dtc_rt_rank_id(rank), (long long)n - 1);
  }
}
}
