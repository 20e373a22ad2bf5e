// RUN: split-file %s %t
// RUN: dtc-opt %t/layer.mlir -dtc-cut-stages=cuts=1,1 -dtc-differentiate -o %t.whole.mlir
// RUN: dtc-opt %t.whole.mlir -dtc-split-backward -o %t.split.mlir && FileCheck %s <%t.split.mlir
// RUN: dtc-interpret %t.split.mlir --against %t.whole.mlir
// RUN: dtc-interpret %t.split.mlir --against %t/layer.mlir --finite-differences
// RUN: dtc-opt %t/reduction.mlir -dtc-cut-stages=cuts=1,1 -dtc-differentiate -dtc-split-backward -o %t.reduction.mlir
// RUN: FileCheck %s --check-prefix=REDUCTION <%t.reduction.mlir
// RUN: dtc-interpret %t.reduction.mlir --against %t/reduction.mlir --finite-differences

//--- layer.mlir

// Two stages of one layer each; the first has the input's projection too.

module attributes {dtc.mesh = #dtc.mesh<pp:2, tp:2>} {
  dtc.param @p : !dtc.tensor<4x4xf32> from "p" [4, 4] view affine_map<(a, b) -> (a, b)> dims ["embed", "embed"] {init = "normal", std = 0.5 : f64}
  dtc.param @g0 : !dtc.tensor<4xf32> from "g0" [4] view affine_map<(a) -> (a)> dims ["embed"] {init = "ones"}
  dtc.param @w0 : !dtc.tensor<4x6{tp:2}xf32> from "w0" [4, 6] view affine_map<(a, b) -> (a, b)> dims ["embed", "mlp"] {init = "normal", std = 0.5 : f64}
  dtc.param @b0 : !dtc.tensor<6{tp:2}xf32> from "b0" [6] view affine_map<(a) -> (a)> dims ["mlp"] {init = "zeros"}
  dtc.param @u0 : !dtc.tensor<6{tp:2}x4xf32> from "u0" [6, 4] view affine_map<(a, b) -> (a, b)> dims ["mlp", "embed"] {init = "normal", std = 0.5 : f64}
  dtc.param @g1 : !dtc.tensor<4xf32> from "g1" [4] view affine_map<(a) -> (a)> dims ["embed"] {init = "ones"}
  dtc.param @w1 : !dtc.tensor<4x6{tp:2}xf32> from "w1" [4, 6] view affine_map<(a, b) -> (a, b)> dims ["embed", "mlp"] {init = "normal", std = 0.5 : f64}
  dtc.param @b1 : !dtc.tensor<6{tp:2}xf32> from "b1" [6] view affine_map<(a) -> (a)> dims ["mlp"] {init = "zeros"}
  dtc.param @u1 : !dtc.tensor<6{tp:2}x4xf32> from "u1" [6, 4] view affine_map<(a, b) -> (a, b)> dims ["mlp", "embed"] {init = "normal", std = 0.5 : f64}

  // The layer's backward is split once, for both stages. The chain of cotangents
  // gives dx, the norm's gradient, which falls out of it, and what the weight
  // part needs: the cotangent of the first product's output.
  // CHECK-LABEL: func.func private @layer_backward_input(
  // CHECK-SAME:    %[[X:[^:]*]]: !dtc.tensor<8x4xf32>, %[[G:[^:]*]]: !dtc.tensor<4xf32>, %[[W:[^:]*]]: !dtc.tensor<4x6{tp:2}xf32>,
  // CHECK-SAME:    %[[U:[^:]*]]: !dtc.tensor<6{tp:2}x4xf32>, %[[H:[^:]*]]: !dtc.tensor<8x6{tp:2}xf32>, %[[DZ:[^:]*]]: !dtc.tensor<8x4xf32>)
  // CHECK-NEXT:    %[[DQ:.*]] = dtc.f %[[DZ]]
  // CHECK-NEXT:    %[[DA:.*]] = dtc.einsum "bd,fd->bf"(%[[DQ]], %[[U]])
  // CHECK-NEXT:    %[[DH:.*]] = dtc.activation_grad silu %[[H]], %[[DA]]
  // CHECK-NEXT:    %[[DP:.*]] = dtc.einsum "bf,df->bd"(%[[DH]], %[[W]])
  // CHECK-NEXT:    %[[DN:.*]] = dtc.g %[[DP]]
  // CHECK-NEXT:    %[[DX:.*]], %[[DG:.*]] = dtc.rms_norm_grad %[[X]], %[[G]], %[[DN]]
  // CHECK-NEXT:    %[[SUM:.*]] = dtc.add %[[DZ]], %[[DX]]
  // CHECK-NEXT:    return %[[SUM]], %[[DG]], %[[DH]] :

