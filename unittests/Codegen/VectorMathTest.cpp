//===- VectorMathTest.cpp - Inline functions against libm and C++ ---------===//
#include "dtc/Codegen/VectorMath.h"
#include "KernelHarness.h"
#include "dtc/Runtime/Philox.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace mlir;
using namespace dtc;
using namespace dtc::codegen;
using namespace dtc::test;

namespace {

constexpr int64_t kCount = 1 << 20;

/// out[i] = f(in[i]) over kCount elements, by vectors or one by one.
void addMap(KernelModule &m, const std::string &name, bool vectors,
            llvm::function_ref<Value(OpBuilder &, Location, Value)> f) {
  Type t = m.memref({kCount}, m.f32());
  m.add(name, {t, t}, [&](OpBuilder &b, ValueRange args) {
    Location loc = m.loc();
    auto cst = [&](int64_t v) {
      return arith::ConstantIndexOp::create(b, loc, v).getResult();
    };
    int64_t step = vectors ? 16 : 1;
    scf::ForOp::create(
        b, loc, cst(0), cst(kCount), cst(step), ValueRange{},
        [&](OpBuilder &b, Location loc, Value i, ValueRange) {
          if (vectors) {
            auto vec = VectorType::get({16}, b.getF32Type());
            Value x = vector::LoadOp::create(b, loc, vec, args[0], i);
            vector::StoreOp::create(b, loc, f(b, loc, x), args[1], i);
          } else {
            Value x = memref::LoadOp::create(b, loc, args[0], i);
            memref::StoreOp::create(b, loc, f(b, loc, x), args[1], i);
          }
          scf::YieldOp::create(b, loc);
        });
  });
}

double ulps(float got, double want) {
  if (std::isnan(want))
    return std::isnan(got) ? 0 : INFINITY;
  if (std::isinf(want) || want == 0)
    return got == want ? 0 : INFINITY;
  float near = static_cast<float>(want);
  if (std::isinf(near))
    return std::isinf(got) ? 0 : INFINITY;
  double unit = std::nextafter(std::fabs(near), INFINITY) - std::fabs(near);
  return std::fabs(got - want) / unit;
}

using Fn = void (*)(float *, float *);

TEST(VectorMath, Accuracy) {
  for (const char *cpu : {"native", "x86-64"}) {
    KernelModule m(cpu);
    addMap(m, "exp", true, emitExp);
    addMap(m, "expBounded", true, emitExpBounded);
    addMap(m, "log", true, emitLog);
    addMap(m, "tanh", true, emitTanh);
    addMap(m, "scalar", false, emitExp);
    addMap(m, "mathExp", true,
           [](OpBuilder &b, Location loc, Value x) -> Value {
             return math::ExpOp::create(b, loc, x);
           });
    addMap(m, "erf", true, [](OpBuilder &b, Location loc, Value x) -> Value {
      return math::ErfOp::create(b, loc, x);
    });
    m.compile();
    std::vector<float> in(kCount), out(kCount), other(kCount);
    auto sweep = [&](const char *name, float low, float high,
                     double (*f)(double)) {
      for (int64_t i = 0; i < kCount; ++i)
        in[i] = low + (high - low) * (double(i) / (kCount - 1));
      m.function<Fn>(name)(in.data(), out.data());
      double worst = 0;
      for (int64_t i = 0; i < kCount; ++i)
        worst = std::max(worst, ulps(out[i], f(in[i])));
      return worst;
    };
    EXPECT_LE(sweep("exp", -86.8f, 89.5f, std::exp), 1.2) << cpu;
    EXPECT_LE(sweep("exp", -1.f, 1.f, std::exp), 1.2) << cpu;
    EXPECT_LE(sweep("expBounded", -86.8f, 0.f, std::exp), 1.2) << cpu;
    EXPECT_LE(sweep("log", 1e-3f, 3.f, std::log), 1.5) << cpu;
    EXPECT_LE(sweep("log", 1.f, 1e6f, std::log), 1.2) << cpu;
    EXPECT_LE(sweep("tanh", -10.f, 10.f, std::tanh), 2.5) << cpu;
    double erfWorst = sweep("erf", -5.f, 5.f, std::erf);
    EXPECT_LE(erfWorst, 8) << cpu;

    std::vector<float> special = {0.f, -0.f,  INFINITY, -INFINITY, NAN,
                                  1.f, -90.f, 100.f,    1e-38f,    88.7f};
    std::fill(in.begin(), in.end(), 0.f);
    std::copy(special.begin(), special.end(), in.begin());
    m.function<Fn>("exp")(in.data(), out.data());
    m.function<Fn>("scalar")(in.data(), other.data());
    EXPECT_EQ(memcmp(out.data(), other.data(), kCount * sizeof(float)), 0);
    m.function<Fn>("mathExp")(in.data(), other.data());
    EXPECT_EQ(memcmp(out.data(), other.data(), kCount * sizeof(float)), 0);
    EXPECT_EQ(out[0], 1.f);
    EXPECT_EQ(out[2], INFINITY);
    EXPECT_EQ(out[3], 0.f);
    EXPECT_TRUE(std::isnan(out[4]));
    EXPECT_EQ(out[6], 0.f);
    EXPECT_EQ(out[7], INFINITY);
    m.function<Fn>("expBounded")(in.data(), out.data());
    EXPECT_EQ(out[3], 0.f);
    EXPECT_TRUE(std::isnan(out[4]));
    m.function<Fn>("log")(in.data(), out.data());
    EXPECT_EQ(out[0], -INFINITY);
    EXPECT_EQ(out[1], -INFINITY);
    EXPECT_EQ(out[2], INFINITY);
    EXPECT_TRUE(std::isnan(out[3]));
    EXPECT_TRUE(std::isnan(out[4]));
    EXPECT_EQ(out[5], 0.f);
    EXPECT_TRUE(std::isnan(out[6]));
    m.function<Fn>("tanh")(in.data(), out.data());
    EXPECT_EQ(out[2], 1.f);
    EXPECT_EQ(out[3], -1.f);
    EXPECT_TRUE(std::isnan(out[4]));
  }
}

TEST(VectorMath, Philox) {
  KernelModule m;
  Type t = m.memref({16}, m.i32());
  auto add = [&](const std::string &name, bool vectors) {
    m.add(name, {t, t, t, t, t, t, t, t, t, t},
          [&](OpBuilder &b, ValueRange args) {
            Location loc = m.loc();
            auto cst = [&](int64_t v) {
              return arith::ConstantIndexOp::create(b, loc, v).getResult();
            };
            auto vec = VectorType::get({16}, b.getI32Type());
            for (int64_t lane = 0; lane < (vectors ? 1 : 16); ++lane) {
              llvm::SmallVector<Value> x;
              for (int i = 0; i < 6; ++i)
                x.push_back(
                    vectors ? vector::LoadOp::create(b, loc, vec, args[i],
                                                     cst(lane))
                                  .getResult()
                            : memref::LoadOp::create(b, loc, args[i], cst(lane))
                                  .getResult());
              auto words =
                  emitPhilox(b, loc, {x[0], x[1], x[2], x[3]}, {x[4], x[5]});
              for (int i = 0; i < 4; ++i)
                if (vectors)
                  vector::StoreOp::create(b, loc, words[i], args[6 + i],
                                          cst(lane));
                else
                  memref::StoreOp::create(b, loc, words[i], args[6 + i],
                                          cst(lane));
            }
          });
  };
  add("vectors", true);
  add("scalars", false);
  m.compile();
  using F =
      void (*)(uint32_t *, uint32_t *, uint32_t *, uint32_t *, uint32_t *,
               uint32_t *, uint32_t *, uint32_t *, uint32_t *, uint32_t *);
  std::mt19937 gen(5);
  uint32_t x[10][16];
  for (const char *name : {"vectors", "scalars"}) {
    for (int i = 0; i < 6; ++i)
      for (uint32_t &v : x[i])
        v = gen();
    m.function<F>(name)(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8],
                        x[9]);
    for (int lane = 0; lane < 16; ++lane) {
      PhiloxCounter want =
          philox4x32_10({x[0][lane], x[1][lane], x[2][lane], x[3][lane]},
                        {x[4][lane], x[5][lane]});
      for (int i = 0; i < 4; ++i)
        EXPECT_EQ(x[6 + i][lane], want[i]) << name << " lane " << lane;
    }
  }
}

} // namespace
