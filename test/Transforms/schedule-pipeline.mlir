// RUN: dtc-opt %s -dtc-schedule-pipeline=schedule=gpipe | FileCheck %s
// RUN: dtc-opt %s -dtc-schedule-pipeline -dtc-lower-to-runtime -dtc-plan-memory=check=true | FileCheck %s --check-prefix=RT

// Two stages that share the weight @w (each with an accumulator of its own).
// The loop gets a schedule; the shared gradient is a sum over stages, on the
// ranks that have the weight; the loss, which the last stage makes, becomes
// known to all.

// CHECK: dtc.schedule @pipeline ["schedule: gpipe", "pp: 2", "micro-batches: 2",
// CHECK-SAME: "rank 0: {{.*}}F0 send0:0>1 F1 send1:0>1 wait0:1>0 B0 {{.*}}R U"

// Of rank 0: its stage's tasks, and the messages as the schedule has them.
// RT: func.func @step_0() attributes {{.*}}rt.stage = 0
// RT: rt.pipeline groups({{.*}}) copies [{{.*}}] channels [#rt.channel<"stage 0 to 1: activations", number = 0, peer = 1, bytes = 64>, #rt.channel<"stage 1 to 0: gradients", number = 1, peer = 1, bytes = 64>]
// RT: post 1 slot 0,
// RT: run 0 micro_batch 0
// RT: rt.task "forward" stage 0
// RT-NOT: rt.task "forward" stage 1
// RT: rt.task "backward" stage 0
// RT: rt.start all_reduce sum over <pp:2> "step: sum over stages"
// RT: func.func @step_1() attributes {{.*}}rt.stage = 1
// RT: rt.task "forward" stage 1

module attributes {dtc.mesh = #dtc.mesh<pp:2>} {
  dtc.param @w : !dtc.tensor<4xf32> from "w" [4] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "ones"}
  // No stage uses it: it is on the first rank alone.
  dtc.param @unused : !dtc.tensor<4xf32> from "unused" [4] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "ones"}

  func.func private @stage_0(%x: !dtc.tensor<4x4xf32>, %w: !dtc.tensor<4xf32>) -> !dtc.tensor<4x4xf32> {
    %y = dtc.add %x, %w : (!dtc.tensor<4x4xf32>, !dtc.tensor<4xf32>) -> !dtc.tensor<4x4xf32>
    return %y : !dtc.tensor<4x4xf32>
  }
  func.func private @stage_1(%x: !dtc.tensor<4x4xf32>, %w: !dtc.tensor<4xf32>) -> !dtc.tensor<f32> {
    %y = dtc.add %x, %w : (!dtc.tensor<4x4xf32>, !dtc.tensor<4xf32>) -> !dtc.tensor<4x4xf32>
    %l = dtc.reduce_sum %y over [0, 1] : (!dtc.tensor<4x4xf32>) -> !dtc.tensor<f32>
    return %l : !dtc.tensor<f32>
  }
  func.func private @stage_1_backward(%d: !dtc.tensor<f32>) -> (!dtc.tensor<4x4xf32>, !dtc.tensor<4xf32>) {
    %dy = dtc.broadcast %d along [0, 1] : (!dtc.tensor<f32>) -> !dtc.tensor<4x4xf32>
    %dw = dtc.reduce_sum %dy over [0] : (!dtc.tensor<4x4xf32>) -> !dtc.tensor<4xf32>
    return %dy, %dw : !dtc.tensor<4x4xf32>, !dtc.tensor<4xf32>
  }
  func.func private @stage_0_backward(%dy: !dtc.tensor<4x4xf32>) -> !dtc.tensor<4xf32> {
    %dw = dtc.reduce_sum %dy over [0] : (!dtc.tensor<4x4xf32>) -> !dtc.tensor<4xf32>
    return %dw : !dtc.tensor<4xf32>
  }

  // CHECK: func.func @step
  func.func @step(%ids: !dtc.tensor<8x4xf32> {dtc.input = "input_ids"}) -> (!dtc.tensor<f32> {dtc.output = "loss"}) {
    %w0 = dtc.read param of @w : !dtc.tensor<4xf32>
    %w1 = dtc.read param of @w : !dtc.tensor<4xf32>
    %one = dtc.constant 1.0 : () -> !dtc.tensor<f32>
    // CHECK: dtc.micro_batches 2 schedule @pipeline {
    %s:3 = dtc.micro_batches 2 {
    ^bb0(%m: !dtc.tensor<i32>):
      %x = dtc.micro_batch %ids[%m] parts 1 count 2 : (!dtc.tensor<8x4xf32>, !dtc.tensor<i32>) -> !dtc.tensor<4x4xf32>
      %y = func.call @stage_0(%x, %w0) {dtc.stage = 0 : i64, dtc.phase = "forward"} : (!dtc.tensor<4x4xf32>, !dtc.tensor<4xf32>) -> !dtc.tensor<4x4xf32>
      %l = func.call @stage_1(%y, %w1) {dtc.stage = 1 : i64, dtc.phase = "forward"} : (!dtc.tensor<4x4xf32>, !dtc.tensor<4xf32>) -> !dtc.tensor<f32>
      %dy, %dw1 = func.call @stage_1_backward(%one) {dtc.stage = 1 : i64, dtc.phase = "backward"} : (!dtc.tensor<f32>) -> (!dtc.tensor<4x4xf32>, !dtc.tensor<4xf32>)
      %dw0 = func.call @stage_0_backward(%dy) {dtc.stage = 0 : i64, dtc.phase = "backward"} : (!dtc.tensor<4x4xf32>) -> !dtc.tensor<4xf32>
      dtc.yield %l, %dw0, %dw1 : !dtc.tensor<f32>, !dtc.tensor<4xf32>, !dtc.tensor<4xf32>
    } : !dtc.tensor<f32>, !dtc.tensor<4xf32>, !dtc.tensor<4xf32>
    // CHECK: %[[L:.*]] = dtc.sum_stages %{{.*}}#0 from [1] to [0, 1] : (!dtc.tensor<f32>)
    // What a parameter's owner has stays there; what it meets comes to it.
    // CHECK: %[[D:.*]] = dtc.sum_stages %{{.*}}#2 from [1] to [0] : (!dtc.tensor<4xf32>)
    // CHECK: %[[G:.*]] = dtc.sum_stages %{{.*}}#1, %{{.*}}#2 from [0, 1] to [0, 1]
    %g = dtc.add %s#1, %s#2 : (!dtc.tensor<4xf32>, !dtc.tensor<4xf32>) -> !dtc.tensor<4xf32>
    // CHECK: dtc.write %[[G]] to grad of @w
    dtc.write %g to grad of @w : !dtc.tensor<4xf32>
    // CHECK: %[[U:.*]] = dtc.read param of @unused
    // CHECK: %[[N:.*]] = dtc.multiply %[[U]], %[[D]]
    // CHECK: dtc.write %[[N]] to param of @unused
    %u = dtc.read param of @unused : !dtc.tensor<4xf32>
    %n = dtc.multiply %u, %s#2 : (!dtc.tensor<4xf32>, !dtc.tensor<4xf32>) -> !dtc.tensor<4xf32>
    dtc.write %n to param of @unused : !dtc.tensor<4xf32>
    // CHECK: return %[[L]]
    return %s#0 : !dtc.tensor<f32>
  }
}
