//===- ExactSumsTest.cpp - Sums over very many elements -------------------===//
//
// A global norm runs over every parameter, a loss over every token: in f32 a
// plain sum of 2^26 terms has lost half of its digits.
//
//===----------------------------------------------------------------------===//
#include "OpKernel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace mlir;
using namespace dtc;
using namespace dtc::test;

namespace {

constexpr int64_t count = int64_t(1) << 26;

/// The kernel of the last op of the function in `text`.
class OneKernel {
public:
  explicit OneKernel(const std::string &text) : module("native") {
    MLIRContext *context = module.builder().getContext();
    context->loadDialect<DTCDialect, func::FuncDialect>();
    ops = parseSourceString<ModuleOp>(text, ParserConfig(context));
    if (!ops)
      llvm::report_fatal_error("cannot parse the test's function");
    auto f = *ops->getOps<func::FuncOp>().begin();
    Operation *op = f.front().getTerminator()->getPrevNode();
    FactorRule rule = cast<FactorOpInterface>(op).getFactorRule();
    SmallVector<AxisList> axes(rule.factors.size());
    scratch.resize(addOpKernel(module, "kernel", op, rule, axes).value());
    table.resize(2 * rule.factors.size() + 1);
    module.compile();
  }
  void operator()(SmallVector<void *> arguments) {
    arguments.push_back(table.data());
    arguments.push_back(scratch.data());
    setThreads(2);
    callOpKernel(module.symbol("kernel"), arguments);
  }

private:
  KernelModule module;
  OwningOpRef<ModuleOp> ops;
  std::vector<int64_t> table;
  std::vector<char> scratch;
};

double relativeError(double x, double want) {
  return std::fabs(x - want) / std::fabs(want);
}

TEST(ExactSums, Squares) {
  OneKernel kernel("func.func @f(%x: !dtc.tensor<8192x8192xf32>) -> "
                   "!dtc.tensor<f32> {\n"
                   "  %r = dtc.sum_squares %x : (!dtc.tensor<8192x8192xf32>) "
                   "-> !dtc.tensor<f32>\n  return %r : !dtc.tensor<f32>\n}");
  std::vector<float> x(count);
  uint32_t state = 1;
  double want = 0;
  float plain = 0;
  for (float &v : x) {
    state = state * 1664525 + 1013904223;
    v = float(state >> 8) * 0x1p-24f + 0.5f;
    want += double(v) * v;
    plain += v * v;
  }
  float got = 0;
  kernel({x.data(), &got});
  EXPECT_LT(relativeError(got, want), 1e-6);
  EXPECT_GT(relativeError(plain, want), 1e-6) << "the test shows nothing";
}

/// Losses of `rows` tokens over `cols` words.
TEST(ExactSums, CrossEntropy) {
  constexpr int64_t rows = 1 << 13, cols = count / rows;
  OneKernel kernel(
      "func.func @f(%x: !dtc.tensor<1x8192x8192xf32>, %y: "
      "!dtc.tensor<1x8192xi32>) -> (!dtc.tensor<f32>, "
      "!dtc.tensor<1x8192xf32>) {\n  %r, %l = dtc.cross_entropy %x, %y : "
      "(!dtc.tensor<1x8192x8192xf32>, !dtc.tensor<1x8192xi32>) -> "
      "(!dtc.tensor<f32>, !dtc.tensor<1x8192xf32>)\n  return %r, %l : "
      "!dtc.tensor<f32>, !dtc.tensor<1x8192xf32>\n}");
  std::vector<float> x(count), lse(rows);
  std::vector<int32_t> labels(rows);
  std::mt19937 gen(1);
  double want = 0;
  for (int64_t r = 0; r < rows; ++r) {
    labels[size_t(r)] = int32_t(gen() % cols);
    double sum = 0;
    for (int64_t c = 0; c < cols; ++c) {
      float v = float(gen() % 65536) / 8192 - 4;
      x[size_t(r * cols + c)] = v;
      sum += std::exp(double(v));
    }
    want += std::log(sum) - x[size_t(r * cols + labels[size_t(r)])];
  }
  float got = 0;
  kernel({x.data(), labels.data(), &got, lse.data()});
  EXPECT_LT(relativeError(got, want), 1e-6);
}

/// The sum of 2^26 tokens' losses, from the pieces of a cut vocabulary.
TEST(ExactSums, TokenLoss) {
  const std::string f = "!dtc.tensor<8192x8192xf32>",
                    i = "!dtc.tensor<8192x8192xi32>";
  OneKernel kernel("func.func @f(%m: " + f + ", %s: " + f + ", %p: " + f +
                   ", %y: " + i + ") -> (!dtc.tensor<f32>, " + f +
                   ") {\n  %r, %l = dtc.token_loss %m, %s, %p, %y : (" + f +
                   ", " + f + ", " + f + ", " + i + ") -> (!dtc.tensor<f32>, " +
                   f + ")\n  return %r, %l : !dtc.tensor<f32>, " + f + "\n}");
  std::vector<float> shift(count), sum(count), picked(count), lse(count);
  std::vector<int32_t> labels(count);
  std::mt19937 gen(1);
  double want = 0;
  float plain = 0;
  for (size_t t = 0; t < size_t(count); ++t) {
    shift[t] = float(gen() % 1024) / 256;
    sum[t] = 1 + float(gen() % 1024);
    picked[t] = shift[t] - float(gen() % 1024) / 256;
    labels[t] = gen() % 8 ? 3 : -100;
    if (labels[t] < 0)
      continue;
    double loss = double(shift[t]) + std::log(double(sum[t])) - picked[t];
    want += loss;
    plain += float(loss);
  }
  float got = 0;
  kernel({shift.data(), sum.data(), picked.data(), labels.data(), &got,
          lse.data()});
  EXPECT_LT(relativeError(got, want), 1e-6);
  EXPECT_GT(relativeError(plain, want), 1e-6) << "the test shows nothing";
}

} // namespace
