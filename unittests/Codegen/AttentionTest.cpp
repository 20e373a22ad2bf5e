//===- AttentionTest.cpp - Generated attention against plain loops --------===//
#include "dtc/Codegen/Attention.h"
#include "KernelHarness.h"
#include "dtc/Runtime/Philox.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

using namespace mlir;
using namespace dtc;
using namespace dtc::codegen;
using namespace dtc::test;

namespace {

struct Case {
  int64_t b, s, t, g, m, d;
  bool causal = true;
  bool perRow = false; // positions of shape [b, s]
  bool documents = false;
  bool permuted = false; // positions in random order
  int64_t keyShift = 0;  // added to key positions: some queries see nothing
  double dropout = 0;
  double magnitude = 1;
};

template <typename T> struct Data {
  Guarded<T> q, k, v, o, lse, dO, dq, dk, dv;
  Guarded<int32_t> posQ, posK, docQ, docK, rng, layer, rows;

  explicit Data(const Case &c)
      : q(c.b * c.s * c.g * c.m * c.d), k(c.b * c.t * c.g * c.d), v(k.size()),
        o(q.size()), lse(c.b * c.s * c.g * c.m), dO(q.size()), dq(q.size()),
        dk(k.size()), dv(k.size()), posQ(c.perRow ? c.b * c.s : c.s),
        posK(c.perRow ? c.b * c.t : c.t), docQ(c.b * c.s), docK(c.b * c.t),
        rng(2), layer(1), rows(c.b) {}

  void fill(const Case &c, unsigned seed) {
    std::mt19937 gen(seed);
    std::normal_distribution<double> normal;
    for (Guarded<T> *x : {&q, &k, &v, &dO})
      for (T &e : *x)
        e = normal(gen) * c.magnitude;
    for (Guarded<T> *x : {&o, &lse, &dq, &dk, &dv})
      for (T &e : *x)
        e = NAN;
    auto positions = [&](Guarded<int32_t> &p, int64_t n, int64_t shift) {
      for (size_t i = 0; i < p.size(); i += n) {
        std::iota(p.begin() + i, p.begin() + i + n, shift);
        if (c.permuted)
          std::shuffle(p.begin() + i, p.begin() + i + n, gen);
      }
    };
    positions(posQ, std::max<int64_t>(c.s, 1), 0);
    positions(posK, std::max<int64_t>(c.t, 1), c.keyShift);
    // Documents of uneven length.
    auto documents = [&](Guarded<int32_t> &ids, int64_t n) {
      for (int64_t r = 0; r < c.b; ++r)
        for (int64_t i = 0; i < n; ++i)
          ids[r * n + i] = int32_t(i * (2 + r) / std::max<int64_t>(n, 1)) * 7;
    };
    documents(docQ, c.s);
    documents(docK, c.t);
    rng[0] = 123;
    rng[1] = int32_t(0x9000000f);
    layer[0] = 5;
    for (int64_t r = 0; r < c.b; ++r)
      rows[r] = int32_t(40 + 3 * r);
  }
};

constexpr int64_t kSite = 3, kHeadOffset = 6;

double scaleOf(const Case &c) { return 0.3 / std::sqrt(double(c.d)) + 0.1; }

template <typename T> class Runner {
public:
  explicit Runner(std::string cpu = "native") : module(cpu) {}

  void add(const Case &c) {
    std::string name = std::to_string(cases.size());
    cases.push_back(c);
    Type f = sizeof(T) == 4 ? module.f32() : module.f64();
    Type i = module.i32();
    int64_t h = c.g * c.m;
    Type tq = module.memref({c.b, c.s, h, c.d}, f);
    Type tk = module.memref({c.b, c.t, c.g, c.d}, f);
    Type tl = module.memref({c.b, c.s, h}, f);
    auto ids = [&](bool rows, int64_t n) -> Type {
      return rows ? module.memref({c.b, n}, i) : module.memref({n}, i);
    };
    Type types[] = {tq,
                    tk,
                    tk,
                    tq,
                    tl,
                    tq,
                    tq,
                    tk,
                    tk,
                    ids(c.perRow, c.s),
                    ids(c.perRow, c.t),
                    ids(true, c.s),
                    ids(true, c.t),
                    module.memref({2}, i),
                    module.memref({}, i),
                    module.memref({c.b}, i),
                    module.builder().getIndexType()};
    AttentionSpec spec;
    spec.batch = c.b;
    spec.queries = c.s;
    spec.keys = c.t;
    spec.kvHeads = c.g;
    spec.group = c.m;
    spec.headDim = c.d;
    spec.causal = c.causal;
    spec.scale = scaleOf(c);
    spec.dropout = c.dropout;
    spec.site = kSite;
    for (bool backward : {false, true})
      module.add((backward ? "b" : "f") + name, types,
                 [&](OpBuilder &b, ValueRange a) {
                   AttentionInputs in;
                   in.q = a[0];
                   in.k = a[1];
                   in.v = a[2];
                   in.posQ = a[9];
                   in.posK = a[10];
                   if (c.documents) {
                     in.docQ = a[11];
                     in.docK = a[12];
                   }
                   if (c.dropout > 0) {
                     in.rng = a[13];
                     in.layer = a[14];
                     in.rows = a[15];
                     in.headOffset = a[16];
                   }
                   if (backward)
                     ASSERT_TRUE(succeeded(emitAttentionBackward(
                         b, module.loc(), spec, in, a[3], a[4], a[5], a[6],
                         a[7], a[8], module.workspace(), module.target())));
                   else
                     ASSERT_TRUE(succeeded(
                         emitAttention(b, module.loc(), spec, in, a[3], a[4],
                                       module.workspace(), module.target())));
                 });
  }

  void run(bool compareBits = true) {
    module.compile();
    for (size_t i = 0; i < cases.size(); ++i)
      check(i, compareBits);
  }

private:
  void call(size_t index, Data<T> &x, bool backward) {
    using F = void (*)(T *, T *, T *, T *, T *, T *, T *, T *, T *, int32_t *,
                       int32_t *, int32_t *, int32_t *, int32_t *, int32_t *,
                       int32_t *, int64_t);
    module.template function<F>((backward ? "b" : "f") + std::to_string(index))(
        x.q.data(), x.k.data(), x.v.data(), x.o.data(), x.lse.data(),
        x.dO.data(), x.dq.data(), x.dk.data(), x.dv.data(), x.posQ.data(),
        x.posK.data(), x.docQ.data(), x.docK.data(), x.rng.data(),
        x.layer.data(), x.rows.data(), kHeadOffset);
  }

  void check(size_t index, bool compareBits) {
    const Case &c = cases[index];
    SCOPED_TRACE(testing::Message()
                 << "case " << index << ": b " << c.b << " s " << c.s << " t "
                 << c.t << " g " << c.g << " m " << c.m << " d " << c.d
                 << " causal " << c.causal << " docs " << c.documents
                 << " permuted " << c.permuted << " shift " << c.keyShift
                 << " dropout " << c.dropout);
    Data<T> x(c);
    x.fill(c, index + 1);
    setThreads(2);
    call(index, x, false);
    int64_t h = c.g * c.m, d = c.d;
    std::vector<double> o(x.q.size()), lse(x.lse.size()), dq(x.q.size()),
        dk(x.k.size()), dv(x.k.size());
    double scale = scaleOf(c);
    auto threshold = uint32_t(std::floor(c.dropout * 4294967296.0));
    for (int64_t r = 0; r < c.b; ++r)
      for (int64_t head = 0; head < h; ++head)
        for (int64_t i = 0; i < c.s; ++i) {
          int64_t kv = head / c.m;
          size_t at = ((r * c.s + i) * h + head) * d;
          auto keyAt = [&](int64_t j) {
            return ((r * c.t + j) * c.g + kv) * d;
          };
          std::vector<double> p(c.t, -INFINITY), keep(c.t, 1.0);
          double most = -INFINITY;
          int32_t pq = x.posQ[c.perRow ? r * c.s + i : i];
          for (int64_t j = 0; j < c.t; ++j) {
            int32_t pk = x.posK[c.perRow ? r * c.t + j : j];
            if (c.dropout > 0) {
              PhiloxKey key = {uint32_t(x.rng[0]) ^
                                   uint32_t(x.rng[1]) * 0x9E3779B9u,
                               uint32_t(x.layer[0] * 16 + kSite)};
              PhiloxCounter counter = {uint32_t(x.rows[r]), uint32_t(pq),
                                       uint32_t(pk),
                                       uint32_t(head + kHeadOffset)};
              keep[j] = philox4x32_10(counter, key)[0] >= threshold
                            ? 1 / (1 - c.dropout)
                            : 0;
            }
            if ((c.causal && pk > pq) ||
                (c.documents && x.docK[r * c.t + j] != x.docQ[r * c.s + i]))
              continue;
            double dot = 0;
            for (int64_t e = 0; e < d; ++e)
              dot += double(x.q[at + e]) * double(x.k[keyAt(j) + e]);
            p[j] = dot * scale;
            most = std::max(most, p[j]);
          }
          double sum = 0;
          for (double &w : p) {
            w = most == -INFINITY ? 0 : std::exp(w - most);
            sum += w;
          }
          lse[at / d] = most + std::log(sum);
          if (sum == 0)
            lse[at / d] = -INFINITY;
          double dots = 0;
          std::vector<double> dp(c.t, 0.0);
          for (int64_t j = 0; j < c.t; ++j) {
            p[j] = sum > 0 ? p[j] / sum : 0;
            for (int64_t e = 0; e < d; ++e) {
              o[at + e] += p[j] * keep[j] * double(x.v[keyAt(j) + e]);
              dp[j] +=
                  double(x.dO[at + e]) * double(x.v[keyAt(j) + e]) * keep[j];
              dv[keyAt(j) + e] += p[j] * keep[j] * double(x.dO[at + e]);
            }
            dots += p[j] * dp[j];
          }
          for (int64_t j = 0; j < c.t; ++j) {
            double ds = p[j] * (dp[j] - dots) * scale;
            for (int64_t e = 0; e < d; ++e) {
              dq[at + e] += ds * double(x.k[keyAt(j) + e]);
              dk[keyAt(j) + e] += ds * double(x.q[at + e]);
            }
          }
        }

    auto compare = [&](Guarded<T> &got, const std::vector<double> &want,
                       const char *what, double tolerance) {
      // Gradients may vanish altogether; the terms of their sums do not.
      double top = 1, worst = 0;
      for (double w : want)
        if (std::isfinite(w))
          top = std::max(top, std::fabs(w));
      for (size_t i = 0; i < want.size(); ++i) {
        if (std::isinf(want[i])) {
          EXPECT_EQ(double(got[i]), want[i]) << what << " " << i;
          continue;
        }
        double error = std::fabs(double(got[i]) - want[i]) / top;
        worst = std::isnan(error) ? INFINITY : std::max(worst, error);
      }
      double unit = sizeof(T) == 4 ? 1.0 : 1e-9;
      EXPECT_LE(worst, tolerance * unit) << what;
      if (getenv("DTC_SHOW_ERRORS"))
        printf("  %s %.2g\n", what, worst);
    };
    double spread = std::max(1.0, c.magnitude * c.magnitude);
    compare(x.o, o, "o", 1.5e-6 * spread);
    compare(x.lse, lse, "lse", 1e-6);
    call(index, x, true);
    compare(x.dq, dq, "dq", 3e-6 * spread);
    compare(x.dk, dk, "dk", 3e-6 * spread);
    compare(x.dv, dv, "dv", 3e-6 * spread);
    if (!compareBits)
      return;
    auto all = [&] {
      std::vector<T> r;
      for (Guarded<T> *y : {&x.o, &x.lse, &x.dq, &x.dk, &x.dv})
        r.insert(r.end(), y->begin(), y->end());
      return r;
    };
    std::vector<T> first = all();
    for (int threads : {1, 3}) {
      x.fill(c, index + 1);
      setThreads(threads);
      call(index, x, false);
      call(index, x, true);
      std::vector<T> again = all();
      EXPECT_EQ(memcmp(first.data(), again.data(), first.size() * sizeof(T)), 0)
          << "other bits with " << threads << " threads";
    }
  }

  KernelModule module;
  std::vector<Case> cases;
};

/// Pieces of a causal sequence in an order: a piece's queries see the keys of
/// all pieces. Where a tile of values is NaN, a query's output is NaN if and
/// only if the kernel executes the tile for it: what it masks it multiplies by
/// zero, what it skips it does not read.
TEST(Attention, ExecutesTheTilesOfTheReport) {
  constexpr int64_t parts = 2, piece = 200, length = parts * piece, d = 8;
  KernelModule module("native");
  Type x = module.memref({1, piece, 1, d}, module.f32());
  Type ids = module.memref({piece}, module.i32());
  Type types[] = {x,   x,  x, x, module.memref({1, piece, 1}, module.f32()),
                  ids, ids};
  AttentionSpec spec;
  spec.queries = spec.keys = piece;
  spec.headDim = d;
  module.add("f", types, [&](OpBuilder &b, ValueRange a) {
    AttentionInputs in;
    in.q = a[0];
    in.k = a[1];
    in.v = a[2];
    in.posQ = a[5];
    in.posK = a[6];
    ASSERT_TRUE(succeeded(emitAttention(b, module.loc(), spec, in, a[3], a[4],
                                        module.workspace(), module.target())));
  });
  module.compile();
  using F = void (*)(float *, float *, float *, float *, float *, int32_t *,
                     int32_t *);
  F kernel = module.function<F>("f");
  AttentionTiles tile =
      getAttentionTiles(piece, piece, 32, /*backward=*/false, module.target());
  ASSERT_GT(piece, 2 * tile.queries);
  ASSERT_GT(piece, 2 * tile.keys);

  // Contiguous, striped, zigzag.
  for (int layout : {0, 1, 2}) {
    auto position = [&](int64_t r, int64_t i) -> int64_t {
      if (layout == 0)
        return r * piece + i;
      if (layout == 1)
        return i * parts + r;
      int64_t half = piece / 2;
      return i < half ? r * half + i : (2 * parts - 1 - r) * half + i - half;
    };
    int64_t executed = 0, expected = 0, all = 0;
    for (int64_t r = 0; r < parts; ++r)
      for (int64_t other = 0; other < parts; ++other) {
        Guarded<float> q(piece * d), k(piece * d), v(piece * d), o(piece * d),
            lse(piece);
        Guarded<int32_t> posQ(piece), posK(piece);
        for (int64_t i = 0; i < piece; ++i) {
          posQ[i] = int32_t(position(r, i));
          posK[i] = int32_t(position(other, i));
        }
        for (int64_t i = 0; i < piece * d; ++i)
          q[i] = k[i] = 0.01f * float(i % 37);
        for (int64_t k0 = 0; k0 < piece; k0 += tile.keys) {
          int64_t k1 = std::min(piece, k0 + tile.keys);
          for (int64_t i = 0; i < piece * d; ++i)
            v[i] = i >= k0 * d && i < k1 * d ? NAN : 1;
          kernel(q.data(), k.data(), v.data(), o.data(), lse.data(),
                 posQ.data(), posK.data());
          int32_t low = *std::min_element(posK.begin() + k0, posK.begin() + k1);
          for (int64_t q0 = 0; q0 < piece; q0 += tile.queries) {
            int64_t q1 = std::min(piece, q0 + tile.queries);
            bool read = false;
            for (int64_t i = q0 * d; i < q1 * d; ++i)
              read |= std::isnan(o[i]);
            ++all;
            executed += read;
            expected +=
                low <= *std::max_element(posQ.begin() + q0, posQ.begin() + q1);
          }
        }
      }
    EXPECT_EQ(executed, expected) << "layout " << layout;
    EXPECT_LT(executed, all * 3 / 4) << "layout " << layout;
    EXPECT_GT(executed, all / 2 - 1) << "layout " << layout << " of " << length;
  }
}

TEST(Attention, Shapes) {
  Runner<float> r;
  r.add({2, 64, 64, 2, 1, 64});
  r.add({1, 256, 256, 1, 2, 64});
  r.add({1, 96, 130, 2, 1, 32, false});
  r.add({2, 33, 70, 1, 3, 20, false});
  r.add({1, 1, 1, 1, 1, 1});
  r.add({1, 1, 200, 2, 2, 80, false});
  r.add({3, 7, 5, 1, 1, 3});
  r.add({1, 5, 0, 1, 1, 8});
  r.add({1, 0, 5, 1, 1, 8});
  r.add({0, 5, 5, 1, 1, 8});
  r.run();
}

TEST(Attention, Masks) {
  Runner<float> r;
  r.add({2, 130, 130, 1, 2, 16, true, false, true});
  r.add({2, 130, 130, 1, 2, 16, false, true, true});
  r.add({2, 128, 128, 1, 1, 16, true, false, false, true});
  r.add({2, 100, 150, 1, 2, 24, true, true, true, true});
  // Queries that see nothing, in whole tiles and in parts of tiles.
  r.add({1, 100, 100, 1, 2, 16, true, false, false, false, 50});
  r.add({1, 100, 100, 1, 1, 16, true, true, false, true, 50});
  r.add({1, 64, 64, 1, 1, 16, true, false, false, false, 1000});
  r.run();
}

TEST(Attention, Dropout) {
  Runner<float> r;
  r.add({2, 70, 90, 2, 2, 16, false, false, false, true, 0, 0.1});
  r.add({2, 96, 96, 1, 2, 32, true, true, true, false, 0, 0.5});
  r.run();
}

TEST(Attention, LargeScores) {
  Runner<float> r;
  r.add({1, 100, 100, 1, 1, 64, false, false, false, false, 0, 0, 4});
  r.run();
}

TEST(Attention, Random) {
  for (const char *cpu : {"native", "haswell"}) {
    Runner<float> r(cpu);
    std::mt19937 gen(11);
    auto pick = [&](int64_t low, int64_t high) {
      return std::uniform_int_distribution<int64_t>(low, high)(gen);
    };
    for (int i = 0; i < 8; ++i) {
      Case c{pick(1, 2), pick(1, 150), pick(1, 150),
             pick(1, 2), pick(1, 3),   pick(1, 70)};
      c.causal = pick(0, 1);
      c.perRow = pick(0, 1);
      c.documents = pick(0, 1);
      c.permuted = pick(0, 1);
      c.keyShift = pick(0, 2) ? 0 : pick(0, 100);
      c.dropout = pick(0, 2) ? 0 : 0.2;
      r.add(c);
    }
    r.run();
  }
}

TEST(Attention, F64) {
  Runner<double> r;
  r.add({1, 70, 90, 2, 2, 16, false});
  r.add({2, 33, 40, 1, 2, 12, true, true, true, true, 0, 0.25});
  r.run();
}

TEST(Attention, Refusals) {
  KernelModule module;
  std::string message;
  ScopedDiagnosticHandler handler(module.builder().getContext(),
                                  [&](Diagnostic &d) {
                                    message = d.str();
                                    return success();
                                  });
  Type f16 = module.memref({1, 4, 1, 8}, module.builder().getF16Type());
  Type lse = module.memref({1, 4, 1}, module.builder().getF16Type());
  module.add("f", {f16, lse}, [&](OpBuilder &b, ValueRange a) {
    AttentionSpec spec;
    spec.queries = spec.keys = 4;
    spec.headDim = 8;
    AttentionInputs in;
    in.q = in.k = in.v = a[0];
    EXPECT_TRUE(failed(emitAttention(b, module.loc(), spec, in, a[0], a[1],
                                     module.workspace(), module.target())));
  });
  EXPECT_NE(message.find("f16"), std::string::npos) << message;
}

} // namespace
