//===- OpsTest.cpp - Every op under every placement -----------------------===//
//
// An op that the verifier accepts gives the whole op's numbers, forward and
// backward; and it accepts exactly the assignments that are legal.
//
//===----------------------------------------------------------------------===//

#include "Samples.h"
#include "llvm/ADT/StringSet.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace mlir;
using namespace dtc;
using namespace dtc::test;

namespace {

class Ops : public testing::TestWithParam<size_t> {
protected:
  const Sample &sample() { return getSamples()[GetParam()]; }
};

/// A few messages are enough to find the cause.
class Failures {
public:
  explicit Failures(const Sample &sample) : sample(sample) {}
  ~Failures() {
    if (count > 0)
      ADD_FAILURE() << count << " failures\n" << text;
  }
  void add(const std::string &where, ArrayRef<DTensorType> types,
           const std::string &message) {
    if (++count <= 5)
      text += sample.name + " on " + where + ": " + message + "\n  " +
              toString(types, sample.op->getNumOperands()) + "\n";
  }

private:
  const Sample &sample;
  int count = 0;
  std::string text;
};

const char *toString(Verdict verdict) {
  switch (verdict) {
  case Verdict::Rejected:
    return "rejected";
  case Verdict::IllBackward:
    return "its derivative is rejected";
  case Verdict::Wrong:
    return "wrong";
  case Verdict::Right:
    return "accepted, and right";
  }
  return "";
}

//===----------------------------------------------------------------------===//
// The rule once more, read from docs/placements.md
//===----------------------------------------------------------------------===//

bool isLegalOn(const FactorRule &rule, FactorSet on) {
  bool pair = rule.isPair(on);
  if (on.count() > 1 && !pair)
    return false;
  if (!pair && (on & rule.pairedOnlySet).any())
    return false;
  bool communicates = pair;
  for (unsigned f = 0; f < rule.factors.size(); ++f)
    if (on[f]) {
      if (rule.factors[f].whole)
        return false;
      communicates |= rule.factors[f].communicates;
    }
  for (unsigned r = 0; r < rule.getNumResults(); ++r) {
    bool has = (rule.factorsOf(rule.getNumOperands() + r) & on).any();
    bool reduced =
        (rule.summedIn[r] & on) == on || (rule.maximumIn[r] & on) == on;
    if (!has && !reduced && !communicates)
      return false;
  }
  return true;
}

bool isLegal(const FactorRule &rule, const Assignment &assignment,
             ArrayRef<Axis> atoms) {
  for (const Axis &a : atoms) {
    FactorSet on;
    for (auto [f, axes] : llvm::enumerate(assignment.factors))
      if (llvm::is_contained(axes, a))
        on.set(f);
    if (on.any() && !isLegalOn(rule, on))
      return false;
  }
  // One list cuts both of a pair.
  for (auto [a, b] : rule.pairs)
    if (overlap(assignment.factors[a], assignment.factors[b]) &&
        assignment.factors[a] != assignment.factors[b])
      return false;
  return true;
}

/// A minor factor of a dimension is cut where the major ones are not cut
/// fully: the types then read as another assignment.
bool readsAsAnother(const FactorRule &rule, const Assignment &assignment) {
  for (unsigned v = 0; v < rule.getNumValues(); ++v)
    for (const DimFactors &dim : rule.value(v)) {
      bool full = true;
      for (unsigned f : dim) {
        if (!full && !assignment.factors[f].empty())
          return true;
        full &= product(assignment.factors[f]) == rule.factors[f].size;
      }
    }
  return false;
}

} // namespace

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

TEST(Samples, AreValid) {
  EXPECT_EQ(getSampleErrors(), "");
  EXPECT_FALSE(getSamples().empty());
}

TEST(Samples, CoverEveryOp) {
  llvm::StringSet<> have;
  for (const Sample &s : getSamples())
    have.insert(s.op->getName().getStringRef());
  for (RegisteredOperationName name :
       getContext().getRegisteredOperationsByDialect("dtc")) {
    if (!name.hasInterface<FactorOpInterface>())
      continue;
    EXPECT_TRUE(have.contains(name.getStringRef()))
        << name.getStringRef().str() << " has no function in sample-ops.mlir";
    EXPECT_TRUE(name.hasInterface<MeaningOpInterface>())
        << name.getStringRef().str() << " has no meaning";
  }
}

//===----------------------------------------------------------------------===//
// Placements
//===----------------------------------------------------------------------===//