  // The second product's output cotangent is f of the layer's own: it is not
  // passed, but made again. The bias's gradient is a sum of dh, which is here
  // anyway.
  // CHECK-LABEL: func.func private @layer_backward_weight(
  // CHECK-SAME:    %[[A:[^:]*]]: !dtc.tensor<8x6{tp:2}xf32>, %[[N:[^:]*]]: !dtc.tensor<8x4xf32>, %[[DZ:[^:]*]]: !dtc.tensor<8x4xf32>, %[[DH:[^:]*]]: !dtc.tensor<8x6{tp:2}xf32>)
  // CHECK-NEXT:    %[[DQ:.*]] = dtc.f %[[DZ]]
  // CHECK-NEXT:    %[[DU:.*]] = dtc.einsum "bf,bd->fd"(%[[A]], %[[DQ]])
  // CHECK-NEXT:    %[[DB:.*]] = dtc.reduce_sum %[[DH]] over [0]
  // CHECK-NEXT:    %[[NF:.*]] = dtc.f %[[N]]
  // CHECK-NEXT:    %[[DW:.*]] = dtc.einsum "bd,bf->df"(%[[NF]], %[[DH]])
  // CHECK-NEXT:    return %[[DW]], %[[DB]], %[[DU]] :

  // Nothing waits for the first stage: its input part is the chain through its
  // layer, whose end the projection's gradient needs.
  // CHECK-LABEL: func.func private @stage_0_backward_input(
  // CHECK-NEXT:    %[[L:.*]]:3 = call @layer_backward_input(
  // CHECK-NEXT:    return %[[L]]#1, %[[L]]#0, %[[L]]#2 :
  // CHECK-LABEL: func.func private @stage_0_backward_weight(
  // CHECK-NEXT:    %[[L:.*]]:3 = call @layer_backward_weight(
  // CHECK-NEXT:    %[[P:.*]] = dtc.einsum "bd,be->de"
  // CHECK-NEXT:    return %[[P]], %[[L]]#0, %[[L]]#1, %[[L]]#2 :

  // A broadcast is made again: it holds no bytes in between.
  // CHECK-LABEL: func.func private @stage_1_backward_input(
  // CHECK-NEXT:    %[[D:.*]] = dtc.broadcast
  // CHECK-NEXT:    %[[L:.*]]:3 = call @layer_backward_input({{.*}}, %[[D]])
  // CHECK-NEXT:    return %[[L]]#0, %[[L]]#1, %[[L]]#2 :
  // CHECK-LABEL: func.func private @stage_1_backward_weight(
  // CHECK-NEXT:    %[[D:.*]] = dtc.broadcast
  // CHECK-NEXT:    call @layer_backward_weight(

