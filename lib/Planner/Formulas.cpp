//===- Formulas.cpp - Memory by closed formulas ---------------------------===//

#include "dtc/Planner/Formulas.h"

using namespace dtc;

double dtc::getStateBytes(double params, int64_t ranks, int stage,
                          const StatePrecision &p) {
  auto n = static_cast<double>(ranks);
  double optimizer = (p.master + p.moments) / (stage >= 1 ? n : 1);
  double gradient = p.gradient / (stage >= 2 ? n : 1);
  double parameter = p.parameter / (stage >= 3 ? n : 1);
  return params * (optimizer + gradient + parameter);
}

double dtc::getPublishedActivationBytes(const LayerShape &l, Recompute what) {
  double sbh = l.sequence * l.batch * l.hidden, t = l.tp;
  double split = l.sequenceParallel ? t : 1;
  if (what == Recompute::Full)
    return 2 * sbh / split;
  double scores =
      what == Recompute::None ? 5 * l.heads * l.sequence / (l.hidden * t) : 0;
  return sbh * (10 / split + 24 / t + scores);
}

double dtc::getActivationBytes(const LayerShape &l, Recompute what,
                               double elementBytes) {
  double sbh = l.sequence * l.batch * l.hidden, t = l.tp;
  double split = l.sequenceParallel ? t : 1;
  if (what == Recompute::Full)
    return sbh * elementBytes / split;
  double logSumExp = 4 * l.sequence * l.batch * l.heads / t;
  bool all = what == Recompute::None;
  double gathered = 0;
  if (l.sequenceParallel && !l.gatherAgain && t > 1)
    gathered = all ? 2 * (1 - 1 / t) : 2;
  return elementBytes * sbh *
             ((all ? 4 : 2) / split + (all ? 12 : 8) / t + gathered) +
         logSumExp;
}
