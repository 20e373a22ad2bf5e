//===- SetPrecision.cpp - Parameters and activations of bf16 --------------===//
//
// One walk along the program, callees as their first call is met. Each op's own
// rule says which of its values are wide; the others become bf16 if its
// operands are. So no op is known by name, but for what reads parameters, calls
// and constants.
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "dtc/Transforms/Passes.h"

namespace dtc {
#define GEN_PASS_DEF_SETPRECISION
#include "dtc/Transforms/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

static bool isFloat(Value v) {
  auto type = dyn_cast<DTensorType>(v.getType());
  return type && type.isFloat();
}

static Type elementOf(Value v) {
  return cast<DTensorType>(v.getType()).getElementType();
}

namespace {

class SetPrecisionImpl {
public:
  SetPrecisionImpl(ModuleOp module, Type gradType)
      : module(module), symbols(module), b(module.getContext()),
        narrow(b.getBF16Type()), full(b.getF32Type()), gradType(gradType) {}
  LogicalResult run();

private:
  LogicalResult checkTypes();
  LogicalResult setFunction(func::FuncOp func);
  LogicalResult setOp(Operation *op);
  LogicalResult setCall(func::CallOp call);
  void setFactorOp(FactorOpInterface op);

  /// Lets operand i have elements of a type.
  void convert(Operation *op, unsigned i, Type to);
  static void setElement(Value v, Type to) {
    v.setType(cast<DTensorType>(v.getType()).withElementType(to));
  }

