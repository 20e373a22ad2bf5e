//===- PlanMemory.cpp - -dtc-plan-memory ----------------------------------===//

#include "Frame.h"
#include "dtc/Conversion/Passes.h"
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
  explicit ModulePlanner(ModuleOp module) : module(module), b(module) {}

  LogicalResult run() {
    for (auto func : module.getOps<func::FuncOp>())
      if (!func->hasAttr(rt::attrs::kernel) && !func.isExternal())
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
    if (!active.insert(func))
      return func.emitError("calls itself: its frame would have no end");
    WalkResult ok = func.walk([&](rt::CallOp call) {
      return WalkResult(planFrame(getCallee(call)));
    });
    if (ok.wasInterrupted())
      return failure();
    active.remove(func);

    Frame frame = Frame::get(func);
    int64_t bytes = allocate(frame.lifetimes);
    int64_t least = getLargestLiveBytes(frame.lifetimes);
    if (bytes > least + least / 20)
      func.emitWarning("the frame has ") << bytes << " bytes, of which at most "
                                         << least << " are live at once";
    for (auto [op, life] : llvm::zip_equal(frame.ops, frame.lifetimes)) {
      if (auto alloc = dyn_cast<rt::AllocOp>(op))
        alloc.setOffsetAttr(attr(life.offset));
      else
        cast<rt::CallOp>(op).setOffsetAttr(attr(life.offset));
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
        int64_t &callee = base[getCallee(call)];
        callee = std::max(callee, inFlight);
      }
    }
    module->setAttr(rt::attrs::slots, attr(most));
  }

  void planArena(func::FuncOp step, ArrayRef<rt::StorageOp> all) {
    int64_t top = 0;
    SmallVector<std::pair<StringRef, int64_t>> terms = {
        {"parameters", 0}, {"gradients", 0},   {"optimizer state", 0},
        {"inputs", 0},     {"activations", 0},
    };
    for (rt::StorageOp storage : all) {
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
    terms[4].second = frame;
    step->setAttr(rt::attrs::arenaBytes, attr(top + frame));
    SmallVector<Attribute> memory;
    for (auto [name, bytes] : terms)
      memory.push_back(b.getArrayAttr({b.getStringAttr(name), attr(bytes)}));
    step->setAttr(rt::attrs::memory, b.getArrayAttr(memory));
  }

  ModuleOp module;
  Builder b;
  DenseMap<Operation *, Frame> frames;
  SmallVector<func::FuncOp> order; // callees before callers
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
  auto column = [&](int64_t bytes) {
    os << llvm::format(" %15lld", static_cast<long long>(bytes));
  };
  if (steps.size() > 1) {
    os << llvm::format("  %-18s", "coordinate on pp");
    for (func::FuncOp step : steps)
      column(rt::getStage(step));
    os << "\n";
  }
  SmallVector<SmallVector<std::pair<StringRef, int64_t>>> terms;
  for (func::FuncOp step : steps)
    terms.push_back(getMemoryTerms(step));
  if (terms.empty())
    return;
  SmallVector<int64_t> sums(steps.size());
  for (size_t i = 0; i < terms[0].size(); ++i) {
    os << llvm::format("  %-18s", terms[0][i].first.str().c_str());
    for (auto [of, sum] : llvm::zip_equal(terms, sums)) {
      column(of[i].second);
      sum += of[i].second;
    }
    os << "\n";
  }
  os << llvm::format("  %-18s", "arena of a rank");
  llvm::for_each(sums, column);
  os << llvm::format("\n  %-18s", "save snapshot");
  for (func::FuncOp step : steps)
    column(getSnapshotBytes(step));
  os << " with --save\n";
}
