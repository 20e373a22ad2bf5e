//===- Communicate.h - Messages for an order of computations ----*- C++ -*-===//

#ifndef DTC_SCHEDULE_COMMUNICATE_H
#define DTC_SCHEDULE_COMMUNICATE_H

#include "dtc/Schedule/Schedule.h"

namespace dtc::schedule {

/// How many receives of one channel are posted at once: `postAhead` beside one
/// for each stage that the message's way is long, at most the micro-batches.
/// With postAhead 0 it is one, posted only when it is waited for.
int64_t getPostedWindow(const Edge &edge, int64_t microBatches,
                        int64_t postAhead);

/// How many buffers the sender of a channel has for messages under way: one
/// beside one for each stage that the way is long, at most the micro-batches.
/// Message n uses buffer n modulo this number, so what computes message n waits
/// until message n minus this number has left.
int64_t getOutgoingSlots(const Edge &edge, int64_t microBatches);

/// Whether a list has neither Post, Wait nor Send.
bool hasOnlyComputations(const Schedule &schedule);

/// Adds all messages to lists that have none, and Reduce and Update to the
/// ranks that lack both:
/// - each Wait directly before the computation that needs it;
/// - each Send directly after the computation that makes the message, and after
///   the posts there, so that no send stands between a peer and its buffer;
/// - each Post so early that a channel always has getPostedWindow posted: the
///   first at the list's start, each other after the computation that used the
///   message one window before.
/// Posts are in the order in which the sender sends. Sets claims.posted. Fails
/// only on what checkIndices refuses, on lists with messages, and where a
/// computation of one end is missing or doubled at the other.
llvm::Error addCommunication(Schedule &schedule, int64_t postAhead = 1);

} // namespace dtc::schedule

#endif // DTC_SCHEDULE_COMMUNICATE_H
