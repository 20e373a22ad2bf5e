//===- Execution.h - Whether lists come to their end ------------*- C++ -*-===//

#ifndef DTC_LIB_SCHEDULE_EXECUTION_H
#define DTC_LIB_SCHEDULE_EXECUTION_H

#include "dtc/Schedule/Schedule.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace dtc::schedule {

using Visitor = llvm::function_ref<void(int64_t rank, const Action &action)>;

/// Runs all lists as far as their waits allow, in linear time. An action only
/// ever makes others possible, so if one order of execution ends, all do; the
/// error is a cycle of ranks that wait for each other. `order` has, for each
/// channel, the micro-batches in the order in which they are sent and posted;
/// every message is sent, posted and waited for exactly once. `visit` is called
/// for each action when everything that it waits for has happened.
llvm::Error execute(const Schedule &schedule,
                    const std::vector<std::vector<int32_t>> &order,
                    const StageChannels &ends, bool blockingSends,
                    Visitor visit = nullptr);

} // namespace dtc::schedule

#endif // DTC_LIB_SCHEDULE_EXECUTION_H
