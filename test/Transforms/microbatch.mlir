// RUN: dtc-opt %s -split-input-file -dtc-microbatch=count=2 | FileCheck %s

// The whole program keeps its meaning: dropout's row numbers and the count of
// labels are those of the whole batch.
// RUN: dtc-opt %S/Inputs/gpt.mlir -dtc-propagate-sharding=mesh=dp=2,tp=4 -dtc-insert-collectives -dtc-microbatch=count=4 -o %t.mlir
// RUN: dtc-interpret %t.mlir --against %S/Inputs/gpt.mlir
// RUN: dtc-opt %S/Inputs/gpt.mlir -dtc-propagate-sharding=mesh=dp=1 -dtc-insert-collectives -dtc-microbatch=count=1 -o %t.mlir
// RUN: dtc-interpret %t.mlir --against %S/Inputs/gpt.mlir

// The count of labels is the whole step's, and stands before the loop with the
// parameter's f. The loop yields the sum of token losses before anything is
// done with it; division and the one reduction over dp follow.

module attributes {dtc.mesh = #dtc.mesh<dp:2>} {
  dtc.param @w : !dtc.tensor<4x6xf32> from "w" [4, 6] view affine_map<(d0, d1) -> (d0, d1)> dims ["embed", "vocab"] {init = "normal", std = 1.0 : f64}
  // CHECK-LABEL: func.func @step(
  // CHECK-SAME:    %[[X:.*]]: !dtc.tensor<8{dp:2}x3x4xf32>
  // CHECK-SAME:    %[[LABELS:.*]]: !dtc.tensor<8{dp:2}x3xi32>
  // CHECK:         %[[W:.*]] = dtc.read param of @w
  // CHECK:         %[[WF:.*]] = dtc.f %[[W]] over <dp:2>
  // CHECK:         %[[N:.*]] = dtc.count_labels %[[LABELS]] : (!dtc.tensor<8{dp:2}x3xi32>)
  // CHECK:         %[[COUNT:.*]] = dtc.g %[[N]] over <dp:2>
  // CHECK:         %[[COUNTF:.*]] = dtc.f %[[COUNT]] over <dp:2>
  // CHECK:         %[[SUM:.*]] = dtc.micro_batches 2 {
  // CHECK-NEXT:    ^bb0(%[[M:.*]]: !dtc.tensor<i32>):
  // CHECK-NEXT:      %[[MF:.*]] = dtc.f %[[M]] over <dp:2>
  // CHECK-NEXT:      %[[XM:.*]] = dtc.micro_batch %[[X]][%[[MF]]] parts 2 count 2 : {{.*}} -> !dtc.tensor<4{dp:2}x3x4xf32>
  // CHECK-NEXT:      %[[LM:.*]] = dtc.micro_batch %[[LABELS]][%[[MF]]] parts 2 count 2
  // CHECK-NEXT:      %[[LOGITS:.*]] = dtc.einsum "bsd,dv->bsv"(%[[XM]], %[[WF]]) : {{.*}} -> !dtc.tensor<4{dp:2}x3x6xf32>
  // CHECK-NEXT:      %[[LOSS:.*]], %{{.*}} = dtc.cross_entropy %[[LOGITS]], %[[LM]]
  // CHECK-NEXT:      dtc.yield %[[LOSS]] : !dtc.tensor<f32, partial{dp:2}>
  // CHECK-NEXT:    } : !dtc.tensor<f32, partial{dp:2}>
  // CHECK-NEXT:    %[[MEAN:.*]] = dtc.divide %[[SUM]], %[[COUNTF]]
  // CHECK-NEXT:    %[[RESULT:.*]] = dtc.g %[[MEAN]] over <dp:2>
  // CHECK-NEXT:    return %[[RESULT]], %[[COUNT]]
  func.func @model(%x: !dtc.tensor<8{dp:2}x3x4xf32> {dtc.input = "x", dtc.dims = ["batch", "seq", "embed"]},
                   %labels: !dtc.tensor<8{dp:2}x3xi32> {dtc.input = "labels", dtc.dims = ["batch", "seq"]})
      -> (!dtc.tensor<f32> {dtc.output = "loss"}, !dtc.tensor<i32> {dtc.output = "labels"}) {
    %w = dtc.read param of @w : !dtc.tensor<4x6xf32>
    %wf = dtc.f %w over <dp:2> : (!dtc.tensor<4x6xf32>) -> !dtc.tensor<4x6xf32, replicate{dp:2}>
    %logits = dtc.einsum "bsd,dv->bsv"(%x, %wf) : (!dtc.tensor<8{dp:2}x3x4xf32>, !dtc.tensor<4x6xf32, replicate{dp:2}>) -> !dtc.tensor<8{dp:2}x3x6xf32>
    %sum, %lse = dtc.cross_entropy %logits, %labels : (!dtc.tensor<8{dp:2}x3x6xf32>, !dtc.tensor<8{dp:2}x3xi32>) -> (!dtc.tensor<f32, partial{dp:2}>, !dtc.tensor<8{dp:2}x3xf32>)
    %n = dtc.count_labels %labels : (!dtc.tensor<8{dp:2}x3xi32>) -> !dtc.tensor<i32, partial{dp:2}>
    %count = dtc.g %n over <dp:2> : (!dtc.tensor<i32, partial{dp:2}>) -> !dtc.tensor<i32>
    %countf = dtc.f %count over <dp:2> : (!dtc.tensor<i32>) -> !dtc.tensor<i32, replicate{dp:2}>
    %mean = dtc.divide %sum, %countf : (!dtc.tensor<f32, partial{dp:2}>, !dtc.tensor<i32, replicate{dp:2}>) -> !dtc.tensor<f32, partial{dp:2}>
    %loss = dtc.g %mean over <dp:2> : (!dtc.tensor<f32, partial{dp:2}>) -> !dtc.tensor<f32>
    return %loss, %count : !dtc.tensor<f32>, !dtc.tensor<i32>
  }
}

