//===- PropagateSharding.cpp - Give every dimension its axes --------------===//
//
// One forward pass over the program: parameters and inputs get their axes from
// the rules, by the names of their dimensions; an op's factors take the axes
// of its operands (parameters first, then annotations, then the residual
// stream), its results those of their factors, unless a rule or annotation
// says otherwise. Functions are visited once for each distinct sharding of
// their arguments, and cloned where these differ. Then every dimension's
// padded length follows from all axes that cut it anywhere.
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "dtc/Transforms/Passes.h"
#include "dtc/Transforms/Sharding.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include <numeric>
#include <set>

namespace dtc {
#define GEN_PASS_DEF_PROPAGATESHARDING
#include "dtc/Transforms/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

/// Dimensions that are one factor somewhere, with all axes that cut them.
class DimensionClasses {
public:
  unsigned add(int64_t length) {
    entries.push_back({length, 1, false, {}, nullptr});
    parent.push_back(parent.size());
    return parent.size() - 1;
  }
  unsigned find(unsigned i) {
    while (parent[i] != i)
      i = parent[i] = parent[parent[i]];
    return i;
  }
  void join(unsigned a, unsigned b) {
    a = find(a);
    b = find(b);
    if (a == b)
      return;
    parent[b] = a;
    cut(a, entries[b].multiple, entries[b].why);
    entries[a].even |= entries[b].even;
    if (entries[a].name.empty())
      entries[a].name = entries[b].name;
  }
  void cut(unsigned i, int64_t product, Operation *why) {
    Entry &e = entries[find(i)];
    e.multiple = std::lcm(e.multiple, product);
    if (product > 1 && !e.why)
      e.why = why;
  }
  void setEven(unsigned i) { entries[find(i)].even = true; }
  void setName(unsigned i, StringRef name) {
    if (entries[find(i)].name.empty())
      entries[find(i)].name = name.str();
  }

  struct Entry {
    int64_t length, multiple;
    bool even;
    std::string name;
    Operation *why;
  };
  Entry &get(unsigned i) { return entries[find(i)]; }

private:
  SmallVector<Entry, 0> entries;
  SmallVector<unsigned, 0> parent;
};

/// The least 32 divisors of `n`, as text, in O(sqrt(n)).
std::string divisors(int64_t n) {
  SmallVector<int64_t> all, above;
  for (int64_t d = 1; d <= n / d; ++d) {
    if (n % d != 0)
      continue;
    all.push_back(d);
    if (d != n / d)
      above.push_back(n / d);
  }
  all.append(above.rbegin(), above.rend());
  if (all.size() > 32)
    all.truncate(32);
  std::string s;
  for (auto [i, d] : llvm::enumerate(all)) {
    if (i)
      s += i + 1 == all.size() ? " or " : ", ";
    s += std::to_string(d);
  }
  return s;
}

/// One run of the pass.
class Propagator {
public:
  Propagator(ModuleOp module, const PropagateShardingOptions &options)
      : module(module), context(*module.getContext()), options(options) {}

  LogicalResult run() {
    return failure(failed(prepare()) || failed(propagate()) || failed(pad()));
  }

private:
  LogicalResult prepare();
  LogicalResult checkRules();
  LogicalResult checkFunctions();
  LogicalResult propagate();
  FailureOr<DimAxes> applyRules(Operation *op, ArrayAttr names,
                                ArrayRef<int64_t> shape, const DimAxes &base);
  LogicalResult visitFunction(func::FuncOp func);
  LogicalResult visitOp(Operation *op);
  LogicalResult visitCall(func::CallOp call);
  LogicalResult setResult(Operation *op, unsigned r, DimAxes dims);
  LogicalResult checkSharding(Operation *op, Type type, const DimAxes &dims);
  LogicalResult pad();

  /// One function under one sharding of its arguments.
  struct Instance {
    SmallVector<DimAxes> arguments;
    func::FuncOp func;
    SmallVector<DimAxes> results;
  };

