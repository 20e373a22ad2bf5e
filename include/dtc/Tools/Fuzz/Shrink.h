//===- Shrink.h - Smaller cases that fail in the same way -------*- C++ -*-===//

#ifndef DTC_TOOLS_FUZZ_SHRINK_H
#define DTC_TOOLS_FUZZ_SHRINK_H

#include "dtc/Tools/Fuzz/Case.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace dtc::fuzz {

struct ShrinkResult {
  Case smallest;
  unsigned tried = 0, accepted = 0;
};

/// Tries to leave out flags, axes, rules, annotations, ops, functions and
/// layers, and to make sizes smaller, as long as `fails` says that the case
/// still fails, until nothing more can be left out or `most` cases were tried.
ShrinkResult shrink(const Case &failing, unsigned most,
                    llvm::function_ref<bool(const Case &)> fails);

} // namespace dtc::fuzz

#endif // DTC_TOOLS_FUZZ_SHRINK_H
