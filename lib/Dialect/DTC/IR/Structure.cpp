//===- Structure.cpp - Parameters and micro-batches -----------------------===//

#include "dtc/Dialect/DTC/IR/DTC.h"
#include "dtc/Dialect/DTC/IR/KernelBuilder.h"

using namespace mlir;
using namespace dtc;

//===----------------------------------------------------------------------===//
// ParamOp
//===----------------------------------------------------------------------===//

void ParamOp::getFlatView(int64_t &offset, SmallVectorImpl<int64_t> &strides) {
  AffineMap map = getView();
  ArrayRef<int64_t> shape = getStoredShape();
  auto flat = [&](ArrayRef<int64_t> index) {
    int64_t at = 0;
    for (auto [n, i] : llvm::zip_equal(shape, map.compose(index)))
      at = at * n + i;
    return at;
  };
  SmallVector<int64_t> index(map.getNumDims(), 0);
  offset = flat(index);
  strides.clear();
  for (int64_t &i : index) {
    i = 1;
    strides.push_back(flat(index) - offset);
    i = 0;
  }
}

Type ParamOp::getSlotElementType(Slot slot) {
  Type element = getTensorType().getElementType();
  if (slot == Slot::Param)
    return element;
  if (slot == Slot::Grad)
    return getGradType().value_or(element);
  return getWideType(element);
}

/// Invariant or shard on every axis: what is kept between steps.
static bool isBoundaryType(DTensorType t) {
  return t.getPartial().empty() && t.getMax().empty() &&
         t.getReplicate().empty();
}

LogicalResult ParamOp::verify() {
  DTensorType type = getTensorType();
  if (!isBoundaryType(type))
    return emitOpError("must be invariant or shard on every axis, but is ")
           << type;
  if (getStored().empty())
    return emitOpError("the stored tensor needs a name");
  AffineMap map = getView();
  int64_t rank = type.getRank();
  if (map.getNumDims() != rank || map.getNumSymbols() != 0 ||
      map.getNumResults() != getStoredShape().size())
    return emitOpError("view must map ")
           << rank << " indices to " << getStoredShape().size();
  for (AffineExpr e : map.getResults())
    if (!e.isPureAffine() ||
        e.walk([](AffineExpr x) {
           return x.getKind() == AffineExprKind::Mod ||
                          x.getKind() == AffineExprKind::FloorDiv ||
                          x.getKind() == AffineExprKind::CeilDiv
                      ? WalkResult::interrupt()
                      : WalkResult::advance();
         }).wasInterrupted())
      return emitOpError("view must be affine in every index, but is ")
             << getViewAttr();
  // The extremes of an affine map lie at the corners: take each stored index's
  // smallest and largest value, one view index at a time.
  SmallVector<int64_t> index(rank, 0);
  const SmallVector<int64_t> start = map.compose(index);
  SmallVector<int64_t> low = start, high = start;
  for (int64_t d = 0; d < rank; ++d) {
    index[d] = 1;
    for (auto [i, next] : llvm::enumerate(map.compose(index))) {
      int64_t stride, delta;
      if (llvm::SubOverflow(next, start[i], stride) ||
          llvm::MulOverflow(stride, type.getShape()[d] - 1, delta) ||
          llvm::AddOverflow(delta, (delta < 0 ? low : high)[i],
                            (delta < 0 ? low : high)[i]))
        return emitOpError("view reaches further than 2^63 in dimension ") << i;
    }
    index[d] = 0;
  }
  if (!isCountable(getStoredShape()))
    return emitOpError("the stored tensor has more than 2^50 elements");
  for (auto [i, n] : llvm::enumerate(getStoredShape()))
    if (n <= 0 || low[i] < 0 || high[i] >= n)
      return emitOpError("view reaches [")
             << low[i] << ", " << high[i] << "] in dimension " << i
             << " of the stored tensor, which has " << n;
  if (getDims().size() != static_cast<size_t>(rank))
    return emitOpError("dims must name ") << rank << " dimensions";
  if (getInit() != "normal" && getInit() != "zeros" && getInit() != "ones")
    return emitOpError("init must be normal, zeros or ones, but is '")
           << getInit() << "'";
  double std = getStd().convertToDouble();
  if (!(std >= 0) || !std::isfinite(std))
    return emitOpError("std must be finite and not negative");
  if (std::optional<Type> grad = getGradType()) {
    if (!grad->isBF16() && !grad->isF32())
      return emitOpError("grad_type must be bf16 or f32, but is ") << *grad;
    if (!type.getElementType().isBF16())
      return emitOpError("grad_type is for parameters of bf16, not ")
             << type.getElementType();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// ReadOp, WriteOp
//===----------------------------------------------------------------------===//

static LogicalResult verifySlot(Operation *op, SymbolTableCollection &symbols,
                                FlatSymbolRefAttr name, Slot slot,
                                DTensorType type) {
  auto param = symbols.lookupNearestSymbolFrom<ParamOp>(op, name);
  if (!param)
    return op->emitOpError() << name << " is not a dtc.param";
  DTensorType want = param.getTensorType();
  if (slot == Slot::Param
          ? type != want
          : type.getShape() != want.getShape() || !isBoundaryType(type))
    return op->emitOpError("has type ")
           << type << " but " << name << " is " << want;
  if (slot == Slot::Master && !param.hasMaster())
    return op->emitOpError() << name << " has no master: it is "
                             << want.getElementType() << ", not bf16";
  if (Type element = param.getSlotElementType(slot);
      type.getElementType() != element)
    return op->emitOpError("has elements of type ")
           << type.getElementType() << ", but " << stringifySlot(slot) << " of "
           << name << " has " << element;
  return success();
}

LogicalResult ReadOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifySlot(*this, symbols, getParamAttr(), getSlot(), getType());
}

LogicalResult WriteOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifySlot(*this, symbols, getParamAttr(), getSlot(),
                    getValue().getType());
}

