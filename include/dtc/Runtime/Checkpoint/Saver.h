//===- Saver.h - Saving while training goes on ------------------*- C++ -*-===//

#ifndef DTC_RUNTIME_CHECKPOINT_SAVER_H
#define DTC_RUNTIME_CHECKPOINT_SAVER_H

#include "dtc/Runtime/Checkpoint/Layout.h"
#include "dtc/Runtime/Checkpoint/Manifest.h"
#include "dtc/Runtime/Checkpoint/StateWriter.h"
#include "dtc/Runtime/Setup.h"
#include "dtc/Runtime/Transport.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace dtc::rt {

/// One rank's part in writing checkpoints (docs/checkpoints.md). Beside
/// training a save goes on in a thread of each rank, in two phases: all ranks
/// write their pieces; then rank 0 publishes. Phases change when all ranks have
/// agreed, at the end of a step, that nobody is busy any more.
class Saver {
public:
  Saver(dtc_rank &rank, const Setup &setup, const char *arena);
  ~Saver();
  Saver(const Saver &) = delete;
  Saver &operator=(const Saver &) = delete;

  // All ranks call these, in the same order.

  /// Proves that all ranks see one folder, and removes what was not finished.
  void open();
  /// Not 0 while a phase of this rank goes on. The maximum over all ranks is
  /// what `advance` takes.
  int32_t busy();
  void advance(int32_t anyBusy);
  /// Saves; waits for the save before this one, if it goes on.
  void save(const TrainState &state);
  /// Waits until no save goes on.
  void finish();

  /// The step of the newest save that was begun; -1: none.
  int64_t newestStep() const { return current.step; }
  /// Whether the newest save failed.
  bool failed() const { return lastFailed; }
  /// Bytes of memory that this rank holds for saving.
  int64_t plannedBytes() const {
    return snapshotBytes() + StateWriter::stagingBytes;
  }

private:
  enum class Phase { Idle, Writing, Publishing };
  enum class Job { None, Write, Publish, Discard, Stop };

  int64_t snapshotBytes() const { return beside ? writer.snapshotBytes() : 0; }
  std::string unfinished() const;
  void start(Job job);
  void wait();
  void work();
  void perform(Job job);
  void publishFiles();
  void endWriting();
  void endPublishing();

  dtc_rank &rank;
  const Setup &setup;
  const char *arena;
  const bool beside;
  CheckpointLayout layout;
  StateWriter writer;
  GuardedMemory memory; // the snapshot, then the staging memory

  Phase phase = Phase::Idle;
  TrainState current{-1, 0, 0};
  bool lastFailed = false;
  /// For each file the sum of this rank, then of all; at the end the number of
  /// ranks that failed.
  std::vector<int64_t> sums;
  AllReduce addSums;

  // Between the rank and its thread.
  std::thread thread;
  std::atomic<bool> abandoned{false};
  std::mutex mutex;
  std::condition_variable changed;
  Job job = Job::None;
  std::string error; // of the last job; empty: none
};

} // namespace dtc::rt
#endif // DTC_RUNTIME_CHECKPOINT_SAVER_H
