//===- Verify.h - Proof that a schedule is right ----------------*- C++ -*-===//

#ifndef DTC_SCHEDULE_VERIFY_H
#define DTC_SCHEDULE_VERIFY_H

#include "dtc/Schedule/Schedule.h"

namespace dtc::schedule {

struct VerifyOptions {
  enum Sends {
    /// A send goes on at once. Its buffer is free when the receive is posted,
    /// and what computes a message waits for a free buffer
    /// (getOutgoingSlots).
    Asynchronous,
    /// A send goes on only when its receive is posted: textbook schedules with
    /// blocking sends.
    Blocking
  };
  Sends sends = Asynchronous;
};

/// Proves from the lists, in time linear in their length, that
/// 1. each rank computes each micro-batch of each of its stages exactly once
///    forward, and exactly once backward, whole or in two parts;
/// 2. a backward comes after its forward, and a weight backward after its input
///    backward;
/// 3. each message is sent, posted and waited for exactly once, by the ranks at
///    the channel's ends; it is sent after it is computed, and waited for after
///    it is posted and before it is used;
/// 4. hand-overs on one rank are computed before they are used;
/// 5. each channel's receives are posted in the order of its sends, and a
///    message is computed only when the one that had its buffer
///    (getOutgoingSlots) is sent;
/// 6. the lists come to their end: there is no cycle of waits even if a message
///    leaves only when its receive is posted;
/// 7. each rank reduces once, after its last backward, and then updates once,
///    at the end;
/// 8. the peaks are as claimed.
/// The first thing wrong is the error, in terms of ranks, stages, micro-batches
/// and positions in the list (from 1).
llvm::Error verify(const Schedule &schedule, const VerifyOptions &options = {});

} // namespace dtc::schedule

#endif // DTC_SCHEDULE_VERIFY_H
