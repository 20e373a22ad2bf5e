module {
  dtc.param @w0 : !dtc.tensor<11x8xf32> from "w0" [11, 8] view affine_map<(d0, d1) -> (d0, d1)> dims ["vocab", "embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w1 : !dtc.tensor<8xf32> from "w1" [8] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w2 : !dtc.tensor<8x2xf32> from "w2" [8, 2] view affine_map<(d0, d1) -> (d0, d1)> dims ["embed", "mlp"] {init = "normal", std = 4.0e-1}
  dtc.param @w3 : !dtc.tensor<2x8xf32> from "w3" [2, 8] view affine_map<(d0, d1) -> (d0, d1)> dims ["mlp", "embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w5 : !dtc.tensor<11x8xf32> from "w5" [11, 8] view affine_map<(d0, d1) -> (d0, d1)> dims ["vocab", "embed"] {init = "normal", std = 4.0e-1}
  func.func private @layer0(%x: !dtc.tensor<4x4x8xf32>, %p0: !dtc.tensor<8x1x2xf32>, %p1: !dtc.tensor<8x1x2xf32>, %p2: !dtc.tensor<1x2x8xf32>, %p6: !dtc.tensor<8x2xf32>, %p7: !dtc.tensor<8x2xf32>, %p8: !dtc.tensor<2x8xf32>) -> (!dtc.tensor<4x4x8xf32>) {
    %0 = dtc.einsum "bsd,dhe->bshe"(%x, %p0) {dtc.dims = ["batch", "seq", "heads", "head_dim"]} : (!dtc.tensor<4x4x8xf32>, !dtc.tensor<8x1x2xf32>) -> !dtc.tensor<4x4x1x2xf32>
    %1 = dtc.einsum "bsd,dhe->bshe"(%x, %p1) {dtc.dims = ["batch", "seq", "kv_heads", "head_dim"]} : (!dtc.tensor<4x4x8xf32>, !dtc.tensor<8x1x2xf32>) -> !dtc.tensor<4x4x1x2xf32>
    %2 = dtc.einsum "bsd,dhe->bshe"(%x, %p1) {dtc.dims = ["batch", "seq", "kv_heads", "head_dim"]} : (!dtc.tensor<4x4x8xf32>, !dtc.tensor<8x1x2xf32>) -> !dtc.tensor<4x4x1x2xf32>
    %3:2 = dtc.attention %0, %1, %2 at %pos, %pos {dtc.dims = ["batch", "seq", "heads", "head_dim"], scale = 6.0e-1, site = 2 : i64} : (!dtc.tensor<4x4x1x2xf32>, !dtc.tensor<4x4x1x2xf32>, !dtc.tensor<4x4x1x2xf32>, !dtc.tensor<4xi32>, !dtc.tensor<4xi32>) -> (!dtc.tensor<4x4x1x2xf32>, !dtc.tensor<4x4x1xf32>)
    %4 = dtc.einsum "bshe,hed->bsd"(%3#0, %p2) : (!dtc.tensor<4x4x1x2xf32>, !dtc.tensor<1x2x8xf32>) -> !dtc.tensor<4x4x8xf32>
    %5 = dtc.einsum "bsd,df->bsf"(%4, %p6) {dtc.dims = ["batch", "seq", "mlp"]} : (!dtc.tensor<4x4x8xf32>, !dtc.tensor<8x2xf32>) -> !dtc.tensor<4x4x2xf32>
    %6 = dtc.einsum "bsd,df->bsf"(%4, %p7) : (!dtc.tensor<4x4x8xf32>, !dtc.tensor<8x2xf32>) -> !dtc.tensor<4x4x2xf32>
    %7 = dtc.gated_product gelu_tanh %5, %6 : (!dtc.tensor<4x4x2xf32>, !dtc.tensor<4x4x2xf32>) -> !dtc.tensor<4x4x2xf32>
    %8 = dtc.einsum "bsf,fd->bsd"(%7, %p8) {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x4x2xf32>, !dtc.tensor<2x8xf32>) -> !dtc.tensor<4x4x8xf32>
    %9 = dtc.reduce_sum %8 over [1] : (!dtc.tensor<4x4x8xf32>) -> !dtc.tensor<4x8xf32>
    %10 = dtc.broadcast %9 along [1] : (!dtc.tensor<4x8xf32>) -> !dtc.tensor<4x4x8xf32>
    %11 = dtc.scale %10 by 0.2 : (!dtc.tensor<4x4x8xf32>) -> !dtc.tensor<4x4x8xf32>
    return %11 : !dtc.tensor<4x4x8xf32>
  }
  func.func private @layer1(%x: !dtc.tensor<4x4x8xf32>, %p0: !dtc.tensor<8xf32>) -> (!dtc.tensor<4x4x8xf32>) {
    %0 = dtc.reduce_sum %x over [2] : (!dtc.tensor<4x4x8xf32>) -> !dtc.tensor<4x4xf32>
    %1 = dtc.broadcast %0 along [2] : (!dtc.tensor<4x4xf32>) -> !dtc.tensor<4x4x8xf32>
    %2 = dtc.scale %1 by 0.2 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x4x8xf32>) -> !dtc.tensor<4x4x8xf32>
    %3 = dtc.rms_norm %2, %p0 {dtc.dims = ["batch", "norm_seq", "embed"], epsilon = 1.0e-2} : (!dtc.tensor<4x4x8xf32>, !dtc.tensor<8xf32>) -> !dtc.tensor<4x4x8xf32>
    %4 = dtc.multiply %3, %3 : (!dtc.tensor<4x4x8xf32>, !dtc.tensor<4x4x8xf32>) -> !dtc.tensor<4x4x8xf32>
    %5 = dtc.scale %4 by 0.3 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x4x8xf32>) -> !dtc.tensor<4x4x8xf32>
    return %5 : !dtc.tensor<4x4x8xf32>
  }
  func.func @model(%ids: !dtc.tensor<4x4xi32> {dtc.input = "input_ids", dtc.dims = ["batch", "seq"]}, %labels: !dtc.tensor<4x4xi32> {dtc.input = "labels", dtc.dims = ["batch", "seq"]})
      -> (!dtc.tensor<f32> {dtc.output = "loss"}, !dtc.tensor<i32> {dtc.output = "labels"}) {
    %w0 = dtc.read param of @w0 : !dtc.tensor<11x8xf32>
    %w1 = dtc.read param of @w1 : !dtc.tensor<8xf32>
    %w2 = dtc.read param of @w2 : !dtc.tensor<8x2xf32>
    %w3 = dtc.read param of @w3 : !dtc.tensor<2x8xf32>
    %w5 = dtc.read param of @w5 : !dtc.tensor<11x8xf32>
    %0 = dtc.embedding %w0[%ids] {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<11x8xf32>, !dtc.tensor<4x4xi32>) -> !dtc.tensor<4x4x8xf32>
    %1 = dtc.einsum "bsd,df->bsf"(%0, %w2) {dtc.dims = ["batch", "seq", "mlp"]} : (!dtc.tensor<4x4x8xf32>, !dtc.tensor<8x2xf32>) -> !dtc.tensor<4x4x2xf32>
    %2 = dtc.activation silu %1 : (!dtc.tensor<4x4x2xf32>) -> !dtc.tensor<4x4x2xf32>
    %3 = dtc.einsum "bsf,fd->bsd"(%2, %w3) {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x4x2xf32>, !dtc.tensor<2x8xf32>) -> !dtc.tensor<4x4x8xf32>
    %4 = dtc.rms_norm %3, %w1 {dtc.dims = ["batch", "norm_seq", "embed"], epsilon = 1.0e-2} : (!dtc.tensor<4x4x8xf32>, !dtc.tensor<8xf32>) -> !dtc.tensor<4x4x8xf32>
    %5 = dtc.einsum "bsd,vd->bsv"(%4, %w5) {dtc.dims = ["batch", "seq", "vocab"]} : (!dtc.tensor<4x4x8xf32>, !dtc.tensor<11x8xf32>) -> !dtc.tensor<4x4x11xf32>
    %6:2 = dtc.cross_entropy %5, %labels : (!dtc.tensor<4x4x11xf32>, !dtc.tensor<4x4xi32>) -> (!dtc.tensor<f32>, !dtc.tensor<4x4xf32>)
    %n = dtc.count_labels %labels : (!dtc.tensor<4x4xi32>) -> !dtc.tensor<i32>
    %loss = dtc.divide %6#0, %n : (!dtc.tensor<f32>, !dtc.tensor<i32>) -> !dtc.tensor<f32>
    return %loss, %n : !dtc.tensor<f32>, !dtc.tensor<i32>
  }
}
