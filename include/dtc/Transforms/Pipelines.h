//===- Pipelines.h - The way of a training step through passes --*- C++ -*-===//

#ifndef DTC_TRANSFORMS_PIPELINES_H
#define DTC_TRANSFORMS_PIPELINES_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace dtc {

/// What a user chooses of a step. Names are those of the passes' options.
struct TrainingPipelineOptions
    : public mlir::PassPipelineOptions<TrainingPipelineOptions> {
  Option<std::string> mesh{*this, "mesh",
                           llvm::cl::desc("axes and sizes, such as dp=2,tp=4")};
  Option<std::string> rulesFile{
      *this, "rules",
      llvm::cl::desc("a file with sharding rules, instead of the defaults")};
  Option<bool> sequenceParallel{
      *this, "sequence-parallel",
      llvm::cl::desc("cut the residual stream's sequence over tp")};
  Option<std::string> precision{
      *this, "precision",
      llvm::cl::desc("element type of parameters and activations: f32 or bf16"),
      llvm::cl::init("f32")};
  Option<std::string> gradType{
      *this, "grad-type",
      llvm::cl::desc("element type of gradients: f32 or bf16 (default: bf16 "
                     "for bf16 with one micro-batch)")};
  Option<std::string> cpLayout{
      *this, "cp-layout",
      llvm::cl::desc("order of the sequence: contiguous, striped or zigzag"),
      llvm::cl::init("contiguous")};
  Option<std::string> cpAttention{
      *this, "cp-attention",
      llvm::cl::desc("attention over cp: ring, all-gather or ulysses"),
      llvm::cl::init("ring")};
  Option<bool> gatherAgain{
      *this, "gather-again",
      llvm::cl::desc("gather again in the backward what sequence parallelism "
                     "gathered in the forward")};
  Option<int64_t> microbatches{
      *this, "microbatches",
      llvm::cl::desc("micro-batches of each data-parallel rank in a step"),
      llvm::cl::init(1)};
  Option<int64_t> stages{
      *this, "stages",
      llvm::cl::desc("pipeline stages (default: the size of pp)"),
      llvm::cl::init(0)};
  Option<std::string> cuts{
      *this, "cuts",
      llvm::cl::desc("layers of each stage, such as 3,4,4,3, or ops:N,N,...")};
  Option<int64_t> stageMemory{
      *this, "stage-memory",
      llvm::cl::desc("bytes that each stage may take (0: no limit)"),
      llvm::cl::init(0)};
  Option<std::string> recompute{
      *this, "recompute",
      llvm::cl::desc("what layers do not keep for their backward: none, "
                     "selective, full, or operations per byte"),
      llvm::cl::init("none")};
  Option<int64_t> zero{
      *this, "zero",
      llvm::cl::desc("ZeRO stage, 0 to 3: what is cut over dp and cp"),
      llvm::cl::init(0)};
  Option<std::string> zero3Reshard{
      *this, "zero3-reshard",
      llvm::cl::desc("how long ZeRO 3 keeps gathered parameters: micro-batch "
                     "(one use) or step"),
      llvm::cl::init("micro-batch")};
  Option<std::string> schedule{
      *this, "schedule",
      llvm::cl::desc("gpipe, 1f1b, interleaved, zb-h1 or zb-v (default: the "
                     "loop's stages get no schedule)")};
  Option<std::string> scheduleFile{
      *this, "schedule-file",
      llvm::cl::desc("a file with a schedule, instead")};
  Option<bool> splitBackward{
      *this, "split-backward",
      llvm::cl::desc("input and weight gradients of each stage apart")};
};

/// The element type of gradients where none is asked for.
llvm::StringRef getDefaultGradType(llvm::StringRef precision,
                                   int64_t microbatches);

/// Model IR to the whole step: outlined layers, shardings, collectives,
/// micro-batches, stages, backward, expanded communication, optimizer,
/// schedule.
void buildTrainingPipeline(mlir::OpPassManager &pm,
                           const TrainingPipelineOptions &options);

/// Makes it known as `-dtc-training-pipeline`.
void registerTrainingPipeline();

} // namespace dtc

#endif // DTC_TRANSFORMS_PIPELINES_H
