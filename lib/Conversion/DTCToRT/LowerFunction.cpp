//===- LowerFunction.cpp - One dtc function to the runtime level ----------===//

#include "LowerFunction.h"
#include "Prepare.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace dtc;

static std::string withStage(const Twine &name, const ProjectedStep *step) {
  return step ? (name + "." + Twine(step->rank)).str() : name.str();
}
std::string dtc::getSlotSymbol(StringRef param, Slot slot,
                               const ProjectedStep *step) {
  return withStage(param + "." + stringifySlot(slot), step);
}
std::string dtc::getInputSymbol(StringRef name, const ProjectedStep *step) {
  return withStage("input." + name, step);
}
std::string dtc::getOutputSymbol(StringRef name, const ProjectedStep *step) {
  return withStage("output." + name, step);
}

static MemRefType bufferType(Value v) {
  return rt::getLocalBufferType(cast<DTensorType>(v.getType()));
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

Buffers::Place FunctionLowering::placeOf(const std::string &symbol) {
  auto [it, isNew] = places.try_emplace(
      symbol, Buffers::Place(results.size() + storage.size()));
  if (isNew)
    storage.push_back({symbol, {}});
  return it->second;
}

void FunctionLowering::collectSlots() {
  func.walk([&](Operation *op) {
    if (auto read = dyn_cast<ReadOp>(op))
      values.addRead(
          read.getResult(),
          placeOf(getSlotSymbol(read.getParam(), read.getSlot(), projected)));
    if (auto write = dyn_cast<WriteOp>(op))
      targets.push_back({op, write.getValue(),
                         placeOf(getSlotSymbol(write.getParam(),
                                               write.getSlot(), projected))});
  });
}

Value FunctionLowering::addressOf(Buffers::Place place) {
  auto numResults = static_cast<Buffers::Place>(results.size());
  if (place < numResults)
    return results[place];
  StoragePlace &s = storage[place - numResults];
  if (!s.address) {
    auto op = symbols.lookup<rt::StorageOp>(s.symbol);
    OpBuilder top = OpBuilder::atBlockBegin(entry);
    s.address =
        rt::AddressOp::create(top, func.getLoc(), op.getBufferType(), s.symbol);
  }
  return s.address;
}

Value FunctionLowering::bufferOf(Value v) {
  Value root = values.getRoot(v);
  Value buffer = buffers.lookup(root);
  assert(buffer && "use before definition");
  return buffer;
}

Value FunctionLowering::destination(OpResult result,
                                    std::optional<unsigned> *inPlace) {
  Operation *op = result.getOwner();
  Buffers::Place place = values.getPlace(result);
  Value buffer = fixedBuffers.lookup(result);
  if (place != Buffers::nowhere)
    buffer = addressOf(place);
  if (inPlace) {
    *inPlace = values.getInPlace(op, result.getResultNumber());
    if (*inPlace) {
      Value from = bufferOf(op->getOperand(**inPlace));
      if (!buffer)
        buffer = from;
      else if (buffer != from)
        inPlace->reset();
    }
  }
  if (!buffer)
    buffer =
        rt::AllocOp::create(b, op->getLoc(), bufferType(result), IntegerAttr());
  buffers[result] = buffer;
  return buffer;
}

/// Copies what is not yet where it has to be.
void FunctionLowering::lowerTargets(Operation *op) {
  for (unsigned i : targetsOf.lookup(op)) {
    const Buffers::Target &t = targets[i];
    Value from = bufferOf(t.value), to = addressOf(t.place);
    if (from != to)
      kernels.copy(b, op->getLoc(), from, to);
  }
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

LogicalResult FunctionLowering::lowerKernelOp(Operation &op) {
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    // Not a kernel: layers' numbers would make one for each.
    // What a ring starts with is filled where it is carried.
    if (llvm::all_of(op.getUsers(),
                     [](Operation *user) { return isa<RingOp>(user); }))
      return success();
    Value to = destination(constant->getOpResult(0));
    rt::FillOp::create(b, op.getLoc(), to, constant.getValueAttr());
    return success();
  }
  SmallVector<Value> ins, outs;
  for (Value v : op.getOperands())
    ins.push_back(bufferOf(v));
  KernelCache::InPlace inPlace;
  for (OpResult r : op.getResults()) {
    std::optional<unsigned> operand;
    bool taken = false;
    if (auto want = values.getInPlace(&op, r.getResultNumber()))
      for (auto [o, unused] : inPlace)
        taken |= o == *want;
    outs.push_back(destination(r, taken ? nullptr : &operand));
    if (operand)
      inPlace.push_back({*operand, r.getResultNumber()});
  }
  return kernels.launch(b, &op, ins, outs, inPlace);
}

LogicalResult FunctionLowering::lowerLocalCollective(Operation &op) {
  CollectiveSpec spec = cast<CollectiveOpInterface>(op).getSpec();
  Location loc = op.getLoc();
  Value from = bufferOf(op.getOperand(0));
  auto index = [&](int64_t scale) -> Value {
    return rt::IndexOp::create(b, loc, b.getIndexType(),
                               AxesAttr::get(b.getContext(), spec.axes), scale);
  };
  std::optional<unsigned> inPlace;
  Value to = destination(op.getResult(0), &inPlace);
  switch (spec.kind) {
  case CollectiveKind::Slice:
  case CollectiveKind::SliceReplicated:
    kernels.slice(b, loc, from, to, spec.dim,
                  index(cast<MemRefType>(to.getType()).getShape()[spec.dim]));
    return success();
  case CollectiveKind::Pad:
    kernels.pad(b, loc, from, to, spec.dim,
                index(cast<MemRefType>(from.getType()).getShape()[spec.dim]));
    return success();
  case CollectiveKind::KeepFirst:
  case CollectiveKind::KeepFirstReplicated:
    kernels.keepFirst(b, loc, from, to, index(1));
    return success();
  default:
    return op.emitError("is a collective that the runtime level lacks");
  }
}

void FunctionLowering::lowerCall(func::CallOp call) {
  SmallVector<Value> ins, outs;
  for (Value v : call.getOperands())
    ins.push_back(bufferOf(v));
  for (OpResult r : call->getResults())
    outs.push_back(destination(r));
  rt::CallOp::create(b, call.getLoc(), call.getCallee(), ins, outs,
                     IntegerAttr());
}

/// sum = sum + summand, by the kernel of an addition.
LogicalResult FunctionLowering::addInto(Operation *at, DTensorType type,
                                        Value sum, Value summand) {
  OpBuilder scratch(at);
  Value zero =
      ConstantOp::create(scratch, at->getLoc(), type, b.getF64FloatAttr(0));
  auto add = AddOp::create(scratch, at->getLoc(), type, zero, zero,
                           DenseI64ArrayAttr());
  LogicalResult ok = kernels.launch(b, add, {sum, summand}, sum, {{0u, 0u}});
  add.erase();
  zero.getDefiningOp()->erase();
  return ok;
}

/// The writes of gradients that the value becomes once it has been reduced, and
/// added to others.
static SmallVector<WriteOp> getGradients(Value sum) {
  SmallVector<WriteOp> writes;
  llvm::SetVector<Operation *> users(sum.user_begin(), sum.user_end());
  for (size_t i = 0; i < users.size(); ++i) {
    Operation *user = users[i];
    if (auto write = dyn_cast<WriteOp>(user);
        write && write.getSlot() == Slot::Grad)
      writes.push_back(write);
    if (isa<CollectiveOpInterface, RepadOp, AddOp, SumStagesOp>(user))
      users.insert(user->user_begin(), user->user_end());
  }
  return writes;
}

/// Sums start at zero. What is added to them is added where it is made: then
/// it need not live longer.
void FunctionLowering::createSums(MicroBatchesOp loop) {
  Operation *yield = loop.getBody().front().getTerminator();
  for (OpResult r : loop->getResults()) {
    Value sum = destination(r);
    // Sums of gradients in the frame are where these are stored after the loop.
    if (auto alloc = sum.getDefiningOp<rt::AllocOp>())
      for (WriteOp write : getGradients(r)) {
        alloc->setAttr(rt::attrs::gradient, b.getUnitAttr());
        symbols.lookup(getSlotSymbol(write.getParam(), Slot::Grad, projected))
            ->setAttr(rt::attrs::gradient, b.getUnitAttr());
      }
    rt::FillOp::create(b, loop.getLoc(), sum, b.getF64FloatAttr(0));
    auto v = cast<OpResult>(yield->getOperand(r.getResultNumber()));
    summands[v.getOwner()].push_back({v, sum});
  }
}

/// Adds what the op made to the sums that it belongs to.
LogicalResult FunctionLowering::addToSums(Operation *op) {
  auto it = summands.find(op);
  if (it == summands.end())
    return success();
  for (auto [v, sum] : it->second)
    if (failed(addInto(op->getBlock()->getTerminator(),
                       cast<DTensorType>(v.getType()), sum, bufferOf(v))))
      return failure();
  return success();
}

LogicalResult FunctionLowering::lowerLoop(MicroBatchesOp loop) {
  Location loc = loop.getLoc();
  Block &body = loop.getBody().front();
  for (Value v : body.getTerminator()->getOperands())
    if (!v.getDefiningOp() || v.getDefiningOp()->getBlock() != &body)
      return loop.emitError("adds up a value that its body does not make");
  createSums(loop);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value count = arith::ConstantIndexOp::create(b, loc, loop.getCount());
  auto forOp = scf::ForOp::create(b, loc, zero, count, one);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(forOp.getBody()->getTerminator());

  BlockArgument m = body.getArgument(0);
  Value number = rt::AllocOp::create(b, loc, bufferType(m), IntegerAttr());
  rt::SetIndexOp::create(b, loc, forOp.getInductionVar(), number);
  buffers[m] = number;
  return lowerBlock(body);
}

LogicalResult FunctionLowering::lowerOp(Operation &op) {
  if (getAliasedOperand(&op))
    return addToSums(&op);
  if (auto read = dyn_cast<ReadOp>(op)) {
    if (!read->use_empty())
      buffers[read.getResult()] = addressOf(
          placeOf(getSlotSymbol(read.getParam(), read.getSlot(), projected)));
    return success();
  }
  if (isa<WriteOp, func::ReturnOp>(op)) {
    lowerTargets(&op);
    return success();
  }
  // Other ranks may need what this one does not.
  if (auto loop = dyn_cast<MicroBatchesOp>(op))
    return projected && loop == projected->loop ? lowerPipeline(loop)
                                                : lowerLoop(loop);
  if (auto sum = dyn_cast<SumStagesOp>(op))
    return lowerStageSum(sum);
  if (isa<YieldOp>(op) || isOpTriviallyDead(&op))
    return success();
  if (auto call = dyn_cast<func::CallOp>(op)) {
    lowerCall(call);
    return success();
  }
  if (auto ring = dyn_cast<RingOp>(op))
    return lowerRing(ring);
  if (auto shift = dyn_cast<ShiftOp>(op);
      shift && !shift.getX().getType().getDims()[shift.getDim()].empty())
    return shift.emitError("moves data between ranks outside of a ring: it "
                           "cannot be lowered to the runtime level");
  if (isa<KernelOpInterface>(op))
    return lowerKernelOp(op);
  if (isa<CollectiveOpInterface>(op))
    return lowerLocalCollective(op);
  return op.emitError("cannot be lowered to the runtime level");
}

LogicalResult FunctionLowering::lowerRange(Block::iterator it,
                                           Block::iterator end) {
  while (it != end) {
    if (movesData(&*it)) {
      SmallVector<Operation *> bucket = getBucket(&*it, bucketBytes);
      lowerBucket(bucket);
      for (Operation *op : bucket)
        if (failed(addToSums(op)))
          return failure();
      it = std::next(bucket.back()->getIterator());
      continue;
    }
    if (failed(lowerOp(*it)) ||
        (!getAliasedOperand(&*it) && failed(addToSums(&*it))))
      return failure();
    ++it;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// The ops, once arguments and targets are known.
LogicalResult FunctionLowering::lowerBody() {
  for (auto [i, t] : llvm::enumerate(targets)) {
    targetsOf[t.op].push_back(i);
    values.addTarget(t);
  }
  values.analyze();
  b.setInsertionPointToEnd(entry);
  if (failed(lowerBlock(func.getBody().front())))
    return failure();
  b.setInsertionPointToEnd(entry);
  func::ReturnOp::create(b, func.getLoc());
  return success();
}

LogicalResult FunctionLowering::lowerLayer() {
  SmallVector<Type> types;
  for (Type t : func.getArgumentTypes())
    types.push_back(rt::getLocalBufferType(cast<DTensorType>(t)));
  for (Type t : func.getResultTypes())
    types.push_back(rt::getLocalBufferType(cast<DTensorType>(t)));
  auto to = func::FuncOp::create(b, func.getLoc(), func.getName(),
                                 b.getFunctionType(types, {}));
  to.setPrivate();
  entry = to.addEntryBlock();
  unsigned n = func.getNumArguments();
  for (BlockArgument a : func.getArguments())
    buffers[a] = entry->getArgument(a.getArgNumber());
  for (BlockArgument a : entry->getArguments().drop_front(n))
    results.push_back(a);
  Operation *end = func.getBody().front().getTerminator();
  for (auto [i, v] : llvm::enumerate(end->getOperands()))
    targets.push_back({end, v, Buffers::Place(i)});
  collectSlots();
  if (!storage.empty())
    return func.emitError("reads or writes parameters, but is no step");
  return lowerBody();
}

LogicalResult FunctionLowering::lowerStep() {
  auto to = func::FuncOp::create(b, func.getLoc(), func.getName(),
                                 b.getFunctionType({}, {}));
  to->setAttr(rt::attrs::step, b.getUnitAttr());
  if (projected)
    to->setAttr(rt::attrs::stage, b.getI64IntegerAttr(projected->rank));
  entry = to.addEntryBlock();
  collectSlots();
  Operation *end = func.getBody().front().getTerminator();
  for (auto [i, v] : llvm::enumerate(end->getOperands())) {
    auto name = func.getResultAttrOfType<StringAttr>(i, dtc::attrs::output);
    targets.push_back({end, v, placeOf(getOutputSymbol(name, projected))});
  }
  for (BlockArgument a : func.getArguments())
    if (!a.use_empty()) {
      auto name = func.getArgAttrOfType<StringAttr>(a.getArgNumber(),
                                                    dtc::attrs::input);
      buffers[a] = addressOf(placeOf(getInputSymbol(name, projected)));
    }
  return lowerBody();
}
