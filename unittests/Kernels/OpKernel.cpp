//===- OpKernel.cpp - One op's kernel as a function -----------------------===//
#include "OpKernel.h"
#include "dtc/Dialect/DTC/IR/KernelBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir;
using namespace dtc;
using namespace dtc::test;

namespace {

class TestKernelBuilder : public KernelBuilder {
public:
  /// `table`: first and valid of every factor; `memory`: the scratch memory's
  /// address.
  TestKernelBuilder(OpBuilder &b, Location loc, KernelModule &module,
                    const FactorRule &rule, ArrayRef<AxisList> factorAxes,
                    Value table, Value memory)
      : KernelBuilder(b, loc, module.target()), module(module), rule(rule),
        factorAxes(factorAxes), table(table), memory(memory) {}

  Value entry(int64_t i) {
    Value at = arith::ConstantIndexOp::create(builder, loc, i);
    Value x = memref::LoadOp::create(builder, loc, table, ValueRange{at});
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), x);
  }
  Value first(char factor) override {
    unsigned f = *rule.find(factor);
    if (factorAxes[f].empty())
      return arith::ConstantIndexOp::create(builder, loc, 0);
    return entry(2 * f);
  }
  Value valid(char factor) override {
    unsigned f = *rule.find(factor);
    if (rule.factors[f].size == rule.factors[f].padded)
      return {};
    return entry(2 * f + 1);
  }
  Value workspace(int64_t bytes) override {
    return module.workspace().request(builder, loc, bytes);
  }
  Value scratch(int64_t bytes) override {
    if (scratchBytes)
      llvm::report_fatal_error("scratch is to be called once");
    scratchBytes = (bytes + 63) / 64 * 64;
    Value address =
        arith::IndexCastOp::create(builder, loc, builder.getI64Type(), memory);
    Value pointer = LLVM::IntToPtrOp::create(
        builder, loc, LLVM::LLVMPointerType::get(builder.getContext()),
        address);
    return codegen::memrefFromPointer(
        builder, loc, pointer, MemRefType::get({bytes}, builder.getI8Type()));
  }

  KernelModule &module;
  const FactorRule &rule;
  ArrayRef<AxisList> factorAxes;
  Value table, memory;
  int64_t scratchBytes = 0;
};

} // namespace

std::optional<int64_t> dtc::test::addOpKernel(KernelModule &module,
                                              const std::string &name,
                                              Operation *op,
                                              const FactorRule &rule,
                                              ArrayRef<AxisList> factorAxes) {
  SmallVector<Type> arguments;
  auto addBuffer = [&](Value v) {
    auto type = cast<DTensorType>(v.getType());
    arguments.push_back(
        module.memref(type.getLocalShape(), type.getElementType()));
  };
  llvm::for_each(op->getOperands(), addBuffer);
  llvm::for_each(op->getResults(), addBuffer);
  int64_t entries = std::max<int64_t>(1, 2 * rule.factors.size());
  arguments.push_back(module.memref({entries}, module.builder().getI64Type()));
  arguments.push_back(module.builder().getIndexType());
  std::optional<int64_t> scratchBytes;
  module.add(name, arguments, [&](OpBuilder &b, ValueRange values) {
    TestKernelBuilder kb(b, module.loc(), module, rule, factorAxes,
                         values.drop_back().back(), values.back());
    for (unsigned i = 0; i < op->getNumOperands(); ++i)
      kb.operands.push_back(values[i]);
    for (unsigned r = 0; r < op->getNumResults(); ++r)
      kb.results.push_back(values[op->getNumOperands() + r]);
    if (succeeded(cast<KernelOpInterface>(op).emitKernel(kb)))
      scratchBytes = kb.scratchBytes;
  });
  return scratchBytes;
}

void dtc::test::callOpKernel(void *function, ArrayRef<void *> arguments) {
  // Unused arguments are harmless to a C function; the longest op has thirteen
  // operands and three results.
  SmallVector<void *> a(arguments);
  assert(a.size() <= 20);
  a.resize(20, nullptr);
  using P = void *;
  using Fn =
      void (*)(P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P);
  reinterpret_cast<Fn>(function)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7],
                                 a[8], a[9], a[10], a[11], a[12], a[13], a[14],
                                 a[15], a[16], a[17], a[18], a[19]);
}
