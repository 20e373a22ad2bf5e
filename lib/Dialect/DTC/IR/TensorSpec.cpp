//===- TensorSpec.cpp - A tensor type that can be changed -----------------===//

#include "dtc/Dialect/DTC/IR/TensorSpec.h"
#include "dtc/Dialect/DTC/IR/DTC.h"

using namespace mlir;
using namespace dtc;

bool dtc::isCountable(ArrayRef<int64_t> shape) {
  int64_t room = int64_t(1) << 50;
  for (int64_t n : shape)
    if (n > 0)
      room /= n;
  return room > 0;
}

llvm::StringRef dtc::toString(PlacementKind kind) {
  switch (kind) {
  case PlacementKind::Invariant:
    return "invariant";
  case PlacementKind::Replicate:
    return "replicate";
  case PlacementKind::Partial:
    return "partial";
  case PlacementKind::Max:
    return "max";
  case PlacementKind::Shard:
    return "shard";
  }
  llvm_unreachable("unknown placement");
}

TensorSpec::TensorSpec(DTensorType type)
    : shape(type.getShape()), padded(type.getPadded()),
      elementType(type.getElementType()), partial(type.getPartial().getAxes()),
      max(type.getMax().getAxes()), replicate(type.getReplicate().getAxes()) {
  for (AxesAttr axes : type.getDims())
    dims.emplace_back(axes.getAxes());
}

TensorSpec::TensorSpec(ArrayRef<int64_t> shape, Type elementType)
    : shape(shape), padded(shape), elementType(elementType),
      dims(shape.size()) {}

void TensorSpec::refine(const Refinement &r) {
  for (AxisList &axes : dims)
    axes = r.split(axes);
  partial = r.split(partial);
  max = r.split(max);
  replicate = r.split(replicate);
}

PlacementKind TensorSpec::placement(const Axis &atom, unsigned *dim) const {
  for (auto [d, axes] : llvm::enumerate(dims))
    if (llvm::is_contained(axes, atom)) {
      if (dim)
        *dim = d;
      return PlacementKind::Shard;
    }
  if (llvm::is_contained(partial, atom))
    return PlacementKind::Partial;
  if (llvm::is_contained(max, atom))
    return PlacementKind::Max;
  if (llvm::is_contained(replicate, atom))
    return PlacementKind::Replicate;
  return PlacementKind::Invariant;
}

void TensorSpec::erase(const Axis &atom) {
  auto drop = [&](AxisList &axes) { llvm::erase(axes, atom); };
  llvm::for_each(dims, drop);
  drop(partial);
  drop(max);
  drop(replicate);
}

void TensorSpec::set(const Axis &atom, PlacementKind kind, unsigned dim) {
  switch (kind) {
  case PlacementKind::Invariant:
    return;
  case PlacementKind::Replicate:
    replicate.push_back(atom);
    return;
  case PlacementKind::Partial:
    partial.push_back(atom);
    return;
  case PlacementKind::Max:
    max.push_back(atom);
    return;
  case PlacementKind::Shard:
    dims[dim].push_back(atom);
    return;
  }
}

bool TensorSpec::divides() const {
  for (auto [q, axes] : llvm::zip_equal(padded, dims))
    if (q % product(axes) != 0)
      return false;
  return true;
}
