//===- Reduce.h - Element-wise reductions -----------------------*- C++ -*-===//

#ifndef DTC_RUNTIME_REDUCE_H
#define DTC_RUNTIME_REDUCE_H

#include "dtc/Runtime/ABI.h"

namespace dtc::rt {

/// Reduces terms of one element type one after the other into accumulators
/// that are wide enough: f32 for bf16 (rounded once, by `store`), else the
/// type itself. Accumulators and terms need no alignment beyond their type's.
struct Reducer {
  int64_t accumulatorBytes;
  /// acc[i] = x[i]
  void (*load)(void *acc, const void *x, int64_t n);
  /// acc[i] = acc[i] op x[i]
  void (*add)(void *acc, const void *x, int64_t n);
  /// acc[i] = acc[i] op other[i], both accumulators
  void (*merge)(void *acc, const void *other, int64_t n);
  /// y[i] = acc[i], rounded to nearest, ties to even
  void (*store)(void *y, const void *acc, int64_t n);
};

const Reducer &reducer(dtc_dtype type, dtc_reduction reduction);

float bf16ToFloat(uint16_t bits);
uint16_t floatToBf16(float value);

} // namespace dtc::rt
#endif // DTC_RUNTIME_REDUCE_H
