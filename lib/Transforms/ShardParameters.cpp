//===- ShardParameters.cpp - ZeRO as placements ---------------------------===//
//
// Nothing here is a new kind of communication: a gradient is written in a
// placement that is cut over the data-parallel group too, a parameter stored in
// one, and the paths between placements follow. What is decided is where they
// stand: after the loop, in it right behind the op that makes a cotangent, or
// right before the op that uses a parameter. In stages, which are functions,
// that is inside of them: arguments and results become pieces.
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "dtc/Transforms/Passes.h"
#include "dtc/Transforms/Stages.h"
#include "llvm/ADT/SetVector.h"

namespace dtc {
#define GEN_PASS_DEF_SHARDPARAMETERS
#include "dtc/Transforms/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

/// The axes of the group that are larger than 1, major first.
static AxisList getDataGroup(ModuleOp module) {
  AxisList group;
  MeshAttr mesh = getMesh(module);
  if (!mesh)
    return group;
  for (StringRef name : {"dp", "cp"})
    if (int64_t size = mesh.getSize(name); size > 1)
      group.push_back({StringAttr::get(module.getContext(), name), 1, size});
  return group;
}

/// The placement in which a tensor is cut over the group too, or over those of
/// its axes that no rule has used; the type itself where none is left.
static DTensorType getPiece(DTensorType type, const AxisList &all) {
  AxisList group;
  for (const Axis &a : all)
    if (!overlap({a}, type.getNamedAxes()))
      group.push_back(a);
  if (group.empty() || type.getRank() == 0)
    return type;
  // A dimension that is cut already would have to be made whole on the way if
  // its pieces do not divide: the last choice. Else the shortest pieces count,
  // which is the same question as what pads least.
  struct Choice {
    bool viaWhole;
    double waste;
    unsigned dim;
    int64_t length;
    bool operator<(const Choice &o) const {
      return std::tie(viaWhole, waste, dim) <
             std::tie(o.viaWhole, o.waste, o.dim);
    }
  };
  std::optional<Choice> best;
  for (unsigned d = 0; d < type.getShape().size(); ++d) {
    AxesAttr axes = type.getDims()[d];
    int64_t n = axes.getProduct() * product(group), q = type.getPadded()[d];
    bool divides = q % n == 0;
    if (axes.empty() || !divides)
      q = llvm::divideCeil(type.getShape()[d], n) * n;
    Choice c{!axes.empty() && !divides,
             static_cast<double>(q) / type.getPadded()[d], d, q};
    if (!best || c < *best)
      best = c;
  }
  TensorSpec spec(type);
  spec.padded[best->dim] = best->length;
  llvm::append_range(spec.dims[best->dim], group);
  return DTensorType::get(spec);
}

namespace {

/// What a stage takes, or hands on, in another placement. Equal stages are one
/// function, so this is collected for every call before anything is changed.
struct StageChange {
  using List = SmallVector<std::pair<unsigned, DTensorType>>;
  List arguments, results;
};

class ShardParametersImpl {
public:
  ShardParametersImpl(ModuleOp module, int64_t stage, bool gatherOnce)
      : module(module), symbols(module), stage(stage), gatherOnce(gatherOnce),
        group(getDataGroup(module)), b(module.getContext()) {}
  LogicalResult run();

private:
  FailureOr<Value> convert(Value v, DTensorType to) {
    FailureOr<Value> converted = reshard(b, v.getLoc(), v, to);
    if (failed(converted))
      emitError(v.getLoc(), "there is no path from ")
          << v.getType() << " to " << to;
    return converted;
  }
  LogicalResult shardGradient(WriteOp write);
  FailureOr<Value> toPiece(Value v, DTensorType piece);
  LogicalResult reduceInLoop(OpResult sum, DTensorType piece);
  LogicalResult reduceWhereMade(OpOperand &use, DTensorType to);
  LogicalResult shardParameter(ParamOp param);
  LogicalResult gatherForUses(Value v, Value piece, DTensorType as);
  LogicalResult gatherFor(OpOperand &use, Value piece, DTensorType as);
  LogicalResult changeStages();
  LogicalResult changeStage(func::FuncOp stage, const StageChange &change);
  void eraseDead();

