// RUN: dtc-opt %s -split-input-file -dtc-shard-parameters=stage=1 | FileCheck %s --check-prefixes=CHECK,ONE
// RUN: dtc-opt %s -split-input-file -dtc-shard-parameters=stage=2 | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: dtc-opt %s -split-input-file -dtc-shard-parameters=stage=3 | FileCheck %s --check-prefixes=CHECK,THREE
// RUN: dtc-opt %s -split-input-file -dtc-shard-parameters="stage=3 reshard=step" | FileCheck %s --check-prefixes=STEP
// RUN: dtc-opt %s -split-input-file -dtc-shard-parameters=stage=0 | FileCheck %s --check-prefixes=ZERO

// One layer, called twice in a loop over two micro-batches. Its functions are
// the same in all stages of ZeRO.

module attributes {dtc.mesh = #dtc.mesh<dp:2, cp:2, tp:2>} {
  dtc.param @w : !dtc.tensor<8x6{tp:2}xf32> from "w" [8, 6] view affine_map<(d0, d1) -> (d0, d1)> dims ["embed", "mlp"] {init = "ones"}
  // CHECK:     func.func private @layer(%{{.*}}: !dtc.tensor<4{dp:2}x8xf32>, %{{.*}}: !dtc.tensor<8x6{tp:2}xf32, replicate{cp:2, dp:2}>)
  func.func private @layer(%x: !dtc.tensor<4{dp:2}x8xf32>, %w: !dtc.tensor<8x6{tp:2}xf32, replicate{cp:2, dp:2}>) -> !dtc.tensor<8x6{tp:2}xf32, partial{cp:2, dp:2}> {
    %z = dtc.constant 0.0 : () -> !dtc.tensor<8x6{tp:2}xf32, partial{cp:2, dp:2}>
    return %z : !dtc.tensor<8x6{tp:2}xf32, partial{cp:2, dp:2}>
  }
  // CHECK-LABEL: func.func @step(
  // ONE:       %[[P:.*]] = dtc.read param of @w : !dtc.tensor<8x6{tp:2}xf32>
  // ONE-NEXT:  %[[F:.*]] = dtc.f %[[P]] over <cp:2, dp:2>
  // ONE-NEXT:  %[[SUM:.*]] = dtc.micro_batches 2
  // ONE:         %[[A:.*]] = func.call @layer(%{{.*}}, %[[F]])
  // ONE-NEXT:    %[[B:.*]] = func.call @layer(%{{.*}}, %[[F]])
  // ONE-NEXT:    %[[S:.*]] = dtc.add %[[A]], %[[B]]
  // ONE-NEXT:    dtc.yield %[[S]] : !dtc.tensor<8x6{tp:2}xf32, partial{cp:2, dp:2}>
  // The reduction stands after the loop, and gives each rank its piece.
  // ONE:       %[[G:.*]] = dtc.reduce_scatter %[[SUM]] dim 0 over <dp:2, cp:2>
  // ONE-NEXT:  dtc.write %[[G]] to grad of @w : !dtc.tensor<8{dp:2, cp:2}x6{tp:2}xf32>

  // TWO:       %[[SUM:.*]] = dtc.micro_batches 2
  // TWO:         %[[S:.*]] = dtc.add
  // TWO-NEXT:    %[[G:.*]] = dtc.reduce_scatter %[[S]] dim 0 over <dp:2, cp:2>
  // TWO-NEXT:    dtc.yield %[[G]] : !dtc.tensor<8{dp:2, cp:2}x6{tp:2}xf32>
  // TWO:       dtc.write %[[SUM]] to grad of @w

  // Each call gathers for itself.
  // THREE:     %[[P:.*]] = dtc.read param of @w : !dtc.tensor<8{dp:2, cp:2}x6{tp:2}xf32>
  // THREE-NEXT: %[[SUM:.*]] = dtc.micro_batches 2
  // THREE:       %[[W:.*]] = dtc.all_gather %[[P]] dim 0 over <dp:2, cp:2>
  // THREE-NEXT:  func.call @layer(%{{.*}}, %[[W]])
  // THREE-NEXT:  %[[V:.*]] = dtc.all_gather %[[P]] dim 0 over <dp:2, cp:2>
  // THREE-NEXT:  func.call @layer(%{{.*}}, %[[V]])
  // THREE-NEXT:  dtc.add
  // THREE-NEXT:  dtc.reduce_scatter
  // THREE-NEXT:  dtc.yield
  // THREE:     dtc.write %[[SUM]] to grad of @w

