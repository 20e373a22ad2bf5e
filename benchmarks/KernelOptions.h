//===- KernelOptions.h - Command lines of kernels' benchmarks ---*- C++ -*-===//

#ifndef DTC_BENCHMARKS_KERNELOPTIONS_H
#define DTC_BENCHMARKS_KERNELOPTIONS_H

#include "dtc/Tools/CommandLine.h"
#include "llvm/Support/raw_ostream.h"
#include <benchmark/benchmark.h>
#include <cstdio>
#include <cstdlib>

namespace dtc::bench {

inline const ForgetOtherOptions forgetOthers; // before the options below

inline llvm::cl::opt<int> threads("threads", llvm::cl::init(1),
                                  llvm::cl::desc("OpenMP threads"));

/// Reads Google Benchmark's flags and those of the program, which `usage` lists
/// for --help. Ends the program on a wrong one.
inline void parseOptions(int argc, char **argv, const char *usage) {
  static const char *own;
  own = usage;
  benchmark::Initialize(&argc, argv, [] {
    benchmark::PrintDefaultHelp();
    printf("          %s\n", own);
  });
  llvm::cl::ParseCommandLineOptions(argc, argv);
  if (threads < 1 || threads > 64) {
    llvm::errs() << "error: --threads must be 1 to 64\n";
    exit(1);
  }
}

} // namespace dtc::bench

#endif // DTC_BENCHMARKS_KERNELOPTIONS_H
