//===- PartitionOptimizer.cpp - Gradient norm, clipping, AdamW ------------===//

#include "Program.h"
#include "dtc/Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"

namespace dtc {
#define GEN_PASS_DEF_PARTITIONOPTIMIZER
#include "dtc/Transforms/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

class PartitionOptimizerImpl {
public:
  explicit PartitionOptimizerImpl(ModuleOp module)
      : module(module), symbols(module), b(module.getContext()) {}
  LogicalResult run();

private:
  struct Gradient {
    ParamOp param;
    Value value;
    DTensorType getType() const { return cast<DTensorType>(value.getType()); }
  };

  LogicalResult collect();
  Value addInput();
  Value sumOfSquares();
  FailureOr<Value> readForUpdate(ParamOp param, DTensorType type);
  LogicalResult update(Gradient &g, ClipOp clip, Value scalars);
  Value replicated(Value scalar, ArrayRef<Axis> axes);
  Value add(Location loc, Value x, Value y) {
    return AddOp::create(b, loc, x.getType(), x, y, DenseI64ArrayAttr());
  }

  ModuleOp module;
  SymbolTable symbols;
  OpBuilder b;
  func::FuncOp step;
  unsigned loss = 0, labels = 0;
  SmallVector<Gradient> gradients;
  llvm::DenseMap<StringAttr, Value> reads;
  llvm::DenseMap<std::pair<Value, Attribute>, Value> copies;
  /// Of gradients, and of scalars.
  Type elementType, scalarType;
};

} // namespace

/// The gradients that the step writes, and the parameters that it has read.
LogicalResult PartitionOptimizerImpl::collect() {
  FailureOr<func::FuncOp> found = getPublicFunction(module);
  if (failed(found))
    return failure();
  step = *found;
  auto output = [&](StringRef name, unsigned &index) -> LogicalResult {
    std::optional<unsigned> i = findOutput(step, name);
    if (!i)
      return emitError(step.getLoc(), "has no output named \"") << name << "\"";
    index = *i;
    return success();
  };
  if (failed(output("loss", loss)) || failed(output("labels", labels)))
    return failure();
  for (unsigned i = 0; i < step.getNumArguments(); ++i)
    if (auto name = step.getArgAttrOfType<StringAttr>(i, attrs::input))
      if (name.getValue() == "optimizer")
        return emitError(step.getLoc(), "has an optimizer already");

  llvm::DenseMap<StringAttr, WriteOp> written;
  for (Operation &op : step.getBody().front()) {
    if (auto read = dyn_cast<ReadOp>(op); read && read.getSlot() == Slot::Param)
      reads.try_emplace(read.getParamAttr().getAttr(), read.getResult());
    auto write = dyn_cast<WriteOp>(op);
    if (!write || write.getSlot() != Slot::Grad)
      continue;
    if (!written.try_emplace(write.getParamAttr().getAttr(), write).second)
      return write.emitOpError("is the second gradient of this parameter");
  }
  for (auto param : module.getOps<ParamOp>()) {
    WriteOp write = written.lookup(param.getSymNameAttr());
    if (!write)
      return param.emitOpError("has no gradient: the step writes none");
    gradients.push_back({param, write.getValue()});
    Type type = gradients.back().getType().getElementType();
    if (!elementType)
      elementType = type;
    if (type != elementType)
      return write.emitOpError("gradients must have one element type, but "
                               "here are ")
             << elementType << " and " << type;
  }
  if (gradients.empty())
    return emitError(step.getLoc(), "has no parameters to optimize");
  scalarType = getWideType(elementType);
  return success();
}

/// The step's new last argument.
Value PartitionOptimizerImpl::addInput() {
  Type type = DTensorType::get({8}, scalarType);
  unsigned n = step.getNumArguments();
  auto name = b.getDictionaryAttr(
      b.getNamedAttr(attrs::input, b.getStringAttr("optimizer")));
  (void)step.insertArgument(n, type, name, step.getLoc());
  return step.getArgument(n);
}

/// The squares of every logical element, once: added where gradients have one
/// placement, then reduced once for each set of axes that cuts gradients. In
/// f64, so that the norm, rounded to the gradients' type, is the same however
/// they are cut.
Value PartitionOptimizerImpl::sumOfSquares() {
  llvm::MapVector<Type, Value> sums;
  for (Gradient &g : gradients) {
    TensorSpec spec({}, b.getF64Type());
    for (AxesAttr axes : g.getType().getDims())
      llvm::append_range(spec.partial, axes.getAxes());
    Location loc = g.param.getLoc();
    Value squares =
        SumSquaresOp::create(b, loc, DTensorType::get(spec), g.value);
    Value &sum = sums[squares.getType()];
    sum = sum ? add(loc, sum, squares) : squares;
  }
  Value total;
  for (auto [type, sum] : sums) {
    AxesAttr axes = cast<DTensorType>(type).getPartial();
    if (!axes.empty())
      sum = createCollective(
          b, step.getLoc(), {CollectiveKind::G, AxisList(axes.getAxes())}, sum);
    total = total ? add(step.getLoc(), total, sum) : sum;
  }
  return total;
}

