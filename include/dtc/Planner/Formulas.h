//===- Formulas.h - Memory by closed formulas -------------------*- C++ -*-===//
//
// What papers say that training takes, and what DTC's programs take, without
// compiling one. All results are bytes of one rank.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_PLANNER_FORMULAS_H
#define DTC_PLANNER_FORMULAS_H

#include <cstdint>

namespace dtc {

/// How each parameter is kept. Mixed precision (Micikevicius et al. 2018): a
/// 2-byte parameter beside a 4-byte master copy; in f32 there is one copy.
struct StatePrecision {
  double parameter = 2, gradient = 2, master = 4;
  /// Adam's two moments.
  double moments = 8;
};

/// State of `params` parameters on each of `ranks` data-parallel ranks, ZeRO
/// stage 0 to 3 (Rajbhandari et al. 2020, section 5 and figure 1): with the
/// default precision 16P, 4P + 12P/N, 2P + 14P/N, 16P/N.
double getStateBytes(double params, int64_t ranks, int stage,
                     const StatePrecision &precision = {});

/// One transformer layer of GPT's kind, as one rank of tp sees it.
struct LayerShape {
  double sequence = 0; ///< s
  double batch = 0;    ///< b, sequences of a micro-batch
  double hidden = 0;   ///< h; the MLP has 4h
  double heads = 0;    ///< a
  double tp = 1;       ///< t
  bool sequenceParallel = false;
  /// The inputs gathered for sequence parallelism are gathered again in the
  /// backward instead of kept. (What is published supposes it.)
  bool gatherAgain = false;
};
enum class Recompute { None, Selective, Full };

/// Activations that a layer keeps, in 16 bits with masks of dropout in 8, as
/// published (Korthikanti et al. 2022, equations 1 to 6): sbh(34 + 5as/h),
/// sbh(10 + 24/t + 5as/(ht)), sbh(34/t + 5as/(ht)) with sequence parallelism;
/// without 5as/h for selective, 2sbh (over t with sequence parallelism) for
/// full recomputation.
double getPublishedActivationBytes(const LayerShape &layer, Recompute what);

/// What a GPT-2 layer of DTC keeps, its operand included, for elements of
/// `elementBytes`: sbh(4 + 12/t) elements and one f32 log-sum-exp for each row
/// of scores, sba/t. No scores and no masks are among them. Selective keeps
/// sbh(2 + 8/t): the inputs of norms, of the activation and of attention, its
/// result and log-sum-exp; full sbh. With sequence parallelism all of sbh is
/// divided by t; but the two inputs of products are kept as they were gathered
/// unless they are gathered again: 2sbh(1 - 1/t) elements more, in selective,
/// which needs the norms' inputs beside them, 2sbh.
double getActivationBytes(const LayerShape &layer, Recompute what,
                          double elementBytes);

} // namespace dtc

#endif // DTC_PLANNER_FORMULAS_H
