//===- PlanMemory.cpp - -dtc-plan-memory ----------------------------------===//

#include "Frame.h"
#include "dtc/Conversion/Passes.h"
#include "dtc/Planner/MemoryReport.h"
#include "dtc/Planner/Planner.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace dtc {
#define GEN_PASS_DEF_PLANMEMORY
#include "dtc/Conversion/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {
class ModulePlanner {
public:
  explicit ModulePlanner(ModuleOp module)
      : module(module), symbols(module), b(module) {}

  LogicalResult run() {
    for (auto func : module.getOps<func::FuncOp>())
      if (func->hasAttr(rt::attrs::step) ||
          (!func->hasAttr(rt::attrs::kernel) && !func.isExternal()))
        if (failed(planFrame(func)))
          return failure();
    numberSlots();
    auto storage = rt::getStorage(module);
    for (func::FuncOp step : rt::getSteps(module))
      planArena(step, storage[rt::getStage(step)]);
    return success();
  }

private:
  IntegerAttr attr(int64_t n) { return b.getI64IntegerAttr(n); }

  /// Callees first: their frames are part of the callers'.
  LogicalResult planFrame(func::FuncOp func) {
    if (frames.contains(func))
      return success();
    if (func.isExternal())
      return func.emitError("has no body: its frame is not known");
    if (!active.insert(func))
      return func.emitError("calls itself: its frame would have no end");
    WalkResult ok = func.walk([&](rt::CallOp call) {
      return WalkResult(planFrame(getCallee(call, symbols)));
    });
    if (ok.wasInterrupted())
      return failure();
    active.remove(func);

    Frame frame = Frame::get(func, symbols);
    int64_t bytes = allocate(frame.lifetimes);
    int64_t least = getLargestLiveBytes(frame.lifetimes);
    if (bytes > least + least / 20)
      func.emitWarning("the frame has ") << bytes << " bytes, of which at most "
                                         << least << " are live at once";
    for (auto [op, life] : llvm::zip_equal(frame.ops, frame.lifetimes)) {
      if (auto alloc = dyn_cast<rt::AllocOp>(op))
        alloc.setOffsetAttr(attr(life.offset));
      else if (auto call = dyn_cast<rt::CallOp>(op))
        call.setOffsetAttr(attr(life.offset));
      else // from the frame's begin, which is not known yet
        late[op] = life.offset;
    }
    func->setAttr(rt::attrs::frameBytes, attr(bytes));
    order.push_back(func);
    frames.try_emplace(func, std::move(frame));
    return success();
  }

  /// Callers first: what is in flight at a call keeps its slot in the callee.
  void numberSlots() {
    DenseMap<Operation *, int64_t> base;
    int64_t most = 0;
    for (func::FuncOp func : llvm::reverse(order)) {
      Frame &frame = frames.find(func)->second;
      int64_t low = base.lookup(func);
      int64_t count = allocate(frame.flights);
      most = std::max(most, low + count);
      for (auto [start, flight] : llvm::zip_equal(frame.starts, frame.flights))
        start.setSlotAttr(attr(low + flight.offset));
      for (auto [call, at] : frame.calls) {
        int64_t inFlight = low;
        for (const Lifetime &flight : frame.flights)
          if (flight.first <= at && at <= flight.last)
            inFlight = std::max(inFlight, low + flight.offset + 1);
        int64_t &callee = base[getCallee(call, symbols)];
        callee = std::max(callee, inFlight);
      }
    }
    module->setAttr(rt::attrs::slots, attr(most));
  }