  // CHECK-LABEL: func.func @step(
  // CHECK:         %[[F0:.*]]:5 = func.call @stage_0_forward
  // CHECK-NEXT:    %[[F1:.*]]:4 = func.call @stage_1_forward
  // CHECK-NEXT:    %[[I1:.*]]:3 = func.call @stage_1_backward_input({{.*}}) {dtc.phase = "input_backward", dtc.stage = 1 : i64}
  // CHECK-NEXT:    %[[W1:.*]]:3 = func.call @stage_1_backward_weight({{.*}}, %[[I1]]#2) {dtc.phase = "weight_backward", dtc.stage = 1 : i64}
  // CHECK-NEXT:    %[[I0:.*]]:3 = func.call @stage_0_backward_input({{.*}}, %[[I1]]#0) {dtc.phase = "input_backward", dtc.stage = 0 : i64}
  // CHECK-NEXT:    %[[W0:.*]]:4 = func.call @stage_0_backward_weight({{.*}}, %[[I0]]#1, %[[I0]]#2) {dtc.phase = "weight_backward", dtc.stage = 0 : i64}
  // CHECK-NEXT:    dtc.yield %[[F1]]#0, %[[I1]]#1, %[[W1]]#0, %[[W1]]#1, %[[W1]]#2, %[[W0]]#0, %[[I0]]#0, %[[W0]]#1, %[[W0]]#2, %[[W0]]#3 :
  func.func private @layer(%x: !dtc.tensor<8x4xf32>, %g: !dtc.tensor<4xf32>, %w: !dtc.tensor<4x6{tp:2}xf32>, %b: !dtc.tensor<6{tp:2}xf32>, %u: !dtc.tensor<6{tp:2}x4xf32>) -> !dtc.tensor<8x4xf32> {
    %n = dtc.rms_norm %x, %g {epsilon = 1.0e-5 : f64} : (!dtc.tensor<8x4xf32>, !dtc.tensor<4xf32>) -> !dtc.tensor<8x4xf32>
    %nf = dtc.f %n over <tp:2> : (!dtc.tensor<8x4xf32>) -> !dtc.tensor<8x4xf32, replicate{tp:2}>
    %p = dtc.einsum "bd,df->bf"(%nf, %w) : (!dtc.tensor<8x4xf32, replicate{tp:2}>, !dtc.tensor<4x6{tp:2}xf32>) -> !dtc.tensor<8x6{tp:2}xf32>
    %h = dtc.add %p, %b : (!dtc.tensor<8x6{tp:2}xf32>, !dtc.tensor<6{tp:2}xf32>) -> !dtc.tensor<8x6{tp:2}xf32>
    %a = dtc.activation silu %h : (!dtc.tensor<8x6{tp:2}xf32>) -> !dtc.tensor<8x6{tp:2}xf32>
    %q = dtc.einsum "bf,fd->bd"(%a, %u) : (!dtc.tensor<8x6{tp:2}xf32>, !dtc.tensor<6{tp:2}x4xf32>) -> !dtc.tensor<8x4xf32, partial{tp:2}>
    %y = dtc.g %q over <tp:2> : (!dtc.tensor<8x4xf32, partial{tp:2}>) -> !dtc.tensor<8x4xf32>
    %z = dtc.add %x, %y : (!dtc.tensor<8x4xf32>, !dtc.tensor<8x4xf32>) -> !dtc.tensor<8x4xf32>
    return %z : !dtc.tensor<8x4xf32>
  }

  func.func @step(%x: !dtc.tensor<16x4xf32> {dtc.input = "x"}) -> (!dtc.tensor<f32> {dtc.output = "loss"}) {
    %p = dtc.read param of @p : !dtc.tensor<4x4xf32>
    %g0 = dtc.read param of @g0 : !dtc.tensor<4xf32>
    %w0 = dtc.read param of @w0 : !dtc.tensor<4x6{tp:2}xf32>
    %b0 = dtc.read param of @b0 : !dtc.tensor<6{tp:2}xf32>
    %u0 = dtc.read param of @u0 : !dtc.tensor<6{tp:2}x4xf32>
    %g1 = dtc.read param of @g1 : !dtc.tensor<4xf32>
    %w1 = dtc.read param of @w1 : !dtc.tensor<4x6{tp:2}xf32>
    %b1 = dtc.read param of @b1 : !dtc.tensor<6{tp:2}xf32>
    %u1 = dtc.read param of @u1 : !dtc.tensor<6{tp:2}x4xf32>
    %s = dtc.micro_batches 2 {
    ^bb0(%m: !dtc.tensor<i32>):
      %xm = dtc.micro_batch %x[%m] parts 1 count 2 : (!dtc.tensor<16x4xf32>, !dtc.tensor<i32>) -> !dtc.tensor<8x4xf32>
      %x0 = dtc.einsum "bd,de->be"(%xm, %p) : (!dtc.tensor<8x4xf32>, !dtc.tensor<4x4xf32>) -> !dtc.tensor<8x4xf32>
      %x1 = func.call @layer(%x0, %g0, %w0, %b0, %u0) : (!dtc.tensor<8x4xf32>, !dtc.tensor<4xf32>, !dtc.tensor<4x6{tp:2}xf32>, !dtc.tensor<6{tp:2}xf32>, !dtc.tensor<6{tp:2}x4xf32>) -> !dtc.tensor<8x4xf32>
      %x2 = func.call @layer(%x1, %g1, %w1, %b1, %u1) : (!dtc.tensor<8x4xf32>, !dtc.tensor<4xf32>, !dtc.tensor<4x6{tp:2}xf32>, !dtc.tensor<6{tp:2}xf32>, !dtc.tensor<6{tp:2}x4xf32>) -> !dtc.tensor<8x4xf32>
      %l = dtc.reduce_sum %x2 over [0, 1] : (!dtc.tensor<8x4xf32>) -> !dtc.tensor<f32>
      dtc.yield %l : !dtc.tensor<f32>
    } : !dtc.tensor<f32>
    return %s : !dtc.tensor<f32>
  }
}

