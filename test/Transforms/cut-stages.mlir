// RUN: dtc-opt %s -dtc-cut-stages=cuts=1,1,1 -o %t.mlir && FileCheck %s <%t.mlir
// RUN: dtc-interpret %t.mlir --against %s
// RUN: dtc-opt %t.mlir -dtc-differentiate -o %t.backward.mlir && FileCheck %s --check-prefix=BACKWARD <%t.backward.mlir
// RUN: dtc-opt %s -dtc-differentiate -o %t.one.mlir
// RUN: dtc-interpret %t.backward.mlir --against %t.one.mlir
// RUN: dtc-interpret %t.backward.mlir --against %s --finite-differences

// Three layers on three stages. The embedding (%wte) is used at both ends, the
// first stage's output (%x1) by both others: it skips a stage.

#row = affine_map<(a, b) -> (a, b)>
module attributes {dtc.mesh = #dtc.mesh<pp:3, dp:2>} {
  dtc.param @wte : !dtc.tensor<9x4xf32> from "wte" [9, 4] view #row dims ["vocab", "embed"] {init = "normal", std = 0.5 : f64}
  dtc.param @w0 : !dtc.tensor<4x4xf32> from "w0" [4, 4] view #row dims ["embed", "embed"] {init = "normal", std = 0.5 : f64}
  dtc.param @w1 : !dtc.tensor<4x4xf32> from "w1" [4, 4] view #row dims ["embed", "embed"] {init = "normal", std = 0.5 : f64}
  dtc.param @w2 : !dtc.tensor<4x4xf32> from "w2" [4, 4] view #row dims ["embed", "embed"] {init = "normal", std = 0.5 : f64}

  func.func private @layer(%x: !dtc.tensor<4{dp:2}x3x4xf32>, %w: !dtc.tensor<4x4xf32, replicate{dp:2}>) -> !dtc.tensor<4{dp:2}x3x4xf32> {
    %0 = dtc.einsum "bsd,de->bse"(%x, %w) : (!dtc.tensor<4{dp:2}x3x4xf32>, !dtc.tensor<4x4xf32, replicate{dp:2}>) -> !dtc.tensor<4{dp:2}x3x4xf32>
    %1 = dtc.activation silu %0 : (!dtc.tensor<4{dp:2}x3x4xf32>) -> !dtc.tensor<4{dp:2}x3x4xf32>
    return %1 : !dtc.tensor<4{dp:2}x3x4xf32>
  }

  // Arguments come in the order of their first use.
  // CHECK-LABEL: func.func private @stage_0(
  // CHECK-SAME:    %[[WTE:.*]]: !dtc.tensor<9x4xf32, replicate{dp:2}>, %[[IDS:.*]]: !dtc.tensor<4{dp:2}x3xi32>, %[[W:.*]]: !dtc.tensor<4x4xf32, replicate{dp:2}>)
  // CHECK-NEXT:    %[[X:.*]] = dtc.embedding %[[WTE]][%[[IDS]]]
  // CHECK-NEXT:    %[[Y:.*]] = call @layer(%[[X]], %[[W]])
  // CHECK-NEXT:    return %[[Y]]
  // CHECK-LABEL: func.func private @stage_1(
  // CHECK-NEXT:    call @layer
  // CHECK-NEXT:    return
  // CHECK-LABEL: func.func private @stage_2(
  // CHECK-NEXT:    call @layer
  // CHECK-NEXT:    dtc.add
  // CHECK-NEXT:    dtc.einsum
  // CHECK-NEXT:    dtc.cross_entropy
  // CHECK-NEXT:    return

