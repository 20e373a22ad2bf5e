// Linked into a compiled program beside the real runtime, with
// -Wl,--wrap=dtc_program_step: says what each rank sent in its second step, one
// line for each group of ranks and for messages:
//
//   sent RANK BYTES STRIDExSIZE,...      sent RANK BYTES messages

#include "dtc/Runtime/Transport.h"

#include <cstdio>
#include <map>
#include <string>

using namespace dtc::rt;

extern "C" void __real_dtc_program_step(dtc_rank *rank, char *arena);

static std::string groupOf(const dtc_collective &what) {
  std::string text;
  for (int32_t a = 0; a < what.num_axes; ++a)
    text += (a ? "," : "") + std::to_string(what.axes[a].stride) + "x" +
            std::to_string(what.axes[a].size);
  return text;
}

/// What the runtime has counted since the program began, but for its own
/// collectives at the end of a step.
static std::map<std::string, int64_t> count(const dtc_rank &rank) {
  std::map<std::string, int64_t> bytes;
  for (auto &[what, traffic] : rank.traffic)
    if (!rank.control || what != &rank.control->step)
      bytes[groupOf(*what)] += traffic.bytes;
  for (auto &[number, traffic] : rank.messages)
    bytes["messages"] += traffic.bytes;
  return bytes;
}

extern "C" void __wrap_dtc_program_step(dtc_rank *rank, char *arena) {
  thread_local int steps = 0;
  std::map<std::string, int64_t> before;
  if (++steps == 2)
    before = count(*rank);
  __real_dtc_program_step(rank, arena);
  if (steps == 2)
    for (auto &[group, bytes] : count(*rank))
      fprintf(stderr, "sent %lld %lld %s\n", static_cast<long long>(rank->id),
              static_cast<long long>(bytes - before[group]), group.c_str());
}
