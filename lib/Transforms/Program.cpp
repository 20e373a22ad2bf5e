//===- Program.cpp - The parts of a program's module ----------------------===//

#include "Program.h"

using namespace mlir;
using namespace dtc;

FailureOr<func::FuncOp> dtc::getPublicFunction(ModuleOp module) {
  func::FuncOp found;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (!func.isPublic() || func.isExternal())
      continue;
    if (found)
      return func.emitError("a program has one public function, but @")
             << found.getSymName() << " is public too";
    found = func;
  }
  if (!found)
    return module.emitError("a program has one public function, but there is "
                            "none");
  return found;
}

LogicalResult dtc::checkOneModule(ModuleOp module) {
  WalkResult result = module.walk([&](Operation *op) {
    if (op == module || !op->hasTrait<OpTrait::SymbolTable>())
      return WalkResult::advance();
    op->emitError("is inside of a module; a program is one module");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult dtc::checkTensors(
    ModuleOp module,
    function_ref<LogicalResult(Operation *, DTensorType, Attribute)> check) {
  auto visit = [&](Operation *op, Type t, Attribute sharding) -> LogicalResult {
    if (auto type = dyn_cast<DTensorType>(t))
      return check(op, type, sharding);
    return op->emitError("has a value of type ")
           << t << "; all must be dtc tensors";
  };
  for (auto param : module.getOps<ParamOp>())
    if (failed(visit(param, param.getTensorType(),
                     param->getAttr(attrs::sharding))))
      return failure();
  auto visitOp = [&](Operation *op) -> LogicalResult {
    // The annotation is of the first result, or of a function's argument.
    for (OpResult v : op->getResults())
      if (failed(visit(op, v.getType(),
                       v.getResultNumber() == 0 ? op->getAttr(attrs::sharding)
                                                : Attribute())))
        return failure();
    auto func = dyn_cast<func::FuncOp>(op);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument v : block.getArguments())
          if (failed(visit(
                  op, v.getType(),
                  func ? func.getArgAttr(v.getArgNumber(), attrs::sharding)
                       : Attribute())))
            return failure();
    return success();
  };
  for (auto func : module.getOps<func::FuncOp>())
    if (func.walk([&](Operation *op) { return WalkResult(visitOp(op)); })
            .wasInterrupted())
      return failure();
  return success();
}

FailureOr<func::FuncOp> dtc::getCallee(func::CallOp call,
                                       SymbolTable &symbols) {
  auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
  if (!callee || callee.isExternal())
    return call.emitError("calls @")
           << call.getCallee() << ", which is not defined in the module";
  return callee;
}

static LogicalResult visit(func::FuncOp func, SymbolTable &symbols,
                           llvm::DenseMap<Operation *, bool> &finished,
                           SmallVectorImpl<func::FuncOp> &order) {
  if (!func.getBody().hasOneBlock())
    return func.emitError("functions must be one block");
  finished[func] = false;
  WalkResult result = func.walk([&](func::CallOp call) {
    FailureOr<func::FuncOp> callee = getCallee(call, symbols);
    if (failed(callee))
      return WalkResult::interrupt();
    auto it = finished.find(*callee);
    if (it != finished.end()) {
      if (it->second)
        return WalkResult::advance();
      call.emitError("calls @") << callee->getSymName() << " recursively";
      return WalkResult::interrupt();
    }
    return WalkResult(visit(*callee, symbols, finished, order));
  });
  finished[func] = true;
  order.push_back(func);
  return failure(result.wasInterrupted());
}

FailureOr<SmallVector<func::FuncOp>> dtc::getCallOrder(func::FuncOp root,
                                                       SymbolTable &symbols) {
  llvm::DenseMap<Operation *, bool> finished;
  SmallVector<func::FuncOp> order;
  if (failed(visit(root, symbols, finished, order)))
    return failure();
  return order;
}

void dtc::dropUnreachable(ModuleOp module, SymbolTable &symbols,
                          ArrayRef<func::FuncOp> reachable) {
  llvm::DenseSet<Operation *> kept(reachable.begin(), reachable.end());
  for (auto func : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
    if (func.isPrivate() && !kept.contains(func))
      symbols.erase(func);
}

FailureOr<SmallVector<func::FuncOp>> dtc::keepReachable(ModuleOp module,
                                                        SymbolTable &symbols) {
  FailureOr<func::FuncOp> root = getPublicFunction(module);
  if (failed(root))
    return failure();
  auto order = getCallOrder(*root, symbols);
  if (succeeded(order))
    dropUnreachable(module, symbols, *order);
  return order;
}

std::optional<unsigned> dtc::findOutput(func::FuncOp func, StringRef name) {
  for (unsigned i = 0; i < func.getNumResults(); ++i)
    if (auto attr = func.getResultAttrOfType<StringAttr>(i, attrs::output))
      if (attr.getValue() == name)
        return i;
  return std::nullopt;
}

std::string dtc::listOfChoices(ArrayRef<int64_t> choices) {
  std::string s;
  for (auto [i, n] : llvm::enumerate(choices)) {
    if (i)
      s += i + 1 == choices.size() ? " or " : ", ";
    s += std::to_string(n);
  }
  return s;
}

AxisList dtc::getCommunicatingAxes(FactorOpInterface op) {
  FactorRule rule = op.getFactorRule();
  bool may = !rule.pairs.empty() ||
             llvm::any_of(rule.factors,
                          [](const Factor &f) { return f.communicates; });
  if (!may)
    return {};
  SmallVector<DTensorType> types = getOperandTensorTypes(op);
  llvm::append_range(types, getResultTensorTypes(op));
  SmallVector<AxisList> axes = getFactorAxes(rule, types);
  AxisList out;
  for (auto [f, factor] : llvm::enumerate(rule.factors))
    if (factor.communicates)
      llvm::append_range(out, axes[f]);
  for (auto [a, b] : rule.pairs)
    for (const Axis &axis : axes[a])
      if (llvm::is_contained(axes[b], axis))
        out.push_back(axis);
  return mergedSet(out);
}
