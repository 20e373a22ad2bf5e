#include "dtc/Transforms/Passes.h"

namespace dtc {
#define GEN_PASS_DEF_EXPANDCOMMUNICATION
#include "dtc/Transforms/Passes.h.inc"
} // namespace dtc

namespace {
struct ExpandCommunicationPass : dtc::impl::ExpandCommunicationBase<ExpandCommunicationPass> {
  using ExpandCommunicationBase::ExpandCommunicationBase;
  void runOnOperation() override {}
};
} // namespace
