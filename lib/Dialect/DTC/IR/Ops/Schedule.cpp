//===- Schedule.cpp - dtc.schedule ----------------------------------------===//

#include "dtc/Dialect/DTC/IR/DTC.h"
#include "dtc/Schedule/Text.h"
#include "dtc/Schedule/Verify.h"

using namespace mlir;
using namespace dtc;

llvm::Expected<schedule::Schedule> ScheduleOp::getSchedule() {
  std::string text;
  for (auto line : getLines().getAsRange<StringAttr>())
    text += (line.getValue() + "\n").str();
  return schedule::parse(text, getSymName());
}

LogicalResult ScheduleOp::verify() {
  llvm::Expected<schedule::Schedule> schedule = getSchedule();
  if (!schedule)
    return emitOpError() << llvm::toString(schedule.takeError());
  if (llvm::Error error = schedule::verify(*schedule))
    return emitOpError() << llvm::toString(std::move(error));
  return success();
}
