//===- StagesTest.cpp - Are wrong cuts seen? ------------------------------===//

#include "dtc/Transforms/Stages.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace dtc;

namespace {

/// %0 is the prelude; three stages, of which the last two are one function.
const char *text = R"mlir(
func.func private @a(%x: !dtc.tensor<4xf32>, %w: !dtc.tensor<4xf32>) -> !dtc.tensor<4xf32> {
  %0 = dtc.multiply %x, %w : (!dtc.tensor<4xf32>, !dtc.tensor<4xf32>) -> !dtc.tensor<4xf32>
  return %0 : !dtc.tensor<4xf32>
}
func.func private @b(%x: !dtc.tensor<4xf32>) -> !dtc.tensor<4xf32> {
  %0 = dtc.scale %x by 2.0 : (!dtc.tensor<4xf32>) -> !dtc.tensor<4xf32>
  return %0 : !dtc.tensor<4xf32>
}
func.func @step(%w: !dtc.tensor<4xf32>) -> !dtc.tensor<4xf32> {
  %s = dtc.micro_batches 2 {
  ^bb0(%m: !dtc.tensor<i32>):
    %0 = dtc.constant 1.0 : () -> !dtc.tensor<4xf32>
    %1 = func.call @a(%0, %w) {dtc.stage = 0 : i64} : (!dtc.tensor<4xf32>, !dtc.tensor<4xf32>) -> !dtc.tensor<4xf32>
    %2 = func.call @b(%1) {dtc.stage = 1 : i64} : (!dtc.tensor<4xf32>) -> !dtc.tensor<4xf32>
    %3 = func.call @b(%2) {dtc.stage = 2 : i64} : (!dtc.tensor<4xf32>) -> !dtc.tensor<4xf32>
    dtc.yield %3 : !dtc.tensor<4xf32>
  } : !dtc.tensor<4xf32>
  return %s : !dtc.tensor<4xf32>
}
)mlir";

class Stages : public ::testing::Test {
protected:
  Stages() {
    context.loadDialect<DTCDialect, func::FuncDialect>();
    module = parseSourceString<ModuleOp>(text, &context);
  }
  void SetUp() override {
    ASSERT_TRUE(module);
    loop = findLoop(module->lookupSymbol<func::FuncOp>("step"));
    calls = getStageCalls(loop);
    ASSERT_EQ(calls.size(), 3u);
    SymbolTable symbols(*module);
    original = countOps(loop.getBody().front(), symbols);
    EXPECT_EQ(getError(), "");
  }
  std::string getError() {
    std::string error;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &d) {
      error = d.str();
      return success();
    });
    SymbolTable symbols(*module);
    bool failed = mlir::failed(verifyStages(loop, symbols, &original));
    return failed && error.empty() ? "silent" : error;
  }
  /// A copy of a stage's call, right behind it.
  func::CallOp copy(unsigned i, Phase phase) {
    OpBuilder b(&context);
    b.setInsertionPointAfter(calls.back());
    auto call = cast<func::CallOp>(b.clone(*calls[i]));
    setPhase(call, phase);
    calls.push_back(call);
    return call;
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
  MicroBatchesOp loop;
  SmallVector<func::CallOp> calls;
  OpCounts original;
};

} // namespace

TEST_F(Stages, Order) {
  setStage(calls[1], 2);
  EXPECT_EQ(getError(), "is stage 2 where stage 1 is expected");
  setStage(calls[1], 0);
  EXPECT_EQ(getError(), "is stage 0 where stage 1 is expected");
}

TEST_F(Stages, EachOpOnce) {
  calls[2].replaceAllUsesWith(calls[1].getResults());
  calls[2].erase();
  EXPECT_NE(getError().find("had 2 and has 1 of the op dtc.scale"),
            std::string::npos);
  calls[1]->removeAttr(attrs::stage); // now an op of its own
  EXPECT_EQ(getError(), "uses the result of a stage, but stands in none");
}

TEST_F(Stages, MoreOps) {
  OpBuilder b(calls[0]);
  ConstantOp::create(b, calls[0].getLoc(), calls[0].getResult(0).getType(),
                     b.getF64FloatAttr(3));
  EXPECT_EQ(getError(), "has ops that it did not have before it was cut");
}

TEST_F(Stages, Yield) {
  Operation *yield = loop.getBody().front().getTerminator();
  yield->setOperand(0, calls[0].getOperand(0));
  EXPECT_EQ(getError(), "yielded value #0 is not the result of a stage");
}

TEST_F(Stages, Backwards) {
  // Their ops are more than there were: this is about their order alone.
  auto getOrderError = [&] {
    std::string error;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &d) {
      error = d.str();
      return success();
    });
    SymbolTable symbols(*module);
    (void)verifyStages(loop, symbols);
    return error;
  };
  copy(2, Phase::Backward);
  func::CallOp weight = copy(1, Phase::WeightBackward);
  EXPECT_EQ(getOrderError(), "");
  func::CallOp input = copy(1, Phase::InputBackward);
  EXPECT_EQ(getOrderError(),
            "input backward of stage 1 stands after its weight backward");
  input->moveBefore(weight);
  EXPECT_EQ(getOrderError(), "");
  func::CallOp first = copy(0, Phase::Backward);
  EXPECT_EQ(getOrderError(), "");
  first->moveBefore(input);
  EXPECT_EQ(getOrderError(),
            "backward of stage 1 stands after that of stage 0");
  first->moveBefore(calls[2]);
  EXPECT_EQ(getOrderError(), "forward of stage 2 stands after a backward");
  setStage(first, 3);
  first->moveAfter(weight);
  EXPECT_EQ(getOrderError(), "backward of stage 3, but the stages are 0 to 2");
  setStage(first, 1);
  setPhase(first, Phase::WeightBackward);
  EXPECT_EQ(getOrderError(), "is a second weight backward of stage 1");
}
