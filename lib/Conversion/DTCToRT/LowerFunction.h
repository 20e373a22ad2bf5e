//===- LowerFunction.h - One dtc function to the runtime level --*- C++ -*-===//

#ifndef DTC_LIB_CONVERSION_DTCTORT_LOWERFUNCTION_H
#define DTC_LIB_CONVERSION_DTCTORT_LOWERFUNCTION_H

#include "Buffers.h"
#include "Kernels.h"
#include "Project.h"

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
  /// The step of one rank of a pipeline.
  mlir::LogicalResult lowerStep(const ProjectedPipeline &pipeline,
                                const ProjectedStep &projected) {
    this->pipeline = &pipeline;
    this->projected = &projected;
    return lowerStep();
  }

private:
  struct StoragePlace {
    std::string symbol;
    mlir::Value address; // made when it is first needed
  };

  Buffers::Place placeOf(const std::string &symbol);
  void collectSlots();
  mlir::LogicalResult lowerBlock(mlir::Block &block) {
    return lowerRange(block.begin(), block.end());
  }
  mlir::LogicalResult lowerRange(mlir::Block::iterator it,
                                 mlir::Block::iterator end);
  mlir::LogicalResult lowerBody();
  mlir::LogicalResult lowerOp(mlir::Operation &op);
  mlir::LogicalResult lowerKernelOp(mlir::Operation &op);
  mlir::LogicalResult lowerLocalCollective(mlir::Operation &op);
  void lowerBucket(llvm::ArrayRef<mlir::Operation *> members);
  void lowerCall(mlir::func::CallOp call);
  mlir::LogicalResult lowerLoop(MicroBatchesOp loop);
  void createSums(MicroBatchesOp loop);
  mlir::LogicalResult addToSums(mlir::Operation *op);
  mlir::LogicalResult addInto(mlir::Operation *at, DTensorType type,
                              mlir::Value sum, mlir::Value summand);
  mlir::LogicalResult lowerPipeline(MicroBatchesOp loop);
  mlir::LogicalResult lowerTask(rt::TaskOp task, int64_t number,
                                llvm::ArrayRef<mlir::Operation *> ops,
                                mlir::BlockArgument microBatch);
  mlir::LogicalResult lowerStageSum(SumStagesOp op);
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
  /// Where results of a task lie that others use.
  llvm::DenseMap<mlir::Value, mlir::Value> fixedBuffers;
  /// What a loop adds up: its values by the op that makes them, and the sums.
  llvm::DenseMap<mlir::Operation *,
                 llvm::SmallVector<std::pair<mlir::OpResult, mlir::Value>, 1>>
      summands;
  const ProjectedPipeline *pipeline = nullptr;
  const ProjectedStep *projected = nullptr;
};

/// Names of storage; in a pipeline each coordinate on pp has its own.
std::string getSlotSymbol(llvm::StringRef param, Slot slot,
                          const ProjectedStep *step);
std::string getInputSymbol(llvm::StringRef name, const ProjectedStep *step);
std::string getOutputSymbol(llvm::StringRef name, const ProjectedStep *step);

} // namespace dtc

#endif // DTC_LIB_CONVERSION_DTCTORT_LOWERFUNCTION_H