  void planArena(func::FuncOp step, ArrayRef<rt::StorageOp> all) {
    int64_t top = 0;
    SmallVector<std::pair<StringRef, int64_t>> terms = {
        {"parameters", 0},         {"gradients", 0},
        {"optimizer state", 0},    {"inputs", 0},
        {"activations", 0},        {"communication buffers", 0},
        {"unused at the peak", 0},
    };
    for (rt::StorageOp storage : all) {
      if (late.contains(storage))
        continue;
      storage.setOffsetAttr(attr(top));
      int64_t bytes = rt::getAlignedBytes(storage.getBufferType());
      top += bytes;
      switch (storage.getKind()) {
      case rt::StorageKind::Param:
        terms[0].second += bytes;
        break;
      case rt::StorageKind::Grad:
        terms[1].second += bytes;
        break;
      case rt::StorageKind::Master:
      case rt::StorageKind::M:
      case rt::StorageKind::V:
        terms[2].second += bytes;
        break;
      default:
        terms[3].second += bytes;
      }
    }
    step->setAttr(rt::attrs::frameOffset, attr(top));
    int64_t frame =
        step->getAttrOfType<IntegerAttr>(rt::attrs::frameBytes).getInt();
    for (rt::StorageOp storage : all)
      if (auto it = late.find(storage); it != late.end())
        storage.setOffsetAttr(attr(top + it->second));
    // Of the frame what lives when most does.
    MemoryPeak peak = getMemoryPeak(step, symbols);
    using Kind = MemoryPeak::Buffer::Kind;
    terms[1].second += peak.getBytes(Kind::Gradient);
    terms[4].second = peak.getBytes(Kind::Activation);
    terms[5].second = peak.getBytes(Kind::Message);
    terms[6].second = frame - peak.getBytes();
    step->setAttr(rt::attrs::arenaBytes, attr(top + frame));
    SmallVector<Attribute> memory;
    for (auto [name, bytes] : terms)
      memory.push_back(b.getArrayAttr({b.getStringAttr(name), attr(bytes)}));
    step->setAttr(rt::attrs::memory, b.getArrayAttr(memory));
  }

  ModuleOp module;
  SymbolTable symbols;
  Builder b;
  DenseMap<Operation *, Frame> frames;
  DenseMap<Operation *, int64_t> late; // offsets of storage in the frame
  SmallVector<func::FuncOp> order;     // callees before callers
  llvm::SetVector<Operation *> active;
};

class PlanMemory : public dtc::impl::PlanMemoryBase<PlanMemory> {
public:
  using PlanMemoryBase::PlanMemoryBase;

  void runOnOperation() override {
    if (failed(planMemory(getOperation())))
      return signalPassFailure();
#ifndef NDEBUG
    check = true;
#endif
    if (check && failed(verifyPlan(getOperation())))
      return signalPassFailure();
    if (report) {
      printMemory(getOperation(), llvm::errs());
      for (func::FuncOp step : rt::getSteps(getOperation()))
        llvm::errs() << "  at most " << getLiveBytes(step)
                     << " live at once\n  the last buffer begins at "
                     << getLastBuffer(step) << "\n";
    }
  }
};
} // namespace

LogicalResult dtc::planMemory(ModuleOp module) {
  return ModulePlanner(module).run();
}

SmallVector<std::pair<StringRef, int64_t>>
dtc::getMemoryTerms(func::FuncOp step) {
  SmallVector<std::pair<StringRef, int64_t>> terms;
  if (auto memory = step->getAttrOfType<ArrayAttr>(rt::attrs::memory))
    for (auto term : memory.getAsRange<ArrayAttr>())
      terms.push_back({cast<StringAttr>(term[0]).getValue(),
                       cast<IntegerAttr>(term[1]).getInt()});
  return terms;
}

int64_t dtc::getWorkspaceBytes(ModuleOp module) {
  int64_t most = 0;
  module.walk([&](rt::WorkspaceOp op) {
    most = std::max(most, rt::getAlignedBytes(op.getBuffer().getType()));
  });
  return most;
}

void dtc::printMemory(ModuleOp module, raw_ostream &os) {
  SmallVector<func::FuncOp> steps = rt::getSteps(module);
  auto print = [&](StringRef name, auto getBytes) {
    os << llvm::format("  %-21s", name.str().c_str());
    for (func::FuncOp step : steps)
      os << llvm::format(" %15lld", static_cast<long long>(getBytes(step)));
    os << "\n";
  };
  if (steps.size() > 1)
    print("coordinate on pp", rt::getStage);
  if (steps.empty())
    return;
  // A lambda captures no structured binding before C++20.
  auto terms = getMemoryTerms(steps[0]);
  for (size_t i = 0; i < terms.size(); ++i)
    print(terms[i].first,
          [i](func::FuncOp step) { return getMemoryTerms(step)[i].second; });
  print("arena of a rank", [](func::FuncOp step) {
    return step->getAttrOfType<IntegerAttr>(rt::attrs::arenaBytes).getInt();
  });
  print("workspace of a thread",
        [&](func::FuncOp) { return getWorkspaceBytes(module); });
  print("snapshot, with --save", getSnapshotBytes);
}
