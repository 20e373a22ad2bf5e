//===- StateWriter.h - What one rank writes of a checkpoint -----*- C++ -*-===//

#ifndef DTC_RUNTIME_CHECKPOINT_STATEWRITER_H
#define DTC_RUNTIME_CHECKPOINT_STATEWRITER_H

#include "dtc/Runtime/Checkpoint/Layout.h"
#include "dtc/Runtime/Checkpoint/StoredRuns.h"

#include <atomic>
#include <string>
#include <vector>

namespace dtc::rt {

class SharedFile;

/// Writes the pieces that a rank owns into the files that all ranks share. All
/// memory is given to it, so that a save allocates none for its data.
class StateWriter {
public:
  /// Bytes in which pieces are put together before they are written.
  static constexpr int64_t stagingBytes = int64_t(1) << 20;

  StateWriter(const Program &program, int64_t rank,
              const CheckpointLayout &layout);

  /// Bytes of a snapshot of what the rank owns.
  int64_t snapshotBytes() const { return snapshotSize; }
  void takeSnapshot(const char *arena, char *snapshot) const;

  /// Writes into the files of `folder`, from the arena or (`snapshot`) from a
  /// snapshot, and waits until all is on the disk; rank 0 writes the headers
  /// too. Adds to `sums`, one for each file of the layout, what it wrote.
  /// Throws Error; values that are not finite are one, and so is `abandoned`.
  void write(const std::string &folder, const char *from, bool snapshot,
             char *staging, int64_t *sums,
             const std::atomic<bool> &abandoned) const;

private:
  struct Item {
    const StateTensor *tensor;
    int64_t inArena, inSnapshot, bytes;
    uint64_t number; // of its first element, for checksums
    StoredRuns runs;
  };
  void writeItem(const Item &item, SharedFile &file, const char *from,
                 char *staging, int64_t &sum,
                 const std::atomic<bool> &abandoned) const;

  int64_t rank;
  const CheckpointLayout &layout;
  std::vector<std::vector<Item>> items; // by file
  int64_t snapshotSize = 0;
};

} // namespace dtc::rt
#endif // DTC_RUNTIME_CHECKPOINT_STATEWRITER_H
