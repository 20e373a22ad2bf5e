//===- FakeProgram.cpp - A program written by hand for the runtime's tests ===//
//
// What dtc-compile would emit for a bigram model: logits = wte[id] head + bias,
// where head is a transposed view and the bias two views of one stored tensor.
// The mesh is FAKE_DP by FAKE_TP: rows on dp, the vocabulary (257, uneven) on
// tp. FAKE_FAULT=kind:rank:step makes a rank misbehave.
//
//===----------------------------------------------------------------------===//

#include "dtc/Runtime/ABI.h"

#include <atomic>
#include <cfloat>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <unistd.h>

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#ifndef FAKE_DP
#define FAKE_DP 2
#endif
#ifndef FAKE_TP
#define FAKE_TP 2
#endif
#ifndef FAKE_FEATURES
#define FAKE_FEATURES ""
#endif
#ifndef FAKE_HASH
#define FAKE_HASH "fake"
#endif

namespace {

constexpr int DP = FAKE_DP, TP = FAKE_TP;
constexpr int B = 8, S = 16, V = 257, E = 8;
constexpr int rows = B / DP * S;
constexpr int paddedV = (V + TP - 1) / TP * TP, localV = paddedV / TP;

// The arena, in floats.
constexpr int oIds = 0, oLabels = oIds + rows, oWte = oLabels + rows,
              nWte = V * E, oHead = oWte + 4 * nWte, nHead = E * localV,
              oBias0 = oHead + 4 * nHead, oBias1 = oBias0 + 4 * localV,
              oScalars = oBias1 + 4 * localV, oLogits = oScalars + 32,
              oStats = oLogits + rows * localV, total = oStats + 4 * rows + 64;

#define STR2(x) #x
#define STR(x) STR2(x)

dtc_axis dp[] = {{TP, DP}}, tp[] = {{1, TP}};
dtc_block one[] = {{{1, 1, 1, 1, 1}, 0, 0}},
          perRow[] = {{{rows, 1, 1, 1, 1}, 0, 0}},
          wte[] = {{{nWte, 1, 1, 1, 1}, 0, 0}},
          grads[] = {{{nWte, 1, 1, 1, 1}, 0, 0},
                     {{nHead, 1, 1, 1, 1}, 0, 0},
                     {{localV, 1, 1, 1, 1}, 0, 0},
                     {{localV, 1, 1, 1, 1}, 0, 0}};

#define COLLECTIVE(var, text, reduction, type, axes, buffers, blocks)          \
  const dtc_collective var = {text, DTC_ALL_REDUCE, reduction, type,           \
                              1,    axes,           buffers,   blocks}
COLLECTIVE(countLabels, "labels", DTC_SUM, DTC_I32, dp, 1, one);
COLLECTIVE(rowMax, "row maximum", DTC_MAX, DTC_F32, tp, 1, perRow);
COLLECTIVE(rowSum, "row sum", DTC_SUM, DTC_F32, tp, 1, perRow);
COLLECTIVE(target, "target logits", DTC_SUM, DTC_F32, tp, 1, perRow);
COLLECTIVE(lossSum, "loss", DTC_SUM, DTC_F32, dp, 1, one);
COLLECTIVE(wteSum, "embedding gradient", DTC_SUM, DTC_F32, tp, 1, wte);
COLLECTIVE(gradSum, "gradients", DTC_SUM, DTC_F32, dp, 4, grads);
COLLECTIVE(gradLess, "fewer gradients", DTC_SUM, DTC_F32, dp, 3, grads);
COLLECTIVE(normSum, "norm", DTC_SUM, DTC_F32, tp, 1, one);

void run(dtc_rank *rank, const dtc_collective &what, void *a, void *b = nullptr,
         void *c = nullptr, void *d = nullptr) {
  void *buffers[] = {a, b, c, d};
  dtc_rt_start(rank, &what, 0, buffers, buffers);
  dtc_rt_wait(rank, 0);
}

/// Whether FAKE_FAULT names this kind, rank and step.
bool fault(const char *kind, int64_t rank, int step) {
  const char *text = getenv("FAKE_FAULT");
  std::string mine = std::string(kind) + ":" + std::to_string(rank) + ":";
  if (!text || strncmp(text, mine.c_str(), mine.size()) != 0)
    return false;
  const char *when = text + mine.size();
  return !strcmp(when, "*") || atoi(when) == step;
}

/// Allocations of the process; after the first steps there are none.
std::atomic<int64_t> allocations;

} // namespace

