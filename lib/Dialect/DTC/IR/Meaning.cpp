//===- Meaning.cpp - What an op's meaning may know of its pieces ----------===//

#include "dtc/Dialect/DTC/IR/DTC.h"

using namespace mlir;
using namespace dtc;

FactorPiece::FactorPiece(const FactorRule &rule, ArrayRef<AxisList> factorAxes,
                         llvm::function_ref<int64_t(ArrayRef<Axis>)> indexOf)
    : rule(rule) {
  for (auto [f, axes] : llvm::zip_equal(rule.factors, factorAxes)) {
    int64_t length = f.padded / product(axes);
    int64_t first = indexOf(axes) * length;
    firsts.push_back(first);
    lengths.push_back(length);
    valids.push_back(std::clamp<int64_t>(f.size - first, 0, length));
  }
}

SmallVector<int64_t> FactorPiece::localShape(unsigned value) const {
  SmallVector<int64_t> shape;
  for (const DimFactors &dim : rule.value(value)) {
    int64_t n = 1;
    for (unsigned f : dim)
      n *= lengths[f];
    shape.push_back(n);
  }
  return shape;
}

SmallVector<int64_t> FactorPiece::operandShape(unsigned i) const {
  return localShape(i);
}

SmallVector<int64_t> FactorPiece::resultShape(unsigned r) const {
  return localShape(rule.getNumOperands() + r);
}

bool FactorPiece::inside(unsigned value, ArrayRef<int64_t> index,
                         FactorSet over) const {
  for (auto [d, dim] : llvm::enumerate(rule.value(value)))
    // Only single factors are padded.
    if (dim.size() == 1 && over[dim[0]] && index[d] >= valids[dim[0]])
      return false;
  return true;
}

Array FactorPiece::masked(unsigned operand, const Array &x,
                          unsigned result) const {
  FactorSet over = rule.summedIn[result] | rule.maximumIn[result];
  Array y = x;
  forEachIndex(x.shape, [&](ArrayRef<int64_t> index) {
    if (!inside(operand, index, over))
      y(index) = 0;
  });
  return y;
}
