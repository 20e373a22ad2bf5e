//===- CommandLine.h - What command lines have in common --------*- C++ -*-===//

#ifndef DTC_TOOLS_COMMANDLINE_H
#define DTC_TOOLS_COMMANDLINE_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/CommandLine.h"

namespace dtc {

/// LLVM's libraries register hundreds of options, some with the names of a
/// tool's own. Made before a tool's options, this takes all others away.
struct ForgetOtherOptions {
  ForgetOtherOptions() {
    llvm::SmallVector<llvm::cl::Option *> others;
    for (auto &[name, option] : llvm::cl::getRegisteredOptions())
      if (!name.starts_with("help") && name != "version")
        others.push_back(option);
    for (llvm::cl::Option *option : others)
      option->removeArgument();
  }
};

} // namespace dtc

#endif // DTC_TOOLS_COMMANDLINE_H
