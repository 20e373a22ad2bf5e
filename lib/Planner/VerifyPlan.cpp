//===- VerifyPlan.cpp - No two live buffers overlap -----------------------===//
//
// And nothing touches what a collective has in flight.
//
//===----------------------------------------------------------------------===//

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

/// The storage of a step lies below its frame, apart, but for what is in it.
static LogicalResult verifyArena(func::FuncOp step, const SymbolTable &symbols,
                                 ArrayRef<rt::StorageOp> storage) {
  auto top = step->getAttrOfType<IntegerAttr>(rt::attrs::frameOffset);
  auto arena = step->getAttrOfType<IntegerAttr>(rt::attrs::arenaBytes);
  auto frame = step->getAttrOfType<IntegerAttr>(rt::attrs::frameBytes);
  if (!top || !arena || arena.getInt() < top.getInt() + frame.getInt())
    return step.emitError("has no arena that holds its frame");
  Frame inFrame = Frame::get(step, symbols);
  llvm::DenseSet<Operation *> late(inFrame.ops.begin(), inFrame.ops.end());
  SmallVector<Operation *> ops;
  SmallVector<Lifetime> lives;
  for (rt::StorageOp op : storage) {
    if (late.contains(op))
      continue;
    ops.push_back(op);
    lives.push_back({rt::getAlignedBytes(op.getBufferType()), 0, 0,
                     int64_t(op.getOffset().value_or(-1))});
  }
  return verifyLifetimes(ops, lives, top.getInt());
}

namespace {
/// Checks that what is in flight is left alone until its wait.
class FlightChecker {
public:
  LogicalResult check(Block &block);

private:
  /// Bytes of one thing: a value, a storage, or a copy of a group.
  struct Range {
    const void *of;
    int64_t begin, end;
  };
  struct Flight {
    rt::StartOp start;
    int64_t begin, end;
    bool isWritten;
  };
  static Range getRange(Value buffer);
  void depart(rt::StartOp start, ValueRange buffers, bool isWritten);
  LogicalResult checkUse(Operation *op, Value buffer, bool writes);
  LogicalResult checkOp(Operation *op);

  llvm::DenseMap<const void *, SmallVector<Flight, 1>> flights;
};
} // namespace

FlightChecker::Range FlightChecker::getRange(Value buffer) {
  int64_t bytes = rt::getBytes(cast<MemRefType>(buffer.getType()));
  if (auto address = buffer.getDefiningOp<rt::AddressOp>())
    return {address.getStorageAttr().getAttr().getAsOpaquePointer(), 0, bytes};
  if (auto slot = buffer.getDefiningOp<rt::SlotOp>()) {
    auto begin = static_cast<int64_t>(slot.getOffset());
    return {slot.getIndexAttr().getAsOpaquePointer(), begin, begin + bytes};
  }
  return {buffer.getAsOpaquePointer(), 0, bytes};
}

void FlightChecker::depart(rt::StartOp start, ValueRange buffers,
                           bool isWritten) {
  for (Value v : buffers) {
    Range range = getRange(v);
    flights[range.of].push_back({start, range.begin, range.end, isWritten});
  }
}

LogicalResult FlightChecker::checkUse(Operation *op, Value buffer,
                                      bool writes) {
  Range range = getRange(buffer);
  for (Flight &flight : flights[range.of]) {
    if (range.end <= flight.begin || flight.end <= range.begin ||
        (!writes && !flight.isWritten))
      continue;
    InFlightDiagnostic diag = op->emitError(writes ? "writes" : "reads")
                              << " a buffer of the collective '"
                              << flight.start.getName()
                              << "', which is in flight";
    diag.attachNote(flight.start.getLoc()) << "it starts here";
    return diag;
  }
  return success();
}

LogicalResult FlightChecker::checkOp(Operation *op) {
  if (auto wait = dyn_cast<rt::WaitOp>(op)) {
    auto start = wait.getToken().getDefiningOp<rt::StartOp>();
    for (Value v : start.getOperands())
      llvm::erase_if(flights[getRange(v).of],
                     [&](Flight &f) { return f.start == start; });
    return success();
  }
  LogicalResult ok = success();
  rt::forEachBufferUse(op, [&](Value v, bool writes) {
    if (succeeded(ok))
      ok = checkUse(op, v, writes);
  });
  if (failed(ok))
    return failure();
  if (auto start = dyn_cast<rt::StartOp>(op)) {
    depart(start, start.getSend(), false);
    depart(start, start.getRecv(), true);
  }
  return success(llvm::all_of(op->getRegions(), [&](Region &region) {
    return llvm::all_of(region,
                        [&](Block &inner) { return succeeded(check(inner)); });
  }));
}

LogicalResult FlightChecker::check(Block &block) {
  for (Operation &op : block)
    if (failed(checkOp(&op)))
      return failure();
  return success();
}

LogicalResult dtc::verifyPlan(ModuleOp module) {
  SymbolTable symbols(module);
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func->hasAttr(rt::attrs::kernel) || func.isExternal())
      continue;
    auto bytes = func->getAttrOfType<IntegerAttr>(rt::attrs::frameBytes);
    if (!bytes)
      return func.emitError("has no frame: memory is not planned");
    if (failed(FlightChecker().check(func.getBody().front())))
      return failure();
    Frame frame = Frame::get(func, symbols);
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
    return succeeded(verifyArena(step, symbols, storage[rt::getStage(step)]));
  }));
}
