//===- Buffers.cpp - Which values share a buffer --------------------------===//

#include "Buffers.h"

using namespace mlir;
using namespace dtc;

Value dtc::getAliasedOperand(Operation *op) {
  if (isa<FOp, AsOneOp>(op))
    return op->getOperand(0);
  // The whole of the local rows.
  if (auto part = dyn_cast<MicroBatchOp>(op))
    if (part.getCount() == 1)
      return part.getX();
  return {};
}

Value Buffers::getRoot(Value v) const {
  Value root = aliasOf.lookup(v);
  return root ? root : v;
}

/// Numbers ops in program order; an op with a region spans its body.
void Buffers::number(Block &block) {
  for (Operation &op : block) {
    begin[&op] = begin.size();
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        number(inner);
    end[&op] = begin.size() - 1;
    if (Value operand = getAliasedOperand(&op))
      aliasOf[op.getResult(0)] = getRoot(operand);
  }
}

int64_t Buffers::getPosition(Value root) const {
  Operation *def = root.getDefiningOp();
  return def ? begin.lookup(def) : -1;
}

std::optional<unsigned> Buffers::getInPlace(Operation *op, unsigned r) const {
  std::optional<unsigned> operand;
  if (auto kernel = dyn_cast<KernelOpInterface>(op)) {
    operand = kernel.getInPlaceOperand(r);
  } else if (auto collective = dyn_cast<CollectiveOpInterface>(op)) {
    switch (collective.getSpec().kind) {
    case CollectiveKind::G:
    case CollectiveKind::AllReduce:
    case CollectiveKind::ReduceMax:
    case CollectiveKind::KeepFirst:
    case CollectiveKind::KeepFirstReplicated:
      operand = 0;
      break;
    default:
      break;
    }
  }
  if (!operand)
    return std::nullopt;
  Value root = getRoot(op->getOperand(*operand));
  Value result = op->getResult(r);
  Operation *def = root.getDefiningOp();
  // Arguments belong to the caller, but for those that a ring carries; and what
  // a loop reads from outside is needed again.
  bool isOwned = def || isa<RingOp>(root.getParentBlock()->getParentOp());
  if (!isOwned || root.getParentBlock() != op->getBlock() ||
      rt::getLocalBufferType(cast<DTensorType>(root.getType())) !=
          rt::getLocalBufferType(cast<DTensorType>(result.getType())) ||
      lastUse.lookup_or(root, -1) != begin.lookup(op))
    return std::nullopt;
  if (llvm::count_if(op->getOperands(),
                     [&](Value v) { return getRoot(v) == root; }) != 1)
    return std::nullopt;
  // A value in a place must not be overwritten by one that belongs elsewhere.
  auto place = reads.find(root);
  Place from = place != reads.end() ? place->second : getPlace(root);
  if (from != nowhere && from != getPlace(result))
    return std::nullopt;
  return operand;
}

/// Whether nothing that the place holds before is needed once `root` is
/// computed: it may then be computed there.
bool Buffers::isFree(Place place, Value root) const {
  auto it = readsOf.find(place);
  if (it == readsOf.end())
    return true;
  Operation *def = root.getDefiningOp();
  for (Value read : it->second) {
    int64_t last = lastUse.lookup_or(read, -1);
    if (last < begin.lookup(def))
      continue;
    // The producer itself may read it, element by element.
    unsigned result = cast<OpResult>(root).getResultNumber();
    auto kernel = dyn_cast<KernelOpInterface>(def);
    std::optional<unsigned> operand =
        kernel ? kernel.getInPlaceOperand(result) : std::nullopt;
    if (last != begin.lookup(def) || !operand ||
        getRoot(def->getOperand(*operand)) != read ||
        llvm::count_if(def->getOperands(),
                       [&](Value v) { return getRoot(v) == read; }) != 1)
      return false;
  }
  return true;
}

void Buffers::fix(Value root, Place place) {
  // And, where ops work in place, the values that it is made of.
  while (true) {
    fixed[root] = place;
    Operation *def = root.getDefiningOp();
    std::optional<unsigned> operand;
    if (!isa<MicroBatchesOp>(def))
      operand = getInPlace(def, cast<OpResult>(root).getResultNumber());
    if (!operand)
      return;
    root = getRoot(def->getOperand(*operand));
    if (reads.contains(root) || fixed.contains(root) || !isFree(place, root))
      return;
  }
}

void Buffers::analyze() {
  number(func.getBody().front());
  auto use = [&](OpOperand &operand) {
    Value root = getRoot(operand.get());
    Block *home = root.getParentBlock();
    Operation *user = home->findAncestorOpInBlock(*operand.getOwner());
    int64_t at =
        user == operand.getOwner() ? begin.lookup(user) : end.lookup(user);
    int64_t &last = lastUse.try_emplace(root, -1).first->second;
    last = std::max(last, at);
  };
  func.walk([&](Operation *op) {
    if (!getAliasedOperand(op))
      for (OpOperand &operand : op->getOpOperands())
        if (isa<DTensorType>(operand.get().getType()))
          use(operand);
  });
  for (auto [value, place] : reads)
    readsOf[place].push_back(value);

  llvm::DenseMap<Place, int> written;
  for (const Target &t : targets)
    ++written[t.place];
  for (const Target &t : targets) {
    Value root = getRoot(t.value);
    Operation *def = root.getDefiningOp();
    if (!def || def->getBlock() != &func.getBody().front() ||
        reads.contains(root) || fixed.contains(root) || written[t.place] > 1 ||
        !isFree(t.place, root))
      continue;
    fix(root, t.place);
  }
}
