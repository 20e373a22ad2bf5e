//===- Kernels.cpp - Kernels outlined, equal ones once --------------------===//

#include "Kernels.h"
#include "dtc/Dialect/RT/IR/Label.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace dtc;

//===----------------------------------------------------------------------===//
// What an op emits its loops with
//===----------------------------------------------------------------------===//

namespace {
/// How an op's factors are cut.
struct Factors {
  FactorRule rule;
  SmallVector<AxisList> axes;

  explicit Factors(Operation *op)
      : rule(cast<FactorOpInterface>(op).getFactorRule()) {
    SmallVector<DTensorType> types = getOperandTensorTypes(op);
    llvm::append_range(types, getResultTensorTypes(op));
    axes = getFactorAxes(rule, types);
  }
  int64_t pieces(unsigned f) const { return product(axes[f]); }
  int64_t length(unsigned f) const {
    return rule.factors[f].padded / pieces(f);
  }
  bool isPadded(unsigned f) const {
    return rule.factors[f].padded != rule.factors[f].size;
  }
};
} // namespace

class KernelCache::Builder : public KernelBuilder {
public:
  Builder(OpBuilder &b, Location loc, const KernelTarget &target,
          const Factors &factors, Kernel &kernel, unsigned numBuffers)
      : KernelBuilder(b, loc, target), factors(factors), kernel(kernel),
        entry(kernel.func.getBody().front()), numBuffers(numBuffers) {}

  Value first(char name) override {
    unsigned f = *factors.rule.find(name);
    OpBuilder top = OpBuilder::atBlockBegin(&entry);
    if (factors.pieces(f) == 1)
      return arith::ConstantIndexOp::create(top, loc, 0);
    auto it = llvm::find(kernel.factors, f);
    unsigned place = it - kernel.factors.begin();
    if (it == kernel.factors.end()) {
      kernel.factors.push_back(f);
      entry.addArgument(top.getIndexType(), loc);
    }
    return entry.getArgument(numBuffers + kernel.scratch.size() + place);
  }

  Value valid(char name) override {
    unsigned f = *factors.rule.find(name);
    if (!factors.isPadded(f))
      return {};
    Value start = first(name);
    OpBuilder top = OpBuilder::atBlockBegin(&entry);
    int64_t size = factors.rule.factors[f].size;
    if (factors.pieces(f) == 1)
      return arith::ConstantIndexOp::create(top, loc, size);
    Value n = arith::ConstantIndexOp::create(top, loc, size);
    Value zero = arith::ConstantIndexOp::create(top, loc, 0);
    Value length = arith::ConstantIndexOp::create(top, loc, factors.length(f));
    Value left = arith::SubIOp::create(top, loc, n, start);
    left = arith::MaxSIOp::create(top, loc, left, zero);
    return arith::MinSIOp::create(top, loc, left, length);
  }

  Value workspace(int64_t bytes) override {
    return rt::WorkspaceOp::create(
        builder, loc, MemRefType::get({bytes}, builder.getI8Type()));
  }

  Value scratch(int64_t bytes) override {
    auto type = MemRefType::get({bytes}, builder.getI8Type());
    Value value =
        entry.insertArgument(numBuffers + kernel.scratch.size(), type, loc);
    kernel.scratch.push_back(type);
    return value;
  }

private:
  const Factors &factors;
  Kernel &kernel;
  Block &entry;
  unsigned numBuffers;
};

//===----------------------------------------------------------------------===//
// One kernel for equal ops
//===----------------------------------------------------------------------===//

/// Everything that the code of an op's kernel may depend on.
static std::string getKey(Operation *op, const Factors &factors,
                          const KernelCache::InPlace &inPlace) {
  std::string key;
  llvm::raw_string_ostream os(key);
  os << op->getName();
  for (NamedAttribute attr : op->getAttrDictionary())
    if (!attr.getName().getValue().contains('.'))
      os << " " << attr.getName().getValue() << "=" << attr.getValue();
  auto print = [&](Type t) {
    auto type = cast<DTensorType>(t);
    os << " [";
    llvm::interleaveComma(type.getShape(), os);
    os << "|";
    llvm::interleaveComma(type.getPadded(), os);
    os << "|";
    llvm::interleaveComma(type.getLocalShape(), os);
    os << "]" << type.getElementType();
  };
  llvm::for_each(op->getOperandTypes(), print);
  os << " ->";
  llvm::for_each(op->getResultTypes(), print);
  for (unsigned f = 0; f < factors.rule.factors.size(); ++f)
    os << " /" << factors.pieces(f);
  for (auto [operand, result] : inPlace)
    os << " @" << operand << "=" << result;
  return key;
}

func::FuncOp KernelCache::create(Location loc, StringRef name,
                                 TypeRange arguments) {
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  auto func = func::FuncOp::create(
      b, loc, ("kernel_" + Twine(kernels.size() - 1) + "_" + name).str(),
      b.getFunctionType(arguments, {}));
  func.setPrivate();
  func->setAttr(rt::attrs::kernel, b.getUnitAttr());
  func.addEntryBlock();
  return func;
}

