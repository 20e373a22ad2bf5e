//===- CollectiveCases.h - Collectives against plain loops ------*- C++ -*-===//
//
// Runs on one rank; all ranks run the same cases. Shared by the unit test (with
// threads) and by a program that mpirun starts.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_UNITTESTS_COLLECTIVECASES_H
#define DTC_UNITTESTS_COLLECTIVECASES_H

#include "dtc/Runtime/Error.h"
#include "dtc/Runtime/Transport.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <random>

namespace dtc::test {

struct Case {
  dtc_collective what;
  std::vector<dtc_axis> axes;
  std::vector<dtc_block> blocks;
  std::string name;
  bool inPlace = false;
};

/// Every kind, type, group and odd size for a number of ranks. Addresses stay.
inline std::deque<Case> makeCases(int ranks) {
  std::vector<std::vector<dtc_axis>> groups = {{{1, ranks}}};
  for (int k = 2; k < ranks; ++k)
    if (ranks % k == 0) {
      groups.push_back({{1, k}});
      groups.push_back({{ranks / k, k}});
      // Both axes, the fast one first: members out of the order of ranks.
      groups.push_back({{1, k}, {k, ranks / k}});
    }
  const std::vector<std::vector<dtc_block>> buckets = {
      {{{1, 1, 1, 1, 1}, 0, 0}},
      {{{0, 1, 1, 1, 1}, 0, 0}},
      {{{3, 5, 1, 2, 7}, 0, 0}},
      {{{3, 5, 1, 2, 7}, 1, 0}},
      {{{1, 1, 50000, 3, 1}, 1, 0}},
      {{{2, 3, 4, 1, 1}, 1, 0},
       {{1, 0, 1, 1, 1}, 1, 0},
       {{1, 1, 1, 1, 3}, 0, 0}},
  };
  std::deque<Case> cases;
  for (const auto &axes : groups)
    for (int kind = DTC_ALL_REDUCE; kind <= DTC_SHIFT; ++kind)
      for (int type : {DTC_F64, DTC_F32, DTC_BF16, DTC_I32, DTC_I64})
        for (int reduction : {DTC_SUM, DTC_MAX})
          for (size_t b = 0; b < buckets.size(); ++b) {
            bool reduces = kind == DTC_ALL_REDUCE || kind == DTC_REDUCE_SCATTER;
            // Only reductions depend on the type; large sizes in f32 only.
            if (!reduces && (reduction == DTC_MAX || type == DTC_F64 ||
                             type == DTC_I64 || type == DTC_I32))
              continue;
            if (b == 4 &&
                (type != DTC_F32 || reduction == DTC_MAX || axes.size() > 1))
              continue;
            Case &c = cases.emplace_back();
            c.axes = axes;
            c.blocks = buckets[b];
            c.inPlace = kind == DTC_ALL_REDUCE && b % 2;
            c.name =
                rt::cat("kind ", kind, " type ", type, " reduction ", reduction,
                        " sizes ", b, " axes ", axes.size(), " stride ",
                        axes[0].stride, " size ", axes[0].size);
            c.what = {c.name.c_str(),
                      kind,
                      reduction,
                      type,
                      int32_t(axes.size()),
                      c.axes.data(),
                      int64_t(c.blocks.size()),
                      c.blocks.data()};
          }
  return cases;
}

/// A buffer of one element type, as doubles for comparing.
inline double element(int type, const char *data, int64_t i) {
  switch (type) {
  case DTC_F64:
    return reinterpret_cast<const double *>(data)[i];
  case DTC_BF16:
    return rt::bf16ToFloat(reinterpret_cast<const uint16_t *>(data)[i]);
  case DTC_I32:
    return reinterpret_cast<const int32_t *>(data)[i];
  case DTC_I64:
    return double(reinterpret_cast<const int64_t *>(data)[i]);
  default:
    return reinterpret_cast<const float *>(data)[i];
  }
}

inline void setElement(int type, char *data, int64_t i, double x) {
  switch (type) {
  case DTC_F64:
    reinterpret_cast<double *>(data)[i] = x;
    break;
  case DTC_BF16:
    reinterpret_cast<uint16_t *>(data)[i] = rt::floatToBf16(float(x));
    break;
  case DTC_I32:
    reinterpret_cast<int32_t *>(data)[i] = int32_t(x);
    break;
  case DTC_I64:
    reinterpret_cast<int64_t *>(data)[i] = int64_t(x);
    break;
  default:
    reinterpret_cast<float *>(data)[i] = float(x);
  }
}

/// x as the element type holds it.
inline double rounded(int type, double x) {
  alignas(8) char data[8];
  setElement(type, data, 0, x);
  return element(type, data, 0);
}

/// What rank `rank` sends: different in every element, not exactly summable.
inline double input(int rank, size_t buffer, int64_t i) {
  double x =
      double((i * 7919 + rank * 104729 + int64_t(buffer) * 31 + 17) % 100003);
  return (x - 50000) / 7;
}

inline double combine(int type, int reduction, double a, double b) {
  if (reduction == DTC_MAX)
    return std::max(a, b);
  // In the type that sums: f32 for f32 and bf16.
  return type == DTC_F32 || type == DTC_BF16 ? double(float(a) + float(b))
                                             : a + b;
}

/// The length of a rank's buffers.
inline int64_t length(const Case &c, size_t buffer, int k, bool send) {
  int64_t n = 1;
  for (int64_t d : c.blocks[buffer].n)
    n *= d;
  switch (c.what.kind) {
  case DTC_ALL_REDUCE:
  case DTC_SHIFT:
    return n;
  case DTC_ALL_GATHER:
    return send ? n : k * n;
  case DTC_REDUCE_SCATTER:
    return send ? k * n : n;
  default:
    return k * n;
  }
}

/// The result by the definition of ABI.h, index by index.
inline std::vector<double> expected(const Case &c, size_t buffer,
                                    const std::vector<int> &members, int me) {
  const int64_t *n = c.blocks[buffer].n;
  int k = int(members.size()), type = c.what.dtype;
  auto sent = [&](int member, int64_t i) {
    return rounded(type, input(members[size_t(member)], buffer, i));
  };
  auto reduced = [&](int64_t i) {
    double x = sent(0, i);
    for (int j = 1; j < k; ++j)
      x = combine(type, c.what.reduction, x, sent(j, i));
    return rounded(type, x);
  };
  std::vector<double> out(size_t(length(c, buffer, k, false)));
  int64_t rest = n[2] * n[3] * n[4];
  switch (c.what.kind) {
  case DTC_ALL_REDUCE:
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = reduced(int64_t(i));
    break;
  case DTC_ALL_GATHER: // recv [n0, k*n1, rest]
    for (int64_t a = 0; a < n[0]; ++a)
      for (int64_t b = 0; b < k * n[1]; ++b)
        for (int64_t r = 0; r < rest; ++r)
          out[size_t((a * k * n[1] + b) * rest + r)] =
              sent(int(b / n[1]), (a * n[1] + b % n[1]) * rest + r);
    break;
  case DTC_SHIFT: // of the member before
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = sent((me + k - 1) % k, int64_t(i));
    break;
  case DTC_REDUCE_SCATTER: // send [n0, k*n1, rest]
    for (int64_t a = 0; a < n[0]; ++a)
      for (int64_t b = 0; b < n[1]; ++b)
        for (int64_t r = 0; r < rest; ++r)
          out[size_t((a * n[1] + b) * rest + r)] =
              reduced((a * k * n[1] + me * n[1] + b) * rest + r);
    break;
  default: { // dimension `gathered` grows by k, the other is cut
    bool first = c.blocks[buffer].gather_first;
    int64_t s1 = first ? n[1] : k * n[1], s3 = first ? k * n[3] : n[3];
    int64_t r1 = first ? k * n[1] : n[1], r3 = first ? n[3] : k * n[3];
    size_t i = 0;
    for (int64_t a = 0; a < n[0]; ++a)
      for (int64_t b = 0; b < r1; ++b)
        for (int64_t d = 0; d < n[2]; ++d)
          for (int64_t e = 0; e < r3; ++e)
            for (int64_t f = 0; f < n[4]; ++f) {
              int64_t from = first ? b / n[1] : e / n[3];
              int64_t b1 = first ? b % n[1] : me * n[1] + b;
              int64_t e1 = first ? me * n[3] + e : e % n[3];
              out[i++] = sent(
                  int(from), (((a * s1 + b1) * n[2] + d) * s3 + e1) * n[4] + f);
            }
  }
  }
  return out;
}

/// Runs all cases on a rank, two in flight at a time; returns the first error.
inline std::string runCases(dtc_rank &rank, std::deque<Case> &cases) {
  bool ring = rank.transport->settings().ring;
  struct Flight {
    Case *c;
    std::vector<std::vector<char>> send, recv;
    std::vector<void *> sendPointers, recvPointers;
  };
  auto begin = [&](Case &c, int slot) {
    Flight flight = {&c, {}, {}, {}, {}};
    int k = 1;
    for (const dtc_axis &axis : c.axes)
      k *= int(axis.size);
    int64_t width = rt::sizeOf(dtc_dtype(c.what.dtype));
    for (size_t b = 0; b < c.blocks.size(); ++b) {
      int64_t n = length(c, b, k, true), m = length(c, b, k, false);
      auto &send = flight.send.emplace_back(size_t(n * width) + 8);
      for (int64_t i = 0; i < n; ++i)
        setElement(c.what.dtype, send.data(), i, input(int(rank.id), b, i));
      flight.recv.emplace_back(size_t(m * width) + 8, char(0x5a));
    }
    for (size_t b = 0; b < c.blocks.size(); ++b) {
      flight.sendPointers.push_back(flight.send[b].data());
      flight.recvPointers.push_back(c.inPlace ? flight.send[b].data()
                                              : flight.recv[b].data());
    }
    dtc_rt_start(&rank, &c.what, slot, flight.sendPointers.data(),
                 flight.recvPointers.data());
    return flight;
  };
  auto end = [&](Flight &flight, int slot) -> std::string {
    Case &c = *flight.c;
    const rt::Plan plan = *rank.slots[size_t(slot)].plan;
    int64_t before = rank.bytesSent;
    dtc_rt_wait(&rank, slot);
    int64_t sent = rank.bytesSent - before;
    int type = c.what.dtype;
    bool exact = !ring || c.what.reduction == DTC_MAX || type == DTC_I32 ||
                 type == DTC_I64;
    for (size_t b = 0; b < c.blocks.size(); ++b) {
      std::vector<double> want = expected(c, b, plan.members(), plan.index());
      const char *got = static_cast<char *>(flight.recvPointers[b]);
      for (size_t i = 0; i < want.size(); ++i) {
        double x = element(type, got, int64_t(i));
        double bound = exact ? 0 : (type == DTC_BF16 ? 1e-2 : 1e-5) * 8e3;
        if (!(std::abs(x - want[i]) <= bound))
          return rt::cat("rank ", rank.id, ": ", c.name, ": buffer ", b,
                         " element ", i, " is ", x, ", not ", want[i]);
      }
      int64_t width = rt::sizeOf(dtc_dtype(type));
      size_t bytes = want.size() * size_t(width);
      if (!c.inPlace && flight.recv[b][bytes] != 0x5a)
        return rt::cat("rank ", rank.id, ": ", c.name, ": wrote too much");
    }
    // (k-1)/k of the whole, twice for an all-reduce, whose pieces have ceil(n /
    // k) elements, the last ones shorter or empty.
    int64_t k = plan.size(), me = plan.index(), width = plan.elementBytes();
    int64_t total = plan.elements(), want = (k - 1) * total * width;
    // Partial sums of bf16 travel around a ring as f32.
    int64_t wide = ring && type == DTC_BF16 ? 4 : width;
    if (c.what.kind == DTC_ALL_REDUCE) {
      auto piece = [&](int64_t member) {
        int64_t length = (total + k - 1) / k;
        return std::clamp<int64_t>(total - member * length, 0, length);
      };
      int64_t own = piece(me), next = piece((me + 1) % k);
      // Directly: the others' pieces to them, then the own one to each. Around
      // a ring: all pieces but the own one, then all but the next member's.
      want = ring ? (total - own) * wide + (total - next) * width
                  : (total - own + (k - 1) * own) * width;
      // In equal pieces that is the formula.
      if (total % k == 0 && wide == width &&
          want != 2 * (k - 1) * total * width / k)
        return rt::cat(c.name, ": the test is wrong");
    } else if (c.what.kind == DTC_REDUCE_SCATTER) {
      want = (k - 1) * total * wide;
    } else if (c.what.kind == DTC_SHIFT) {
      want = total * width;
    }
    if (sent != want)
      return rt::cat(c.name, ": ", sent, " bytes sent, not ", want);
    return "";
  };
  std::string first;
  for (size_t i = 0; i < cases.size(); i += 2) {
    Flight a = begin(cases[i], 0), b;
    bool more = i + 1 < cases.size();
    if (more)
      b = begin(cases[i + 1], 1);
    std::string error = end(a, 0);
    if (error.empty() && more)
      error = end(b, 1);
    else if (more)
      dtc_rt_wait(&rank, 1);
    if (first.empty())
      first = error;
  }
  return first;
}

} // namespace dtc::test
#endif // DTC_UNITTESTS_COLLECTIVECASES_H
