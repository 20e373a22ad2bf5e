// RUN: dtc-opt %s -split-input-file -dtc-propagate-sharding="mesh=dp=2,tp=2" -dtc-insert-collectives | FileCheck %s
// RUN: dtc-opt %s -split-input-file -dtc-propagate-sharding="mesh=tp=2 sequence-parallel" -dtc-insert-collectives | FileCheck %s --check-prefix=SP

// A column-parallel and a row-parallel product: one f before, one g after.
// The bias is added after the sum, once.

// CHECK-LABEL: func.func private @mlp(
// CHECK-SAME: %[[X:.*]]: !dtc.tensor<8{dp:2}x4x4xf32>
// CHECK-SAME: %[[W1:.*]]: !dtc.tensor<4x16{tp:2}xf32, replicate{dp:2}>
// CHECK-SAME: %[[W2:.*]]: !dtc.tensor<16{tp:2}x4xf32, replicate{dp:2}>
// CHECK-SAME: %[[B:.*]]: !dtc.tensor<4xf32, replicate{dp:2}>
// CHECK-NEXT: %[[F:.*]] = dtc.f %[[X]] over <tp:2>
// CHECK-NEXT: %[[H:.*]] = dtc.einsum "bsd,df->bsf"(%[[F]], %[[W1]])
// CHECK-NEXT: %[[P:.*]] = dtc.einsum "bsf,fd->bsd"(%[[H]], %[[W2]]) {{.*}} -> !dtc.tensor<8{dp:2}x4x4xf32, partial{tp:2}>
// CHECK-NEXT: %[[G:.*]] = dtc.g %[[P]] over <tp:2>
// CHECK-NEXT: dtc.add %[[G]], %[[B]]
// CHECK-NOT: dtc.g
// CHECK: return

// Parameters pass through f in the public function only.
// CHECK-LABEL: func.func @model
// CHECK: %[[R:.*]] = dtc.read param of @w1
// CHECK: dtc.f %[[R]] over <dp:2>
// The loss stays partial until it is returned: one g.
// CHECK: dtc.reduce_sum {{.*}} -> !dtc.tensor<f32, partial{dp:2}>
// CHECK: dtc.divide {{.*}} -> !dtc.tensor<f32, partial{dp:2}>
// CHECK-NEXT: %[[L:.*]] = dtc.g
// CHECK: return %[[L]]

// With the residual cut over tp, f and g become all_gather and reduce_scatter,
// and the bias is a replicate of the public function's f.
// SP-LABEL: func.func private @mlp(
// SP-SAME: !dtc.tensor<8x4{tp:2}x4xf32>
// SP: dtc.all_gather %{{.*}} dim 1 over <tp:2>
// SP: dtc.reduce_scatter %{{.*}} dim 1 over <tp:2>
// SP: dtc.add %{{.*}} (!dtc.tensor<8x4{tp:2}x4xf32>, !dtc.tensor<4xf32, replicate{tp:2}>)
module {
  dtc.param @w1 : !dtc.tensor<4x16xf32> from "w1" [4, 16] view affine_map<(a, b) -> (a, b)> dims ["embed", "mlp"] {init = "ones"}
  dtc.param @w2 : !dtc.tensor<16x4xf32> from "w2" [16, 4] view affine_map<(a, b) -> (a, b)> dims ["mlp", "embed"] {init = "ones"}
  dtc.param @b2 : !dtc.tensor<4xf32> from "b2" [4] view affine_map<(a) -> (a)> dims ["embed"] {init = "ones"}
  func.func private @mlp(%x: !dtc.tensor<8x4x4xf32>, %w1: !dtc.tensor<4x16xf32>, %w2: !dtc.tensor<16x4xf32>, %b: !dtc.tensor<4xf32>) -> !dtc.tensor<8x4x4xf32> {
    %h = dtc.einsum "bsd,df->bsf"(%x, %w1) : (!dtc.tensor<8x4x4xf32>, !dtc.tensor<4x16xf32>) -> !dtc.tensor<8x4x16xf32>
    %y = dtc.einsum "bsf,fd->bsd"(%h, %w2) {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<8x4x16xf32>, !dtc.tensor<16x4xf32>) -> !dtc.tensor<8x4x4xf32>
    %z = dtc.add %y, %b : (!dtc.tensor<8x4x4xf32>, !dtc.tensor<4xf32>) -> !dtc.tensor<8x4x4xf32>
    return %z : !dtc.tensor<8x4x4xf32>
  }
  func.func @model(%x: !dtc.tensor<8x4x4xf32> {dtc.dims = ["batch", "norm_seq", "embed"]}, %n: !dtc.tensor<i32>) -> (!dtc.tensor<f32> {dtc.output = "loss"}) {
    %w1 = dtc.read param of @w1 : !dtc.tensor<4x16xf32>
    %w2 = dtc.read param of @w2 : !dtc.tensor<16x4xf32>
    %b2 = dtc.read param of @b2 : !dtc.tensor<4xf32>
    %y = call @mlp(%x, %w1, %w2, %b2) : (!dtc.tensor<8x4x4xf32>, !dtc.tensor<4x16xf32>, !dtc.tensor<16x4xf32>, !dtc.tensor<4xf32>) -> !dtc.tensor<8x4x4xf32>
    %s = dtc.reduce_sum %y over [0, 1, 2] : (!dtc.tensor<8x4x4xf32>) -> !dtc.tensor<f32>
    %l = dtc.divide %s, %n : (!dtc.tensor<f32>, !dtc.tensor<i32>) -> !dtc.tensor<f32>
    return %l : !dtc.tensor<f32>
  }
}

