//===- OpBench.cpp - Ops' kernels against the memory's speed --------------===//
//
// dtc-bench-ops [--threads N] [--seconds S] [--filter TEXT] [FILE]
//
// Times the kernel of the last op of every function of a file. A copy of as
// many bytes (half read, half written, over buffers of that size) is timed in
// turns with it, so that a figure is a fraction of what was possible at that
// time, in the same caches. `test.bytes` on an argument says how many of its
// bytes are touched, if not all. Every figure is the best of many repetitions.
//
//===----------------------------------------------------------------------===//
#include "OpKernel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <sys/mman.h>

using namespace mlir;
using namespace dtc;
using namespace dtc::test;

static double now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

namespace {

/// Memory on huge pages where the system has them, as the arena is.
struct Memory {
  char *p;
  size_t bytes;
  explicit Memory(size_t n) : bytes(((n >> 21) + 1) << 21) {
    p = static_cast<char *>(aligned_alloc(1 << 21, bytes));
    madvise(p, bytes, MADV_HUGEPAGE);
    memset(p, 0, bytes);
  }
  Memory(const Memory &) = delete;
  ~Memory() { free(p); }
};

struct Bench {
  std::string name;
  Operation *op;
  FactorRule rule;
  int64_t scratchBytes;
};

} // namespace

/// Normal numbers, or integers below what test.data says.
static void fill(Memory &memory, DTensorType type, StringRef data) {
  std::mt19937 gen(1);
  int64_t n = type.getNumElements();
  if (type.isInteger()) {
    int64_t below = 0;
    (void)data.split(' ').second.getAsInteger(10, below);
    auto *p = reinterpret_cast<int32_t *>(memory.p);
    for (int64_t i = 0; i < n; ++i)
      p[i] = below ? gen() % below : i;
    return;
  }
  std::vector<float> some(4099);
  std::normal_distribution<float> normal;
  for (float &x : some)
    x = data == "positive" ? std::fabs(normal(gen)) + 0.1f : normal(gen);
  auto *p = reinterpret_cast<float *>(memory.p);
  for (int64_t i = 0; i < n; ++i)
    p[i] = some[i % some.size()];
}

/// Reads as much as it writes, with ordinary stores, which read what they
/// overwrite, as the kernels' do. (A plain copy becomes a call of memcpy.)
static void copyOnThreads(char *to, const char *from, size_t bytes) {
  auto *x = reinterpret_cast<const int32_t *>(from);
  auto *y = reinterpret_cast<int32_t *>(to);
  auto n = static_cast<int64_t>(bytes / sizeof(int32_t));
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < n; ++i)
    y[i] = x[i] + 1;
}

int main(int argc, char **argv) {
  int threads = 1;
  double seconds = 0.3;
  std::string filter, file = DTC_BENCH_OPS;
  for (int i = 1; i < argc; ++i) {
    std::string flag = argv[i];
    if (flag == "--threads" && i + 1 < argc)
      threads = atoi(argv[++i]);
    else if (flag == "--seconds" && i + 1 < argc)
      seconds = atof(argv[++i]);
    else if (flag == "--filter" && i + 1 < argc)
      filter = argv[++i];
    else
      file = flag;
  }
  setThreads(threads);
  poisonWorkspace(false);

  KernelModule module;
  MLIRContext *context = module.builder().getContext();
  context->loadDialect<DTCDialect, func::FuncDialect>();
  auto ops = parseSourceFile<ModuleOp>(file, ParserConfig(context));
  if (!ops)
    return 1;
  std::vector<Bench> benches;
  for (auto f : ops->getOps<func::FuncOp>()) {
    if (!f.getName().contains(filter))
      continue;
    Operation *op = f.front().getTerminator()->getPrevNode();
    Bench bench{f.getName().str(), op,
                cast<FactorOpInterface>(op).getFactorRule(), 0};
    SmallVector<AxisList> axes(bench.rule.factors.size());
    std::optional<int64_t> scratch =
        addOpKernel(module, bench.name, op, bench.rule, axes);
    if (!scratch)
      return 1;
    bench.scratchBytes = *scratch;
    benches.push_back(std::move(bench));
  }
  module.compile();

  for (Bench &bench : benches) {
    auto f = bench.op->getParentOfType<func::FuncOp>();
    std::vector<std::unique_ptr<Memory>> memory;
    SmallVector<void *> pointers;
    double bytes = 0;
    auto add = [&](Value v) {
      auto type = cast<DTensorType>(v.getType());
      auto argument = dyn_cast<BlockArgument>(v);
      unsigned i = argument ? argument.getArgNumber() : 0;
      StringRef data;
      int64_t size = type.getLocalBytes(), touched = size;
      if (argument) {
        if (auto text = f.getArgAttrOfType<StringAttr>(i, "test.data"))
          data = text.getValue();
        if (auto n = f.getArgAttrOfType<IntegerAttr>(i, "test.bytes"))
          touched = n.getInt();
      }
      memory.push_back(std::make_unique<Memory>(size));
      fill(*memory.back(), type, data);
      pointers.push_back(memory.back()->p);
      bytes += touched;
    };
    for (Value v : bench.op->getOperands())
      add(v);
    for (Value v : bench.op->getResults())
      add(v);
    std::vector<int64_t> table;
    for (const Factor &factor : bench.rule.factors) {
      table.push_back(0);
      table.push_back(factor.size);
    }
    table.push_back(0);
    Memory scratch(bench.scratchBytes);
    pointers.push_back(table.data());
    pointers.push_back(scratch.p);
    void *function = module.symbol(bench.name);
    Memory from(bytes / 2), to(bytes / 2);
    size_t half = bytes / 2;

    double best = 1e30, bestCopy = 1e30, start = now();
    int repeats = 0;
    do {
      for (int i = 0; i < 3; ++i) {
        double t = now();
        callOpKernel(function, pointers);
        best = std::min(best, now() - t);
      }
      for (int i = 0; i < 2; ++i) {
        double t = now();
        copyOnThreads(to.p, from.p, half);
        bestCopy = std::min(bestCopy, now() - t);
      }
    } while (now() - start < seconds || ++repeats < 3);
    printf("%-28s %9.3f ms %7.1f GB/s  %5.1f %% of %.1f\n", bench.name.c_str(),
           best * 1e3, bytes / best * 1e-9, 100 * bestCopy / best,
           bytes / bestCopy * 1e-9);
    fflush(stdout);
  }
  return 0;
}
