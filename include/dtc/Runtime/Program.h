//===- Program.h - The description of a compiled program --------*- C++ -*-===//

#ifndef DTC_RUNTIME_PROGRAM_H
#define DTC_RUNTIME_PROGRAM_H

#include "dtc/Runtime/Piece.h"

#include <string>
#include <utility>
#include <vector>

namespace dtc::rt {

struct Input : Piece {
  std::string name;
};

/// A parameter's view; `offset` is the parameter's.
struct Tensor : Piece {
  enum class Init { Normal, Zeros, Ones };

  std::string name, stored;
  std::vector<int64_t> storedShape, storedStrides;
  int64_t storedOffset = 0;
  int64_t grad = 0, m = 0, v = 0;
  Init init = Init::Zeros;
  double std = 0;
  std::vector<std::string> optionalNames;

  int64_t storedIndex(const std::vector<int64_t> &index) const {
    int64_t flat = storedOffset;
    for (size_t d = 0; d < index.size(); ++d)
      flat += index[d] * storedStrides[d];
    return flat;
  }
};

/// `dtc_program_json`, see docs/runtime.md.
struct Program {
  std::string version, hash, flags, cpu;
  std::vector<std::string> cpuFeatures;
  std::vector<std::pair<std::string, int64_t>> mesh;
  int64_t batch = 0, seq = 0, vocab = 0, microbatches = 1;
  bool documents = false;
  int64_t arenaBytes = 0, workspaceBytes = 0, collectiveSlots = 0;
  std::vector<std::pair<std::string, int64_t>> memory;
  std::vector<Input> inputs;
  int64_t rng = 0, optimizer = 0;
  int64_t loss = 0, gradNorm = 0, labels = 0, skipped = 0;
  std::vector<Tensor> tensors;

  int64_t ranks() const;
  /// "dp=2,tp=2"
  std::string meshText() const;

  /// Parses and checks; throws Error.
  static Program parse(const char *json);
};

/// The tensor's name in the files that DTC writes and in the hash for initial
/// weights: without gpt2's prefix "transformer.".
std::string canonicalName(const std::string &name);

} // namespace dtc::rt
#endif // DTC_RUNTIME_PROGRAM_H
