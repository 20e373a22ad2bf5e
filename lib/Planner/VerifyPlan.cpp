//===- VerifyPlan.cpp - No two live buffers overlap -----------------------===//

#include "Frame.h"
#include "dtc/Planner/Planner.h"

using namespace mlir;
using namespace dtc;

/// All of `lives` lie in [0, bytes), apart where they live together.
static LogicalResult verifyLifetimes(ArrayRef<Operation *> ops,
                                     ArrayRef<Lifetime> lives, int64_t bytes) {
  for (auto [op, life] : llvm::zip_equal(ops, lives)) {
    if (life.offset < 0)
      return op->emitError("has no place: memory is not planned");
    if (life.offset + life.bytes > bytes)
      return op->emitError("lies at ")
             << life.offset << " with " << life.bytes
             << " bytes, outside of the " << bytes << " that there are";
  }
  if (auto pair = findOverlap(lives)) {
    auto [a, b] = *pair;
    InFlightDiagnostic diag = ops[b]->emitError("overlaps another buffer that "
                                                "lives at the same time: [")
                              << lives[b].offset << ", "
                              << lives[b].offset + lives[b].bytes << ")";
    diag.attachNote(ops[a]->getLoc())
        << "the other: [" << lives[a].offset << ", "
        << lives[a].offset + lives[a].bytes << ")";
    return diag;
  }
  return success();
}

/// The storage of a step lies below its frame, apart.
static LogicalResult verifyArena(func::FuncOp step,
                                 ArrayRef<rt::StorageOp> storage) {
  auto top = step->getAttrOfType<IntegerAttr>(rt::attrs::frameOffset);
  auto arena = step->getAttrOfType<IntegerAttr>(rt::attrs::arenaBytes);
  auto frame = step->getAttrOfType<IntegerAttr>(rt::attrs::frameBytes);
  if (!top || !arena || arena.getInt() < top.getInt() + frame.getInt())
    return step.emitError("has no arena that holds its frame");
  SmallVector<Operation *> ops;
  SmallVector<Lifetime> lives;
  for (rt::StorageOp op : storage) {
    ops.push_back(op);
    lives.push_back({rt::getAlignedBytes(op.getBufferType()), 0, 0,
                     int64_t(op.getOffset().value_or(-1))});
  }
  return verifyLifetimes(ops, lives, top.getInt());
}

LogicalResult dtc::verifyPlan(ModuleOp module) {
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func->hasAttr(rt::attrs::kernel) || func.isExternal())
      continue;
    auto bytes = func->getAttrOfType<IntegerAttr>(rt::attrs::frameBytes);
    if (!bytes)
      return func.emitError("has no frame: memory is not planned");
    Frame frame = Frame::get(func);
    if (failed(verifyLifetimes(frame.ops, frame.lifetimes, bytes.getInt())))
      return failure();
    for (auto [start, flight] : llvm::zip_equal(frame.starts, frame.flights))
      if (flight.offset < 0)
        return start.emitError("has no slot");
    if (auto pair = findOverlap(frame.flights))
      return frame.starts[pair->second].emitError(
          "has the slot of another collective in flight");
  }
  auto storage = rt::getStorage(module);
  return success(llvm::all_of(rt::getSteps(module), [&](func::FuncOp step) {
    return succeeded(verifyArena(step, storage[rt::getStage(step)]));
  }));
}