  // Each stage that uses a parameter has its own f: here the first and the last.
  // CHECK-LABEL: func.func @step(
  // CHECK:         %[[READ:.*]] = dtc.read param of @wte
  // CHECK-NEXT:    %[[WTE0:.*]] = dtc.f %[[READ]] over <dp:2>
  // CHECK-NEXT:    %[[WTE2:.*]] = dtc.f %[[READ]] over <dp:2>
  // CHECK:         dtc.micro_batches 2 {
  // CHECK-NEXT:    ^bb0(%[[M:.*]]: !dtc.tensor<i32>):
  // The prelude: slices of the inputs.
  // CHECK-NEXT:      %[[MF:.*]] = dtc.f %[[M]] over <dp:2>
  // CHECK-NEXT:      %[[IDS:.*]] = dtc.micro_batch %arg0[%[[MF]]]
  // CHECK-NEXT:      %[[LABELS:.*]] = dtc.micro_batch %arg1[%[[MF]]]
  // CHECK-NEXT:      %[[X1:.*]] = func.call @stage_0(%[[WTE0]], %[[IDS]], %{{.*}}) {dtc.stage = 0 : i64}
  // CHECK-NEXT:      %[[X2:.*]] = func.call @stage_1(%[[X1]], %{{.*}}) {dtc.stage = 1 : i64}
  // CHECK-NEXT:      %[[L:.*]] = func.call @stage_2(%[[X2]], %{{.*}}, %[[X1]], %[[WTE2]], %[[LABELS]]) {dtc.stage = 2 : i64}
  // CHECK-NEXT:      dtc.yield %[[L]]

