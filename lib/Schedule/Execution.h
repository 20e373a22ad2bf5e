//===- Execution.h - Whether lists come to their end ------------*- C++ -*-===//

#ifndef DTC_LIB_SCHEDULE_EXECUTION_H
#define DTC_LIB_SCHEDULE_EXECUTION_H

#include "dtc/Schedule/Schedule.h"

namespace dtc::schedule {

/// Runs all lists as far as their waits allow, in linear time. An action only
/// ever makes others possible, so if one order of execution ends, all do; the
/// error is a cycle of ranks that wait for each other. `order` has, for each
/// channel, the micro-batches in the order in which they are sent and posted;
/// every message is sent, posted and waited for exactly once.
llvm::Error execute(const Schedule &schedule,
                    const std::vector<std::vector<int32_t>> &order,
                    const StageChannels &ends, bool blockingSends);

} // namespace dtc::schedule

#endif // DTC_LIB_SCHEDULE_EXECUTION_H
