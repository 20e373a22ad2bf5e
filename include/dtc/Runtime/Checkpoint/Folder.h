//===- Folder.h - The checkpoints of a folder -------------------*- C++ -*-===//

#ifndef DTC_RUNTIME_CHECKPOINT_FOLDER_H
#define DTC_RUNTIME_CHECKPOINT_FOLDER_H

#include "dtc/Runtime/Checkpoint/Manifest.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dtc::rt {

/// "step-00000100", and that with ".tmp" while it is being written or removed.
std::string checkpointName(int64_t step);
std::string unfinishedName(int64_t step);
/// -1: not such a name.
int64_t parseCheckpointName(const std::string &name);
bool isUnfinishedName(const std::string &name);

/// Steps of what is published in a folder, complete or not, the newest first.
std::vector<int64_t> listCheckpoints(const std::string &folder);
/// Paths of what was not finished.
std::vector<std::string> listUnfinished(const std::string &folder);

/// Reads trainer.json of a checkpoint, and throws Error with the file's path
/// unless every file that it names is there, in its size. Texts, the index
/// among them, are compared with their checksums; tensors are not read.
Manifest checkComplete(const std::string &path);

/// Makes a finished checkpoint appear under its name, in place of an older one.
void publish(const std::string &folder, int64_t step);

/// Removes all complete checkpoints but the newest `keep`. They lose their
/// names first, so that none is ever there in part.
void removeOld(const std::string &folder, int64_t keep);

} // namespace dtc::rt
#endif // DTC_RUNTIME_CHECKPOINT_FOLDER_H
