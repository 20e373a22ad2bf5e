//===- Flags.h - The command line of dtc-compile ----------------*- C++ -*-===//

#ifndef DTC_TOOLS_COMPILE_FLAGS_H
#define DTC_TOOLS_COMPILE_FLAGS_H

#include "dtc/Tools/Compile/Compile.h"
#include "llvm/Support/CommandLine.h"
#include <memory>

namespace dtc {

/// The options by which dtc-compile, and what plans the same program, are told
/// what to make of a model. Options exist as long as this does.
class CompileFlags {
public:
  CompileFlags(llvm::cl::SubCommand &sub, llvm::cl::OptionCategory &category);
  ~CompileFlags();

  /// After the command line has been parsed. The error names the flag, and
  /// what it may be.
  llvm::Expected<CompileOptions> get(int argc, char **argv) const;

private:
  struct Options;
  std::unique_ptr<Options> options;
};

} // namespace dtc

#endif // DTC_TOOLS_COMPILE_FLAGS_H
