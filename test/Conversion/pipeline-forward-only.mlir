// RUN: dtc-opt %s -dtc-schedule-pipeline=schedule=gpipe -dtc-lower-to-runtime | FileCheck %s

// Nothing that the loop adds up is made on rank 1, but rank 0 sends to it: its
// tasks and messages stay. And what only others read stays an input, once.

// CHECK: rt.storage @input.document_ids.0 input of "document_ids"
// CHECK-NOT: @input.document_ids.1
// CHECK: func.func @step_0()
// CHECK: send 0 slot 0
// CHECK: func.func @step_1()
// CHECK: receive 0
// CHECK: rt.task "forward" stage 1

module attributes {dtc.mesh = #dtc.mesh<pp:2>} {
  dtc.param @w : !dtc.tensor<4xf32> from "w" [4] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "ones"}
  func.func private @stage_0(%x: !dtc.tensor<4x4xf32>, %w: !dtc.tensor<4xf32>) -> (!dtc.tensor<4x4xf32>, !dtc.tensor<f32>) {
    %y = dtc.add %x, %w : (!dtc.tensor<4x4xf32>, !dtc.tensor<4xf32>) -> !dtc.tensor<4x4xf32>
    %l = dtc.reduce_sum %y over [0, 1] : (!dtc.tensor<4x4xf32>) -> !dtc.tensor<f32>
    return %y, %l : !dtc.tensor<4x4xf32>, !dtc.tensor<f32>
  }
  func.func private @stage_1(%x: !dtc.tensor<4x4xf32>) -> !dtc.tensor<4xf32> {
    %y = dtc.reduce_sum %x over [0] : (!dtc.tensor<4x4xf32>) -> !dtc.tensor<4xf32>
    return %y : !dtc.tensor<4xf32>
  }
  func.func @step(%x: !dtc.tensor<8x4xf32> {dtc.input = "input_ids"}, %d: !dtc.tensor<8x4xi32> {dtc.input = "document_ids"})
      -> (!dtc.tensor<f32> {dtc.output = "loss"}) {
    %w = dtc.read param of @w : !dtc.tensor<4xf32>
    %s = dtc.micro_batches 2 {
    ^bb0(%m: !dtc.tensor<i32>):
      %xm = dtc.micro_batch %x[%m] parts 1 count 2 : (!dtc.tensor<8x4xf32>, !dtc.tensor<i32>) -> !dtc.tensor<4x4xf32>
      %y, %l = func.call @stage_0(%xm, %w) {dtc.stage = 0 : i64} : (!dtc.tensor<4x4xf32>, !dtc.tensor<4xf32>) -> (!dtc.tensor<4x4xf32>, !dtc.tensor<f32>)
      %z = func.call @stage_1(%y) {dtc.stage = 1 : i64} : (!dtc.tensor<4x4xf32>) -> !dtc.tensor<4xf32>
      dtc.yield %l : !dtc.tensor<f32>
    } : !dtc.tensor<f32>
    return %s : !dtc.tensor<f32>
  }
}
