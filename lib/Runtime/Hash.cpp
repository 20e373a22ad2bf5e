//===- Hash.cpp - Fingerprints of bytes -----------------------------------===//

#include "dtc/Runtime/Hash.h"

#include <cstring>

uint64_t dtc::rt::hashBytes(const void *data, size_t bytes, uint64_t h) {
  constexpr uint64_t a = 0x9E3779B97F4A7C15ull, b = 0xD6E8FEB86659FD93ull;
  const char *at = static_cast<const char *>(data);
  h ^= bytes * a;
  for (; bytes >= 8; bytes -= 8, at += 8) {
    uint64_t x;
    memcpy(&x, at, 8);
    h = (h ^ x) * a;
    h ^= h >> 32;
  }
  uint64_t x = 0;
  memcpy(&x, at, bytes);
  h = (h ^ x) * b;
  return h ^ h >> 29;
}
