//===- Program.h - The description of a compiled program --------*- C++ -*-===//

#ifndef DTC_RUNTIME_PROGRAM_H
#define DTC_RUNTIME_PROGRAM_H

#include "dtc/Runtime/Piece.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace dtc::rt {

struct Input : Piece {
  std::string name;
  int64_t offset = 0; // in the arena
};

/// What an arena has of a parameter. Not every program has a master copy.
enum class Slot { Param, Grad, M, V, Master };
constexpr int slotCount = 5;

/// A parameter's view, and the parameter's piece of it. Where it lies differs
/// between pipeline coordinates.
struct Tensor : Piece {
  enum class Init { Normal, Zeros, Ones };

  std::string name, stored;
  std::vector<int64_t> storedShape, storedStrides;
  int64_t storedOffset = 0;
  Init init = Init::Zeros;
  double std = 0;
  std::vector<std::string> optionalNames;
  /// Slots that are cut in another way than the parameter, or of another type.
  /// The logical shape is one.
  std::map<Slot, Piece> otherPieces;

  const Piece &piece(Slot slot) const {
    auto it = otherPieces.find(slot);
    return it == otherPieces.end() ? *this : it->second;
  }
  int64_t storedIndex(const std::vector<int64_t> &index) const {
    int64_t flat = storedOffset;
    for (size_t d = 0; d < index.size(); ++d)
      flat += index[d] * storedStrides[d];
    return flat;
  }
};

/// Where a tensor lies in an arena.
struct Place {
  size_t tensor = 0; // index into the program's tensors
  int64_t offsets[slotCount] = {0, 0, 0, 0, -1}; // in bytes; -1: not there

  bool has(Slot slot) const { return offsets[int(slot)] >= 0; }
  int64_t at(Slot slot) const { return offsets[int(slot)]; }
};

/// The arena of the ranks with one coordinate on the pipeline axis.
struct PipelineRank {
  int64_t arenaBytes = 0;
  std::vector<std::pair<std::string, int64_t>> memory;
  std::vector<Input> inputs;
  int64_t rng = 0, optimizer = 0;
  int64_t loss = 0, gradNorm = 0, labels = 0, skipped = 0;
  /// In the order of the program's tensors.
  std::vector<Place> tensors;

  /// Null where the tensor is not here.
  const Place *find(size_t tensor) const;
};

/// `dtc_program_json`, see docs/runtime.md.
struct Program {
  std::string version, hash, flags, cpu;
  std::string config; // the model's, as Hugging Face has it; may be empty
  std::vector<std::string> cpuFeatures;
  std::vector<std::pair<std::string, int64_t>> mesh;
  int64_t batch = 0, seq = 0, vocab = 0, microbatches = 1;
  bool documents = false;
  int64_t workspaceBytes = 0, collectiveSlots = 0;
  std::vector<Tensor> tensors;
  /// By coordinate on the pipeline axis; one without such an axis.
  std::vector<PipelineRank> pipelineRanks;

  int64_t ranks() const;
  /// The pipeline axis is the slowest: ranks of one coordinate are neighbours.
  int64_t ranksPerCoordinate() const {
    return ranks() / int64_t(pipelineRanks.size());
  }
  const PipelineRank &of(int64_t rank) const {
    return pipelineRanks[size_t(rank / ranksPerCoordinate())];
  }
  /// The first coordinate that has the tensor.
  size_t firstCoordinate(size_t tensor) const;
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
