//===- Differentiate.cpp - Append the backward ----------------------------===//
//
// First three facts are found, each in one walk over the functions: which
// arguments a result depends on (callees first), which values depend on a
// parameter, and into which values the loss's cotangent flows (callers first).
// Then every function that matters gets a forward and a backward (callees
// first), and last the step. No call is inlined, and a function is
// differentiated once, however often it is called.
//
// The cotangent of a parameter has the element type that its `grad_type` says,
// wherever the parameter is passed: what an op gives is converted before it is
// added. So has what is made of parameters before the loop over micro-batches,
// as it is summed there too. All other cotangents have the element type of
// their value.
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "Recompute.h"
#include "dtc/Transforms/Passes.h"
#include "dtc/Transforms/Sharding.h"
#include "dtc/Transforms/Stages.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"

namespace dtc {
#define GEN_PASS_DEF_DIFFERENTIATE
#include "dtc/Transforms/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

/// What is known of one function, and its derivative once it is built.
struct FunctionInfo {
  func::FuncOp func;
  /// Of a pipeline; else it is a layer, or the step.
  bool isStage = false;
  /// For each result, the arguments that it depends on differentiably.
  SmallVector<llvm::BitVector> dependsOn;
  /// Arguments that depend on a parameter at some call.
  llvm::BitVector activeArguments;
  /// Results into which a cotangent flows at some call.
  llvm::BitVector wantedResults;
  llvm::DenseSet<Value> active;

  func::FuncOp backward;
  /// The backward's operands: arguments of the function, then the forward's
  /// additional results, then cotangents of results; and its results.
  SmallVector<unsigned> passedAgain;
  unsigned numSaved = 0;
  SmallVector<unsigned> cotangentResults, gradientArguments;
};

/// The types of cotangents.
class CotangentTypes {
public:
  explicit CotangentTypes(ModuleOp module)
      : parameters(module, getCaptured(module)) {}

  /// Finds the gradients' element type.
  LogicalResult find(ModuleOp module) {
    for (auto param : module.getOps<ParamOp>()) {
      Type type = param.getSlotElementType(Slot::Grad);
      if (element && type != element)
        return param.emitOpError("gradients must have one element type, but "
                                 "here are ")
               << element << " and " << type;
      element = type;
    }
    return success();
  }
  DTensorType get(Value v) const {
    DTensorType type = BackwardBuilder::conjugate(v);
    bool narrow = type.getElementType().isBF16();
    return narrow && element && parameters.contains(v)
               ? type.withElementType(element)
               : type;
  }

private:
  /// What loops over micro-batches use from outside.
  static SmallVector<Value> getCaptured(ModuleOp module) {
    SmallVector<Value> captured;
    module.walk([&](MicroBatchesOp loop) {
      loop.getBody().walk([&](Operation *op) {
        for (Value v : op->getOperands())
          if (auto type = dyn_cast<DTensorType>(v.getType());
              type && type.isFloat() && v.getParentBlock() == loop->getBlock())
            captured.push_back(v);
      });
    });
    return captured;
  }

  ParameterValues parameters;
  Type element;
};

/// A cotangent with other elements.
static Value convert(OpBuilder &b, Location loc, Value cotangent, Type to) {
  auto type = cast<DTensorType>(cotangent.getType());
  if (type.getElementType() == to)
    return cotangent;
  return ConvertOp::create(b, loc, type.withElementType(to), cotangent);
}

/// Cotangents on the way from results to operands, in one place where
/// derivatives are built.
struct Sweep {
  Sweep(OpBuilder builder, const CotangentTypes &types,
        const llvm::DenseSet<Value> &active, std::function<Value(Value)> saved)
      : builder(builder), types(types), active(active),
        saved(std::move(saved)) {}

  OpBuilder builder;
  const CotangentTypes &types;
  const llvm::DenseSet<Value> &active;
  /// Makes a forward value available; null (after an error) where it can't be.
  std::function<Value(Value)> saved;
  /// In the order in which values were first reached.
  llvm::MapVector<Value, Value> cotangents;

