module {
  dtc.param @w0 : !dtc.tensor<11x2xf32> from "w0" [22] view affine_map<(d0, d1) -> (d0 * 2 + d1)> dims ["vocab", "embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w1 : !dtc.tensor<2xf32> from "w1" [2] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w20 : !dtc.tensor<8x8xf32> from "w20" [8, 8] view affine_map<(d0, d1) -> (d1, d0)> dims ["seq_in", "seq_out"] {init = "normal", std = 4.0e-1}
  dtc.param @w21 : !dtc.tensor<2x2x4xf32> from "w21" [2, 2, 4] view affine_map<(d0, d1, d2) -> (d0, d1, d2)> dims ["embed", "heads", "head_dim"] {init = "normal", std = 4.0e-1}
  dtc.param @w22 : !dtc.tensor<2x2x4xf32> from "w22" [2, 2, 4] view affine_map<(d0, d1, d2) -> (d0, d1, d2)> dims ["embed", "kv_heads", "head_dim"] {init = "normal", std = 4.0e-1}
  dtc.param @w23 : !dtc.tensor<2x4x2xf32> from "w23" [2, 4, 2] view affine_map<(d0, d1, d2) -> (d2, d1, d0)> dims ["heads", "head_dim", "embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w24 : !dtc.tensor<2x4xf32> from "w24" [8] view affine_map<(d0, d1) -> (d0 * 4 + d1)> dims ["heads", "head_dim"] {init = "normal", std = 4.0e-1}
  dtc.param @w25 : !dtc.tensor<2xf32> from "w25" [2] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w26 : !dtc.tensor<4xf32> from "w26" [4] view affine_map<(d0) -> (d0)> dims ["head_dim"] {init = "normal", std = 4.0e-1}
  dtc.param @w27 : !dtc.tensor<2x4x2xf32> from "w27" [2, 4, 2] view affine_map<(d0, d1, d2) -> (d0, d1, d2)> dims ["heads", "head_dim", "embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w28 : !dtc.tensor<2x4xf32> from "w28" [8] view affine_map<(d0, d1) -> (d0 * 4 + d1)> dims ["heads", "head_dim"] {init = "normal", std = 4.0e-1}
  dtc.param @w29 : !dtc.tensor<11x2xf32> from "w29" [2, 11] view affine_map<(d0, d1) -> (d1, d0)> dims ["vocab", "embed"] {init = "normal", std = 4.0e-1}
  func.func private @layer0(%x: !dtc.tensor<4x8x2xf32>, %p0: !dtc.tensor<2xf32>, %p1: !dtc.tensor<2xf32>, %p2: !dtc.tensor<8x2xf32>, %places: !dtc.tensor<4x8xi32>) -> (!dtc.tensor<4x8x2xf32>) {
    %0 = dtc.rms_norm %x, %p0 {epsilon = 1.0e-2} : (!dtc.tensor<4x8x2xf32>, !dtc.tensor<2xf32>) -> !dtc.tensor<4x8x2xf32>
    %1 = dtc.reduce_sum %0 over [2] : (!dtc.tensor<4x8x2xf32>) -> !dtc.tensor<4x8xf32>
    %2 = dtc.broadcast %1 along [2] : (!dtc.tensor<4x8xf32>) -> !dtc.tensor<4x8x2xf32>
    %3 = dtc.scale %2 by 0.2 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x8x2xf32>) -> !dtc.tensor<4x8x2xf32>
    %4 = dtc.add %3, %p1 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x8x2xf32>, !dtc.tensor<2xf32>) -> !dtc.tensor<4x8x2xf32>
    %5 = dtc.embedding %p2[%places] {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<8x2xf32>, !dtc.tensor<4x8xi32>) -> !dtc.tensor<4x8x2xf32>
    %6 = dtc.add %3, %5 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x8x2xf32>, !dtc.tensor<4x8x2xf32>) -> !dtc.tensor<4x8x2xf32>
    return %6 : !dtc.tensor<4x8x2xf32>
  }
  func.func private @layer1(%x: !dtc.tensor<4x8x2xf32>) -> (!dtc.tensor<4x8x2xf32>) {
    %0 = dtc.reduce_sum %x over [2] : (!dtc.tensor<4x8x2xf32>) -> !dtc.tensor<4x8xf32>
    %1 = dtc.broadcast %0 along [2] : (!dtc.tensor<4x8xf32>) -> !dtc.tensor<4x8x2xf32>
    %2 = dtc.scale %1 by 0.2 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x8x2xf32>) -> !dtc.tensor<4x8x2xf32>
    %3 = dtc.multiply %2, %2 : (!dtc.tensor<4x8x2xf32>, !dtc.tensor<4x8x2xf32>) -> !dtc.tensor<4x8x2xf32>
    %4 = dtc.scale %3 by 0.3 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x8x2xf32>) -> !dtc.tensor<4x8x2xf32>
    return %4 : !dtc.tensor<4x8x2xf32>
  }
  func.func private @layer2(%x: !dtc.tensor<4x8x2xf32>, %p0: !dtc.tensor<8x8xf32>, %p1: !dtc.tensor<2x2x4xf32>, %p2: !dtc.tensor<2x2x4xf32>, %p3: !dtc.tensor<2x4x2xf32>, %p4: !dtc.tensor<2x4xf32>, %p5: !dtc.tensor<2xf32>, %p6: !dtc.tensor<4xf32>, %p7: !dtc.tensor<2x4x2xf32>, %p8: !dtc.tensor<2x4xf32>, %pos: !dtc.tensor<8xi32>, %documents: !dtc.tensor<4x8xi32>, %places: !dtc.tensor<4x8xi32>) -> (!dtc.tensor<4x8x2xf32>) {
    %0 = dtc.einsum "bsd,st->btd"(%x, %p0) {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x8x2xf32>, !dtc.tensor<8x8xf32>) -> !dtc.tensor<4x8x2xf32>
    %1 = dtc.einsum "bsd,dhe->bshe"(%x, %p1) : (!dtc.tensor<4x8x2xf32>, !dtc.tensor<2x2x4xf32>) -> !dtc.tensor<4x8x2x4xf32>
    %2 = dtc.add %1, %p4 : (!dtc.tensor<4x8x2x4xf32>, !dtc.tensor<2x4xf32>) -> !dtc.tensor<4x8x2x4xf32>
    %3 = dtc.rms_norm %2, %p6 {epsilon = 1.0e-2} : (!dtc.tensor<4x8x2x4xf32>, !dtc.tensor<4xf32>) -> !dtc.tensor<4x8x2x4xf32>
    %4 = dtc.einsum "bsd,dhe->bshe"(%0, %p2) : (!dtc.tensor<4x8x2xf32>, !dtc.tensor<2x2x4xf32>) -> !dtc.tensor<4x8x2x4xf32>
    %5 = dtc.einsum "bsd,dhe->bshe"(%0, %p2) : (!dtc.tensor<4x8x2xf32>, !dtc.tensor<2x2x4xf32>) -> !dtc.tensor<4x8x2x4xf32>
    %6:2 = dtc.attention %3, %4, %5 at %pos, %pos documents %documents, %documents {scale = 6.0e-1, site = 3 : i64, causal} : (!dtc.tensor<4x8x2x4xf32>, !dtc.tensor<4x8x2x4xf32>, !dtc.tensor<4x8x2x4xf32>, !dtc.tensor<8xi32>, !dtc.tensor<8xi32>, !dtc.tensor<4x8xi32>, !dtc.tensor<4x8xi32>) -> (!dtc.tensor<4x8x2x4xf32>, !dtc.tensor<4x8x2xf32>)
    %7 = dtc.einsum "bshe,hed->bsd"(%6#0, %p3) : (!dtc.tensor<4x8x2x4xf32>, !dtc.tensor<2x4x2xf32>) -> !dtc.tensor<4x8x2xf32>
    %8 = dtc.add %7, %p5 : (!dtc.tensor<4x8x2xf32>, !dtc.tensor<2xf32>) -> !dtc.tensor<4x8x2xf32>
    %9 = dtc.add %0, %p5 : (!dtc.tensor<4x8x2xf32>, !dtc.tensor<2xf32>) -> !dtc.tensor<4x8x2xf32>
    %10 = dtc.einsum "bsd,dhe->bshe"(%9, %p1) : (!dtc.tensor<4x8x2xf32>, !dtc.tensor<2x2x4xf32>) -> !dtc.tensor<4x8x2x4xf32>
    %11 = dtc.add %10, %p8 : (!dtc.tensor<4x8x2x4xf32>, !dtc.tensor<2x4xf32>) -> !dtc.tensor<4x8x2x4xf32>
    %12 = dtc.activation gelu %11 : (!dtc.tensor<4x8x2x4xf32>) -> !dtc.tensor<4x8x2x4xf32>
    %13 = dtc.einsum "bshe,hed->bsd"(%12, %p7) {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x8x2x4xf32>, !dtc.tensor<2x4x2xf32>) -> !dtc.tensor<4x8x2xf32>
    %14 = dtc.add %13, %0 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x8x2xf32>, !dtc.tensor<4x8x2xf32>) -> !dtc.tensor<4x8x2xf32>
    return %14 : !dtc.tensor<4x8x2xf32>
  }
  func.func @model(%ids: !dtc.tensor<4x8xi32> {dtc.input = "input_ids", dtc.dims = ["batch", "seq"]}, %labels: !dtc.tensor<4x8xi32> {dtc.input = "labels", dtc.dims = ["batch", "seq"]}, %documents: !dtc.tensor<4x8xi32> {dtc.input = "document_ids", dtc.dims = ["batch", "seq"]})
      -> (!dtc.tensor<f32> {dtc.output = "loss"}, !dtc.tensor<i32> {dtc.output = "labels"}) {
    %w0 = dtc.read param of @w0 : !dtc.tensor<11x2xf32>
    %w1 = dtc.read param of @w1 : !dtc.tensor<2xf32>
    %w20 = dtc.read param of @w20 : !dtc.tensor<8x8xf32>
    %w21 = dtc.read param of @w21 : !dtc.tensor<2x2x4xf32>
    %w22 = dtc.read param of @w22 : !dtc.tensor<2x2x4xf32>
    %w23 = dtc.read param of @w23 : !dtc.tensor<2x4x2xf32>
    %w24 = dtc.read param of @w24 : !dtc.tensor<2x4xf32>
    %w25 = dtc.read param of @w25 : !dtc.tensor<2xf32>
    %w26 = dtc.read param of @w26 : !dtc.tensor<4xf32>
    %w27 = dtc.read param of @w27 : !dtc.tensor<2x4x2xf32>
    %w28 = dtc.read param of @w28 : !dtc.tensor<2x4xf32>
    %w29 = dtc.read param of @w29 : !dtc.tensor<11x2xf32>
    %pos = dtc.iota {dtc.dims = ["seq"]} : () -> !dtc.tensor<8xi32>
    %places = dtc.document_positions %documents {dtc.dims = ["batch", "seq"]} : (!dtc.tensor<4x8xi32>) -> !dtc.tensor<4x8xi32>
    %0 = dtc.embedding %w0[%ids] {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<11x2xf32>, !dtc.tensor<4x8xi32>) -> !dtc.tensor<4x8x2xf32>
    %1:1 = call @layer2(%0, %w20, %w21, %w22, %w23, %w24, %w25, %w26, %w27, %w28, %pos, %documents, %places) : (!dtc.tensor<4x8x2xf32>, !dtc.tensor<8x8xf32>, !dtc.tensor<2x2x4xf32>, !dtc.tensor<2x2x4xf32>, !dtc.tensor<2x4x2xf32>, !dtc.tensor<2x4xf32>, !dtc.tensor<2xf32>, !dtc.tensor<4xf32>, !dtc.tensor<2x4x2xf32>, !dtc.tensor<2x4xf32>, !dtc.tensor<8xi32>, !dtc.tensor<4x8xi32>, !dtc.tensor<4x8xi32>) -> (!dtc.tensor<4x8x2xf32>)
    %2 = dtc.rms_norm %1#0, %w1 {dtc.dims = ["batch", "norm_seq", "embed"], epsilon = 1.0e-2} : (!dtc.tensor<4x8x2xf32>, !dtc.tensor<2xf32>) -> !dtc.tensor<4x8x2xf32>
    %3 = dtc.einsum "bsd,vd->bsv"(%2, %w29) {dtc.dims = ["batch", "seq", "vocab"]} : (!dtc.tensor<4x8x2xf32>, !dtc.tensor<11x2xf32>) -> !dtc.tensor<4x8x11xf32>
    %4:2 = dtc.cross_entropy %3, %labels : (!dtc.tensor<4x8x11xf32>, !dtc.tensor<4x8xi32>) -> (!dtc.tensor<f32>, !dtc.tensor<4x8xf32>)
    %n = dtc.count_labels %labels : (!dtc.tensor<4x8xi32>) -> !dtc.tensor<i32>
    %loss = dtc.divide %4#0, %n : (!dtc.tensor<f32>, !dtc.tensor<i32>) -> !dtc.tensor<f32>
    return %loss, %n : !dtc.tensor<f32>, !dtc.tensor<i32>
  }
}
