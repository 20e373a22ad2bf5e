//===- Dialect.cpp - Registration, interfaces, attributes -----------------===//

#include "dtc/Dialect/DTC/IR/DTC.h"
#include "dtc/Dialect/DTC/IR/KernelBuilder.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace dtc;

#include "dtc/Dialect/DTC/IR/DTCDialect.cpp.inc"
#include "dtc/Dialect/DTC/IR/DTCEnums.cpp.inc"
#include "dtc/Dialect/DTC/IR/DTCInterfaces.cpp.inc"

void DTCDialect::initialize() {
  registerTypesAndAttributes();
  registerOps();
}

MeshAttr dtc::getMesh(Operation *op) {
  // The nearest: while a file is being read, its module stands in another.
  for (Operation *at = op; at; at = at->getParentOp())
    if (auto mesh = at->getAttrOfType<MeshAttr>(attrs::mesh))
      return mesh;
  return MeshAttr::get(op->getContext(), {});
}

//===----------------------------------------------------------------------===//
// Discardable attributes
//===----------------------------------------------------------------------===//

/// Every axis of every type of the module lies on its mesh. One walk, at the
/// module, because a type alone does not know the mesh.
/// Of a parameter that need not verify; null if it has none.
static Type getUnverifiedType(ParamOp param) {
  TypeAttr type = param.getTypeAttr();
  return type ? type.getValue() : Type();
}

