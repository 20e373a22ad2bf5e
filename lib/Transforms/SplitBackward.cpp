//===- SplitBackward.cpp - Input and weight gradients apart ---------------===//
//
// A backward function is split for the results that its caller needs at once.
// What these need is the input part, callees' input parts included; the rest
// is the weight part. Both follow from one walk up the function, and each
// (function, results) is split once.
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "dtc/Transforms/Passes.h"
#include "dtc/Transforms/Stages.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"
#include <map>

namespace dtc {
#define GEN_PASS_DEF_SPLITBACKWARD
#include "dtc/Transforms/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

/// Which results, by number.
using ResultSet = std::vector<bool>;

/// A function's two parts. Operands and results are those of the whole, by
/// number, in order; values that the weight part is passed come after the
/// input part's other results, and after the weight part's other operands.
struct Parts {
  func::FuncOp input, weight; // null: the part is empty
  SmallVector<unsigned> inputOperands, weightOperands;
  SmallVector<unsigned> inputResults, weightResults;
  unsigned passed = 0;
};

/// How the body of one function is divided.
struct Division {
  llvm::DenseSet<Operation *> input, weight;
  /// Calls whose callee is itself split.
  llvm::DenseMap<Operation *, Parts *> calls;
  /// Values that the input part makes.
  llvm::DenseSet<Value> made;
  /// Results (by number) of the function that the input part gives.
  ResultSet given;
};

class SplitBackwardImpl {
public:
  explicit SplitBackwardImpl(ModuleOp module)
      : module(module), symbols(module) {}
  LogicalResult run();

private:
  Parts *split(func::FuncOp func, const ResultSet &wanted);
  void findInput(Division &d, func::FuncOp func,
                 const llvm::DenseSet<Value> &wanted);
  void findWeight(Division &d, func::FuncOp func, const ResultSet &wanted);
  void moveReductions(Division &d, func::FuncOp func);
  void build(Parts &parts, const Division &d, func::FuncOp func);
  void splitCall(func::CallOp call);
  func::FuncOp calleeOf(func::CallOp call) {
    return symbols.lookup<func::FuncOp>(call.getCallee());
  }

  ModuleOp module;
  SymbolTable symbols;
  std::map<std::pair<Operation *, ResultSet>, std::unique_ptr<Parts>> parts;
};

} // namespace

static double bytesOf(ValueRange values) {
  double bytes = 0;
  for (Value v : values)
    if (auto type = dyn_cast<DTensorType>(v.getType()))
      bytes += static_cast<double>(type.getLocalBytes());
  return bytes;
}

static bool hasProducts(Operation *op) {
  auto cost = dyn_cast<CostOpInterface>(op);
  return cost && cost.getFlops() > 0;
}

/// Ops that both parts may have: made from nothing, the same buffer under
/// another type, or made from much less (a broadcast).
static bool isCheap(Operation *op) {
  if (isa<func::CallOp>(op) || !isPure(op) || op->getNumResults() != 1)
    return false;
  if (auto collective = dyn_cast<CollectiveOpInterface>(op))
    return collective.getSpec().kind == CollectiveKind::F ||
           collective.getSpec().kind == CollectiveKind::AsOne;
  return !hasProducts(op) &&
         2 * bytesOf(op->getOperands()) <= bytesOf(op->getResults());
}

static func::ReturnOp getReturn(func::FuncOp func) {
  return cast<func::ReturnOp>(func.getBody().front().getTerminator());
}

static bool any(const ResultSet &set) { return llvm::is_contained(set, true); }

//===----------------------------------------------------------------------===//
// What belongs where
//===----------------------------------------------------------------------===//

/// Up the function: an op is input if a result of it is needed by input.
void SplitBackwardImpl::findInput(Division &d, func::FuncOp func,
                                  const llvm::DenseSet<Value> &wanted) {
  llvm::DenseSet<Value> needed = wanted;
  for (Operation &op :
       llvm::reverse(func.getBody().front().without_terminator())) {
    ResultSet results;
    for (Value v : op.getResults())
      results.push_back(needed.contains(v));
    if (!any(results))
      continue;
    d.input.insert(&op);
    auto call = dyn_cast<func::CallOp>(op);
    if (!call) {
      needed.insert(op.operand_begin(), op.operand_end());
      d.made.insert(op.result_begin(), op.result_end());
      continue;
    }
    Parts *callee = split(calleeOf(call), results);
    d.calls[&op] = callee;
    for (unsigned i : callee->inputOperands)
      needed.insert(op.getOperand(i));
    for (unsigned r : callee->inputResults)
      d.made.insert(op.getResult(r));
  }
}

