//===- RoundingTest.cpp - Rounding to bf16 --------------------------------===//
//
// The interpreter's rounding against LLVM's arithmetic.
//
//===----------------------------------------------------------------------===//

#include "dtc/Interpreter/Pieces.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/APFloat.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace mlir;
using namespace dtc;

namespace {

class Rounding : public testing::Test {
protected:
  double round(double x) { return roundTo(BFloat16Type::get(&context), x); }
  MLIRContext context{MLIRContext::Threading::DISABLED};
};

/// To nearest, ties to even, by LLVM's arithmetic.
double define(float x) {
  llvm::APFloat value(x);
  bool loses;
  value.convert(llvm::APFloat::BFloat(), llvm::APFloat::rmNearestTiesToEven,
                &loses);
  return value.convertToFloat();
}

} // namespace

TEST_F(Rounding, IsToNearestAndTiesToEven) {
  EXPECT_EQ(round(1.0), 1.0);
  EXPECT_EQ(round(1 + 0x1p-8), 1.0);
  EXPECT_EQ(round(1 + 0x1p-8 + 0x1p-20), 1 + 0x1p-7);
  EXPECT_EQ(round(1 + 3 * 0x1p-8), 1 + 2 * 0x1p-7);
  EXPECT_EQ(round(-1 - 3 * 0x1p-8), -1 - 2 * 0x1p-7);
  // Half a unit above the largest number is infinite.
  EXPECT_EQ(round(0x1.fep127 + 0x1p118), 0x1.fep127);
  EXPECT_TRUE(std::isinf(round(0x1.ffp127)));
  EXPECT_TRUE(std::isnan(round(NAN)));
  EXPECT_TRUE(std::signbit(round(-0.0)));
}

TEST_F(Rounding, HoldsForEveryExponent) {
  std::mt19937 gen(1);
  for (int i = 0; i < 200000; ++i) {
    // Every exponent, and half of them near a tie.
    uint32_t bits = gen();
    if (i % 2)
      bits = (bits & 0xffff0000u) | (0x8000u + gen() % 3 - 1);
    auto x = llvm::bit_cast<float>(bits);
    if (std::isnan(x))
      EXPECT_TRUE(std::isnan(round(x)));
    else
      ASSERT_EQ(round(x), define(x)) << x;
  }
}

TEST_F(Rounding, LeavesOtherTypesAlone) {
  EXPECT_EQ(roundTo(Float32Type::get(&context), 0.1), 0.1);
  EXPECT_EQ(roundTo(IntegerType::get(&context, 32), 257), 257);
}
