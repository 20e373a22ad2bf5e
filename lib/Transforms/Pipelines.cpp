//===- Pipelines.cpp - The way of a training step through passes ----------===//

#include "dtc/Transforms/Pipelines.h"
#include "dtc/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace dtc;

StringRef dtc::getDefaultGradType(StringRef precision, int64_t microbatches) {
  // One micro-batch adds nothing up before the reduction, which sums in f32.
  return precision == "bf16" && microbatches == 1 ? "bf16" : "f32";
}

void dtc::buildTrainingPipeline(OpPassManager &pm,
                                const TrainingPipelineOptions &options) {
  pm.addPass(createSymbolDCEPass());
  pm.addPass(createOutlineLayers());
  SetPrecisionOptions precision;
  precision.precision = options.precision;
  precision.gradType = options.gradType;
  if (options.gradType.empty())
    precision.gradType =
        getDefaultGradType(options.precision, options.microbatches).str();
  pm.addPass(createSetPrecision(precision));
  LayoutSequenceOptions layout;
  layout.layout = options.cpLayout;
  layout.mesh = options.mesh;
  pm.addPass(createLayoutSequence(layout));
  PropagateShardingOptions sharding;
  sharding.mesh = options.mesh;
  sharding.rulesFile = options.rulesFile;
  sharding.sequenceParallel = options.sequenceParallel;
  pm.addPass(createPropagateSharding(sharding));
  pm.addPass(createInsertCollectives());
  MicrobatchOptions microbatch;
  microbatch.count = options.microbatches;
  pm.addPass(createMicrobatch(microbatch));
  CutStagesOptions cut;
  cut.stages = options.stages;
  cut.cuts = options.cuts;
  cut.memory = options.stageMemory;
  cut.zero = options.zero;
  pm.addPass(createCutStages(cut));
  DifferentiateOptions differentiate;
  differentiate.gatherAgain = options.gatherAgain;
  differentiate.recompute = options.recompute;
  pm.addPass(createDifferentiate(differentiate));
  if (options.splitBackward)
    pm.addPass(createSplitBackward());
  ExpandCommunicationOptions expand;
  expand.attention = options.cpAttention;
  pm.addPass(createExpandCommunication(expand));
  ShardParametersOptions shard;
  shard.stage = options.zero;
  shard.reshard = options.zero3Reshard;
  pm.addPass(createShardParameters(shard));
  pm.addPass(createPartitionOptimizer());
  if (options.schedule.empty() && options.scheduleFile.empty())
    return;
  SchedulePipelineOptions schedule;
  schedule.scheduleName = options.schedule;
  schedule.file = options.scheduleFile;
  pm.addPass(createSchedulePipeline(schedule));
}

void dtc::registerTrainingPipeline() {
  PassPipelineRegistration<TrainingPipelineOptions>(
      "dtc-training-pipeline", "model IR to the whole training step",
      buildTrainingPipeline);
}