/// How many ops of the weight part would use a value.
static int64_t countWeightUses(const Division &d, Value v) {
  int64_t uses = 0;
  for (OpOperand &use : v.getUses()) {
    Operation *user = use.getOwner();
    if (isCheap(user)) // stands in both parts
      uses += countWeightUses(d, user->getResult(0));
    else if (Parts *callee = d.calls.lookup(user))
      uses +=
          llvm::is_contained(callee->weightOperands, use.getOperandNumber());
    else
      uses += !d.input.contains(user) && !isa<func::ReturnOp>(user);
  }
  return uses;
}

/// An op of the weight part moves to the input part if it alone would have
/// more bytes passed than it makes: a sum over dimensions, as a rule.
void SplitBackwardImpl::moveReductions(Division &d, func::FuncOp func) {
  for (Operation &op : func.getBody().front().without_terminator()) {
    if (d.input.contains(&op) || isa<func::CallOp>(op) || isCheap(&op) ||
        isa<CollectiveOpInterface>(op) || hasProducts(&op))
      continue;
    double saved = 0;
    bool available = true;
    for (Value v : op.getOperands()) {
      available &= isa<BlockArgument>(v) || d.made.contains(v);
      if (d.made.contains(v) && countWeightUses(d, v) == 1)
        saved += bytesOf(v);
    }
    if (!available || bytesOf(op.getResults()) >= saved)
      continue;
    d.input.insert(&op);
    d.made.insert(op.result_begin(), op.result_end());
  }
}

/// Up the function again: what the remaining results need and input does not
/// make.
void SplitBackwardImpl::findWeight(Division &d, func::FuncOp func,
                                   const ResultSet &wanted) {
  llvm::DenseSet<Value> needed;
  for (auto [i, v] : llvm::enumerate(getReturn(func).getOperands())) {
    // What is wanted may be an argument: a cotangent that passes through.
    d.given.push_back(wanted[i] || d.made.contains(v));
    if (!d.given.back())
      needed.insert(v);
  }
  for (Operation &op :
       llvm::reverse(func.getBody().front().without_terminator())) {
    bool uses = llvm::any_of(op.getResults(), [&](Value v) {
      return needed.contains(v) && (!d.made.contains(v) || isCheap(&op));
    });
    if (!uses)
      continue;
    d.weight.insert(&op);
    if (Parts *callee = d.calls.lookup(&op))
      for (unsigned i : callee->weightOperands)
        needed.insert(op.getOperand(i));
    else
      needed.insert(op.operand_begin(), op.operand_end());
  }
}

//===----------------------------------------------------------------------===//
// Building the parts
//===----------------------------------------------------------------------===//

namespace {
/// One part while it is built.
struct PartBuilder {
  PartBuilder(func::FuncOp whole, StringRef suffix, Operation *after)
      : builder(whole.getContext()) {
    builder.setInsertionPointAfter(after);
    func = func::FuncOp::create(builder, whole.getLoc(),
                                (whole.getSymName() + suffix).str(),
                                builder.getFunctionType({}, {}));
    func.setPrivate();
    builder.setInsertionPointToStart(func.addEntryBlock());
  }
  Value addArgument(Value of) {
    Value argument =
        func.getBody().front().addArgument(of.getType(), of.getLoc());
    map.map(of, argument);
    return argument;
  }
  /// Arguments for those of the whole that `used` holds.
  SmallVector<unsigned> addArguments(func::FuncOp whole,
                                     const llvm::DenseSet<Value> &used) {
    SmallVector<unsigned> numbers;
    for (BlockArgument a : whole.getArguments())
      if (used.contains(a)) {
        addArgument(a);
        numbers.push_back(a.getArgNumber());
      }
    return numbers;
  }
  void finish(Location loc, ValueRange results) {
    func::ReturnOp::create(builder, loc, results);
    func.setFunctionType(builder.getFunctionType(
        func.getBody().front().getArgumentTypes(), results.getTypes()));
  }

