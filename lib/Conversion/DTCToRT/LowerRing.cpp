//===- LowerRing.cpp - Rings of blocks to a loop of shifts ----------------===//
//
// A carried value has a buffer; one that travels has a second, in which the
// next block arrives while this one is computed with. What the body shifts as
// it came (keys) starts on its way when an iteration begins and is awaited when
// it ends. What the body makes (their gradients) is shifted when the next
// iteration begins, and awaited there by the first op that reads it: so both
// are on their way beside the computation of a block. The last iteration stands
// after the loop, since what nobody uses is not shifted once more; the first
// one stands before it where nothing was made yet that could be shifted.
//
//===----------------------------------------------------------------------===//

#include "LowerFunction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace dtc;

namespace {
/// Shifts of one element type, which are one bucket.
struct ShiftGroup {
  SmallVector<ShiftOp> shifts;
  SmallVector<Value> send, recv;
  /// The block's arguments that they make, for shifts of the iteration before.
  SmallVector<Value> arguments;

  Value start(OpBuilder &b, StringRef function) const {
    MLIRContext *context = b.getContext();
    SmallVector<Attribute> blocks;
    for (Value buffer : send) {
      int64_t n = cast<MemRefType>(buffer.getType()).getNumElements();
      blocks.push_back(rt::BlockAttr::get(context, {n, 1, 1, 1, 1}, false));
    }
    ShiftOp first = shifts.front();
    return rt::StartOp::create(
        b, first.getLoc(), rt::TokenType::get(context),
        rt::CollectiveKindAttr::get(context, rt::CollectiveKind::Shift),
        rt::ReductionAttr::get(context, rt::Reduction::Sum),
        first.getX().getType().getDims()[first.getDim()],
        b.getStringAttr((function + ": ring shift").str()),
        b.getArrayAttr(blocks), send, recv, IntegerAttr());
  }
};

class ShiftGroups {
public:
  void add(ShiftOp shift, Value send, Value recv, Value argument = {}) {
    ShiftGroup &group = groups[shift.getX().getType().getElementType()];
    group.shifts.push_back(shift);
    group.send.push_back(send);
    group.recv.push_back(recv);
    group.arguments.push_back(argument);
  }
  auto begin() const { return groups.begin(); }
  auto end() const { return groups.end(); }

private:
  llvm::MapVector<Type, ShiftGroup> groups;
};
} // namespace

/// The shift through which carried value i goes on, if its operand is made by
/// the body.
static ShiftOp getLateShift(RingOp ring, unsigned i) {
  Operation *yield = ring.getBody().front().getTerminator();
  auto shift = yield->getOperand(i).getDefiningOp<ShiftOp>();
  return shift && !isa<BlockArgument>(shift.getX()) ? shift : ShiftOp();
}

