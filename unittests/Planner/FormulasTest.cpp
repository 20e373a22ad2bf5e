//===- FormulasTest.cpp - Memory as published -----------------------------===//

#include "dtc/Planner/Formulas.h"
#include "gtest/gtest.h"
#include <cmath>
#include <string>

using namespace dtc;

namespace {

/// Within one unit of the last digit that is printed.
void expectAsPrinted(double value, const std::string &printed) {
  size_t point = printed.find('.');
  double unit =
      point == std::string::npos
          ? 1
          : std::pow(10, -static_cast<double>(printed.size() - point - 1));
  EXPECT_NEAR(value, std::stod(printed), unit * (1 + 1e-9)) << printed;
}

// Rajbhandari et al. 2020, table 1: GB of model states of a device, stages 1
// to 3, for 7.5, 128 and 1000 billion parameters.
TEST(Formulas, ZeroTable1) {
  struct Row {
    int64_t ranks;
    const char *gigabytes[9];
  };
  const Row rows[] = {
      {1,
       {"120", "120", "120", "2048", "2048", "2048", "16000", "16000",
        "16000"}},
      {4, {"52.5", "41.3", "30", "896", "704", "512", "7000", "5500", "4000"}},
      {16,
       {"35.6", "21.6", "7.5", "608", "368", "128", "4750", "2875", "1000"}},
      {64, {"31.4", "16.6", "1.88", "536", "284", "32", "4187", "2218", "250"}},
      {256,
       {"30.4", "15.4", "0.47", "518", "263", "8", "4046", "2054", "62.5"}},
      {1024,
       {"30.1", "15.1", "0.12", "513", "257", "2", "4011", "2013", "15.6"}}};
  const double params[] = {7.5e9, 128e9, 1e12};
  for (const Row &row : rows)
    for (int i = 0; i < 9; ++i)
      expectAsPrinted(getStateBytes(params[i / 3], row.ranks, i % 3 + 1) / 1e9,
                      row.gigabytes[i]);
}

TEST(Formulas, StatePerParameter) {
  EXPECT_EQ(getStateBytes(1, 8, 0), 16);
  StatePrecision wide{2, 4, 4, 8};
  EXPECT_EQ(getStateBytes(1, 8, 0, wide), 18);
  EXPECT_EQ(getStateBytes(1, 8, 1, wide), 6 + 12 / 8.);
  EXPECT_EQ(getStateBytes(1, 8, 2, wide), 2 + 16 / 8.);
  EXPECT_EQ(getStateBytes(1, 8, 3, wide), 18 / 8.);
  StatePrecision single{4, 4, 0, 8};
  EXPECT_EQ(getStateBytes(1, 8, 1, single), 8 + 8 / 8.);
}

// Korthikanti et al. 2022, table 2, for its 22B model.
TEST(Formulas, PublishedActivations) {
  LayerShape l{2048, 4, 6144, 64, 1, false};
  double sbh = l.sequence * l.batch * l.hidden, scores = 5 * 64 * 2048 / 6144.;
  auto ratio = [&](Recompute what) {
    return getPublishedActivationBytes(l, what) / sbh;
  };
  EXPECT_NEAR(ratio(Recompute::None), 34 + scores, 1e-9);
  EXPECT_NEAR(ratio(Recompute::Selective), 34, 1e-9);
  l.tp = 8;
  EXPECT_NEAR(ratio(Recompute::None), 10 + 24 / 8. + scores / 8, 1e-9);
  EXPECT_NEAR(ratio(Recompute::Full), 2, 1e-9);
  l.sequenceParallel = true;
  EXPECT_NEAR(ratio(Recompute::None), 34 / 8. + scores / 8, 1e-9);
  EXPECT_NEAR(ratio(Recompute::Selective), 34 / 8., 1e-9);
  EXPECT_NEAR(ratio(Recompute::Full), 2 / 8., 1e-9);
}

// Two bytes an element: what is published, less scores and masks (two of sbh
// bytes each in a layer).
TEST(Formulas, OwnActivations) {
  LayerShape l{2048, 4, 6144, 64, 8, false};
  double sbh = l.sequence * l.batch * l.hidden;
  double logSumExp = 4 * 2048 * 4 * 64 / 8.;
  EXPECT_NEAR(getActivationBytes(l, Recompute::None, 2),
              getPublishedActivationBytes(l, Recompute::Selective) - 2 * sbh +
                  logSumExp,
              1e-3);
  EXPECT_NEAR(getActivationBytes(l, Recompute::Full, 2),
              getPublishedActivationBytes(l, Recompute::Full), 1e-3);

  // Gathered inputs: two of sbh elements whole instead of in pieces, or, where
  // the norms' inputs in pieces suffice, whole beside them.
  l.sequenceParallel = true;
  LayerShape again = l;
  again.gatherAgain = true;
  auto more = [&](Recompute what) {
    return (getActivationBytes(l, what, 2) -
            getActivationBytes(again, what, 2)) /
           (2 * sbh);
  };
  EXPECT_NEAR(more(Recompute::None), 2 * (1 - 1 / 8.), 1e-9);
  EXPECT_NEAR(more(Recompute::Selective), 2, 1e-9);
  EXPECT_EQ(more(Recompute::Full), 0);
  l.tp = again.tp = 1;
  EXPECT_EQ(more(Recompute::Selective), 0);
}

// The numbers that test/Plan/memory.test finds in plans.
TEST(Formulas, PlannedLayer) {
  LayerShape l{64, 4, 64, 4, 2};
  auto expect = [&](double none, double selective, double full, double bytes) {
    EXPECT_EQ(getActivationBytes(l, Recompute::None, bytes), none);
    EXPECT_EQ(getActivationBytes(l, Recompute::Selective, bytes), selective);
    EXPECT_EQ(getActivationBytes(l, Recompute::Full, bytes), full);
  };
  expect(657408, 395264, 65536, 4);
  expect(329728, 198656, 32768, 2);
  l.sequenceParallel = true;
  expect(591872, 460800, 32768, 4);
  l.gatherAgain = true;
  expect(526336, 329728, 32768, 4);
}

} // namespace
