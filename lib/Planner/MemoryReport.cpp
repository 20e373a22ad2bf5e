//===- MemoryReport.cpp - Where a plan's bytes are ------------------------===//

#include "dtc/Planner/MemoryReport.h"
#include "Frame.h"
#include "dtc/Planner/Planner.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace mlir;
using namespace dtc;

int64_t MemoryPeak::getBytes(Buffer::Kind kind) const {
  int64_t sum = 0;
  for (const Buffer &b : buffers)
    if (b.kind == kind)
      sum += b.bytes;
  return sum;
}

int64_t MemoryPeak::getBytes() const {
  int64_t sum = 0;
  for (const Buffer &b : buffers)
    sum += b.bytes;
  return sum;
}

static MemoryPeak::Buffer::Kind getKind(rt::AllocOp alloc) {
  if (alloc->hasAttr(rt::attrs::gradient))
    return MemoryPeak::Buffer::Gradient;
  Value buffer = alloc.getBuffer();
  bool message = llvm::any_of(buffer.getUsers(), [&](Operation *user) {
    auto start = dyn_cast<rt::StartOp>(user);
    if (!start)
      return false;
    bool sent = llvm::is_contained(start.getSend(), buffer);
    // Of what a reduce_scatter sends nobody reads more than the piece.
    return sent ? start.getKind() == rt::CollectiveKind::ReduceScatter
                : llvm::is_contained(start.getRecv(), buffer);
  });
  return message ? MemoryPeak::Buffer::Message : MemoryPeak::Buffer::Activation;
}

/// The first op, in program order, that writes the buffer.
static std::string describe(rt::AllocOp alloc) {
  Value buffer = alloc.getBuffer();
  Operation *first = nullptr;
  for (Operation *user : buffer.getUsers()) {
    Operation *here = alloc->getBlock()->findAncestorOpInBlock(*user);
    if (!first || here->isBeforeInBlock(first))
      first = here;
  }
  if (!first)
    return "nothing";
  auto index = [&](OperandRange results) {
    return llvm::find(results, buffer) - results.begin();
  };
  if (alloc->hasAttr(rt::attrs::gradient))
    return "sum of a gradient over micro-batches";
  if (auto call = dyn_cast<rt::CallOp>(first))
    return ("result #" + Twine(index(call.getOuts())) + " of @" +
            call.getCallee())
        .str();
  if (auto launch = dyn_cast<rt::LaunchOp>(first))
    return ("@" + launch.getKernel()).str();
  if (auto start = dyn_cast<rt::StartOp>(first))
    return start.getName().str();
  if (isa<rt::PipelineOp>(first))
    return "what stages keep and exchange";
  return first->getName().getStringRef().str();
}

namespace {
class PeakFinder {
public:
  explicit PeakFinder(const SymbolTable &symbols) : symbols(symbols) {}
  void add(func::FuncOp func, MemoryPeak &peak);

private:
  /// The largest sum of live bytes in a function, and when it is.
  struct Top {
    int64_t bytes = 0, at = 0;
  };
  Top find(func::FuncOp func);
  const SymbolTable &symbols;
  std::map<Operation *, Top> known;
};
} // namespace

PeakFinder::Top PeakFinder::find(func::FuncOp func) {
  if (auto it = known.find(func); it != known.end())
    return it->second;
  Frame frame = Frame::get(func, symbols);
  // Bytes that begin and end to live, by time.
  std::map<int64_t, int64_t> changes;
  for (auto [op, life] : llvm::zip_equal(frame.ops, frame.lifetimes)) {
    int64_t bytes = life.bytes;
    if (auto call = dyn_cast<rt::CallOp>(op))
      bytes = find(getCallee(call, symbols)).bytes;
    changes[life.first] += bytes;
    changes[life.last + 1] -= bytes;
  }
  Top top;
  int64_t live = 0;
  for (auto [at, change] : changes) {
    live += change;
    if (live > top.bytes)
      top = {live, at};
  }
  return known[func] = top;
}

void PeakFinder::add(func::FuncOp func, MemoryPeak &peak) {
  Top top = find(func);
  Frame frame = Frame::get(func, symbols);
  rt::CallOp inside;
  for (auto [op, life] : llvm::zip_equal(frame.ops, frame.lifetimes)) {
    if (top.at < life.first || life.last < top.at)
      continue;
    if (auto call = dyn_cast<rt::CallOp>(op)) {
      inside = call;
      continue;
    }
    if (auto storage = dyn_cast<rt::StorageOp>(op)) {
      peak.buffers.push_back({life.bytes,
                              "gradient of " + storage.getOf().str(),
                              op->getLoc(), MemoryPeak::Buffer::Gradient});
      continue;
    }
    auto alloc = cast<rt::AllocOp>(op);
    peak.buffers.push_back(
        {life.bytes, describe(alloc), alloc.getLoc(), getKind(alloc)});
  }
  int64_t now = 0;
  Operation *here = nullptr;
  func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != func && now++ == top.at)
      here = op;
  });
  if (here)
    peak.at.insert(peak.at.begin(), here);
  if (inside)
    add(getCallee(inside, symbols), peak);
}

MemoryPeak dtc::getMemoryPeak(func::FuncOp step, const SymbolTable &symbols) {
  MemoryPeak peak;
  PeakFinder(symbols).add(step, peak);
  return peak;
}

static void printPlace(Location where, raw_ostream &os) {
  if (auto place = where->findInstanceOf<FileLineColLoc>())
    os << " (" << place.getFilename().getValue() << ":" << place.getLine()
       << ":" << place.getColumn() << ")";
}

static void printPeak(func::FuncOp step, const MemoryPeak &peak, unsigned count,
                      raw_ostream &os) {
  os << "the peak is in @";
  for (Operation *op : peak.at)
    if (op == peak.at.front())
      os << op->getParentOfType<func::FuncOp>().getName();
  if (!peak.at.empty()) {
    Operation *op = peak.at.front();
    if (auto launch = dyn_cast<rt::LaunchOp>(op))
      os << " at @" << launch.getKernel();
    else
      os << " at " << op->getName();
    printPlace(op->getLoc(), os);
  }
  os << "; largest buffers then:\n";
  // Equal ones in the order of the program.
  SmallVector<const MemoryPeak::Buffer *> sorted;
  for (const MemoryPeak::Buffer &buffer : peak.buffers)
    sorted.push_back(&buffer);
  llvm::sort(sorted, [](const auto *a, const auto *b) {
    return std::tie(b->bytes, a) < std::tie(a->bytes, b);
  });
  if (sorted.size() > count)
    sorted.truncate(count);
  for (const MemoryPeak::Buffer *buffer : sorted) {
    os << llvm::format("  %15lld  ", static_cast<long long>(buffer->bytes))
       << buffer->what;
    printPlace(buffer->where, os);
    os << "\n";
  }
}

void dtc::printMemoryReport(ModuleOp module, unsigned count, raw_ostream &os) {
  printMemory(module, os);
  os << "outside of the plan: the program and its libraries (libc, OpenMP, "
        "MPI)\n";
  SymbolTable symbols(module);
  SmallVector<func::FuncOp> steps = rt::getSteps(module);
  for (func::FuncOp step : steps) {
    if (steps.size() > 1)
      os << "pp=" << rt::getStage(step) << ": ";
    printPeak(step, getMemoryPeak(step, symbols), count, os);
  }
}
