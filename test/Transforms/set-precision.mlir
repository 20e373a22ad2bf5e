// RUN: dtc-opt %s -split-input-file -dtc-set-precision="precision=bf16 grad-type=f32" | FileCheck %s
// RUN: dtc-opt %s -split-input-file -dtc-set-precision="precision=bf16 grad-type=bf16" | FileCheck %s --check-prefix=NARROW
// RUN: dtc-opt %s -split-input-file -dtc-set-precision | FileCheck %s --check-prefix=SAME

// Parameters and activations are bf16; the loss, and what is saved of it, f32;
// integers stay.
// CHECK-LABEL: dtc.param @w : !dtc.tensor<8x9xbf16>
// CHECK-SAME:    {grad_type = f32, init = "normal"
// NARROW-LABEL: dtc.param @w : !dtc.tensor<8x9xbf16>
// NARROW-SAME:    {grad_type = bf16, init = "normal"
// SAME-LABEL: dtc.param @w : !dtc.tensor<8x9xf32>
// SAME-SAME:    {init = "normal"
// SAME-NOT: bf16
dtc.param @w : !dtc.tensor<8x9xf32> from "w" [8, 9] view affine_map<(a, b) -> (a, b)> dims ["embed", "vocab"] {init = "normal"}
dtc.param @e : !dtc.tensor<9x8xf32> from "e" [9, 8] view affine_map<(a, b) -> (a, b)> dims ["vocab", "embed"] {init = "normal"}
// CHECK-LABEL: func private @layer
// CHECK-SAME:    !dtc.tensor<2x4x8xbf16>, {{.*}}!dtc.tensor<8x9xbf16>) -> !dtc.tensor<2x4x9xbf16>
func.func private @layer(%x: !dtc.tensor<2x4x8xf32>, %w: !dtc.tensor<8x9xf32>) -> !dtc.tensor<2x4x9xf32> {
  // CHECK: dtc.scale {{.*}} (!dtc.tensor<2x4x8xbf16>) -> !dtc.tensor<2x4x8xbf16>
  %y = dtc.scale %x by 0.5 : (!dtc.tensor<2x4x8xf32>) -> !dtc.tensor<2x4x8xf32>
  // CHECK: dtc.einsum {{.*}} -> !dtc.tensor<2x4x9xbf16>
  %z = dtc.einsum "bsd,dv->bsv"(%y, %w) {dtc.dims = ["batch", "seq", "vocab"]} : (!dtc.tensor<2x4x8xf32>, !dtc.tensor<8x9xf32>) -> !dtc.tensor<2x4x9xf32>
  return %z : !dtc.tensor<2x4x9xf32>
}
// CHECK-LABEL: func @model
// CHECK-SAME:    -> (!dtc.tensor<f32> {dtc.output = "loss"}, !dtc.tensor<i32> {dtc.output = "labels"})
func.func @model(%ids: !dtc.tensor<2x4xi32> {dtc.input = "input_ids"}, %labels: !dtc.tensor<2x4xi32> {dtc.input = "labels"})
    -> (!dtc.tensor<f32> {dtc.output = "loss"}, !dtc.tensor<i32> {dtc.output = "labels"}) {
  // CHECK: dtc.read param of @w : !dtc.tensor<8x9xbf16>
  %w = dtc.read param of @w : !dtc.tensor<8x9xf32>
  %e = dtc.read param of @e : !dtc.tensor<9x8xf32>
  %x = dtc.embedding %e[%ids] : (!dtc.tensor<9x8xf32>, !dtc.tensor<2x4xi32>) -> !dtc.tensor<2x4x8xf32>
  // CHECK: call @layer({{.*}}) : (!dtc.tensor<2x4x8xbf16>, !dtc.tensor<8x9xbf16>) -> !dtc.tensor<2x4x9xbf16>
  %z = call @layer(%x, %w) : (!dtc.tensor<2x4x8xf32>, !dtc.tensor<8x9xf32>) -> !dtc.tensor<2x4x9xf32>
  // CHECK: dtc.cross_entropy {{.*}} : (!dtc.tensor<2x4x9xbf16>, !dtc.tensor<2x4xi32>) -> (!dtc.tensor<f32>, !dtc.tensor<2x4xf32>)
  %sum, %lse = dtc.cross_entropy %z, %labels : (!dtc.tensor<2x4x9xf32>, !dtc.tensor<2x4xi32>) -> (!dtc.tensor<f32>, !dtc.tensor<2x4xf32>)
  %n = dtc.count_labels %labels : (!dtc.tensor<2x4xi32>) -> !dtc.tensor<i32>
  // CHECK: dtc.divide {{.*}} : (!dtc.tensor<f32>, !dtc.tensor<i32>) -> !dtc.tensor<f32>
  // CHECK-NOT: dtc.convert
  %loss = dtc.divide %sum, %n : (!dtc.tensor<f32>, !dtc.tensor<i32>) -> !dtc.tensor<f32>
  return %loss, %n : !dtc.tensor<f32>, !dtc.tensor<i32>
}

