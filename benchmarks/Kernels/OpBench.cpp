//===- OpBench.cpp - Ops' kernels against the memory's speed --------------===//
//
// dtc-bench-ops [--threads N] [--benchmark_filter=REGEX] [FILE.mlir]
//
// Times the kernel of the last op of every function of a file. A copy of as
// many bytes (half read, half written, over buffers of that size) takes turns
// with it: `of_copy` is the median share of what was possible at that time, in
// the same caches. `test.bytes` on an argument says how many of its bytes are
// touched, if not all.
//
//===----------------------------------------------------------------------===//
#include "../KernelOptions.h"
#include "../Turns.h"
#include "OpKernel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include <cstdlib>
#include <random>

using namespace mlir;
using namespace dtc;
using namespace dtc::bench;
using namespace dtc::test;
namespace cl = llvm::cl;

namespace {

cl::opt<std::string> file(cl::Positional, cl::init(DTC_BENCH_OPS),
                          cl::desc("[FILE.mlir]"));

struct OpBench {
  std::string name;
  Operation *op;
  FactorRule rule;
  int64_t scratchBytes;
  void *kernel = nullptr;
};

} // namespace

/// Normal numbers, or integers below what test.data says.
static void fill(const HugePages &memory, DTensorType type, StringRef data) {
  std::mt19937 gen(1);
  int64_t n = type.getNumElements();
  if (type.isInteger()) {
    int64_t below = 0;
    (void)data.split(' ').second.getAsInteger(10, below);
    auto *p = memory.as<int32_t>();
    for (int64_t i = 0; i < n; ++i)
      p[i] = below ? gen() % below : i;
    return;
  }
  std::vector<float> some(4099);
  std::normal_distribution<float> normal;
  for (float &x : some)
    x = data == "positive" ? std::fabs(normal(gen)) + 0.1f : normal(gen);
  auto *p = memory.as<float>();
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

static void runOp(benchmark::State &state, const OpBench &bench) {
  auto f = bench.op->getParentOfType<func::FuncOp>();
  std::vector<std::unique_ptr<HugePages>> memory;
  SmallVector<void *> pointers;
  int64_t bytes = 0;
  auto add = [&](Value v) {
    auto type = cast<DTensorType>(v.getType());
    int64_t size = type.getLocalBytes(), touched = size;
    StringRef data;
    if (auto argument = dyn_cast<BlockArgument>(v)) {
      unsigned i = argument.getArgNumber();
      if (auto text = f.getArgAttrOfType<StringAttr>(i, "test.data"))
        data = text.getValue();
      if (auto n = f.getArgAttrOfType<IntegerAttr>(i, "test.bytes"))
        touched = n.getInt();
    }
    memory.push_back(std::make_unique<HugePages>(size));
    fill(*memory.back(), type, data);
    pointers.push_back(memory.back()->as<void>());
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
  HugePages scratch(bench.scratchBytes), from(bytes / 2), to(bytes / 2);
  pointers.push_back(table.data());
  pointers.push_back(scratch.as<void>());
  memset(from.as<void>(), 0, bytes / 2);
  Turns turns = takeTurns(
      state, [&] { callOpKernel(bench.kernel, pointers); },
      {[&] { copyOnThreads(to.as<char>(), from.as<char>(), bytes / 2); }});
  state.counters["GB/s"] = 1e-9 * bytes / median(turns.work);
  state.counters["of_copy"] = 1 / turns.medianRatio(0);
}

int main(int argc, char **argv) {
  parseOptions(argc, argv, "[--threads N] [FILE.mlir]");
  setThreads(threads);
  poisonWorkspace(false);

  KernelModule module;
  MLIRContext *context = module.builder().getContext();
  context->loadDialect<DTCDialect, func::FuncDialect>();
  auto ops = parseSourceFile<ModuleOp>(file, ParserConfig(context));
  if (!ops)
    return 1;
  std::vector<OpBench> benches;
  for (auto f : ops->getOps<func::FuncOp>()) {
    Operation *op = f.front().getTerminator()->getPrevNode();
    for (Type t :
         llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
      if (Type e = cast<DTensorType>(t).getElementType();
          !e.isF32() && !e.isInteger(32)) {
        op->emitError("has a tensor of ") << e << "; f32 and i32 are measured";
        return 1;
      }
    OpBench bench{f.getName().str(), op,
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
  for (OpBench &bench : benches) {
    bench.kernel = module.symbol(bench.name);
    benchmark::RegisterBenchmark(
        bench.name.c_str(),
        [&bench](benchmark::State &state) { runOp(state, bench); })
        ->UseManualTime()
        ->Iterations(100);
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
