//===- Dialect.cpp - Registration, types, attributes of rt ----------------===//

#include "dtc/Dialect/RT/IR/RT.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dtc;
using namespace dtc::rt;

#include "dtc/Dialect/RT/IR/RTDialect.cpp.inc"
#include "dtc/Dialect/RT/IR/RTEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dtc/Dialect/RT/IR/RTAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dtc/Dialect/RT/IR/RTTypes.cpp.inc"

void RTDialect::initialize() {
  registerTypesAndAttributes();
  registerOps();
}

void RTDialect::registerTypesAndAttributes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dtc/Dialect/RT/IR/RTTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dtc/Dialect/RT/IR/RTAttrs.cpp.inc"
      >();
}

LogicalResult BlockAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                ArrayRef<int64_t> sizes, bool) {
  if (sizes.size() != 5 || llvm::any_of(sizes, [](int64_t n) { return n < 0; }))
    return emitError() << "a block has five sizes, none negative";
  if (!isCountable(sizes))
    return emitError() << "a block has at most 2^50 elements";
  return success();
}

int64_t BlockAttr::getNumElements() const {
  int64_t n = 1;
  for (int64_t s : getSizes())
    n *= s;
  return n;
}

bool rt::isBuffer(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  return memref && memref.hasStaticShape() && memref.getLayout().isIdentity() &&
         memref.getElementType().isIntOrFloat() &&
         isCountable(memref.getShape());
}

MemRefType rt::getLocalBufferType(DTensorType type) {
  return MemRefType::get(type.getLocalShape(), type.getElementType());
}

int64_t rt::getBytes(MemRefType type) {
  return type.getNumElements() * type.getElementTypeBitWidth() / 8;
}

int64_t rt::getStage(func::FuncOp step) {
  auto stage = step->getAttrOfType<IntegerAttr>(rt::attrs::stage);
  return stage ? stage.getInt() : 0;
}

SmallVector<func::FuncOp> rt::getSteps(ModuleOp module) {
  SmallVector<func::FuncOp> steps;
  for (auto f : module.getOps<func::FuncOp>())
    if (f->hasAttr(rt::attrs::step))
      steps.push_back(f);
  llvm::sort(steps, [](func::FuncOp a, func::FuncOp b) {
    return getStage(a) < getStage(b);
  });
  return steps;
}

DenseMap<int64_t, SmallVector<StorageOp>> rt::getStorage(ModuleOp module) {
  DenseMap<int64_t, SmallVector<StorageOp>> storage;
  for (auto op : module.getOps<StorageOp>())
    storage[op.getStage()].push_back(op);
  return storage;
}

void dtc::rt::forEachBufferUse(Operation *op,
                               function_ref<void(Value, bool)> use) {
  auto all = [&](ValueRange buffers, bool writes) {
    for (Value v : buffers)
      if (isa<MemRefType>(v.getType()))
        use(v, writes);
  };
  if (auto wait = dyn_cast<WaitOp>(op))
    op = wait.getToken().getDefiningOp<StartOp>();
  if (auto launch = dyn_cast<LaunchOp>(op)) {
    all(launch.getIns(), false);
    all(launch.getOuts(), true);
    all(launch.getScratch(), true);
  } else if (auto call = dyn_cast<CallOp>(op)) {
    all(call.getIns(), false);
    all(call.getOuts(), true);
  } else if (auto start = dyn_cast<StartOp>(op)) {
    all(start.getSend(), false);
    all(start.getRecv(), true);
  } else {
    all(op->getOperands(), true);
  }
}
