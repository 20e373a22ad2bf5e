//===- LowerRing.cpp - Rings of blocks to a loop of shifts ----------------===//
//
// A carried value has a buffer; one that travels has a second, in which the
// next block arrives while this one is computed with. The last iteration stands
// after the loop, since what nobody uses is not shifted once more.
//
//===----------------------------------------------------------------------===//

#include "LowerFunction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace dtc;

/// One start for all shifts of one element type; their buffers must be known.
Value FunctionLowering::startShifts(ArrayRef<ShiftOp> shifts) {
  MLIRContext *context = b.getContext();
  SmallVector<Value> send, recv;
  SmallVector<Attribute> blocks;
  for (ShiftOp shift : shifts) {
    send.push_back(bufferOf(shift.getX()));
    recv.push_back(bufferOf(shift.getResult()));
    int64_t n = cast<MemRefType>(send.back().getType()).getNumElements();
    blocks.push_back(rt::BlockAttr::get(context, {n, 1, 1, 1, 1}, false));
  }
  ShiftOp first = shifts.front();
  return rt::StartOp::create(
      b, first.getLoc(), rt::TokenType::get(context),
      rt::CollectiveKindAttr::get(context, rt::CollectiveKind::Shift),
      rt::ReductionAttr::get(context, rt::Reduction::Sum),
      first.getX().getType().getDims()[first.getDim()],
      b.getStringAttr((func.getName() + ": ring shift").str()),
      b.getArrayAttr(blocks), send, recv, IntegerAttr());
}

/// Lowers the body once, with arguments in `carried` and shifted values in
/// `arriving`.
LogicalResult FunctionLowering::lowerRingBody(RingOp ring,
                                              ArrayRef<Value> carried,
                                              ArrayRef<Value> arriving,
                                              bool isLast) {
  Block &body = ring.getBody().front();
  Operation *yield = body.getTerminator();
  for (auto [arg, buffer] : llvm::zip_equal(body.getArguments(), carried))
    buffers[arg] = buffer;

  // Shifts by when they may start (at once, or after the work that makes their
  // operand) and by element type.
  using Groups = llvm::MapVector<Type, SmallVector<ShiftOp>>;
  Groups early, late;
  DenseSet<Operation *> moved;
  for (auto [i, v] : llvm::enumerate(yield->getOperands())) {
    auto shift = v.getDefiningOp<ShiftOp>();
    if (!shift)
      continue;
    moved.insert(shift);
    if (isLast && !ring.needsLastShift(i))
      continue;
    buffers[shift.getResult()] = arriving[i];
    bool atOnce = isa<BlockArgument>(shift.getX());
    (atOnce ? early : late)[shift.getX().getType().getElementType()].push_back(
        shift);
  }
  SmallVector<Value> tokens;
  for (auto &[type, shifts] : early)
    tokens.push_back(startShifts(shifts));
  for (Operation &op : body.without_terminator()) {
    if (moved.contains(&op))
      continue;
    if (failed(lowerOp(op)))
      return failure();
  }
  for (auto &[type, shifts] : late)
    tokens.push_back(startShifts(shifts));
  for (Value token : tokens)
    rt::WaitOp::create(b, ring.getLoc(), token);

  // To where the next iteration, or what follows the ring, looks for it.
  for (auto [i, v] : llvm::enumerate(yield->getOperands())) {
    if (isLast && v.getDefiningOp<ShiftOp>() && !ring.needsLastShift(i))
      continue;
    Value from = bufferOf(v);
    if (from != carried[i])
      kernels.copy(b, ring.getLoc(), from, carried[i]);
  }
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
  if (ring.getBlocks() > 1) {
    auto constant = [&](int64_t n) -> Value {
      return arith::ConstantIndexOp::create(b, loc, n);
    };
    auto loop = scf::ForOp::create(
        b, loc, constant(0),
        constant(static_cast<int64_t>(ring.getBlocks()) - 1), constant(1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(loop.getBody()->getTerminator());
    if (failed(lowerRingBody(ring, carried, arriving, /*isLast=*/false)))
      return failure();
  }
  return lowerRingBody(ring, carried, arriving, /*isLast=*/true);
}