TEST_P(Ops, EveryAssignment) {
  const Sample &s = sample();
  Failures failures(s);
  int legal = 0, illegal = 0, none = 0;
  auto tryAll = [&](const TestMesh &mesh, int64_t extra) {
    for (const Assignment &a : getAssignments(s.rule, mesh.atoms)) {
      auto types = getTypes(s, s.rule, a, extra);
      if (!types) {
        ++none;
        continue;
      }
      Outcome outcome = tryTypes(s, *types, mesh.mesh);
      bool mayBe = isLegal(s.rule, a, mesh.atoms);
      if (readsAsAnother(s.rule, a)) {
        if (outcome.verdict == Verdict::Wrong ||
            outcome.verdict == Verdict::IllBackward)
          failures.add(mesh.name, *types, outcome.message);
        continue;
      }
      ++(mayBe ? legal : illegal);
      if (outcome.verdict != (mayBe ? Verdict::Right : Verdict::Rejected))
        failures.add(mesh.name, *types,
                     std::string(mayBe ? "legal, but " : "illegal, but ") +
                         toString(outcome.verdict) + ": " + outcome.message);
    }
  };
  for (const TestMesh &mesh : getMeshes())
    tryAll(mesh, 0);
  tryAll(makeMesh("A4 in parts x B2", {axis("A", 4), axis("B", 2)},
                  {axis("A", 2), axis("A", 2, 2), axis("B", 2)}),
         0);
  // Lengths that other ops of a program need, also where nothing is cut.
  tryAll(getMeshes()[0], 1);
  RecordProperty("legal", legal);
  RecordProperty("illegal", illegal);
  std::printf("%-24s %5d legal, %5d illegal, %5d without types\n",
              s.name.c_str(), legal, illegal, none);
}

/// Placements that follow from no assignment: what the verifier accepts must
/// be right, and it must see nearly all of them.
TEST_P(Ops, RandomPlacements) {
  const Sample &s = sample();
  Failures failures(s);
  Random random(4, s.name);
  std::vector<DTensorType> logical = s.logicalTypes();
  int accepted = 0, rejected = 0;
  for (const TestMesh &mesh : {getMeshes()[0], getMeshes()[3]}) {
    std::vector<Assignment> all = getAssignments(s.rule, mesh.atoms);
    for (int i = 0; i < 300; ++i) {
      // From a legal op, one or two values changed on one atom.
      const Assignment &start = all[random.below(all.size())];
      auto types = getTypes(s, s.rule, start);
      if (!types)
        continue;
      for (int64_t k = random.below(2); k >= 0; --k) {
        DTensorType &type = (*types)[random.below(types->size())];
        const Axis &atom = mesh.atoms[random.below(mesh.atoms.size())];
        Refinement refinement;
        refinement.add(mesh.atoms);
        TensorSpec spec(type);
        spec.refine(refinement);
        spec.erase(atom);
        int64_t place = random.below(4 + spec.getRank());
        if (place >= 4)
          spec.set(atom, PlacementKind::Shard, place - 4);
        else
          spec.set(atom, static_cast<PlacementKind>(place));
        if (DTensorType t = DTensorType::get(spec); exists(t))
          type = t;
      }
      Outcome outcome = tryTypes(s, *types, mesh.mesh);
      ++(outcome.verdict == Verdict::Rejected ? rejected : accepted);
      if (outcome.verdict == Verdict::Wrong ||
          outcome.verdict == Verdict::IllBackward)
        failures.add(mesh.name, *types, outcome.message);
    }
  }
  EXPECT_GT(rejected, 0);
  RecordProperty("accepted", accepted);
  RecordProperty("rejected", rejected);
}

//===----------------------------------------------------------------------===//
// Derivatives
//===----------------------------------------------------------------------===//

/// The cotangents' product with the results that have one.
static double getValue(const Sample &s, ArrayRef<Array> results) {
  double value = 0;
  for (auto [r, cotangent] : llvm::enumerate(s.cotangents))
    if (cotangent)
      for (int64_t i = 0; i < cotangent->count(); ++i)
        value += (*cotangent)[i] * results[r][i];
  return value;
}

