//===- Case.h - One case of the fuzzer --------------------------*- C++ -*-===//

#ifndef DTC_TOOLS_FUZZ_CASE_H
#define DTC_TOOLS_FUZZ_CASE_H

#include "dtc/Tools/Compile/Compile.h"
#include "dtc/Tools/Fuzz/Graph.h"
#include "llvm/Support/Error.h"
#include <optional>

namespace dtc::fuzz {

/// What a user gives to dtc-compile.
struct Settings {
  int64_t dp = 1, cp = 1, tp = 1;
  /// The text of a rules file; empty: the usual table.
  std::string rules;
  std::string precision = "f32", gradType;
  bool sequenceParallel = false, gatherAgain = false;
  std::string cpLayout = "contiguous", cpAttention = "ring";
  std::string recompute = "none";
  int64_t zero = 0;
  std::string zero3Reshard = "micro-batch";
  int64_t microbatches = 1;
  int64_t bucketBytes = 25 << 20;
  int64_t pp = 1;
  std::string schedule = "1f1b";

  /// Ranks that the interpreter simulates: those of one stage.
  int64_t numRanks() const { return dp * cp * tp; }
  /// The same to dtc-compile. Rules are in a file.
  CompileOptions getCompileOptions(const std::string &rulesFile) const;
  /// "dp=2,tp=2": axes larger than 1.
  std::string mesh() const;
  /// The flags, as a command line has them. Rules stand for a file of this
  /// name.
  std::string flags(llvm::StringRef rulesFile) const;
};

/// A model that the importer makes.
struct Imported {
  Sizes sizes;
  bool llama = false;
  int64_t layers = 1;
  bool tied = false, bias = false, documents = false, dropout = false;
  int activation = 0;
  double labelSmoothing = 0;

  /// The config.json.
  std::string config() const;
};

struct Case {
  uint64_t seed = 0;
  int64_t number = 0;
  Settings settings;
  /// One of these.
  std::optional<Graph> graph;
  std::optional<Imported> imported;

  Sizes &sizes() { return graph ? graph->sizes : imported->sizes; }
  /// Seed of inputs and parameters.
  uint64_t dataSeed() const;
};

/// Case `number` of a seed: the same one on every machine.
Case drawCase(uint64_t seed, int64_t number);

/// The model's IR. The importer may refuse a config.
llvm::Expected<std::string> printModel(const Case &c);

} // namespace dtc::fuzz

#endif // DTC_TOOLS_FUZZ_CASE_H