  func::FuncOp func;
  OpBuilder builder;
  IRMapping map;
};
} // namespace

/// Calls a part; `operands` are the whole call's, mapped where the part needs
/// them.
static func::CallOp callInput(OpBuilder &b, Location loc, const Parts &parts,
                              llvm::function_ref<Value(unsigned)> operand) {
  SmallVector<Value> operands;
  for (unsigned i : parts.inputOperands)
    operands.push_back(operand(i));
  return func::CallOp::create(b, loc, parts.input, operands);
}

static func::CallOp callWeight(OpBuilder &b, Location loc, const Parts &parts,
                               llvm::function_ref<Value(unsigned)> operand,
                               ValueRange passed) {
  SmallVector<Value> operands;
  for (unsigned i : parts.weightOperands)
    operands.push_back(operand(i));
  llvm::append_range(operands, passed);
  return func::CallOp::create(b, loc, parts.weight, operands);
}

void SplitBackwardImpl::build(Parts &parts, const Division &d,
                              func::FuncOp func) {
  Block &body = func.getBody().front();
  func::ReturnOp ret = getReturn(func);
  // Operands of either part's ops.
  auto usedBy = [&](const llvm::DenseSet<Operation *> &ops, bool weight) {
    llvm::DenseSet<Value> used;
    for (Operation *op : ops)
      if (Parts *callee = d.calls.lookup(op))
        for (unsigned i :
             weight ? callee->weightOperands : callee->inputOperands)
          used.insert(op->getOperand(i));
      else
        used.insert(op->operand_begin(), op->operand_end());
    for (auto [i, v] : llvm::enumerate(ret.getOperands()))
      if (d.given[i] != weight)
        used.insert(v);
    return used;
  };

  PartBuilder input(func, "_input", func);
  parts.inputOperands = input.addArguments(func, usedBy(d.input, false));
  // What callees' input parts pass to their weight parts.
  llvm::DenseMap<Operation *, SmallVector<Value>> passedByCalls;
  for (Operation &op : body.without_terminator()) {
    if (!d.input.contains(&op))
      continue;
    Parts *callee = d.calls.lookup(&op);
    if (!callee) {
      input.builder.clone(op, input.map);
      continue;
    }
    func::CallOp call =
        callInput(input.builder, op.getLoc(), *callee, [&](unsigned i) {
          return input.map.lookup(op.getOperand(i));
        });
    for (auto [r, v] : llvm::zip(callee->inputResults, call.getResults()))
      input.map.map(op.getResult(r), v);
    passedByCalls[&op].assign(call.result_begin() + callee->inputResults.size(),
                              call.result_end());
  }
  SmallVector<Value> results;
  for (auto [i, v] : llvm::enumerate(ret.getOperands()))
    if (d.given[i]) {
      parts.inputResults.push_back(i);
      results.push_back(input.map.lookup(v));
    }

  if (!d.weight.empty()) {
    PartBuilder weight(func, "_weight", input.func);
    llvm::DenseSet<Value> used = usedBy(d.weight, true);
    parts.weightOperands = weight.addArguments(func, used);
    auto pass = [&](Value whole, Value made) {
      parts.passed += 1;
      results.push_back(made);
      return weight.func.getBody().front().addArgument(whole.getType(),
                                                       whole.getLoc());
    };
    for (Operation &op : body.without_terminator()) {
      // Values that the input part made.
      if (!d.weight.contains(&op) || d.calls.lookup(&op))
        for (Value v : op.getResults())
          if (used.contains(v) && d.made.contains(v))
            weight.map.map(v, pass(v, input.map.lookup(v)));
      if (!d.weight.contains(&op))
        continue;
      Parts *callee = d.calls.lookup(&op);
      if (!callee) {
        weight.builder.clone(op, weight.map);
        continue;
      }
      SmallVector<Value> passed;
      for (Value v : passedByCalls[&op])
        passed.push_back(pass(v, v));
      func::CallOp call = callWeight(
          weight.builder, op.getLoc(), *callee,
          [&](unsigned i) { return weight.map.lookup(op.getOperand(i)); },
          passed);
      for (auto [r, v] :
           llvm::zip_equal(callee->weightResults, call.getResults()))
        weight.map.map(op.getResult(r), v);
    }
    SmallVector<Value> weights;
    for (auto [i, v] : llvm::enumerate(ret.getOperands()))
      if (!d.given[i]) {
        parts.weightResults.push_back(i);
        weights.push_back(weight.map.lookup(v));
      }
    weight.finish(ret.getLoc(), weights);
    symbols.insert(weight.func);
    parts.weight = weight.func;
  }
  input.finish(ret.getLoc(), results);
  symbols.insert(input.func);
  parts.input = input.func;
}

