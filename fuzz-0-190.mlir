module {
  dtc.param @w0 : !dtc.tensor<11x5xf32> from "w0" [55] view affine_map<(d0, d1) -> (d0 * 5 + d1)> dims ["vocab", "embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w1 : !dtc.tensor<5xf32> from "w1" [5] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w2 : !dtc.tensor<5xf32> from "w2" [5] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w3 : !dtc.tensor<11x5xf32> from "w3" [5, 11] view affine_map<(d0, d1) -> (d1, d0)> dims ["vocab", "embed"] {init = "normal", std = 4.0e-1}
  dtc.param @unused : !dtc.tensor<5x4xf32> from "unused" [5, 4] view affine_map<(d0, d1) -> (d0, d1)> dims ["embed", "mlp"] {init = "normal", std = 4.0e-1}
  func.func private @layer0(%x: !dtc.tensor<2x16x5xf32>, %p0: !dtc.tensor<5xf32>) -> (!dtc.tensor<2x16x5xf32>) {
    %0 = dtc.add %x, %p0 {dtc.dims = ["batch", "norm_seq", "embed"], dtc.sharding = [#dtc.axes<>, #dtc.axes<cp:2, tp:(2)2>, #dtc.axes<>]} : (!dtc.tensor<2x16x5xf32>, !dtc.tensor<5xf32>) -> !dtc.tensor<2x16x5xf32>
    return %0 : !dtc.tensor<2x16x5xf32>
  }
  func.func private @layer1(%x: !dtc.tensor<2x16x5xf32>, %p0: !dtc.tensor<16x5xf32>, %p1: !dtc.tensor<5xf32>, %p2: !dtc.tensor<5xf32>, %p3: !dtc.tensor<5x5xf32>) -> (!dtc.tensor<2x16x5xf32>, !dtc.tensor<2x16x5xf32>) {
    %0 = dtc.multiply %x, %x : (!dtc.tensor<2x16x5xf32>, !dtc.tensor<2x16x5xf32>) -> !dtc.tensor<2x16x5xf32>
    %1 = dtc.scale %0 by 0.3 {dtc.sharding = [#dtc.axes<cp:2>, #dtc.axes<tp:(2)2>, #dtc.axes<>]} : (!dtc.tensor<2x16x5xf32>) -> !dtc.tensor<2x16x5xf32>
    %2 = dtc.embedding %p0[%pos] {dtc.dims = ["norm_seq", "embed"]} : (!dtc.tensor<16x5xf32>, !dtc.tensor<16xi32>) -> !dtc.tensor<16x5xf32>
    %3 = dtc.add %1, %2 : (!dtc.tensor<2x16x5xf32>, !dtc.tensor<16x5xf32>) -> !dtc.tensor<2x16x5xf32>
    %4:1 = call @layer0(%3, %p1) : (!dtc.tensor<2x16x5xf32>, !dtc.tensor<5xf32>) -> (!dtc.tensor<2x16x5xf32>)
    %5 = dtc.layer_norm %4#0, %p1, %p2 {dtc.dims = ["batch", "norm_seq", "embed"], epsilon = 1.0e-2} : (!dtc.tensor<2x16x5xf32>, !dtc.tensor<5xf32>, !dtc.tensor<5xf32>) -> !dtc.tensor<2x16x5xf32>
    %6 = dtc.einsum "bsd,de->bse"(%4#0, %p3) {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<2x16x5xf32>, !dtc.tensor<5x5xf32>) -> !dtc.tensor<2x16x5xf32>
    return %6, %3 : !dtc.tensor<2x16x5xf32>, !dtc.tensor<2x16x5xf32>
  }
  func.func private @layer2(%x: !dtc.tensor<2x16x5xf32>, %p0: !dtc.tensor<5x8x4xf32>, %p1: !dtc.tensor<5x8x4xf32>, %p2: !dtc.tensor<8x4x5xf32>, %p6: !dtc.tensor<5x4xf32>, %p7: !dtc.tensor<4x5xf32>, %p8: !dtc.tensor<4xf32>, %p9: !dtc.tensor<5xf32>, %p10: !dtc.tensor<5x4xf32>, %p11: !dtc.tensor<4x5xf32>) -> (!dtc.tensor<2x16x5xf32>, !dtc.tensor<2x16x5xf32>) {
    %0 = dtc.multiply %x, %x : (!dtc.tensor<2x16x5xf32>, !dtc.tensor<2x16x5xf32>) -> !dtc.tensor<2x16x5xf32>
    %1 = dtc.scale %0 by 0.3 {dtc.sharding = [#dtc.axes<cp:2>, #dtc.axes<tp:4>, #dtc.axes<>]} : (!dtc.tensor<2x16x5xf32>) -> !dtc.tensor<2x16x5xf32>
    %2 = dtc.einsum "bsd,dhe->bshe"(%1, %p0) {dtc.dims = ["batch", "seq", "heads", "head_dim"]} : (!dtc.tensor<2x16x5xf32>, !dtc.tensor<5x8x4xf32>) -> !dtc.tensor<2x16x8x4xf32>
    %3 = dtc.einsum "bsd,dhe->bshe"(%1, %p1) {dtc.dims = ["batch", "seq", "kv_heads", "head_dim"]} : (!dtc.tensor<2x16x5xf32>, !dtc.tensor<5x8x4xf32>) -> !dtc.tensor<2x16x8x4xf32>
    %4 = dtc.einsum "bsd,dhe->bshe"(%1, %p1) {dtc.dims = ["batch", "seq", "kv_heads", "head_dim"]} : (!dtc.tensor<2x16x5xf32>, !dtc.tensor<5x8x4xf32>) -> !dtc.tensor<2x16x8x4xf32>
    %5 = dtc.rotary %2, %pos {dtc.dims = ["batch", "seq", "heads", "head_dim"], theta = 1.0e+2} : (!dtc.tensor<2x16x8x4xf32>, !dtc.tensor<16xi32>) -> !dtc.tensor<2x16x8x4xf32>
    %6 = dtc.rotary %3, %pos {dtc.dims = ["batch", "seq", "kv_heads", "head_dim"], theta = 1.0e+2} : (!dtc.tensor<2x16x8x4xf32>, !dtc.tensor<16xi32>) -> !dtc.tensor<2x16x8x4xf32>
    %7:2 = dtc.attention %5, %6, %4 at %pos, %pos {dtc.dims = ["batch", "seq", "heads", "head_dim"], scale = 6.0e-1, site = 10 : i64, causal} : (!dtc.tensor<2x16x8x4xf32>, !dtc.tensor<2x16x8x4xf32>, !dtc.tensor<2x16x8x4xf32>, !dtc.tensor<16xi32>, !dtc.tensor<16xi32>) -> (!dtc.tensor<2x16x8x4xf32>, !dtc.tensor<2x16x8xf32>)
    %8 = dtc.einsum "bshe,hed->bsd"(%7#0, %p2) {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<2x16x8x4xf32>, !dtc.tensor<8x4x5xf32>) -> !dtc.tensor<2x16x5xf32>
    %9 = dtc.einsum "bsd,df->bsf"(%1, %p6) : (!dtc.tensor<2x16x5xf32>, !dtc.tensor<5x4xf32>) -> !dtc.tensor<2x16x4xf32>
    %10 = dtc.add %9, %p8 : (!dtc.tensor<2x16x4xf32>, !dtc.tensor<4xf32>) -> !dtc.tensor<2x16x4xf32>
    %11 = dtc.activation silu %10 : (!dtc.tensor<2x16x4xf32>) -> !dtc.tensor<2x16x4xf32>
    %12 = dtc.einsum "bsf,fd->bsd"(%11, %p7) : (!dtc.tensor<2x16x4xf32>, !dtc.tensor<4x5xf32>) -> !dtc.tensor<2x16x5xf32>
    %13 = dtc.add %12, %p9 : (!dtc.tensor<2x16x5xf32>, !dtc.tensor<5xf32>) -> !dtc.tensor<2x16x5xf32>
    %14 = dtc.einsum "bsd,df->bsf"(%13, %p10) : (!dtc.tensor<2x16x5xf32>, !dtc.tensor<5x4xf32>) -> !dtc.tensor<2x16x4xf32>
    %15 = dtc.activation silu %14 : (!dtc.tensor<2x16x4xf32>) -> !dtc.tensor<2x16x4xf32>
    %16 = dtc.einsum "bsf,fd->bsd"(%15, %p11) {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<2x16x4xf32>, !dtc.tensor<4x5xf32>) -> !dtc.tensor<2x16x5xf32>
    return %16, %1 : !dtc.tensor<2x16x5xf32>, !dtc.tensor<2x16x5xf32>
  }
  func.func @model(%ids: !dtc.tensor<2x16xi32> {dtc.input = "input_ids", dtc.dims = ["batch", "seq"]}, %labels: !dtc.tensor<2x16xi32> {dtc.input = "labels", dtc.dims = ["batch", "seq"]})
      -> (!dtc.tensor<f32> {dtc.output = "loss"}, !dtc.tensor<i32> {dtc.output = "labels"}) {
    %w0 = dtc.read param of @w0 : !dtc.tensor<11x5xf32>
    %w1 = dtc.read param of @w1 : !dtc.tensor<5xf32>
    %w2 = dtc.read param of @w2 : !dtc.tensor<5xf32>
    %w3 = dtc.read param of @w3 : !dtc.tensor<11x5xf32>
    %0 = dtc.embedding %w0[%ids] {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<11x5xf32>, !dtc.tensor<2x16xi32>) -> !dtc.tensor<2x16x5xf32>
    %1 = dtc.scale %0 by 0.5 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<2x16x5xf32>) -> !dtc.tensor<2x16x5xf32>
    %2:1 = call @layer0(%1, %w2) : (!dtc.tensor<2x16x5xf32>, !dtc.tensor<5xf32>) -> (!dtc.tensor<2x16x5xf32>)
    %3 = dtc.rms_norm %2#0, %w1 {dtc.dims = ["batch", "norm_seq", "embed"], epsilon = 1.0e-2} : (!dtc.tensor<2x16x5xf32>, !dtc.tensor<5xf32>) -> !dtc.tensor<2x16x5xf32>
    %4 = dtc.einsum "bsd,vd->bsv"(%3, %w3) {dtc.dims = ["batch", "seq", "vocab"]} : (!dtc.tensor<2x16x5xf32>, !dtc.tensor<11x5xf32>) -> !dtc.tensor<2x16x11xf32>
    %5:2 = dtc.cross_entropy %4, %labels {label_smoothing = 0.125000} : (!dtc.tensor<2x16x11xf32>, !dtc.tensor<2x16xi32>) -> (!dtc.tensor<f32>, !dtc.tensor<2x16xf32>)
    %6 = dtc.reduce_sum %2#0 over [0, 1, 2] : (!dtc.tensor<2x16x5xf32>) -> !dtc.tensor<f32>
    %7 = dtc.scale %6 by 0.01 : (!dtc.tensor<f32>) -> !dtc.tensor<f32>
    %8 = dtc.add %5#0, %7 : (!dtc.tensor<f32>, !dtc.tensor<f32>) -> !dtc.tensor<f32>
    %n = dtc.count_labels %labels : (!dtc.tensor<2x16xi32>) -> !dtc.tensor<i32>
    %loss = dtc.divide %8, %n : (!dtc.tensor<f32>, !dtc.tensor<i32>) -> !dtc.tensor<f32>
    return %loss, %n : !dtc.tensor<f32>, !dtc.tensor<i32>
  }
}
