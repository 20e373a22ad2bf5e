//===- Generate.h - The usual pipeline schedules ----------------*- C++ -*-===//

#ifndef DTC_SCHEDULE_GENERATE_H
#define DTC_SCHEDULE_GENERATE_H

#include "dtc/Schedule/Schedule.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace dtc::schedule {

enum class Kind {
  /// All forwards, then all backwards (Huang et al. 2019). Backwards are in the
  /// order of micro-batches too, so that gradients are summed in the same order
  /// as in every other schedule.
  GPipe,
  /// One forward, one backward (Narayanan et al. 2019, without flush 2021):
  /// min(P - r, M) micro-batches in flight on rank r of P.
  OneF1B,
  /// 1f1b on V stages a rank (Narayanan et al. 2021); only for multiples of P
  /// micro-batches.
  Interleaved,
  /// Zero bubble, ZB-H1 (Qi et al. 2023): the weight backward comes r
  /// micro-batches after the input backward; the memory of 1f1b on rank 0, on
  /// every rank.
  ZeroBubbleH1,
  /// Zero bubble on a V (Qi et al. 2024): two stages a rank, no bubble but the
  /// pipeline's filling if the three times are equal.
  ZeroBubbleV
};

/// "gpipe", "1f1b", "interleaved", "zb-h1", "zb-v".
llvm::StringRef getName(Kind kind);
std::optional<Kind> parseKind(llvm::StringRef name);
/// All names, as errors list them.
llvm::StringRef getKindNames();

/// The stages that a schedule needs for `ranks` ranks: `virtualStages` a rank
/// (1 or more) for interleaved, 2 on a V for zb-v, one for the others.
/// `virtualStages` 0 is the usual number, 2 for interleaved. The error says
/// what is legal.
llvm::Expected<Placement> getPlacement(Kind kind, int64_t ranks,
                                       int64_t virtualStages = 0);

/// The order of computations alone, with Reduce and Update at the end, and
/// claims for the peaks. `graph` is a chain if it is empty and there are
/// several stages; the order is right for every graph.
llvm::Expected<Schedule> generateComputations(Kind kind,
                                              const Placement &placement,
                                              int64_t microBatches,
                                              const StageGraph &graph = {});

/// The same, and addCommunication (Communicate.h).
llvm::Expected<Schedule> generate(Kind kind, const Placement &placement,
                                  int64_t microBatches,
                                  const StageGraph &graph = {},
                                  int64_t postAhead = 1);

} // namespace dtc::schedule

#endif // DTC_SCHEDULE_GENERATE_H