  Value get(Value v) const {
    auto it = cotangents.find(v);
    return it == cotangents.end() ? Value() : it->second;
  }
  LogicalResult add(Value v, Value cotangent, Operation *at) {
    DTensorType want = types.get(v);
    cotangent =
        convert(builder, at->getLoc(), cotangent, want.getElementType());
    if (cotangent.getType() != want)
      return at->emitError("derivative has type ")
             << cotangent.getType() << ", but the cotangent of " << v.getType()
             << " is " << want;
    Value &sum = cotangents[v];
    sum = sum ? AddOp::create(builder, at->getLoc(), want, sum, cotangent,
                              DenseI64ArrayAttr())
                    .getResult()
              : cotangent;
    return success();
  }
};

/// The builder that an op's derivative sees.
class OpBackward : public BackwardBuilder {
public:
  OpBackward(Sweep &sweep, Operation *op)
      : BackwardBuilder(sweep.builder, op->getLoc()), sweep(sweep), op(op) {}

  Value saved(Value forward) override { return sweep.saved(forward); }
  Value cotangent(Value result) override {
    Value v = sweep.get(result);
    // Collectives pass on what sums have; others have a type of their own.
    if (!v || isa<CollectiveOpInterface>(op))
      return v;
    return convert(sweep.builder, op->getLoc(), v,
                   cast<DTensorType>(result.getType()).getElementType());
  }
  bool wants(Value operand) override { return sweep.active.contains(operand); }
  void add(Value operand, Value cotangent) override {
    if (failed(sweep.add(operand, cotangent, op)))
      ok = failure();
  }

  LogicalResult ok = success();

private:
  Sweep &sweep;
  Operation *op;
};

class DifferentiateImpl {
public:
  DifferentiateImpl(ModuleOp module, bool gatherAgain, RecomputePolicy policy)
      : module(module), gatherAgain(gatherAgain), policy(policy),
        symbols(module), costs(symbols), builder(module.getContext()),
        types(module) {}
  LogicalResult run();

private:
  LogicalResult collect();

  // Facts.
  void findDependencies(FunctionInfo &f);
  void findActive(FunctionInfo &f);
  void findWanted(FunctionInfo &f);

  // Building.
  void upgradeCalls(FunctionInfo &f);
  LogicalResult differentiate(FunctionInfo &f);
  LogicalResult sweepBack(FunctionInfo &f, Sweep &sweep, Block *block);
  FailureOr<std::function<bool(Value)>> chooseKept(FunctionInfo &f);
  LogicalResult differentiateStep();
  LogicalResult backward(Sweep &sweep, Operation *op);
  LogicalResult backwardOfCall(Sweep &sweep, func::CallOp call);
  MicroBatchesOp backwardOfLoop(Sweep &outer, MicroBatchesOp loop);
  FunctionInfo *calleeOf(Operation *call) const { return callees.lookup(call); }

  ModuleOp module;
  bool gatherAgain;
  RecomputePolicy policy;
  SymbolTable symbols;
  CostModel costs;
  OpBuilder builder;
  CotangentTypes types;
  /// Callees before callers; the step is last.
  std::vector<std::unique_ptr<FunctionInfo>> functions;
  llvm::DenseMap<Operation *, FunctionInfo *> callees;
  FunctionInfo *step = nullptr;
  unsigned loss = 0;
};

} // namespace

static bool isFloat(Value v) {
  auto t = dyn_cast<DTensorType>(v.getType());
  return t && t.isFloat();
}

/// The operands that a float result depends on differentiably.
static SmallVector<unsigned> differentiableReads(Operation *op, unsigned r) {
  SmallVector<unsigned> reads;
  if (!isFloat(op->getResult(r)))
    return reads;
  if (auto d = dyn_cast<DifferentiableOpInterface>(op))
    if (!d.hasCotangent(r))
      return reads;
  auto add = [&](unsigned i) {
    if (isFloat(op->getOperand(i)))
      reads.push_back(i);
  };
  if (auto factorOp = dyn_cast<FactorOpInterface>(op))
    llvm::for_each(factorOp.getFactorRule().readsOf[r], add);
  else
    llvm::for_each(llvm::seq<unsigned>(0, op->getNumOperands()), add);
  return reads;
}

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

