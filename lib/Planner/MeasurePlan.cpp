//===- MeasurePlan.cpp - How good and how full a plan is ------------------===//

#include "Frame.h"
#include "dtc/Planner/MemoryReport.h"
#include "dtc/Planner/Planner.h"

using namespace mlir;
using namespace dtc;

int64_t dtc::getLiveBytes(func::FuncOp step) {
  int64_t bytes =
      step->getAttrOfType<IntegerAttr>(rt::attrs::frameOffset).getInt();
  MemoryPeak peak =
      getMemoryPeak(step, SymbolTable(step->getParentOfType<ModuleOp>()));
  for (const MemoryPeak::Buffer &buffer : peak.buffers)
    bytes += buffer.bytes;
  return bytes;
}

/// Where in the frame the shortest of the buffers begins that end at its end.
static int64_t getLastBufferOf(func::FuncOp func, const SymbolTable &symbols) {
  Frame frame = Frame::get(func, symbols);
  int64_t end = 0, first = 0;
  for (const Lifetime &life : frame.lifetimes)
    end = std::max(end, life.offset + life.bytes);
  for (auto [op, life] : llvm::zip_equal(frame.ops, frame.lifetimes)) {
    if (life.offset + life.bytes != end)
      continue;
    int64_t at = life.offset;
    if (auto call = dyn_cast<rt::CallOp>(op))
      at += getLastBufferOf(getCallee(call, symbols), symbols);
    first = std::max(first, at);
  }
  return first;
}

int64_t dtc::getLastBuffer(func::FuncOp step) {
  return step->getAttrOfType<IntegerAttr>(rt::attrs::frameOffset).getInt() +
         getLastBufferOf(step, SymbolTable(step->getParentOfType<ModuleOp>()));
}
