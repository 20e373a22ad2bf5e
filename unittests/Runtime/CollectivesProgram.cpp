//===- CollectivesProgram.cpp - The cases of a transport as an executable -===//
//
// A "training step" that checks every collective and messages; FAKE_RANKS is
// the mesh.
//
//===----------------------------------------------------------------------===//

#include "CollectiveCases.h"
#include "MessageCases.h"

#include <cstdio>
#include <cstdlib>

extern "C" {
char collectives_program_json[1024];
}
__asm__(".globl dtc_program_json\n"
        ".set dtc_program_json, collectives_program_json\n");

__attribute__((constructor)) static void describe() {
  const char *ranks = getenv("FAKE_RANKS");
  snprintf(
      collectives_program_json, sizeof(collectives_program_json),
      "{\"version\": \"0\", \"hash\": \"\", \"flags\": \"\", \"cpu\": \"\", "
      "\"cpu_features\": [], \"mesh\": [[\"dp\", %s]], \"batch\": 1, \"seq\": "
      "1, \"vocab\": 256, \"microbatches\": 1, \"documents\": false, "
      "\"workspace_bytes\": 0, \"collective_slots\": 2, \"tensors\": [], "
      "\"pipeline_ranks\": [{\"arena_bytes\": 4096, \"memory\": [], "
      "\"inputs\": [], \"scalars\": {\"rng\": 0, \"optimizer\": 64}, "
      "\"outputs\": {\"loss\": 128, \"grad_norm\": 132, \"labels\": 136, "
      "\"skipped\": 140}, \"tensors\": []}]}",
      ranks ? ranks : "1");
}

// Each case opens its own.
extern "C" void dtc_program_open(dtc_rank *) {}

extern "C" void dtc_program_step(dtc_rank *rank, char *arena) {
  static thread_local std::deque<dtc::test::Case> cases =
      dtc::test::makeCases(int(rank->count));
  std::string error = dtc::test::runCases(*rank, cases);
  // Messages know no kinds of collectives: once is enough.
  if (error.empty() && !rank->transport->settings().ring)
    error = dtc::test::runMessages(*rank);
  if (!error.empty())
    dtc::rt::fatal(error);
  memset(arena + 128, 0, 16);
}
