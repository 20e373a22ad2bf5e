//===- MatmulTest.cpp - Generated matrix products against plain loops -----===//
#include "dtc/Codegen/Matmul.h"
#include "KernelHarness.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace mlir;
using namespace dtc;
using namespace dtc::codegen;
using namespace dtc::test;

namespace {

struct Case {
  int64_t batch, m, n, k;
  bool transA, transB;
  bool accumulate = false, packed = false, epilogue = false, padded = false;
  int64_t validK = -1; // -1: not given
};

/// Elements that a layout spans.
int64_t span(const MatrixLayout &l, int64_t batch, int64_t rows, int64_t cols) {
  if (batch == 0 || rows == 0 || cols == 0)
    return 0;
  return (batch - 1) * l.batch + (rows - 1) * l.row + (cols - 1) * l.col + 1;
}

MatrixLayout layoutOf(int64_t rows, int64_t cols, bool trans, bool padded) {
  int64_t slack = padded ? 3 : 0;
  MatrixLayout l;
  if (trans)
    l = {cols * (rows + slack) + slack, 1, rows + slack};
  else
    l = {rows * (cols + slack) + slack, cols + slack, 1};
  return l;
}

MatmulSpec specOf(const Case &c) {
  MatmulSpec s;
  s.batch = c.batch;
  s.m = c.m;
  s.n = c.n;
  s.k = c.k;
  s.a = layoutOf(c.m, c.k, c.transA, c.padded);
  s.b = layoutOf(c.k, c.n, c.transB, c.padded);
  s.c = layoutOf(c.m, c.n, false, c.padded);
  s.accumulate = c.accumulate;
  return s;
}

/// Also where there are no elements, and memcmp would get null.
template <typename T, typename Other>
bool haveEqualBits(const std::vector<T> &a, Other &b) {
  return a.empty() || !memcmp(a.data(), b.data(), a.size() * sizeof(T));
}

template <typename T> class Runner {
public:
  explicit Runner(std::string cpu = "native") : module(cpu) {}

  void add(const Case &c) {
    std::string name = "f" + std::to_string(cases.size());
    cases.push_back(c);
    Type element = sizeof(T) == 4 ? module.f32() : module.f64();
    MatmulSpec s = specOf(c);
    int64_t packed = packedBElements(c.k, c.n, sizeof(T) * 8, module.target());
    Type types[] = {module.memref({span(s.a, c.batch, c.m, c.k)}, element),
                    module.memref({span(s.b, c.batch, c.k, c.n)}, element),
                    module.memref({span(s.c, c.batch, c.m, c.n)}, element),
                    module.memref({c.batch * packed}, element),
                    module.builder().getIndexType()};
    module.add(name, types, [&](OpBuilder &b, ValueRange args) {
      Value bMat = args[1];
      if (c.packed) {
        ASSERT_TRUE(succeeded(emitPackB(b, module.loc(), c.batch, c.k, c.n, s.b,
                                        args[1], args[3], module.target())));
        s.packedB = true;
        bMat = args[3];
      }
      if (c.validK >= 0)
        s.validK = args[4];
      if (c.epilogue)
        s.epilogue = [](OpBuilder &b, Location loc, Value z, Value row,
                        Value col, Value v, Value mask) -> Value {
          // v + (1000 z + 10 row + col of lane 0), to see the coordinates.
          auto cst = [&](int64_t x) {
            return arith::ConstantIndexOp::create(b, loc, x).getResult();
          };
          Value x = arith::AddIOp::create(
              b, loc, arith::MulIOp::create(b, loc, z, cst(1000)),
              arith::AddIOp::create(
                  b, loc, arith::MulIOp::create(b, loc, row, cst(10)), col));
          auto vec = cast<VectorType>(v.getType());
          Value i = arith::IndexCastOp::create(b, loc, b.getI64Type(), x);
          Value f = arith::SIToFPOp::create(b, loc, vec.getElementType(), i);
          return arith::AddFOp::create(
              b, loc, v, vector::BroadcastOp::create(b, loc, vec, f));
        };
      ASSERT_TRUE(
          succeeded(emitMatmul(b, module.loc(), s, args[0], bMat, args[2],
                               module.workspace(), module.target())));
    });
  }

  void run() {
    module.compile();
    for (size_t i = 0; i < cases.size(); ++i)
      check(i);
  }

private:
  void check(size_t index) {
    const Case &c = cases[index];
    SCOPED_TRACE(testing::Message()
                 << "batch " << c.batch << " m " << c.m << " n " << c.n << " k "
                 << c.k << " tA " << c.transA << " tB " << c.transB << " acc "
                 << c.accumulate << " packed " << c.packed << " validK "
                 << c.validK);
    MatmulSpec s = specOf(c);
    std::mt19937 gen(index + 1);
    std::uniform_real_distribution<double> dist(-1, 1);
    Guarded<T> a(span(s.a, c.batch, c.m, c.k)), b(span(s.b, c.batch, c.k, c.n)),
        out(span(s.c, c.batch, c.m, c.n)),
        packed(c.batch *
               packedBElements(c.k, c.n, sizeof(T) * 8, module.target()));
    for (T &x : a)
      x = dist(gen);
    for (T &x : b)
      x = dist(gen);
    for (T &x : out)
      x = dist(gen);
    for (T &x : packed)
      x = NAN;
    int64_t valid = c.validK >= 0 ? std::min(c.validK, c.k) : c.k;
    for (int64_t z = 0; z < c.batch; ++z)
      for (int64_t k = valid; k < c.k; ++k) {
        for (int64_t i = 0; i < c.m; ++i)
          a[z * s.a.batch + i * s.a.row + k * s.a.col] = NAN;
        for (int64_t j = 0; j < c.n; ++j)
          b[z * s.b.batch + k * s.b.row + j * s.b.col] = NAN;
      }
    std::vector<T> before = out.copy();
    auto call = module.template function<void (*)(T *, T *, T *, T *, int64_t)>(
        "f" + std::to_string(index));
    setThreads(2);
    call(a.data(), b.data(), out.data(), packed.data(), c.validK);

    int lanes = module.target().vectorBits / 8 / sizeof(T);
    std::vector<T> expected = before;
    double worst = 0;
    for (int64_t z = 0; z < c.batch; ++z)
      for (int64_t i = 0; i < c.m; ++i)
        for (int64_t j = 0; j < c.n; ++j) {
          double sum = 0, magnitude = 1e-30;
          for (int64_t k = 0; k < valid; ++k) {
            double t = double(a[z * s.a.batch + i * s.a.row + k * s.a.col]) *
                       double(b[z * s.b.batch + k * s.b.row + j * s.b.col]);
            sum += t;
            magnitude += std::fabs(t);
          }
          size_t at = z * s.c.batch + i * s.c.row + j;
          if (c.epilogue) {
            sum += 1000 * z + 10 * i + j / lanes * lanes;
            magnitude += std::fabs(sum);
          }
          if (c.accumulate) {
            sum += before[at];
            magnitude += std::fabs(before[at]);
          }
          double error = std::fabs(out[at] - sum) / magnitude;
          worst = std::isnan(error) ? INFINITY : std::max(worst, error);
          expected[at] = out[at];
        }
    double unit = sizeof(T) == 4 ? 6e-8 : 1.1e-16;
    EXPECT_LE(worst, unit * (8 + std::sqrt(double(c.k)) * 2));
    // Nothing but C's elements was written.
    EXPECT_TRUE(haveEqualBits(expected, out));

    std::vector<T> first = out.copy();
    for (int threads : {1, 2, 3}) {
      std::copy(before.begin(), before.end(), out.begin());
      setThreads(threads);
      call(a.data(), b.data(), out.data(), packed.data(), c.validK);
      EXPECT_TRUE(haveEqualBits(first, out))
          << "other bits with " << threads << " threads";
    }
  }

  KernelModule module;
  std::vector<Case> cases;
};

template <typename T>
void randomCases(int count, unsigned seed, std::string cpu = "native") {
  Runner<T> runner(cpu);
  std::mt19937 gen(seed);
  auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(gen);
  };
  for (int i = 0; i < count; ++i) {
    Case c;
    int64_t large = i % 5 == 0 ? 200 : 40;
    c.batch = pick(1, 3);
    c.m = pick(1, large);
    c.n = pick(1, large);
    c.k = pick(1, large);
    c.transA = pick(0, 1);
    c.transB = pick(0, 1);
    c.accumulate = pick(0, 1);
    c.packed = pick(0, 3) == 0;
    c.epilogue = pick(0, 3) == 0;
    c.padded = pick(0, 2) == 0;
    if (pick(0, 2) == 0)
      c.validK = pick(0, c.k);
    runner.add(c);
  }
  runner.run();
}