/// Along a random direction of each float operand; an operand without a
/// cotangent must have no influence.
TEST_P(Ops, FiniteDifferences) {
  const Sample &s = sample();
  if (!s.isDifferentiable())
    return;
  constexpr double h = 1e-5;
  std::vector<DTensorType> types = s.logicalTypes();
  for (auto [i, x] : llvm::enumerate(s.operands)) {
    if (types[i].isInteger()) {
      EXPECT_FALSE(s.gradients[i].has_value());
      continue;
    }
    for (int trial = 0; trial < 3; ++trial) {
      Random random(trial, s.name + std::to_string(i));
      Array direction(x.shape);
      for (double &d : direction.data)
        d = random.normal();
      double values[2], along = 0;
      for (int side : {0, 1}) {
        std::vector<Array> moved = s.operands;
        for (int64_t j = 0; j < x.count(); ++j)
          moved[i][j] += (side ? h : -h) * direction[j];
        values[side] = getValue(s, runLogical(s, moved));
      }
      if (s.gradients[i])
        for (int64_t j = 0; j < x.count(); ++j)
          along += (*s.gradients[i])[j] * direction[j];
      double slope = (values[1] - values[0]) / (2 * h);
      EXPECT_NEAR(slope, along, 1e-7 * std::max(1.0, std::abs(along)))
          << "operand #" << i;
    }
  }
}

//===----------------------------------------------------------------------===//
// Declarations are laws
//===----------------------------------------------------------------------===//

static void expectNear(const Array &got, const Array &want,
                       const std::string &what) {
  EXPECT_LE(getMaxError(got, want), 1e-9 * std::max(1.0, getMagnitude(want)))
      << what;
}

TEST_P(Ops, RuleIsWellFormed) {
  const FactorRule &rule = sample().rule;
  EXPECT_EQ(rule.problem, "");
  for (unsigned r = 0; r < rule.getNumResults(); ++r) {
    FactorSet has = rule.factorsOf(rule.getNumOperands() + r);
    EXPECT_TRUE((rule.summedIn[r] & has).none());
    EXPECT_TRUE((rule.maximumIn[r] & (has | rule.summedIn[r])).none());
    for (unsigned i : rule.readsOf[r])
      EXPECT_LT(i, rule.getNumOperands());
  }
  for (const auto &set : rule.linearSets)
    for (unsigned i : set)
      EXPECT_LT(i, rule.getNumOperands());
}

/// Slice i of k along a factor, of padded length n each; padding is NaN.
static Array slice(const Array &x, const ValueFactors &dims,
                   const FactorRule &rule, unsigned factor, int64_t i,
                   int64_t n) {
  // Seen with one dimension for each factor.
  SmallVector<int64_t> whole, piece;
  int64_t at = -1;
  Array out;
  for (const DimFactors &dim : dims) {
    int64_t length = 1;
    for (unsigned f : dim) {
      if (f == factor)
        at = whole.size();
      whole.push_back(rule.factors[f].size);
      piece.push_back(f == factor ? n : rule.factors[f].size);
      length *= piece.back();
    }
    out.shape.push_back(length);
  }
  if (at < 0)
    return x;
  out.data.assign(out.count(), NAN);
  int64_t k = 0;
  forEachIndex(piece, [&](ArrayRef<int64_t> index) {
    SmallVector<int64_t> from(index);
    from[at] += i * n;
    if (from[at] < whole[at]) {
      int64_t o = 0;
      for (auto [j, w] : llvm::zip_equal(from, whole))
        o = o * w + j;
      out[k] = x[o];
    }
    ++k;
  });
  return out;
}

/// The op on k slices along a factor, as if they were ranks: operands that lack
/// it are passed whole to each.
static SmallVector<SmallVector<Array>>
runSlices(const Sample &s, const FactorRule &rule, unsigned f, int64_t k) {
  SmallVector<AxisList> axes(rule.factors.size());
  axes[f] = {axis("S", k)};
  std::vector<FactorPiece> pieces;
  std::vector<SmallVector<Array>> operands(k);
  std::vector<int64_t> all;
  for (int64_t i = 0; i < k; ++i) {
    pieces.emplace_back(
        rule, axes, [&](ArrayRef<Axis> list) { return list.empty() ? 0 : i; });
    for (unsigned v = 0; v < rule.getNumOperands(); ++v)
      operands[i].push_back(slice(s.operands[v], rule.value(v), rule, f, i,
                                  rule.factors[f].padded / k));
    all.push_back(i);
  }
  GroupView group;
  group.ranks = k;
  group.groups = [&](char name) {
    std::vector<std::vector<int64_t>> groups = {all};
    if (name != rule.factors[f].name) {
      groups.clear();
      for (int64_t i : all)
        groups.push_back({i});
    }
    return groups;
  };
  return cast<MeaningOpInterface>(s.op).interpretRanks(group, pieces, operands);
}