// -----

// Where both types meet, bf16 is converted, once; a constant takes the type
// that it is used with; a float input becomes bf16, an output f32.
// CHECK-LABEL: func @mixed
// CHECK-SAME:    %[[X:.*]]: !dtc.tensor<4x9xf32>
// CHECK-SAME:    -> (!dtc.tensor<f32> {dtc.output = "loss"}, !dtc.tensor<4xf32> {dtc.output = "x"})
// NARROW-LABEL: func @mixed
// SAME-LABEL: func @mixed
// SAME-NOT: bf16
func.func @mixed(%x: !dtc.tensor<4x9xf32> {dtc.input = "x"}, %ids: !dtc.tensor<1x4xi32> {dtc.input = "labels"})
    -> (!dtc.tensor<f32> {dtc.output = "loss"}, !dtc.tensor<4xf32> {dtc.output = "x"}) {
  // CHECK: %[[INSIDE:.*]] = dtc.convert %[[X]] : (!dtc.tensor<4x9xf32>) -> !dtc.tensor<4x9xbf16>
  // CHECK: %[[HALF:.*]] = dtc.constant 5.000000e-01 : () -> !dtc.tensor<4x9xbf16>
  %half = dtc.constant 0.5 : () -> !dtc.tensor<4x9xf32>
  // CHECK: %[[Y:.*]] = dtc.multiply %[[INSIDE]], %[[HALF]] : {{.*}} -> !dtc.tensor<4x9xbf16>
  %y = dtc.multiply %x, %half : (!dtc.tensor<4x9xf32>, !dtc.tensor<4x9xf32>) -> !dtc.tensor<4x9xf32>
  // CHECK: %[[R:.*]] = dtc.reduce_sum %[[Y]] over [1] : (!dtc.tensor<4x9xbf16>) -> !dtc.tensor<4xbf16>
  // CHECK: %[[RF:.*]] = dtc.convert %[[R]] : (!dtc.tensor<4xbf16>) -> !dtc.tensor<4xf32>
  %r = dtc.reduce_sum %y over [1] : (!dtc.tensor<4x9xf32>) -> !dtc.tensor<4xf32>
  %q = dtc.reduce_sum %r over [0] : (!dtc.tensor<4xf32>) -> !dtc.tensor<f32>
  %1 = dtc.broadcast %y along [0] : (!dtc.tensor<4x9xf32>) -> !dtc.tensor<1x4x9xf32>
  // CHECK: %[[LOSS:.*]], %{{.*}} = dtc.cross_entropy {{.*}} -> (!dtc.tensor<f32>, !dtc.tensor<1x4xf32>)
  %l, %lse = dtc.cross_entropy %1, %ids : (!dtc.tensor<1x4x9xf32>, !dtc.tensor<1x4xi32>) -> (!dtc.tensor<f32>, !dtc.tensor<1x4xf32>)
  // CHECK: %[[SUM:.*]] = dtc.add %[[LOSS]], %{{.*}} : (!dtc.tensor<f32>, !dtc.tensor<f32>) -> !dtc.tensor<f32>
  %loss = dtc.add %l, %q : (!dtc.tensor<f32>, !dtc.tensor<f32>) -> !dtc.tensor<f32>
  // CHECK: return %[[SUM]], %[[RF]]
  return %loss, %r : !dtc.tensor<f32>, !dtc.tensor<4xf32>
}