/// Lowers the body once. Values are carried from iteration to iteration in
/// `carried`, those that getLateShift finds before their shift.
LogicalResult FunctionLowering::lowerRingBody(RingOp ring,
                                              ArrayRef<Value> carried,
                                              ArrayRef<Value> arriving,
                                              bool isFirst, bool isLast) {
  Location loc = ring.getLoc();
  Block &body = ring.getBody().front();
  Operation *yield = body.getTerminator();
  for (auto [arg, buffer] : llvm::zip_equal(body.getArguments(), carried))
    buffers[arg] = buffer;

  ShiftGroups early, late;
  DenseSet<Operation *> moved;
  for (auto [i, v] : llvm::enumerate(yield->getOperands())) {
    auto shift = v.getDefiningOp<ShiftOp>();
    if (!shift)
      continue;
    moved.insert(shift);
    BlockArgument arg = body.getArgument(i);
    if (getLateShift(ring, i)) {
      if (isFirst)
        continue;
      buffers[arg] = arriving[i];
      late.add(shift, carried[i], arriving[i], arg);
    } else if (!isLast || ring.needsLastShift(i)) {
      buffers[shift.getResult()] = arriving[i];
      early.add(shift, carried[i], arriving[i]);
    }
  }
  SmallVector<Value> tokens;
  SmallVector<std::pair<Value, const ShiftGroup *>> pending;
  for (auto &[type, group] : early)
    tokens.push_back(group.start(b, func.getName()));
  for (auto &[type, group] : late)
    pending.push_back({group.start(b, func.getName()), &group});
  auto await = [&](function_ref<bool(const ShiftGroup &)> needs) {
    llvm::erase_if(pending, [&](auto &item) {
      if (!needs(*item.second))
        return false;
      rt::WaitOp::create(b, loc, item.first);
      return true;
    });
  };
  for (Operation &op : body.without_terminator()) {
    if (moved.contains(&op))
      continue;
    await([&](const ShiftGroup &group) {
      return llvm::any_of(op.getOperands(), [&](Value v) {
        return llvm::is_contained(group.arguments, values.getRoot(v));
      });
    });
    if (failed(lowerOp(op)))
      return failure();
  }
  await([](const ShiftGroup &) { return true; });
  for (Value token : tokens)
    rt::WaitOp::create(b, loc, token);

  // To where the next iteration, or what follows the ring, looks for it.
  ShiftGroups home;
  for (auto [i, v] : llvm::enumerate(yield->getOperands())) {
    bool isUsed = !isLast || ring.needsLastShift(i);
    Value from;
    if (ShiftOp shift = getLateShift(ring, i)) {
      from = bufferOf(shift.getX());
      if (isLast && isUsed) {
        Value to = from == carried[i] ? arriving[i] : carried[i];
        home.add(shift, from, to);
        from = to;
      }
    } else if (v.getDefiningOp<ShiftOp>() && !isUsed) {
      continue;
    } else {
      from = bufferOf(v);
    }
    if (isLast && getLateShift(ring, i))
      buffers[v] = from;
    else if (from != carried[i])
      kernels.copy(b, loc, from, carried[i]);
  }
  SmallVector<Value> last;
  for (auto &[type, group] : home)
    last.push_back(group.start(b, func.getName()));
  for (Value token : last)
    rt::WaitOp::create(b, loc, token);
  for (auto [i, v] : llvm::enumerate(yield->getOperands()))
    if (isLast && getLateShift(ring, i) && ring.needsLastShift(i) &&
        buffers[v] != carried[i])
      kernels.copy(b, loc, buffers[v], carried[i]);
  return success();
}

LogicalResult FunctionLowering::lowerRing(RingOp ring) {
  Location loc = ring.getLoc();
  Block &body = ring.getBody().front();
  for (auto shift : body.getOps<ShiftOp>()) {
    int64_t pieces =
        shift.getX().getType().getDims()[shift.getDim()].getProduct();
    if (pieces != static_cast<int64_t>(ring.getBlocks()))
      return shift.emitError("a ring of ")
             << ring.getBlocks() << " blocks on " << pieces
             << " ranks cannot be lowered to the runtime level";
    if (!llvm::is_contained(body.getTerminator()->getOperands(),
                            shift.getResult()))
      return shift.emitError("in a ring must be yielded");
  }

  SmallVector<Value> carried, arriving;
  for (auto [i, result] : llvm::enumerate(ring->getOpResults())) {
    auto type = rt::getLocalBufferType(cast<DTensorType>(result.getType()));
    Value home = destination(result);
    carried.push_back(home);
    arriving.push_back(
        ring.isTravelling(i)
            ? rt::AllocOp::create(b, loc, type, IntegerAttr()).getResult()
            : home);
    if (auto constant = ring.getInits()[i].getDefiningOp<ConstantOp>())
      rt::FillOp::create(b, loc, home, constant.getValueAttr());
    else
      kernels.copy(b, loc, bufferOf(ring.getInits()[i]), home);
  }
  auto blocks = static_cast<int64_t>(ring.getBlocks());
  bool hasLate = false;
  for (unsigned i = 0; i < ring.getNumResults(); ++i)
    hasLate |= static_cast<bool>(getLateShift(ring, i));
  if (blocks == 1)
    return lowerRingBody(ring, carried, arriving, /*isFirst=*/true,
                         /*isLast=*/true);
  int64_t before = 0;
  if (hasLate) {
    if (failed(lowerRingBody(ring, carried, arriving, /*isFirst=*/true,
                             /*isLast=*/false)))
      return failure();
    before = 1;
  }
  if (blocks - 1 > before) {
    auto constant = [&](int64_t n) -> Value {
      return arith::ConstantIndexOp::create(b, loc, n);
    };
    auto loop = scf::ForOp::create(b, loc, constant(before),
                                   constant(blocks - 1), constant(1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(loop.getBody()->getTerminator());
    if (failed(lowerRingBody(ring, carried, arriving, /*isFirst=*/false,
                             /*isLast=*/false)))
      return failure();
  }
  return lowerRingBody(ring, carried, arriving, /*isFirst=*/false,
                       /*isLast=*/true);
}
