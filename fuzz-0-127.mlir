module {
  dtc.param @w0 : !dtc.tensor<4x8xf32> from "w0" [32] view affine_map<(d0, d1) -> (d0 * 8 + d1)> dims ["vocab", "embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w1 : !dtc.tensor<8xf32> from "w1" [8] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w18 : !dtc.tensor<48x48xf32> from "w18" [48, 48] view affine_map<(d0, d1) -> (d0, d1)> dims ["seq_in", "seq_out"] {init = "normal", std = 4.0e-1}
  dtc.param @w19 : !dtc.tensor<8x3x2xf32> from "w19" [8, 3, 2] view affine_map<(d0, d1, d2) -> (d0, d1, d2)> dims ["embed", "heads", "head_dim"] {init = "normal", std = 4.0e-1}
  dtc.param @w20 : !dtc.tensor<8x3x2xf32> from "w20" [8, 6] view affine_map<(d0, d1, d2) -> (d0, d1 * 2 + d2)> dims ["embed", "kv_heads", "head_dim"] {init = "normal", std = 4.0e-1}
  dtc.param @w21 : !dtc.tensor<8x3x2xf32> from "w21" [8, 3, 2] view affine_map<(d0, d1, d2) -> (d0, d1, d2)> dims ["embed", "kv_heads", "head_dim"] {init = "normal", std = 4.0e-1}
  dtc.param @w22 : !dtc.tensor<3x2x8xf32> from "w22" [8, 2, 3] view affine_map<(d0, d1, d2) -> (d2, d1, d0)> dims ["heads", "head_dim", "embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w26 : !dtc.tensor<3x8x5xf32> from "w26" [3, 40] view affine_map<(d0, d1, d2) -> (d0, d1 * 5 + d2)> dims ["experts", "embed", "mlp"] {init = "normal", std = 4.0e-1}
  dtc.param @w27 : !dtc.tensor<3x5x8xf32> from "w27" [3, 40] view affine_map<(d0, d1, d2) -> (d0, d1 * 8 + d2)> dims ["experts", "mlp", "embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w28 : !dtc.tensor<8x3x2xf32> from "w28" [2, 3, 8] view affine_map<(d0, d1, d2) -> (d2, d1, d0)> dims ["embed", "heads", "head_dim"] {init = "normal", std = 4.0e-1}
  dtc.param @w29 : !dtc.tensor<8x3x2xf32> from "w29" [2, 3, 8] view affine_map<(d0, d1, d2) -> (d2, d1, d0)> dims ["embed", "kv_heads", "head_dim"] {init = "normal", std = 4.0e-1}
  dtc.param @w30 : !dtc.tensor<3x2x8xf32> from "w30" [3, 2, 8] view affine_map<(d0, d1, d2) -> (d0, d1, d2)> dims ["heads", "head_dim", "embed"] {init = "normal", std = 4.0e-1}
  func.func private @layer0(%x: !dtc.tensor<6x48x8xf32>, %p0: !dtc.tensor<8x3x2xf32>, %p1: !dtc.tensor<8x3x2xf32>, %p2: !dtc.tensor<3x2x8xf32>, %pos: !dtc.tensor<48xi32>, %rows: !dtc.tensor<6xi32>, %rng: !dtc.tensor<2xi32>, %layer: !dtc.tensor<i32>) -> (!dtc.tensor<6x48x8xf32>) {
    %0 = dtc.einsum "bsd,bse->bde"(%x, %x) : (!dtc.tensor<6x48x8xf32>, !dtc.tensor<6x48x8xf32>) -> !dtc.tensor<6x8x8xf32>
    %1 = dtc.einsum "bsd,bde->bse"(%x, %0) : (!dtc.tensor<6x48x8xf32>, !dtc.tensor<6x8x8xf32>) -> !dtc.tensor<6x48x8xf32>
    %2 = dtc.scale %1 by 0.05 : (!dtc.tensor<6x48x8xf32>) -> !dtc.tensor<6x48x8xf32>
    %3 = dtc.add %2, %2 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<6x48x8xf32>, !dtc.tensor<6x48x8xf32>) -> !dtc.tensor<6x48x8xf32>
    %4 = dtc.einsum "bsd,dhe->bshe"(%3, %p0) {dtc.dims = ["batch", "seq", "heads", "head_dim"]} : (!dtc.tensor<6x48x8xf32>, !dtc.tensor<8x3x2xf32>) -> !dtc.tensor<6x48x3x2xf32>
    %5 = dtc.einsum "bsd,dhe->bshe"(%x, %p1) {dtc.dims = ["batch", "seq", "kv_heads", "head_dim"]} : (!dtc.tensor<6x48x8xf32>, !dtc.tensor<8x3x2xf32>) -> !dtc.tensor<6x48x3x2xf32>
    %6 = dtc.einsum "bsd,dhe->bshe"(%x, %p1) {dtc.dims = ["batch", "seq", "kv_heads", "head_dim"]} : (!dtc.tensor<6x48x8xf32>, !dtc.tensor<8x3x2xf32>) -> !dtc.tensor<6x48x3x2xf32>
    %7 = dtc.rotary %4, %pos {dtc.dims = ["batch", "seq", "heads", "head_dim"], theta = 1.0e+2} : (!dtc.tensor<6x48x3x2xf32>, !dtc.tensor<48xi32>) -> !dtc.tensor<6x48x3x2xf32>
    %8 = dtc.rotary %5, %pos {dtc.dims = ["batch", "seq", "kv_heads", "head_dim"], theta = 1.0e+2} : (!dtc.tensor<6x48x3x2xf32>, !dtc.tensor<48xi32>) -> !dtc.tensor<6x48x3x2xf32>
    %9:2 = dtc.attention %7, %8, %6 at %pos, %pos {dtc.dims = ["batch", "seq", "heads", "head_dim"], scale = 6.0e-1, site = 8 : i64, causal} : (!dtc.tensor<6x48x3x2xf32>, !dtc.tensor<6x48x3x2xf32>, !dtc.tensor<6x48x3x2xf32>, !dtc.tensor<48xi32>, !dtc.tensor<48xi32>) -> (!dtc.tensor<6x48x3x2xf32>, !dtc.tensor<6x48x3xf32>)
    %10 = dtc.einsum "bshe,hed->bsd"(%9#0, %p2) {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<6x48x3x2xf32>, !dtc.tensor<3x2x8xf32>) -> !dtc.tensor<6x48x8xf32>
    %11 = dtc.multiply %10, %10 : (!dtc.tensor<6x48x8xf32>, !dtc.tensor<6x48x8xf32>) -> !dtc.tensor<6x48x8xf32>
    %12 = dtc.scale %11 by 0.3 : (!dtc.tensor<6x48x8xf32>) -> !dtc.tensor<6x48x8xf32>
    %13 = dtc.dropout %10 random %rng, %layer, %rows, %pos {p = 2.0e-1, site = 0 : i64} : (!dtc.tensor<6x48x8xf32>, !dtc.tensor<2xi32>, !dtc.tensor<i32>, !dtc.tensor<6xi32>, !dtc.tensor<48xi32>) -> !dtc.tensor<6x48x8xf32>
    %14 = dtc.add %x, %13 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<6x48x8xf32>, !dtc.tensor<6x48x8xf32>) -> !dtc.tensor<6x48x8xf32>
    return %14 : !dtc.tensor<6x48x8xf32>
  }
  func.func private @layer1(%x: !dtc.tensor<6x48x8xf32>, %p0: !dtc.tensor<8x5xf32>, %p1: !dtc.tensor<5x8xf32>, %p4: !dtc.tensor<8x3x2xf32>, %p5: !dtc.tensor<3x2x8xf32>, %p6: !dtc.tensor<3x2xf32>) -> (!dtc.tensor<6x48x8xf32>) {
    %0 = dtc.einsum "bsd,df->bsf"(%x, %p0) {dtc.dims = ["batch", "seq", "mlp"]} : (!dtc.tensor<6x48x8xf32>, !dtc.tensor<8x5xf32>) -> !dtc.tensor<6x48x5xf32>
    %1 = dtc.activation gelu %0 : (!dtc.tensor<6x48x5xf32>) -> !dtc.tensor<6x48x5xf32>
    %2 = dtc.einsum "bsf,fd->bsd"(%1, %p1) {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<6x48x5xf32>, !dtc.tensor<5x8xf32>) -> !dtc.tensor<6x48x8xf32>
    %3 = dtc.einsum "bsd,dhe->bshe"(%x, %p4) {dtc.dims = ["batch", "seq", "heads", "head_dim"]} : (!dtc.tensor<6x48x8xf32>, !dtc.tensor<8x3x2xf32>) -> !dtc.tensor<6x48x3x2xf32>
    %4 = dtc.add %3, %p6 : (!dtc.tensor<6x48x3x2xf32>, !dtc.tensor<3x2xf32>) -> !dtc.tensor<6x48x3x2xf32>
    %5 = dtc.activation gelu %4 : (!dtc.tensor<6x48x3x2xf32>) -> !dtc.tensor<6x48x3x2xf32>
    %6 = dtc.einsum "bshe,hed->bsd"(%5, %p5) : (!dtc.tensor<6x48x3x2xf32>, !dtc.tensor<3x2x8xf32>) -> !dtc.tensor<6x48x8xf32>
    return %6 : !dtc.tensor<6x48x8xf32>
  }
  func.func private @layer2(%x: !dtc.tensor<6x48x8xf32>, %p0: !dtc.tensor<48x48xf32>, %p1: !dtc.tensor<8x3x2xf32>, %p2: !dtc.tensor<8x3x2xf32>, %p3: !dtc.tensor<8x3x2xf32>, %p4: !dtc.tensor<3x2x8xf32>, %pos: !dtc.tensor<48xi32>, %rows: !dtc.tensor<6xi32>, %rng: !dtc.tensor<2xi32>, %layer: !dtc.tensor<i32>) -> (!dtc.tensor<6x48x8xf32>) {
    %0 = dtc.add %x, %x {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<6x48x8xf32>, !dtc.tensor<6x48x8xf32>) -> !dtc.tensor<6x48x8xf32>
    %1 = dtc.einsum "bsd,st->btd"(%0, %p0) : (!dtc.tensor<6x48x8xf32>, !dtc.tensor<48x48xf32>) -> !dtc.tensor<6x48x8xf32>
    %2 = dtc.add %1, %1 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<6x48x8xf32>, !dtc.tensor<6x48x8xf32>) -> !dtc.tensor<6x48x8xf32>
    %3 = dtc.einsum "bsd,dhe->bshe"(%2, %p1) {dtc.dims = ["batch", "seq", "heads", "head_dim"]} : (!dtc.tensor<6x48x8xf32>, !dtc.tensor<8x3x2xf32>) -> !dtc.tensor<6x48x3x2xf32>
    %4 = dtc.einsum "bsd,dhe->bshe"(%1, %p2) {dtc.dims = ["batch", "seq", "kv_heads", "head_dim"]} : (!dtc.tensor<6x48x8xf32>, !dtc.tensor<8x3x2xf32>) -> !dtc.tensor<6x48x3x2xf32>
    %5 = dtc.einsum "bsd,dhe->bshe"(%1, %p3) {dtc.dims = ["batch", "seq", "kv_heads", "head_dim"]} : (!dtc.tensor<6x48x8xf32>, !dtc.tensor<8x3x2xf32>) -> !dtc.tensor<6x48x3x2xf32>
    %6 = dtc.rotary %3, %pos {dtc.dims = ["batch", "seq", "heads", "head_dim"], theta = 1.0e+2} : (!dtc.tensor<6x48x3x2xf32>, !dtc.tensor<48xi32>) -> !dtc.tensor<6x48x3x2xf32>
    %7 = dtc.rotary %4, %pos {dtc.dims = ["batch", "seq", "kv_heads", "head_dim"], theta = 1.0e+2} : (!dtc.tensor<6x48x3x2xf32>, !dtc.tensor<48xi32>) -> !dtc.tensor<6x48x3x2xf32>
    %8:2 = dtc.attention %6, %7, %5 at %pos, %pos random %rng, %layer, %rows {dtc.dims = ["batch", "seq", "heads", "head_dim"], scale = 6.0e-1, site = 8 : i64, causal, dropout = 2.0e-1} : (!dtc.tensor<6x48x3x2xf32>, !dtc.tensor<6x48x3x2xf32>, !dtc.tensor<6x48x3x2xf32>, !dtc.tensor<48xi32>, !dtc.tensor<48xi32>, !dtc.tensor<2xi32>, !dtc.tensor<i32>, !dtc.tensor<6xi32>) -> (!dtc.tensor<6x48x3x2xf32>, !dtc.tensor<6x48x3xf32>)
    %9 = dtc.einsum "bshe,hed->bsd"(%8#0, %p4) : (!dtc.tensor<6x48x3x2xf32>, !dtc.tensor<3x2x8xf32>) -> !dtc.tensor<6x48x8xf32>
    %10 = dtc.add %9, %9 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<6x48x8xf32>, !dtc.tensor<6x48x8xf32>) -> !dtc.tensor<6x48x8xf32>
    %11 = dtc.add %x, %10 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<6x48x8xf32>, !dtc.tensor<6x48x8xf32>) -> !dtc.tensor<6x48x8xf32>
    return %11 : !dtc.tensor<6x48x8xf32>
  }
  func.func @model(%ids: !dtc.tensor<6x48xi32> {dtc.input = "input_ids", dtc.dims = ["batch", "seq"]}, %labels: !dtc.tensor<6x48xi32> {dtc.input = "labels", dtc.dims = ["batch", "seq"]}, %rng: !dtc.tensor<2xi32> {dtc.input = "rng"})
      -> (!dtc.tensor<f32> {dtc.output = "loss"}, !dtc.tensor<i32> {dtc.output = "labels"}) {
    %w0 = dtc.read param of @w0 : !dtc.tensor<4x8xf32>
    %w1 = dtc.read param of @w1 : !dtc.tensor<8xf32>
    %w18 = dtc.read param of @w18 : !dtc.tensor<48x48xf32>
    %w19 = dtc.read param of @w19 : !dtc.tensor<8x3x2xf32>
    %w20 = dtc.read param of @w20 : !dtc.tensor<8x3x2xf32>
    %w21 = dtc.read param of @w21 : !dtc.tensor<8x3x2xf32>
    %w22 = dtc.read param of @w22 : !dtc.tensor<3x2x8xf32>
    %w26 = dtc.read param of @w26 : !dtc.tensor<3x8x5xf32>
    %w27 = dtc.read param of @w27 : !dtc.tensor<3x5x8xf32>
    %w28 = dtc.read param of @w28 : !dtc.tensor<8x3x2xf32>
    %w29 = dtc.read param of @w29 : !dtc.tensor<8x3x2xf32>
    %w30 = dtc.read param of @w30 : !dtc.tensor<3x2x8xf32>
    %pos = dtc.iota {dtc.dims = ["seq"]} : () -> !dtc.tensor<48xi32>
    %rows = dtc.iota {dtc.dims = ["batch"]} : () -> !dtc.tensor<6xi32>
    %layer = dtc.constant -1.0 : () -> !dtc.tensor<i32>
    %0 = dtc.embedding %w0[%ids] {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x8xf32>, !dtc.tensor<6x48xi32>) -> !dtc.tensor<6x48x8xf32>
    %1 = dtc.constant 0.0 : () -> !dtc.tensor<i32>
    %2:1 = call @layer2(%0, %w18, %w19, %w20, %w21, %w22, %pos, %rows, %rng, %1) : (!dtc.tensor<6x48x8xf32>, !dtc.tensor<48x48xf32>, !dtc.tensor<8x3x2xf32>, !dtc.tensor<8x3x2xf32>, !dtc.tensor<8x3x2xf32>, !dtc.tensor<3x2x8xf32>, !dtc.tensor<48xi32>, !dtc.tensor<6xi32>, !dtc.tensor<2xi32>, !dtc.tensor<i32>) -> (!dtc.tensor<6x48x8xf32>)
    %3 = dtc.einsum "bsd,kdf->bskf"(%2#0, %w26) : (!dtc.tensor<6x48x8xf32>, !dtc.tensor<3x8x5xf32>) -> !dtc.tensor<6x48x3x5xf32>
    %4 = dtc.activation gelu %3 : (!dtc.tensor<6x48x3x5xf32>) -> !dtc.tensor<6x48x3x5xf32>
    %5 = dtc.einsum "bskf,kfd->bsd"(%4, %w27) {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<6x48x3x5xf32>, !dtc.tensor<3x5x8xf32>) -> !dtc.tensor<6x48x8xf32>
    %6 = dtc.constant 1.0 : () -> !dtc.tensor<i32>
    %7:1 = call @layer0(%2#0, %w28, %w29, %w30, %pos, %rows, %rng, %6) : (!dtc.tensor<6x48x8xf32>, !dtc.tensor<8x3x2xf32>, !dtc.tensor<8x3x2xf32>, !dtc.tensor<3x2x8xf32>, !dtc.tensor<48xi32>, !dtc.tensor<6xi32>, !dtc.tensor<2xi32>, !dtc.tensor<i32>) -> (!dtc.tensor<6x48x8xf32>)
    %8 = dtc.add %5, %7#0 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<6x48x8xf32>, !dtc.tensor<6x48x8xf32>) -> !dtc.tensor<6x48x8xf32>
    %9 = dtc.rms_norm %8, %w1 {dtc.dims = ["batch", "norm_seq", "embed"], epsilon = 1.0e-2} : (!dtc.tensor<6x48x8xf32>, !dtc.tensor<8xf32>) -> !dtc.tensor<6x48x8xf32>
    %10 = dtc.einsum "bsd,vd->bsv"(%9, %w0) {dtc.dims = ["batch", "seq", "vocab"]} : (!dtc.tensor<6x48x8xf32>, !dtc.tensor<4x8xf32>) -> !dtc.tensor<6x48x4xf32>
    %11:2 = dtc.cross_entropy %10, %labels : (!dtc.tensor<6x48x4xf32>, !dtc.tensor<6x48xi32>) -> (!dtc.tensor<f32>, !dtc.tensor<6x48xf32>)
    %n = dtc.count_labels %labels : (!dtc.tensor<6x48xi32>) -> !dtc.tensor<i32>
    %loss = dtc.divide %11#0, %n : (!dtc.tensor<f32>, !dtc.tensor<i32>) -> !dtc.tensor<f32>
    return %loss, %n : !dtc.tensor<f32>, !dtc.tensor<i32>
  }
}
