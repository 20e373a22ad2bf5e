//===- Workers.h - Cases in processes of their own --------------*- C++ -*-===//
//
// A case may crash or hang. Cases run in forked workers, many in each; a
// worker that dies takes only its current case with it.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_TOOLS_FUZZ_WORKERS_H
#define DTC_TOOLS_FUZZ_WORKERS_H

#include "dtc/Tools/Fuzz/Check.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace dtc::fuzz {

/// What runs case i in a worker. `folder` is the worker's own; the context is
/// used for many cases.
using RunCase = llvm::function_ref<Outcome(mlir::MLIRContext &, int64_t i,
                                           const std::string &folder)>;

struct WorkerOptions {
  /// Of all workers; each makes its own in it.
  std::string folder;
  unsigned jobs = 1;
  /// A case that takes longer is killed.
  unsigned secondsPerCase = 120;
};

/// Runs cases [begin, end) and hands their outcomes to `report`, in the order
/// in which they end. Stops early where it returns false.
void runCases(int64_t begin, int64_t end, const WorkerOptions &options,
              RunCase run,
              llvm::function_ref<bool(int64_t i, const Outcome &)> report);

} // namespace dtc::fuzz

#endif // DTC_TOOLS_FUZZ_WORKERS_H
