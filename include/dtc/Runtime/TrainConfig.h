//===- TrainConfig.h - train.json -------------------------------*- C++ -*-===//

#ifndef DTC_RUNTIME_TRAINCONFIG_H
#define DTC_RUNTIME_TRAINCONFIG_H

#include <cstdint>
#include <string>
#include <string_view>

namespace dtc::rt {

struct Program;

struct Schedule {
  enum class Kind { Constant, Linear, Cosine } kind = Kind::Constant;
  int64_t warmupSteps = 0, decaySteps = 0;
  double minLr = 0;
};

struct TrainConfig {
  double lr = 3e-4;
  double beta1 = 0.9, beta2 = 0.95;
  double eps = 1e-8;
  double weightDecay = 0.1;
  double gradClip = 1;
  int64_t steps = 0; // 0: not given
  Schedule schedule;

  /// The learning rate of step t, from 0: (t+1)/W of lr while t < W, then down
  /// to min_lr at t = D, where it stays.
  double lrAt(int64_t t) const;

  /// Parses train.json; its batch and seq must be the program's.
  static TrainConfig parse(std::string_view text, const std::string &where,
                           int64_t batch, int64_t seq);
};

} // namespace dtc::rt
#endif // DTC_RUNTIME_TRAINCONFIG_H
