module {
  dtc.param @w0 : !dtc.tensor<7x8xf32> from "w0" [56] view affine_map<(d0, d1) -> (d0 * 8 + d1)> dims ["vocab", "embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w1 : !dtc.tensor<8xf32> from "w1" [8] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w2 : !dtc.tensor<7x8xf32> from "w2" [56] view affine_map<(d0, d1) -> (d0 * 8 + d1)> dims ["vocab", "embed"] {init = "normal", std = 4.0e-1}
  func.func private @layer0(%x: !dtc.tensor<2x4x8xf32>, %p0: !dtc.tensor<8x4x2xf32>, %p1: !dtc.tensor<4x2x8xf32>, %p3: !dtc.tensor<8x2xf32>, %p4: !dtc.tensor<8x2xf32>, %p5: !dtc.tensor<2x8xf32>, %p6: !dtc.tensor<4x2x8xf32>, %p8: !dtc.tensor<8xf32>, %p9: !dtc.tensor<8xf32>) -> (!dtc.tensor<2x4x8xf32>, !dtc.tensor<2x4x8xf32>) {
    %0 = dtc.einsum "bsd,dhe->bshe"(%x, %p0) {dtc.dims = ["batch", "seq", "heads", "head_dim"]} : (!dtc.tensor<2x4x8xf32>, !dtc.tensor<8x4x2xf32>) -> !dtc.tensor<2x4x4x2xf32>
    %1 = dtc.activation gelu %0 : (!dtc.tensor<2x4x4x2xf32>) -> !dtc.tensor<2x4x4x2xf32>
    %2 = dtc.einsum "bshe,hed->bsd"(%1, %p1) : (!dtc.tensor<2x4x4x2xf32>, !dtc.tensor<4x2x8xf32>) -> !dtc.tensor<2x4x8xf32>
    %3 = dtc.einsum "bsd,df->bsf"(%2, %p3) : (!dtc.tensor<2x4x8xf32>, !dtc.tensor<8x2xf32>) -> !dtc.tensor<2x4x2xf32>
    %4 = dtc.einsum "bsd,df->bsf"(%x, %p4) : (!dtc.tensor<2x4x8xf32>, !dtc.tensor<8x2xf32>) -> !dtc.tensor<2x4x2xf32>
    %5 = dtc.gated_product silu %3, %4 : (!dtc.tensor<2x4x2xf32>, !dtc.tensor<2x4x2xf32>) -> !dtc.tensor<2x4x2xf32>
    %6 = dtc.einsum "bsf,fd->bsd"(%5, %p5) : (!dtc.tensor<2x4x2xf32>, !dtc.tensor<2x8xf32>) -> !dtc.tensor<2x4x8xf32>
    %7 = dtc.einsum "bsd,dhe->bshe"(%6, %p0) {dtc.dims = ["batch", "seq", "heads", "head_dim"]} : (!dtc.tensor<2x4x8xf32>, !dtc.tensor<8x4x2xf32>) -> !dtc.tensor<2x4x4x2xf32>
    %8 = dtc.activation gelu_tanh %7 : (!dtc.tensor<2x4x4x2xf32>) -> !dtc.tensor<2x4x4x2xf32>
    %9 = dtc.einsum "bshe,hed->bsd"(%8, %p6) {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<2x4x4x2xf32>, !dtc.tensor<4x2x8xf32>) -> !dtc.tensor<2x4x8xf32>
    %10 = dtc.rms_norm %9, %p8 {dtc.dims = ["batch", "norm_seq", "embed"], epsilon = 1.0e-2} : (!dtc.tensor<2x4x8xf32>, !dtc.tensor<8xf32>) -> !dtc.tensor<2x4x8xf32>
    %11 = dtc.rms_norm %10, %p9 {dtc.dims = ["batch", "norm_seq", "embed"], epsilon = 1.0e-2} : (!dtc.tensor<2x4x8xf32>, !dtc.tensor<8xf32>) -> !dtc.tensor<2x4x8xf32>
    %12 = dtc.add %x, %11 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<2x4x8xf32>, !dtc.tensor<2x4x8xf32>) -> !dtc.tensor<2x4x8xf32>
    return %12, %11 : !dtc.tensor<2x4x8xf32>, !dtc.tensor<2x4x8xf32>
  }
  func.func private @layer1(%x: !dtc.tensor<2x4x8xf32>, %p0: !dtc.tensor<8x8xf32>) -> (!dtc.tensor<2x4x8xf32>) {
    %0 = dtc.einsum "bsd,de->bse"(%x, %p0) {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<2x4x8xf32>, !dtc.tensor<8x8xf32>) -> !dtc.tensor<2x4x8xf32>
    return %0 : !dtc.tensor<2x4x8xf32>
  }
  func.func private @layer2(%x: !dtc.tensor<2x4x8xf32>, %p0: !dtc.tensor<8x4x2xf32>, %p1: !dtc.tensor<8x1x2xf32>, %p2: !dtc.tensor<8x1x2xf32>, %p3: !dtc.tensor<4x2x8xf32>, %p7: !dtc.tensor<8x2xf32>, %p8: !dtc.tensor<8x2xf32>, %p9: !dtc.tensor<2x8xf32>) -> (!dtc.tensor<2x4x8xf32>) {
    %0 = dtc.einsum "bsd,dhe->bshe"(%x, %p0) {dtc.dims = ["batch", "seq", "heads", "head_dim"]} : (!dtc.tensor<2x4x8xf32>, !dtc.tensor<8x4x2xf32>) -> !dtc.tensor<2x4x4x2xf32>
    %1 = dtc.einsum "bsd,dhe->bshe"(%x, %p1) {dtc.dims = ["batch", "seq", "kv_heads", "head_dim"]} : (!dtc.tensor<2x4x8xf32>, !dtc.tensor<8x1x2xf32>) -> !dtc.tensor<2x4x1x2xf32>
    %2 = dtc.einsum "bsd,dhe->bshe"(%x, %p2) {dtc.dims = ["batch", "seq", "kv_heads", "head_dim"]} : (!dtc.tensor<2x4x8xf32>, !dtc.tensor<8x1x2xf32>) -> !dtc.tensor<2x4x1x2xf32>
    %3:2 = dtc.attention %0, %1, %2 at %pos, %pos {dtc.dims = ["batch", "seq", "heads", "head_dim"], scale = 6.0e-1, site = 3 : i64} : (!dtc.tensor<2x4x4x2xf32>, !dtc.tensor<2x4x1x2xf32>, !dtc.tensor<2x4x1x2xf32>, !dtc.tensor<4xi32>, !dtc.tensor<4xi32>) -> (!dtc.tensor<2x4x4x2xf32>, !dtc.tensor<2x4x4xf32>)
    %4 = dtc.einsum "bshe,hed->bsd"(%3#0, %p3) {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<2x4x4x2xf32>, !dtc.tensor<4x2x8xf32>) -> !dtc.tensor<2x4x8xf32>
    %5 = dtc.einsum "bsd,df->bsf"(%4, %p7) : (!dtc.tensor<2x4x8xf32>, !dtc.tensor<8x2xf32>) -> !dtc.tensor<2x4x2xf32>
    %6 = dtc.einsum "bsd,df->bsf"(%4, %p8) : (!dtc.tensor<2x4x8xf32>, !dtc.tensor<8x2xf32>) -> !dtc.tensor<2x4x2xf32>
    %7 = dtc.gated_product gelu %5, %6 : (!dtc.tensor<2x4x2xf32>, !dtc.tensor<2x4x2xf32>) -> !dtc.tensor<2x4x2xf32>
    %8 = dtc.einsum "bsf,fd->bsd"(%7, %p9) {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<2x4x2xf32>, !dtc.tensor<2x8xf32>) -> !dtc.tensor<2x4x8xf32>
    %9 = dtc.add %8, %4 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<2x4x8xf32>, !dtc.tensor<2x4x8xf32>) -> !dtc.tensor<2x4x8xf32>
    %10 = dtc.add %x, %9 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<2x4x8xf32>, !dtc.tensor<2x4x8xf32>) -> !dtc.tensor<2x4x8xf32>
    return %10 : !dtc.tensor<2x4x8xf32>
  }
  func.func @model(%ids: !dtc.tensor<2x4xi32> {dtc.input = "input_ids", dtc.dims = ["batch", "seq"]}, %labels: !dtc.tensor<2x4xi32> {dtc.input = "labels", dtc.dims = ["batch", "seq"]})
      -> (!dtc.tensor<f32> {dtc.output = "loss"}, !dtc.tensor<i32> {dtc.output = "labels"}) {
    %w0 = dtc.read param of @w0 : !dtc.tensor<7x8xf32>
    %w1 = dtc.read param of @w1 : !dtc.tensor<8xf32>
    %w2 = dtc.read param of @w2 : !dtc.tensor<7x8xf32>
    %0 = dtc.embedding %w0[%ids] {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<7x8xf32>, !dtc.tensor<2x4xi32>) -> !dtc.tensor<2x4x8xf32>
    %1 = dtc.reduce_sum %0 over [1] : (!dtc.tensor<2x4x8xf32>) -> !dtc.tensor<2x8xf32>
    %2 = dtc.broadcast %1 along [1] : (!dtc.tensor<2x8xf32>) -> !dtc.tensor<2x4x8xf32>
    %3 = dtc.scale %2 by 0.2 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<2x4x8xf32>) -> !dtc.tensor<2x4x8xf32>
    %4 = dtc.add %0, %3 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<2x4x8xf32>, !dtc.tensor<2x4x8xf32>) -> !dtc.tensor<2x4x8xf32>
    %5 = dtc.rms_norm %4, %w1 {dtc.dims = ["batch", "norm_seq", "embed"], epsilon = 1.0e-2} : (!dtc.tensor<2x4x8xf32>, !dtc.tensor<8xf32>) -> !dtc.tensor<2x4x8xf32>
    %6 = dtc.einsum "bsd,vd->bsv"(%5, %w2) {dtc.dims = ["batch", "seq", "vocab"]} : (!dtc.tensor<2x4x8xf32>, !dtc.tensor<7x8xf32>) -> !dtc.tensor<2x4x7xf32>
    %7:2 = dtc.cross_entropy %6, %labels : (!dtc.tensor<2x4x7xf32>, !dtc.tensor<2x4xi32>) -> (!dtc.tensor<f32>, !dtc.tensor<2x4xf32>)
    %8 = dtc.reduce_sum %4 over [0, 1, 2] : (!dtc.tensor<2x4x8xf32>) -> !dtc.tensor<f32>
    %9 = dtc.scale %8 by 0.01 : (!dtc.tensor<f32>) -> !dtc.tensor<f32>
    %10 = dtc.add %7#0, %9 : (!dtc.tensor<f32>, !dtc.tensor<f32>) -> !dtc.tensor<f32>
    %n = dtc.count_labels %labels : (!dtc.tensor<2x4xi32>) -> !dtc.tensor<i32>
    %loss = dtc.divide %10, %n : (!dtc.tensor<f32>, !dtc.tensor<i32>) -> !dtc.tensor<f32>
    return %loss, %n : !dtc.tensor<f32>, !dtc.tensor<i32>
  }
}
