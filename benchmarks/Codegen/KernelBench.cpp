//===- KernelBench.cpp - Matrix products and attention against the peak ---===//
//
// dtc-bench-kernels [--threads N] [--seconds S] [--filter TEXT]
//
// The rate of fused multiply-adds that the machine can do is measured in the
// same run, in turns with each kernel, so that a figure is a fraction of what
// was possible at that time. Every figure is the best of many repetitions.
//
//===----------------------------------------------------------------------===//
#include "KernelHarness.h"
#include "dtc/Codegen/Attention.h"
#include "dtc/Codegen/Matmul.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <random>
#include <sys/mman.h>
#include <time.h>

using namespace mlir;
using namespace dtc;
using namespace dtc::codegen;
using namespace dtc::test;

static bool cpuTime = false;

/// Wall time; with one thread the thread's own time, which other programs on
/// the machine lengthen less.
static double now() {
  if (cpuTime) {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
  }
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

namespace {

constexpr int64_t kChains = 24, kPeakSteps = 400000;

struct Bench {
  int threads = 1;
  double seconds = 0.5;
  std::string filter;
  std::function<void()> peak;
  double peakFlops = 0;

  bool wanted(const std::string &name) {
    return filter.empty() || name.find(filter) != std::string::npos;
  }

  /// Best time of f, and the best rate of the peak kernel in the same interval.
  std::pair<double, double> best(const std::function<void()> &f) {
    double bestTime = 1e30, bestPeak = 1e30, start = now();
    f();
    int repeats = 0;
    do {
      double t = now();
      peak();
      bestPeak = std::min(bestPeak, now() - t);
      for (int i = 0; i < 5; ++i) {
        t = now();
        f();
        bestTime = std::min(bestTime, now() - t);
      }
    } while (now() - start < seconds || ++repeats < 3);
    return {bestTime, peakFlops / bestPeak};
  }

  void report(const std::string &name, double flops,
              const std::function<void()> &f) {
    auto [time, peakRate] = best(f);
    printf("%-44s %9.3f ms %8.1f GFLOP/s  %5.1f %% of %.1f\n", name.c_str(),
           time * 1e3, flops / time * 1e-9, 100 * flops / time / peakRate,
           peakRate * 1e-9);
    fflush(stdout);
  }
};

std::vector<float> randoms(size_t n) {
  static std::mt19937 gen(1);
  std::uniform_real_distribution<float> d(-1, 1);
  std::vector<float> v(n);
  for (float &x : v)
    x = d(gen);
  return v;
}

/// Memory on huge pages where the system has them, as the arena is.
struct Array {
  float *p;
  explicit Array(size_t n, float fill = NAN) {
    size_t bytes = ((n * sizeof(float) >> 21) + 1) << 21;
    p = static_cast<float *>(aligned_alloc(1 << 21, bytes));
    madvise(p, bytes, MADV_HUGEPAGE);
    if (std::isnan(fill)) {
      std::vector<float> r = randoms(n);
      std::copy(r.begin(), r.end(), p);
    } else {
      std::fill(p, p + n, fill);
    }
  }
  ~Array() { free(p); }
};

} // namespace

static void matmuls(Bench &bench) {
  struct Shape {
    int64_t m, n, k;
    int kind; // 0: packed B; 1: B as it is; 2: dX = dY W^T; 3: dW = X^T dY
  };
  std::vector<Shape> shapes;
  for (int64_t size : {256, 512, 768, 1024, 2048, 3072})
    for (int kind : {0, 1, 2, 3})
      shapes.push_back({size, size, size, kind});
  // A layer of GPT-2 124M at 1024 tokens.
  for (auto [in, out] : {std::pair<int64_t, int64_t>{768, 2304},
                         {768, 768},
                         {768, 3072},
                         {3072, 768}}) {
    shapes.push_back({1024, out, in, 0});
    shapes.push_back({1024, in, out, 2});
    shapes.push_back({in, out, 1024, 3});
  }
  const char *kinds[] = {"packed B", "plain", "dX = dY W^T", "dW = X^T dY"};
  for (const Shape &s : shapes) {
    std::string name = "matmul " + std::to_string(s.m) + "x" +
                       std::to_string(s.n) + "x" + std::to_string(s.k) + " " +
                       kinds[s.kind];
    if (!bench.wanted(name))
      continue;
    KernelModule module;
    MatmulSpec spec;
    spec.m = s.m;
    spec.n = s.n;
    spec.k = s.k;
    spec.a = s.kind == 3 ? MatrixLayout::transposed(s.m, s.k)
                         : MatrixLayout::rowMajor(s.m, s.k);
    spec.b = s.kind == 2 ? MatrixLayout::transposed(s.k, s.n)
                         : MatrixLayout::rowMajor(s.k, s.n);
    spec.c = MatrixLayout::rowMajor(s.m, s.n);
    int64_t packed = packedBElements(s.k, s.n, 32, module.target());
    Type types[] = {module.memref({s.m * s.k}, module.f32()),
                    module.memref({s.k * s.n}, module.f32()),
                    module.memref({s.m * s.n}, module.f32()),
                    module.memref({packed}, module.f32())};
    module.add("pack", types, [&](OpBuilder &b, ValueRange a) {
      (void)emitPackB(b, module.loc(), 1, s.k, s.n, spec.b, a[1], a[3],
                      module.target());
    });
    module.add("run", types, [&](OpBuilder &b, ValueRange a) {
      spec.packedB = s.kind == 0;
      (void)emitMatmul(b, module.loc(), spec, a[0], spec.packedB ? a[3] : a[1],
                       a[2], module.workspace(), module.target());
    });
    module.compile();
    Array a(s.m * s.k), b(s.k * s.n), c(s.m * s.n), p(packed);
    using F = void (*)(float *, float *, float *, float *);
    auto pack = module.function<F>("pack"), run = module.function<F>("run");
    pack(a.p, b.p, c.p, p.p);
    bench.report(name, 2.0 * s.m * s.n * s.k, [&] { run(a.p, b.p, c.p, p.p); });
  }
}

static void attentions(Bench &bench) {
  struct Shape {
    int64_t b, s, g, m, d;
    bool causal;
    double dropout;
  };
  for (Shape s : {Shape{4, 256, 12, 1, 64, true, 0},
                  {4, 256, 12, 1, 64, false, 0},
                  {4, 256, 12, 1, 64, true, 0.1},
                  {1, 1024, 12, 1, 64, true, 0},
                  {1, 2048, 4, 4, 128, true, 0}}) {
    std::string shape = std::to_string(s.b) + "x" + std::to_string(s.s) + " " +
                        std::to_string(s.g) + "*" + std::to_string(s.m) +
                        " heads of " + std::to_string(s.d) +
                        (s.causal ? " causal" : " full") +
                        (s.dropout > 0 ? " dropout" : "");
    if (!bench.wanted("attention forward " + shape) &&
        !bench.wanted("attention backward " + shape))
      continue;
    KernelModule module;
    AttentionSpec spec;
    spec.batch = s.b;
    spec.queries = spec.keys = s.s;
    spec.kvHeads = s.g;
    spec.group = s.m;
    spec.headDim = s.d;
    spec.causal = s.causal;
    spec.scale = 1 / std::sqrt(double(s.d));
    spec.dropout = s.dropout;
    Type f = module.f32(), i = module.i32();
    Type tq = module.memref({s.b, s.s, s.g * s.m, s.d}, f);
    Type tk = module.memref({s.b, s.s, s.g, s.d}, f);
    Type tl = module.memref({s.b, s.s, s.g * s.m}, f);
    Type types[] = {tq,
                    tk,
                    tk,
                    tq,
                    tl,
                    tq,
                    tq,
                    tk,
                    tk,
                    module.memref({s.s}, i),
                    module.memref({2}, i),
                    module.memref({}, i),
                    module.memref({s.b}, i)};
    for (bool backward : {false, true})
      module.add(backward ? "b" : "f", types, [&](OpBuilder &b, ValueRange a) {
        AttentionInputs in;
        in.q = a[0];
        in.k = a[1];
        in.v = a[2];
        in.posQ = in.posK = a[9];
        in.rng = a[10];
        in.layer = a[11];
        in.rows = a[12];
        if (backward)
          (void)emitAttentionBackward(b, module.loc(), spec, in, a[3], a[4],
                                      a[5], a[6], a[7], a[8],
                                      module.workspace(), module.target());
        else
          (void)emitAttention(b, module.loc(), spec, in, a[3], a[4],
                              module.workspace(), module.target());
      });
    module.compile();
    int64_t nq = s.b * s.s * s.g * s.m * s.d, nk = s.b * s.s * s.g * s.d;
    Array q(nq), k(nk), v(nk), o(nq), lse(nq / s.d), dO(nq), dq(nq), dk(nk),
        dv(nk);
    std::vector<int32_t> pos(s.s), rng{1, 2}, layer{0}, rows(s.b);
    std::iota(pos.begin(), pos.end(), 0);
    using F =
        void (*)(float *, float *, float *, float *, float *, float *, float *,
                 float *, float *, int32_t *, int32_t *, int32_t *, int32_t *);
    auto forward = module.function<F>("f"), backward = module.function<F>("b");
    auto call = [&](F fn) {
      fn(q.p, k.p, v.p, o.p, lse.p, dO.p, dq.p, dk.p, dv.p, pos.data(),
         rng.data(), layer.data(), rows.data());
    };
    // What the definition needs: with a causal mask about half.
    double pairs = s.causal ? s.s * (s.s + 1) / 2.0 : double(s.s) * s.s;
    double flops = 4.0 * s.b * s.g * s.m * s.d * pairs;
    call(forward);
    if (bench.wanted("attention forward " + shape))
      bench.report("attention forward " + shape, flops, [&] { call(forward); });
    if (bench.wanted("attention backward " + shape))
      bench.report("attention backward " + shape, 2.5 * flops,
                   [&] { call(backward); });
  }
}

int main(int argc, char **argv) {
  Bench bench;
  for (int i = 1; i + 1 < argc; i += 2) {
    std::string flag = argv[i];
    if (flag == "--threads")
      bench.threads = atoi(argv[i + 1]);
    else if (flag == "--seconds")
      bench.seconds = atof(argv[i + 1]);
    else if (flag == "--filter")
      bench.filter = argv[i + 1];
    else
      return fprintf(stderr, "unknown flag %s\n", argv[i]), 2;
  }
  setThreads(bench.threads);
  cpuTime = bench.threads == 1;
  poisonWorkspace(false);

  KernelModule peak;
  auto vec = VectorType::get({peak.target().lanes(32)}, peak.f32());
  peak.add("peak", {peak.memref({64 * 16}, peak.f32())},
           [&](OpBuilder &b, ValueRange args) {
             Location loc = peak.loc();
             auto cst = [&](int64_t v) {
               return arith::ConstantIndexOp::create(b, loc, v).getResult();
             };
             auto splat = [&](float v) {
               return arith::ConstantOp::create(b, loc,
                                                DenseElementsAttr::get(vec, v))
                   .getResult();
             };
             auto loop = scf::ParallelOp::create(b, loc, ValueRange{cst(0)},
                                                 ValueRange{cst(bench.threads)},
                                                 ValueRange{cst(1)});
             b.setInsertionPointToStart(loop.getBody());
             llvm::SmallVector<Value> start;
             for (int i = 0; i < kChains; ++i)
               start.push_back(splat(i));
             Value x = splat(0.999f), y = splat(1e-3f);
             auto chains = scf::ForOp::create(
                 b, loc, cst(0), cst(kPeakSteps), cst(1), start,
                 [&](OpBuilder &b, Location loc, Value, ValueRange v) {
                   llvm::SmallVector<Value> next;
                   for (Value z : v)
                     next.push_back(math::FmaOp::create(b, loc, z, x, y));
                   scf::YieldOp::create(b, loc, next);
                 });
             Value sum = chains.getResult(0);
             for (int i = 1; i < kChains; ++i)
               sum = arith::AddFOp::create(b, loc, sum, chains.getResult(i));
             Value at = arith::MulIOp::create(
                 b, loc, loop.getInductionVars()[0], cst(16));
             vector::StoreOp::create(b, loc, sum, args[0], at);
             b.setInsertionPointAfter(loop);
           });
  peak.compile();
  std::vector<float> out(64 * 16);
  auto run = peak.function<void (*)(float *)>("peak");
  bench.peak = [&] { run(out.data()); };
  bench.peakFlops =
      2.0 * kChains * kPeakSteps * peak.target().lanes(32) * bench.threads;
  if (bench.wanted("peak"))
    bench.report("peak", bench.peakFlops, bench.peak);
  matmuls(bench);
  attentions(bench);
  return 0;
}
