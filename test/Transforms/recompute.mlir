// What a layer keeps for its backward.
// RUN: dtc-opt %s -dtc-differentiate | FileCheck %s --check-prefixes=CHECK,NONE
// RUN: dtc-opt %s -dtc-differentiate=recompute=selective | FileCheck %s --check-prefixes=CHECK,SELECTIVE
// RUN: dtc-opt %s -dtc-differentiate=recompute=full | FileCheck %s --check-prefixes=CHECK,FULL
// RUN: dtc-opt %s -dtc-differentiate=recompute=30 | FileCheck %s --check-prefixes=CHECK,SELECTIVE
// RUN: dtc-opt %s -dtc-differentiate=recompute=300 | FileCheck %s --check-prefix=PRODUCTS
// RUN: not dtc-opt %s -dtc-differentiate=recompute=some 2>&1 | FileCheck %s --check-prefix=BAD

// BAD: error: recompute is 'some', but may be none, selective, full, or how many operations a byte that need not be kept may cost

module attributes {dtc.mesh = #dtc.mesh<tp:2>} {
  dtc.param @g : !dtc.tensor<64xf32> from "g" [64] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "ones"}
  dtc.param @w : !dtc.tensor<64x256{tp:2}xf32> from "w" [64, 256] view affine_map<(d0, d1) -> (d0, d1)> dims ["embed", "mlp"] {init = "ones"}
  dtc.param @u : !dtc.tensor<256{tp:2}x64xf32> from "u" [256, 64] view affine_map<(d0, d1) -> (d0, d1)> dims ["mlp", "embed"] {init = "ones"}

  // The normalized input, the activation and its input are kept; or only the
  // activation's input, a product; or nothing but the layer's operands.
  // NONE:      func.func private @layer_forward
  // NONE-SAME:   -> (!dtc.tensor<8x64xf32>, !dtc.tensor<8x256{tp:2}xf32>, !dtc.tensor<8x256{tp:2}xf32>, !dtc.tensor<8x64xf32>)
  // SELECTIVE:      func.func private @layer_forward
  // SELECTIVE-SAME:   -> (!dtc.tensor<8x64xf32>, !dtc.tensor<8x256{tp:2}xf32>)
  // FULL:      func.func private @layer_forward
  // FULL-SAME:   -> !dtc.tensor<8x64xf32>
  // A number allows products too, but not communication, of which there is
  // none before the last sum.
  // PRODUCTS:      func.func private @layer_forward
  // PRODUCTS-SAME:   -> !dtc.tensor<8x64xf32>

  // CHECK-LABEL: func.func private @layer_backward
  // NONE-NOT:       dtc.rms_norm %
  // NONE-NOT:       dtc.activation
  // NONE:           dtc.activation_grad
  // Each where it is first needed.
  // SELECTIVE:      dtc.activation gelu %
  // SELECTIVE-NEXT: dtc.einsum "bf,bd->fd"
  // SELECTIVE-NEXT: dtc.activation_grad
  // SELECTIVE-NOT:  dtc.einsum "bd,df->bf"
  // SELECTIVE:      dtc.rms_norm %
  // SELECTIVE-NEXT: dtc.f
  // SELECTIVE-NEXT: dtc.einsum "bd,bf->df"
  // The layer's last product and sum are not computed again.
  // FULL-NOT:       dtc.g
  // FULL:           dtc.rms_norm %
  // FULL:           dtc.einsum "bd,df->bf"
  // FULL:           dtc.activation gelu
  // FULL-NOT:       dtc.einsum "bf,fd->bd"
  // FULL:           dtc.activation_grad
  // FULL:           dtc.g
  // CHECK:          return
  func.func private @layer(%x: !dtc.tensor<8x64xf32>, %g: !dtc.tensor<64xf32>, %w: !dtc.tensor<64x256{tp:2}xf32>, %u: !dtc.tensor<256{tp:2}x64xf32>) -> !dtc.tensor<8x64xf32> {
    %0 = dtc.rms_norm %x, %g {epsilon = 1.0e-5 : f64} : (!dtc.tensor<8x64xf32>, !dtc.tensor<64xf32>) -> !dtc.tensor<8x64xf32>
    %1 = dtc.f %0 over <tp:2> : (!dtc.tensor<8x64xf32>) -> !dtc.tensor<8x64xf32, replicate{tp:2}>
    %2 = dtc.einsum "bd,df->bf"(%1, %w) : (!dtc.tensor<8x64xf32, replicate{tp:2}>, !dtc.tensor<64x256{tp:2}xf32>) -> !dtc.tensor<8x256{tp:2}xf32>
    %3 = dtc.activation gelu %2 : (!dtc.tensor<8x256{tp:2}xf32>) -> !dtc.tensor<8x256{tp:2}xf32>
    %4 = dtc.einsum "bf,fd->bd"(%3, %u) : (!dtc.tensor<8x256{tp:2}xf32>, !dtc.tensor<256{tp:2}x64xf32>) -> !dtc.tensor<8x64xf32, partial{tp:2}>
    %5 = dtc.g %4 over <tp:2> : (!dtc.tensor<8x64xf32, partial{tp:2}>) -> !dtc.tensor<8x64xf32>
    %6 = dtc.add %x, %5 : (!dtc.tensor<8x64xf32>, !dtc.tensor<8x64xf32>) -> !dtc.tensor<8x64xf32>
    return %6 : !dtc.tensor<8x64xf32>
  }
  func.func @step(%x: !dtc.tensor<8x64xf32>) -> (!dtc.tensor<f32> {dtc.output = "loss"}) {
    %g = dtc.read param of @g : !dtc.tensor<64xf32>
    %w = dtc.read param of @w : !dtc.tensor<64x256{tp:2}xf32>
    %u = dtc.read param of @u : !dtc.tensor<256{tp:2}x64xf32>
    %0 = func.call @layer(%x, %g, %w, %u) : (!dtc.tensor<8x64xf32>, !dtc.tensor<64xf32>, !dtc.tensor<64x256{tp:2}xf32>, !dtc.tensor<256{tp:2}x64xf32>) -> !dtc.tensor<8x64xf32>
    %1 = func.call @layer(%0, %g, %w, %u) : (!dtc.tensor<8x64xf32>, !dtc.tensor<64xf32>, !dtc.tensor<64x256{tp:2}xf32>, !dtc.tensor<256{tp:2}x64xf32>) -> !dtc.tensor<8x64xf32>
    %2 = dtc.reduce_sum %1 over [0, 1] : (!dtc.tensor<8x64xf32>) -> !dtc.tensor<f32>
    return %2 : !dtc.tensor<f32>
  }
}