  ModuleOp module;
  MLIRContext &context;
  const PropagateShardingOptions &options;
  ShardingRules rules;
  MeshAttr meshAttr;
  std::optional<SymbolTable> symbols;
  std::optional<ParameterValues> parameters;
  DenseMap<Value, DimAxes> axesOf;
  llvm::StringMap<SmallVector<Instance, 1>> instances;
  llvm::StringMap<OwningOpRef<func::FuncOp>> originals;
  SmallVector<func::FuncOp> stack;
};

class PropagateSharding
    : public dtc::impl::PropagateShardingBase<PropagateSharding> {
public:
  using PropagateShardingBase::PropagateShardingBase;

  void runOnOperation() override {
    PropagateShardingOptions options{mesh, rulesFile, sequenceParallel,
                                     printRules, reportConflicts};
    if (failed(Propagator(getOperation(), options).run()))
      signalPassFailure();
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

LogicalResult Propagator::prepare() {
  llvm::Expected<MeshAttr> parsed = parseMesh(&context, options.mesh);
  if (!parsed)
    return module.emitError() << llvm::toString(parsed.takeError());
  meshAttr = *parsed;
  if (options.rulesFile.empty()) {
    rules = ShardingRules::getDefault(options.sequenceParallel);
  } else {
    auto file = llvm::MemoryBuffer::getFile(options.rulesFile, /*IsText=*/true);
    if (!file)
      return module.emitError() << "cannot read rules '" << options.rulesFile
                                << "': " << file.getError().message();
    llvm::Expected<ShardingRules> read =
        ShardingRules::parse((*file)->getBuffer());
    if (!read)
      return module.emitError()
             << options.rulesFile << ": " << llvm::toString(read.takeError());
    rules = *read;
  }
  if (failed(checkOneModule(module)) || failed(checkStoredTensors(module)) ||
      failed(checkRules()) || failed(checkFunctions()))
    return failure();
  if (options.printRules) {
    llvm::outs() << "mesh " << meshAttr << "\n";
    rules.print(llvm::outs());
  }
  symbols.emplace(module);
  parameters.emplace(module);
  return success();
}

/// Parameters and values are dtc tensors of one device; functions have one
/// block.
LogicalResult Propagator::checkFunctions() {
  for (auto func : module.getOps<func::FuncOp>())
    if (!func.getBody().hasOneBlock())
      return func.emitError("must have a body of one block");
  return checkTensors(
      module, [](Operation *op, DTensorType type, Attribute) -> LogicalResult {
        if (type == type.getLogical())
          return success();
        return op->emitError("has a value of type ")
               << type
               << ", which is sharded already; axes to keep are named by '"
               << attrs::sharding << "'";
      });
}

/// A rule for an axis that does not exist is a mistake; one for a dimension
/// that this program lacks may serve another one.
LogicalResult Propagator::checkRules() {
  if (options.rulesFile.empty())
    return success();
  SmallVector<StringRef> axes(getStandardAxes());
  for (const Axis &a : meshAttr.getAxes())
    if (!llvm::is_contained(axes, a.name.getValue()))
      axes.push_back(a.name.getValue());
  std::set<StringRef> names;
  auto collect = [&](Attribute dims) {
    for (auto name :
         llvm::cast_or_null<ArrayAttr>(dims).getAsRange<StringAttr>())
      names.insert(name.getValue());
  };
  module.walk([&](Operation *op) {
    if (auto dims = op->getAttrOfType<ArrayAttr>(
            isa<ParamOp>(op) ? "dims" : attrs::dims))
      collect(dims);
    if (auto func = dyn_cast<func::FuncOp>(op))
      for (unsigned i = 0; i < func.getNumArguments(); ++i)
        if (Attribute dims = func.getArgAttr(i, attrs::dims))
          collect(dims);
  });
  for (const ShardingRule &rule : rules.getRules()) {
    for (auto [i, axis] : llvm::enumerate(rule.axes)) {
      if (!llvm::is_contained(axes, axis))
        return module.emitError()
               << options.rulesFile << ": rule for '" << rule.dimension
               << "': there is no axis '" << axis << "'; axes are "
               << llvm::join(axes, ", ");
      if (llvm::is_contained(ArrayRef(rule.axes).take_front(i), axis))
        return module.emitError()
               << options.rulesFile << ": rule for '" << rule.dimension
               << "': axis '" << axis << "' is named twice";
    }
    if (!names.count(rule.dimension))
      module.emitWarning() << options.rulesFile << ": no dimension is named '"
                           << rule.dimension << "'";
  }
  return success();
}

/// The axes that the rules give to named dimensions, over `base`, which holds
/// for dimensions without a rule.
FailureOr<DimAxes> Propagator::applyRules(Operation *op, ArrayAttr names,
                                          ArrayRef<int64_t> shape,
                                          const DimAxes &base) {
  DimAxes dims(shape.size());
  AxisList used;
  auto take = [&](AxisList &list, const Axis &a) {
    if (overlap(a, used))
      return;
    list.push_back(a);
    used.push_back(a);
  };
  for (auto [d, n] : llvm::enumerate(shape)) {
    const ShardingRule *rule =
        rules.find(cast<StringAttr>(names[d]).getValue());
    if (!rule)
      continue;
    int64_t room = n;
    for (const std::string &name : rule->axes) {
      int64_t size = meshAttr.getSize(name);
      if (size == 1)
        continue;
      Axis axis{StringAttr::get(&context, name), 1, size};
      if (rule->majorPart && room % size != 0 && size % room == 0)
        axis.size = room; // the major part; the rest does not cut
      else if (rule->even && room % size != 0) {
        auto diag = op->emitError()
                    << name << "=" << size << " does not divide " << room
                    << " (" << rule->dimension << "); it may be "
                    << divisors(room);
        if (rule->majorPart) {
          diag << ", or a multiple of " << room;
          return failure();
        }
        int64_t all = 1;
        for (const std::string &other : rule->axes)
          all *= meshAttr.getSize(other);
        diag << ", or " << rule->dimension << " a multiple of " << all;
        return failure();
      }
      if (axis.size == 1)
        continue;
      if (room % axis.size == 0)
        room /= axis.size;
      take(dims[d], axis);
    }
  }
  for (auto [d, axes] : llvm::enumerate(base))
    if (d < dims.size() && !rules.find(cast<StringAttr>(names[d]).getValue()))
      for (const Axis &a : axes) {
        if (overlap(a, used))
          break;
        take(dims[d], a);
      }
  return dims;
}

LogicalResult Propagator::checkSharding(Operation *op, Type type,
                                        const DimAxes &dims) {
  if (dims.size() != static_cast<size_t>(cast<DTensorType>(type).getRank()))
    return op->emitError("dtc.sharding must list the axes of every dimension");
  AxisList used;
  for (const AxisList &axes : dims)
    for (const Axis &a : axes) {
      if (!meshAttr.contains(a))
        return op->emitError("axis ") << toString(ArrayRef<Axis>(a))
                                      << " is not on the mesh " << meshAttr;
      if (overlap(a, used))
        return op->emitError("axis ")
               << toString(ArrayRef<Axis>(a)) << " is given twice";
      used.push_back(a);
    }
  return success();
}

//===----------------------------------------------------------------------===//
// The forward pass
//===----------------------------------------------------------------------===//

LogicalResult Propagator::propagate() {
  module->setAttr(attrs::mesh, meshAttr);
  for (auto param : module.getOps<ParamOp>()) {
    DTensorType type = param.getTensorType();
    DimAxes dims;
    if (Attribute explicitAxes = param->getAttr(attrs::sharding)) {
      dims = fromAttr(explicitAxes);
    } else {
      auto ruled =
          applyRules(param, param.getDims(), type.getShape(), DimAxes());
      if (failed(ruled))
        return failure();
      dims = *ruled;
    }
    if (failed(checkSharding(param, type, dims)))
      return failure();
    // Part of the type only once collectives say how it is used.
    param->setAttr(attrs::sharding, toAttr(&context, dims));
  }
  func::FuncOp entry;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (!func.isPublic())
      continue;
    if (entry)
      return func.emitError("a program has one public function, but @")
             << entry.getName() << " is public too";
    entry = func;
  }
  if (!entry || entry.isExternal())
    return module.emitError("a program has one public function, with a body");
  for (BlockArgument arg : entry.getArguments()) {
    auto type = dyn_cast<DTensorType>(arg.getType());
    if (!type)
      return entry.emitError("argument #")
             << arg.getArgNumber() << " must be a dtc tensor";
    DimAxes dims(type.getRank());
    unsigned n = arg.getArgNumber();
    if (Attribute axes = entry.getArgAttr(n, attrs::sharding)) {
      dims = fromAttr(axes);
    } else if (auto names = entry.getArgAttrOfType<ArrayAttr>(n, attrs::dims)) {
      auto ruled = applyRules(entry, names, type.getShape(), DimAxes());
      if (failed(ruled))
        return failure();
      dims = *ruled;
    }
    if (failed(checkSharding(entry, type, dims)))
      return failure();
    axesOf[arg] = dims;
    if (!isUncut(dims))
      entry.setArgAttr(n, attrs::sharding, toAttr(&context, dims));
  }
  return visitFunction(entry);
}

LogicalResult Propagator::visitFunction(func::FuncOp func) {
  if (llvm::is_contained(stack, func))
    return func.emitError("is recursive");
  if (!llvm::hasSingleElement(func.getBody()))
    return func.emitError("must have one block");
  stack.push_back(func);
  for (Operation &op : func.getBody().front())
    if (failed(visitOp(&op)))
      return failure();
  stack.pop_back();
  return success();
}

LogicalResult Propagator::setResult(Operation *op, unsigned r, DimAxes dims) {
  Value result = op->getResult(r);
  axesOf[result] = dims;
  if (r == 0) {
    if (isUncut(dims))
      op->removeAttr(attrs::sharding);
    else
      op->setAttr(attrs::sharding, toAttr(&context, dims));
  }
  return success();
}

LogicalResult Propagator::visitOp(Operation *op) {
  if (isa<func::ReturnOp>(op))
    return success();
  if (auto call = dyn_cast<func::CallOp>(op))
    return visitCall(call);
  if (auto read = dyn_cast<ReadOp>(op)) {
    auto param = symbols->lookup<ParamOp>(read.getParam());
    axesOf[read.getResult()] = fromAttr(param->getAttr(attrs::sharding));
    return success();
  }
  auto factorOp = dyn_cast<FactorOpInterface>(op);
  if (!factorOp)
    return op->emitError("has no factors: it cannot be partitioned");
  FactorRule rule = factorOp.getFactorRule();
  SmallVector<DimAxes> operands;
  SmallVector<Priority> priorities;
  for (Value v : op->getOperands()) {
    operands.push_back(axesOf.lookup(v));
    priorities.push_back(getPriority(v, *parameters));
  }
  // What the first result is annotated or named with.
  std::optional<DimAxes> wish;
  Attribute annotation = op->getAttr(attrs::sharding);
  auto names = op->getAttrOfType<ArrayAttr>(attrs::dims);
  if (annotation) {
    wish = fromAttr(annotation);
    if (failed(checkSharding(op, op->getResult(0).getType(), *wish)))
      return failure();
  }
  auto shape = op->getNumResults()
                   ? cast<DTensorType>(op->getResult(0).getType()).getShape()
                   : ArrayRef<int64_t>();
  if (!wish && names) {
    auto ruled = applyRules(op, names, shape, DimAxes());
    if (failed(ruled))
      return failure();
    wish = *ruled;
  }
  SmallVector<FactorConflict> conflicts;
  SmallVector<AxisList> factors =
      chooseFactors(rule, operands, priorities,
                    wish ? ArrayRef<DimAxes>(*wish) : ArrayRef<DimAxes>(),
                    hasNoActivation(op, *parameters), &conflicts);
  if (options.reportConflicts)
    for (const FactorConflict &c : conflicts) {
      auto diag = op->emitRemark("operand #")
                  << c.operand << " is cut by " << toString(c.axes)
                  << " on factor '" << Twine(c.factor)
                  << "', which another operand decides otherwise: it will be "
                     "communicated";
      if (Operation *def = op->getOperand(c.operand).getDefiningOp())
        diag.attachNote(def->getLoc()) << "the operand comes from here";
    }
  for (unsigned r = 0; r < op->getNumResults(); ++r) {
    DimAxes dims = getDimAxes(rule, rule.getNumOperands() + r, factors);
    if (r == 0 && annotation)
      dims = *wish;
    else if (r == 0 && names) {
      auto ruled = applyRules(op, names, shape, dims);
      if (failed(ruled))
        return failure();
      dims = *ruled;
    }
    if (failed(setResult(op, r, dims)))
      return failure();
  }
  return success();
}

LogicalResult Propagator::visitCall(func::CallOp call) {
  auto func = symbols->lookup<func::FuncOp>(call.getCallee());
  if (!func || func.isExternal())
    return call.emitError("callee @")
           << call.getCallee() << " must be a function with a body";
  SmallVector<DimAxes> arguments;
  for (Value v : call.getOperands())
    arguments.push_back(axesOf.lookup(v));
  auto &known = instances[call.getCallee()];
  Instance *instance = nullptr;
  for (Instance &i : known)
    if (i.arguments == arguments)
      instance = &i;
  if (!instance) {
    func::FuncOp body = func;
    OwningOpRef<func::FuncOp> &original = originals[call.getCallee()];
    if (known.empty()) {
      original = func.clone();
    } else {
      // Other shardings of the arguments: a clone of what the user wrote.
      body = original->clone();
      symbols->insert(body, std::next(Block::iterator(func)));
      for (auto [from, to] :
           llvm::zip_equal(func.getArguments(), body.getArguments()))
        if (parameters->contains(from))
          parameters->insert(to);
    }
    for (auto [n, arg] : llvm::enumerate(body.getArguments())) {
      axesOf[arg] = arguments[n];
      if (!isUncut(arguments[n]))
        body.setArgAttr(n, attrs::sharding, toAttr(&context, arguments[n]));
    }
    if (failed(visitFunction(body)))
      return failure();
    Instance fresh{arguments, body, {}};
    for (Value v : body.getBody().front().getTerminator()->getOperands())
      fresh.results.push_back(axesOf.lookup(v));
    instances[call.getCallee()].push_back(fresh);
    instance = &instances[call.getCallee()].back();
  }
  call.setCallee(instance->func.getName());
  for (auto [result, dims] :
       llvm::zip_equal(call.getResults(), instance->results))
    axesOf[result] = dims;
  return success();
}

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

LogicalResult Propagator::pad() {
  DimensionClasses classes;
  DenseMap<Value, unsigned> base; // class of a value's dimension 0
  llvm::DenseMap<Operation *, unsigned> paramBase;
  auto classOf = [&](Value v) {
    auto [it, isNew] = base.try_emplace(v, 0);
    if (isNew) {
      auto type = cast<DTensorType>(v.getType());
      DimAxes dims = axesOf.lookup(v);
      for (auto [d, n] : llvm::enumerate(type.getShape())) {
        unsigned c = classes.add(n);
        if (d == 0)
          it->second = c;
        if (d < dims.size())
          classes.cut(c, product(dims[d]), v.getDefiningOp());
      }
    }
    return it->second;
  };
  auto join = [&](Value a, Value b) {
    if (a.getType() != b.getType())
      return;
    unsigned ca = classOf(a), cb = classOf(b);
    for (int64_t d = 0; d < cast<DTensorType>(a.getType()).getRank(); ++d)
      classes.join(ca + d, cb + d);
  };
  auto nameDims = [&](unsigned first, ArrayAttr names) {
    for (auto [d, name] : llvm::enumerate(names)) {
      StringRef s = cast<StringAttr>(name).getValue();
      classes.setName(first + d, s);
      if (const ShardingRule *rule = rules.find(s); rule && rule->even)
        classes.setEven(first + d);
    }
  };
  for (auto param : module.getOps<ParamOp>()) {
    DimAxes dims = fromAttr(param->getAttr(attrs::sharding));
    for (auto [d, n] : llvm::enumerate(param.getTensorType().getShape())) {
      unsigned c = classes.add(n);
      if (d == 0)
        paramBase[param] = c;
      classes.cut(c, product(dims[d]), param);
    }
    if (param.getTensorType().getRank())
      nameDims(paramBase[param], param.getDims());
  }
  auto visit = [&](Operation *op) {
    if (auto read = dyn_cast<ReadOp>(op)) {
      Operation *param = symbols->lookup(read.getParam());
      unsigned c = classOf(read.getResult());
      for (int64_t d = 0; d < read.getType().getRank(); ++d)
        classes.join(paramBase[param] + d, c + d);
      return;
    }
    if (auto call = dyn_cast<func::CallOp>(op)) {
      auto func = symbols->lookup<func::FuncOp>(call.getCallee());
      for (auto [v, arg] :
           llvm::zip_equal(call.getOperands(), func.getArguments()))
        join(v, arg);
      Operation *ret = func.getBody().front().getTerminator();
      for (auto [v, out] :
           llvm::zip_equal(call.getResults(), ret->getOperands()))
        join(v, out);
      return;
    }
    auto factorOp = dyn_cast<FactorOpInterface>(op);
    if (!factorOp)
      return;
    FactorRule rule = factorOp.getFactorRule();
    SmallVector<Value> values(op->getOperands());
    llvm::append_range(values, op->getResults());
    SmallVector<std::optional<unsigned>> seen(rule.factors.size());
    for (auto [v, value] : llvm::enumerate(values)) {
      unsigned first = classOf(value);
      for (auto [d, dim] : llvm::enumerate(rule.value(v))) {
        if (dim.size() > 1)
          classes.setEven(first + d);
        if (dim.size() != 1)
          continue;
        unsigned f = dim[0];
        if (rule.factors[f].even)
          classes.setEven(first + d);
        if (seen[f])
          classes.join(*seen[f], first + d);
        seen[f] = first + d;
      }
    }
    if (auto names = op->getAttrOfType<ArrayAttr>(attrs::dims);
        names && !names.empty())
      nameDims(classOf(op->getResult(0)), names);
  };
  for (auto func : module.getOps<func::FuncOp>()) {
    for (BlockArgument arg : func.getArguments()) {
      unsigned c = classOf(arg);
      if (auto names =
              func.getArgAttrOfType<ArrayAttr>(arg.getArgNumber(), attrs::dims);
          names && !names.empty())
        nameDims(c, names);
    }
    func.walk(visit);
  }

  auto padded = [&](DTensorType type, unsigned first,
                    Operation *op) -> FailureOr<DTensorType> {
    TensorSpec spec(type);
    for (auto [d, n] : llvm::enumerate(type.getShape())) {
      const DimensionClasses::Entry &e = classes.get(first + d);
      int64_t q = llvm::divideCeil(n, e.multiple) * e.multiple;
      if (q != n && e.even)
        return (e.why ? e.why : op)->emitError()
               << "axes of size " << e.multiple << " do not divide " << n
               << (e.name.empty() ? "" : " (" + e.name + ")")
               << "; their product may be " << divisors(n);
      spec.padded[d] = q;
    }
    return DTensorType::get(spec);
  };
  for (auto param : module.getOps<ParamOp>()) {
    auto type = padded(param.getTensorType(), paramBase.lookup(param), param);
    if (failed(type))
      return failure();
    param.setType(*type);
    if (isUncut(fromAttr(param->getAttr(attrs::sharding))))
      param->removeAttr(attrs::sharding);
  }
  for (auto func : module.getOps<func::FuncOp>()) {
    WalkResult result = func.walk([&](Operation *op) {
      for (Value v : op->getResults()) {
        auto type = padded(cast<DTensorType>(v.getType()), classOf(v), op);
        if (failed(type))
          return WalkResult::interrupt();
        v.setType(*type);
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
    SmallVector<Type> arguments, results;
    for (BlockArgument arg : func.getArguments()) {
      auto type = padded(cast<DTensorType>(arg.getType()), classOf(arg), func);
      if (failed(type))
        return failure();
      arg.setType(*type);
      arguments.push_back(*type);
    }
    for (Value v : func.getBody().front().getTerminator()->getOperands())
      results.push_back(v.getType());
    func.setFunctionType(FunctionType::get(&context, arguments, results));
  }
  return success();
}
