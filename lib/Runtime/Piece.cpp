//===- Piece.cpp - Which part of a tensor a rank has ----------------------===//

#include "dtc/Runtime/Piece.h"

using namespace dtc::rt;

int64_t dtc::rt::sizeOf(dtc_dtype type) {
  switch (type) {
  case DTC_F64:
  case DTC_I64:
    return 8;
  case DTC_F32:
  case DTC_I32:
    return 4;
  case DTC_BF16:
    return 2;
  }
  return 0;
}

const char *dtc::rt::nameOf(dtc_dtype type) {
  switch (type) {
  case DTC_F64:
    return "f64";
  case DTC_F32:
    return "f32";
  case DTC_BF16:
    return "bf16";
  case DTC_I32:
    return "i32";
  case DTC_I64:
    return "i64";
  }
  return "an unknown type";
}

static int64_t pieces(const std::vector<dtc_axis> &axes) {
  int64_t k = 1;
  for (const dtc_axis &axis : axes)
    k *= axis.size;
  return k;
}

int64_t Piece::localLength(size_t d) const {
  return padded[d] / pieces(cut[d]);
}

int64_t Piece::localElements() const {
  int64_t n = 1;
  for (size_t d = 0; d < shape.size(); ++d)
    n *= localLength(d);
  return n;
}

int64_t Piece::begin(int64_t rank, size_t d) const {
  int64_t i = 0;
  for (const dtc_axis &axis : cut[d])
    i = i * axis.size + (rank / axis.stride) % axis.size;
  return i * localLength(d);
}

int64_t Piece::firstCopy(int64_t rank) const {
  int64_t first = 0;
  for (const auto &axes : cut)
    for (const dtc_axis &axis : axes)
      first += (rank / axis.stride) % axis.size * axis.stride;
  return first;
}

std::pair<int64_t, int64_t> Piece::copyOf(int64_t rank, int64_t ranks) const {
  std::vector<dtc_axis> axes;
  for (const auto &dimension : cut)
    axes.insert(axes.end(), dimension.begin(), dimension.end());
  std::sort(axes.begin(), axes.end(), [](const dtc_axis &a, const dtc_axis &b) {
    return a.stride < b.stride;
  });
  // A rank's number is made of digits, of which the axes take some: the copy's
  // number is made of the others.
  int64_t copy = 0, copies = 1, taken = 1;
  for (const dtc_axis &axis : axes) {
    copy += rank % axis.stride / taken * copies;
    copies *= axis.stride / taken;
    taken = axis.stride * axis.size;
  }
  copy += rank / taken * copies;
  return {copy, copies * (ranks / taken)};
}
