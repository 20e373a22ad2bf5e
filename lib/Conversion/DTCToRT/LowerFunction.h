//===- LowerFunction.h - One dtc function to the runtime level --*- C++ -*-===//

#ifndef DTC_LIB_CONVERSION_DTCTORT_LOWERFUNCTION_H
#define DTC_LIB_CONVERSION_DTCTORT_LOWERFUNCTION_H

#include "Buffers.h"
#include "Kernels.h"

namespace dtc {

/// Writes the runtime-level form of one function, op by op.
class FunctionLowering {
public:
  /// `symbols` finds storage.
  FunctionLowering(mlir::ModuleOp module, mlir::func::FuncOp func,
                   const mlir::SymbolTable &symbols, KernelCache &kernels,
                   int64_t bucketBytes)
      : func(func), symbols(symbols), kernels(kernels),
        bucketBytes(bucketBytes), values(func),
        b(mlir::OpBuilder::atBlockEnd(module.getBody())) {}

  /// A layer: operands and results become arguments.
  mlir::LogicalResult lowerLayer();
  /// The public function: inputs and outputs are storage.
  mlir::LogicalResult lowerStep();

private:
  struct StoragePlace {
    std::string symbol;
    mlir::Value address; // made when it is first needed
  };

  Buffers::Place placeOf(const std::string &symbol);
  void collectSlots();
  mlir::LogicalResult lowerBlock(mlir::Block &block);
  mlir::LogicalResult lowerOp(mlir::Operation &op);
  mlir::LogicalResult lowerKernelOp(mlir::Operation &op);
  mlir::LogicalResult lowerLocalCollective(mlir::Operation &op);
  void lowerBucket(llvm::ArrayRef<mlir::Operation *> members);
  void lowerCall(mlir::func::CallOp call);
  mlir::LogicalResult lowerLoop(MicroBatchesOp loop);
  mlir::LogicalResult lowerRing(RingOp ring);
  mlir::LogicalResult lowerRingBody(RingOp ring,
                                    llvm::ArrayRef<mlir::Value> carried,
                                    llvm::ArrayRef<mlir::Value> arriving,
                                    bool isFirst, bool isLast);
  void lowerTargets(mlir::Operation *op);

  mlir::Value addressOf(Buffers::Place place);
  mlir::Value bufferOf(mlir::Value v);
  /// The buffer that a result is computed into; sets `inPlace` to the operand
  /// whose buffer it is.
  mlir::Value destination(mlir::OpResult result,
                          std::optional<unsigned> *inPlace = nullptr);
  std::string describe(llvm::ArrayRef<mlir::Operation *> members);

  mlir::func::FuncOp func;
  const mlir::SymbolTable &symbols;
  KernelCache &kernels;
  int64_t bucketBytes;
  Buffers values;
  mlir::OpBuilder b;
  mlir::Block *entry = nullptr;
  llvm::SmallVector<mlir::Value> results; // arguments for results
  llvm::SmallVector<StoragePlace> storage;
  llvm::StringMap<Buffers::Place> places;
  llvm::SmallVector<Buffers::Target> targets;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<unsigned, 1>> targetsOf;
  llvm::DenseMap<mlir::Value, mlir::Value> buffers; // of roots
};

/// Names of storage.
std::string getSlotSymbol(llvm::StringRef param, Slot slot);
std::string getInputSymbol(llvm::StringRef name);
std::string getOutputSymbol(llvm::StringRef name);

} // namespace dtc

#endif // DTC_LIB_CONVERSION_DTCTORT_LOWERFUNCTION_H
