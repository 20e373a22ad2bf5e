// RUN: dtc-opt %s -split-input-file -dtc-partition-optimizer | FileCheck %s

// RUN: dtc-opt %S/Inputs/gpt.mlir -dtc-training-pipeline=mesh=dp=1 -o %t.one.mlir
// RUN: dtc-opt %S/Inputs/gpt.mlir -dtc-training-pipeline="mesh=dp=2,tp=4 microbatches=2" -o %t.mlir
// RUN: dtc-interpret %t.mlir --against %t.one.mlir

// Two gradients that tp cuts, one whole one. Each logical element counts once:
// sums of pieces are added first and reduced once. Vectors have no decay.

module attributes {dtc.mesh = #dtc.mesh<dp:2, tp:2>} {
  dtc.param @a : !dtc.tensor<6{tp:2}x4xf32> from "a" [6, 4] view affine_map<(d0, d1) -> (d0, d1)> dims ["mlp", "embed"] {init = "ones"}
  dtc.param @b : !dtc.tensor<4xf32> from "b" [4] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "ones"}
  dtc.param @c : !dtc.tensor<5(6){tp:2}xf32> from "c" [5] view affine_map<(d0) -> (d0)> dims ["mlp"] {init = "ones"}
  // CHECK-LABEL: func.func @step(
  // CHECK-SAME:    %[[DA:[a-z0-9]*]]: !dtc.tensor<6{tp:2}x4xf32>, %[[DB:[a-z0-9]*]]: !dtc.tensor<4xf32>, %[[DC:[a-z0-9]*]]: !dtc.tensor<5(6){tp:2}xf32>, %[[LOSS:[a-z0-9]*]]: !dtc.tensor<f32>, %[[LABELS:[a-z0-9]*]]: !dtc.tensor<i32>,
  // CHECK-SAME:    %[[OPT:[a-z0-9]*]]: !dtc.tensor<8xf32> {dtc.input = "optimizer"})
  // CHECK-SAME:    -> (!dtc.tensor<f32> {dtc.output = "loss"}, !dtc.tensor<i32> {dtc.output = "labels"}, !dtc.tensor<f32> {dtc.output = "grad_norm"}, !dtc.tensor<i32> {dtc.output = "skipped"})
  // CHECK:         %[[A:.*]] = dtc.read param of @a
  // CHECK:         %[[QA:.*]] = dtc.sum_squares %[[DA]] : {{.*}} -> !dtc.tensor<f64, partial{tp:2}>
  // CHECK-NEXT:    %[[QB:.*]] = dtc.sum_squares %[[DB]] : {{.*}} -> !dtc.tensor<f64>
  // CHECK-NEXT:    %[[QC:.*]] = dtc.sum_squares %[[DC]] : {{.*}} -> !dtc.tensor<f64, partial{tp:2}>
  // CHECK-NEXT:    %[[QAC:.*]] = dtc.add %[[QA]], %[[QC]]
  // CHECK-NEXT:    %[[G:.*]] = dtc.g %[[QAC]] over <tp:2>
  // CHECK-NEXT:    %[[Q:.*]] = dtc.add %[[G]], %[[QB]]
  // CHECK-NEXT:    %[[NORM:.*]], %[[COEFFICIENT:.*]], %[[SKIP:.*]] = dtc.clip %[[Q]], %[[LOSS]], %[[LABELS]], %[[OPT]]
  // CHECK-NEXT:    %[[M:.*]] = dtc.read m of @a : !dtc.tensor<6{tp:2}x4xf32>
  // CHECK-NEXT:    %[[V:.*]] = dtc.read v of @a : !dtc.tensor<6{tp:2}x4xf32>
  // CHECK-DAG:     %[[CF:.*]] = dtc.f %[[COEFFICIENT]] over <tp:2>
  // CHECK-DAG:     %[[SF:.*]] = dtc.f %[[SKIP]] over <tp:2>
  // CHECK-DAG:     %[[OF:.*]] = dtc.f %[[OPT]] over <tp:2>
  // CHECK:         %[[NP:.*]], %[[NM:.*]], %[[NV:.*]] = dtc.adamw %[[A]], %[[DA]], %[[M]], %[[V]] with %[[CF]], %[[SF]], %[[OF]] {decay}
  // CHECK-NEXT:    dtc.write %[[NP]] to param of @a
  // CHECK-NEXT:    dtc.write %[[NM]] to m of @a
  // CHECK-NEXT:    dtc.write %[[NV]] to v of @a
  // CHECK-NEXT:    %[[B:.*]] = dtc.read param of @b
  // CHECK-NEXT:    %[[M:.*]] = dtc.read m of @b
  // CHECK-NEXT:    %[[V:.*]] = dtc.read v of @b
  // CHECK-NEXT:    dtc.adamw %[[B]], %[[DB]], %[[M]], %[[V]] with %[[COEFFICIENT]], %[[SKIP]], %[[OPT]] : (
  // CHECK:         dtc.adamw %{{.*}}, %[[DC]], %{{.*}} with %[[CF]], %[[SF]], %[[OF]] : (
  // CHECK:         return %[[LOSS]], %[[LABELS]], %[[NORM]], %[[SKIP]]
  func.func @step(%da: !dtc.tensor<6{tp:2}x4xf32>, %db: !dtc.tensor<4xf32>, %dc: !dtc.tensor<5(6){tp:2}xf32>, %loss: !dtc.tensor<f32>, %labels: !dtc.tensor<i32>)
      -> (!dtc.tensor<f32> {dtc.output = "loss"}, !dtc.tensor<i32> {dtc.output = "labels"}) {
    %a = dtc.read param of @a : !dtc.tensor<6{tp:2}x4xf32>
    dtc.write %da to grad of @a : !dtc.tensor<6{tp:2}x4xf32>
    dtc.write %db to grad of @b : !dtc.tensor<4xf32>
    dtc.write %dc to grad of @c : !dtc.tensor<5(6){tp:2}xf32>
    return %loss, %labels : !dtc.tensor<f32>, !dtc.tensor<i32>
  }
}

