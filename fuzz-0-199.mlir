module {
  dtc.param @w0 : !dtc.tensor<11x4xf32> from "w0" [11, 4] view affine_map<(d0, d1) -> (d0, d1)> dims ["vocab", "embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w1 : !dtc.tensor<4xf32> from "w1" [4] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "normal", std = 4.0e-1}
  func.func private @layer0(%x: !dtc.tensor<6x4x4xf32>, %p0: !dtc.tensor<4xf32>, %p1: !dtc.tensor<4xf32>, %p2: !dtc.tensor<4x4x4xf32>, %p3: !dtc.tensor<4x4x4xf32>, %p4: !dtc.tensor<4x4xf32>, %p5: !dtc.tensor<4x4x4xf32>, %p6: !dtc.tensor<4x4x4xf32>, %p7: !dtc.tensor<4x4x4xf32>, %p8: !dtc.tensor<4x4x4xf32>, %p9: !dtc.tensor<4xf32>, %p10: !dtc.tensor<4xf32>) -> (!dtc.tensor<6x4x4xf32>) {
    %0 = dtc.layer_norm %x, %p0, %p1 {epsilon = 1.0e-2} : (!dtc.tensor<6x4x4xf32>, !dtc.tensor<4xf32>, !dtc.tensor<4xf32>) -> !dtc.tensor<6x4x4xf32>
    %1 = dtc.einsum "bsd,dhe->bshe"(%0, %p2) {dtc.dims = ["batch", "seq", "heads", "head_dim"]} : (!dtc.tensor<6x4x4xf32>, !dtc.tensor<4x4x4xf32>) -> !dtc.tensor<6x4x4x4xf32>
    %2 = dtc.activation gelu_tanh %1 : (!dtc.tensor<6x4x4x4xf32>) -> !dtc.tensor<6x4x4x4xf32>
    %3 = dtc.einsum "bshe,hed->bsd"(%2, %p3) {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<6x4x4x4xf32>, !dtc.tensor<4x4x4xf32>) -> !dtc.tensor<6x4x4xf32>
    %4 = dtc.einsum "bsd,dhe->bshe"(%3, %p5) {dtc.dims = ["batch", "seq", "heads", "head_dim"]} : (!dtc.tensor<6x4x4xf32>, !dtc.tensor<4x4x4xf32>) -> !dtc.tensor<6x4x4x4xf32>
    %5 = dtc.add %4, %p4 {dtc.dims = ["batch", "seq", "heads", "head_dim"]} : (!dtc.tensor<6x4x4x4xf32>, !dtc.tensor<4x4xf32>) -> !dtc.tensor<6x4x4x4xf32>
    %6 = dtc.rms_norm %5, %p10 {epsilon = 1.0e-2} : (!dtc.tensor<6x4x4x4xf32>, !dtc.tensor<4xf32>) -> !dtc.tensor<6x4x4x4xf32>
    %7 = dtc.einsum "bsd,dhe->bshe"(%3, %p6) {dtc.dims = ["batch", "seq", "kv_heads", "head_dim"]} : (!dtc.tensor<6x4x4xf32>, !dtc.tensor<4x4x4xf32>) -> !dtc.tensor<6x4x4x4xf32>
    %8 = dtc.einsum "bsd,dhe->bshe"(%3, %p7) {dtc.dims = ["batch", "seq", "kv_heads", "head_dim"]} : (!dtc.tensor<6x4x4xf32>, !dtc.tensor<4x4x4xf32>) -> !dtc.tensor<6x4x4x4xf32>
    %9 = dtc.rotary %6, %pos {dtc.dims = ["batch", "seq", "heads", "head_dim"], theta = 1.0e+2} : (!dtc.tensor<6x4x4x4xf32>, !dtc.tensor<4xi32>) -> !dtc.tensor<6x4x4x4xf32>
    %10 = dtc.rotary %7, %pos {dtc.dims = ["batch", "seq", "kv_heads", "head_dim"], theta = 1.0e+2} : (!dtc.tensor<6x4x4x4xf32>, !dtc.tensor<4xi32>) -> !dtc.tensor<6x4x4x4xf32>
    %11:2 = dtc.attention %9, %10, %8 at %pos, %pos {dtc.dims = ["batch", "seq", "heads", "head_dim"], scale = 6.0e-1, site = 5 : i64, causal} : (!dtc.tensor<6x4x4x4xf32>, !dtc.tensor<6x4x4x4xf32>, !dtc.tensor<6x4x4x4xf32>, !dtc.tensor<4xi32>, !dtc.tensor<4xi32>) -> (!dtc.tensor<6x4x4x4xf32>, !dtc.tensor<6x4x4xf32>)
    %12 = dtc.einsum "bshe,hed->bsd"(%11#0, %p8) : (!dtc.tensor<6x4x4x4xf32>, !dtc.tensor<4x4x4xf32>) -> !dtc.tensor<6x4x4xf32>
    %13 = dtc.add %12, %p9 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<6x4x4xf32>, !dtc.tensor<4xf32>) -> !dtc.tensor<6x4x4xf32>
    %14 = dtc.multiply %13, %13 : (!dtc.tensor<6x4x4xf32>, !dtc.tensor<6x4x4xf32>) -> !dtc.tensor<6x4x4xf32>
    %15 = dtc.scale %14 by 0.3 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<6x4x4xf32>) -> !dtc.tensor<6x4x4xf32>
    %16 = dtc.scale %15 by 0.5 : (!dtc.tensor<6x4x4xf32>) -> !dtc.tensor<6x4x4xf32>
    %17 = dtc.add %x, %16 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<6x4x4xf32>, !dtc.tensor<6x4x4xf32>) -> !dtc.tensor<6x4x4xf32>
    return %17 : !dtc.tensor<6x4x4xf32>
  }
  func.func @model(%ids: !dtc.tensor<6x4xi32> {dtc.input = "input_ids", dtc.dims = ["batch", "seq"]}, %labels: !dtc.tensor<6x4xi32> {dtc.input = "labels", dtc.dims = ["batch", "seq"]})
      -> (!dtc.tensor<f32> {dtc.output = "loss"}, !dtc.tensor<i32> {dtc.output = "labels"}) {
    %w0 = dtc.read param of @w0 : !dtc.tensor<11x4xf32>
    %w1 = dtc.read param of @w1 : !dtc.tensor<4xf32>
    %0 = dtc.embedding %w0[%ids] {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<11x4xf32>, !dtc.tensor<6x4xi32>) -> !dtc.tensor<6x4x4xf32>
    %1 = dtc.einsum "bsd,bsd->bs"(%0, %0) : (!dtc.tensor<6x4x4xf32>, !dtc.tensor<6x4x4xf32>) -> !dtc.tensor<6x4xf32>
    %2 = dtc.einsum "bs,bsd->bsd"(%1, %0) : (!dtc.tensor<6x4xf32>, !dtc.tensor<6x4x4xf32>) -> !dtc.tensor<6x4x4xf32>
    %3 = dtc.scale %2 by 0.1 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<6x4x4xf32>) -> !dtc.tensor<6x4x4xf32>
    %4 = dtc.rms_norm %3, %w1 {dtc.dims = ["batch", "norm_seq", "embed"], epsilon = 1.0e-2} : (!dtc.tensor<6x4x4xf32>, !dtc.tensor<4xf32>) -> !dtc.tensor<6x4x4xf32>
    %5 = dtc.einsum "bsd,vd->bsv"(%4, %w0) {dtc.dims = ["batch", "seq", "vocab"]} : (!dtc.tensor<6x4x4xf32>, !dtc.tensor<11x4xf32>) -> !dtc.tensor<6x4x11xf32>
    %6:2 = dtc.cross_entropy %5, %labels : (!dtc.tensor<6x4x11xf32>, !dtc.tensor<6x4xi32>) -> (!dtc.tensor<f32>, !dtc.tensor<6x4xf32>)
    %7 = dtc.einsum "bsd,vd->bsv"(%3, %w0) {dtc.dims = ["batch", "seq", "vocab"]} : (!dtc.tensor<6x4x4xf32>, !dtc.tensor<11x4xf32>) -> !dtc.tensor<6x4x11xf32>
    %8:2 = dtc.cross_entropy %7, %labels : (!dtc.tensor<6x4x11xf32>, !dtc.tensor<6x4xi32>) -> (!dtc.tensor<f32>, !dtc.tensor<6x4xf32>)
    %9 = dtc.add %6#0, %8#0 : (!dtc.tensor<f32>, !dtc.tensor<f32>) -> !dtc.tensor<f32>
    %10 = dtc.reduce_sum %3 over [0, 1, 2] : (!dtc.tensor<6x4x4xf32>) -> !dtc.tensor<f32>
    %11 = dtc.scale %10 by 0.01 : (!dtc.tensor<f32>) -> !dtc.tensor<f32>
    %12 = dtc.add %9, %11 : (!dtc.tensor<f32>, !dtc.tensor<f32>) -> !dtc.tensor<f32>
    %n = dtc.count_labels %labels : (!dtc.tensor<6x4xi32>) -> !dtc.tensor<i32>
    %loss = dtc.divide %12, %n : (!dtc.tensor<f32>, !dtc.tensor<i32>) -> !dtc.tensor<f32>
    return %loss, %n : !dtc.tensor<f32>, !dtc.tensor<i32>
  }
}
