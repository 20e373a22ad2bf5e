#include "dtc/Transforms/Passes.h"

namespace dtc {
#define GEN_PASS_DEF_PARTITIONOPTIMIZER
#include "dtc/Transforms/Passes.h.inc"
} // namespace dtc

namespace {
struct PartitionOptimizerPass : dtc::impl::PartitionOptimizerBase<PartitionOptimizerPass> {
  using PartitionOptimizerBase::PartitionOptimizerBase;
  void runOnOperation() override {}
};
} // namespace
