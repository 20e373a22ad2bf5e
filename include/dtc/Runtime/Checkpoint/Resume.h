//===- Resume.h - Going on from a checkpoint --------------------*- C++ -*-===//

#ifndef DTC_RUNTIME_CHECKPOINT_RESUME_H
#define DTC_RUNTIME_CHECKPOINT_RESUME_H

#include "dtc/Runtime/Checkpoint/Manifest.h"
#include "dtc/Runtime/Transport.h"

namespace dtc::rt {

struct Setup;

/// What a run was started with and may change when it is resumed, in one level.
Json describeRun(const Setup &setup);

/// Opens and checks the checkpoint that --resume names, and sets where the run
/// begins. Throws Error.
void openCheckpoint(Setup &setup);

/// Compares the run with the one that is resumed: lines for the user.
void describeResume(Setup &setup);

/// Throws Error where --save names a folder with complete checkpoints that are
/// later than where the run begins: the newest would be another run's.
void checkSaveFolder(const Setup &setup);

/// Fills a rank's arena from the checkpoint. Throws Error where a file is
/// damaged; called by all ranks.
void loadCheckpoint(dtc_rank &rank, const Setup &setup, char *arena);

} // namespace dtc::rt
#endif // DTC_RUNTIME_CHECKPOINT_RESUME_H
