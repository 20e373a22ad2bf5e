//===- TeethTest.cpp - Do the generated tests see mistakes? ---------------===//
//
// Known mistakes are made, one at a time, and the tests' own means must report
// them: otherwise a green run means nothing.
//
//===----------------------------------------------------------------------===//

#include "Samples.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace dtc;
using namespace dtc::test;

namespace {

/// Wrong numbers among all assignments that a declaration allows.
int countWrong(const Sample &s, const FactorRule &rule) {
  int wrong = 0;
  for (const TestMesh &mesh : getMeshes())
    for (const Assignment &a : getAssignments(rule, mesh.atoms))
      if (auto types = getTypes(s, rule, a))
        wrong += tryRule(s, rule, *types, mesh.mesh).verdict == Verdict::Wrong;
  return wrong;
}

void expectSeen(StringRef name, llvm::function_ref<void(FactorRule &)> change) {
  const Sample &s = getSample(name);
  EXPECT_EQ(countWrong(s, s.rule), 0) << name.str() << " as it is";
  FactorRule rule = s.rule;
  change(rule);
  EXPECT_GT(countWrong(s, rule), 0) << name.str() << " declared wrongly";
}

DTensorType type(ArrayRef<int64_t> shape,
                 ArrayRef<std::pair<Axis, PlacementKind>> placements,
                 ArrayRef<unsigned> dims = {}) {
  TensorSpec spec(shape, Float64Type::get(&getContext()));
  for (auto [i, p] : llvm::enumerate(placements))
    spec.set(p.first, p.second, i < dims.size() ? dims[i] : 0);
  return DTensorType::get(spec);
}

} // namespace

TEST(Teeth, NonlinearOpDeclaredLinear) {
  expectSeen("activation_gelu_tanh", [](FactorRule &r) { r.linear({0}); });
  expectSeen("rms_norm", [](FactorRule &r) { r.linear({0}); });
  expectSeen("sum_squares", [](FactorRule &r) { r.linear({0}); });
}

TEST(Teeth, ProductDeclaredJointlyLinear) {
  expectSeen("einsum_matmul", [](FactorRule &r) { r.linear({0, 1}); });
  expectSeen("multiply", [](FactorRule &r) { r.linear({0, 1}); });
}

TEST(Teeth, SumDeclaredLinearInOneTerm) {
  expectSeen("add_bias", [](FactorRule &r) { r.linear({1}); });
}

TEST(Teeth, ResultDeclaredToReadWhatItDoesNot) {
  // dup would be partial where up is, and counted twice.
  expectSeen("gated_product_grad",
             [](FactorRule &r) { r.reads(1, {0, 1, 2}); });
  expectSeen("layer_norm_grad", [](FactorRule &r) { r.reads(2, {0, 1, 2}); });
}

TEST(Teeth, ResultNotDeclaredToReadWhatItDoes) {
  expectSeen("gated_product_grad", [](FactorRule &r) { r.reads(0, {0, 2}); });
}

TEST(Teeth, WholeFactorDeclaredPassedThrough) {
  for (StringRef name : {"layer_norm", "rms_norm", "rotary"})
    expectSeen(name, [](FactorRule &r) {
      for (Factor &f : r.factors)
        f.whole = false;
    });
}

TEST(Teeth, MaximumDeclaredASum) {
  expectSeen("vocab_max",
             [](FactorRule &r) { std::swap(r.summedIn[0], r.maximumIn[0]); });
  expectSeen("vocab_sum_exp",
             [](FactorRule &r) { std::swap(r.summedIn[0], r.maximumIn[0]); });
}

TEST(Teeth, PairCutAlone) {
  // Keys alone: every rank would see its own keys only.
  expectSeen("attention_causal", [](FactorRule &r) {
    r.pairs.clear();
    r.pairedOnlySet.reset();
    for (Factor &f : r.factors)
      f.communicates |= f.name == 's';
    r.summed(0, "t").summed(1, "t");
  });
}

/// A list of axes in two orders: per axis all is well, and the pieces differ.
TEST(Teeth, OrderOfAxes) {
  TestMesh mesh = makeMesh("A2 x B2", {axis("A", 2), axis("B", 2)});
  constexpr auto S = PlacementKind::Shard;
  DTensorType ab = type({4}, {{axis("A", 2), S}, {axis("B", 2), S}}),
              ba = type({4}, {{axis("B", 2), S}, {axis("A", 2), S}});
  Random random(12);
  Array x({4});
  for (double &v : x.data)
    v = random.normal();
  Pieces pieces = distribute(x, ab, mesh.mesh, random);
  EXPECT_EQ(getMaxError(*assemble(pieces, ab, mesh.mesh, 0, nullptr), x), 0);
  EXPECT_GT(getMaxError(*assemble(pieces, ba, mesh.mesh, 0, nullptr), x), 0.01);
}

/// Copies that differ are no value.
TEST(Teeth, CopiesThatDiffer) {
  TestMesh mesh = makeMesh("A2", {axis("A", 2)});
  Pieces pieces = {Array({2}, 1.0), Array({2}, 1.5)};
  using PK = PlacementKind;
  for (PK kind : {PK::Invariant, PK::Replicate})
    EXPECT_TRUE(failed(assemble(pieces, type({2}, {{axis("A", 2), kind}}),
                                mesh.mesh, 1e-9, nullptr)));
  FailureOr<Array> sum = assemble(
      pieces, type({2}, {{axis("A", 2), PK::Partial}}), mesh.mesh, 0, nullptr);
  ASSERT_TRUE(succeeded(sum));
  EXPECT_EQ((*sum)[0], 2.5);
  FailureOr<Array> max = assemble(pieces, type({2}, {{axis("A", 2), PK::Max}}),
                                  mesh.mesh, 0, nullptr);
  ASSERT_TRUE(succeeded(max));
  EXPECT_EQ((*max)[0], 1.5);
}

/// Padding that is read spreads: what it reaches is wrong, not nearly right.
TEST(Teeth, PaddingIsPoison) {
  TestMesh mesh = makeMesh("A2", {axis("A", 2)});
  TensorSpec spec({3}, Float64Type::get(&getContext()));
  spec.padded = {4};
  spec.set(axis("A", 2), PlacementKind::Shard, 0);
  Random random(13);
  Pieces pieces =
      distribute(Array({3}, 1.0), DTensorType::get(spec), mesh.mesh, random);
  EXPECT_EQ(pieces[1][0], 1);
  EXPECT_TRUE(pieces[1][1] != pieces[1][1]);
  EXPECT_TRUE(std::isinf(getMaxError(pieces[1], Array({2}, 1.0))));
  EXPECT_TRUE(std::isinf(getMaxError(pieces[1], pieces[1])));
}