LogicalResult DifferentiateImpl::collect() {
  auto order = keepReachable(module, symbols);
  if (failed(order))
    return failure();
  llvm::DenseMap<Operation *, FunctionInfo *> infos;
  for (func::FuncOp func : *order) {
    auto &f = functions.emplace_back(std::make_unique<FunctionInfo>());
    f->func = func;
    f->activeArguments.resize(func.getNumArguments());
    f->wantedResults.resize(func.getNumResults());
    infos[func] = f.get();
  }
  step = functions.back().get();
  for (func::FuncOp func : *order)
    func.walk([&](func::CallOp call) {
      FunctionInfo *callee = infos[symbols.lookup(call.getCallee())];
      callees[call] = callee;
      callee->isStage |= getStage(call).has_value();
    });

  for (auto &f : functions) {
    if (f.get() == step)
      continue;
    WalkResult result = f->func.walk([&](Operation *op) {
      if (!isa<ReadOp, WriteOp, MicroBatchesOp>(op))
        return WalkResult::advance();
      op->emitError("may stand in the public function only; layers take "
                    "parameters as operands");
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return failure();
  }

  std::optional<unsigned> output = findOutput(step->func, "loss");
  if (!output)
    return emitError(step->func.getLoc(),
                     "has no output named \"loss\" to differentiate");
  loss = *output;
  auto type = dyn_cast<DTensorType>(step->func.getResultTypes()[loss]);
  if (!type || type.getRank() != 0 || type.isInteger() ||
      type != type.getLogical())
    return emitError(step->func.getLoc(),
                     "the loss must be a float scalar, invariant on "
                     "every axis, but is ")
           << step->func.getResultTypes()[loss];
  return success();
}

void DifferentiateImpl::findDependencies(FunctionInfo &f) {
  unsigned n = f.func.getNumArguments();
  llvm::DenseMap<Value, llvm::BitVector> on;
  Block &body = f.func.getBody().front();
  for (BlockArgument a : body.getArguments())
    if (isFloat(a)) {
      llvm::BitVector self(n);
      self.set(a.getArgNumber());
      on[a] = self;
    }
  for (Operation &op : body)
    for (OpResult r : op.getResults()) {
      llvm::BitVector bits(n);
      auto join = [&](unsigned i) {
        auto it = on.find(op.getOperand(i));
        if (it != on.end())
          bits |= it->second;
      };
      if (FunctionInfo *callee = calleeOf(&op))
        llvm::for_each(callee->dependsOn[r.getResultNumber()].set_bits(), join);
      else
        llvm::for_each(differentiableReads(&op, r.getResultNumber()), join);
      if (bits.any())
        on[r] = bits;
    }
  for (Value v : body.getTerminator()->getOperands())
    f.dependsOn.push_back(on.count(v) ? on[v] : llvm::BitVector(n));
}

/// Values that depend on a parameter.
void DifferentiateImpl::findActive(FunctionInfo &f) {
  for (unsigned i : f.activeArguments.set_bits())
    f.active.insert(f.func.getArgument(i));
  auto isActive = [&](Value v) { return f.active.contains(v); };
  f.func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto read = dyn_cast<ReadOp>(op)) {
      if (read.getSlot() == Slot::Param)
        f.active.insert(read.getResult());
      return;
    }
    if (FunctionInfo *callee = calleeOf(op)) {
      for (auto [i, v] : llvm::enumerate(op->getOperands()))
        if (isFloat(v) && isActive(v))
          callee->activeArguments.set(i);
      for (OpResult r : op->getResults())
        if (llvm::any_of(
                callee->dependsOn[r.getResultNumber()].set_bits(),
                [&](unsigned i) { return isActive(op->getOperand(i)); }))
          f.active.insert(r);
      return;
    }
    if (auto yield = dyn_cast<YieldOp>(op)) {
      for (auto [v, sum] :
           llvm::zip_equal(yield.getValues(), op->getParentOp()->getResults()))
        if (isActive(v))
          f.active.insert(sum);
      return;
    }
    if (isa<MicroBatchesOp, func::ReturnOp, func::FuncOp>(op))
      return;
    for (OpResult r : op->getResults())
      if (llvm::any_of(differentiableReads(op, r.getResultNumber()),
                       [&](unsigned i) { return isActive(op->getOperand(i)); }))
        f.active.insert(r);
  });
}

