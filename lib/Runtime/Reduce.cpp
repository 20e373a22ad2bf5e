//===- Reduce.cpp - Element-wise reductions -------------------------------===//

#include "dtc/Runtime/Reduce.h"

#include <cstring>
#include <type_traits>

using namespace dtc::rt;

float dtc::rt::bf16ToFloat(uint16_t bits) {
  uint32_t wide = uint32_t(bits) << 16;
  float value;
  memcpy(&value, &wide, 4);
  return value;
}

uint16_t dtc::rt::floatToBf16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  // Rounding could carry a NaN into infinity: keep it quiet instead.
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    return uint16_t(bits >> 16 | 0x40);
  return uint16_t((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

namespace {

struct BF16 {
  uint16_t bits;
};

template <typename T> T widen(T x) { return x; }
float widen(BF16 x) { return bf16ToFloat(x.bits); }
template <typename T> void narrow(T &y, T acc) { y = acc; }
void narrow(BF16 &y, float acc) { y.bits = floatToBf16(acc); }

struct Sum {
  /// Integers wrap: sums of checksums do.
  template <typename T> static T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) +
                            static_cast<std::make_unsigned_t<T>>(b));
    else
      return a + b;
  }
};
struct Max {
  /// A NaN on either side stays.
  template <typename T> static T apply(T a, T b) {
    return ((a > b) | (a != a)) ? a : b;
  }
};

template <typename T, typename Acc, typename Op> struct Kernels {
  static void load(void *acc, const void *x, int64_t n) {
    auto *a = static_cast<Acc *>(acc);
    auto *b = static_cast<const T *>(x);
    for (int64_t i = 0; i < n; ++i)
      a[i] = widen(b[i]);
  }
  static void add(void *acc, const void *x, int64_t n) {
    auto *a = static_cast<Acc *>(acc);
    auto *b = static_cast<const T *>(x);
    for (int64_t i = 0; i < n; ++i)
      a[i] = Op::template apply<Acc>(a[i], widen(b[i]));
  }
  static void merge(void *acc, const void *other, int64_t n) {
    auto *a = static_cast<Acc *>(acc);
    auto *b = static_cast<const Acc *>(other);
    for (int64_t i = 0; i < n; ++i)
      a[i] = Op::template apply<Acc>(a[i], b[i]);
  }
  static void store(void *y, const void *acc, int64_t n) {
    auto *a = static_cast<const Acc *>(acc);
    auto *b = static_cast<T *>(y);
    for (int64_t i = 0; i < n; ++i)
      narrow(b[i], a[i]);
  }
  static constexpr Reducer value = {sizeof(Acc), load, add, merge, store};
};

template <typename Op> const Reducer &select(dtc_dtype type) {
  switch (type) {
  case DTC_F64:
    return Kernels<double, double, Op>::value;
  case DTC_BF16:
    return Kernels<BF16, float, Op>::value;
  case DTC_I32:
    return Kernels<int32_t, int32_t, Op>::value;
  case DTC_I64:
    return Kernels<int64_t, int64_t, Op>::value;
  case DTC_F32:
    break;
  }
  return Kernels<float, float, Op>::value;
}

} // namespace

const Reducer &dtc::rt::reducer(dtc_dtype type, dtc_reduction reduction) {
  return reduction == DTC_MAX ? select<Max>(type) : select<Sum>(type);
}
