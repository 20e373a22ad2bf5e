// RUN: dtc-opt %s -split-input-file -dtc-expand-communication | FileCheck %s

// RUN: dtc-opt %S/Inputs/gpt.mlir -dtc-propagate-sharding=mesh=dp=2,tp=4 -dtc-insert-collectives -dtc-microbatch=count=2 -dtc-differentiate -o %t.mlir
// RUN: dtc-opt %t.mlir -dtc-expand-communication -o %t.expanded.mlir
// RUN: dtc-interpret %t.expanded.mlir --against %t.mlir

// The vocabulary is cut: a maximum and two sums are reduced, of one number per
// token each; the logits stay where they are. The labels are used with the
// pieces (through f) and with the reduced rows (as one value).

module attributes {dtc.mesh = #dtc.mesh<dp:2, tp:2>} {
  // CHECK-LABEL: func.func @cut(
  // CHECK-SAME:    %[[LOGITS:.*]]: !dtc.tensor<4{dp:2}x3x9(10){tp:2}xf32>, %[[LABELS:.*]]: !dtc.tensor<4{dp:2}x3xi32>)
  // CHECK-NEXT:    %[[F:.*]] = dtc.f %[[LABELS]] over <tp:2>
  // CHECK-NEXT:    %[[M:.*]] = dtc.vocab_max %[[LOGITS]] : {{.*}} -> !dtc.tensor<4{dp:2}x3xf32, max{tp:2}>
  // CHECK-NEXT:    %[[MAX:.*]] = dtc.reduce_max %[[M]] over <tp:2>
  // CHECK-NEXT:    %[[SHIFT:.*]] = dtc.f %[[MAX]] over <tp:2>
  // CHECK-NEXT:    %[[S:.*]] = dtc.vocab_sum_exp %[[LOGITS]], %[[SHIFT]] : {{.*}} -> !dtc.tensor<4{dp:2}x3xf32, partial{tp:2}>
  // CHECK-NEXT:    %[[SUM:.*]] = dtc.g %[[S]] over <tp:2>
  // CHECK-NEXT:    %[[P:.*]] = dtc.vocab_pick %[[LOGITS]], %[[F]] {label_smoothing = 1.{{.*}}} : {{.*}} -> !dtc.tensor<4{dp:2}x3xf32, partial{tp:2}>
  // CHECK-NEXT:    %[[PICKED:.*]] = dtc.g %[[P]] over <tp:2>
  // CHECK-NEXT:    %[[LOSS:.*]], %[[LSE:.*]] = dtc.token_loss %[[MAX]], %[[SUM]], %[[PICKED]], %[[LABELS]]
  // CHECK-NEXT:    return %[[LOSS]], %[[LSE]]
  func.func @cut(%logits: !dtc.tensor<4{dp:2}x3x9(10){tp:2}xf32>, %labels: !dtc.tensor<4{dp:2}x3xi32>)
      -> (!dtc.tensor<f32, partial{dp:2}>, !dtc.tensor<4{dp:2}x3xf32>) {
    %f = dtc.f %labels over <tp:2> : (!dtc.tensor<4{dp:2}x3xi32>) -> !dtc.tensor<4{dp:2}x3xi32, replicate{tp:2}>
    %loss, %lse = dtc.cross_entropy %logits, %f {label_smoothing = 1.0e-1}
        : (!dtc.tensor<4{dp:2}x3x9(10){tp:2}xf32>, !dtc.tensor<4{dp:2}x3xi32, replicate{tp:2}>)
       -> (!dtc.tensor<f32, partial{dp:2}>, !dtc.tensor<4{dp:2}x3xf32>)
    return %loss, %lse : !dtc.tensor<f32, partial{dp:2}>, !dtc.tensor<4{dp:2}x3xf32>
  }
}

// -----

// Labels that are replicate from elsewhere are taken as one.

module attributes {dtc.mesh = #dtc.mesh<tp:2>} {
  // CHECK-LABEL: func.func @replicate_labels(
  // CHECK-NEXT:    %[[ONE:.*]] = dtc.as_one %{{.*}} over <tp:2>
  // CHECK:         dtc.token_loss %{{.*}}, %[[ONE]]
  func.func @replicate_labels(%logits: !dtc.tensor<4x3x10{tp:2}xf32>, %labels: !dtc.tensor<4x3xi32, replicate{tp:2}>) -> !dtc.tensor<f32> {
    %loss, %lse = dtc.cross_entropy %logits, %labels
        : (!dtc.tensor<4x3x10{tp:2}xf32>, !dtc.tensor<4x3xi32, replicate{tp:2}>) -> (!dtc.tensor<f32>, !dtc.tensor<4x3xf32>)
    return %loss : !dtc.tensor<f32>
  }
}

// -----

// Where nothing is exchanged, nothing is expanded.

module attributes {dtc.mesh = #dtc.mesh<dp:2>} {
  // CHECK-LABEL: func.func @whole(
  // CHECK-NEXT:    dtc.cross_entropy
  func.func @whole(%logits: !dtc.tensor<4{dp:2}x3x10xf32>, %labels: !dtc.tensor<4{dp:2}x3xi32>) -> !dtc.tensor<f32, partial{dp:2}> {
    %loss, %lse = dtc.cross_entropy %logits, %labels
        : (!dtc.tensor<4{dp:2}x3x10xf32>, !dtc.tensor<4{dp:2}x3xi32>) -> (!dtc.tensor<f32, partial{dp:2}>, !dtc.tensor<4{dp:2}x3xf32>)
    return %loss : !dtc.tensor<f32, partial{dp:2}>
  }
}