  DTensorType pieceOf(ParamOp param) {
    auto [it, isNew] = pieces.try_emplace(param.getTensorType());
    if (isNew)
      it->second = getPiece(param.getTensorType(), group);
    return it->second;
  }

  ModuleOp module;
  SymbolTable symbols;
  int64_t stage;
  bool gatherOnce;
  AxisList group;
  OpBuilder b;
  llvm::DenseMap<DTensorType, DTensorType> pieces;
  llvm::DenseMap<Operation *, SmallVector<ReadOp, 1>> reads; // by parameter
  /// What a value is gathered to before an op.
  llvm::DenseMap<std::tuple<Operation *, Value, Type>, Value> gathered;
  /// By stage call, in program order of their first change.
  llvm::MapVector<Operation *, StageChange> changes;
  SmallVector<Operation *> maybeDead;
};

} // namespace

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

LogicalResult ShardParametersImpl::shardGradient(WriteOp write) {
  // Elements are the gradient's.
  DTensorType type = write.getValue().getType();
  DTensorType piece = pieceOf(symbols.lookup<ParamOp>(write.getParam()))
                          .withElementType(type.getElementType());
  if (type == piece)
    return success();
  b.setInsertionPoint(write);
  FailureOr<Value> value = toPiece(write.getValue(), piece);
  if (failed(value))
    return failure();
  write.getValueMutable().set(*value);
  return success();
}

/// The gradient in its second placement: sums are added as pieces, and what has
/// been reduced is reduced to the piece instead.
FailureOr<Value> ShardParametersImpl::toPiece(Value v, DTensorType piece) {
  if (v.getType() == piece)
    return v;
  Operation *op = v.getDefiningOp();
  maybeDead.push_back(op);
  auto add = dyn_cast_or_null<AddOp>(op);
  if (add && v.hasOneUse() && add.getLhs().getType() == v.getType() &&
      add.getRhs().getType() == v.getType()) {
    FailureOr<Value> x = toPiece(add.getLhs(), piece);
    FailureOr<Value> y = toPiece(add.getRhs(), piece);
    if (failed(x) || failed(y))
      return failure();
    b.setInsertionPoint(add);
    return AddOp::create(b, add.getLoc(), piece, *x, *y, DenseI64ArrayAttr())
        .getResult();
  }
  if (op && v.hasOneUse() && isa<CollectiveOpInterface>(op))
    return toPiece(op->getOperand(0), piece);
  auto sum = dyn_cast<OpResult>(v);
  if (stage >= 2 && sum && isa<MicroBatchesOp>(op) &&
      failed(reduceInLoop(sum, piece)))
    return failure();
  if (op)
    b.setInsertionPointAfter(op);
  return convert(v, piece);
}

/// The loop's sum becomes that of pieces. On axes beside the group it stays
/// what it is: those are reduced after the loop.
LogicalResult ShardParametersImpl::reduceInLoop(OpResult sum,
                                                DTensorType piece) {
  auto loop = cast<MicroBatchesOp>(sum.getOwner());
  auto type = cast<DTensorType>(sum.getType());
  if (!sum.hasOneUse())
    return loop.emitOpError("result #")
           << sum.getResultNumber()
           << " is a sum of gradients that more than one op uses";
  TensorSpec spec(piece);
  auto isOther = [&](const Axis &a) {
    return !overlap({a}, group) && !overlap({a}, piece.getNamedAxes());
  };
  llvm::copy_if(type.getPartial().getAxes(), std::back_inserter(spec.partial),
                isOther);
  llvm::copy_if(type.getReplicate().getAxes(),
                std::back_inserter(spec.replicate), isOther);
  DTensorType to = DTensorType::get(spec);
  Operation *yield = loop.getBody().front().getTerminator();
  if (failed(reduceWhereMade(yield->getOpOperand(sum.getResultNumber()), to)))
    return failure();
  sum.setType(to);
  return success();
}

/// Converts what a terminator hands on, behind the op that makes it.
LogicalResult ShardParametersImpl::reduceWhereMade(OpOperand &use,
                                                   DTensorType to) {
  Value v = use.get();
  auto call = v.getDefiningOp<func::CallOp>();
  if (!call || !getStage(call)) {
    b.setInsertionPointAfterValue(v);
    FailureOr<Value> converted = convert(v, to);
    if (failed(converted))
      return failure();
    use.set(*converted);
    return success();
  }
  changes[call].results.push_back({cast<OpResult>(v).getResultNumber(), to});
  v.setType(to);
  return success();
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

LogicalResult ShardParametersImpl::shardParameter(ParamOp param) {
  DTensorType whole = param.getTensorType(), piece = pieceOf(param);
  if (piece == whole)
    return success();
  param.setType(piece);
  for (ReadOp read : reads.lookup(param)) {
    b.setInsertionPoint(read);
    auto stored = ReadOp::create(b, read.getLoc(), piece, Slot::Param,
                                 param.getSymName());
    if (failed(gatherForUses(read, stored, whole)))
      return failure();
    maybeDead.push_back(read);
  }
  return success();
}

/// Makes all users of `v`, which has the type `as`, use the gathered piece. The
/// collectives that have made other placements of a parameter become part of
/// the path.
LogicalResult ShardParametersImpl::gatherForUses(Value v, Value piece,
                                                 DTensorType as) {
  FailureOr<Value> once = Value();
  for (OpOperand &use : llvm::make_early_inc_range(v.getUses())) {
    Operation *user = use.getOwner();
    if (isa<CollectiveOpInterface>(user) &&
        user->getBlock() == v.getParentBlock()) {
      maybeDead.push_back(user);
      Value next = user->getResult(0);
      if (failed(gatherForUses(next, piece, cast<DTensorType>(next.getType()))))
        return failure();
      continue;
    }
    if (!gatherOnce) {
      if (failed(gatherFor(use, piece, as)))
        return failure();
      continue;
    }
    if (!*once) {
      b.setInsertionPointAfterValue(v);
      if (once = convert(piece, as); failed(once))
        return failure();
    }
    use.set(*once);
  }
  return success();
}

LogicalResult ShardParametersImpl::gatherFor(OpOperand &use, Value piece,
                                             DTensorType as) {
  Operation *user = use.getOwner();
  auto call = dyn_cast<func::CallOp>(user);
  if (!call || !getStage(call)) {
    // Two operands of one op share what is gathered.
    Value &v = gathered[{user, piece, as}];
    if (!v) {
      b.setInsertionPoint(user);
      FailureOr<Value> converted = convert(piece, as);
      if (failed(converted))
        return failure();
      v = *converted;
    }
    use.set(v);
    return success();
  }
  use.set(piece);
  changes[call].arguments.push_back(
      {use.getOperandNumber(), cast<DTensorType>(piece.getType())});
  return success();
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

LogicalResult ShardParametersImpl::changeStage(func::FuncOp stage,
                                               const StageChange &change) {
  for (auto [i, piece] : change.arguments) {
    BlockArgument argument = stage.getArgument(i);
    auto whole = cast<DTensorType>(argument.getType());
    argument.setType(piece);
    for (OpOperand &use : llvm::make_early_inc_range(argument.getUses()))
      if (failed(gatherFor(use, argument, whole)))
        return failure();
  }
  Block &body = stage.getBody().front();
  Operation *end = body.getTerminator();
  for (auto [r, piece] : change.results)
    if (failed(reduceWhereMade(end->getOpOperand(r), piece)))
      return failure();
  stage.setFunctionType(
      b.getFunctionType(body.getArgumentTypes(), end->getOperandTypes()));
  return success();
}

/// Calls of one stage that change alike go on calling one function.
LogicalResult ShardParametersImpl::changeStages() {
  struct Variant {
    const StageChange *change;
    func::FuncOp func;
  };
  llvm::MapVector<Operation *, SmallVector<Variant, 1>> stages;
  auto sameAs = [](const StageChange &a) {
    return [&a](const Variant &v) {
      return v.change->arguments == a.arguments &&
             v.change->results == a.results;
    };
  };
  // The calls that are not changed keep the function as it is.
  llvm::DenseSet<Operation *> isKept;
  module.walk([&](func::CallOp call) {
    if (getStage(call) && !changes.contains(call))
      if (auto callee = symbols.lookup<func::FuncOp>(call.getCallee()))
        isKept.insert(callee);
  });
  for (auto &[op, change] : changes) {
    auto call = cast<func::CallOp>(op);
    FailureOr<func::FuncOp> callee = getCallee(call, symbols);
    if (failed(callee))
      return failure();
    llvm::sort(change.arguments, llvm::less_first());
    llvm::sort(change.results, llvm::less_first());
    SmallVector<Variant, 1> &variants = stages[*callee];
    auto *it = llvm::find_if(variants, sameAs(change));
    if (it == variants.end()) {
      func::FuncOp func = *callee;
      if (!variants.empty() || isKept.contains(*callee)) {
        func = callee->clone();
        symbols.insert(func, std::next(Block::iterator(*callee)));
      }
      variants.push_back({&change, func});
      it = variants.end() - 1;
    }
    call.setCallee(it->func.getSymName());
  }
  for (auto &[op, variants] : stages)
    for (Variant &v : variants)
      if (failed(changeStage(v.func, *v.change)))
        return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Erases what nothing uses any more, users before what they use.
void ShardParametersImpl::eraseDead() {
  llvm::SetVector<Operation *> todo(maybeDead.rbegin(), maybeDead.rend());
  while (!todo.empty()) {
    Operation *op = todo.pop_back_val();
    if (!op || !isOpTriviallyDead(op))
      continue;
    for (Value v : op->getOperands())
      if (Operation *def = v.getDefiningOp())
        todo.insert(def);
    op->erase();
  }
}

LogicalResult ShardParametersImpl::run() {
  if (stage < 0 || stage > 3)
    return emitError(module.getLoc(), "ZeRO stage is ")
           << stage << ", but may be 0, 1, 2 or 3";
  if (stage == 0 || group.empty())
    return success();
  FailureOr<func::FuncOp> step = getPublicFunction(module);
  if (failed(step))
    return failure();
  SmallVector<WriteOp> gradients;
  for (Operation &op : step->getBody().front()) {
    if (auto read = dyn_cast<ReadOp>(op)) {
      if (read.getSlot() != Slot::Param)
        return op.emitOpError("reads optimizer state, which follows its "
                              "gradient: shard parameters before "
                              "-dtc-partition-optimizer");
      reads[symbols.lookup(read.getParam())].push_back(read);
    }
    if (auto write = dyn_cast<WriteOp>(op);
        write && write.getSlot() == Slot::Grad)
      gradients.push_back(write);
  }
  if (gradients.empty())
    return emitError(step->getLoc(),
                     "writes no gradient: differentiate it first");
  for (WriteOp write : gradients)
    if (failed(shardGradient(write)))
      return failure();
  if (stage == 3)
    for (auto param : module.getOps<ParamOp>())
      if (failed(shardParameter(param)))
        return failure();
  if (failed(changeStages()))
    return failure();
  eraseDead();
  return success();
}

namespace {
struct ShardParametersPass
    : dtc::impl::ShardParametersBase<ShardParametersPass> {
  using ShardParametersBase::ShardParametersBase;
  void runOnOperation() override {
    if (reshard != "micro-batch" && reshard != "step") {
      getOperation().emitError("reshard is '")
          << reshard << "', but may be micro-batch or step";
      return signalPassFailure();
    }
    if (failed(ShardParametersImpl(getOperation(), stage, reshard == "step")
                   .run()))
      signalPassFailure();
  }
};
} // namespace