/// Gives the function the type of its block, and marks arguments that overlap
/// no other.
static void finish(func::FuncOp func, const KernelCache::InPlace &inPlace,
                   unsigned numIns) {
  Block &entry = func.getBody().front();
  func.setFunctionType(
      FunctionType::get(func.getContext(), entry.getArgumentTypes(), {}));
  SmallVector<bool> shared(entry.getNumArguments(), false);
  for (auto [operand, result] : inPlace)
    shared[operand] = shared[numIns + result] = true;
  for (BlockArgument a : entry.getArguments())
    if (isa<MemRefType>(a.getType()) && !shared[a.getArgNumber()])
      func.setArgAttr(a.getArgNumber(), rt::attrs::noalias,
                      UnitAttr::get(func.getContext()));
}

/// What profiles call the kernel: name, attributes, and shapes of the pieces.
static std::string getLabel(Operation *op) {
  std::string label = op->getName().stripDialect().str();
  llvm::raw_string_ostream os(label);
  for (NamedAttribute attr : op->getAttrDictionary())
    // Which operands there are shows in their shapes.
    if (!attr.getName().getValue().contains('.') &&
        attr.getName() != "operandSegmentSizes") {
      os << " ";
      if (auto text = dyn_cast<StringAttr>(attr.getValue()))
        os << text.getValue();
      else
        os << attr.getName().getValue() << "=" << attr.getValue();
    }
  auto print = [&](Type t) {
    auto type = cast<DTensorType>(t);
    os << " ";
    for (int64_t n : type.getLocalShape())
      os << n << "x";
    os << type.getElementType();
  };
  llvm::for_each(op->getOperandTypes(), print);
  os << " ->";
  llvm::for_each(op->getResultTypes(), print);
  return label;
}

FailureOr<KernelCache::Kernel *> KernelCache::get(Operation *op, TypeRange ins,
                                                  TypeRange outs,
                                                  const InPlace &inPlace) {
  Factors factors(op);
  auto [it, isNew] =
      kernels.try_emplace(getKey(op, factors, inPlace), Kernel());
  Kernel &kernel = it->second;
  if (!isNew)
    return &kernel;
  SmallVector<Type> arguments(ins);
  llvm::append_range(arguments, outs);
  kernel.func = create(op->getLoc(), op->getName().stripDialect(), arguments);
  kernel.func->setAttr(rt::labelAttr,
                       StringAttr::get(op->getContext(), getLabel(op)));
  Block &entry = kernel.func.getBody().front();
  OpBuilder b = OpBuilder::atBlockEnd(&entry);
  Builder builder(b, op->getLoc(), target, factors, kernel, arguments.size());
  for (Value a : entry.getArguments())
    (builder.operands.size() < ins.size() ? builder.operands : builder.results)
        .push_back(a);
  if (failed(cast<KernelOpInterface>(op).emitKernel(builder)))
    return op->emitError("has no kernel");
  b.setInsertionPointToEnd(&entry);
  func::ReturnOp::create(b, op->getLoc());
  finish(kernel.func, inPlace, ins.size());
  return &kernel;
}

LogicalResult KernelCache::launch(OpBuilder &b, Operation *op, ValueRange ins,
                                  ValueRange outs, const InPlace &inPlace) {
  FailureOr<Kernel *> kernel =
      get(op, TypeRange(ins), TypeRange(outs), inPlace);
  if (failed(kernel))
    return failure();
  SmallVector<Value> scratch, index;
  for (MemRefType type : (*kernel)->scratch)
    scratch.push_back(
        rt::AllocOp::create(b, op->getLoc(), type, IntegerAttr()));
  if (!(*kernel)->factors.empty()) {
    Factors factors(op);
    for (unsigned f : (*kernel)->factors)
      index.push_back(rt::IndexOp::create(
          b, op->getLoc(), b.getIndexType(),
          AxesAttr::get(b.getContext(), factors.axes[f]), factors.length(f)));
  }
  rt::LaunchOp::create(b, op->getLoc(), (*kernel)->func.getSymName(), ins, outs,
                       scratch, index);
  return success();
}

void KernelCache::launchLocal(
    OpBuilder &b, Location loc, StringRef name, const Twine &variant,
    Value from, Value to, Value index,
    function_ref<void(OpBuilder &, ValueRange)> body) {
  std::string key;
  llvm::raw_string_ostream(key)
      << name << " " << variant << " " << from.getType() << " " << to.getType();
  InPlace inPlace;
  if (from == to) {
    inPlace.push_back({0, 0});
    key += " in place";
  }
  auto [it, isNew] = kernels.try_emplace(key, Kernel());
  Kernel &kernel = it->second;
  if (isNew) {
    SmallVector<Type> arguments{from.getType(), to.getType()};
    if (index)
      arguments.push_back(b.getIndexType());
    kernel.func = create(loc, name, arguments);
    Block &entry = kernel.func.getBody().front();
    OpBuilder inner = OpBuilder::atBlockEnd(&entry);
    body(inner, entry.getArguments());
    inner.setInsertionPointToEnd(&entry);
    func::ReturnOp::create(inner, loc);
    finish(kernel.func, inPlace, 1);
  }
  rt::LaunchOp::create(b, loc, kernel.func.getSymName(), from, to, ValueRange(),
                       index ? ValueRange(index) : ValueRange());
}
