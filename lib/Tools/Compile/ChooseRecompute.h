//===- ChooseRecompute.h - --recompute=auto ---------------------*- C++ -*-===//

#ifndef DTC_LIB_TOOLS_COMPILE_CHOOSERECOMPUTE_H
#define DTC_LIB_TOOLS_COMPILE_CHOOSERECOMPUTE_H

#include "dtc/Dialect/DTC/IR/DTC.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

namespace dtc {

/// The first value of --recompute, in the order of what it costs to compute
/// again for each byte that need not be kept, with which the largest arena of
/// any rank has at most `limit` bytes. `plan` says that arena's bytes for a
/// value. The error says how many bytes there are at least. Plans about as
/// often as the logarithm of the number of values, where the last one fits.
llvm::Expected<std::string> chooseRecompute(
    int64_t limit,
    llvm::function_ref<llvm::Expected<int64_t>(const std::string &)> plan);

} // namespace dtc

#endif // DTC_LIB_TOOLS_COMPILE_CHOOSERECOMPUTE_H
