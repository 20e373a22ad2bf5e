//===- KernelBench.cpp - Matrix products and attention against the peak ---===//
//
// dtc-bench-kernels [--threads N] [--blas LIBRARY] [--benchmark_filter=REGEX]
//
// The rate of fused multiply-adds that the machine can do is measured in turns
// with each kernel: `of_peak` is the median share of what was possible at that
// time. With --blas, products take turns with that library's sgemm, too:
// `of_blas` is the median ratio of the rates.
//
//===----------------------------------------------------------------------===//
#include "../KernelOptions.h"
#include "../Turns.h"
#include "KernelHarness.h"
#include "dtc/Codegen/Attention.h"
#include "dtc/Codegen/Matmul.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/DynamicLibrary.h"
#include <cstdlib>
#include <functional>
#include <numeric>
#include <random>

using namespace mlir;
using namespace dtc;
using namespace dtc::bench;
using namespace dtc::codegen;
using namespace dtc::test;
namespace cl = llvm::cl;

namespace {

cl::opt<std::string> blas("blas", cl::value_desc("LIBRARY"),
                          cl::desc("Products beside this library's sgemm, such "
                                   "as libopenblas.so.0"));

constexpr int64_t kChains = 24, kPeakSteps = 400000;

/// Independent chains of fused multiply-adds in registers, on every thread.
class Peak {
public:
  Peak();
  void operator()() { run(out.data()); }
  double flops() {
    return 2.0 * kChains * kPeakSteps * module.target().lanes(32) * threads;
  }

private:
  KernelModule module;
  void (*run)(float *);
  std::vector<float> out = std::vector<float>(size_t(64) * 16);
};

/// `cblas_sgemm` of a library: row-major C = op(A) op(B).
using Sgemm = void (*)(int order, int transA, int transB, int m, int n, int k,
                       float alpha, const float *a, int lda, const float *b,
                       int ldb, float beta, float *c, int ldc);
constexpr int kRowMajor = 101, kAsIs = 111, kTransposed = 112;

struct Bench {
  Peak peak;
  Sgemm sgemm = nullptr;

  /// Reports `flops` of `work` against the peak, and against `peer` if any.
  void report(benchmark::State &state, double flops,
              const std::function<void()> &work,
              const std::function<void()> &peer = nullptr) {
    std::vector<std::function<void()>> peers = {[&] { peak(); }};
    if (peer)
      peers.push_back(peer);
    // With one thread its own time, which other programs lengthen less.
    Turns turns =
        takeTurns(state, work, peers,
                  threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC);
    state.counters["GFLOP/s"] = 1e-9 * flops / median(turns.work);
    state.counters["of_peak"] = flops / peak.flops() / turns.medianRatio(0);
    if (peer)
      state.counters["of_blas"] = 1 / turns.medianRatio(1);
  }
};

/// Random numbers.
class Array : HugePages {
public:
  explicit Array(size_t n) : HugePages(n * sizeof(float)), p(as<float>()) {
    static std::mt19937 gen(1);
    std::uniform_real_distribution<float> d(-1, 1);
    for (size_t i = 0; i < n; ++i)
      p[i] = d(gen);
  }
  float *p;
};

} // namespace

