//===- AbstractRun.h - Schedules executed with symbols ----------*- C++ -*-===//

#ifndef DTC_UNITTESTS_SCHEDULE_ABSTRACTRUN_H
#define DTC_UNITTESTS_SCHEDULE_ABSTRACTRUN_H

#include "dtc/Schedule/Slots.h"
#include <map>

namespace dtc::schedule {

/// What training computes: for each stage, the gradients that are reduced, in
/// increasing order (a sum does not depend on it, but for rounding).
using Outcome = std::vector<std::vector<uint64_t>>;

/// The outcome by definition: all stages forward, then all backward, one
/// micro-batch after the other.
Outcome getExpectedOutcome(const Schedule &schedule);

/// Slots that need no thought, for any lists that checkIndices accepts: each
/// micro-batch has its own, but what a channel sends shares as many as there
/// are (getOutgoingSlots).
SlotAssignment getOwnSlots(const Schedule &schedule);

/// Executes the lists with hashes for values, in buffers where `slots` says,
/// over channels whose messages leave when they are sent and posted. Ranks take
/// turns at random. Knows nothing of the verifier's rules: reading a wrong or
/// overwritten buffer gives another hash, and standing still or leaving
/// something over an empty outcome.
Outcome runAbstractly(const Schedule &schedule, const SlotAssignment &slots,
                      uint64_t seed);

} // namespace dtc::schedule

#endif // DTC_UNITTESTS_SCHEDULE_ABSTRACTRUN_H