// Sanitizers bring their own.
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
void *operator new(size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void *p = malloc(bytes))
    return p;
  throw std::bad_alloc();
}
void operator delete(void *p) noexcept { free(p); }
void operator delete(void *p, size_t) noexcept { free(p); }
#endif

// Written at start, from the same constants as the code; the runtime sees the
// array under the name of the interface.
extern "C" {
char fake_program_json[8192];
}
__asm__(".globl dtc_program_json\n.set dtc_program_json, fake_program_json\n");

__attribute__((constructor)) static void describe() {
  std::string dpAxis = "[[" STR(FAKE_TP) ", " STR(FAKE_DP) "]]";
  std::string tpAxis = "[[1, " STR(FAKE_TP) "]]";
  auto number = [](int64_t x) { return std::to_string(x); };
  auto bytes = [&](int64_t x) { return std::to_string(4 * x); };
  std::string v = number(V), e = number(E), q = number(paddedV);
  auto input = [&](const char *name, int at) {
    return std::string("{\"name\": \"") + name +
           "\", \"dtype\": \"i32\", \"offset\": " + bytes(at) +
           ", \"shape\": [8, 16], \"padded\": [8, 16], \"cut\": [" + dpAxis +
           ", []]}";
  };
  auto tensor = [&](const char *name, const char *stored,
                    const std::string &shape, const std::string &padded,
                    const std::string &cut, const std::string &storedShape,
                    int storedOffset, const std::string &strides,
                    const char *init) {
    return std::string("{\"name\": \"") + name + "\", \"stored\": \"" + stored +
           "\", \"dtype\": \"f32\", \"shape\": " + shape +
           ", \"padded\": " + padded + ", \"cut\": " + cut +
           ", \"stored_shape\": " + storedShape +
           ", \"stored_offset\": " + number(storedOffset) +
           ", \"stored_strides\": " + strides + ", \"init\": " + init +
           ", \"optional_names\": " +
           (strcmp(name, "wte") ? "[]" : "[\"copy.weight\"]") + "}";
  };
  auto place = [&](int tensor, int at, int n) {
    return "{\"tensor\": " + number(tensor) + ", \"offset\": " + bytes(at) +
           ", \"grad\": " + bytes(at + n) + ", \"m\": " + bytes(at + 2 * n) +
           ", \"v\": " + bytes(at + 3 * n) + "}";
  };
  const char *normal = "{\"kind\": \"normal\", \"std\": 0.1}";
  std::string text =
      "{\"version\": \"0.1.0\", \"hash\": \"" FAKE_HASH
      "\", \"flags\": \"--mesh=fake\", \"cpu\": \"test\", \"cpu_features\": "
      "[" FAKE_FEATURES
      "], \"mesh\": [[\"dp\", " STR(FAKE_DP) "], [\"tp\", " STR(
          FAKE_TP) "]], \"batch\": 8, \"seq\": 16, \"vocab\": 257, "
                   "\"microbatches\": 1, \"documents\": false, "
                   "\"workspace_bytes\": 100, \"collective_slots\": 1, "
                   "\"tensors\": [" +
      tensor("wte", "transformer.wte.weight", "[" + v + ", " + e + "]",
             "[" + v + ", " + e + "]", "[[], []]", "[" + v + ", " + e + "]", 0,
             "[" + e + ", 1]", normal) +
      ", " +
      tensor("head", "head.weight", "[" + e + ", " + v + "]",
             "[" + e + ", " + q + "]", "[[], " + tpAxis + "]",
             "[" + v + ", " + e + "]", 0, "[1, " + e + "]", normal) +
      ", " +
      tensor("bias0", "bias", "[" + v + "]", "[" + q + "]", "[" + tpAxis + "]",
             "[2, " + v + "]", 0, "[1]", "{\"kind\": \"zeros\"}") +
      ", " +
      tensor("bias1", "bias", "[" + v + "]", "[" + q + "]", "[" + tpAxis + "]",
             "[2, " + v + "]", V, "[1]", "{\"kind\": \"zeros\"}") +
      "], \"pipeline_ranks\": [{\"arena_bytes\": " + bytes(total) +
      ", \"memory\": [[\"all\", " + bytes(total) + "]], \"inputs\": [" +
      input("input_ids", oIds) + ", " + input("labels", oLabels) +
      "], \"scalars\": {\"rng\": " + bytes(oScalars) +
      ", \"optimizer\": " + bytes(oScalars + 2) +
      "}, \"outputs\": {\"loss\": " + bytes(oScalars + 16) +
      ", \"grad_norm\": " + bytes(oScalars + 17) +
      ", \"labels\": " + bytes(oScalars + 18) +
      ", \"skipped\": " + bytes(oScalars + 19) + "}, \"tensors\": [" +
      place(0, oWte, nWte) + ", " + place(1, oHead, nHead) + ", " +
      place(2, oBias0, localV) + ", " + place(3, oBias1, localV) + "]}]}";
  snprintf(fake_program_json, sizeof(fake_program_json), "%s", text.c_str());
}