TEST(Matmul, ZeroSizes) {
  Runner<float> r;
  for (bool acc : {false, true}) {
    r.add({1, 5, 7, 0, false, false, acc});
    r.add({1, 0, 7, 3, false, false, acc});
    r.add({1, 5, 0, 3, false, true, acc});
    r.add({0, 5, 4, 3, false, false, acc});
    r.add({2, 40, 70, 0, true, true, acc, true});
  }
  r.run();
}

TEST(Matmul, Large) {
  Runner<float> r;
  r.add({1, 301, 333, 2311, false, false});
  r.add({1, 301, 333, 2311, true, false, true});
  r.add({1, 97, 260, 2500, false, true, true, true, true});
  r.add({1, 97, 260, 2500, true, true, false, false, true, true, 1700});
  r.add({1, 64, 515, 1024, false, false});
  r.add({1, 515, 64, 1024, true, false});
  r.add({12, 50, 64, 70, false, true});
  r.run();
}

/// Tiles share a packed B where each would pack much of it again.
TEST(Matmul, SharedPack) {
  auto shared = [](int64_t m, int64_t n, int64_t k, bool transB) {
    MatmulSpec s;
    s.m = m;
    s.n = n;
    s.k = k;
    s.a = MatrixLayout::rowMajor(m, k);
    s.b =
        transB ? MatrixLayout::transposed(k, n) : MatrixLayout::rowMajor(k, n);
    s.c = MatrixLayout::rowMajor(m, n);
    TargetInfo target{512, 32, true, 1 << 20};
    int64_t elements = sharedPackedElements(s, 32, target);
    if (elements) {
      EXPECT_EQ(elements, packedBElements(k, n, 32, target));
      s.packedB = true;
      EXPECT_EQ(sharedPackedElements(s, 32, target), 0);
    }
    return elements > 0;
  };
  // GPT-2's mlp at 1024 tokens, and its backward.
  EXPECT_TRUE(shared(1024, 768, 3072, false));
  EXPECT_TRUE(shared(1024, 768, 3072, true));
  // Each column of tiles packs its own part of B once.
  EXPECT_FALSE(shared(1024, 3072, 768, false));
  // Not worth a meeting of the threads; too large to keep.
  EXPECT_FALSE(shared(64, 64, 64, false));
  EXPECT_FALSE(shared(1024, 768, 50257, false));
}

