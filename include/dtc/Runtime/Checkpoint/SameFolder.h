//===- SameFolder.h - All ranks see one folder ------------------*- C++ -*-===//

#ifndef DTC_RUNTIME_CHECKPOINT_SAMEFOLDER_H
#define DTC_RUNTIME_CHECKPOINT_SAMEFOLDER_H

#include "dtc/Runtime/Transport.h"

namespace dtc::rt {

/// Makes the folder if it is not there, and proves that every rank reads what
/// rank 0 writes into it, and the reverse. Throws Error on the rank that does
/// not; called by all ranks.
void proveSameFolder(dtc_rank &rank, const std::string &folder);

} // namespace dtc::rt
#endif // DTC_RUNTIME_CHECKPOINT_SAMEFOLDER_H
