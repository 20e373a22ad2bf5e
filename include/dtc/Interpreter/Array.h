//===- Array.h - Dense arrays of doubles ------------------------*- C++ -*-===//
//
// What the interpreter computes with: row-major, float64; integers are held
// as doubles too (exact below 2^53), so that NaN is poison for both.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_INTERPRETER_ARRAY_H
#define DTC_INTERPRETER_ARRAY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <vector>

namespace dtc {

struct Array {
  llvm::SmallVector<int64_t> shape;
  std::vector<double> data;

  Array() : data(1, 0.0) {}
  explicit Array(llvm::ArrayRef<int64_t> shape, double fill = 0.0)
      : shape(shape) {
    data.assign(count(), fill);
  }
  int64_t count() const {
    int64_t n = 1;
    for (int64_t x : shape)
      n *= x;
    return n;
  }
  int64_t rank() const { return shape.size(); }
  int64_t offset(llvm::ArrayRef<int64_t> index) const {
    int64_t o = 0;
    for (size_t i = 0; i < shape.size(); ++i)
      o = o * shape[i] + index[i];
    return o;
  }
  double &operator()(llvm::ArrayRef<int64_t> index) {
    return data[offset(index)];
  }
  double operator()(llvm::ArrayRef<int64_t> index) const {
    return data[offset(index)];
  }
  double &operator[](int64_t i) { return data[i]; }
  double operator[](int64_t i) const { return data[i]; }
};

/// Calls fn(index) for every index of a shape, in row-major order.
template <typename Fn> void forEachIndex(llvm::ArrayRef<int64_t> shape, Fn fn) {
  llvm::SmallVector<int64_t> index(shape.size(), 0);
  for (int64_t n : shape)
    if (n == 0)
      return;
  while (true) {
    fn(llvm::ArrayRef<int64_t>(index));
    size_t d = shape.size();
    while (d > 0 && ++index[d - 1] == shape[d - 1])
      index[--d] = 0;
    if (d == 0)
      return;
  }
}

} // namespace dtc

#endif // DTC_INTERPRETER_ARRAY_H
