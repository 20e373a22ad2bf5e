//===- Frame.cpp - What lies in a function's frame, and when --------------===//

#include "Frame.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace dtc;

func::FuncOp dtc::getCallee(rt::CallOp call, const SymbolTable &symbols) {
  return symbols.lookup<func::FuncOp>(call.getCalleeAttr().getAttr());
}

namespace {
struct Clock {
  DenseMap<Operation *, int64_t> begin, end;

  void number(Block &block) {
    for (Operation &op : block) {
      begin[&op] = begin.size();
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          number(inner);
      end[&op] = begin.size() - 1;
    }
  }
  static Operation *waitOf(rt::StartOp start) {
    return *start.getToken().getUsers().begin();
  }

  /// Of the buffer that the op makes; its last is -1 without uses.
  Lifetime getLifetime(Operation *op) {
    Value buffer = op->getResult(0);
    Lifetime life;
    life.bytes = rt::getAlignedBytes(cast<MemRefType>(buffer.getType()));
    life.first = static_cast<int64_t>(end.size());
    life.last = -1;
    for (Operation *user : buffer.getUsers()) {
      // A use in a loop is a use for the whole loop.
      Operation *here = op->getBlock()->findAncestorOpInBlock(*user);
      life.first = std::min(life.first, begin.lookup(here));
      life.last = std::max(life.last, end.lookup(here));
      if (auto start = dyn_cast<rt::StartOp>(user))
        if (here == user)
          life.last = std::max(life.last, end.lookup(waitOf(start)));
    }
    return life;
  }
};
} // namespace

/// Adds the storage that lies in the frame, from its first use on.
static void addStorage(func::FuncOp step, const SymbolTable &symbols,
                       Clock &clock, Frame &frame) {
  auto top = step->getAttrOfType<IntegerAttr>(rt::attrs::frameOffset);
  auto end = static_cast<int64_t>(clock.end.size());
  llvm::MapVector<Operation *, int64_t> firstUses;
  for (auto address : step.getBody().front().getOps<rt::AddressOp>()) {
    Operation *storage = symbols.lookup(address.getStorageAttr().getAttr());
    if (!storage->hasAttr(rt::attrs::gradient))
      continue;
    int64_t &first = firstUses.try_emplace(storage, end - 1).first->second;
    first = std::min(first, clock.getLifetime(address).first);
  }
  for (auto [op, first] : firstUses) {
    auto storage = cast<rt::StorageOp>(op);
    int64_t offset = -1;
    if (top && storage.getOffset())
      offset = static_cast<int64_t>(*storage.getOffset()) - top.getInt();
    frame.ops.push_back(op);
    frame.lifetimes.push_back(
        {rt::getAlignedBytes(storage.getBufferType()), first, end - 1, offset});
  }
}

Frame Frame::get(func::FuncOp func, const SymbolTable &symbols) {
  Frame frame;
  Clock clock;
  clock.number(func.getBody().front());
  func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto alloc = dyn_cast<rt::AllocOp>(op)) {
      Lifetime life = clock.getLifetime(op);
      if (life.last < 0)
        life.first = life.last = clock.begin.lookup(op);
      life.offset = alloc.getOffset().value_or(-1);
      frame.ops.push_back(op);
      frame.lifetimes.push_back(life);
    } else if (auto call = dyn_cast<rt::CallOp>(op)) {
      int64_t at = clock.begin.lookup(op);
      frame.calls.push_back({call, at});
      auto bytes = getCallee(call, symbols)
                       ->getAttrOfType<IntegerAttr>(rt::attrs::frameBytes);
      frame.ops.push_back(op);
      frame.lifetimes.push_back({bytes ? bytes.getInt() : 0, at, at,
                                 int64_t(call.getOffset().value_or(-1))});
    } else if (auto start = dyn_cast<rt::StartOp>(op)) {
      frame.starts.push_back(start);
      frame.flights.push_back({1, clock.begin.lookup(op),
                               clock.end.lookup(Clock::waitOf(start)),
                               int64_t(start.getSlot().value_or(-1))});
    }
  });
  if (func->hasAttr(rt::attrs::step))
    addStorage(func, symbols, clock, frame);
  return frame;
}
