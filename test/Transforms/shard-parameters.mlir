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
// Three by five: rows pad least in proportion, four to three. Pieces of 3 of a
// vector that tp cuts do not divide: it is made whole, padded to 8, and cut
// anew. A dimension that is cut is taken at once where its pieces divide.

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
  // TWO-DAG:     %[[G:.*]] = dtc.all_gather_invariant %{{.*}} dim 0 over <tp:2> : {{.*}} -> !dtc.tensor<6xf32, partial{dp:2}>
  // TWO-DAG:     %[[W:.*]] = dtc.repad %[[G]] dim 0 : {{.*}} -> !dtc.tensor<6(8)xf32, partial{dp:2}>
  // TWO:         dtc.yield
  // TWO-DAG:   dtc.g %[[SUMS]]#0 over <tp:2>
  // CHECK-DAG: dtc.write {{.*}} to grad of @a : !dtc.tensor<5x6{dp:2}xf32>
  // CHECK-DAG: dtc.write {{.*}} to grad of @b : !dtc.tensor<5(6){dp:2}x3xf32>
  // CHECK-DAG: dtc.write {{.*}} to grad of @c : !dtc.tensor<6(8){tp:2, dp:2}xf32>
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

// -----

// One stage, called with a parameter and with what is made of one: the
// function of the first call gathers, and reduces what it hands on.

module attributes {dtc.mesh = #dtc.mesh<pp:2, dp:2>} {
  dtc.param @p : !dtc.tensor<4xf32> from "p" [4] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "ones"}
  // CHECK:     func.func private @stage(%{{.*}}: !dtc.tensor<4xf32, replicate{dp:2}>, %{{.*}}: !dtc.tensor<i32>) -> !dtc.tensor<4xf32, partial{dp:2}>
  // TWO:       func.func private @stage_0(%{{.*}}: !dtc.tensor<4xf32, replicate{dp:2}>, %{{.*}}: !dtc.tensor<i32>) -> !dtc.tensor<4{dp:2}xf32>
  // TWO:         dtc.reduce_scatter
  // THREE:     func.func private @stage_0(%[[W:.*]]: !dtc.tensor<4{dp:2}xf32>, %{{.*}}: !dtc.tensor<i32>) -> !dtc.tensor<4{dp:2}xf32>
  // THREE-NEXT:  dtc.all_gather %[[W]] dim 0 over <dp:2>
  // THREE:       dtc.reduce_scatter
  func.func private @stage(%w: !dtc.tensor<4xf32, replicate{dp:2}>, %m: !dtc.tensor<i32>) -> !dtc.tensor<4xf32, partial{dp:2}> {
    %x = dtc.scale %w by 2.0 : (!dtc.tensor<4xf32, replicate{dp:2}>) -> !dtc.tensor<4xf32, replicate{dp:2}>
    %y = dtc.keep_first_replicated %x over <dp:2> : (!dtc.tensor<4xf32, replicate{dp:2}>) -> !dtc.tensor<4xf32, partial{dp:2}>
    return %y : !dtc.tensor<4xf32, partial{dp:2}>
  }
  // CHECK-LABEL: func.func @step(
  // TWO:         func.call @stage_0(
  // TWO:         func.call @stage(
  // THREE:       func.call @stage_0(
  // THREE:       func.call @stage(
  func.func @step(%l: !dtc.tensor<f32>) -> (!dtc.tensor<f32> {dtc.output = "loss"}) {
    %p = dtc.read param of @p : !dtc.tensor<4xf32>
    %f = dtc.f %p over <dp:2> : (!dtc.tensor<4xf32>) -> !dtc.tensor<4xf32, replicate{dp:2}>
    %q = dtc.scale %f by 3.0 : (!dtc.tensor<4xf32, replicate{dp:2}>) -> !dtc.tensor<4xf32, replicate{dp:2}>
    %0:2 = dtc.micro_batches 2 {
    ^bb0(%m: !dtc.tensor<i32>):
      %1 = func.call @stage(%f, %m) {dtc.stage = 0 : i64} : (!dtc.tensor<4xf32, replicate{dp:2}>, !dtc.tensor<i32>) -> !dtc.tensor<4xf32, partial{dp:2}>
      %2 = func.call @stage(%q, %m) {dtc.stage = 1 : i64} : (!dtc.tensor<4xf32, replicate{dp:2}>, !dtc.tensor<i32>) -> !dtc.tensor<4xf32, partial{dp:2}>
      dtc.yield %1, %2 : !dtc.tensor<4xf32, partial{dp:2}>, !dtc.tensor<4xf32, partial{dp:2}>
    } : !dtc.tensor<4xf32, partial{dp:2}>, !dtc.tensor<4xf32, partial{dp:2}>
    %3 = dtc.scale %0#1 by 3.0 : (!dtc.tensor<4xf32, partial{dp:2}>) -> !dtc.tensor<4xf32, partial{dp:2}>
    %4 = dtc.add %0#0, %3 : (!dtc.tensor<4xf32, partial{dp:2}>, !dtc.tensor<4xf32, partial{dp:2}>) -> !dtc.tensor<4xf32, partial{dp:2}>
    %5 = dtc.g %4 over <dp:2> : (!dtc.tensor<4xf32, partial{dp:2}>) -> !dtc.tensor<4xf32>
    dtc.write %5 to grad of @p : !dtc.tensor<4xf32>
    return %l : !dtc.tensor<f32>
  }
}

// -----

// A rule has cut rows over dp: cp is what is left of the group.

module attributes {dtc.mesh = #dtc.mesh<dp:2, cp:2>} {
  dtc.param @p : !dtc.tensor<4{dp:2}x6xf32> from "p" [4, 6] view affine_map<(d0, d1) -> (d0, d1)> dims ["p", "q"] {init = "ones"}
  // CHECK-LABEL: func.func @step(
  // CHECK:     dtc.write {{.*}} to grad of @p : !dtc.tensor<4{dp:2, cp:2}x6xf32>
  func.func @step(%g: !dtc.tensor<4{dp:2}x6xf32, partial{cp:2}>, %l: !dtc.tensor<f32>) -> (!dtc.tensor<f32> {dtc.output = "loss"}) {
    %0 = dtc.g %g over <cp:2> : (!dtc.tensor<4{dp:2}x6xf32, partial{cp:2}>) -> !dtc.tensor<4{dp:2}x6xf32>
    dtc.write %0 to grad of @p : !dtc.tensor<4{dp:2}x6xf32>
    return %l : !dtc.tensor<f32>
  }
}
