module {
  dtc.param @w0 : !dtc.tensor<5x8xf32> from "w0" [5, 8] view affine_map<(d0, d1) -> (d0, d1)> dims ["vocab", "embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w1 : !dtc.tensor<8xf32> from "w1" [8] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w2 : !dtc.tensor<2x8x7xf32> from "w2" [7, 8, 2] view affine_map<(d0, d1, d2) -> (d2, d1, d0)> dims ["experts", "embed", "mlp"] {init = "normal", std = 4.0e-1}
  dtc.param @w3 : !dtc.tensor<2x7x8xf32> from "w3" [8, 7, 2] view affine_map<(d0, d1, d2) -> (d2, d1, d0)> dims ["experts", "mlp", "embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w4 : !dtc.tensor<8x7xf32> from "w4" [8, 7] view affine_map<(d0, d1) -> (d0, d1)> dims ["embed", "mlp"] {dtc.sharding = [#dtc.axes<>, #dtc.axes<cp:2>], init = "normal", std = 4.0e-1}
  dtc.param @w5 : !dtc.tensor<7x8xf32> from "w5" [56] view affine_map<(d0, d1) -> (d0 * 8 + d1)> dims ["mlp", "embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w6 : !dtc.tensor<7xf32> from "w6" [7] view affine_map<(d0) -> (d0)> dims ["mlp"] {init = "normal", std = 4.0e-1}
  dtc.param @w7 : !dtc.tensor<8xf32> from "w7" [8] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w8 : !dtc.tensor<8x8xf32> from "w8" [64] view affine_map<(d0, d1) -> (d0 * 8 + d1)> dims ["embed", "embed_out"] {dtc.sharding = [#dtc.axes<cp:2>, #dtc.axes<>], init = "normal", std = 4.0e-1}
  dtc.param @w9 : !dtc.tensor<8x2x2xf32> from "w9" [2, 2, 8] view affine_map<(d0, d1, d2) -> (d2, d1, d0)> dims ["embed", "heads", "head_dim"] {init = "normal", std = 4.0e-1}
  dtc.param @w10 : !dtc.tensor<8x1x2xf32> from "w10" [8, 1, 2] view affine_map<(d0, d1, d2) -> (d0, d1, d2)> dims ["embed", "kv_heads", "head_dim"] {dtc.sharding = [#dtc.axes<>, #dtc.axes<>, #dtc.axes<>], init = "normal", std = 4.0e-1}
  dtc.param @w11 : !dtc.tensor<2x2x8xf32> from "w11" [2, 2, 8] view affine_map<(d0, d1, d2) -> (d0, d1, d2)> dims ["heads", "head_dim", "embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w12 : !dtc.tensor<2x2xf32> from "w12" [4] view affine_map<(d0, d1) -> (d0 * 2 + d1)> dims ["heads", "head_dim"] {init = "normal", std = 4.0e-1}
  dtc.param @w13 : !dtc.tensor<8xf32> from "w13" [8] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w15 : !dtc.tensor<8xf32> from "w15" [8] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w16 : !dtc.tensor<8xf32> from "w16" [8] view affine_map<(d0) -> (d0)> dims ["embed"] {dtc.sharding = [#dtc.axes<>], init = "normal", std = 4.0e-1}
  dtc.param @w17 : !dtc.tensor<8x8xf32> from "w17" [8, 8] view affine_map<(d0, d1) -> (d0, d1)> dims ["seq_in", "seq_out"] {init = "normal", std = 4.0e-1}
  dtc.param @w18 : !dtc.tensor<5x8xf32> from "w18" [40] view affine_map<(d0, d1) -> (d0 * 8 + d1)> dims ["vocab", "embed"] {init = "normal", std = 4.0e-1}
  dtc.param @positions : !dtc.tensor<8x8xf32> from "positions" [8, 8] view affine_map<(d0, d1) -> (d0, d1)> dims ["position", "embed"] {init = "normal", std = 4.0e-1}
  func.func private @layer0(%x: !dtc.tensor<4x8x8xf32>, %p0: !dtc.tensor<8x2x2xf32>, %p1: !dtc.tensor<8x1x2xf32>, %p2: !dtc.tensor<2x2x8xf32>, %p3: !dtc.tensor<2x2xf32>, %p4: !dtc.tensor<8xf32>, %p6: !dtc.tensor<8xf32>, %p7: !dtc.tensor<8xf32>, %p8: !dtc.tensor<8x8xf32>, %pos: !dtc.tensor<8xi32>) -> (!dtc.tensor<4x8x8xf32>) {
    %0 = dtc.einsum "bsd,dhe->bshe"(%x, %p0) {dtc.dims = ["batch", "seq", "heads", "head_dim"]} : (!dtc.tensor<4x8x8xf32>, !dtc.tensor<8x2x2xf32>) -> !dtc.tensor<4x8x2x2xf32>
    %1 = dtc.add %0, %p3 {dtc.dims = ["batch", "seq", "heads", "head_dim"]} : (!dtc.tensor<4x8x2x2xf32>, !dtc.tensor<2x2xf32>) -> !dtc.tensor<4x8x2x2xf32>
    %2 = dtc.einsum "bsd,dhe->bshe"(%x, %p1) {dtc.dims = ["batch", "seq", "kv_heads", "head_dim"]} : (!dtc.tensor<4x8x8xf32>, !dtc.tensor<8x1x2xf32>) -> !dtc.tensor<4x8x1x2xf32>
    %3 = dtc.einsum "bsd,dhe->bshe"(%x, %p1) {dtc.dims = ["batch", "seq", "kv_heads", "head_dim"]} : (!dtc.tensor<4x8x8xf32>, !dtc.tensor<8x1x2xf32>) -> !dtc.tensor<4x8x1x2xf32>
    %4:2 = dtc.attention %1, %2, %3 at %pos, %pos {dtc.dims = ["batch", "seq", "heads", "head_dim"], scale = 6.0e-1, site = 2 : i64} : (!dtc.tensor<4x8x2x2xf32>, !dtc.tensor<4x8x1x2xf32>, !dtc.tensor<4x8x1x2xf32>, !dtc.tensor<8xi32>, !dtc.tensor<8xi32>) -> (!dtc.tensor<4x8x2x2xf32>, !dtc.tensor<4x8x2xf32>)
    %5 = dtc.einsum "bshe,hed->bsd"(%4#0, %p2) : (!dtc.tensor<4x8x2x2xf32>, !dtc.tensor<2x2x8xf32>) -> !dtc.tensor<4x8x8xf32>
    %6 = dtc.add %5, %p4 {dtc.sharding = [#dtc.axes<cp:2>, #dtc.axes<>, #dtc.axes<>]} : (!dtc.tensor<4x8x8xf32>, !dtc.tensor<8xf32>) -> !dtc.tensor<4x8x8xf32>
    %7 = dtc.layer_norm %6, %p6, %p7 {dtc.dims = ["batch", "norm_seq", "embed"], epsilon = 1.0e-2} : (!dtc.tensor<4x8x8xf32>, !dtc.tensor<8xf32>, !dtc.tensor<8xf32>) -> !dtc.tensor<4x8x8xf32>
    %8 = dtc.einsum "bsd,st->btd"(%6, %p8) {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x8x8xf32>, !dtc.tensor<8x8xf32>) -> !dtc.tensor<4x8x8xf32>
    return %8 : !dtc.tensor<4x8x8xf32>
  }
  func.func @model(%ids: !dtc.tensor<4x8xi32> {dtc.input = "input_ids", dtc.dims = ["batch", "seq"]}, %labels: !dtc.tensor<4x8xi32> {dtc.input = "labels", dtc.dims = ["batch", "seq"]})
      -> (!dtc.tensor<f32> {dtc.output = "loss"}, !dtc.tensor<i32> {dtc.output = "labels"}) {
    %w0 = dtc.read param of @w0 : !dtc.tensor<5x8xf32>
    %w1 = dtc.read param of @w1 : !dtc.tensor<8xf32>
    %w2 = dtc.read param of @w2 : !dtc.tensor<2x8x7xf32>
    %w3 = dtc.read param of @w3 : !dtc.tensor<2x7x8xf32>
    %w4 = dtc.read param of @w4 : !dtc.tensor<8x7xf32>
    %w5 = dtc.read param of @w5 : !dtc.tensor<7x8xf32>
    %w6 = dtc.read param of @w6 : !dtc.tensor<7xf32>
    %w7 = dtc.read param of @w7 : !dtc.tensor<8xf32>
    %w8 = dtc.read param of @w8 : !dtc.tensor<8x8xf32>
    %w9 = dtc.read param of @w9 : !dtc.tensor<8x2x2xf32>
    %w10 = dtc.read param of @w10 : !dtc.tensor<8x1x2xf32>
    %w11 = dtc.read param of @w11 : !dtc.tensor<2x2x8xf32>
    %w12 = dtc.read param of @w12 : !dtc.tensor<2x2xf32>
    %w13 = dtc.read param of @w13 : !dtc.tensor<8xf32>
    %w15 = dtc.read param of @w15 : !dtc.tensor<8xf32>
    %w16 = dtc.read param of @w16 : !dtc.tensor<8xf32>
    %w17 = dtc.read param of @w17 : !dtc.tensor<8x8xf32>
    %w18 = dtc.read param of @w18 : !dtc.tensor<5x8xf32>
    %positions = dtc.read param of @positions : !dtc.tensor<8x8xf32>
    %pos = dtc.iota {dtc.dims = ["seq"]} : () -> !dtc.tensor<8xi32>
    %0 = dtc.embedding %w0[%ids] {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<5x8xf32>, !dtc.tensor<4x8xi32>) -> !dtc.tensor<4x8x8xf32>
    %1 = dtc.embedding %positions[%pos] {dtc.dims = ["norm_seq", "embed"]} : (!dtc.tensor<8x8xf32>, !dtc.tensor<8xi32>) -> !dtc.tensor<8x8xf32>
    %2 = dtc.add %0, %1 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x8x8xf32>, !dtc.tensor<8x8xf32>) -> !dtc.tensor<4x8x8xf32>
    %3 = dtc.add %2, %2 : (!dtc.tensor<4x8x8xf32>, !dtc.tensor<4x8x8xf32>) -> !dtc.tensor<4x8x8xf32>
    %4 = dtc.add %2, %3 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x8x8xf32>, !dtc.tensor<4x8x8xf32>) -> !dtc.tensor<4x8x8xf32>
    %5 = dtc.einsum "bsd,kdf->bskf"(%3, %w2) {dtc.dims = ["batch", "seq", "experts", "mlp"]} : (!dtc.tensor<4x8x8xf32>, !dtc.tensor<2x8x7xf32>) -> !dtc.tensor<4x8x2x7xf32>
    %6 = dtc.activation gelu_tanh %5 : (!dtc.tensor<4x8x2x7xf32>) -> !dtc.tensor<4x8x2x7xf32>
    %7 = dtc.einsum "bskf,kfd->bsd"(%6, %w3) {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x8x2x7xf32>, !dtc.tensor<2x7x8xf32>) -> !dtc.tensor<4x8x8xf32>
    %8 = dtc.einsum "bsd,df->bsf"(%7, %w4) {dtc.dims = ["batch", "seq", "mlp"]} : (!dtc.tensor<4x8x8xf32>, !dtc.tensor<8x7xf32>) -> !dtc.tensor<4x8x7xf32>
    %9 = dtc.add %8, %w6 {dtc.dims = ["batch", "seq", "mlp"]} : (!dtc.tensor<4x8x7xf32>, !dtc.tensor<7xf32>) -> !dtc.tensor<4x8x7xf32>
    %10 = dtc.activation gelu %9 : (!dtc.tensor<4x8x7xf32>) -> !dtc.tensor<4x8x7xf32>
    %11 = dtc.einsum "bsf,fd->bsd"(%10, %w5) : (!dtc.tensor<4x8x7xf32>, !dtc.tensor<7x8xf32>) -> !dtc.tensor<4x8x8xf32>
    %12 = dtc.add %11, %w7 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x8x8xf32>, !dtc.tensor<8xf32>) -> !dtc.tensor<4x8x8xf32>
    %13 = dtc.einsum "bsd,de->bse"(%12, %w8) {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x8x8xf32>, !dtc.tensor<8x8xf32>) -> !dtc.tensor<4x8x8xf32>
    %14:1 = call @layer0(%13, %w9, %w10, %w11, %w12, %w13, %w15, %w16, %w17, %pos) : (!dtc.tensor<4x8x8xf32>, !dtc.tensor<8x2x2xf32>, !dtc.tensor<8x1x2xf32>, !dtc.tensor<2x2x8xf32>, !dtc.tensor<2x2xf32>, !dtc.tensor<8xf32>, !dtc.tensor<8xf32>, !dtc.tensor<8xf32>, !dtc.tensor<8x8xf32>, !dtc.tensor<8xi32>) -> (!dtc.tensor<4x8x8xf32>)
    %15 = dtc.rms_norm %14#0, %w1 {dtc.dims = ["batch", "norm_seq", "embed"], epsilon = 1.0e-2} : (!dtc.tensor<4x8x8xf32>, !dtc.tensor<8xf32>) -> !dtc.tensor<4x8x8xf32>
    %16 = dtc.einsum "bsd,vd->bsv"(%15, %w18) {dtc.dims = ["batch", "seq", "vocab"]} : (!dtc.tensor<4x8x8xf32>, !dtc.tensor<5x8xf32>) -> !dtc.tensor<4x8x5xf32>
    %17:2 = dtc.cross_entropy %16, %labels {label_smoothing = 0.125000} : (!dtc.tensor<4x8x5xf32>, !dtc.tensor<4x8xi32>) -> (!dtc.tensor<f32>, !dtc.tensor<4x8xf32>)
    %18 = dtc.reduce_sum %14#0 over [0, 1, 2] : (!dtc.tensor<4x8x8xf32>) -> !dtc.tensor<f32>
    %19 = dtc.scale %18 by 0.01 : (!dtc.tensor<f32>) -> !dtc.tensor<f32>
    %20 = dtc.add %17#0, %19 : (!dtc.tensor<f32>, !dtc.tensor<f32>) -> !dtc.tensor<f32>
    %n = dtc.count_labels %labels : (!dtc.tensor<4x8xi32>) -> !dtc.tensor<i32>
    %loss = dtc.divide %20, %n : (!dtc.tensor<f32>, !dtc.tensor<i32>) -> !dtc.tensor<f32>
    return %loss, %n : !dtc.tensor<f32>, !dtc.tensor<i32>
  }
}
