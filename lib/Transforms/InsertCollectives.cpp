//===- InsertCollectives.cpp - Placements in the types, f and g -----------===//
//
// Turns the axes that -dtc-propagate-sharding found into placements, and
// inserts the collectives that make every op obey the rule:
//
// * An op's factors take its operands' axes, as in propagation.
// * On an axis that cuts none of its factors an op works on invariant values,
//   unless every use of its results needs them replicate and its operands are
//   needed replicate elsewhere too (or are parameters or integers): then it
//   works on f's result, as its siblings do. So q, k and v share one f.
// * A partial result is reduced at once, to the value's own placement:
//   invariant (g) or cut (reduce_scatter). It stays partial only where its one
//   use is linear in it alone (dividing the loss by the count).
// * Parameters are converted (f) in the public function only, once for each
//   distinct placement; layer functions take them as they need them.
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "dtc/Transforms/Passes.h"
#include "dtc/Transforms/Sharding.h"
#include "llvm/ADT/PostOrderIterator.h"

namespace dtc {
#define GEN_PASS_DEF_INSERTCOLLECTIVES
#include "dtc/Transforms/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

/// What one op needs: axes of its factors, and what it does on other atoms.
struct OpPlan {
  FactorRule rule;
  SmallVector<AxisList> factors;  // in atoms
  SmallVector<AxisList> declared; // axes of result 0's dimensions, if annotated
  bool hasDeclared = false;
};

/// The conversions of one value, each made once.
using Conversions = llvm::MapVector<DTensorType, Value>;

class FunctionInserter {
public:
  FunctionInserter(func::FuncOp func, const ParameterValues &parameters,
                   SymbolTable &symbols,
                   DenseMap<Operation *, SmallVector<unsigned>> &splits)
      : func(func), parameters(parameters), symbols(symbols), splits(splits) {}

  LogicalResult run();

private:
  using PK = PlacementKind;

  LogicalResult plan();
  void findPotential();
  LogicalResult visit(Operation *op);
  LogicalResult visitCall(func::CallOp call);
  LogicalResult finishParameters();
  DTensorType declaredType(Value v);
  FailureOr<Value> convert(Operation *user, Value v, DTensorType to);
  int modeOn(Operation *op, const OpPlan &plan, const Axis &atom);
  bool staysPartial(OpResult result, const Axis &atom);

  bool isCut(const OpPlan &plan, const Axis &atom) const {
    return llvm::any_of(plan.factors, [&](const AxisList &axes) {
      return llvm::is_contained(axes, atom);
    });
  }
  bool lacks(const OpPlan &plan, unsigned operand, const Axis &atom) const {
    FactorSet has = plan.rule.factorsOf(operand);
    for (auto [f, axes] : llvm::enumerate(plan.factors))
      if (has[f] && llvm::is_contained(axes, atom))
        return false;
    return true;
  }
  bool isParameter(Value v) const { return parameters.contains(v); }
  bool isFree(Value v) const {
    return isParameter(v) || cast<DTensorType>(v.getType()).isInteger();
  }
  PK placementOn(Value v, const Axis &atom, unsigned *dim = nullptr) const {
    TensorSpec spec{cast<DTensorType>(v.getType())};
    spec.refine(refinement);
    return spec.placement(atom, dim);
  }

  func::FuncOp func;
  const ParameterValues &parameters;
  SymbolTable &symbols;
  /// Function -> for each new argument the old argument it stands for.
  DenseMap<Operation *, SmallVector<unsigned>> &splits;

