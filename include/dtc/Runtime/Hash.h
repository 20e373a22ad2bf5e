//===- Hash.h - Fingerprints of bytes ---------------------------*- C++ -*-===//

#ifndef DTC_RUNTIME_HASH_H
#define DTC_RUNTIME_HASH_H

#include <cstddef>
#include <cstdint>

namespace dtc::rt {

/// Continues the hash `h`. Not cryptographic: it finds mistakes, not enemies.
uint64_t hashBytes(const void *data, size_t bytes, uint64_t h);

} // namespace dtc::rt
#endif // DTC_RUNTIME_HASH_H
