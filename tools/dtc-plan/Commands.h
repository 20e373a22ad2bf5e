//===- Commands.h - What dtc-plan can do ------------------------*- C++ -*-===//

#ifndef DTC_TOOLS_DTC_PLAN_COMMANDS_H
#define DTC_TOOLS_DTC_PLAN_COMMANDS_H

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"

namespace dtc {

/// `dtc-plan schedule`.
extern llvm::cl::SubCommand scheduleCommand;
llvm::Error runScheduleCommand();

/// `dtc-plan memory`.
extern llvm::cl::SubCommand memoryCommand;
llvm::Error runMemoryCommand(int argc, char **argv);

} // namespace dtc

#endif // DTC_TOOLS_DTC_PLAN_COMMANDS_H