/// Into which results of callees a cotangent flows. An op may give fewer
/// cotangents than this says; never more.
void DifferentiateImpl::findWanted(FunctionInfo &f) {
  llvm::DenseSet<Value> reached;
  auto reach = [&](Value v) {
    if (f.active.contains(v))
      reached.insert(v);
  };
  Block &body = f.func.getBody().front();
  for (auto [i, v] : llvm::enumerate(body.getTerminator()->getOperands()))
    if (f.wantedResults[i])
      reach(v);
  auto visit = [&](Operation &op) {
    FunctionInfo *callee = calleeOf(&op);
    for (OpResult r : op.getResults()) {
      if (!reached.contains(r))
        continue;
      if (callee) {
        callee->wantedResults.set(r.getResultNumber());
        for (unsigned i : callee->dependsOn[r.getResultNumber()].set_bits())
          reach(op.getOperand(i));
        continue;
      }
      for (unsigned i : differentiableReads(&op, r.getResultNumber()))
        reach(op.getOperand(i));
    }
  };
  for (Operation &op : llvm::reverse(body)) {
    auto loop = dyn_cast<MicroBatchesOp>(op);
    if (!loop) {
      visit(op);
      continue;
    }
    Block &inside = loop.getBody().front();
    for (auto [v, sum] :
         llvm::zip_equal(inside.getTerminator()->getOperands(), loop.getSums()))
      if (reached.contains(sum))
        reach(v);
    for (Operation &inner : llvm::reverse(inside))
      visit(inner);
  }
}

//===----------------------------------------------------------------------===//
// One op
//===----------------------------------------------------------------------===//

LogicalResult DifferentiateImpl::backward(Sweep &sweep, Operation *op) {
  if (llvm::none_of(op->getResults(), [&](Value v) { return sweep.get(v); }))
    return success();
  if (auto call = dyn_cast<func::CallOp>(op))
    return backwardOfCall(sweep, call);
  if (isa<ReadOp>(op))
    return success(); // a gradient: what all this is for
  auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
  auto collective = dyn_cast<CollectiveOpInterface>(op);
  if (!differentiable || (collective && !getTranspose(collective.getSpec())))
    return op->emitOpError("lies between a parameter and the loss, but has no "
                           "derivative");
  OpBackward bb(sweep, op);
  differentiable.buildBackward(bb);
  return bb.ok;
}

