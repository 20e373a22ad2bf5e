//===- Options.h - The command line of an executable ------------*- C++ -*-===//

#ifndef DTC_RUNTIME_OPTIONS_H
#define DTC_RUNTIME_OPTIONS_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dtc::rt {

struct Options {
  std::optional<int64_t> ranks, threads, steps;
  std::string weights;
  uint32_t seed = 0;
  bool seedGiven = false;
  std::string batches, text, tokens;
  std::string config;
  std::string log, dumpGrads, saveWeights, trace, profile;
  std::string save, resume;
  std::optional<int64_t> saveEvery, keep;
  bool saveSync = false, resumeWeightsOnly = false;
  std::optional<double> stopAfter; // minutes
  bool ring = false;
  int64_t maxSkipped = 3;
  double timeout = 600;
  bool help = false;

  /// Throws Error on anything that is not a known flag with a good value.
  static Options parse(const std::vector<std::string> &arguments);
};

/// The text of --help.
std::string helpText(const std::string &program);

} // namespace dtc::rt
#endif // DTC_RUNTIME_OPTIONS_H
