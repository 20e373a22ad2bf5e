//===- Setup.h - Everything that is read before the first step --*- C++ -*-===//

#ifndef DTC_RUNTIME_SETUP_H
#define DTC_RUNTIME_SETUP_H

#include "dtc/Runtime/Checkpoint/Checkpoint.h"
#include "dtc/Runtime/Data.h"
#include "dtc/Runtime/Options.h"
#include "dtc/Runtime/Platform.h"
#include "dtc/Runtime/Program.h"
#include "dtc/Runtime/TrainConfig.h"
#include "dtc/Runtime/Weights.h"

#include <memory>

namespace dtc::rt {

/// Read and checked before anything is written. Shared by the ranks of a
/// process.
struct Setup {
  Options options;
  Program program;
  TrainConfig config;
  std::unique_ptr<DataSource> data;
  std::unique_ptr<WeightFiles> weights;   // null: random
  std::unique_ptr<Checkpoint> checkpoint; // null: no --resume
  /// Where the run begins, and after how many steps it ends.
  TrainState start;
  int64_t steps = 0;
  double began = now();
  /// Lines that rank 0 prints before the first step.
  std::vector<std::string> notes;

  /// Reads the files that the options name; throws Error.
  void open();

  /// What all ranks must have in common, each part by its name in messages.
  struct Part {
    const char *name;
    uint64_t hash;
  };
  std::vector<Part> fingerprint() const;

private:
  void openSteps();
  void checkOutputs() const;
};

} // namespace dtc::rt
#endif // DTC_RUNTIME_SETUP_H
