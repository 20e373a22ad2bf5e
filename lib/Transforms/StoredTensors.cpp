//===- StoredTensors.cpp - Views that make up what is stored --------------===//

#include "Program.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace dtc;

namespace {
/// Consecutive elements [begin, end) of a stored tensor that one view reads.
struct Run {
  int64_t begin, end;
  ParamOp param;
};
} // namespace

static int64_t countElements(ArrayRef<int64_t> shape) {
  int64_t n = 1;
  for (int64_t d : shape)
    n *= d;
  return n;
}

/// Appends the runs of a view, in no order. False where they are more than
/// `most`.
static bool appendRuns(ParamOp param, size_t most, std::vector<Run> &runs) {
  int64_t offset;
  SmallVector<int64_t> strides;
  param.getFlatView(offset, strides);
  struct Dim {
    int64_t stride, length;
  };
  SmallVector<Dim> dims;
  for (auto [stride, length] :
       llvm::zip_equal(strides, param.getTensorType().getShape())) {
    if (length == 1)
      continue;
    if (stride < 0)
      offset += stride * (length - 1);
    dims.push_back({std::abs(stride), length});
  }
  llvm::sort(dims, [](const Dim &a, const Dim &b) {
    return std::tie(a.stride, a.length) < std::tie(b.stride, b.length);
  });
  // Dimensions whose elements follow one another make one run.
  int64_t length = 1;
  while (!dims.empty() && dims.front().stride == length) {
    length *= dims.front().length;
    dims.erase(dims.begin());
  }
  SmallVector<int64_t> outer;
  size_t count = 1;
  for (const Dim &d : dims) {
    outer.push_back(d.length);
    if (static_cast<size_t>(d.length) > most / count)
      return false;
    count *= d.length;
  }
  if (count > most - std::min(most, runs.size()))
    return false;
  forEachIndex(outer, [&](ArrayRef<int64_t> index) {
    int64_t at = offset;
    for (auto [d, i] : llvm::zip_equal(dims, index))
      at += d.stride * i;
    runs.push_back({at, at + length, param});
  });
  return true;
}

static LogicalResult checkOne(ArrayRef<ParamOp> views) {
  ParamOp first = views.front();
  int64_t all = countElements(first.getStoredShape()), seen = 0;
  for (ParamOp param : views) {
    if (param.getStoredShape() != first.getStoredShape())
      return param.emitError("stored tensor '")
             << param.getStored() << "' has shape ["
             << llvm::join(llvm::map_range(
                               param.getStoredShape(),
                               [](int64_t n) { return std::to_string(n); }),
                           ", ")
             << "] here, but another one in the view of @"
             << first.getSymName();
    seen += countElements(param.getTensorType().getShape());
  }
  // Above this many runs only the counts are compared.
  constexpr size_t most = size_t(1) << 24;
  std::vector<Run> runs;
  if (llvm::all_of(views,
                   [&](ParamOp p) { return appendRuns(p, most, runs); })) {
    llvm::sort(runs, [](const Run &a, const Run &b) {
      return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
    });
    for (size_t i = 1; i < runs.size(); ++i)
      if (runs[i].begin < runs[i - 1].end)
        return runs[i].param.emitError("element ")
               << runs[i].begin << " of stored tensor '" << first.getStored()
               << "' is in two views, of @" << runs[i - 1].param.getSymName()
               << " and @" << runs[i].param.getSymName()
               << ": each must be in exactly one";
  }
  if (seen != all)
    return first.emitError("the views of stored tensor '")
           << first.getStored() << "' have " << seen << " elements, but it has "
           << all << ": each must be in exactly one";
  return success();
}

LogicalResult dtc::checkStoredTensors(ModuleOp module) {
  llvm::MapVector<StringRef, SmallVector<ParamOp, 1>> stored;
  for (auto param : module.getOps<ParamOp>())
    stored[param.getStored()].push_back(param);
  for (auto &[name, views] : stored)
    if (failed(checkOne(views)))
      return failure();
  return success();
}
