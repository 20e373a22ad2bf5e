// RUN: dtc-opt %s -dtc-cut-stages=cuts=1,1 -o %t.cut.mlir && FileCheck %s --check-prefix=CUT <%t.cut.mlir
// RUN: dtc-opt %t.cut.mlir -dtc-differentiate -o %t.mlir && FileCheck %s <%t.mlir
// RUN: dtc-interpret %t.mlir --against %s --finite-differences

// Two equal stages, of which only the first one's sum is part of the loss: the
// other's cotangent is zero, and that constant stands in the prelude, since
// between stages there is nothing but additions.

module attributes {dtc.mesh = #dtc.mesh<pp:2>} {
  dtc.param @w0 : !dtc.tensor<4xf32> from "w0" [4] view affine_map<(a) -> (a)> dims ["embed"] {init = "normal", std = 1.0 : f64}
  dtc.param @w1 : !dtc.tensor<4xf32> from "w1" [4] view affine_map<(a) -> (a)> dims ["embed"] {init = "normal", std = 1.0 : f64}
  func.func private @layer(%x: !dtc.tensor<4xf32>, %w: !dtc.tensor<4xf32>) -> (!dtc.tensor<4xf32>, !dtc.tensor<f32>) {
    %0 = dtc.multiply %x, %w : (!dtc.tensor<4xf32>, !dtc.tensor<4xf32>) -> !dtc.tensor<4xf32>
    %1 = dtc.activation silu %0 : (!dtc.tensor<4xf32>) -> !dtc.tensor<4xf32>
    %2 = dtc.reduce_sum %1 over [0] : (!dtc.tensor<4xf32>) -> !dtc.tensor<f32>
    return %1, %2 : !dtc.tensor<4xf32>, !dtc.tensor<f32>
  }

  // CUT: @stage_0
  // CUT-NOT: @stage_1
  // CHECK-LABEL: func.func @step(
  // CHECK:         dtc.micro_batches 2 {
  // CHECK-NEXT:    ^bb0(%{{.*}}: !dtc.tensor<i32>):
  // CHECK-NEXT:      %[[ZERO:.*]] = dtc.constant 0.0{{.*}} : () -> !dtc.tensor<f32>
  // CHECK-NEXT:      func.call @stage_0_forward({{.*}}) {dtc.phase = "forward", dtc.stage = 0 : i64}
  // CHECK-NEXT:      func.call @stage_0_forward({{.*}}) {dtc.phase = "forward", dtc.stage = 1 : i64}
  // CHECK-NEXT:      func.call @stage_0_backward({{.*}}%[[ZERO]]) {dtc.phase = "backward", dtc.stage = 1 : i64}
  // CHECK-NEXT:      func.call @stage_0_backward({{.*}}) {dtc.phase = "backward", dtc.stage = 0 : i64}
  // CHECK-NEXT:      dtc.yield
  func.func @step(%x: !dtc.tensor<4xf32> {dtc.input = "x"}) -> (!dtc.tensor<f32> {dtc.output = "loss"}, !dtc.tensor<f32> {dtc.output = "other"}) {
    %w0 = dtc.read param of @w0 : !dtc.tensor<4xf32>
    %w1 = dtc.read param of @w1 : !dtc.tensor<4xf32>
    %s:3 = dtc.micro_batches 2 {
    ^bb0(%m: !dtc.tensor<i32>):
      %1:2 = func.call @layer(%x, %w0) : (!dtc.tensor<4xf32>, !dtc.tensor<4xf32>) -> (!dtc.tensor<4xf32>, !dtc.tensor<f32>)
      %2:2 = func.call @layer(%1#0, %w1) : (!dtc.tensor<4xf32>, !dtc.tensor<4xf32>) -> (!dtc.tensor<4xf32>, !dtc.tensor<f32>)
      dtc.yield %1#1, %2#1, %2#0 : !dtc.tensor<f32>, !dtc.tensor<f32>, !dtc.tensor<4xf32>
    } : !dtc.tensor<f32>, !dtc.tensor<f32>, !dtc.tensor<4xf32>
    %l = dtc.reduce_sum %s#2 over [0] : (!dtc.tensor<4xf32>) -> !dtc.tensor<f32>
    %loss = dtc.add %s#0, %l : (!dtc.tensor<f32>, !dtc.tensor<f32>) -> !dtc.tensor<f32>
    return %loss, %s#1 : !dtc.tensor<f32>, !dtc.tensor<f32>
  }
}