TEST(Matmul, RandomF32) { randomCases<float>(60, 1); }
TEST(Matmul, RandomF64) { randomCases<double>(25, 2); }
TEST(Matmul, RandomAvx2) { randomCases<float>(25, 3, "haswell"); }
TEST(Matmul, RandomBaseline) { randomCases<float>(12, 4, "x86-64"); }

TEST(Matmul, Refusals) {
  KernelModule module;
  Type f16 = module.builder().getF16Type();
  std::string message;
  ScopedDiagnosticHandler handler(module.builder().getContext(),
                                  [&](Diagnostic &d) {
                                    message = d.str();
                                    return success();
                                  });
  Type t = module.memref({4, 4}, f16);
  module.add("f", {t, t, t}, [&](OpBuilder &b, ValueRange args) {
    MatmulSpec s;
    s.m = s.n = s.k = 4;
    s.a = s.b = s.c = MatrixLayout::rowMajor(4, 4);
    EXPECT_TRUE(failed(emitMatmul(b, module.loc(), s, args[0], args[1], args[2],
                                  module.workspace(), module.target())));
  });
  EXPECT_NE(message.find("f16"), std::string::npos) << message;
}

TEST(EmitObject, UnknownCpuListsNearNames) {
  auto info = targetInfo("saphirerapids");
  ASSERT_FALSE(bool(info));
  std::string message = llvm::toString(info.takeError());
  EXPECT_NE(message.find("sapphirerapids"), std::string::npos) << message;
}

TEST(EmitObject, RequiredFeatures) {
  auto names = requiredCpuFeatures("sapphirerapids");
  ASSERT_TRUE(bool(names));
  EXPECT_NE(std::find(names->begin(), names->end(), "avx512_bf16"),
            names->end());
  auto base = requiredCpuFeatures("x86-64");
  ASSERT_TRUE(bool(base));
  EXPECT_TRUE(base->empty());
  EXPECT_EQ(targetInfo("haswell")->vectorBits, 256);
  EXPECT_EQ(targetInfo("sapphirerapids")->vectorBits, 512);
}

} // namespace
