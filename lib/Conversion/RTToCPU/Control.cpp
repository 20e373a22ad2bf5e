//===- Control.cpp - Layers and the step as lists of calls ----------------===//

#include "Lowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace dtc;

namespace {

/// Rewrites one function. Buffers are addresses, computed where they are used:
/// the compiler then has nothing to keep in registers between calls.
class ControlLowering {
public:
  ControlLowering(func::FuncOp func, const RuntimeFunctions &rt,
                  unsigned &numDescriptors)
      : func(func), rt(rt), numDescriptors(numDescriptors),
        module(func->getParentOfType<ModuleOp>()), b(func),
        ptr(LLVM::LLVMPointerType::get(func.getContext())) {}

  void run() {
    bool isStep = func->hasAttr(rt::attrs::step);
    // (rank, frame, buffers...); the step's frame lies in the arena.
    SmallVector<Type> types(2 + func.getNumArguments(), ptr);
    auto to = LLVM::LLVMFuncOp::create(
        b, func.getLoc(), isStep ? "dtc_program_step" : func.getName(),
        LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                    types),
        isStep ? LLVM::Linkage::External : LLVM::Linkage::Internal);
    // There is nothing to optimize in a list of calls, and a long one takes
    // optimizers long.
    to.setPassthroughAttr(b.getStrArrayAttr({"noinline", "optnone"}));
    Block *entry = to.addEntryBlock(b);
    rank = entry->getArgument(0);
    frame = entry->getArgument(1);
    if (isStep)
      frameOffset = module->getAttrOfType<IntegerAttr>(rt::attrs::frameOffset)
                        .getInt();
    for (auto [from, arg] :
         llvm::zip_equal(func.getArguments(), entry->getArguments().drop_front(2)))
      values.map(from, arg);
    top = entry;
    b.setInsertionPointToStart(entry);
    lowerBlock(func.getBody().front());
    LLVM::ReturnOp::create(b, func.getLoc(), ValueRange());
    func.erase();
  }

private:
  Value constant(Location loc, int64_t n) {
    return LLVM::ConstantOp::create(b, loc, b.getI64Type(),
                                    b.getI64IntegerAttr(n));
  }
  Value offset(Location loc, Value base, int64_t bytes) {
    return LLVM::GEPOp::create(b, loc, ptr, b.getI8Type(), base,
                               ArrayRef<LLVM::GEPArg>{bytes});
  }
  /// The address of a buffer.
  Value address(Value buffer, Location loc) {
    if (auto alloc = buffer.getDefiningOp<rt::AllocOp>())
      return offset(loc, frame, frameOffset + *alloc.getOffset());
    if (auto storage = buffer.getDefiningOp<rt::AddressOp>()) {
      auto op = SymbolTable::lookupNearestSymbolFrom<rt::StorageOp>(
          storage, storage.getStorageAttr());
      return offset(loc, frame, *op.getOffset());
    }
    return values.lookup(buffer);
  }
  void addresses(ValueRange buffers, Location loc, SmallVector<Value> &to) {
    for (Value v : buffers)
      to.push_back(address(v, loc));
  }

