// RUN: dtc-opt %s -split-input-file -dtc-propagate-sharding="mesh=dp=2,tp=2" | FileCheck %s

// Axes go from named dimensions of parameters and inputs, through the factors
// of ops, to results: the MLP's hidden dimension is cut by tp, the batch by dp.

// CHECK: module attributes {dtc.mesh = #dtc.mesh<dp:2, tp:2>}
// CHECK: dtc.param @w1 {{.*}} dims ["embed", "mlp"] {dtc.sharding = [#dtc.axes<>, #dtc.axes<tp:2>]
// CHECK: dtc.param @w2 {{.*}} dims ["mlp", "embed"] {dtc.sharding = [#dtc.axes<tp:2>, #dtc.axes<>]
// CHECK-LABEL: func.func @model
// CHECK-SAME: %[[X:.*]]: !dtc.tensor<8x4xf32> {dtc.dims = ["batch", "embed"], dtc.sharding = [#dtc.axes<dp:2>, #dtc.axes<>]}
module {
  dtc.param @w1 : !dtc.tensor<4x16xf32> from "w1" [4, 16] view affine_map<(a, b) -> (a, b)> dims ["embed", "mlp"] {init = "ones"}
  dtc.param @w2 : !dtc.tensor<16x4xf32> from "w2" [16, 4] view affine_map<(a, b) -> (a, b)> dims ["mlp", "embed"] {init = "ones"}
  func.func @model(%x: !dtc.tensor<8x4xf32> {dtc.dims = ["batch", "embed"]}) -> !dtc.tensor<8x4xf32> {
    %w1 = dtc.read param of @w1 : !dtc.tensor<4x16xf32>
    %w2 = dtc.read param of @w2 : !dtc.tensor<16x4xf32>
    // CHECK: %[[H:.*]] = dtc.einsum "bd,df->bf"(%[[X]], %{{.*}}) {dtc.sharding = [#dtc.axes<dp:2>, #dtc.axes<tp:2>]}
    %h = dtc.einsum "bd,df->bf"(%x, %w1) : (!dtc.tensor<8x4xf32>, !dtc.tensor<4x16xf32>) -> !dtc.tensor<8x16xf32>
    // CHECK: dtc.activation gelu_tanh %[[H]] {dtc.sharding = [#dtc.axes<dp:2>, #dtc.axes<tp:2>]}
    %g = dtc.activation gelu_tanh %h : (!dtc.tensor<8x16xf32>) -> !dtc.tensor<8x16xf32>
    // tp is summed away: only the batch stays cut.
    // CHECK: dtc.einsum "bf,fd->bd"(%{{.*}}, %{{.*}}) {dtc.sharding = [#dtc.axes<dp:2>, #dtc.axes<>]}
    %y = dtc.einsum "bf,fd->bd"(%g, %w2) : (!dtc.tensor<8x16xf32>, !dtc.tensor<16x4xf32>) -> !dtc.tensor<8x4xf32>
    return %y : !dtc.tensor<8x4xf32>
  }
}

// -----

// An uneven dimension is padded wherever the factor stands, cut or not.

// CHECK: dtc.param @w : !dtc.tensor<4x7(8)xf32> {{.*}} {dtc.sharding = [#dtc.axes<>, #dtc.axes<tp:2>]
// CHECK-LABEL: func.func @uneven
// CHECK: dtc.einsum {{.*}} -> !dtc.tensor<8x7(8)xf32>
module {
  dtc.param @w : !dtc.tensor<4x7xf32> from "w" [4, 7] view affine_map<(a, b) -> (a, b)> dims ["embed", "mlp"] {init = "ones"}
  func.func @uneven(%x: !dtc.tensor<8x4xf32> {dtc.dims = ["batch", "embed"]}) -> !dtc.tensor<8x7xf32> {
    %w = dtc.read param of @w : !dtc.tensor<4x7xf32>
    %h = dtc.einsum "bd,df->bf"(%x, %w) : (!dtc.tensor<8x4xf32>, !dtc.tensor<4x7xf32>) -> !dtc.tensor<8x7xf32>
    return %h : !dtc.tensor<8x7xf32>
  }
}

// -----

// A layer function is visited once, and cloned for a call that shards it
// differently: here the second call's input is not cut by dp.

// CHECK-LABEL: func.func private @layer(
// CHECK-SAME: {dtc.sharding = [#dtc.axes<dp:2>, #dtc.axes<>]}
// CHECK-LABEL: func.func private @layer_0(
// CHECK-NOT: dtc.sharding
// CHECK: return
// CHECK-LABEL: func.func @clones
// CHECK: call @layer(
// CHECK: call @layer(
// CHECK: call @layer_0(
module {
  func.func private @layer(%x: !dtc.tensor<8x4xf32>) -> !dtc.tensor<8x4xf32> {
    %y = dtc.activation silu %x : (!dtc.tensor<8x4xf32>) -> !dtc.tensor<8x4xf32>
    return %y : !dtc.tensor<8x4xf32>
  }
  func.func @clones(%x: !dtc.tensor<8x4xf32> {dtc.dims = ["batch", "embed"]}, %c: !dtc.tensor<8x4xf32>) -> (!dtc.tensor<8x4xf32>, !dtc.tensor<8x4xf32>) {
    %0 = call @layer(%x) : (!dtc.tensor<8x4xf32>) -> !dtc.tensor<8x4xf32>
    %1 = call @layer(%0) : (!dtc.tensor<8x4xf32>) -> !dtc.tensor<8x4xf32>
    %2 = call @layer(%c) : (!dtc.tensor<8x4xf32>) -> !dtc.tensor<8x4xf32>
    return %1, %2 : !dtc.tensor<8x4xf32>, !dtc.tensor<8x4xf32>
  }
}

// -----

// dtc.sharding overrides the rules and what would follow from the operands.

// CHECK-LABEL: func.func @annotated
module {
  func.func @annotated(%x: !dtc.tensor<8x4xf32> {dtc.sharding = [#dtc.axes<dp:2>, #dtc.axes<>]}) -> !dtc.tensor<8x4xf32> {
    // CHECK: dtc.scale {{.*}} {dtc.sharding = [#dtc.axes<dp:2, tp:2>, #dtc.axes<>]}
    %y = dtc.scale %x by 2.0 {dtc.sharding = [#dtc.axes<dp:2, tp:2>, #dtc.axes<>]} : (!dtc.tensor<8x4xf32>) -> !dtc.tensor<8x4xf32>
    return %y : !dtc.tensor<8x4xf32>
  }
}