//--- reduction.mlir

// The bias's gradient alone would need the activation's cotangent later, which
// is larger: the input part makes it, and there is no weight part.

module attributes {dtc.mesh = #dtc.mesh<pp:2>} {
  dtc.param @b0 : !dtc.tensor<4xf32> from "b0" [4] view affine_map<(a) -> (a)> dims ["embed"] {init = "zeros"}
  dtc.param @b1 : !dtc.tensor<4xf32> from "b1" [4] view affine_map<(a) -> (a)> dims ["embed"] {init = "zeros"}
  // REDUCTION-LABEL: func.func private @layer_backward_input(
  // REDUCTION:         %[[DA:.*]] = dtc.activation_grad
  // REDUCTION-NEXT:    %[[DB:.*]] = dtc.reduce_sum %[[DA]] over [0]
  // REDUCTION-NEXT:    return %[[DA]], %[[DB]] :
  // REDUCTION-NOT:   _weight
  // The first stage's backward is only a gradient, and no chain: the layer's
  // other result is not wanted there.
  // REDUCTION-LABEL: func.func @step(
  // REDUCTION:         func.call @stage_0_forward({{.*}}) {dtc.phase = "forward", dtc.stage = 0 : i64}
  // REDUCTION-NEXT:    func.call @stage_1_forward({{.*}}) {dtc.phase = "forward", dtc.stage = 1 : i64}
  // REDUCTION-NEXT:    func.call @stage_1_backward_input({{.*}}) {dtc.phase = "input_backward", dtc.stage = 1 : i64}
  // REDUCTION-NEXT:    func.call @stage_0_backward({{.*}}) {dtc.phase = "weight_backward", dtc.stage = 0 : i64}
  func.func private @layer(%x: !dtc.tensor<8x4xf32>, %b: !dtc.tensor<4xf32>) -> !dtc.tensor<8x4xf32> {
    %0 = dtc.add %x, %b : (!dtc.tensor<8x4xf32>, !dtc.tensor<4xf32>) -> !dtc.tensor<8x4xf32>
    %1 = dtc.activation silu %0 : (!dtc.tensor<8x4xf32>) -> !dtc.tensor<8x4xf32>
    return %1 : !dtc.tensor<8x4xf32>
  }
  func.func @step(%x: !dtc.tensor<8x4xf32> {dtc.input = "x"}) -> (!dtc.tensor<f32> {dtc.output = "loss"}) {
    %b0 = dtc.read param of @b0 : !dtc.tensor<4xf32>
    %b1 = dtc.read param of @b1 : !dtc.tensor<4xf32>
    %s = dtc.micro_batches 1 {
    ^bb0(%m: !dtc.tensor<i32>):
      %x1 = func.call @layer(%x, %b0) : (!dtc.tensor<8x4xf32>, !dtc.tensor<4xf32>) -> !dtc.tensor<8x4xf32>
      %x2 = func.call @layer(%x1, %b1) : (!dtc.tensor<8x4xf32>, !dtc.tensor<4xf32>) -> !dtc.tensor<8x4xf32>
      %l = dtc.reduce_sum %x2 over [0, 1] : (!dtc.tensor<8x4xf32>) -> !dtc.tensor<f32>
      dtc.yield %l : !dtc.tensor<f32>
    } : !dtc.tensor<f32>
    return %s : !dtc.tensor<f32>
  }
}
