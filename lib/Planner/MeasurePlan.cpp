//===- MeasurePlan.cpp - How good and how full a plan is ------------------===//

#include "Frame.h"
#include "dtc/Planner/Planner.h"

using namespace mlir;
using namespace dtc;

/// The largest sum of bytes that live at once in a function, where a callee
/// counts with what lives in it, not with its frame.
static int64_t getLiveBytesOf(func::FuncOp func,
                              DenseMap<Operation *, int64_t> &known) {
  if (auto it = known.find(func); it != known.end())
    return it->second;
  Frame frame = Frame::get(func);
  for (auto [op, life] : llvm::zip_equal(frame.ops, frame.lifetimes))
    if (auto call = dyn_cast<rt::CallOp>(op))
      life.bytes = getLiveBytesOf(getCallee(call), known);
  return known[func] = getLargestLiveBytes(frame.lifetimes);
}

int64_t dtc::getLiveBytes(func::FuncOp step) {
  int64_t bytes =
      step->getAttrOfType<IntegerAttr>(rt::attrs::frameOffset).getInt();
  DenseMap<Operation *, int64_t> known;
  return bytes + getLiveBytesOf(step, known);
}

/// Where in the frame the shortest of the buffers begins that end at its end.
static int64_t getLastBufferOf(func::FuncOp func) {
  Frame frame = Frame::get(func);
  int64_t end = 0, first = 0;
  for (const Lifetime &life : frame.lifetimes)
    end = std::max(end, life.offset + life.bytes);
  for (auto [op, life] : llvm::zip_equal(frame.ops, frame.lifetimes)) {
    if (life.offset + life.bytes != end)
      continue;
    int64_t at = life.offset;
    if (auto call = dyn_cast<rt::CallOp>(op))
      at += getLastBufferOf(getCallee(call));
    first = std::max(first, at);
  }
  return first;
}

int64_t dtc::getLastBuffer(func::FuncOp step) {
  return step->getAttrOfType<IntegerAttr>(rt::attrs::frameOffset).getInt() +
         getLastBufferOf(step);
}
