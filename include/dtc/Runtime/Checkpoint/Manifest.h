//===- Manifest.h - trainer.json of a checkpoint ----------------*- C++ -*-===//

#ifndef DTC_RUNTIME_CHECKPOINT_MANIFEST_H
#define DTC_RUNTIME_CHECKPOINT_MANIFEST_H

#include "dtc/Runtime/JsonInput.h"

#include <string>
#include <vector>

namespace dtc::rt {

/// How far training is.
struct TrainState {
  int64_t step = 0;    // steps that are done
  int64_t updates = 0; // those whose update was applied
  int64_t samples = 0; // sequences that were seen
};

/// A file beside trainer.json. The checksum of safetensors is the sum of
/// headerSum and of sumElements over its tensors, that of others checksumOf.
struct FileRecord {
  std::string name;
  int64_t bytes = 0;
  std::string checksum;
};

struct Manifest {
  static constexpr const char *fileName = "trainer.json";

  TrainState state;
  uint32_t seed = 0;
  /// What a run was started with, in one level: `describeRun`.
  Json settings = Json::object();
  std::vector<FileRecord> files;

  const FileRecord *find(const std::string &name) const;

  /// Ends with a checksum of itself.
  std::string text() const;
  /// Throws Error, beginning with `where`.
  static Manifest parse(std::string_view text, const std::string &where);
};

/// "lr is 0.001, was 0.0003" for each setting that is not as it was.
std::vector<std::string> differences(const Json &before, const Json &now);

} // namespace dtc::rt
#endif // DTC_RUNTIME_CHECKPOINT_MANIFEST_H
