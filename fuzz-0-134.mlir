module {
  dtc.param @w0 : !dtc.tensor<4x4xf32> from "w0" [16] view affine_map<(d0, d1) -> (d0 * 4 + d1)> dims ["vocab", "embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w1 : !dtc.tensor<4xf32> from "w1" [4] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w4 : !dtc.tensor<3xf32> from "w4" [3] view affine_map<(d0) -> (d0)> dims ["mlp"] {init = "normal", std = 4.0e-1}
  dtc.param @w6 : !dtc.tensor<4x3xf32> from "w6" [4, 3] view affine_map<(d0, d1) -> (d0, d1)> dims ["embed", "mlp"] {init = "normal", std = 4.0e-1}
  dtc.param @w10 : !dtc.tensor<3x4xf32> from "w10" [4, 3] view affine_map<(d0, d1) -> (d1, d0)> dims ["mlp", "embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w12 : !dtc.tensor<2x2xf32> from "w12" [4] view affine_map<(d0, d1) -> (d0 * 2 + d1)> dims ["seq_in", "seq_out"] {init = "normal", std = 4.0e-1}
  dtc.param @w13 : !dtc.tensor<4x3xf32> from "w13" [4, 3] view affine_map<(d0, d1) -> (d0, d1)> dims ["embed", "mlp"] {init = "normal", std = 4.0e-1}
  dtc.param @w14 : !dtc.tensor<3x4xf32> from "w14" [3, 4] view affine_map<(d0, d1) -> (d0, d1)> dims ["mlp", "embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w15 : !dtc.tensor<4xf32> from "w15" [4] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w16 : !dtc.tensor<4x4xf32> from "w16" [16] view affine_map<(d0, d1) -> (d0 * 4 + d1)> dims ["vocab", "embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w17 : !dtc.tensor<4x4xf32> from "w17" [4, 4] view affine_map<(d0, d1) -> (d0, d1)> dims ["vocab", "embed"] {init = "normal", std = 4.0e-1}
  func.func private @layer0(%x: !dtc.tensor<8x2x4xf32>, %p0: !dtc.tensor<4x3xf32>, %p1: !dtc.tensor<3x4xf32>, %ids: !dtc.tensor<8x2xi32>) -> (!dtc.tensor<8x2x4xf32>) {
    %0 = dtc.einsum "bsd,df->bsf"(%x, %p0) {dtc.dims = ["batch", "seq", "mlp"]} : (!dtc.tensor<8x2x4xf32>, !dtc.tensor<4x3xf32>) -> !dtc.tensor<8x2x3xf32>
    %1 = dtc.activation gelu %0 : (!dtc.tensor<8x2x3xf32>) -> !dtc.tensor<8x2x3xf32>
    %2 = dtc.einsum "bsf,fd->bsd"(%1, %p1) : (!dtc.tensor<8x2x3xf32>, !dtc.tensor<3x4xf32>) -> !dtc.tensor<8x2x4xf32>
    %3 = dtc.reduce_sum %x over [1] : (!dtc.tensor<8x2x4xf32>) -> !dtc.tensor<8x4xf32>
    %4 = dtc.broadcast %3 along [1] : (!dtc.tensor<8x4xf32>) -> !dtc.tensor<8x2x4xf32>
    %5 = dtc.scale %4 by 0.2 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<8x2x4xf32>) -> !dtc.tensor<8x2x4xf32>
    %6 = dtc.add %x, %5 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<8x2x4xf32>, !dtc.tensor<8x2x4xf32>) -> !dtc.tensor<8x2x4xf32>
    return %6 : !dtc.tensor<8x2x4xf32>
  }
  func.func private @layer1(%x: !dtc.tensor<8x2x4xf32>, %p0: !dtc.tensor<4xf32>, %p1: !dtc.tensor<4x1x2xf32>, %p2: !dtc.tensor<4x1x2xf32>, %p3: !dtc.tensor<1x2x4xf32>, %p7: !dtc.tensor<4x3xf32>, %p8: !dtc.tensor<3x4xf32>, %p10: !dtc.tensor<4x1x2xf32>, %p11: !dtc.tensor<4x1x2xf32>, %p12: !dtc.tensor<1x2x4xf32>, %ids: !dtc.tensor<8x2xi32>) -> (!dtc.tensor<8x2x4xf32>, !dtc.tensor<8x2x4xf32>) {
    %0 = dtc.add %x, %p0 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<8x2x4xf32>, !dtc.tensor<4xf32>) -> !dtc.tensor<8x2x4xf32>
    %1 = dtc.einsum "bsd,dhe->bshe"(%0, %p1) {dtc.dims = ["batch", "seq", "heads", "head_dim"]} : (!dtc.tensor<8x2x4xf32>, !dtc.tensor<4x1x2xf32>) -> !dtc.tensor<8x2x1x2xf32>
    %2 = dtc.einsum "bsd,dhe->bshe"(%0, %p2) {dtc.dims = ["batch", "seq", "kv_heads", "head_dim"]} : (!dtc.tensor<8x2x4xf32>, !dtc.tensor<4x1x2xf32>) -> !dtc.tensor<8x2x1x2xf32>
    %3 = dtc.einsum "bsd,dhe->bshe"(%0, %p2) {dtc.dims = ["batch", "seq", "kv_heads", "head_dim"]} : (!dtc.tensor<8x2x4xf32>, !dtc.tensor<4x1x2xf32>) -> !dtc.tensor<8x2x1x2xf32>
    %4:2 = dtc.attention %1, %2, %3 at %pos, %pos {dtc.dims = ["batch", "seq", "heads", "head_dim"], scale = 6.0e-1, site = 10 : i64, causal} : (!dtc.tensor<8x2x1x2xf32>, !dtc.tensor<8x2x1x2xf32>, !dtc.tensor<8x2x1x2xf32>, !dtc.tensor<2xi32>, !dtc.tensor<2xi32>) -> (!dtc.tensor<8x2x1x2xf32>, !dtc.tensor<8x2x1xf32>)
    %5 = dtc.einsum "bshe,hed->bsd"(%4#0, %p3) {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<8x2x1x2xf32>, !dtc.tensor<1x2x4xf32>) -> !dtc.tensor<8x2x4xf32>
    %6:1 = call @layer0(%5, %p7, %p8, %ids) : (!dtc.tensor<8x2x4xf32>, !dtc.tensor<4x3xf32>, !dtc.tensor<3x4xf32>, !dtc.tensor<8x2xi32>) -> (!dtc.tensor<8x2x4xf32>)
    %7 = dtc.einsum "bsd,dhe->bshe"(%5, %p10) {dtc.dims = ["batch", "seq", "heads", "head_dim"]} : (!dtc.tensor<8x2x4xf32>, !dtc.tensor<4x1x2xf32>) -> !dtc.tensor<8x2x1x2xf32>
    %8 = dtc.einsum "bsd,dhe->bshe"(%5, %p2) {dtc.dims = ["batch", "seq", "kv_heads", "head_dim"]} : (!dtc.tensor<8x2x4xf32>, !dtc.tensor<4x1x2xf32>) -> !dtc.tensor<8x2x1x2xf32>
    %9 = dtc.einsum "bsd,dhe->bshe"(%5, %p11) {dtc.dims = ["batch", "seq", "kv_heads", "head_dim"]} : (!dtc.tensor<8x2x4xf32>, !dtc.tensor<4x1x2xf32>) -> !dtc.tensor<8x2x1x2xf32>
    %10 = dtc.rotary %7, %pos {dtc.dims = ["batch", "seq", "heads", "head_dim"], theta = 1.0e+2} : (!dtc.tensor<8x2x1x2xf32>, !dtc.tensor<2xi32>) -> !dtc.tensor<8x2x1x2xf32>
    %11 = dtc.rotary %8, %pos {dtc.dims = ["batch", "seq", "kv_heads", "head_dim"], theta = 1.0e+2} : (!dtc.tensor<8x2x1x2xf32>, !dtc.tensor<2xi32>) -> !dtc.tensor<8x2x1x2xf32>
    %12:2 = dtc.attention %10, %11, %9 at %pos, %pos {dtc.dims = ["batch", "seq", "heads", "head_dim"], scale = 6.0e-1, site = 13 : i64, causal} : (!dtc.tensor<8x2x1x2xf32>, !dtc.tensor<8x2x1x2xf32>, !dtc.tensor<8x2x1x2xf32>, !dtc.tensor<2xi32>, !dtc.tensor<2xi32>) -> (!dtc.tensor<8x2x1x2xf32>, !dtc.tensor<8x2x1xf32>)
    %13 = dtc.einsum "bshe,hed->bsd"(%12#0, %p12) : (!dtc.tensor<8x2x1x2xf32>, !dtc.tensor<1x2x4xf32>) -> !dtc.tensor<8x2x4xf32>
    return %13, %13 : !dtc.tensor<8x2x4xf32>, !dtc.tensor<8x2x4xf32>
  }
  func.func private @layer2(%x: !dtc.tensor<8x2x4xf32>, %p0: !dtc.tensor<4x3xf32>, %p1: !dtc.tensor<3x4xf32>, %p3: !dtc.tensor<4xf32>, %p4: !dtc.tensor<4x3xf32>, %p5: !dtc.tensor<4x3xf32>, %p6: !dtc.tensor<3x4xf32>, %ids: !dtc.tensor<8x2xi32>) -> (!dtc.tensor<8x2x4xf32>) {
    %0 = dtc.einsum "bsd,df->bsf"(%x, %p0) {dtc.dims = ["batch", "seq", "mlp"]} : (!dtc.tensor<8x2x4xf32>, !dtc.tensor<4x3xf32>) -> !dtc.tensor<8x2x3xf32>
    %1 = dtc.activation silu %0 : (!dtc.tensor<8x2x3xf32>) -> !dtc.tensor<8x2x3xf32>
    %2 = dtc.einsum "bsf,fd->bsd"(%1, %p1) : (!dtc.tensor<8x2x3xf32>, !dtc.tensor<3x4xf32>) -> !dtc.tensor<8x2x4xf32>
    %3 = dtc.layer_norm %2, %p3, %p3 {dtc.dims = ["batch", "norm_seq", "embed"], epsilon = 1.0e-2} : (!dtc.tensor<8x2x4xf32>, !dtc.tensor<4xf32>, !dtc.tensor<4xf32>) -> !dtc.tensor<8x2x4xf32>
    %4 = dtc.einsum "bsd,df->bsf"(%3, %p4) {dtc.dims = ["batch", "seq", "mlp"]} : (!dtc.tensor<8x2x4xf32>, !dtc.tensor<4x3xf32>) -> !dtc.tensor<8x2x3xf32>
    %5 = dtc.einsum "bsd,df->bsf"(%2, %p5) : (!dtc.tensor<8x2x4xf32>, !dtc.tensor<4x3xf32>) -> !dtc.tensor<8x2x3xf32>
    %6 = dtc.gated_product gelu %4, %5 : (!dtc.tensor<8x2x3xf32>, !dtc.tensor<8x2x3xf32>) -> !dtc.tensor<8x2x3xf32>
    %7 = dtc.einsum "bsf,fd->bsd"(%6, %p6) {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<8x2x3xf32>, !dtc.tensor<3x4xf32>) -> !dtc.tensor<8x2x4xf32>
    %8 = dtc.add %3, %3 : (!dtc.tensor<8x2x4xf32>, !dtc.tensor<8x2x4xf32>) -> !dtc.tensor<8x2x4xf32>
    return %8 : !dtc.tensor<8x2x4xf32>
  }
  func.func @model(%ids: !dtc.tensor<8x2xi32> {dtc.input = "input_ids", dtc.dims = ["batch", "seq"]}, %labels: !dtc.tensor<8x2xi32> {dtc.input = "labels", dtc.dims = ["batch", "seq"]})
      -> (!dtc.tensor<f32> {dtc.output = "loss"}, !dtc.tensor<i32> {dtc.output = "labels"}) {
    %w0 = dtc.read param of @w0 : !dtc.tensor<4x4xf32>
    %w1 = dtc.read param of @w1 : !dtc.tensor<4xf32>
    %w4 = dtc.read param of @w4 : !dtc.tensor<3xf32>
    %w6 = dtc.read param of @w6 : !dtc.tensor<4x3xf32>
    %w10 = dtc.read param of @w10 : !dtc.tensor<3x4xf32>
    %w12 = dtc.read param of @w12 : !dtc.tensor<2x2xf32>
    %w13 = dtc.read param of @w13 : !dtc.tensor<4x3xf32>
    %w14 = dtc.read param of @w14 : !dtc.tensor<3x4xf32>
    %w15 = dtc.read param of @w15 : !dtc.tensor<4xf32>
    %w16 = dtc.read param of @w16 : !dtc.tensor<4x4xf32>
    %w17 = dtc.read param of @w17 : !dtc.tensor<4x4xf32>
    %0 = dtc.embedding %w0[%ids] {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x4xf32>, !dtc.tensor<8x2xi32>) -> !dtc.tensor<8x2x4xf32>
    %1:1 = call @layer0(%0, %w6, %w10, %ids) : (!dtc.tensor<8x2x4xf32>, !dtc.tensor<4x3xf32>, !dtc.tensor<3x4xf32>, !dtc.tensor<8x2xi32>) -> (!dtc.tensor<8x2x4xf32>)
    %2 = dtc.einsum "bsd,st->btd"(%0, %w12) {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<8x2x4xf32>, !dtc.tensor<2x2xf32>) -> !dtc.tensor<8x2x4xf32>
    %3 = dtc.einsum "bsd,df->bsf"(%2, %w13) {dtc.dims = ["batch", "seq", "mlp"]} : (!dtc.tensor<8x2x4xf32>, !dtc.tensor<4x3xf32>) -> !dtc.tensor<8x2x3xf32>
    %4 = dtc.add %3, %w4 {dtc.dims = ["batch", "seq", "mlp"]} : (!dtc.tensor<8x2x3xf32>, !dtc.tensor<3xf32>) -> !dtc.tensor<8x2x3xf32>
    %5 = dtc.activation gelu_tanh %4 : (!dtc.tensor<8x2x3xf32>) -> !dtc.tensor<8x2x3xf32>
    %6 = dtc.einsum "bsf,fd->bsd"(%5, %w14) : (!dtc.tensor<8x2x3xf32>, !dtc.tensor<3x4xf32>) -> !dtc.tensor<8x2x4xf32>
    %7 = dtc.add %6, %w15 : (!dtc.tensor<8x2x4xf32>, !dtc.tensor<4xf32>) -> !dtc.tensor<8x2x4xf32>
    %8 = dtc.scale %2 by 0.5 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<8x2x4xf32>) -> !dtc.tensor<8x2x4xf32>
    %9 = dtc.embedding %w16[%ids] {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x4xf32>, !dtc.tensor<8x2xi32>) -> !dtc.tensor<8x2x4xf32>
    %10 = dtc.add %7, %9 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<8x2x4xf32>, !dtc.tensor<8x2x4xf32>) -> !dtc.tensor<8x2x4xf32>
    %11 = dtc.rms_norm %10, %w1 {dtc.dims = ["batch", "norm_seq", "embed"], epsilon = 1.0e-2} : (!dtc.tensor<8x2x4xf32>, !dtc.tensor<4xf32>) -> !dtc.tensor<8x2x4xf32>
    %12 = dtc.einsum "bsd,vd->bsv"(%11, %w17) {dtc.dims = ["batch", "seq", "vocab"]} : (!dtc.tensor<8x2x4xf32>, !dtc.tensor<4x4xf32>) -> !dtc.tensor<8x2x4xf32>
    %13:2 = dtc.cross_entropy %12, %labels : (!dtc.tensor<8x2x4xf32>, !dtc.tensor<8x2xi32>) -> (!dtc.tensor<f32>, !dtc.tensor<8x2xf32>)
    %n = dtc.count_labels %labels : (!dtc.tensor<8x2xi32>) -> !dtc.tensor<i32>
    %loss = dtc.divide %13#0, %n : (!dtc.tensor<f32>, !dtc.tensor<i32>) -> !dtc.tensor<f32>
    return %loss, %n : !dtc.tensor<f32>, !dtc.tensor<i32>
  }
}
