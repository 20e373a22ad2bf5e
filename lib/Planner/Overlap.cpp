//===- Overlap.cpp - -dtc-overlap -----------------------------------------===//
//
// Where each op of a block touches each buffer is listed once, in order; where
// a wait or a start may go is then a search in the lists of its buffers. Waits
// move first: where starts may go depends on them.
//
//===----------------------------------------------------------------------===//

#include "dtc/Conversion/Passes.h"
#include "dtc/Dialect/RT/IR/RT.h"

namespace dtc {
#define GEN_PASS_DEF_OVERLAP
#include "dtc/Conversion/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

/// What stands for a buffer: two buffers with different keys are apart.
static const void *keyOf(Value buffer) {
  if (auto address = buffer.getDefiningOp<rt::AddressOp>())
    return address.getStorageAttr().getAttr().getAsOpaquePointer();
  // Slots of one group may lie over each other.
  if (auto slot = buffer.getDefiningOp<rt::SlotOp>())
    return slot.getIndexAttr().getAsOpaquePointer();
  if (auto argument = dyn_cast<BlockArgument>(buffer)) {
    auto func =
        dyn_cast<func::FuncOp>(argument.getParentBlock()->getParentOp());
    if (!func || !func.getArgAttr(argument.getArgNumber(), rt::attrs::noalias))
      return argument.getParentBlock();
  }
  return buffer.getAsOpaquePointer();
}

namespace {
/// The uses of every buffer in one block.
class BlockUses {
public:
  explicit BlockUses(Block &block) {
    for (Operation &op : block) {
      position[&op] = static_cast<int64_t>(ops.size());
      ops.push_back(&op);
      collect(&op);
    }
  }

  int64_t at(Operation *op) const { return position.lookup(op); }
  Operation *op(int64_t i) const { return ops[i]; }
  int64_t size() const { return static_cast<int64_t>(ops.size()); }

  /// The first use of the buffer behind `i` that may not come before its wait;
  /// size() if there is none.
  int64_t nextUse(Value buffer, int64_t i, bool readsToo) const {
    auto it = uses.find(keyOf(buffer));
    if (it != uses.end())
      for (auto u = llvm::upper_bound(
               it->second, i,
               [](int64_t x, const Use &use) { return x < use.at; });
           u != it->second.end(); ++u)
        if (readsToo || u->writes)
          return u->at;
    return size();
  }
  /// The last use before `i`; -1 if there is none.
  int64_t lastUse(Value buffer, int64_t i, bool readsToo) const {
    auto it = uses.find(keyOf(buffer));
    if (it == uses.end())
      return -1;
    auto u = llvm::lower_bound(
        it->second, i, [](const Use &use, int64_t x) { return use.at < x; });
    while (u != it->second.begin()) {
      --u;
      if (readsToo || u->writes)
        return u->at;
    }
    return -1;
  }

private:
  struct Use {
    int64_t at;
    bool writes;
  };
  void collect(Operation *op) {
    auto at = static_cast<int64_t>(ops.size()) - 1;
    op->walk([&](Operation *inner) {
      rt::forEachBufferUse(inner, [&](Value v, bool writes) {
        uses[keyOf(v)].push_back({at, writes});
      });
    });
  }

  llvm::DenseMap<Operation *, int64_t> position;
  SmallVector<Operation *> ops;
  llvm::DenseMap<const void *, SmallVector<Use, 2>> uses;
};
} // namespace

/// Ranks of different pipeline stages run different programs, in which a wait
/// could move past different others: theirs keep their order.
static bool mayMove(rt::StartOp start) {
  return llvm::none_of(start.getAxes().getAxes(),
                       [](const Axis &a) { return a.name == "pp"; });
}

static void delayWaits(Block &block) {
  BlockUses uses(block);
  for (int64_t i = 0; i < uses.size(); ++i) {
    auto wait = dyn_cast<rt::WaitOp>(uses.op(i));
    if (!wait)
      continue;
    auto start = wait.getToken().getDefiningOp<rt::StartOp>();
    if (!mayMove(start))
      continue;
    int64_t to = uses.size();
    for (Value v : start.getSend())
      to = std::min(to, uses.nextUse(v, i, /*readsToo=*/false));
    for (Value v : start.getRecv())
      to = std::min(to, uses.nextUse(v, i, /*readsToo=*/true));
    if (to == uses.size() && uses.op(to - 1)->hasTrait<OpTrait::IsTerminator>())
      --to;
    if (to == uses.size())
      wait->moveBefore(&block, block.end());
    else
      wait->moveBefore(uses.op(to));
  }
}

static void hastenGathers(Block &block) {
  BlockUses uses(block);
  // How many calls stand before each op, and where they are.
  SmallVector<int64_t> calls;
  llvm::DenseSet<Operation *> moved;
  for (int64_t i = 0; i < uses.size(); ++i) {
    Operation *op = uses.op(i);
    if (isa<rt::CallOp>(op))
      calls.push_back(i);
    auto start = dyn_cast<rt::StartOp>(op);
    if (!start || start.getKind() != rt::CollectiveKind::AllGather ||
        calls.empty() || !mayMove(start))
      continue;
    // Right before the call: what stands behind it may need more.
    int64_t from = calls.back() - 1;
    for (Value v : start.getSend())
      from = std::max(from, uses.lastUse(v, i, /*readsToo=*/false));
    for (Value v : start.getRecv())
      from = std::max(from, uses.lastUse(v, i, /*readsToo=*/true));
    for (Value v : start.getOperands())
      if (Operation *def = v.getDefiningOp();
          def && def->getBlock() == &block && !isa<rt::AllocOp>(def))
        from = std::max(from, uses.at(def));
    if (from + 1 >= i)
      continue;
    // What has moved away stands where it may be too early for this one.
    while (from + 1 < i && moved.contains(uses.op(from + 1)))
      ++from;
    if (from + 1 == i)
      continue;
    Operation *to = uses.op(from + 1);
    moved.insert(start);
    start->moveBefore(to);
    for (Value v : start.getOperands())
      if (auto alloc = v.getDefiningOp<rt::AllocOp>();
          alloc && alloc->getBlock() == &block && uses.at(alloc) > from) {
        moved.insert(alloc);
        alloc->moveBefore(start);
      }
  }
}

namespace {
struct OverlapPass : dtc::impl::OverlapBase<OverlapPass> {
  void runOnOperation() override {
    getOperation().walk([](func::FuncOp func) {
      if (func->hasAttr(rt::attrs::kernel) || func.isExternal())
        return;
      func->walk([](Operation *op) {
        for (Region &region : op->getRegions())
          for (Block &block : region) {
            delayWaits(block);
            hastenGathers(block);
          }
      });
    });
  }
};
} // namespace