// -----

// One f is shared by siblings: the second product cuts nothing by tp, but its
// result is only used where it must be replicate, so it takes f's result, and
// its weight gets an f of its own in the public function.

// CHECK-LABEL: func.func @sibling
// CHECK: %[[WK:.*]] = dtc.read param of @wk
// CHECK: %[[WKF:.*]] = dtc.f %[[WK]] over <dp:2, tp:2>
// CHECK: %[[F:.*]] = dtc.f %{{.*}} over <tp:2>
// CHECK: dtc.einsum "bd,df->bf"(%[[F]],
// CHECK: dtc.einsum "bd,de->be"(%[[F]], %[[WKF]])
// CHECK-NOT: dtc.f
// CHECK: return
module {
  dtc.param @wq : !dtc.tensor<4x16xf32> from "wq" [4, 16] view affine_map<(a, b) -> (a, b)> dims ["embed", "mlp"] {init = "ones"}
  dtc.param @wk : !dtc.tensor<4x2xf32> from "wk" [4, 2] view affine_map<(a, b) -> (a, b)> dims ["embed", "small"] {init = "ones"}
  func.func @sibling(%a: !dtc.tensor<8x4xf32> {dtc.dims = ["batch", "embed"]}) -> !dtc.tensor<8x16x2xf32> {
    %wq = dtc.read param of @wq : !dtc.tensor<4x16xf32>
    %wk = dtc.read param of @wk : !dtc.tensor<4x2xf32>
    %x = dtc.activation silu %a : (!dtc.tensor<8x4xf32>) -> !dtc.tensor<8x4xf32>
    %q = dtc.einsum "bd,df->bf"(%x, %wq) : (!dtc.tensor<8x4xf32>, !dtc.tensor<4x16xf32>) -> !dtc.tensor<8x16xf32>
    %k = dtc.einsum "bd,de->be"(%x, %wk) : (!dtc.tensor<8x4xf32>, !dtc.tensor<4x2xf32>) -> !dtc.tensor<8x2xf32>
    %o = dtc.einsum "bf,be->bfe"(%q, %k) : (!dtc.tensor<8x16xf32>, !dtc.tensor<8x2xf32>) -> !dtc.tensor<8x16x2xf32>
    return %o : !dtc.tensor<8x16x2xf32>
  }
}

// -----

// A parameter that a layer uses in two placements becomes two arguments, with
// an f each in the public function.

// CHECK-LABEL: func.func private @twice(
// CHECK-SAME: !dtc.tensor<4xf32, replicate{dp:2}>
// CHECK-SAME: !dtc.tensor<4xf32>
// CHECK-LABEL: func.func @uses
// CHECK: %[[W:.*]] = dtc.read param of @w
// CHECK: %[[F:.*]] = dtc.f %[[W]] over <dp:2>
// CHECK: call @twice(%{{.*}}, %{{.*}}, %[[F]], %[[W]])
module {
  dtc.param @w : !dtc.tensor<4xf32> from "w" [4] view affine_map<(a) -> (a)> dims ["embed"] {init = "ones"}
  func.func private @twice(%x: !dtc.tensor<8x4xf32>, %c: !dtc.tensor<2x4xf32>, %w: !dtc.tensor<4xf32>) -> (!dtc.tensor<8x4xf32>, !dtc.tensor<2x4xf32>) {
    %y = dtc.add %x, %w : (!dtc.tensor<8x4xf32>, !dtc.tensor<4xf32>) -> !dtc.tensor<8x4xf32>
    %z = dtc.add %c, %w : (!dtc.tensor<2x4xf32>, !dtc.tensor<4xf32>) -> !dtc.tensor<2x4xf32>
    return %y, %z : !dtc.tensor<8x4xf32>, !dtc.tensor<2x4xf32>
  }
  func.func @uses(%x: !dtc.tensor<8x4xf32> {dtc.dims = ["batch", "embed"]}, %c: !dtc.tensor<2x4xf32>) -> (!dtc.tensor<8x4xf32>, !dtc.tensor<2x4xf32>) {
    %w = dtc.read param of @w : !dtc.tensor<4xf32>
    %0:2 = call @twice(%x, %c, %w) : (!dtc.tensor<8x4xf32>, !dtc.tensor<2x4xf32>, !dtc.tensor<4xf32>) -> (!dtc.tensor<8x4xf32>, !dtc.tensor<2x4xf32>)
    return %0#0, %0#1 : !dtc.tensor<8x4xf32>, !dtc.tensor<2x4xf32>
  }
}