  Value getRankId(Location loc) {
    if (!rankId) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(top);
      rankId = LLVM::CallOp::create(b, loc, rt.rankId, rank).getResult();
    }
    return rankId;
  }

  void lowerBlock(Block &block) {
    for (Operation &op : block)
      lower(op);
  }

  void lower(Operation &op) {
    Location loc = op.getLoc();
    if (isa<rt::AllocOp, rt::AddressOp, func::ReturnOp, scf::YieldOp>(op))
      return;
    if (auto launch = dyn_cast<rt::LaunchOp>(op)) {
      SmallVector<Value> args{rank};
      addresses(launch.getIns(), loc, args);
      addresses(launch.getOuts(), loc, args);
      addresses(launch.getScratch(), loc, args);
      for (Value v : launch.getIndex())
        args.push_back(values.lookup(v));
      func::CallOp::create(b, loc, launch.getKernel(), TypeRange(), args);
    } else if (auto call = dyn_cast<rt::CallOp>(op)) {
      SmallVector<Value> args{
          rank, offset(loc, frame, frameOffset + *call.getOffset())};
      addresses(call.getIns(), loc, args);
      addresses(call.getOuts(), loc, args);
      LLVM::CallOp::create(b, loc, TypeRange(), call.getCallee(), args);
    } else if (auto start = dyn_cast<rt::StartOp>(op)) {
      lowerStart(start);
    } else if (auto wait = dyn_cast<rt::WaitOp>(op)) {
      auto of = wait.getToken().getDefiningOp<rt::StartOp>();
      LLVM::CallOp::create(b, loc, rt.wait, ValueRange{rank, slot(of)});
    } else if (auto index = dyn_cast<rt::IndexOp>(op)) {
      lowerIndex(index);
    } else if (auto fill = dyn_cast<rt::FillOp>(op)) {
      lowerFill(fill);
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

  Value slot(rt::StartOp start) {
    return LLVM::ConstantOp::create(b, start.getLoc(), b.getI32Type(),
                                    b.getI32IntegerAttr(*start.getSlot()));
  }

  /// An array of pointers on the stack.
  Value pointers(ValueRange buffers, Location loc) {
    Value array;
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(top);
      Value n = constant(loc, buffers.size());
      array = LLVM::AllocaOp::create(b, loc, ptr, ptr, n);
    }
    for (auto [i, v] : llvm::enumerate(buffers))
      LLVM::StoreOp::create(b, loc, address(v, loc),
                            offset(loc, array, i * sizeof(void *)));
    return array;
  }

  void lowerStart(rt::StartOp start) {
    Location loc = start.getLoc();
    LLVM::GlobalOp what = createDescriptor(module, start, numDescriptors++);
    Value descriptor =
        LLVM::AddressOfOp::create(b, loc, ptr, what.getSymName());
    Value send = pointers(start.getSend(), loc);
    Value recv = pointers(start.getRecv(), loc);
    LLVM::CallOp::create(b, loc, rt.start,
                         ValueRange{rank, descriptor, slot(start), send, recv});
  }

  /// The coordinates on the axes, major to minor, as one number.
  void lowerIndex(rt::IndexOp op) {
    Location loc = op.getLoc();
    MeshAttr mesh = getMesh(op);
    Value id = getRankId(loc), index = constant(loc, 0);
    for (const Axis &a : op.getAxes().getAxes()) {
      Value size = constant(loc, a.size);
      Value at = LLVM::UDivOp::create(b, loc, id,
                                      constant(loc, mesh.getStride(a)));
      at = LLVM::URemOp::create(b, loc, at, size);
      index = LLVM::MulOp::create(b, loc, index, size);
      index = LLVM::AddOp::create(b, loc, index, at);
    }
    index = LLVM::MulOp::create(b, loc, index, constant(loc, op.getScale()));
    values.map(op.getResult(), arith::IndexCastOp::create(
                                   b, loc, b.getIndexType(), index)
                                   .getResult());
  }

  void lowerFill(rt::FillOp fill) {
    Location loc = fill.getLoc();
    MemRefType type = fill.getBuffer().getType();
    Value to = address(fill.getBuffer(), loc);
    double value = fill.getValue().convertToDouble();
    if (value == 0 && !std::signbit(value)) {
      Value zero = LLVM::ConstantOp::create(b, loc, b.getI8Type(),
                                            b.getI8IntegerAttr(0));
      LLVM::MemsetOp::create(b, loc, to, zero,
                             constant(loc, rt::getBytes(type)),
                             /*isVolatile=*/false);
      return;
    }
    Type element = type.getElementType();
    TypedAttr attr = isa<FloatType>(element)
                         ? TypedAttr(b.getFloatAttr(element, value))
                         : TypedAttr(b.getIntegerAttr(
                               element, static_cast<int64_t>(value)));
    Value x = LLVM::ConstantOp::create(b, loc, element, attr);
    if (type.getNumElements() == 1) {
      LLVM::StoreOp::create(b, loc, x, to);
      return;
    }
    auto index = [&](int64_t n) {
      return arith::ConstantIndexOp::create(b, loc, n);
    };
    auto loop = scf::ForOp::create(b, loc, index(0),
                                   index(type.getNumElements()), index(1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(loop.getBody()->getTerminator());
    Value i = arith::IndexCastOp::create(b, loc, b.getI64Type(),
                                         loop.getInductionVar());
    Value at = LLVM::GEPOp::create(b, loc, ptr, element, to,
                                   ArrayRef<LLVM::GEPArg>{i});
    LLVM::StoreOp::create(b, loc, x, at);
  }

  func::FuncOp func;
  const RuntimeFunctions &rt;
  unsigned &numDescriptors;
  ModuleOp module;
  OpBuilder b;
  Type ptr;
  IRMapping values;
  Value rank, frame, rankId;
  Block *top = nullptr;
  int64_t frameOffset = 0;
};

} // namespace

void dtc::lowerControl(func::FuncOp func, const RuntimeFunctions &rt,
                       unsigned &numDescriptors) {
  ControlLowering(func, rt, numDescriptors).run();
}
