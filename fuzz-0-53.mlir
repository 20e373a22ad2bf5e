module {
  dtc.param @w0 : !dtc.tensor<11x6xf32> from "w0" [11, 6] view affine_map<(d0, d1) -> (d0, d1)> dims ["vocab", "embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w1 : !dtc.tensor<6xf32> from "w1" [6] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w2 : !dtc.tensor<6x3xf32> from "w2" [6, 3] view affine_map<(d0, d1) -> (d0, d1)> dims ["embed", "mlp"] {init = "normal", std = 4.0e-1}
  dtc.param @w3 : !dtc.tensor<6x3xf32> from "w3" [6, 3] view affine_map<(d0, d1) -> (d0, d1)> dims ["embed", "mlp"] {init = "normal", std = 4.0e-1}
  dtc.param @w4 : !dtc.tensor<3x6xf32> from "w4" [3, 6] view affine_map<(d0, d1) -> (d0, d1)> dims ["mlp", "embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w7 : !dtc.tensor<6x3xf32> from "w7" [3, 6] view affine_map<(d0, d1) -> (d1, d0)> dims ["embed", "mlp"] {init = "normal", std = 4.0e-1}
  dtc.param @w8 : !dtc.tensor<3x6xf32> from "w8" [18] view affine_map<(d0, d1) -> (d0 * 6 + d1)> dims ["mlp", "embed"] {init = "normal", std = 4.0e-1}
  func.func private @layer0(%x: !dtc.tensor<4x9x6xf32>, %p0: !dtc.tensor<6xf32>) -> (!dtc.tensor<4x9x6xf32>) {
    %0 = dtc.rms_norm %x, %p0 {epsilon = 1.0e-2} : (!dtc.tensor<4x9x6xf32>, !dtc.tensor<6xf32>) -> !dtc.tensor<4x9x6xf32>
    %1 = dtc.add %x, %0 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x9x6xf32>, !dtc.tensor<4x9x6xf32>) -> !dtc.tensor<4x9x6xf32>
    return %1 : !dtc.tensor<4x9x6xf32>
  }
  func.func private @layer1(%x: !dtc.tensor<4x9x6xf32>, %p0: !dtc.tensor<6x2x2xf32>, %p1: !dtc.tensor<6x2x2xf32>, %p2: !dtc.tensor<6x2x2xf32>, %p3: !dtc.tensor<2x2x6xf32>, %p4: !dtc.tensor<2x2xf32>, %p5: !dtc.tensor<6xf32>, %p6: !dtc.tensor<2xf32>, %p7: !dtc.tensor<6x3xf32>, %p8: !dtc.tensor<3x6xf32>, %p9: !dtc.tensor<9x6xf32>) -> (!dtc.tensor<4x9x6xf32>, !dtc.tensor<4x9x6xf32>) {
    %0 = dtc.einsum "bsd,dhe->bshe"(%x, %p0) : (!dtc.tensor<4x9x6xf32>, !dtc.tensor<6x2x2xf32>) -> !dtc.tensor<4x9x2x2xf32>
    %1 = dtc.add %0, %p4 : (!dtc.tensor<4x9x2x2xf32>, !dtc.tensor<2x2xf32>) -> !dtc.tensor<4x9x2x2xf32>
    %2 = dtc.rms_norm %1, %p6 {epsilon = 1.0e-2} : (!dtc.tensor<4x9x2x2xf32>, !dtc.tensor<2xf32>) -> !dtc.tensor<4x9x2x2xf32>
    %3 = dtc.einsum "bsd,dhe->bshe"(%x, %p1) : (!dtc.tensor<4x9x6xf32>, !dtc.tensor<6x2x2xf32>) -> !dtc.tensor<4x9x2x2xf32>
    %4 = dtc.einsum "bsd,dhe->bshe"(%x, %p2) : (!dtc.tensor<4x9x6xf32>, !dtc.tensor<6x2x2xf32>) -> !dtc.tensor<4x9x2x2xf32>
    %5:2 = dtc.attention %2, %3, %4 at %pos, %pos {scale = 6.0e-1, site = 9 : i64, causal} : (!dtc.tensor<4x9x2x2xf32>, !dtc.tensor<4x9x2x2xf32>, !dtc.tensor<4x9x2x2xf32>, !dtc.tensor<9xi32>, !dtc.tensor<9xi32>) -> (!dtc.tensor<4x9x2x2xf32>, !dtc.tensor<4x9x2xf32>)
    %6 = dtc.einsum "bshe,hed->bsd"(%5#0, %p3) : (!dtc.tensor<4x9x2x2xf32>, !dtc.tensor<2x2x6xf32>) -> !dtc.tensor<4x9x6xf32>
    %7 = dtc.add %6, %p5 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x9x6xf32>, !dtc.tensor<6xf32>) -> !dtc.tensor<4x9x6xf32>
    %8 = dtc.einsum "bsd,df->bsf"(%7, %p7) {dtc.dims = ["batch", "seq", "mlp"]} : (!dtc.tensor<4x9x6xf32>, !dtc.tensor<6x3xf32>) -> !dtc.tensor<4x9x3xf32>
    %9 = dtc.einsum "bsd,df->bsf"(%7, %p7) : (!dtc.tensor<4x9x6xf32>, !dtc.tensor<6x3xf32>) -> !dtc.tensor<4x9x3xf32>
    %10 = dtc.gated_product gelu_tanh %8, %9 : (!dtc.tensor<4x9x3xf32>, !dtc.tensor<4x9x3xf32>) -> !dtc.tensor<4x9x3xf32>
    %11 = dtc.einsum "bsf,fd->bsd"(%10, %p8) {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x9x3xf32>, !dtc.tensor<3x6xf32>) -> !dtc.tensor<4x9x6xf32>
    %12 = dtc.embedding %p9[%pos] {dtc.dims = ["norm_seq", "embed"]} : (!dtc.tensor<9x6xf32>, !dtc.tensor<9xi32>) -> !dtc.tensor<9x6xf32>
    %13 = dtc.add %7, %12 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x9x6xf32>, !dtc.tensor<9x6xf32>) -> !dtc.tensor<4x9x6xf32>
    %14 = dtc.einsum "bsd,bsd->bs"(%11, %7) : (!dtc.tensor<4x9x6xf32>, !dtc.tensor<4x9x6xf32>) -> !dtc.tensor<4x9xf32>
    %15 = dtc.einsum "bs,bsd->bsd"(%14, %11) : (!dtc.tensor<4x9xf32>, !dtc.tensor<4x9x6xf32>) -> !dtc.tensor<4x9x6xf32>
    %16 = dtc.scale %15 by 0.1 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x9x6xf32>) -> !dtc.tensor<4x9x6xf32>
    return %16, %7 : !dtc.tensor<4x9x6xf32>, !dtc.tensor<4x9x6xf32>
  }
  func.func private @layer2(%x: !dtc.tensor<4x9x6xf32>, %p0: !dtc.tensor<6x3xf32>, %p1: !dtc.tensor<3x6xf32>) -> (!dtc.tensor<4x9x6xf32>) {
    %0 = dtc.einsum "df,fe->de"(%p0, %p1) : (!dtc.tensor<6x3xf32>, !dtc.tensor<3x6xf32>) -> !dtc.tensor<6x6xf32>
    %1 = dtc.einsum "bsd,de->bse"(%x, %0) : (!dtc.tensor<4x9x6xf32>, !dtc.tensor<6x6xf32>) -> !dtc.tensor<4x9x6xf32>
    return %1 : !dtc.tensor<4x9x6xf32>
  }
  func.func @model(%ids: !dtc.tensor<4x9xi32> {dtc.input = "input_ids", dtc.dims = ["batch", "seq"]}, %labels: !dtc.tensor<4x9xi32> {dtc.input = "labels", dtc.dims = ["batch", "seq"]})
      -> (!dtc.tensor<f32> {dtc.output = "loss"}, !dtc.tensor<i32> {dtc.output = "labels"}) {
    %w0 = dtc.read param of @w0 : !dtc.tensor<11x6xf32>
    %w1 = dtc.read param of @w1 : !dtc.tensor<6xf32>
    %w2 = dtc.read param of @w2 : !dtc.tensor<6x3xf32>
    %w3 = dtc.read param of @w3 : !dtc.tensor<6x3xf32>
    %w4 = dtc.read param of @w4 : !dtc.tensor<3x6xf32>
    %w7 = dtc.read param of @w7 : !dtc.tensor<6x3xf32>
    %w8 = dtc.read param of @w8 : !dtc.tensor<3x6xf32>
    %0 = dtc.embedding %w0[%ids] {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<11x6xf32>, !dtc.tensor<4x9xi32>) -> !dtc.tensor<4x9x6xf32>
    %1 = dtc.einsum "bsd,df->bsf"(%0, %w2) {dtc.dims = ["batch", "seq", "mlp"]} : (!dtc.tensor<4x9x6xf32>, !dtc.tensor<6x3xf32>) -> !dtc.tensor<4x9x3xf32>
    %2 = dtc.einsum "bsd,df->bsf"(%0, %w3) : (!dtc.tensor<4x9x6xf32>, !dtc.tensor<6x3xf32>) -> !dtc.tensor<4x9x3xf32>
    %3 = dtc.gated_product silu %1, %2 : (!dtc.tensor<4x9x3xf32>, !dtc.tensor<4x9x3xf32>) -> !dtc.tensor<4x9x3xf32>
    %4 = dtc.einsum "bsf,fd->bsd"(%3, %w4) {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x9x3xf32>, !dtc.tensor<3x6xf32>) -> !dtc.tensor<4x9x6xf32>
    %5 = dtc.einsum "bsd,btd->bst"(%4, %4) : (!dtc.tensor<4x9x6xf32>, !dtc.tensor<4x9x6xf32>) -> !dtc.tensor<4x9x9xf32>
    %6 = dtc.einsum "bst,btd->bsd"(%5, %4) : (!dtc.tensor<4x9x9xf32>, !dtc.tensor<4x9x6xf32>) -> !dtc.tensor<4x9x6xf32>
    %7 = dtc.scale %6 by 0.05 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x9x6xf32>) -> !dtc.tensor<4x9x6xf32>
    %8:1 = call @layer2(%7, %w7, %w8) : (!dtc.tensor<4x9x6xf32>, !dtc.tensor<6x3xf32>, !dtc.tensor<3x6xf32>) -> (!dtc.tensor<4x9x6xf32>)
    %9 = dtc.rms_norm %8#0, %w1 {dtc.dims = ["batch", "norm_seq", "embed"], epsilon = 1.0e-2} : (!dtc.tensor<4x9x6xf32>, !dtc.tensor<6xf32>) -> !dtc.tensor<4x9x6xf32>
    %10 = dtc.einsum "bsd,vd->bsv"(%9, %w0) {dtc.dims = ["batch", "seq", "vocab"]} : (!dtc.tensor<4x9x6xf32>, !dtc.tensor<11x6xf32>) -> !dtc.tensor<4x9x11xf32>
    %11:2 = dtc.cross_entropy %10, %labels {label_smoothing = 0.125000} : (!dtc.tensor<4x9x11xf32>, !dtc.tensor<4x9xi32>) -> (!dtc.tensor<f32>, !dtc.tensor<4x9xf32>)
    %n = dtc.count_labels %labels : (!dtc.tensor<4x9xi32>) -> !dtc.tensor<i32>
    %loss = dtc.divide %11#0, %n : (!dtc.tensor<f32>, !dtc.tensor<i32>) -> !dtc.tensor<f32>
    return %loss, %n : !dtc.tensor<f32>, !dtc.tensor<i32>
  }
}