// -----

// A function that is called with rows of the batch has the micro-batch's type;
// one that is also called without (here on a parameter) keeps its own and has
// a copy. Row numbers are made for the whole batch and cut.

module {
  dtc.param @w : !dtc.tensor<8x4xf32> from "w" [8, 4] view affine_map<(d0, d1) -> (d0, d1)> dims ["x", "embed"] {init = "normal", std = 1.0 : f64}
  // CHECK-LABEL: func.func private @twice(
  // CHECK-SAME:    !dtc.tensor<8x4xf32>
  // CHECK:         dtc.scale %{{.*}} by 2.000000e+00 {{.*}}!dtc.tensor<8x4xf32>
  // CHECK:       func.func private @[[COPY:twice_.*]](
  // CHECK-SAME:    !dtc.tensor<4x4xf32>
  // CHECK:         dtc.scale %{{.*}} by 2.000000e+00 {{.*}}!dtc.tensor<4x4xf32>
  func.func private @twice(%x: !dtc.tensor<8x4xf32>) -> !dtc.tensor<8x4xf32> {
    %y = dtc.scale %x by 2.0 : (!dtc.tensor<8x4xf32>) -> !dtc.tensor<8x4xf32>
    return %y : !dtc.tensor<8x4xf32>
  }
  // CHECK-LABEL: func.func @step(
  // CHECK:         %[[ROWS:.*]] = dtc.iota {dtc.dims = ["batch"]} : () -> !dtc.tensor<8xi32>
  // CHECK:         call @twice(
  // CHECK:         dtc.micro_batches 2 {
  // CHECK-NEXT:    ^bb0(%[[M:.*]]: !dtc.tensor<i32>):
  // CHECK-DAG:       dtc.micro_batch %[[ROWS]][%[[M]]] parts 1 count 2 : {{.*}} -> !dtc.tensor<4xi32>
  // CHECK:           call @[[COPY]](
  func.func @model(%ids: !dtc.tensor<8xi32> {dtc.input = "input_ids", dtc.dims = ["batch"]})
      -> (!dtc.tensor<f32> {dtc.output = "loss"}) {
    %w = dtc.read param of @w : !dtc.tensor<8x4xf32>
    %rows = dtc.iota {dtc.dims = ["batch"]} : () -> !dtc.tensor<8xi32>
    %table = call @twice(%w) : (!dtc.tensor<8x4xf32>) -> !dtc.tensor<8x4xf32>
    %a = dtc.embedding %table[%ids] : (!dtc.tensor<8x4xf32>, !dtc.tensor<8xi32>) -> !dtc.tensor<8x4xf32>
    %b = dtc.embedding %table[%rows] : (!dtc.tensor<8x4xf32>, !dtc.tensor<8xi32>) -> !dtc.tensor<8x4xf32>
    %c = dtc.multiply %a, %b : (!dtc.tensor<8x4xf32>, !dtc.tensor<8x4xf32>) -> !dtc.tensor<8x4xf32>
    %d = call @twice(%c) : (!dtc.tensor<8x4xf32>) -> !dtc.tensor<8x4xf32>
    %loss = dtc.reduce_sum %d over [0, 1] : (!dtc.tensor<8x4xf32>) -> !dtc.tensor<f32>
    return %loss : !dtc.tensor<f32>
  }
}