//===----------------------------------------------------------------------===//
// MicroBatchesOp, MicroBatchOp
//===----------------------------------------------------------------------===//

LogicalResult MicroBatchesOp::verify() {
  if (getCount() < 1)
    return emitOpError("count must be positive");
  Block &body = getBody().front();
  auto scalar = DTensorType::get({}, IntegerType::get(getContext(), 32));
  if (body.getNumArguments() != 1 || body.getArgument(0).getType() != scalar)
    return emitOpError("body must have one argument of type ") << scalar;
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (!yield || yield.getOperandTypes() != getResultTypes())
    return emitOpError("yielded types must be the result types");
  for (Type t : getResultTypes())
    if (!cast<DTensorType>(t).getMax().empty())
      return emitOpError("may not yield a max placement: ") << t;
  return success();
}

LogicalResult MicroBatchesOp::verifySymbolUses(SymbolTableCollection &symbols) {
  FlatSymbolRefAttr name = getScheduleAttr();
  if (!name)
    return success();
  auto schedule = symbols.lookupNearestSymbolFrom<ScheduleOp>(*this, name);
  if (!schedule)
    return emitOpError() << name << " is not a dtc.schedule";
  llvm::Expected<schedule::Schedule> lists = schedule.getSchedule();
  if (!lists) {
    llvm::consumeError(lists.takeError()); // the schedule's own error
    return success();
  }
  if (lists->microBatches != static_cast<int64_t>(getCount()))
    return emitOpError("runs ") << getCount() << " micro-batches, but " << name
                                << " is for " << lists->microBatches;
  return success();
}

FactorRule MicroBatchOp::getFactorRule() {
  // The batch is (parts p, micro-batch m, rows r); m is chosen, so nothing may
  // cut it.
  auto rank = static_cast<unsigned>(getX().getType().getRank());
  std::string rest = rank > 1 ? " " + dimLetters(rank - 1) : "";
  FactorRule rule = FactorRule::get(*this, {"pmr" + rest, ""}, {"pr" + rest},
                                    {{'p', getParts()}, {'m', getCount()}});
  return rule.whole("m");
}

LogicalResult MicroBatchOp::verify() {
  DTensorType x = getX().getType();
  uint64_t batch = x.getRank() < 1 ? 0 : x.getShape()[0];
  if (batch == 0 || getParts() < 1 || getCount() < 1 ||
      batch % getParts() != 0 || batch / getParts() % getCount() != 0)
    return emitOpError("parts ") << getParts() << " times count " << getCount()
                                 << " must divide the batch";
  if (getM().getType().getRank() != 0 ||
      !getM().getType().getElementType().isInteger(32) ||
      getResult().getType().getElementType() != x.getElementType())
    return emitOpError("m must be an i32 scalar, and the element type be kept");
  int64_t k = x.getDims()[0].getProduct();
  if (k != 1 && k != static_cast<int64_t>(getParts()))
    return emitOpError("the batch is cut in ")
           << k << " pieces, but parts is " << getParts();
  return success();
}

SmallVector<Array> MicroBatchOp::interpret(const FactorPiece &piece,
                                           ArrayRef<Array> operands) {
  const Array &x = operands[0];
  int64_t parts = piece.length('p'), rows = piece.length('r');
  auto m = static_cast<int64_t>(operands[1][0]);
  Array y(piece.resultShape(0));
  int64_t inner = y.count() / (parts * rows);
  for (int64_t p = 0; p < parts; ++p)
    for (int64_t i = 0; i < rows * inner; ++i)
      y[p * rows * inner + i] =
          x[(p * static_cast<int64_t>(getCount()) + m) * rows * inner + i];
  return {y};
}
