//===- Checksum.h - Finding damage in files ---------------------*- C++ -*-===//

#ifndef DTC_RUNTIME_CHECKPOINT_CHECKSUM_H
#define DTC_RUNTIME_CHECKPOINT_CHECKSUM_H

#include "dtc/Runtime/ABI.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace dtc::rt {

/// Sixteen hexadecimal digits.
std::string checksumText(uint64_t sum);
/// The checksum of a file of text.
std::string checksumOf(std::string_view text);

/// What the header of safetensors, with its length, adds to the file's sum.
uint64_t headerSum(std::string_view header);
/// The number of a tensor's first element, for sumElements: no two tensors of a
/// file begin at one.
uint64_t firstNumber(const std::string &tensor);

/// The sum of one hash for each element's bits and number. So every rank can
/// sum what it has of a tensor, in any order, and the sum over the ranks is the
/// whole tensor's; a change of one element always changes it. `width`: bytes of
/// an element, 1, 2, 4 or 8; `first`: the number of the first one.
uint64_t sumElements(const char *data, int64_t width, uint64_t first,
                     int64_t n);

/// Whether all of n elements are finite. Integers always are.
bool allFinite(dtc_dtype type, const char *data, int64_t n);

} // namespace dtc::rt
#endif // DTC_RUNTIME_CHECKPOINT_CHECKSUM_H
