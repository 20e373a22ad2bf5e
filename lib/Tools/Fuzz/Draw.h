//===- Draw.h - Chance, in the words of the generator -----------*- C++ -*-===//

#ifndef DTC_LIB_TOOLS_FUZZ_DRAW_H
#define DTC_LIB_TOOLS_FUZZ_DRAW_H

#include "dtc/Interpreter/Pieces.h"
#include "dtc/Tools/Fuzz/Case.h"

namespace dtc::fuzz {

class Chance {
public:
  Chance(uint64_t seed, llvm::StringRef stream) : random(seed, stream) {}

  /// True with probability p.
  bool with(double p) { return random.uniform() < p; }
  /// In [low, high].
  int64_t between(int64_t low, int64_t high) {
    return low + random.below(high - low + 1);
  }
  template <typename T> T of(std::initializer_list<T> choices) {
    return choices.begin()[random.below(choices.size())];
  }
  template <typename Range> const auto &in(const Range &range) {
    return range[random.below(range.size())];
  }

private:
  Random random;
};

/// A graph for the settings, with sizes that mostly fit them.
Graph drawGraph(Chance &chance, const Settings &settings);
Sizes drawSizes(Chance &chance, const Settings &settings);
/// Some axes of the mesh, or parts of them, for three dimensions.
std::vector<std::string> drawSharding(Chance &chance, const Settings &settings,
                                      unsigned rank);

} // namespace dtc::fuzz

#endif // DTC_LIB_TOOLS_FUZZ_DRAW_H
