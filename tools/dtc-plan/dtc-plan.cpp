//===- dtc-plan.cpp - Plans, before anything runs -------------------------===//

#include "Commands.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

/// Options before a command: none.
static cl::OptionCategory category("dtc-plan options");

static Error run(int argc, char **argv) {
  if (dtc::scheduleCommand)
    return dtc::runScheduleCommand();
  if (dtc::memoryCommand)
    return dtc::runMemoryCommand(argc, argv);
  return createStringError("error: what to plan is missing; it may be "
                           "'memory' or 'schedule' (dtc-plan memory --help)");
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::SetVersionPrinter([](raw_ostream &os) { os << "dtc 0.1.0\n"; });
  cl::ParseCommandLineOptions(argc, argv, "Shows plans before anything runs\n");
  if (Error error = run(argc, argv)) {
    // Without words: diagnostics have said it.
    if (std::string message = toString(std::move(error)); !message.empty())
      errs() << message << "\n";
    return 1;
  }
  return 0;
}
