//===- Frame.cpp - What lies in a function's frame, and when --------------===//

#include "Frame.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace dtc;

func::FuncOp dtc::getCallee(rt::CallOp call) {
  return SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getCalleeAttr());
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
};
} // namespace

Frame Frame::get(func::FuncOp func) {
  Frame frame;
  Clock clock;
  clock.number(func.getBody().front());
  func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto alloc = dyn_cast<rt::AllocOp>(op)) {
      Lifetime life;
      life.bytes = rt::getAlignedBytes(alloc.getBuffer().getType());
      life.first = clock.end.size();
      life.last = -1;
      for (Operation *user : alloc.getBuffer().getUsers()) {
        // A use in a loop is a use for the whole loop.
        Operation *here = alloc->getBlock()->findAncestorOpInBlock(*user);
        life.first = std::min(life.first, clock.begin.lookup(here));
        life.last = std::max(life.last, clock.end.lookup(here));
        if (auto start = dyn_cast<rt::StartOp>(user))
          if (here == user)
            life.last =
                std::max(life.last, clock.end.lookup(Clock::waitOf(start)));
      }
      if (life.last < 0)
        life.first = life.last = clock.begin.lookup(op);
      life.offset = alloc.getOffset().value_or(-1);
      frame.ops.push_back(op);
      frame.lifetimes.push_back(life);
    } else if (auto call = dyn_cast<rt::CallOp>(op)) {
      int64_t at = clock.begin.lookup(op);
      frame.calls.push_back({call, at});
      auto bytes =
          getCallee(call)->getAttrOfType<IntegerAttr>(rt::attrs::frameBytes);
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
  return frame;
}