// -----

// A gradient whose pieces are cut further than the parameter (ZeRO): the state
// has its placement, the update is computed on its pieces and gathered. In an
// f64 program the optimizer's scalars are f64.

module attributes {dtc.mesh = #dtc.mesh<dp:2>} {
  dtc.param @a : !dtc.tensor<6x4xf64> from "a" [6, 4] view affine_map<(d0, d1) -> (d0, d1)> dims ["mlp", "embed"] {init = "ones"}
  // CHECK-LABEL: func.func @step(
  // CHECK-SAME:    !dtc.tensor<8xf64> {dtc.input = "optimizer"}
  // CHECK:         dtc.sum_squares %{{.*}} -> !dtc.tensor<f64, partial{dp:2}>
  // CHECK:         %[[A:.*]] = dtc.read param of @a
  // CHECK:         %[[PIECE:.*]] = dtc.slice %[[A]] dim 0 over <dp:2>
  // CHECK:         dtc.read m of @a : !dtc.tensor<6{dp:2}x4xf64>
  // CHECK:         %[[P:.*]], %{{.*}}, %{{.*}} = dtc.adamw %[[PIECE]],
  // CHECK:         %[[WHOLE:.*]] = dtc.all_gather_invariant %[[P]] dim 0 over <dp:2>
  // CHECK:         dtc.write %[[WHOLE]] to param of @a : !dtc.tensor<6x4xf64>
  func.func @step(%da: !dtc.tensor<6{dp:2}x4xf64>, %loss: !dtc.tensor<f64>, %labels: !dtc.tensor<i32>)
      -> (!dtc.tensor<f64> {dtc.output = "loss"}, !dtc.tensor<i32> {dtc.output = "labels"}) {
    dtc.write %da to grad of @a : !dtc.tensor<6{dp:2}x4xf64>
    return %loss, %labels : !dtc.tensor<f64>, !dtc.tensor<i32>
  }
}