/// A scalar where pieces use it: on the axes that cut them it is replicate.
Value PartitionOptimizerImpl::replicated(Value scalar, ArrayRef<Axis> axes) {
  if (axes.empty())
    return scalar;
  auto key = AxesAttr::get(b.getContext(), mergedSet(axes));
  Value &copy = copies[{scalar, key}];
  if (!copy)
    copy = createCollective(
        b, step.getLoc(), {CollectiveKind::F, AxisList(key.getAxes())}, scalar);
  return copy;
}

/// What is updated: the master where there is one, which lies as the
/// optimizer's state does, else the parameter, brought there.
FailureOr<Value> PartitionOptimizerImpl::readForUpdate(ParamOp param,
                                                       DTensorType type) {
  Location loc = param.getLoc();
  StringRef name = param.getSymName();
  if (param.hasMaster())
    return ReadOp::create(b, loc, type, Slot::Master, name).getResult();
  Value &read = reads[param.getSymNameAttr()];
  if (!read)
    read = ReadOp::create(b, loc, param.getTensorType(), Slot::Param, name);
  return reshard(b, loc, read, type);
}

/// The parameter is updated where its gradient's pieces lie; where the two
/// placements differ, the parameter's piece is cut out and the update brought
/// back.
LogicalResult PartitionOptimizerImpl::update(Gradient &g, ClipOp clip,
                                             Value scalars) {
  ParamOp param = g.param;
  Location loc = param.getLoc();
  DTensorType whole = param.getTensorType();
  // Of everything but the gradient.
  DTensorType type =
      g.getType().withElementType(param.getSlotElementType(Slot::M));
  StringRef name = param.getSymName();
  FailureOr<Value> here = readForUpdate(param, type);
  if (failed(here))
    return param.emitOpError("cannot be brought to its gradient's placement ")
           << type;
  auto m = ReadOp::create(b, loc, type, Slot::M, name);
  auto v = ReadOp::create(b, loc, type, Slot::V, name);
  AxisList axes;
  for (AxesAttr d : type.getDims())
    llvm::append_range(axes, d.getAxes());
  Value coefficient = replicated(clip.getCoefficient(), axes);
  Value skip = replicated(clip.getSkip(), axes);
  auto adamw = AdamWOp::create(b, loc, type, type, type, *here, g.value, m, v,
                               coefficient, skip, replicated(scalars, axes),
                               param.hasDecay());
  Value updated = adamw.getNewParam();
  if (param.hasMaster()) {
    WriteOp::create(b, loc, Slot::Master, name, updated);
    updated = ConvertOp::create(
        b, loc, type.withElementType(whole.getElementType()), updated);
  }
  FailureOr<Value> back = reshard(b, loc, updated, whole);
  if (failed(back))
    return param.emitOpError("cannot be brought back from ") << type;
  WriteOp::create(b, loc, Slot::Param, name, *back);
  WriteOp::create(b, loc, Slot::M, name, adamw.getNewM());
  WriteOp::create(b, loc, Slot::V, name, adamw.getNewV());
  return success();
}

LogicalResult PartitionOptimizerImpl::run() {
  if (failed(collect()))
    return failure();
  Value scalars = addInput();
  Operation *terminator = step.getBody().front().getTerminator();
  b.setInsertionPoint(terminator);
  Value squares = sumOfSquares();
  auto scalar = DTensorType::get({}, scalarType);
  auto clip = ClipOp::create(b, step.getLoc(), scalar, scalar,
                             DTensorType::get({}, b.getI32Type()), squares,
                             terminator->getOperand(loss),
                             terminator->getOperand(labels), scalars);
  for (Gradient &g : gradients)
    if (failed(update(g, clip, scalars)))
      return failure();

  terminator->insertOperands(terminator->getNumOperands(),
                             {clip.getNorm(), clip.getSkip()});
  for (auto [name, value] :
       {std::pair<StringRef, Value>("grad_norm", clip.getNorm()),
        std::pair<StringRef, Value>("skipped", clip.getSkip())})
    (void)step.insertResult(step.getNumResults(), value.getType(),
                            b.getDictionaryAttr(b.getNamedAttr(
                                attrs::output, b.getStringAttr(name))));
  return success();
}

namespace {
struct PartitionOptimizerPass
    : dtc::impl::PartitionOptimizerBase<PartitionOptimizerPass> {
  void runOnOperation() override {
    if (failed(PartitionOptimizerImpl(getOperation()).run()))
      signalPassFailure();
  }
};
} // namespace
