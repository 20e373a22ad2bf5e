module {
  dtc.param @w0 : !dtc.tensor<8x8xf32> from "w0" [8, 8] view affine_map<(d0, d1) -> (d0, d1)> dims ["vocab", "embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w1 : !dtc.tensor<8xf32> from "w1" [8] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w11 : !dtc.tensor<8xf32> from "w11" [8] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w12 : !dtc.tensor<8xf32> from "w12" [8] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w20 : !dtc.tensor<8xf32> from "w20" [8] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w21 : !dtc.tensor<8xf32> from "w21" [8] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w22 : !dtc.tensor<8x8xf32> from "w22" [8, 8] view affine_map<(d0, d1) -> (d0, d1)> dims ["embed", "mlp"] {init = "normal", std = 4.0e-1}
  dtc.param @w23 : !dtc.tensor<8x8xf32> from "w23" [8, 8] view affine_map<(d0, d1) -> (d0, d1)> dims ["mlp", "embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w24 : !dtc.tensor<8xf32> from "w24" [8] view affine_map<(d0) -> (d0)> dims ["mlp"] {init = "normal", std = 4.0e-1}
  dtc.param @w25 : !dtc.tensor<8xf32> from "w25" [8] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "normal", std = 4.0e-1}
  dtc.param @positions : !dtc.tensor<5x8xf32> from "positions" [5, 8] view affine_map<(d0, d1) -> (d0, d1)> dims ["position", "embed"] {init = "normal", std = 4.0e-1}
  func.func private @layer0(%x: !dtc.tensor<4x5x8xf32>, %p0: !dtc.tensor<8xf32>, %p1: !dtc.tensor<8xf32>) -> (!dtc.tensor<4x5x8xf32>, !dtc.tensor<4x5x8xf32>) {
    %0 = dtc.rms_norm %x, %p0 {dtc.dims = ["batch", "norm_seq", "embed"], epsilon = 1.0e-2} : (!dtc.tensor<4x5x8xf32>, !dtc.tensor<8xf32>) -> !dtc.tensor<4x5x8xf32>
    %1 = dtc.rms_norm %0, %p1 {dtc.dims = ["batch", "norm_seq", "embed"], epsilon = 1.0e-2} : (!dtc.tensor<4x5x8xf32>, !dtc.tensor<8xf32>) -> !dtc.tensor<4x5x8xf32>
    %2 = dtc.multiply %0, %0 : (!dtc.tensor<4x5x8xf32>, !dtc.tensor<4x5x8xf32>) -> !dtc.tensor<4x5x8xf32>
    %3 = dtc.scale %2 by 0.3 : (!dtc.tensor<4x5x8xf32>) -> !dtc.tensor<4x5x8xf32>
    %4 = dtc.reduce_sum %1 over [1] : (!dtc.tensor<4x5x8xf32>) -> !dtc.tensor<4x8xf32>
    %5 = dtc.broadcast %4 along [1] : (!dtc.tensor<4x8xf32>) -> !dtc.tensor<4x5x8xf32>
    %6 = dtc.scale %5 by 0.2 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x5x8xf32>) -> !dtc.tensor<4x5x8xf32>
    %7 = dtc.add %x, %6 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x5x8xf32>, !dtc.tensor<4x5x8xf32>) -> !dtc.tensor<4x5x8xf32>
    return %7, %7 : !dtc.tensor<4x5x8xf32>, !dtc.tensor<4x5x8xf32>
  }
  func.func private @layer1(%x: !dtc.tensor<4x5x8xf32>, %p0: !dtc.tensor<8x8xf32>, %p1: !dtc.tensor<8x8xf32>, %p2: !dtc.tensor<8x8xf32>, %p3: !dtc.tensor<8x8xf32>, %p4: !dtc.tensor<8xf32>, %p5: !dtc.tensor<8xf32>, %p6: !dtc.tensor<8x8xf32>) -> (!dtc.tensor<4x5x8xf32>) {
    %0 = dtc.einsum "df,fe->de"(%p0, %p1) : (!dtc.tensor<8x8xf32>, !dtc.tensor<8x8xf32>) -> !dtc.tensor<8x8xf32>
    %1 = dtc.einsum "bsd,de->bse"(%x, %0) {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x5x8xf32>, !dtc.tensor<8x8xf32>) -> !dtc.tensor<4x5x8xf32>
    %2 = dtc.einsum "bsd,df->bsf"(%1, %p2) : (!dtc.tensor<4x5x8xf32>, !dtc.tensor<8x8xf32>) -> !dtc.tensor<4x5x8xf32>
    %3 = dtc.add %2, %p4 : (!dtc.tensor<4x5x8xf32>, !dtc.tensor<8xf32>) -> !dtc.tensor<4x5x8xf32>
    %4 = dtc.activation gelu %3 : (!dtc.tensor<4x5x8xf32>) -> !dtc.tensor<4x5x8xf32>
    %5 = dtc.einsum "bsf,fd->bsd"(%4, %p3) : (!dtc.tensor<4x5x8xf32>, !dtc.tensor<8x8xf32>) -> !dtc.tensor<4x5x8xf32>
    %6 = dtc.add %5, %p5 : (!dtc.tensor<4x5x8xf32>, !dtc.tensor<8xf32>) -> !dtc.tensor<4x5x8xf32>
    %7 = dtc.embedding %p6[%ids] : (!dtc.tensor<8x8xf32>, !dtc.tensor<4x5xi32>) -> !dtc.tensor<4x5x8xf32>
    %8 = dtc.add %6, %7 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x5x8xf32>, !dtc.tensor<4x5x8xf32>) -> !dtc.tensor<4x5x8xf32>
    %9 = dtc.einsum "bsd,btd->bst"(%6, %8) : (!dtc.tensor<4x5x8xf32>, !dtc.tensor<4x5x8xf32>) -> !dtc.tensor<4x5x5xf32>
    %10 = dtc.einsum "bst,btd->bsd"(%9, %8) : (!dtc.tensor<4x5x5xf32>, !dtc.tensor<4x5x8xf32>) -> !dtc.tensor<4x5x8xf32>
    %11 = dtc.scale %10 by 0.05 : (!dtc.tensor<4x5x8xf32>) -> !dtc.tensor<4x5x8xf32>
    return %11 : !dtc.tensor<4x5x8xf32>
  }
  func.func @model(%ids: !dtc.tensor<4x5xi32> {dtc.input = "input_ids", dtc.dims = ["batch", "seq"]}, %labels: !dtc.tensor<4x5xi32> {dtc.input = "labels", dtc.dims = ["batch", "seq"]})
      -> (!dtc.tensor<f32> {dtc.output = "loss"}, !dtc.tensor<i32> {dtc.output = "labels"}) {
    %w0 = dtc.read param of @w0 : !dtc.tensor<8x8xf32>
    %w1 = dtc.read param of @w1 : !dtc.tensor<8xf32>
    %w11 = dtc.read param of @w11 : !dtc.tensor<8xf32>
    %w12 = dtc.read param of @w12 : !dtc.tensor<8xf32>
    %w20 = dtc.read param of @w20 : !dtc.tensor<8xf32>
    %w21 = dtc.read param of @w21 : !dtc.tensor<8xf32>
    %w22 = dtc.read param of @w22 : !dtc.tensor<8x8xf32>
    %w23 = dtc.read param of @w23 : !dtc.tensor<8x8xf32>
    %w24 = dtc.read param of @w24 : !dtc.tensor<8xf32>
    %w25 = dtc.read param of @w25 : !dtc.tensor<8xf32>
    %positions = dtc.read param of @positions : !dtc.tensor<5x8xf32>
    %pos = dtc.iota {dtc.dims = ["seq"]} : () -> !dtc.tensor<5xi32>
    %0 = dtc.embedding %w0[%ids] {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<8x8xf32>, !dtc.tensor<4x5xi32>) -> !dtc.tensor<4x5x8xf32>
    %1 = dtc.embedding %positions[%pos] {dtc.dims = ["norm_seq", "embed"]} : (!dtc.tensor<5x8xf32>, !dtc.tensor<5xi32>) -> !dtc.tensor<5x8xf32>
    %2 = dtc.add %0, %1 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x5x8xf32>, !dtc.tensor<5x8xf32>) -> !dtc.tensor<4x5x8xf32>
    %3:2 = call @layer0(%2, %w11, %w12) : (!dtc.tensor<4x5x8xf32>, !dtc.tensor<8xf32>, !dtc.tensor<8xf32>) -> (!dtc.tensor<4x5x8xf32>, !dtc.tensor<4x5x8xf32>)
    %4:2 = call @layer0(%3#0, %w20, %w21) : (!dtc.tensor<4x5x8xf32>, !dtc.tensor<8xf32>, !dtc.tensor<8xf32>) -> (!dtc.tensor<4x5x8xf32>, !dtc.tensor<4x5x8xf32>)
    %5 = dtc.einsum "bsd,df->bsf"(%4#1, %w22) : (!dtc.tensor<4x5x8xf32>, !dtc.tensor<8x8xf32>) -> !dtc.tensor<4x5x8xf32>
    %6 = dtc.add %5, %w24 : (!dtc.tensor<4x5x8xf32>, !dtc.tensor<8xf32>) -> !dtc.tensor<4x5x8xf32>
    %7 = dtc.activation gelu %6 : (!dtc.tensor<4x5x8xf32>) -> !dtc.tensor<4x5x8xf32>
    %8 = dtc.einsum "bsf,fd->bsd"(%7, %w23) : (!dtc.tensor<4x5x8xf32>, !dtc.tensor<8x8xf32>) -> !dtc.tensor<4x5x8xf32>
    %9 = dtc.add %8, %w25 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x5x8xf32>, !dtc.tensor<8xf32>) -> !dtc.tensor<4x5x8xf32>
    %10 = dtc.add %4#1, %9 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x5x8xf32>, !dtc.tensor<4x5x8xf32>) -> !dtc.tensor<4x5x8xf32>
    %11 = dtc.rms_norm %10, %w1 {dtc.dims = ["batch", "norm_seq", "embed"], epsilon = 1.0e-2} : (!dtc.tensor<4x5x8xf32>, !dtc.tensor<8xf32>) -> !dtc.tensor<4x5x8xf32>
    %12 = dtc.einsum "bsd,vd->bsv"(%11, %w0) {dtc.dims = ["batch", "seq", "vocab"]} : (!dtc.tensor<4x5x8xf32>, !dtc.tensor<8x8xf32>) -> !dtc.tensor<4x5x8xf32>
    %13:2 = dtc.cross_entropy %12, %labels {label_smoothing = 0.125000} : (!dtc.tensor<4x5x8xf32>, !dtc.tensor<4x5xi32>) -> (!dtc.tensor<f32>, !dtc.tensor<4x5xf32>)
    %n = dtc.count_labels %labels : (!dtc.tensor<4x5xi32>) -> !dtc.tensor<i32>
    %loss = dtc.divide %13#0, %n : (!dtc.tensor<f32>, !dtc.tensor<i32>) -> !dtc.tensor<f32>
    return %loss, %n : !dtc.tensor<f32>, !dtc.tensor<i32>
  }
}
