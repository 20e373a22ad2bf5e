//===- Control.cpp - Layers as lists of calls -----------------------------===//

#include "Control.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace dtc;

Value Control::constant(Location loc, int64_t n) {
  return LLVM::ConstantOp::create(b, loc, b.getI64Type(),
                                  b.getI64IntegerAttr(n));
}

Value Control::offset(Location loc, Value base, int64_t bytes) {
  return LLVM::GEPOp::create(b, loc, ptr, b.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{bytes});
}

LLVM::LLVMFuncOp Control::createFunction(Location loc, StringRef name,
                                         ArrayRef<Type> types,
                                         LLVM::Linkage linkage) {
  OpBuilder top = OpBuilder::atBlockEnd(module.getBody());
  auto func = LLVM::LLVMFuncOp::create(
      top, loc, name,
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                  types),
      linkage);
  // There is nothing to optimize in a list of calls.
  func.setPassthroughAttr(b.getStrArrayAttr({"noinline", "optnone"}));
  entry = func.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  rank = entry->getArgument(0);
  frame = types.size() > 1 ? entry->getArgument(1) : Value();
  rankId = Value();
  return func;
}

Value Control::getRankId(Location loc) {
  if (!rankId) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(entry);
    rankId = LLVM::CallOp::create(b, loc, rt.rankId, rank).getResult();
  }
  return rankId;
}

SmallVector<Value> Control::addresses(ValueRange buffers, Location loc) {
  SmallVector<Value> out;
  for (Value v : buffers)
    out.push_back(address(v, loc));
  return out;
}

void Control::emitLaunch(rt::LaunchOp op) {
  SmallVector<Value> args{rank};
  for (ValueRange buffers : {op.getIns(), op.getOuts(), op.getScratch()})
    llvm::append_range(args, addresses(buffers, op.getLoc()));
  for (Value v : op.getIndex())
    args.push_back(emitIndex(v.getDefiningOp<rt::IndexOp>()));
  func::CallOp::create(b, op.getLoc(), op.getKernel(), TypeRange(), args);
}

void Control::emitCall(rt::CallOp op, Value calleeFrame) {
  SmallVector<Value> args{rank, calleeFrame};
  for (ValueRange buffers : {op.getIns(), op.getOuts()})
    llvm::append_range(args, addresses(buffers, op.getLoc()));
  LLVM::CallOp::create(b, op.getLoc(), TypeRange(), op.getCallee(), args);
}

Value Control::emitPointers(ValueRange buffers, Location loc) {
  Value array;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(entry);
    array =
        LLVM::AllocaOp::create(b, loc, ptr, ptr, constant(loc, buffers.size()));
  }
  for (auto [i, v] : llvm::enumerate(addresses(buffers, loc)))
    LLVM::StoreOp::create(b, loc, v, offset(loc, array, i * sizeof(void *)));
  return array;
}

void Control::emitStart(rt::StartOp op) {
  Location loc = op.getLoc();
  LLVM::GlobalOp what = createDescriptor(module, op, numDescriptors++);
  Value descriptor = LLVM::AddressOfOp::create(b, loc, ptr, what.getSymName());
  Value slot = LLVM::ConstantOp::create(b, loc, b.getI32Type(),
                                        b.getI32IntegerAttr(*op.getSlot()));
  Value send = emitPointers(op.getSend(), loc);
  Value recv = emitPointers(op.getRecv(), loc);
  LLVM::CallOp::create(b, loc, rt.start,
                       ValueRange{rank, descriptor, slot, send, recv});
}

void Control::emitWait(Value slot, Location loc) {
  LLVM::CallOp::create(b, loc, rt.wait, ValueRange{rank, slot});
}

/// The coordinates on the axes, major to minor, as one number.
Value Control::emitIndex(rt::IndexOp op) {
  Location loc = op.getLoc();
  MeshAttr mesh = getMesh(module);
  Value id = getRankId(loc), index = constant(loc, 0);
  for (const Axis &a : op.getAxes().getAxes()) {
    Value size = constant(loc, a.size);
    Value at =
        LLVM::UDivOp::create(b, loc, id, constant(loc, mesh.getStride(a)));
    at = LLVM::URemOp::create(b, loc, at, size);
    index = LLVM::MulOp::create(b, loc, index, size);
    index = LLVM::AddOp::create(b, loc, index, at);
  }
  index = LLVM::MulOp::create(b, loc, index, constant(loc, op.getScale()));
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), index);
}

