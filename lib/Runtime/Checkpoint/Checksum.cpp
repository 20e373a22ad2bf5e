//===- Checksum.cpp - Finding damage in files -----------------------------===//

#include "dtc/Runtime/Checkpoint/Checksum.h"
#include "dtc/Runtime/Hash.h"

#include <cstdio>
#include <cstring>

using namespace dtc::rt;

constexpr uint64_t odd1 = 0x9E3779B97F4A7C15ull, odd2 = 0xD6E8FEB86659FD93ull;

std::string dtc::rt::checksumText(uint64_t sum) {
  char text[17];
  snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(sum));
  return text;
}

std::string dtc::rt::checksumOf(std::string_view text) {
  return checksumText(hashBytes(text.data(), text.size(), 6));
}

uint64_t dtc::rt::headerSum(std::string_view header) {
  return hashBytes(header.data(), header.size(), 8);
}

uint64_t dtc::rt::firstNumber(const std::string &tensor) {
  return hashBytes(tensor.data(), tensor.size(), 7);
}

/// Each step is a bijection of 64 bits, so elements that differ at one number
/// have different hashes.
template <typename T>
static uint64_t sum(const char *data, uint64_t first, int64_t n) {
  uint64_t total = 0;
  for (int64_t i = 0; i < n; ++i) {
    T bits;
    memcpy(&bits, data + i * int64_t(sizeof(T)), sizeof(T));
    uint64_t x = (bits + odd2) * odd1 + (first + uint64_t(i)) * odd2;
    x ^= x >> 29;
    x *= odd1;
    total += x ^ x >> 32;
  }
  return total;
}

uint64_t dtc::rt::sumElements(const char *data, int64_t width, uint64_t first,
                              int64_t n) {
  switch (width) {
  case 1:
    return sum<uint8_t>(data, first, n);
  case 2:
    return sum<uint16_t>(data, first, n);
  case 4:
    return sum<uint32_t>(data, first, n);
  default:
    return sum<uint64_t>(data, first, n);
  }
}

/// An exponent of ones: infinity or NaN.
template <typename T>
static bool finite(const char *data, int64_t n, T exponent) {
  bool bad = false;
  for (int64_t i = 0; i < n; ++i) {
    T bits;
    memcpy(&bits, data + i * int64_t(sizeof(T)), sizeof(T));
    bad |= (bits & exponent) == exponent;
  }
  return !bad;
}

bool dtc::rt::allFinite(dtc_dtype type, const char *data, int64_t n) {
  switch (type) {
  case DTC_F64:
    return finite<uint64_t>(data, n, 0x7FF0000000000000ull);
  case DTC_F32:
    return finite<uint32_t>(data, n, 0x7F800000u);
  case DTC_BF16:
    return finite<uint16_t>(data, n, 0x7F80);
  case DTC_I32:
  case DTC_I64:
    break;
  }
  return true;
}