Peak::Peak() {
  auto vec = VectorType::get({module.target().lanes(32)}, module.f32());
  module.add("peak", {module.memref({64 * 16}, module.f32())},
             [&](OpBuilder &b, ValueRange args) {
               Location loc = module.loc();
               auto cst = [&](int64_t v) {
                 return arith::ConstantIndexOp::create(b, loc, v).getResult();
               };
               auto splat = [&](float v) {
                 return arith::ConstantOp::create(
                            b, loc, DenseElementsAttr::get(vec, v))
                     .getResult();
               };
               auto loop = scf::ParallelOp::create(b, loc, ValueRange{cst(0)},
                                                   ValueRange{cst(threads)},
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
  module.compile();
  run = module.function<void (*)(float *)>("peak");
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

namespace {
struct ProductShape {
  int64_t m, n, k;
  enum Kind { PackedB, Plain, DX, DW } kind;
};
} // namespace

static void runProduct(benchmark::State &state, Bench &bench,
                       const ProductShape &s) {
  KernelModule module;
  MatmulSpec spec;
  spec.m = s.m;
  spec.n = s.n;
  spec.k = s.k;
  bool transA = s.kind == ProductShape::DW, transB = s.kind == ProductShape::DX;
  spec.a = transA ? MatrixLayout::transposed(s.m, s.k)
                  : MatrixLayout::rowMajor(s.m, s.k);
  spec.b = transB ? MatrixLayout::transposed(s.k, s.n)
                  : MatrixLayout::rowMajor(s.k, s.n);
  spec.c = MatrixLayout::rowMajor(s.m, s.n);
  spec.packedB = s.kind == ProductShape::PackedB;
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
    (void)emitMatmul(b, module.loc(), spec, a[0], spec.packedB ? a[3] : a[1],
                     a[2], module.workspace(), module.target());
  });
  module.compile();
  Array a(s.m * s.k), b(s.k * s.n), c(s.m * s.n), p(packed);
  using F = void (*)(float *, float *, float *, float *);
  auto pack = module.function<F>("pack"), run = module.function<F>("run");
  pack(a.p, b.p, c.p, p.p);
  std::function<void()> peer;
  if (bench.sgemm)
    peer = [&] {
      bench.sgemm(kRowMajor, transA ? kTransposed : kAsIs,
                  transB ? kTransposed : kAsIs, int(s.m), int(s.n), int(s.k), 1,
                  a.p, int(transA ? s.m : s.k), b.p, int(transB ? s.k : s.n), 0,
                  c.p, int(s.n));
    };
  bench.report(
      state, 2.0 * s.m * s.n * s.k, [&] { run(a.p, b.p, c.p, p.p); }, peer);
}

static void addProducts(Bench &bench) {
  std::vector<ProductShape> shapes;
  using S = ProductShape;
  for (int64_t size : {256, 512, 768, 1024, 2048, 3072})
    for (S::Kind kind : {S::PackedB, S::Plain, S::DX, S::DW})
      shapes.push_back({size, size, size, kind});
  // A layer of GPT-2 124M at 1024 tokens.
  for (auto [in, out] : {std::pair<int64_t, int64_t>{768, 2304},
                         {768, 768},
                         {768, 3072},
                         {3072, 768}}) {
    shapes.push_back({1024, out, in, S::PackedB});
    shapes.push_back({1024, in, out, S::DX});
    shapes.push_back({in, out, 1024, S::DW});
  }
  const char *kinds[] = {"packed_B", "plain", "dX=dY*W^T", "dW=X^T*dY"};
  for (const ProductShape &s : shapes) {
    std::string name = "product/" + std::to_string(s.m) + "x" +
                       std::to_string(s.n) + "x" + std::to_string(s.k) + "/" +
                       kinds[s.kind];
    // At some 100 GFLOP/s a thread.
    double seconds = 2e-11 * s.m * s.n * s.k / threads;
    benchmark::RegisterBenchmark(
        name.c_str(),
        [&bench, s](benchmark::State &state) { runProduct(state, bench, s); })
        ->UseManualTime()
        ->Iterations(turnsFor(1.0, seconds));
  }
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

namespace {
struct AttentionShape {
  int64_t b, s, g, m, d;
  bool causal;
  double dropout;
};
} // namespace

static void runAttention(benchmark::State &state, Bench &bench,
                         const AttentionShape &s, bool backward) {
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
  for (bool second : {false, true})
    module.add(second ? "b" : "f", types, [&](OpBuilder &b, ValueRange a) {
      AttentionInputs in;
      in.q = a[0];
      in.k = a[1];
      in.v = a[2];
      in.posQ = in.posK = a[9];
      in.rng = a[10];
      in.layer = a[11];
      in.rows = a[12];
      if (second)
        (void)emitAttentionBackward(b, module.loc(), spec, in, a[3], a[4], a[5],
                                    a[6], a[7], a[8], module.workspace(),
                                    module.target());
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
  auto forward = module.function<F>("f"), backwardRun = module.function<F>("b");
  auto call = [&](F fn) {
    fn(q.p, k.p, v.p, o.p, lse.p, dO.p, dq.p, dk.p, dv.p, pos.data(),
       rng.data(), layer.data(), rows.data());
  };
  // What the definition needs: with a causal mask about half.
  double pairs = s.causal ? s.s * (s.s + 1) / 2.0 : double(s.s) * s.s;
  double flops = 4.0 * s.b * s.g * s.m * s.d * pairs;
  call(forward);
  if (backward)
    bench.report(state, 2.5 * flops, [&] { call(backwardRun); });
  else
    bench.report(state, flops, [&] { call(forward); });
}

static void addAttentions(Bench &bench) {
  for (AttentionShape s : {AttentionShape{4, 256, 12, 1, 64, true, 0},
                           {4, 256, 12, 1, 64, false, 0},
                           {4, 256, 12, 1, 64, true, 0.1},
                           {1, 1024, 12, 1, 64, true, 0},
                           {1, 2048, 4, 4, 128, true, 0}})
    for (bool backward : {false, true}) {
      std::string name =
          std::string("attention/") + (backward ? "backward/" : "forward/") +
          std::to_string(s.b) + "x" + std::to_string(s.s) + "/" +
          std::to_string(s.g) + "*" + std::to_string(s.m) + "_heads_of_" +
          std::to_string(s.d) + (s.causal ? "/causal" : "/full") +
          (s.dropout > 0 ? "/dropout" : "");
      benchmark::RegisterBenchmark(name.c_str(),
                                   [&bench, s, backward](auto &state) {
                                     runAttention(state, bench, s, backward);
                                   })
          ->UseManualTime()
          ->Iterations(50);
    }
}

/// Libraries read their numbers of threads when they are loaded. No thread may
/// spin while it is another one's turn.
static Sgemm loadSgemm(const std::string &path) {
  setenv("KMP_BLOCKTIME", "0", /*overwrite=*/0);
  setenv("OPENBLAS_THREAD_TIMEOUT", "4", /*overwrite=*/0);
  for (const char *name :
       {"OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "MKL_NUM_THREADS"})
    setenv(name, std::to_string(threads).c_str(), 1);
  std::string error;
  auto library =
      llvm::sys::DynamicLibrary::getPermanentLibrary(path.c_str(), &error);
  void *found =
      library.isValid() ? library.getAddressOfSymbol("cblas_sgemm") : nullptr;
  if (!found) {
    llvm::errs() << "error: --blas=" << path << ": "
                 << (error.empty() ? "has no cblas_sgemm" : error) << "\n";
    exit(1);
  }
  return reinterpret_cast<Sgemm>(found);
}

int main(int argc, char **argv) {
  parseOptions(argc, argv, "[--threads N] [--blas LIBRARY]");
  Sgemm sgemm = blas.empty() ? nullptr : loadSgemm(blas);
  setThreads(threads);
  poisonWorkspace(false);
  Bench bench;
  bench.sgemm = sgemm;
  benchmark::RegisterBenchmark("peak",
                               [&bench](benchmark::State &state) {
                                 bench.report(state, bench.peak.flops(),
                                              [&] { bench.peak(); });
                               })
      ->UseManualTime()
      ->Iterations(100);
  addProducts(bench);
  addAttentions(bench);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