  Refinement refinement;
  AxisList atoms;
  DenseMap<Operation *, OpPlan> plans;
  /// Value and atom: every use needs it replicate.
  DenseSet<std::pair<Value, unsigned>> potential;
  /// Value and atom: some op that the atom cuts needs it replicate, or an op
  /// that works on replicate values uses it.
  DenseSet<std::pair<Value, unsigned>> available;
  DenseMap<Value, Conversions> conversions;
  /// Parameter arguments: uses by the type that they need.
  llvm::MapVector<Value, llvm::MapVector<DTensorType, SmallVector<OpOperand *>>>
      parameterUses;
};

/// What propagation leaves: axes that cut tensors as types say.
LogicalResult checkSharding(Operation *op, DTensorType type, Attribute axes) {
  if (!axes)
    return success();
  SmallVector<AxesAttr> dims;
  for (const AxisList &list : fromAttr(axes))
    dims.push_back(AxesAttr::get(op->getContext(), list));
  return DTensorType::verify(
      [&] { return op->emitError("cannot be cut by its dtc.sharding: "); },
      type.getShape(), type.getPadded(), type.getElementType(), dims,
      type.getPartial(), type.getMax(), type.getReplicate());
}

/// Parameters, and what reads them, get the types that propagation found.
void shardParameters(ModuleOp module, SymbolTable &symbols) {
  for (auto param : module.getOps<ParamOp>()) {
    TensorSpec spec(param.getTensorType());
    if (Attribute axes = param->removeAttr(attrs::sharding))
      spec.dims = fromAttr(axes);
    param.setType(DTensorType::get(spec));
  }
  module.walk([&](ReadOp read) {
    read.getResult().setType(
        symbols.lookup<ParamOp>(read.getParam()).getTensorType());
  });
}

class InsertCollectives
    : public dtc::impl::InsertCollectivesBase<InsertCollectives> {
public:
  using InsertCollectivesBase::InsertCollectivesBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(checkOneModule(module)) ||
        failed(checkTensors(module, checkSharding)))
      return signalPassFailure();
    ParameterValues parameters(module);
    SymbolTable symbols(module);
    shardParameters(module, symbols);
    DenseMap<Operation *, SmallVector<unsigned>> splits;
    // Callees first: their signatures say what the callers convert.
    SmallVector<func::FuncOp> order;
    DenseSet<Operation *> seen;
    std::function<void(func::FuncOp)> collect = [&](func::FuncOp f) {
      if (!seen.insert(f).second)
        return;
      f.walk([&](func::CallOp call) {
        if (auto callee = symbols.lookup<func::FuncOp>(call.getCallee()))
          collect(callee);
      });
      order.push_back(f);
    };
    for (auto f : module.getOps<func::FuncOp>())
      collect(f);
    for (func::FuncOp f : order) {
      if (f.isExternal() || !llvm::hasSingleElement(f.getBody())) {
        f.emitError("must have a body of one block");
        return signalPassFailure();
      }
      if (failed(FunctionInserter(f, parameters, symbols, splits).run()))
        return signalPassFailure();
    }
  }
};

} // namespace

/// The type of a value whose dimensions are cut as propagation says, and that
/// is invariant elsewhere.
DTensorType FunctionInserter::declaredType(Value v) {
  TensorSpec spec{cast<DTensorType>(v.getType())};
  if (auto arg = dyn_cast<BlockArgument>(v)) {
    if (Attribute a = func.getArgAttr(arg.getArgNumber(), attrs::sharding))
      spec.dims = fromAttr(a);
  } else if (auto result = cast<OpResult>(v); result.getResultNumber() == 0) {
    if (Attribute a = result.getOwner()->getAttr(attrs::sharding))
      spec.dims = fromAttr(a);
  }
  return DTensorType::get(spec);
}

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

