//===- Checkpoint.h - Reading a checkpoint ----------------------*- C++ -*-===//

#ifndef DTC_RUNTIME_CHECKPOINT_CHECKPOINT_H
#define DTC_RUNTIME_CHECKPOINT_CHECKPOINT_H

#include "dtc/Runtime/Checkpoint/Manifest.h"
#include "dtc/Runtime/Program.h"
#include "dtc/Runtime/Safetensors.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dtc::rt {

/// A complete checkpoint, open for reading by the ranks of a process.
class Checkpoint {
public:
  /// `path` is a checkpoint, or a folder of which the newest complete one is
  /// taken. `skipped` gets a line, with the reason, for each newer one. Throws
  /// Error where there is none.
  static std::unique_ptr<Checkpoint> open(const std::string &path,
                                          std::vector<std::string> &skipped);

  const std::string &path() const { return folder; }
  const Manifest &manifest() const { return trainer; }

  /// Throws Error unless the model is the program's: names, shapes, types.
  /// `weightsOnly`: the optimizer's state does not matter.
  void choose(const Program &program, bool weightsOnly);

  /// Fills a rank's pieces of the parameters, their master copies and the
  /// moments (zeros for `weightsOnly`). Returns for each file the sum of what
  /// this rank owns.
  std::vector<uint64_t> load(const Program &program, int64_t rank,
                             char *arena) const;
  /// The path of the first file that does not have its checksum, given the sums
  /// over all ranks; empty where all is well.
  std::string findDamage(const std::vector<uint64_t> &sums) const;

private:
  explicit Checkpoint(const std::string &path);

  struct Source {
    const SafetensorsEntry *entry = nullptr;
    size_t file = 0; // index into files
  };
  using Names = std::map<std::string, Source>; // by canonical name
  const Source &require(Slot slot, const Tensor &tensor) const;
  void checkNames(const Program &program, const Names &names) const;

  std::string folder;
  Manifest trainer;
  std::vector<std::unique_ptr<SafetensorsFile>> files;
  Names slots[slotCount];
  /// For each tensor of the program where its slots come from; null: zeros.
  std::vector<std::array<Source, slotCount>> sources;
  /// Whether all of a file is read, so that its sum is known.
  std::vector<bool> whole;
};

} // namespace dtc::rt
#endif // DTC_RUNTIME_CHECKPOINT_CHECKPOINT_H
