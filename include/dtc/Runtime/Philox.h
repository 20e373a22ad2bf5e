//===- Philox.h - Counter-based random numbers ------------------*- C++ -*-===//
//
// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy
// as 1, 2, 3", SC11). A block of four 32-bit words is a pure function of a
// 128-bit counter and a 64-bit key, so that every mesh, every number of
// micro-batches and every recomputation draws the same numbers.
//
// Used by the runtime, by the interpreter and, as an equal sequence of integer
// operations, by generated code. Depends on nothing.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_RUNTIME_PHILOX_H
#define DTC_RUNTIME_PHILOX_H

#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace dtc {

using PhiloxCounter = std::array<uint32_t, 4>;
using PhiloxKey = std::array<uint32_t, 2>;

/// One block. Ten rounds; the key is bumped between rounds (not before the
/// first, not after the last). With M0 = 0xD2511F53, M1 = 0xCD9E8D57 and
/// hi, lo the halves of the 64-bit products, a round is
///   c0' = hi(M1 c2) ^ c1 ^ k0    c1' = lo(M1 c2)
///   c2' = hi(M0 c0) ^ c3 ^ k1    c3' = lo(M0 c0)
/// and the bump adds 0x9E3779B9 to k0 and 0xBB67AE85 to k1.
inline PhiloxCounter philox4x32_10(PhiloxCounter c, PhiloxKey k) {
  for (int round = 0; round < 10; ++round) {
    uint64_t p0 = uint64_t(0xD2511F53u) * c[0];
    uint64_t p1 = uint64_t(0xCD9E8D57u) * c[2];
    c = {uint32_t(p1 >> 32) ^ c[1] ^ k[0], uint32_t(p1),
         uint32_t(p0 >> 32) ^ c[3] ^ k[1], uint32_t(p0)};
    k[0] += 0x9E3779B9u;
    k[1] += 0xBB67AE85u;
  }
  return c;
}

/// 64-bit FNV-1a.
inline uint64_t hashName(std::string_view name) {
  uint64_t h = 0xcbf29ce484222325ull;
  for (unsigned char ch : name)
    h = (h ^ ch) * 0x100000001b3ull;
  return h;
}

/// Initial weights. Element `index` of the flattened stored tensor `name`
/// (Hugging Face name; gpt2's without the prefix "transformer.") is lane
/// index % 4 of the block with
///   key     = { seed, low word of hashName(name) }
///   counter = { low and high word of index / 4, high word of the hash, 0 }.
/// Words (0, 1) and (2, 3) of a block give two normal numbers each by
/// Box-Muller, computed in double:
///   r = sqrt(-2 log((x + 1) 2^-32)), a = 2 pi y 2^-32: r cos a, r sin a.
/// Other users of Philox in DTC put a number different from 0 in counter[3].
class NormalStream {
public:
  NormalStream(uint32_t seed, std::string_view name)
      : seed(seed), hash(hashName(name)) {}

  double operator()(uint64_t index) {
    uint64_t block = index / 4;
    if (block != cachedBlock) {
      fill(block);
      cachedBlock = block;
    }
    return cached[index % 4];
  }

private:
  void fill(uint64_t block) {
    PhiloxCounter x = philox4x32_10(
        {uint32_t(block), uint32_t(block >> 32), uint32_t(hash >> 32), 0},
        {seed, uint32_t(hash)});
    constexpr double scale = 1.0 / 4294967296.0;
    constexpr double twoPi = 6.283185307179586476925286766559;
    for (int pair = 0; pair < 2; ++pair) {
      double r = std::sqrt(-2.0 * std::log((x[2 * pair] + 1.0) * scale));
      double a = twoPi * (x[2 * pair + 1] * scale);
      cached[2 * pair] = r * std::cos(a);
      cached[2 * pair + 1] = r * std::sin(a);
    }
  }

  uint32_t seed;
  uint64_t hash;
  uint64_t cachedBlock = ~0ull;
  double cached[4] = {};
};

} // namespace dtc
#endif // DTC_RUNTIME_PHILOX_H