/// Chooses every op's factors; finds the atoms.
LogicalResult FunctionInserter::plan() {
  Block &body = func.getBody().front();
  DenseMap<Value, DimAxes> dimsOf;
  DenseMap<Value, Priority> priorityOf;
  auto note = [&](Value v, DimAxes dims) {
    for (const AxisList &axes : dims)
      refinement.add(axes);
    dimsOf[v] = std::move(dims);
  };
  for (BlockArgument arg : body.getArguments()) {
    note(arg, TensorSpec(declaredType(arg)).dims);
    priorityOf[arg] = getPriority(arg, parameters);
  }
  SmallVector<std::pair<Operation *, SmallVector<AxisList>>> chosen;
  for (Operation &op : body) {
    for (Value r : op.getResults())
      priorityOf[r] = getPriority(r, parameters);
    if (isa<ReadOp>(op)) {
      note(op.getResult(0),
           TensorSpec(cast<DTensorType>(op.getResult(0).getType())).dims);
      continue;
    }
    if (auto call = dyn_cast<func::CallOp>(op)) {
      auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
      for (auto [r, type] :
           llvm::zip_equal(call.getResults(), callee.getResultTypes())) {
        refinement.add(cast<DTensorType>(type).getNamedAxes());
        note(r, TensorSpec(cast<DTensorType>(type)).dims);
      }
      for (Type t : callee.getArgumentTypes())
        refinement.add(cast<DTensorType>(t).getNamedAxes());
      continue;
    }
    auto factorOp = dyn_cast<FactorOpInterface>(op);
    if (!factorOp) {
      if (op.hasTrait<OpTrait::IsTerminator>())
        continue;
      return op.emitError("has no factors: it cannot be partitioned");
    }
    OpPlan &plan = plans[&op];
    plan.rule = factorOp.getFactorRule();
    SmallVector<DimAxes> operands;
    SmallVector<Priority> priorities;
    for (Value v : op.getOperands()) {
      operands.push_back(dimsOf.lookup(v));
      priorities.push_back(priorityOf.lookup(v));
    }
    if (Attribute a = op.getAttr(attrs::sharding)) {
      plan.declared = fromAttr(a);
      plan.hasDeclared = true;
    }
    plan.factors =
        chooseFactors(plan.rule, operands, priorities,
                      plan.hasDeclared ? ArrayRef<DimAxes>(plan.declared)
                                       : ArrayRef<DimAxes>(),
                      hasNoActivation(&op, parameters));
    for (const AxisList &axes : plan.factors)
      refinement.add(axes);
    for (unsigned r = 0; r < op.getNumResults(); ++r) {
      DimAxes dims =
          getDimAxes(plan.rule, plan.rule.getNumOperands() + r, plan.factors);
      // Propagation writes the axes of first results; without the attribute
      // such a result is uncut.
      if (r == 0)
        dims = plan.hasDeclared ? plan.declared : DimAxes(dims.size());
      note(op.getResult(r), std::move(dims));
    }
  }
  if (!refinement.valid())
    return func.emitError("parts of one mesh axis do not nest");
  atoms = refinement.atoms();
  for (auto &[op, plan] : plans)
    for (AxisList &axes : plan.factors)
      axes = refinement.split(axes);
  return success();
}

/// Which values are needed replicate by every use: one backward pass.
void FunctionInserter::findPotential() {
  for (Operation &op : llvm::reverse(func.getBody().front())) {
    auto it = plans.find(&op);
    if (it == plans.end())
      continue;
    const OpPlan &plan = it->second;
    for (unsigned a = 0; a < atoms.size(); ++a) {
      const Axis &atom = atoms[a];
      // Uses of the results were all seen: what they need is known.
      for (Value r : op.getResults()) {
        if (r.use_empty())
          continue;
        bool all = true, hard = false;
        for (OpOperand &use : r.getUses()) {
          auto user = plans.find(use.getOwner());
          if (user == plans.end()) {
            all = false;
            continue;
          }
          const OpPlan &p = user->second;
          unsigned n = use.getOperandNumber();
          if (isCut(p, atom)) {
            if (lacks(p, n, atom))
              hard = true;
            else
              all = false;
            continue;
          }
          bool results = true;
          for (Value x : use.getOwner()->getResults())
            results &= potential.contains({x, a});
          all &= results && use.getOwner()->getNumResults() > 0;
        }
        if (hard)
          available.insert({r, a});
        bool declaredHere =
            plan.hasDeclared && r == op.getResult(0) &&
            llvm::any_of(plan.declared, [&](const AxisList &axes) {
              return overlap(atom, axes);
            });
        if (all && !declaredHere)
          potential.insert({r, a});
      }
    }
  }
  for (BlockArgument arg : func.getArguments())
    for (auto [a, atom] : llvm::enumerate(atoms))
      for (OpOperand &use : arg.getUses())
        if (auto user = plans.find(use.getOwner()); user != plans.end())
          if (isCut(user->second, atom) &&
              lacks(user->second, use.getOperandNumber(), atom))
            available.insert({arg, a});
}

/// What an op does on an atom that cuts none of its factors: invariant,
/// replicate, or the linear set that is partial.
int FunctionInserter::modeOn(Operation *op, const OpPlan &plan,
                             const Axis &atom) {
  unsigned a = llvm::find(atoms, atom) - atoms.begin();
  bool anyReplicate = false;
  for (OpOperand &operand : op->getOpOperands()) {
    PK p = placementOn(operand.get(), atom);
    if (p == PK::Partial)
      for (auto [k, set] : llvm::enumerate(plan.rule.linearSets))
        if (set.size() == 1 && set[0] == operand.getOperandNumber())
          return k;
    anyReplicate |= p == PK::Replicate && !isFree(operand.get());
  }
  if (anyReplicate)
    return Assignment::replicate;
  bool wanted = op->getNumResults() > 0;
  for (Value r : op->getResults())
    wanted &= potential.contains({r, a}) || r.use_empty();
  for (Value v : op->getOperands())
    wanted &= isFree(v) || available.contains({v, a});
  return wanted ? Assignment::replicate : Assignment::invariant;
}