  // The backwards in reverse order. What several stages use has its cotangents
  // added between them; the embedding's two gradients are yielded apart, reduced
  // apart, and then added.
  // BACKWARD-LABEL: func.func @step(
  // BACKWARD:         %[[SUMS:.*]]:6 = dtc.micro_batches 2 {
  // BACKWARD:           %[[F0:.*]]:{{.*}} = func.call @stage_0_forward({{.*}}) {dtc.phase = "forward", dtc.stage = 0 : i64}
  // BACKWARD-NEXT:      func.call @stage_1_forward({{.*}}) {dtc.phase = "forward", dtc.stage = 1 : i64}
  // BACKWARD-NEXT:      %[[F2:.*]]:{{.*}} = func.call @stage_2_forward({{.*}}) {dtc.phase = "forward", dtc.stage = 2 : i64}
  // BACKWARD-NEXT:      %[[B2:.*]]:4 = func.call @stage_2_backward({{.*}}) {dtc.phase = "backward", dtc.stage = 2 : i64}
  // BACKWARD-NEXT:      %[[B1:.*]]:2 = func.call @stage_1_backward({{.*}}, %[[B2]]#0) {dtc.phase = "backward", dtc.stage = 1 : i64}
  // BACKWARD-NEXT:      %[[D:.*]] = dtc.add %[[B2]]#2, %[[B1]]#0
  // BACKWARD-NEXT:      %[[B0:.*]]:2 = func.call @stage_0_backward({{.*}}, %[[D]]) {dtc.phase = "backward", dtc.stage = 0 : i64}
  // BACKWARD-NEXT:      dtc.yield %[[F2]]#0, %[[B2]]#1, %[[B2]]#3, %[[B1]]#1, %[[B0]]#0, %[[B0]]#1
  // BACKWARD:         %[[G2:.*]] = dtc.g %[[SUMS]]#2 over <dp:2>
  // BACKWARD:         %[[G0:.*]] = dtc.g %[[SUMS]]#4 over <dp:2>
  // BACKWARD:         %[[G:.*]] = dtc.add %[[G2]], %[[G0]]
  // BACKWARD:         dtc.write %[[G]] to grad of @wte
  func.func @step(%ids: !dtc.tensor<8{dp:2}x3xi32> {dtc.input = "input_ids"}, %labels: !dtc.tensor<8{dp:2}x3xi32> {dtc.input = "labels"})
      -> (!dtc.tensor<f32> {dtc.output = "loss"}) {
    %wte = dtc.read param of @wte : !dtc.tensor<9x4xf32>
    %wtef = dtc.f %wte over <dp:2> : (!dtc.tensor<9x4xf32>) -> !dtc.tensor<9x4xf32, replicate{dp:2}>
    %w0 = dtc.read param of @w0 : !dtc.tensor<4x4xf32>
    %w0f = dtc.f %w0 over <dp:2> : (!dtc.tensor<4x4xf32>) -> !dtc.tensor<4x4xf32, replicate{dp:2}>
    %w1 = dtc.read param of @w1 : !dtc.tensor<4x4xf32>
    %w1f = dtc.f %w1 over <dp:2> : (!dtc.tensor<4x4xf32>) -> !dtc.tensor<4x4xf32, replicate{dp:2}>
    %w2 = dtc.read param of @w2 : !dtc.tensor<4x4xf32>
    %w2f = dtc.f %w2 over <dp:2> : (!dtc.tensor<4x4xf32>) -> !dtc.tensor<4x4xf32, replicate{dp:2}>
    %s = dtc.micro_batches 2 {
    ^bb0(%m: !dtc.tensor<i32>):
      %mf = dtc.f %m over <dp:2> : (!dtc.tensor<i32>) -> !dtc.tensor<i32, replicate{dp:2}>
      %idsm = dtc.micro_batch %ids[%mf] parts 2 count 2 : (!dtc.tensor<8{dp:2}x3xi32>, !dtc.tensor<i32, replicate{dp:2}>) -> !dtc.tensor<4{dp:2}x3xi32>
      %x0 = dtc.embedding %wtef[%idsm] : (!dtc.tensor<9x4xf32, replicate{dp:2}>, !dtc.tensor<4{dp:2}x3xi32>) -> !dtc.tensor<4{dp:2}x3x4xf32>
      %x1 = func.call @layer(%x0, %w0f) : (!dtc.tensor<4{dp:2}x3x4xf32>, !dtc.tensor<4x4xf32, replicate{dp:2}>) -> !dtc.tensor<4{dp:2}x3x4xf32>
      %x2 = func.call @layer(%x1, %w1f) : (!dtc.tensor<4{dp:2}x3x4xf32>, !dtc.tensor<4x4xf32, replicate{dp:2}>) -> !dtc.tensor<4{dp:2}x3x4xf32>
      %x3 = func.call @layer(%x2, %w2f) : (!dtc.tensor<4{dp:2}x3x4xf32>, !dtc.tensor<4x4xf32, replicate{dp:2}>) -> !dtc.tensor<4{dp:2}x3x4xf32>
      %x4 = dtc.add %x3, %x1 : (!dtc.tensor<4{dp:2}x3x4xf32>, !dtc.tensor<4{dp:2}x3x4xf32>) -> !dtc.tensor<4{dp:2}x3x4xf32>
      %logits = dtc.einsum "bsd,vd->bsv"(%x4, %wtef) : (!dtc.tensor<4{dp:2}x3x4xf32>, !dtc.tensor<9x4xf32, replicate{dp:2}>) -> !dtc.tensor<4{dp:2}x3x9xf32>
      %labelsm = dtc.micro_batch %labels[%mf] parts 2 count 2 : (!dtc.tensor<8{dp:2}x3xi32>, !dtc.tensor<i32, replicate{dp:2}>) -> !dtc.tensor<4{dp:2}x3xi32>
      %l, %lse = dtc.cross_entropy %logits, %labelsm : (!dtc.tensor<4{dp:2}x3x9xf32>, !dtc.tensor<4{dp:2}x3xi32>) -> (!dtc.tensor<f32, partial{dp:2}>, !dtc.tensor<4{dp:2}x3xf32>)
      dtc.yield %l : !dtc.tensor<f32, partial{dp:2}>
    } : !dtc.tensor<f32, partial{dp:2}>
    %loss = dtc.g %s over <dp:2> : (!dtc.tensor<f32, partial{dp:2}>) -> !dtc.tensor<f32>
    return %loss : !dtc.tensor<f32>
  }
}
