//===- Trainer.h - The loop over steps --------------------------*- C++ -*-===//

#ifndef DTC_RUNTIME_TRAINER_H
#define DTC_RUNTIME_TRAINER_H

#include "dtc/Runtime/Setup.h"
#include "dtc/Runtime/Transport.h"

namespace dtc::rt {

/// What a compiled program defines: dtc_program_open and dtc_program_step.
struct ProgramCode {
  void (*open)(dtc_rank *rank);
  void (*step)(dtc_rank *rank, char *arena);
};

/// Runs one rank from its initial weights to its end; all ranks return the
/// same exit status. An exception ends the job with one message.
int runRank(dtc_rank &rank, const Setup &setup, const ProgramCode &code,
            bool oversubscribed);

} // namespace dtc::rt
#endif // DTC_RUNTIME_TRAINER_H
