//===- Layout.h - Which bytes of which file a tensor has --------*- C++ -*-===//

#ifndef DTC_RUNTIME_CHECKPOINT_LAYOUT_H
#define DTC_RUNTIME_CHECKPOINT_LAYOUT_H

#include "dtc/Runtime/Program.h"

#include <map>
#include <string>
#include <vector>

namespace dtc::rt {

/// A stored tensor in a file.
struct StateTensor {
  std::string name, stored; // its name in the file, and the parameter's
  Slot slot = Slot::Param;
  dtc_dtype type = DTC_F32;
  std::vector<int64_t> shape;
  size_t file = 0;
  int64_t offset = 0; // of its first byte in the file
  int64_t bytes = 0;
};

/// A file of safetensors: its header with its length, and its whole size.
struct StateFile {
  std::string name, header;
  int64_t bytes = 0;
};

/// The files of a checkpoint. They follow from the names, shapes and types of
/// the stored tensors alone, so that every rank knows where it writes, and
/// programs for any mesh write equal files.
class CheckpointLayout {
public:
  /// A file is full when another tensor would make it longer than `fileBytes`.
  CheckpointLayout(const Program &program, int64_t fileBytes);

  const std::vector<StateFile> &files() const { return fileList; }
  const std::vector<StateTensor> &tensors() const { return tensorList; }
  const StateTensor &find(Slot slot, const std::string &stored) const;
  /// model.safetensors.index.json, as Hugging Face has it.
  std::string index() const;

private:
  void addFiles(const char *kind, std::vector<StateTensor> tensors,
                int64_t fileBytes);

  std::vector<StateFile> fileList;
  std::vector<StateTensor> tensorList;
  std::map<std::pair<Slot, std::string>, size_t> byName;
};

/// A file's limit: 4 GiB, or what the variable DTC_SHARD_BYTES says (tests).
int64_t shardBytes();

/// The name of a tensor in a file of optimizer state: "m.wte.weight".
std::string stateName(Slot slot, const std::string &stored);
/// Its inverse; whether it is such a name.
bool parseStateName(const std::string &name, Slot &slot, std::string &stored);

/// "F32"; empty for types that no parameter has.
std::string safetensorsType(dtc_dtype type);

} // namespace dtc::rt
#endif // DTC_RUNTIME_CHECKPOINT_LAYOUT_H
