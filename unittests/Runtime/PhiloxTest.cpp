//===- PhiloxTest.cpp -----------------------------------------------------===//

#include "dtc/Runtime/Philox.h"

#include <gtest/gtest.h>

using namespace dtc;

namespace {

/// Known answers of the authors' Random123 (kat_vectors).
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox4x32_10({0, 0, 0, 0}, {0, 0}),
            (PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32_10({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                          {0xa4093822, 0x299f31d0}),
            (PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, NameHash) {
  EXPECT_EQ(hashName(""), 0xcbf29ce484222325ull);
  EXPECT_EQ(hashName("a"), 0xaf63dc4c8601ec8cull); // published FNV-1a
}

TEST(Philox, NormalNumbers) {
  NormalStream normal(7, "wte.weight");
  constexpr int n = 1 << 18;
  double sum = 0, squares = 0, fourths = 0;
  for (int i = 0; i < n; ++i) {
    double x = normal(uint64_t(i));
    ASSERT_TRUE(std::isfinite(x));
    sum += x;
    squares += x * x;
    fourths += x * x * x * x;
  }
  EXPECT_NEAR(sum / n, 0, 0.01);
  EXPECT_NEAR(squares / n, 1, 0.01);
  EXPECT_NEAR(fourths / n, 3, 0.06);
}

TEST(Philox, NormalNumbersByIndexOnly) {
  NormalStream a(7, "w"), b(7, "w"), other(7, "v"), seed(8, "w");
  double x = a(123457);
  for (uint64_t i : {5ull, 123456ull, 0ull, 123457ull})
    b(i);
  EXPECT_EQ(b(123457), x);
  EXPECT_NE(other(123457), x);
  EXPECT_NE(seed(123457), x);
}

} // namespace
