//===- Unbuilt.cpp - Ops whose CPU kernel does not exist yet --------------===//

#include "dtc/Dialect/DTC/IR/DTC.h"
#include "dtc/Dialect/DTC/IR/KernelBuilder.h"

using namespace mlir;
using namespace dtc;

#define UNBUILT(Op)                                                            \
  LogicalResult Op::emitKernel(KernelBuilder &) {                              \
    return emitOpError("has no CPU kernel yet");                               \
  }

UNBUILT(EinsumOp)
UNBUILT(AddOp)
UNBUILT(MultiplyOp)
UNBUILT(ScaleOp)
UNBUILT(DivideOp)
UNBUILT(ReduceSumOp)
UNBUILT(BroadcastOp)
UNBUILT(EmbeddingOp)
UNBUILT(LayerNormOp)
UNBUILT(RmsNormOp)
UNBUILT(ActivationOp)
UNBUILT(GatedProductOp)
UNBUILT(RotaryOp)
UNBUILT(AttentionOp)
UNBUILT(DropoutOp)
UNBUILT(CrossEntropyOp)
UNBUILT(CountLabelsOp)
UNBUILT(IotaOp)
UNBUILT(ConstantOp)
UNBUILT(ActivationGradOp)
UNBUILT(GatedProductGradOp)
UNBUILT(LayerNormGradOp)
UNBUILT(RmsNormGradOp)
UNBUILT(EmbeddingGradOp)
UNBUILT(AttentionGradOp)
UNBUILT(CrossEntropyGradOp)
UNBUILT(VocabMaxOp)
UNBUILT(VocabSumExpOp)
UNBUILT(VocabPickOp)
UNBUILT(TokenLossOp)
UNBUILT(SumSquaresOp)
UNBUILT(ClipOp)
UNBUILT(AdamWOp)
UNBUILT(MicroBatchOp)