/// The op on the whole is the concatenation, sum or maximum of the op on the
/// slices; an op that communicates gives the whole to each.
TEST_P(Ops, SlicesMakeTheWhole) {
  const Sample &s = sample();
  unsigned numOperands = s.rule.getNumOperands();
  for (unsigned f = 0; f < s.rule.factors.size(); ++f) {
    FactorSet on;
    on.set(f);
    if (!isLegalOn(s.rule, on))
      continue;
    for (int64_t k : {int64_t(2), s.rule.factors[f].size}) {
      // A minor factor is cut only where the major one is cut fully.
      Assignment alone;
      alone.factors.resize(s.rule.factors.size());
      alone.factors[f] = {axis("S", k)};
      if (readsAsAnother(s.rule, alone) ||
          (s.rule.factors[f].even && s.rule.factors[f].size % k != 0))
        continue;
      FactorRule rule = s.rule;
      int64_t n = (rule.factors[f].size + k - 1) / k;
      rule.factors[f].padded = n * k;
      SmallVector<SmallVector<Array>> slices = runSlices(s, rule, f, k);
      for (unsigned r = 0; r < s.results.size(); ++r) {
        std::string what = "result #" + std::to_string(r) + ", " +
                           std::to_string(k) + " slices of factor " +
                           rule.factors[f].name;
        bool reduced = rule.summedIn[r][f] || rule.maximumIn[r][f];
        Array total = slices[0][r];
        for (int64_t i = 0; i < k; ++i) {
          Array got = slices[i][r];
          if (!reduced) {
            Array want =
                slice(s.results[r], rule.value(numOperands + r), rule, f, i, n);
            ASSERT_EQ(got.shape, want.shape) << what;
            for (int64_t j = 0; j < want.count(); ++j)
              if (std::isnan(want[j])) // padding
                got[j] = want[j] = 0;
            expectNear(got, want, what);
            continue;
          }
          for (int64_t j = 0; i > 0 && j < total.count(); ++j)
            total[j] = rule.summedIn[r][f] ? total[j] + got[j]
                                           : std::max(total[j], got[j]);
        }
        if (reduced)
          expectNear(total, s.results[r], what);
      }
    }
  }
}

static Array combine(double alpha, const Array &x, double beta,
                     const Array &y) {
  Array z = x;
  for (int64_t i = 0; i < z.count(); ++i)
    z[i] = alpha * x[i] + beta * y[i];
  return z;
}

static Array drawLike(const Array &x, bool integer, Random &random) {
  Array y = x;
  for (double &v : y.data)
    v = integer ? static_cast<double>(random.below(9)) : random.normal();
  return y;
}

/// Additive and homogeneous in the operands of each declared set, jointly.
TEST_P(Ops, LinearSetsAreLinear) {
  const Sample &s = sample();
  std::vector<DTensorType> types = s.logicalTypes();
  Random random(5, s.name);
  for (auto [k, set] : llvm::enumerate(s.rule.linearSets)) {
    double alpha = 3, beta = -2;
    std::vector<Array> x = s.operands, y = x, z = x;
    for (unsigned i : set) {
      y[i] = drawLike(x[i], types[i].isInteger(), random);
      z[i] = combine(alpha, x[i], beta, y[i]);
    }
    std::vector<Array> fx = runLogical(s, x), fy = runLogical(s, y),
                       fz = runLogical(s, z);
    for (unsigned r = 0; r < fx.size(); ++r)
      expectNear(fz[r],
                 s.rule.isLinearResult(k, r)
                     ? combine(alpha, fx[r], beta, fy[r])
                     : fx[r],
                 "result #" + std::to_string(r) + ", set " + std::to_string(k));
  }
}

/// A result does not change with operands that it does not read.
TEST_P(Ops, ResultsReadWhatTheyDeclare) {
  const Sample &s = sample();
  std::vector<DTensorType> types = s.logicalTypes();
  Random random(6, s.name);
  for (unsigned r = 0; r < s.results.size(); ++r)
    for (unsigned i = 0; i < s.operands.size(); ++i) {
      if (llvm::is_contained(s.rule.readsOf[r], i))
        continue;
      std::vector<Array> other = s.operands;
      if (types[i].isInteger()) // stay within ids and labels
        std::reverse(other[i].data.begin(), other[i].data.end());
      else
        other[i] = drawLike(other[i], false, random);
      expectNear(runLogical(s, other)[r], s.results[r],
                 "result #" + std::to_string(r) + " reads operand #" +
                     std::to_string(i));
    }
}

INSTANTIATE_TEST_SUITE_P(, Ops, testing::Range<size_t>(0, getSamples().size()),
                         [](const auto &info) {
                           return getSamples()[info.param].name;
                         });
