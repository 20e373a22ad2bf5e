//===- Target.h - What kernel generators know of the processor --*- C++ -*-===//
#ifndef DTC_CODEGEN_TARGET_H
#define DTC_CODEGEN_TARGET_H

#include <cstdint>

namespace dtc::codegen {

/// The facts about a CPU that shape the generated loops. They are part of the
/// "CPU target": two programs with equal TargetInfo sum in the same order.
struct TargetInfo {
  /// Width of a vector register: 128, 256 or 512.
  int64_t vectorBits = 512;
  /// Number of vector registers.
  int64_t vectorRegisters = 32;
  /// Whether fused multiply-add is an instruction. Without it products are
  /// rounded before they are added (a libm call per element is no option).
  bool fma = true;
  /// Private cache of one core, which a packed block has to fit.
  int64_t l2Bytes = 1 << 20;

  /// Lanes of a vector of elements of `bits`.
  int64_t lanes(int64_t bits) const { return vectorBits / bits; }

  static TargetInfo avx512() { return {512, 32, true, 1 << 20}; }
  static TargetInfo avx2() { return {256, 16, true, 1 << 18}; }
};

} // namespace dtc::codegen
#endif