  ModuleOp module;
  SymbolTable symbols;
  OpBuilder b;
  Type narrow, full, gradType;
  /// By value and element type.
  llvm::DenseMap<std::pair<Value, Type>, Value> converted;
  llvm::DenseSet<Operation *> done;
};

} // namespace

/// The pass is for models as they are written, all of f32.
LogicalResult SetPrecisionImpl::checkTypes() {
  auto check = [&](Operation *op, Type type) -> LogicalResult {
    auto tensor = dyn_cast<DTensorType>(type);
    if (!tensor || tensor.isInteger() || tensor.getElementType() == full)
      return success();
    return op->emitError("precision bf16 is for a model of f32, but here is ")
           << tensor;
  };
  for (auto param : module.getOps<ParamOp>())
    if (failed(check(param, param.getTensorType())))
      return failure();
  for (auto func : module.getOps<func::FuncOp>()) {
    for (Type type : func.getArgumentTypes())
      if (failed(check(func, type)))
        return failure();
    WalkResult result = func.walk([&](Operation *op) {
      for (Type type : op->getResultTypes())
        if (failed(check(op, type)))
          return WalkResult::interrupt();
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
  }
  return success();
}

void SetPrecisionImpl::convert(Operation *op, unsigned i, Type to) {
  Value v = op->getOperand(i);
  if (elementOf(v) == to)
    return;
  Value &other = converted[{v, to}];
  if (!other) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfterValue(v);
    auto type = cast<DTensorType>(v.getType()).withElementType(to);
    // A number is made in the type that it is used in, not rounded twice.
    if (auto constant = v.getDefiningOp<ConstantOp>()) {
      auto copy = cast<ConstantOp>(b.clone(*constant));
      copy.getResult().setType(type);
      other = copy;
    } else {
      other = ConvertOp::create(b, op->getLoc(), type, v);
    }
  }
  op->setOperand(i, other);
}

/// Its floats are bf16, unless one of its operands, a constant aside, is f32.
void SetPrecisionImpl::setFactorOp(FactorOpInterface op) {
  FactorRule rule = op.getFactorRule();
  unsigned numOperands = op->getNumOperands();
  bool hasNarrow = false, hasFull = false;
  for (auto [i, v] : llvm::enumerate(op->getOperands()))
    if (isFloat(v) && !rule.isWide(i) && !rule.isUnrelated(i) &&
        !v.getDefiningOp<ConstantOp>())
      (elementOf(v) == narrow ? hasNarrow : hasFull) = true;
  Type element = hasNarrow && !hasFull ? narrow : full;
  for (unsigned i = 0; i < numOperands; ++i)
    if (isFloat(op->getOperand(i)) && !rule.isUnrelated(i))
      convert(op, i, rule.isWide(i) ? full : element);
  for (OpResult r : op->getResults())
    if (isFloat(r) && !rule.isUnrelated(numOperands + r.getResultNumber()))
      setElement(r, rule.isWide(numOperands + r.getResultNumber()) ? full
                                                                   : element);
}

/// The first call says what a function is given, later ones convert.
LogicalResult SetPrecisionImpl::setCall(func::CallOp call) {
  FailureOr<func::FuncOp> callee = getCallee(call, symbols);
  if (failed(callee))
    return failure();
  Block &body = callee->getBody().front();
  if (done.insert(*callee).second) {
    for (auto [arg, v] :
         llvm::zip_equal(body.getArguments(), call.getOperands()))
      if (isFloat(arg))
        setElement(arg, elementOf(v));
    if (failed(setFunction(*callee)))
      return failure();
  }
  for (unsigned i = 0; i < call.getNumOperands(); ++i)
    if (isFloat(call.getOperand(i)))
      convert(call, i, elementOf(body.getArgument(i)));
  for (auto [r, type] :
       llvm::zip_equal(call.getResults(), callee->getResultTypes()))
    r.setType(type);
  return success();
}

LogicalResult SetPrecisionImpl::setOp(Operation *op) {
  if (auto read = dyn_cast<ReadOp>(op)) {
    if (read.getSlot() != Slot::Param)
      return op->emitError("precision bf16 is for a model that only reads "
                           "parameters");
    setElement(read.getResult(), narrow);
    return success();
  }
  if (auto call = dyn_cast<func::CallOp>(op))
    return setCall(call);
  // Constants take the type that they are used with; conversions are ours.
  if (isa<ConstantOp, ConvertOp>(op) || op->hasTrait<OpTrait::IsTerminator>())
    return success();
  if (auto factorOp = dyn_cast<FactorOpInterface>(op)) {
    setFactorOp(factorOp);
    return success();
  }
  return op->emitError("precision bf16 is for a model as it is written, before "
                       "it is partitioned");
}

LogicalResult SetPrecisionImpl::setFunction(func::FuncOp func) {
  done.insert(func);
  Block &body = func.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(body))
    if (failed(setOp(&op)))
      return failure();
  func.setFunctionType(b.getFunctionType(
      body.getArgumentTypes(), body.getTerminator()->getOperandTypes()));
  // Numbers that are used with bf16 only.
  for (ConstantOp op : llvm::make_early_inc_range(body.getOps<ConstantOp>()))
    if (op->use_empty() && !converted.contains({op, narrow}))
      op.erase();
  return success();
}

LogicalResult SetPrecisionImpl::run() {
  auto order = keepReachable(module, symbols);
  if (failed(order))
    return failure();
  func::FuncOp model = order->back();
  if (failed(checkTypes()))
    return failure();
  for (auto param : module.getOps<ParamOp>()) {
    param.setType(param.getTensorType().withElementType(narrow));
    param.setGradType(gradType);
  }
  // Inputs and outputs are the caller's; inside they are activations.
  Block &body = model.getBody().front();
  b.setInsertionPointToStart(&body);
  for (BlockArgument arg : body.getArguments())
    if (isFloat(arg)) {
      auto type = cast<DTensorType>(arg.getType()).withElementType(narrow);
      auto inside = ConvertOp::create(b, arg.getLoc(), type, arg);
      arg.replaceAllUsesExcept(inside, inside);
    }
  if (failed(setFunction(model)))
    return failure();
  Operation *end = body.getTerminator();
  for (unsigned i = 0; i < end->getNumOperands(); ++i)
    if (isFloat(end->getOperand(i)))
      convert(end, i, full);
  model.setFunctionType(
      b.getFunctionType(body.getArgumentTypes(), end->getOperandTypes()));
  return success();
}

namespace {
struct SetPrecisionPass : dtc::impl::SetPrecisionBase<SetPrecisionPass> {
  using SetPrecisionBase::SetPrecisionBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (StringRef word : {StringRef(precision), StringRef(gradType)})
      if (word != "f32" && word != "bf16") {
        module.emitError(
            "precision and grad-type may be f32 or bf16, but not '")
            << word << "'";
        return signalPassFailure();
      }
    if (precision == "f32") {
      if (gradType == "f32")
        return;
      module.emitError("grad-type may be bf16 with precision bf16 only: "
                       "gradients of f32 parameters are f32");
      return signalPassFailure();
    }
    Builder b(module.getContext());
    Type type = gradType == "bf16" ? Type(b.getBF16Type()) : b.getF32Type();
    if (failed(SetPrecisionImpl(module, type).run()))
      signalPassFailure();
  }
};
} // namespace