/// The parts of a function of which `wanted` results are needed at once. If
/// none is, those that calls in it need of each other are: the chain of
/// cotangents through the layers of the first stage.
Parts *SplitBackwardImpl::split(func::FuncOp func, const ResultSet &wanted) {
  std::unique_ptr<Parts> &slot = parts[{func, wanted}];
  if (slot)
    return slot.get();
  slot = std::make_unique<Parts>();
  Parts *result = slot.get();
  func::ReturnOp ret = getReturn(func);
  llvm::DenseSet<Value> values;
  for (auto [i, v] : llvm::enumerate(ret.getOperands()))
    if (wanted[i])
      values.insert(v);
  if (!any(wanted))
    for (auto call : func.getBody().front().getOps<func::CallOp>())
      for (Value v : call.getResults())
        if (llvm::any_of(v.getUsers(), [&](Operation *user) {
              return user != ret.getOperation();
            }))
          values.insert(v);

  Division d;
  findInput(d, func, values);
  if (!d.input.empty())
    moveReductions(d, func);
  findWeight(d, func, wanted);
  if (any(d.given) || !d.input.empty()) {
    build(*result, d, func);
    return result;
  }
  // Nothing is needed at once: the weight part is the whole.
  result->weight = func;
  llvm::append_range(result->weightOperands,
                     llvm::seq<unsigned>(0, func.getNumArguments()));
  llvm::append_range(result->weightResults,
                     llvm::seq<unsigned>(0, func.getNumResults()));
  return result;
}

//===----------------------------------------------------------------------===//
// The step
//===----------------------------------------------------------------------===//

void SplitBackwardImpl::splitCall(func::CallOp call) {
  ResultSet wanted;
  for (Value v : call.getResults())
    wanted.push_back(llvm::any_of(
        v.getUsers(), [](Operation *user) { return !isa<YieldOp>(user); }));
  Parts *p = split(calleeOf(call), wanted);
  int64_t stage = *getStage(call);
  OpBuilder b(call);
  auto operand = [&](unsigned i) { return call.getOperand(i); };
  SmallVector<Value> passed;
  if (p->input) {
    func::CallOp input = callInput(b, call.getLoc(), *p, operand);
    setStage(input, stage);
    setPhase(input, Phase::InputBackward);
    for (auto [r, v] : llvm::zip(p->inputResults, input.getResults()))
      call.getResult(r).replaceAllUsesWith(v);
    passed.assign(input.result_begin() + p->inputResults.size(),
                  input.result_end());
  }
  if (p->weight) {
    func::CallOp weight = callWeight(b, call.getLoc(), *p, operand, passed);
    setStage(weight, stage);
    setPhase(weight, Phase::WeightBackward);
    for (auto [r, v] : llvm::zip_equal(p->weightResults, weight.getResults()))
      call.getResult(r).replaceAllUsesWith(v);
  }
  call.erase();
}

LogicalResult SplitBackwardImpl::run() {
  FailureOr<func::FuncOp> step = getPublicFunction(module);
  if (failed(step) || failed(getCallOrder(*step, symbols)))
    return failure();
  MicroBatchesOp loop = findLoop(*step);
  if (!loop)
    return success();
  SmallVector<func::CallOp> calls;
  for (func::CallOp call : getStageCalls(loop))
    if (getPhase(call) == Phase::Backward)
      calls.push_back(call);
  for (func::CallOp call : calls)
    splitCall(call);
  auto order = getCallOrder(*step, symbols);
  if (failed(order))
    return failure();
  dropUnreachable(module, symbols, *order);
  return calls.empty() ? success() : verifyStages(loop, symbols);
}

namespace {
struct SplitBackwardPass : dtc::impl::SplitBackwardBase<SplitBackwardPass> {
  using SplitBackwardBase::SplitBackwardBase;
  void runOnOperation() override {
    if (failed(SplitBackwardImpl(getOperation()).run()))
      signalPassFailure();
  }
};
} // namespace
