//===- Values.h - Numbers of any floating-point type ------------*- C++ -*-===//

#ifndef DTC_RUNTIME_VALUES_H
#define DTC_RUNTIME_VALUES_H

#include "dtc/Runtime/Reduce.h"

namespace dtc::rt {

inline void storeValue(dtc_dtype type, char *base, int64_t i, double value) {
  if (type == DTC_F64)
    reinterpret_cast<double *>(base)[i] = value;
  else if (type == DTC_BF16)
    reinterpret_cast<uint16_t *>(base)[i] = floatToBf16(float(value));
  else
    reinterpret_cast<float *>(base)[i] = float(value);
}

inline float loadValue(dtc_dtype type, const char *base, int64_t i) {
  if (type == DTC_F64)
    return float(reinterpret_cast<const double *>(base)[i]);
  if (type == DTC_BF16)
    return bf16ToFloat(reinterpret_cast<const uint16_t *>(base)[i]);
  return reinterpret_cast<const float *>(base)[i];
}

} // namespace dtc::rt
#endif // DTC_RUNTIME_VALUES_H
