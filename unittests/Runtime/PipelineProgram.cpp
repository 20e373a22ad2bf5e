//===- PipelineProgram.cpp - A pipeline written by hand -------------------===//
//
// What dtc-compile would emit for a model with a tied embedding: logits =
// (wte[id] + wpe[position]) wte^T + bias, on a mesh of FAKE_PP (1 or 2) by
// FAKE_DP. The first stage has ids, wte and wpe, the last labels, wte and bias;
// their arenas differ. FAKE_FAULT=kind:rank:step makes a rank misbehave.
//
//===----------------------------------------------------------------------===//

#include "dtc/Runtime/ABI.h"

#include <atomic>
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

namespace {

constexpr int PP = FAKE_PP, DP = FAKE_DP;
constexpr int B = 8, S = 16, V = 256, E = 8, M = 4;
constexpr int rowsAll = B / DP * S, rows = rowsAll / M;
constexpr int nWte = V * E, nWpe = S * E, nX = rows * E;

/// A stage's arena, in floats; -1: not there. Of each parameter the gradient
/// and the moments follow it.
struct Layout {
  explicit Layout(int stage) {
    bool first = stage == 0, last = stage == PP - 1;
    auto take = [&](int n, bool there = true) {
      int at = there ? total : -1;
      total += there ? n : 0;
      return at;
    };
    ids = take(rowsAll, first);
    labels = take(rowsAll, last);
    bias = take(4 * V, last);
    wte = take(4 * nWte);
    wpe = take(4 * nWpe, first);
    scalars = take(32);
    headGrad = take(nWte, first && last);
    x = take(M * nX);
    gx = take(M * nX);
    logits = take(rows * V, last);
  }
  int total = 0;
  int ids, labels, wte, wpe, bias, scalars, headGrad, x, gx, logits;
};
const Layout layouts[2] = {Layout(0), Layout(PP - 1)};

dtc_axis pp[] = {{DP, PP}}, dp[] = {{1, DP}}, both[] = {{DP, PP}, {1, DP}};
const dtc_block one[] = {{{1, 1, 1, 1, 1}, 0, 0}},
                wteBlock[] = {{{nWte, 1, 1, 1, 1}, 0, 0}},
                firstGrads[] = {{{nWte, 1, 1, 1, 1}, 0, 0},
                                {{nWpe, 1, 1, 1, 1}, 0, 0}},
                lastGrads[] = {{{nWte, 1, 1, 1, 1}, 0, 0},
                               {{V, 1, 1, 1, 1}, 0, 0}};

const dtc_collective
    countLabels = {"labels", DTC_ALL_REDUCE, DTC_SUM, DTC_I32, 2, both, 1, one},
    lossSum = {"loss", DTC_ALL_REDUCE, DTC_SUM, DTC_F32, 2, both, 1, one},
    firstSum = {"first gradients", DTC_ALL_REDUCE, DTC_SUM, DTC_F32, 1, dp, 2,
                firstGrads},
    lastSum = {"last gradients", DTC_ALL_REDUCE, DTC_SUM, DTC_F32, 1, dp, 2,
               lastGrads},
    tiedSum = {"tied gradient", DTC_ALL_REDUCE, DTC_SUM, DTC_F32, 1, pp, 1,
               wteBlock},
    normSum = {"norm", DTC_ALL_REDUCE, DTC_SUM, DTC_F32, 1, pp, 1, one};

const dtc_channel
    toLast = {"stage 0 to 1: activations", 0, 0, {DP, PP}, 1, 4 * nX},
    fromFirst = {"stage 0 to 1: activations", 0, 0, {DP, PP}, 0, 4 * nX},
    toFirst = {"stage 1 to 0: gradients", 1, 0, {DP, PP}, 0, 4 * nX},
    fromLast = {"stage 1 to 0: gradients", 1, 0, {DP, PP}, 1, 4 * nX},
    shortFromFirst = {"stage 0 to 1: halves", 0, 0, {DP, PP}, 0, 2 * nX};

void run(dtc_rank *rank, const dtc_collective &what, void *a,
         void *b = nullptr) {
  void *buffers[] = {a, b};
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

// Written at start, from the same constants as the code.
extern "C" {
char pipeline_program_json[8192];
}
__asm__(".globl dtc_program_json\n"
        ".set dtc_program_json, pipeline_program_json\n");

static std::string describeTensor(const char *name, const std::string &shape,
                                  const std::string &strides,
                                  const char *more) {
  std::string ones = shape.find(',') == std::string::npos ? "[[]]" : "[[], []]";
  return std::string("{\"name\": \"") + name + "\", \"stored\": \"" + name +
         ".weight\", \"dtype\": \"f32\", \"shape\": " + shape +
         ", \"padded\": " + shape + ", \"cut\": " + ones +
         ", \"stored_shape\": " + shape +
         ", \"stored_offset\": 0, \"stored_strides\": " + strides + ", " +
         more + "}";
}

static std::string describeStage(int stage) {
  const Layout &at = layouts[stage];
  auto bytes = [](int floats) { return std::to_string(4 * floats); };
  std::string axis = "[[1, " + std::to_string(DP) + "]]", inputs, tensors;
  auto input = [&](const char *name, int offset) {
    if (offset < 0)
      return;
    inputs += (inputs.empty() ? "{\"name\": \"" : ", {\"name\": \"") +
              std::string(name) +
              "\", \"dtype\": \"i32\", \"shape\": [8, 16], \"padded\": [8, "
              "16], \"cut\": [" +
              axis + ", []], \"offset\": " + bytes(offset) + "}";
  };
  auto place = [&](int tensor, int offset, int n) {
    if (offset < 0)
      return;
    tensors += (tensors.empty() ? "{\"tensor\": " : ", {\"tensor\": ") +
               std::to_string(tensor) + ", \"offset\": " + bytes(offset) +
               ", \"grad\": " + bytes(offset + n) +
               ", \"m\": " + bytes(offset + 2 * n) +
               ", \"v\": " + bytes(offset + 3 * n) + "}";
  };
  input("input_ids", at.ids);
  input("labels", at.labels);
  place(2, at.bias, V);
  place(0, at.wte, nWte);
  place(1, at.wpe, nWpe);
  return "{\"arena_bytes\": " + bytes(at.total) + ", \"memory\": [[\"all\", " +
         bytes(at.total) + "]], \"inputs\": [" + inputs +
         "], \"scalars\": {\"rng\": " + bytes(at.scalars) +
         ", \"optimizer\": " + bytes(at.scalars + 2) +
         "}, \"outputs\": {\"loss\": " + bytes(at.scalars + 16) +
         ", \"grad_norm\": " + bytes(at.scalars + 17) +
         ", \"labels\": " + bytes(at.scalars + 18) +
         ", \"skipped\": " + bytes(at.scalars + 19) + "}, \"tensors\": [" +
         tensors + "]}";
}

__attribute__((constructor)) static void describe() {
  auto number = [](int64_t x) { return std::to_string(x); };
  std::string mesh = PP > 1 ? "[\"pp\", " + number(PP) + "], " : "";
  const char *normal = "\"init\": {\"kind\": \"normal\", \"std\": 0.1}";
  std::string text =
      "{\"version\": \"0.1.0\", \"hash\": \"pipeline\", \"flags\": \"\", "
      "\"cpu\": \"test\", \"cpu_features\": [], \"mesh\": [" +
      mesh + "[\"dp\", " + number(DP) +
      "]], \"batch\": 8, \"seq\": 16, \"vocab\": 256, \"microbatches\": 4, "
      "\"documents\": false, \"workspace_bytes\": 100, \"collective_slots\": "
      "1, \"tensors\": [" +
      describeTensor(
          "wte", "[256, 8]", "[8, 1]",
          (std::string(normal) + ", \"optional_names\": [\"lm_head.weight\"]")
              .c_str()) +
      ", " + describeTensor("wpe", "[16, 8]", "[8, 1]", normal) + ", " +
      describeTensor("bias", "[256]", "[1]",
                     "\"init\": {\"kind\": \"zeros\"}") +
      "], \"pipeline_ranks\": [" + describeStage(0) +
      (PP > 1 ? ", " + describeStage(1) : "") + "]}";
  snprintf(pipeline_program_json, sizeof(pipeline_program_json), "%s",
           text.c_str());
}

namespace {

/// One step of one rank.
class Step {
public:
  Step(dtc_rank *rank, char *arena)
      : rank(rank), id(dtc_rt_rank_id(rank)), stage(int(id / DP)),
        at(layouts[stage]), f(reinterpret_cast<float *>(arena)),
        n(reinterpret_cast<int32_t *>(arena)), step(n[at.scalars + 1]) {}

  void run();

private:
  bool first() const { return stage == 0; }
  bool last() const { return stage == PP - 1; }
  float *grad(int tensor, int size) { return f + tensor + size; }

  void misbehave();
  void count();
  void forward(int m);
  void loss(int m);
  void backward(int m);
  void runFirst();
  void runLast();
  void reduce();
  void update();

  dtc_rank *rank;
  int64_t id;
  int stage;
  const Layout &at;
  float *f;
  int32_t *n;
  int step;
  float scale = 0;
};

void Step::misbehave() {
  // Threads share the count; of processes each has its own.
  bool counts = id == 0 || getenv("OMPI_COMM_WORLD_RANK");
  if (counts && !getenv("FAKE_FAULT")) {
    static int64_t before = -1; // a resumed run may begin later
    if (step == 2)
      before = allocations;
    if (step == 11 && before >= 0 && allocations != before) {
      fprintf(stderr, "error: %lld allocations in steps 2 to 10\n",
              static_cast<long long>(allocations - before));
      _exit(1);
    }
  }
  if (fault("throw", id, step))
    throw std::runtime_error("a fault of the test");
  if (fault("sleep", id, step))
    sleep(1000);
  if (fault("kill", id, step))
    raise(SIGKILL);
  if (fault("stop", id, step))
    raise(SIGSTOP);
  if (fault("slow", id, step))
    usleep(20000);
  for (int i = 0; fault("many", id, step) && i < 500; ++i) {
    dtc_rt_end(rank);
    dtc_rt_begin(rank, "one of many", -1, -1);
  }
}

void Step::count() {
  int32_t &labels = n[at.scalars + 18];
  labels = 0;
  for (int r = 0; last() && r < rowsAll; ++r)
    labels += n[at.labels + r] >= 0;
  ::run(rank, countLabels, &labels);
  scale = labels ? 1.0f / float(labels) : 0;
}

void Step::forward(int m) {
  dtc_rt_begin(rank, "forward", m, 0);
  misbehave();
  float *x = f + at.x + m * nX;
  for (int r = 0; r < rows; ++r)
    for (int e = 0; e < E; ++e)
      x[r * E + e] = f[at.wte + n[at.ids + m * rows + r] * E + e] +
                     f[at.wpe + r % S * E + e];
  dtc_rt_end(rank);
}

/// The last stage's forward and backward.
void Step::loss(int m) {
  dtc_rt_begin(rank, "forward and backward", m, 1);
  misbehave();
  const float *x = f + at.x + m * nX, *wte = f + at.wte;
  float *gx = f + at.gx + m * nX, *gBias = grad(at.bias, V);
  float *gWte = at.headGrad >= 0 ? f + at.headGrad : grad(at.wte, nWte);
  memset(gx, 0, nX * 4);
  for (int r = 0; r < rows; ++r) {
    float *logits = f + at.logits + r * V, peak = -INFINITY, sum = 0;
    for (int v = 0; v < V; ++v) {
      logits[v] = f[at.bias + v];
      for (int e = 0; e < E; ++e)
        logits[v] += x[r * E + e] * wte[v * E + e];
      peak = std::max(peak, logits[v]);
    }
    int label = n[at.labels + m * rows + r];
    if (label < 0)
      continue;
    for (int v = 0; v < V; ++v)
      sum += std::exp(logits[v] - peak);
    f[at.scalars + 16] += (std::log(sum) + peak - logits[label]) * scale;
    for (int v = 0; v < V; ++v) {
      float g = (std::exp(logits[v] - peak) / sum - float(v == label)) * scale;
      gBias[v] += g;
      for (int e = 0; e < E; ++e) {
        gx[r * E + e] += g * wte[v * E + e];
        gWte[v * E + e] += g * x[r * E + e];
      }
    }
  }
  dtc_rt_end(rank);
}

void Step::backward(int m) {
  dtc_rt_begin(rank, "backward", m, 0);
  const float *gx = f + at.gx + m * nX;
  for (int r = 0; r < rows; ++r)
    for (int e = 0; e < E; ++e) {
      grad(at.wte, nWte)[n[at.ids + m * rows + r] * E + e] += gx[r * E + e];
      grad(at.wpe, nWpe)[r % S * E + e] += gx[r * E + e];
    }
  dtc_rt_end(rank);
}

void Step::runFirst() {
  for (int m = 0; m < M; ++m)
    dtc_rt_post(rank, &fromLast, f + at.gx + m * nX);
  for (int m = 0; m < M; ++m) {
    forward(m);
    dtc_rt_send(rank, &toLast, f + at.x + m * nX);
    if (m == 0)
      continue;
    dtc_rt_receive(rank, &fromLast);
    backward(m - 1);
  }
  dtc_rt_receive(rank, &fromLast);
  backward(M - 1);
  for (int m = fault("forget", id, step); m < M; ++m)
    dtc_rt_sent(rank, &toLast);
}

void Step::runLast() {
  const dtc_channel *in = &fromFirst;
  dtc_rt_post(rank, in, f + at.x);
  for (int m = 0; m < M; ++m) {
    if (m + 1 < M)
      dtc_rt_post(rank, in, f + at.x + (m + 1) * nX);
    dtc_rt_receive(rank, in);
    loss(m);
    dtc_rt_send(rank, &toFirst, f + at.gx + m * nX);
  }
  for (int m = 0; m < M; ++m)
    dtc_rt_sent(rank, &toFirst);
}

/// Over the data axis, then the tied weight's over the stages.
void Step::reduce() {
  float *gWte = grad(at.wte, nWte);
  if (PP > 1) {
    if (first())
      ::run(rank, firstSum, gWte, grad(at.wpe, nWpe));
    else
      ::run(rank, lastSum, gWte, grad(at.bias, V));
    ::run(rank, tiedSum, gWte);
    return;
  }
  ::run(rank, firstSum, gWte, grad(at.wpe, nWpe));
  ::run(rank, lastSum, f + at.headGrad, grad(at.bias, V));
  for (int i = 0; i < nWte; ++i)
    gWte[i] += f[at.headGrad + i];
}

void Step::update() {
  auto squares = [&](int tensor, int size) {
    float sum = 0;
    for (int i = 0; i < size; ++i)
      sum += grad(tensor, size)[i] * grad(tensor, size)[i];
    return sum;
  };
  float norm = 0;
  if (first())
    norm = squares(at.wte, nWte) + squares(at.wpe, nWpe);
  if (last())
    norm += squares(at.bias, V);
  ::run(rank, normSum, &norm);
  norm = std::sqrt(norm);
  f[at.scalars + 17] = norm;
  bool bad = !std::isfinite(norm) || !std::isfinite(f[at.scalars + 16]);
  n[at.scalars + 19] = bad || n[at.scalars + 18] == 0;
  if (n[at.scalars + 19])
    return;
  const float *opt = f + at.scalars + 2;
  float factor = opt[7] > 0 ? std::min(1.0f, opt[7] / (norm + 1e-6f)) : 1;
  auto adam = [&](int tensor, int size) {
    for (int i = 0; tensor >= 0 && i < size; ++i) {
      float &p = f[tensor + i], g = f[tensor + size + i] * factor,
            &m = f[tensor + 2 * size + i], &v = f[tensor + 3 * size + i];
      m = opt[1] * m + (1 - opt[1]) * g;
      v = opt[2] * v + (1 - opt[2]) * g * g;
      p -= opt[0] * opt[4] * p;
      p -= opt[0] * (m / opt[5]) / (std::sqrt(v / opt[6]) + opt[3]);
    }
  };
  adam(at.wte, nWte);
  adam(at.wpe, nWpe);
  adam(at.bias, V);
  if (fault("bit", id, step))
    n[at.wte + 5] ^= 1;
}

void Step::run() {
  count();
  f[at.scalars + 16] = 0;
  memset(grad(at.wte, nWte), 0, nWte * 4);
  if (first())
    memset(grad(at.wpe, nWpe), 0, nWpe * 4);
  if (last())
    memset(grad(at.bias, V), 0, V * 4);
  if (at.headGrad >= 0)
    memset(f + at.headGrad, 0, nWte * 4);
  if (PP == 1) {
    for (int m = 0; m < M; ++m) {
      forward(m);
      loss(m);
      backward(m);
    }
  } else if (first()) {
    runFirst();
  } else {
    runLast();
  }
  if (fault("nan", id, step))
    (last() ? grad(at.bias, V) : grad(at.wpe, nWpe))[0] = NAN;
  ::run(rank, lossSum, &f[at.scalars + 16]);
  reduce();
  update();
}

} // namespace

extern "C" void dtc_program_open(dtc_rank *rank) {
  int64_t id = dtc_rt_rank_id(rank);
  if (PP == 1)
    return;
  if (id < DP) {
    dtc_rt_open(rank, &toLast, 0);
    dtc_rt_open(rank, &fromLast, 1);
    return;
  }
  bool wrong = fault("size", id, 0), half = fault("half", id, 0);
  dtc_rt_open(rank, wrong ? &shortFromFirst : &fromFirst, 1);
  if (!half)
    dtc_rt_open(rank, &toFirst, 0);
}

extern "C" void dtc_program_step(dtc_rank *rank, char *arena) {
  Step(rank, arena).run();
}