extern "C" void dtc_program_open(dtc_rank *) {}

extern "C" void dtc_program_step(dtc_rank *rank, char *arena) {
  auto *f = reinterpret_cast<float *>(arena);
  auto *n = reinterpret_cast<int32_t *>(arena);
  const int32_t *ids = n + oIds, *labels = n + oLabels;
  const int64_t id = dtc_rt_rank_id(rank);
  const int step = n[oScalars + 1];
  const int firstV = int(id % TP) * localV;
  const int myV = std::max(0, std::min(V - firstV, localV));

  if (id == 0 && !getenv("FAKE_FAULT")) {
    static int64_t before = -1; // a resumed run may begin later
    if (step == 2)
      before = allocations;
    if (step == 11 && before >= 0 && allocations != before) {
      fprintf(stderr, "error: %lld allocations in steps 2 to 10\n",
              static_cast<long long>(allocations - before));
      _exit(1);
    }
  }
  volatile float smallest = FLT_MIN, half = 0.5f;
  if (smallest * half != 0) {
    fprintf(stderr, "error: rank %lld does not flush denormals\n",
            static_cast<long long>(id));
    _exit(1);
  }
  if (fault("throw", id, step))
    throw std::runtime_error("a fault of the test");
  if (fault("sleep", id, step))
    sleep(1000);
  if (fault("kill", id, step))
    raise(SIGKILL);
  if (fault("stop", id, step))
    raise(SIGSTOP);
  if (fault("interrupt", id, step))
    raise(SIGINT);
  if (fault("terminate", id, step))
    raise(SIGTERM);
  if (fault("slow", id, step))
    usleep(20000);

  int32_t &count = n[oScalars + 18];
  count = 0;
  for (int r = 0; r < rows; ++r)
    count += labels[r] >= 0;
  run(rank, countLabels, &count);

  float *logits = f + oLogits, *peak = f + oStats, *sum = peak + rows,
        *hit = sum + rows;
  const float *wteW = f + oWte, *headW = f + oHead;
  for (int r = 0; r < rows; ++r) {
    peak[r] = -INFINITY;
    for (int j = 0; j < myV; ++j) {
      float x = f[oBias0 + j] + f[oBias1 + j];
      for (int e = 0; e < E; ++e)
        x += wteW[ids[r] * E + e] * headW[e * localV + j];
      logits[r * localV + j] = x;
      peak[r] = std::max(peak[r], x);
    }
  }
  run(rank, rowMax, peak);
  for (int r = 0; r < rows; ++r) {
    sum[r] = 0;
    for (int j = 0; j < myV; ++j)
      sum[r] += std::exp(logits[r * localV + j] - peak[r]);
    int local = labels[r] - firstV;
    hit[r] = labels[r] >= 0 && local >= 0 && local < myV
                 ? logits[r * localV + local]
                 : 0;
  }
  run(rank, rowSum, sum);
  run(rank, target, hit);

  float &loss = f[oScalars + 16];
  loss = 0;
  float scale = count ? 1.0f / float(count) : 0;
  for (int r = 0; r < rows; ++r)
    if (labels[r] >= 0)
      loss += (std::log(sum[r]) + peak[r] - hit[r]) * scale;
  run(rank, lossSum, &loss);

  float *gWte = f + oWte + nWte, *gHead = f + oHead + nHead,
        *gBias0 = f + oBias0 + localV, *gBias1 = f + oBias1 + localV;
  memset(gWte, 0, nWte * 4);
  memset(gHead, 0, nHead * 4);
  memset(gBias0, 0, localV * 4);
  for (int r = 0; r < rows; ++r) {
    if (labels[r] < 0)
      continue;
    for (int j = 0; j < myV; ++j) {
      float g = (std::exp(logits[r * localV + j] - peak[r]) / sum[r] -
                 float(labels[r] - firstV == j)) *
                scale;
      gBias0[j] += g;
      for (int e = 0; e < E; ++e) {
        gHead[e * localV + j] += g * wteW[ids[r] * E + e];
        gWte[ids[r] * E + e] += g * headW[e * localV + j];
      }
    }
  }
  memcpy(gBias1, gBias0, localV * 4);
  if (fault("nan", id, step))
    gHead[0] = NAN;
  run(rank, wteSum, gWte);
  run(rank, fault("disagree", id, step) ? gradLess : gradSum, gWte, gHead,
      gBias0, gBias1);

  float norm = 0;
  for (int j = 0; j < myV; ++j) {
    norm += gBias0[j] * gBias0[j] + gBias1[j] * gBias1[j];
    for (int e = 0; e < E; ++e)
      norm += gHead[e * localV + j] * gHead[e * localV + j];
  }
  run(rank, normSum, &norm);
  for (int i = 0; i < nWte; ++i)
    norm += gWte[i] * gWte[i];
  norm = std::sqrt(norm);
  f[oScalars + 17] = norm;

  bool bad = !std::isfinite(norm) || !std::isfinite(loss);
  n[oScalars + 19] = bad || count == 0;
  if (n[oScalars + 19])
    return;
  const float *opt = f + oScalars + 2;
  float lr = opt[0], b1 = opt[1], b2 = opt[2], eps = opt[3], wd = opt[4],
        c1 = opt[5], c2 = opt[6], clip = opt[7];
  float factor = clip > 0 ? std::min(1.0f, clip / (norm + 1e-6f)) : 1;
  auto update = [&](int at, int count, bool all) {
    for (int i = 0; i < count; ++i) {
      if (!all && i % localV >= myV)
        continue;
      float g = f[at + count + i] * factor;
      float &p = f[at + i], &m = f[at + 2 * count + i],
            &v = f[at + 3 * count + i];
      m = b1 * m + (1 - b1) * g;
      v = b2 * v + (1 - b2) * g * g;
      p -= lr * wd * p;
      p -= lr * (m / c1) / (std::sqrt(v / c2) + eps);
    }
  };
  update(oWte, nWte, true);
  update(oHead, nHead, false);
  update(oBias0, localV, false);
  update(oBias1, localV, false);
  // Neither the loss nor the norm of this step shows it.
  if (fault("poison", id, step))
    f[oBias0 + 3 * localV] = NAN;
}