/// Whether a partial result may stay so: its one use is linear in it alone and
/// is not cut by the atom.
bool FunctionInserter::staysPartial(OpResult result, const Axis &atom) {
  if (!result.hasOneUse() || cast<DTensorType>(result.getType()).isInteger())
    return false;
  OpOperand &use = *result.getUses().begin();
  auto it = plans.find(use.getOwner());
  if (it == plans.end() || isCut(it->second, atom))
    return false;
  return llvm::any_of(it->second.rule.linearSets, [&](auto &set) {
    return set.size() == 1 && set[0] == use.getOperandNumber();
  });
}

//===----------------------------------------------------------------------===//
// Insertion
//===----------------------------------------------------------------------===//

FailureOr<Value> FunctionInserter::convert(Operation *user, Value v,
                                           DTensorType to) {
  if (v.getType() == to)
    return v;
  Conversions &made = conversions[v];
  auto it = made.find(to);
  if (it != made.end())
    return it->second;
  OpBuilder b(user);
  // A parameter is converted where it is read, so that all uses (those in
  // later loops too) share the conversion.
  if (isParameter(v))
    b.setInsertionPointAfterValue(v);
  FailureOr<Value> converted = reshard(b, v.getLoc(), v, to);
  if (failed(converted))
    return user->emitError("there is no path from ")
           << v.getType() << " to " << to;
  made[to] = *converted;
  return *converted;
}

LogicalResult FunctionInserter::visit(Operation *op) {
  if (auto call = dyn_cast<func::CallOp>(op))
    return visitCall(call);
  if (isa<func::ReturnOp>(op)) {
    for (OpOperand &operand : op->getOpOperands()) {
      // What is returned keeps its cuts and is invariant elsewhere.
      TensorSpec spec{cast<DTensorType>(operand.get().getType())};
      spec.partial.clear();
      spec.max.clear();
      spec.replicate.clear();
      FailureOr<Value> v = convert(op, operand.get(), DTensorType::get(spec));
      if (failed(v))
        return failure();
      operand.set(*v);
    }
    return success();
  }
  auto it = plans.find(op);
  if (it == plans.end())
    return success();
  const OpPlan &plan = it->second;
  Assignment assignment{plan.factors, {}};
  for (const Axis &atom : atoms)
    if (!isCut(plan, atom))
      assignment.others.push_back({atom, modeOn(op, plan, atom)});

  for (OpOperand &operand : op->getOpOperands()) {
    Value v = operand.get();
    DTensorType want =
        typeFor(plan.rule, assignment, operand.getOperandNumber(),
                cast<DTensorType>(v.getType()));
    if (isa<BlockArgument>(v) && isParameter(v)) {
      parameterUses[v][want].push_back(&operand);
      continue;
    }
    FailureOr<Value> converted = convert(op, v, want);
    if (failed(converted))
      return failure();
    operand.set(*converted);
    for (auto [a, atom] : llvm::enumerate(atoms))
      if (placementOn(*converted, atom) == PK::Replicate)
        available.insert({v, static_cast<unsigned>(a)});
  }
  for (OpResult r : op->getResults()) {
    DTensorType natural = typeFor(
        plan.rule, assignment, plan.rule.getNumOperands() + r.getResultNumber(),
        cast<DTensorType>(r.getType()));
    TensorSpec target(natural);
    target.refine(refinement);
    if (r.getResultNumber() == 0 && plan.hasDeclared)
      for (auto [d, axes] : llvm::enumerate(plan.declared)) {
        target.dims[d] = refinement.split(axes);
        for (const Axis &a : target.dims[d]) {
          llvm::erase(target.partial, a);
          llvm::erase(target.replicate, a);
          llvm::erase(target.max, a);
        }
      }
    else if (r.getResultNumber() == 0)
      for (AxisList &axes : target.dims)
        axes.clear();
    llvm::erase_if(target.partial,
                   [&](const Axis &atom) { return !staysPartial(r, atom); });
    target.max.clear();
    DTensorType resolved = DTensorType::get(target);
    r.setType(natural);
    if (resolved == natural)
      continue;
    OpBuilder b(op->getContext());
    b.setInsertionPointAfter(op);
    FailureOr<Value> v = reshard(b, op->getLoc(), r, resolved);
    if (failed(v))
      return op->emitError("there is no path from ")
             << natural << " to " << resolved;
    // The collectives' own uses stay.
    Operation *first = nullptr;
    for (Operation *user : r.getUsers())
      if (isa<CollectiveOpInterface>(user) && !plans.contains(user))
        first = user;
    r.replaceAllUsesExcept(*v, first);
    for (auto [a, atom] : llvm::enumerate(atoms)) {
      unsigned n = a;
      if (available.contains({r, n}))
        available.insert({*v, n});
      if (potential.contains({r, n}))
        potential.insert({*v, n});
    }
  }
  return success();
}