LogicalResult DifferentiateImpl::backwardOfCall(Sweep &sweep,
                                                func::CallOp call) {
  FunctionInfo &f = *calleeOf(call);
  OpBuilder &b = sweep.builder;
  Location loc = call.getLoc();
  SmallVector<Value> operands;
  for (unsigned i : f.passedAgain)
    operands.push_back(sweep.saved(call.getOperand(i)));
  for (Value v : call.getResults().take_back(f.numSaved))
    operands.push_back(sweep.saved(v));
  if (llvm::is_contained(operands, Value()))
    return failure();
  for (unsigned r : f.cotangentResults) {
    Value cotangent = sweep.get(call.getResult(r));
    auto want =
        cast<DTensorType>(f.backward.getArgumentTypes()[operands.size()]);
    if (!cotangent) // another call needs it
      cotangent = ConstantOp::create(b, loc, want, b.getF64FloatAttr(0));
    operands.push_back(convert(b, loc, cotangent, want.getElementType()));
  }
  auto derivative = func::CallOp::create(b, loc, f.backward, operands);
  if (std::optional<int64_t> stage = getStage(call)) {
    setStage(derivative, *stage);
    setPhase(derivative, Phase::Backward);
  }
  for (auto [i, cotangent] :
       llvm::zip_equal(f.gradientArguments, derivative.getResults()))
    if (Value v = call.getOperand(i); sweep.active.contains(v))
      if (failed(sweep.add(v, cotangent, call)))
        return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Calls of functions that have become forwards return saved values too.
void DifferentiateImpl::upgradeCalls(FunctionInfo &f) {
  SmallVector<func::CallOp> calls;
  f.func.walk([&](func::CallOp call) {
    if (calleeOf(call)->backward)
      calls.push_back(call);
  });
  for (func::CallOp call : calls) {
    FunctionInfo *callee = calleeOf(call);
    builder.setInsertionPoint(call);
    auto forward = func::CallOp::create(builder, call.getLoc(), callee->func,
                                        call.getOperands());
    forward->setDiscardableAttrs(call->getDiscardableAttrDictionary());
    auto results = forward.getResults().take_front(call.getNumResults());
    for (auto [from, to] : llvm::zip_equal(call.getResults(), results))
      if (f.active.contains(from))
        f.active.insert(to);
    call.replaceAllUsesWith(results);
    callees.erase(call);
    callees[forward] = callee;
    call.erase();
  }
}

/// Cotangents of the function's results flow back through all of its ops.
LogicalResult DifferentiateImpl::sweepBack(FunctionInfo &f, Sweep &sweep,
                                           Block *block) {
  Operation *terminator = f.func.getBody().front().getTerminator();
  f.cotangentResults.clear();
  for (auto [r, v] : llvm::enumerate(terminator->getOperands()))
    if (f.wantedResults[r] && f.active.contains(v)) {
      f.cotangentResults.push_back(r);
      Value cotangent = block->addArgument(types.get(v), v.getLoc());
      if (failed(sweep.add(v, cotangent, terminator)))
        return failure();
    }
  for (Operation &op :
       llvm::reverse(f.func.getBody().front().without_terminator()))
    if (failed(backward(sweep, &op)))
      return failure();
  return success();
}

/// Builds the backward once to see what it needs, and chooses what to keep.
/// With a policy that computes nothing again, that is what it needs, except
/// for what is free to have twice, or to be gathered again.
FailureOr<std::function<bool(Value)>>
DifferentiateImpl::chooseKept(FunctionInfo &f) {
  auto gathers = [this](Operation *op) {
    return gatherAgain && isa<AllGatherOp>(op);
  };
  if (!policy.cheap)
    return std::function<bool(Value)>([gathers](Value v) {
      Operation *op = v.getDefiningOp();
      return !isFreeToRepeat(op) && !gathers(op);
    });
  OwningOpRef<func::FuncOp> scratch(func::FuncOp::create(
      f.func.getLoc(), "scratch", builder.getFunctionType({}, {})));
  Block *block = scratch->addEntryBlock();
  llvm::SetVector<Value> needed;
  Sweep sweep(OpBuilder::atBlockEnd(block), types, f.active,
              [&](Value v) -> Value {
                needed.insert(v);
                return block->addArgument(v.getType(), v.getLoc());
              });
  if (failed(sweepBack(f, sweep, block)))
    return failure();
  // What is done again is done layer by layer.
  RecomputePolicy here = policy;
  if (f.isStage || !f.func.getBody().front().getOps<func::CallOp>().empty()) {
    here.limit = 0;
    here.communication = false;
  }
  llvm::DenseSet<Value> kept =
      chooseSavedValues(f.func, needed, [&](Operation *op) {
        return gathers(op) || here.allows(op, costs);
      });
  return std::function<bool(Value)>(
      [kept = std::move(kept)](Value v) { return kept.contains(v); });
}

LogicalResult DifferentiateImpl::differentiate(FunctionInfo &f) {
  upgradeCalls(f);
  if (f.wantedResults.none())
    return success();
  FailureOr<std::function<bool(Value)>> isKept = chooseKept(f);
  if (failed(isKept))
    return failure();
  func::FuncOp func = f.func;
  std::string name = func.getSymName().str();
  Location loc = func.getLoc();
  Operation *terminator = func.getBody().front().getTerminator();

  builder.setInsertionPointAfter(func);
  f.backward = func::FuncOp::create(builder, loc, name + "_backward",
                                    builder.getFunctionType({}, {}));
  f.backward.setPrivate();
  symbols.insert(f.backward);
  Block *block = f.backward.addEntryBlock();

  // Operands come in the order of the function's arguments, then saved
  // values; both are found as derivatives ask for them.
  llvm::DenseMap<Value, Value> available;
  SmallVector<Value> savedValues;
  OpBuilder b = OpBuilder::atBlockEnd(block);
  Sweep sweep(b, types, f.active, nullptr);
  std::function<Value(Value)> saved = [&](Value v) -> Value {
    if (Value known = available.lookup(v))
      return known;
    Value here;
    if (auto argument = dyn_cast<BlockArgument>(v)) {
      auto *at = llvm::lower_bound(f.passedAgain, argument.getArgNumber());
      unsigned index = at - f.passedAgain.begin();
      f.passedAgain.insert(at, argument.getArgNumber());
      here = block->insertArgument(index, v.getType(), v.getLoc());
    } else if (!(*isKept)(v)) {
      Operation *op = v.getDefiningOp();
      IRMapping map;
      for (Value x : op->getOperands())
        map.map(x, saved(x));
      Operation *copy = sweep.builder.clone(*op, map);
      for (auto [from, to] :
           llvm::zip_equal(op->getResults(), copy->getResults()))
        available[from] = to;
      return available[v];
    } else {
      here = block->insertArgument(f.passedAgain.size() + savedValues.size(),
                                   v.getType(), v.getLoc());
      savedValues.push_back(v);
    }
    available[v] = here;
    return here;
  };
  sweep.saved = saved;

  if (failed(sweepBack(f, sweep, block)))
    return failure();

  SmallVector<Value> gradients;
  for (unsigned i : f.activeArguments.set_bits())
    if (Value g = sweep.get(func.getArgument(i))) {
      f.gradientArguments.push_back(i);
      gradients.push_back(g);
    }
  func::ReturnOp::create(sweep.builder, terminator->getLoc(), gradients);
  f.backward.setFunctionType(builder.getFunctionType(
      block->getArgumentTypes(), ValueRange(gradients).getTypes()));

  // The function becomes the forward.
  terminator->insertOperands(terminator->getNumOperands(), savedValues);
  f.numSaved = savedValues.size();
  func.setFunctionType(builder.getFunctionType(func.getArgumentTypes(),
                                               terminator->getOperandTypes()));
  symbols.remove(func);
  func.setSymName(name + "_forward");
  symbols.insert(func);
  return success();
}

//===----------------------------------------------------------------------===//
// The step
//===----------------------------------------------------------------------===//

/// Builds the derivative of the loop's body at its end, and yields the sums of
/// the cotangents of what the body uses from outside.
MicroBatchesOp DifferentiateImpl::backwardOfLoop(Sweep &outer,
                                                 MicroBatchesOp loop) {
  Block &body = loop.getBody().front();
  auto yield = cast<YieldOp>(body.getTerminator());
  SmallVector<Operation *> ops;
  for (Operation &op : body.without_terminator())
    ops.push_back(&op);

  // Within the loop's body nothing is saved, but what is gathered again need
  // not live until then. Beside stages only the prelude is gathered.
  SmallVector<func::CallOp> stages = getStageCalls(loop);
  for (func::CallOp call : stages)
    setPhase(call, Phase::Forward);
  llvm::DenseMap<Value, Value> again;
  Sweep sweep(OpBuilder(yield), types, step->active, nullptr);
  sweep.saved = [&](Value v) -> Value {
    Operation *op = v.getDefiningOp();
    if (!gatherAgain || !stages.empty() || !op || op->getBlock() != &body ||
        !isa<AllGatherOp>(op))
      return v;
    Value &copy = again[v];
    if (!copy)
      copy = sweep.builder.clone(*op)->getResult(0);
    return copy;
  };
  for (auto [v, sum] : llvm::zip_equal(yield.getValues(), loop.getSums()))
    if (Value cotangent = outer.get(sum))
      if (failed(sweep.add(v, cotangent, yield)))
        return nullptr;
  for (Operation *op : llvm::reverse(ops))
    if (failed(backward(sweep, op)))
      return nullptr;

  // Beside stages stands the prelude only: zero cotangents become part of it.
  if (!stages.empty())
    for (Operation &op : llvm::make_early_inc_range(body.without_terminator()))
      if (op.getNumOperands() == 0 && isPure(&op))
        op.moveBefore(&body, body.begin());

  SmallVector<Value> captured, yielded(yield.getValues());
  for (auto [v, cotangent] : sweep.cotangents)
    if (v.getParentBlock() != &body) {
      captured.push_back(v);
      yielded.push_back(cotangent);
    }
  builder.setInsertionPoint(yield);
  YieldOp::create(builder, yield.getLoc(), yielded);
  yield.erase();

  builder.setInsertionPoint(loop);
  auto result = MicroBatchesOp::create(builder, loop.getLoc(),
                                       ValueRange(yielded).getTypes(),
                                       loop.getCount(), loop.getScheduleAttr());
  result->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  result.getBody().takeBody(loop.getBody());
  unsigned n = loop.getNumResults();
  loop.replaceAllUsesWith(result.getSums().take_front(n));
  for (auto [v, sum] :
       llvm::zip_equal(captured, result.getSums().drop_front(n)))
    if (failed(outer.add(v, sum, result)))
      return nullptr;
  loop.erase();
  if (!stages.empty() && failed(verifyStages(result, symbols)))
    return nullptr;
  return result;
}

LogicalResult DifferentiateImpl::differentiateStep() {
  upgradeCalls(*step);
  Block &body = step->func.getBody().front();
  Operation *terminator = body.getTerminator();
  Value lossValue = terminator->getOperand(loss);

  MicroBatchesOp loop;
  for (auto op : body.getOps<MicroBatchesOp>()) {
    if (loop)
      return op.emitError("a step has one loop over micro-batches");
    loop = op;
  }
  // What stands after the loop without needing it moves before it: its
  // derivative is built there too.
  llvm::DenseSet<Value> ofLoop;
  SmallVector<Operation *> before, after;
  bool seen = false;
  for (Operation &op : llvm::make_early_inc_range(body.without_terminator())) {
    if (&op == loop) {
      seen = true;
      ofLoop.insert(op.getResults().begin(), op.getResults().end());
      continue;
    }
    bool needs = llvm::any_of(op.getOperands(),
                              [&](Value v) { return ofLoop.contains(v); });
    if (seen && (needs || !isPure(&op))) {
      ofLoop.insert(op.getResults().begin(), op.getResults().end());
      after.push_back(&op);
      continue;
    }
    if (seen)
      op.moveBefore(loop);
    before.push_back(&op);
  }

  OpBuilder b(loop ? loop.getOperation() : terminator);
  bool unavailable = false;
  Operation *current = nullptr;
  Sweep sweep(b, types, step->active, [&](Value v) {
    if (ofLoop.contains(v) && current) {
      if (!std::exchange(unavailable, true))
        current->emitError("its derivative needs a value that the loop over "
                           "micro-batches makes, but is computed before the "
                           "loop: what follows the loop must be linear");
    }
    return v;
  });
  if (step->active.contains(lossValue)) {
    Value one = ConstantOp::create(sweep.builder, terminator->getLoc(),
                                   BackwardBuilder::conjugate(lossValue),
                                   b.getF64FloatAttr(1));
    if (failed(sweep.add(lossValue, one, terminator)))
      return failure();
  }
  for (Operation *op : llvm::reverse(after)) {
    current = op;
    if (failed(backward(sweep, op)) || unavailable)
      return failure();
  }
  current = nullptr;
  if (loop && !backwardOfLoop(sweep, loop))
    return failure();
  sweep.builder.setInsertionPoint(terminator);
  for (Operation *op : llvm::reverse(before))
    if (failed(backward(sweep, op)))
      return failure();

  // Gradients, in the order of the parameters.
  llvm::DenseMap<StringAttr, SmallVector<Value, 1>> gradients;
  for (Operation *op : before)
    if (auto read = dyn_cast<ReadOp>(op); read && read.getSlot() == Slot::Param)
      if (Value g = sweep.get(read.getResult()))
        gradients[read.getParamAttr().getAttr()].push_back(g);
  OpBuilder &end = sweep.builder;
  for (auto param : module.getOps<ParamOp>()) {
    Location loc = param.getLoc();
    Value sum;
    for (Value g : gradients[param.getSymNameAttr()])
      sum = sum ? AddOp::create(end, loc, g.getType(), sum, g,
                                DenseI64ArrayAttr())
                      .getResult()
                : g;
    if (!sum)
      sum = ConstantOp::create(end, loc,
                               param.getTensorType().withElementType(
                                   param.getSlotElementType(Slot::Grad)),
                               end.getF64FloatAttr(0));
    WriteOp::create(end, loc, Slot::Grad, param.getSymName(), sum);
  }
  return success();
}

LogicalResult DifferentiateImpl::run() {
  if (failed(collect()) || failed(types.find(module)))
    return failure();
  for (auto &f : functions)
    if (f.get() != step)
      findDependencies(*f);
  step->wantedResults.set(loss);
  for (auto &f : llvm::reverse(functions)) {
    findActive(*f);
    findWanted(*f);
  }
  for (auto &f : functions)
    if (f.get() != step && failed(differentiate(*f)))
      return failure();
  return differentiateStep();
}

namespace {
struct DifferentiatePass : dtc::impl::DifferentiateBase<DifferentiatePass> {
  using DifferentiateBase::DifferentiateBase;
  void runOnOperation() override {
    auto policy = RecomputePolicy::parse(recompute);
    if (!policy) {
      getOperation().emitError(llvm::toString(policy.takeError()));
      return signalPassFailure();
    }
    if (failed(DifferentiateImpl(getOperation(), gatherAgain, *policy).run()))
      signalPassFailure();
  }
};
} // namespace
