//===- Stages.cpp - The stages of a pipeline in a step --------------------===//

#include "dtc/Dialect/DTC/IR/Stages.h"

using namespace mlir;
using namespace dtc;

static constexpr StringLiteral phaseNames[] = {
    "forward", "backward", "input_backward", "weight_backward"};

StringRef dtc::stringifyPhase(Phase phase) {
  return phaseNames[static_cast<unsigned>(phase)];
}

std::optional<std::pair<int64_t, Phase>> dtc::getStageOf(Operation *op) {
  auto stage = op->getAttrOfType<IntegerAttr>(attrs::stage);
  if (!stage)
    return std::nullopt;
  auto name = op->getAttrOfType<StringAttr>(attrs::phase);
  const auto *it = name ? llvm::find(phaseNames, name.getValue()) : phaseNames;
  if (it == std::end(phaseNames))
    return std::nullopt;
  return std::make_pair(stage.getInt(), static_cast<Phase>(it - phaseNames));
}