LogicalResult FunctionInserter::visitCall(func::CallOp call) {
  auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
  const SmallVector<unsigned> &split = splits[callee];
  SmallVector<Value> operands;
  SmallVector<std::pair<Value, unsigned>> pending; // parameter arguments
  for (auto [n, old] : llvm::enumerate(split)) {
    Value v = call.getOperand(old);
    auto want = cast<DTensorType>(callee.getArgumentTypes()[n]);
    if (isa<BlockArgument>(v) && isParameter(v)) {
      pending.push_back({v, static_cast<unsigned>(n)});
      operands.push_back(v);
      continue;
    }
    FailureOr<Value> converted = convert(call, v, want);
    if (failed(converted))
      return failure();
    operands.push_back(*converted);
  }
  call.getOperandsMutable().assign(operands);
  for (auto [v, n] : pending)
    parameterUses[v][cast<DTensorType>(callee.getArgumentTypes()[n])].push_back(
        &call->getOpOperand(n));
  for (auto [r, type] :
       llvm::zip_equal(call.getResults(), callee.getResultTypes()))
    r.setType(type);
  return success();
}

/// Gives every parameter argument the type that its uses need; one that is
/// needed in several placements becomes several arguments.
LogicalResult FunctionInserter::finishParameters() {
  Block &body = func.getBody().front();
  SmallVector<unsigned> &split = splits[func];
  split.clear();
  SmallVector<DictionaryAttr> argAttrs;
  unsigned oldCount = body.getNumArguments();
  for (unsigned old = 0; old < oldCount; ++old) {
    unsigned at = split.size();
    BlockArgument arg = body.getArgument(at);
    DictionaryAttr attributes = func.getArgAttrDict(old);
    split.push_back(old);
    argAttrs.push_back(attributes);
    auto it = parameterUses.find(arg);
    if (it == parameterUses.end()) {
      // An unused parameter keeps its logical axes; others say theirs. (The
      // function's attributes are still those of the old arguments.)
      TensorSpec spec{cast<DTensorType>(arg.getType())};
      if (Attribute a = attributes ? attributes.get(attrs::sharding) : nullptr)
        spec.dims = fromAttr(a);
      arg.setType(DTensorType::get(spec));
      continue;
    }
    auto uses = it->second.takeVector();
    for (auto [i, entry] : llvm::enumerate(uses)) {
      if (i == 0) {
        arg.setType(entry.first);
        continue;
      }
      BlockArgument extra =
          body.insertArgument(at + i, entry.first, arg.getLoc());
      for (OpOperand *use : entry.second)
        use->set(extra);
      split.push_back(old);
      argAttrs.push_back(attributes);
    }
  }
  SmallVector<Type> results;
  for (Value v : body.getTerminator()->getOperands())
    results.push_back(v.getType());
  func.setFunctionType(
      FunctionType::get(func.getContext(), body.getArgumentTypes(), results));
  func.setAllArgAttrs(argAttrs);
  return success();
}

LogicalResult FunctionInserter::run() {
  if (failed(plan()))
    return failure();
  findPotential();
  Block &body = func.getBody().front();
  for (BlockArgument arg : body.getArguments())
    if (!isParameter(arg))
      arg.setType(declaredType(arg));
  for (Operation &op : llvm::make_early_inc_range(body))
    if (failed(visit(&op)))
      return failure();
  if (failed(finishParameters()))
    return failure();
  // The types say it now.
  for (Operation &op : body)
    op.removeAttr(attrs::sharding);
  for (unsigned n = 0; n < func.getNumArguments(); ++n)
    func.removeArgAttr(n, attrs::sharding);
  return success();
}
