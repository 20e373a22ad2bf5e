//===- CostTest.cpp - What ops cost, by hand ------------------------------===//

#include "Cost.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace dtc;

namespace {

/// One line for each op: its name, FLOPs and bytes, for ops on two ranks of dp,
/// of cp, and of tp.
const char *text = R"mlir(
module attributes {dtc.mesh = #dtc.mesh<dp:2, cp:2, tp:2>} {
  func.func private @layer(%x: !dtc.tensor<8{dp:2}x16xf32, replicate{tp:2}>, %w: !dtc.tensor<16x32{tp:2}xf32, replicate{dp:2}>) -> !dtc.tensor<8{dp:2}x32{tp:2}xf32> {
    %0 = dtc.einsum "bd,df->bf"(%x, %w) : (!dtc.tensor<8{dp:2}x16xf32, replicate{tp:2}>, !dtc.tensor<16x32{tp:2}xf32, replicate{dp:2}>) -> !dtc.tensor<8{dp:2}x32{tp:2}xf32>
    %1 = dtc.scale %0 by 2.0 : (!dtc.tensor<8{dp:2}x32{tp:2}xf32>) -> !dtc.tensor<8{dp:2}x32{tp:2}xf32>
    return %1 : !dtc.tensor<8{dp:2}x32{tp:2}xf32>
  }
  func.func @f(%x: !dtc.tensor<8{dp:2}x16xf32>, %w: !dtc.tensor<16x32{tp:2}xf32, replicate{dp:2}>,
               %table: !dtc.tensor<1000x16xf32, replicate{dp:2}>, %ids: !dtc.tensor<8{dp:2}x4xi32>,
               %q: !dtc.tensor<2x64{cp:2}x4x8xf32>, %k: !dtc.tensor<2x64{cp:2}x2x8xf32>, %p: !dtc.tensor<64{cp:2}xi32>) {
    %0 = dtc.f %x over <tp:2> : (!dtc.tensor<8{dp:2}x16xf32>) -> !dtc.tensor<8{dp:2}x16xf32, replicate{tp:2}>
    %1 = func.call @layer(%0, %w) : (!dtc.tensor<8{dp:2}x16xf32, replicate{tp:2}>, !dtc.tensor<16x32{tp:2}xf32, replicate{dp:2}>) -> !dtc.tensor<8{dp:2}x32{tp:2}xf32>
    %2 = dtc.embedding %table[%ids] : (!dtc.tensor<1000x16xf32, replicate{dp:2}>, !dtc.tensor<8{dp:2}x4xi32>) -> !dtc.tensor<8{dp:2}x4x16xf32>
    %3, %4 = dtc.attention %q, %k, %k at %p, %p {scale = 1.0} : (!dtc.tensor<2x64{cp:2}x4x8xf32>, !dtc.tensor<2x64{cp:2}x2x8xf32>, !dtc.tensor<2x64{cp:2}x2x8xf32>, !dtc.tensor<64{cp:2}xi32>, !dtc.tensor<64{cp:2}xi32>) -> (!dtc.tensor<2x64{cp:2}x4x8xf32>, !dtc.tensor<2x64{cp:2}x4xf32>)
    %5, %6 = dtc.attention %q, %k, %k at %p, %p {causal, scale = 1.0} : (!dtc.tensor<2x64{cp:2}x4x8xf32>, !dtc.tensor<2x64{cp:2}x2x8xf32>, !dtc.tensor<2x64{cp:2}x2x8xf32>, !dtc.tensor<64{cp:2}xi32>, !dtc.tensor<64{cp:2}xi32>) -> (!dtc.tensor<2x64{cp:2}x4x8xf32>, !dtc.tensor<2x64{cp:2}x4xf32>)
    return
  }
}
)mlir";

class Cost : public ::testing::Test {
protected:
  Cost() {
    context.loadDialect<DTCDialect, func::FuncDialect>();
    module = parseSourceString<ModuleOp>(text, &context);
  }
  void SetUp() override {
    ASSERT_TRUE(module);
    for (Operation &op :
         module->lookupSymbol<func::FuncOp>("f").getBody().front())
      ops.push_back(&op);
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
  SmallVector<Operation *> ops;
};

} // namespace

TEST_F(Cost, OfOneOp) {
  // Two pieces of the queries see all keys: 2 products of 2 * 32 * 4 queries
  // with 64 keys of length 8, of 2 operations each.
  double pairs = 2 * 32 * 4 * 64;
  EXPECT_EQ(cast<CostOpInterface>(ops[3]).getFlops(), 2 * 2 * pairs * 8);
  EXPECT_EQ(cast<CostOpInterface>(ops[4]).getFlops(), 2 * pairs * 8);
  // Rows that are looked up, and not the table.
  EXPECT_EQ(cast<CostOpInterface>(ops[2]).getBytesMoved(),
            4 * (4 * 4 + 2 * 4 * 4 * 16));
}

TEST_F(Cost, OfCalls) {
  SymbolTable symbols(*module);
  CostModel model(symbols);
  EXPECT_EQ(model.getCost(ops[0]), 0); // f moves nothing
  EXPECT_EQ(model.getResultBytes(ops[0]), 0);
  // The product: 4 x 16 by 16 x 16. It moves more than it multiplies.
  double bytes = 4 * (4 * 16 + 16 * 16 + 4 * 16);
  EXPECT_LT(2 * 4 * 16 * 16, 10 * bytes);
  double scale = 4 * 2 * 4 * 16;
  EXPECT_EQ(model.getCost(ops[1]), 10 * (bytes + scale));
  EXPECT_EQ(model.getResultBytes(ops[1]), 4 * 2 * 4 * 16);
}
