// Linked into a compiled program beside the real runtime, with --wrap for
// dtc_program_step, dtc_rt_start and dtc_rt_wait: ranks are late by chance.
//
// DELAY_SEED=N: before each of these calls a rank sleeps up to 2 ms, one time
// in eight. DELAY_FAULT=1: each wait comes late by one call, as where a gather
// is not waited for before its result is used.

#include <cstdint>
#include <cstdlib>
#include <unistd.h>

struct dtc_rank;
struct dtc_collective;

extern "C" {
int64_t dtc_rt_rank_id(dtc_rank *rank);
void __real_dtc_program_step(dtc_rank *rank, char *arena);
void __real_dtc_rt_start(dtc_rank *rank, const dtc_collective *what,
                         int32_t slot, void *const *send, void *const *recv);
void __real_dtc_rt_wait(dtc_rank *rank, int32_t slot);
}

namespace {

thread_local uint64_t state;
thread_local int32_t late = -1;

void delay(dtc_rank *rank) {
  static const char *seed = getenv("DELAY_SEED");
  if (!seed)
    return;
  if (!state)
    state = strtoull(seed, nullptr, 10) * 1000 + uint64_t(dtc_rt_rank_id(rank));
  state = state * 6364136223846793005u + 1442695040888963407u;
  if (state >> 61 == 0)
    usleep(useconds_t(state >> 33 & 2047));
}

void catchUp(dtc_rank *rank) {
  if (late >= 0)
    __real_dtc_rt_wait(rank, late);
  late = -1;
}

} // namespace

extern "C" {

void __wrap_dtc_program_step(dtc_rank *rank, char *arena) {
  delay(rank);
  __real_dtc_program_step(rank, arena);
  catchUp(rank);
}

void __wrap_dtc_rt_start(dtc_rank *rank, const dtc_collective *what,
                         int32_t slot, void *const *send, void *const *recv) {
  catchUp(rank);
  delay(rank);
  __real_dtc_rt_start(rank, what, slot, send, recv);
}

void __wrap_dtc_rt_wait(dtc_rank *rank, int32_t slot) {
  static const bool fault = getenv("DELAY_FAULT") != nullptr;
  catchUp(rank);
  delay(rank);
  if (fault)
    late = slot;
  else
    __real_dtc_rt_wait(rank, slot);
}
}