  // Gathered once.
  // STEP-LABEL: func.func @step(
  // STEP:      %[[W:.*]] = dtc.all_gather %{{.*}} dim 0 over <dp:2, cp:2>
  // STEP-NEXT: dtc.micro_batches 2
  // STEP-NOT:    dtc.all_gather
  // STEP:        func.call @layer(%{{.*}}, %[[W]])
  // STEP:        func.call @layer(%{{.*}}, %[[W]])
  // STEP:        dtc.reduce_scatter

  // ZERO-LABEL: func.func @step(
  // ZERO:      dtc.g %{{.*}} over <cp:2, dp:2>
  // ZERO-NEXT: dtc.write {{.*}} to grad of @w : !dtc.tensor<8x6{tp:2}xf32>
  func.func @step(%x: !dtc.tensor<4{dp:2}x8xf32>, %l: !dtc.tensor<f32>) -> (!dtc.tensor<f32> {dtc.output = "loss"}) {
    %0 = dtc.read param of @w : !dtc.tensor<8x6{tp:2}xf32>
    %1 = dtc.f %0 over <cp:2, dp:2> : (!dtc.tensor<8x6{tp:2}xf32>) -> !dtc.tensor<8x6{tp:2}xf32, replicate{cp:2, dp:2}>
    %2 = dtc.micro_batches 2 {
    ^bb0(%m: !dtc.tensor<i32>):
      %3 = func.call @layer(%x, %1) : (!dtc.tensor<4{dp:2}x8xf32>, !dtc.tensor<8x6{tp:2}xf32, replicate{cp:2, dp:2}>) -> !dtc.tensor<8x6{tp:2}xf32, partial{cp:2, dp:2}>
      %4 = func.call @layer(%x, %1) : (!dtc.tensor<4{dp:2}x8xf32>, !dtc.tensor<8x6{tp:2}xf32, replicate{cp:2, dp:2}>) -> !dtc.tensor<8x6{tp:2}xf32, partial{cp:2, dp:2}>
      %5 = dtc.add %3, %4 : (!dtc.tensor<8x6{tp:2}xf32, partial{cp:2, dp:2}>, !dtc.tensor<8x6{tp:2}xf32, partial{cp:2, dp:2}>) -> !dtc.tensor<8x6{tp:2}xf32, partial{cp:2, dp:2}>
      dtc.yield %5 : !dtc.tensor<8x6{tp:2}xf32, partial{cp:2, dp:2}>
    } : !dtc.tensor<8x6{tp:2}xf32, partial{cp:2, dp:2}>
    %6 = dtc.g %2 over <cp:2, dp:2> : (!dtc.tensor<8x6{tp:2}xf32, partial{cp:2, dp:2}>) -> !dtc.tensor<8x6{tp:2}xf32>
    dtc.write %6 to grad of @w : !dtc.tensor<8x6{tp:2}xf32>
    return %l : !dtc.tensor<f32>
  }
}

// -----

// Which dimension. Five rows and six columns on two ranks: the columns divide.
// Three by five: rows pad least in proportion, four to three. A vector of tp's
// pieces of 3 divides nowhere, so it stays whole. A dimension that is cut is
// taken where its pieces divide.