static LogicalResult verifyAxesOnMesh(Operation *module, MeshAttr mesh) {
  auto check = [&](Operation *op, Type type) -> LogicalResult {
    auto tensor = dyn_cast_if_present<DTensorType>(type);
    if (!tensor)
      return success();
    for (const Axis &a : tensor.getNamedAxes())
      if (a.name.getValue() == pipelineAxis)
        return op->emitError("axis pp cuts the program in stages: it may not "
                             "stand in ")
               << type;
      else if (!mesh.contains(a))
        return op->emitError("axis ") << toString(ArrayRef<Axis>(a)) << " of "
                                      << type << " is not on the mesh " << mesh;
    return success();
  };
  WalkResult result = module->walk([&](Operation *op) {
    for (Type t : op->getResultTypes())
      if (failed(check(op, t)))
        return WalkResult::interrupt();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Type t : block.getArgumentTypes())
          if (failed(check(op, t)))
            return WalkResult::interrupt();
    if (auto param = dyn_cast<ParamOp>(op))
      if (failed(check(op, getUnverifiedType(param))))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// `dtc.dims`: names of a value's dimensions.
static LogicalResult verifyDims(Operation *op, Attribute attr, Type type) {
  auto names = dyn_cast<ArrayAttr>(attr);
  auto tensor = dyn_cast_if_present<DTensorType>(type);
  if (!names || !tensor ||
      names.size() != static_cast<size_t>(tensor.getRank()) ||
      !llvm::all_of(names, [](Attribute a) { return isa<StringAttr>(a); }))
    return op->emitOpError("dtc.dims must name every dimension of ") << type;
  return success();
}

/// `dtc.sharding`: the axes of a value's dimensions.
static LogicalResult verifySharding(Operation *op, Attribute attr, Type type) {
  auto axes = dyn_cast<ArrayAttr>(attr);
  auto tensor = dyn_cast_if_present<DTensorType>(type);
  if (!axes || !tensor ||
      axes.size() != static_cast<size_t>(tensor.getRank()) ||
      !llvm::all_of(axes, [](Attribute a) { return isa<AxesAttr>(a); }))
    return op->emitOpError("dtc.sharding must list the axes of every "
                           "dimension of ")
           << type;
  return success();
}

/// `dtc.stage` and `dtc.phase`: which part of which pipeline stage a call is.
static LogicalResult verifyStageAttribute(Operation *op, NamedAttribute attr) {
  if (!isa<CallOpInterface>(op))
    return op->emitOpError()
           << attr.getName().getValue() << " may stand on a call only";
  if (attr.getName() == attrs::stage) {
    auto stage = dyn_cast<IntegerAttr>(attr.getValue());
    if (!stage || !stage.getType().isInteger(64) || stage.getInt() < 0)
      return op->emitOpError("dtc.stage must be an i64 that is not negative");
    return success();
  }
  auto phase = dyn_cast<StringAttr>(attr.getValue());
  StringRef phases[] = {"forward", "backward", "input_backward",
                        "weight_backward"};
  if (!phase || !llvm::is_contained(phases, phase.getValue()))
    return op->emitOpError("dtc.phase must be \"forward\", \"backward\", "
                           "\"input_backward\" or \"weight_backward\"");
  if (!op->hasAttr(attrs::stage))
    return op->emitOpError("dtc.phase needs a dtc.stage beside it");
  return success();
}

LogicalResult DTCDialect::verifyOperationAttribute(Operation *op,
                                                   NamedAttribute attr) {
  if (attr.getName() == attrs::mesh) {
    auto mesh = dyn_cast<MeshAttr>(attr.getValue());
    if (!mesh || !isa<ModuleOp>(op))
      return op->emitOpError("dtc.mesh must be a mesh, on a module");
    return verifyAxesOnMesh(op, mesh);
  }
  if (attr.getName() == attrs::dims || attr.getName() == attrs::sharding) {
    auto param = dyn_cast<ParamOp>(op);
    if (!param && op->getNumResults() == 0)
      return op->emitOpError() << attr.getName() << " needs a result";
    // The first result is the annotated one.
    Type type = param ? getUnverifiedType(param) : op->getResult(0).getType();
    return attr.getName() == attrs::dims
               ? verifyDims(op, attr.getValue(), type)
               : verifySharding(op, attr.getValue(), type);
  }
  if (attr.getName() == attrs::stage || attr.getName() == attrs::phase)
    return verifyStageAttribute(op, attr);
  return success();
}

/// `dtc.input` and `dtc.output`: a string that no argument or result before it
/// has. `get` gives the attribute of one of them.
static LogicalResult verifyName(Operation *op, StringRef what, Attribute attr,
                                unsigned index,
                                function_ref<Attribute(unsigned)> get) {
  if (!isa<StringAttr>(attr))
    return op->emitOpError() << what << " must be a string";
  for (unsigned i = 0; i < index; ++i)
    if (get(i) == attr)
      return op->emitOpError() << what << " " << attr << " stands at #" << i
                               << " and at #" << index;
  return success();
}

LogicalResult DTCDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                   unsigned arg,
                                                   NamedAttribute attr) {
  auto func = dyn_cast<FunctionOpInterface>(op);
  if (!func)
    return success();
  Type type = func.getArgumentTypes()[arg];
  if (attr.getName() == attrs::input)
    return verifyName(op, attrs::input, attr.getValue(), arg, [&](unsigned i) {
      return func.getArgAttr(i, attrs::input);
    });
  if (attr.getName() == attrs::dims)
    return verifyDims(op, attr.getValue(), type);
  if (attr.getName() == attrs::sharding)
    return verifySharding(op, attr.getValue(), type);
  return success();
}

LogicalResult DTCDialect::verifyRegionResultAttribute(Operation *op, unsigned,
                                                      unsigned result,
                                                      NamedAttribute attr) {
  auto func = dyn_cast<FunctionOpInterface>(op);
  if (!func || attr.getName() != attrs::output)
    return success();
  return verifyName(
      op, attrs::output, attr.getValue(), result,
      [&](unsigned i) { return func.getResultAttr(i, attrs::output); });
}

//===----------------------------------------------------------------------===//
// Building derivatives
//===----------------------------------------------------------------------===//

DTensorType BackwardBuilder::conjugate(Value forward) {
  return cast<DTensorType>(forward.getType()).getConjugate();
}

void BackwardBuilder::passThroughF(Operation *op) {
  FactorRule rule = cast<FactorOpInterface>(op).getFactorRule();
  SmallVector<DTensorType> types = getOperandTensorTypes(op);
  llvm::append_range(types, getResultTensorTypes(op));
  SmallVector<AxisList> factorAxes = getFactorAxes(rule, types);
  for (OpOperand &operand : op->getOpOperands()) {
    unsigned v = operand.getOperandNumber();
    FactorSet has = rule.factorsOf(v);
    DTensorType type = types[v];
    AxisList lacking;
    for (auto [f, axes] : llvm::enumerate(factorAxes))
      if (!has[f])
        for (const Axis &a : axes)
          if (!overlap(a, type.getNamedAxes()) &&
              !llvm::is_contained(lacking, a))
            lacking.push_back(a);
    if (lacking.empty())
      continue;
    builder.setInsertionPoint(op);
    operand.set(createCollective(
        builder, loc, {CollectiveKind::F, mergedSet(lacking)}, operand.get()));
    builder.setInsertionPointAfter(op);
  }
}