void Control::emitFill(rt::FillOp op) {
  Location loc = op.getLoc();
  MemRefType type = op.getBuffer().getType();
  Value to = address(op.getBuffer(), loc);
  double value = op.getValue().convertToDouble();
  if (value == 0 && !std::signbit(value)) {
    Value zero =
        LLVM::ConstantOp::create(b, loc, b.getI8Type(), b.getI8IntegerAttr(0));
    LLVM::MemsetOp::create(b, loc, to, zero, constant(loc, rt::getBytes(type)),
                           /*isVolatile=*/false);
    return;
  }
  Type element = type.getElementType();
  TypedAttr attr =
      isa<FloatType>(element)
          ? TypedAttr(b.getFloatAttr(element, value))
          : TypedAttr(b.getIntegerAttr(element, static_cast<int64_t>(value)));
  Value x = LLVM::ConstantOp::create(b, loc, element, attr);
  if (type.getNumElements() == 1) {
    LLVM::StoreOp::create(b, loc, x, to);
    return;
  }
  auto index = [&](int64_t n) -> Value {
    return arith::ConstantIndexOp::create(b, loc, n);
  };
  auto loop = scf::ForOp::create(b, loc, index(0), index(type.getNumElements()),
                                 index(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(loop.getBody()->getTerminator());
  Value i = arith::IndexCastOp::create(b, loc, b.getI64Type(),
                                       loop.getInductionVar());
  Value at =
      LLVM::GEPOp::create(b, loc, ptr, element, to, ArrayRef<LLVM::GEPArg>{i});
  LLVM::StoreOp::create(b, loc, x, at);
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

namespace {
/// Buffers are addresses, computed where they are used: there is nothing to
/// keep in registers between calls.
class LayerLowering : public Control {
public:
  using Control::Control;

  void run(func::FuncOp func) {
    // (rank, frame, buffers...).
    SmallVector<Type> types(2 + func.getNumArguments(), ptr);
    createFunction(func.getLoc(), func.getName(), types,
                   LLVM::Linkage::Internal);
    for (auto [from, arg] : llvm::zip_equal(
             func.getArguments(), entry->getArguments().drop_front(2)))
      values.map(from, arg);
    lowerBlock(func.getBody().front());
    LLVM::ReturnOp::create(b, func.getLoc(), ValueRange());
  }

private:
  Value address(Value buffer, Location loc) override {
    if (auto alloc = buffer.getDefiningOp<rt::AllocOp>())
      return offset(loc, frame, *alloc.getOffset());
    return values.lookup(buffer);
  }

  void lowerBlock(Block &block) {
    for (Operation &op : block)
      lower(op);
  }

  void lower(Operation &op) {
    Location loc = op.getLoc();
    if (isa<rt::AllocOp, rt::IndexOp, func::ReturnOp, scf::YieldOp>(op))
      return;
    if (auto launch = dyn_cast<rt::LaunchOp>(op)) {
      emitLaunch(launch);
    } else if (auto call = dyn_cast<rt::CallOp>(op)) {
      emitCall(call, offset(loc, frame, *call.getOffset()));
    } else if (auto start = dyn_cast<rt::StartOp>(op)) {
      emitStart(start);
    } else if (auto wait = dyn_cast<rt::WaitOp>(op)) {
      auto of = wait.getToken().getDefiningOp<rt::StartOp>();
      emitWait(LLVM::ConstantOp::create(b, loc, b.getI32Type(),
                                        b.getI32IntegerAttr(*of.getSlot())),
               loc);
    } else if (auto fill = dyn_cast<rt::FillOp>(op)) {
      emitFill(fill);
    } else if (auto set = dyn_cast<rt::SetIndexOp>(op)) {
      Value n = arith::IndexCastOp::create(b, loc, b.getI32Type(),
                                           values.lookup(set.getIndex()));
      LLVM::StoreOp::create(b, loc, n, address(set.getBuffer(), loc));
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      auto to = scf::ForOp::create(b, loc, values.lookup(loop.getLowerBound()),
                                   values.lookup(loop.getUpperBound()),
                                   values.lookup(loop.getStep()));
      values.map(loop.getInductionVar(), to.getInductionVar());
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(to.getBody()->getTerminator());
      lowerBlock(*loop.getBody());
    } else {
      b.clone(op, values);
    }
  }

  IRMapping values;
};
} // namespace

void dtc::lowerLayer(func::FuncOp func, const RuntimeFunctions &rt,
                     unsigned &numDescriptors) {
  LayerLowering(func->getParentOfType<ModuleOp>(), rt, numDescriptors)
      .run(func);
  func.erase();
}