module attributes {dtc.mesh = #dtc.mesh<dp:2, tp:2>} {
  // CHECK:      dtc.param @a : !dtc.tensor
  dtc.param @a : !dtc.tensor<5x6xf32> from "a" [5, 6] view affine_map<(d0, d1) -> (d0, d1)> dims ["p", "q"] {init = "ones"}
  dtc.param @b : !dtc.tensor<5x3xf32> from "b" [5, 3] view affine_map<(d0, d1) -> (d0, d1)> dims ["p", "q"] {init = "ones"}
  dtc.param @c : !dtc.tensor<6{tp:2}xf32> from "c" [6] view affine_map<(d0) -> (d0)> dims ["p"] {init = "ones"}
  dtc.param @d : !dtc.tensor<8{tp:2}x8xf32> from "d" [8, 8] view affine_map<(d0, d1) -> (d0, d1)> dims ["p", "q"] {init = "ones"}
  // CHECK-LABEL: func.func @step(
  // Sums over other axes stay behind.
  // TWO:       %[[SUMS:.*]]:4 = dtc.micro_batches
  // TWO-DAG:     dtc.reduce_scatter %{{.*}} dim 1 over <dp:2> : {{.*}} -> !dtc.tensor<5x6{dp:2}xf32, partial{tp:2}>
  // TWO-DAG:     %[[R:.*]] = dtc.repad %{{.*}} dim 0 : (!dtc.tensor<5x3xf32, partial{dp:2}>) -> !dtc.tensor<5(6)x3xf32, partial{dp:2}>
  // TWO-DAG:     dtc.reduce_scatter %[[R]] dim 0 over <dp:2> : {{.*}} -> !dtc.tensor<5(6){dp:2}x3xf32>
  // TWO:         dtc.yield
  // TWO-DAG:   dtc.g %[[SUMS]]#0 over <tp:2>
  // TWO-DAG:   dtc.g %[[SUMS]]#2 over <dp:2>
  // CHECK-DAG: dtc.write {{.*}} to grad of @a : !dtc.tensor<5x6{dp:2}xf32>
  // CHECK-DAG: dtc.write {{.*}} to grad of @b : !dtc.tensor<5(6){dp:2}x3xf32>
  // CHECK-DAG: dtc.write {{.*}} to grad of @c : !dtc.tensor<6{tp:2}xf32>
  // CHECK-DAG: dtc.write {{.*}} to grad of @d : !dtc.tensor<8{tp:2, dp:2}x8xf32>
  func.func @step(%a: !dtc.tensor<5x6xf32, partial{dp:2, tp:2}>, %b: !dtc.tensor<5x3xf32, partial{dp:2}>, %c: !dtc.tensor<6{tp:2}xf32, partial{dp:2}>, %d: !dtc.tensor<8{tp:2}x8xf32, partial{dp:2}>, %l: !dtc.tensor<f32>) -> (!dtc.tensor<f32> {dtc.output = "loss"}) {
    %0:4 = dtc.micro_batches 2 {
    ^bb0(%m: !dtc.tensor<i32>):
      %1 = dtc.scale %a by 2.0 : (!dtc.tensor<5x6xf32, partial{dp:2, tp:2}>) -> !dtc.tensor<5x6xf32, partial{dp:2, tp:2}>
      %2 = dtc.scale %b by 2.0 : (!dtc.tensor<5x3xf32, partial{dp:2}>) -> !dtc.tensor<5x3xf32, partial{dp:2}>
      %3 = dtc.scale %c by 2.0 : (!dtc.tensor<6{tp:2}xf32, partial{dp:2}>) -> !dtc.tensor<6{tp:2}xf32, partial{dp:2}>
      %4 = dtc.scale %d by 2.0 : (!dtc.tensor<8{tp:2}x8xf32, partial{dp:2}>) -> !dtc.tensor<8{tp:2}x8xf32, partial{dp:2}>
      dtc.yield %1, %2, %3, %4 : !dtc.tensor<5x6xf32, partial{dp:2, tp:2}>, !dtc.tensor<5x3xf32, partial{dp:2}>, !dtc.tensor<6{tp:2}xf32, partial{dp:2}>, !dtc.tensor<8{tp:2}x8xf32, partial{dp:2}>
    } : !dtc.tensor<5x6xf32, partial{dp:2, tp:2}>, !dtc.tensor<5x3xf32, partial{dp:2}>, !dtc.tensor<6{tp:2}xf32, partial{dp:2}>, !dtc.tensor<8{tp:2}x8xf32, partial{dp:2}>
    %5 = dtc.g %0#0 over <dp:2, tp:2> : (!dtc.tensor<5x6xf32, partial{dp:2, tp:2}>) -> !dtc.tensor<5x6xf32>
    %6 = dtc.g %0#1 over <dp:2> : (!dtc.tensor<5x3xf32, partial{dp:2}>) -> !dtc.tensor<5x3xf32>
    %7 = dtc.g %0#2 over <dp:2> : (!dtc.tensor<6{tp:2}xf32, partial{dp:2}>) -> !dtc.tensor<6{tp:2}xf32>
    %8 = dtc.g %0#3 over <dp:2> : (!dtc.tensor<8{tp:2}x8xf32, partial{dp:2}>) -> !dtc.tensor<8{tp:2}x8xf32>
    dtc.write %5 to grad of @a : !dtc.tensor<5x6xf32>
    dtc.write %6 to grad of @b : !dtc.tensor<5x3xf32>
    dtc.write %7 to grad of @c : !dtc.tensor<6{tp:2}xf32>
    dtc.write %8 to grad of @d : !dtc.tensor<8{tp:2}x8xf32>
    return %l : !dtc.tensor<f32>
  }
}
