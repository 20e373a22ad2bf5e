module {
  dtc.param @w0 : !dtc.tensor<10x6xf32> from "w0" [10, 6] view affine_map<(d0, d1) -> (d0, d1)> dims ["vocab", "embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w1 : !dtc.tensor<6xf32> from "w1" [6] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w2 : !dtc.tensor<6x6xf32> from "w2" [36] view affine_map<(d0, d1) -> (d0 * 6 + d1)> dims ["embed", "embed_out"] {init = "normal", std = 4.0e-1}
  dtc.param @w3 : !dtc.tensor<10x6xf32> from "w3" [60] view affine_map<(d0, d1) -> (d0 * 6 + d1)> dims ["vocab", "embed"] {init = "normal", std = 4.0e-1}
  dtc.param @positions : !dtc.tensor<6x6xf32> from "positions" [6, 6] view affine_map<(d0, d1) -> (d0, d1)> dims ["position", "embed"] {init = "normal", std = 4.0e-1}
  func.func private @layer0(%x: !dtc.tensor<18x6x6xf32>, %p0: !dtc.tensor<6x6xf32>, %p1: !dtc.tensor<6x6xf32>, %p4: !dtc.tensor<6x6xf32>, %p5: !dtc.tensor<6x6xf32>, %p6: !dtc.tensor<6x6xf32>, %p7: !dtc.tensor<10x6xf32>) -> (!dtc.tensor<18x6x6xf32>) {
    %0 = dtc.einsum "bsd,df->bsf"(%x, %p0) {dtc.dims = ["batch", "seq", "mlp"]} : (!dtc.tensor<18x6x6xf32>, !dtc.tensor<6x6xf32>) -> !dtc.tensor<18x6x6xf32>
    %1 = dtc.activation gelu_tanh %0 : (!dtc.tensor<18x6x6xf32>) -> !dtc.tensor<18x6x6xf32>
    %2 = dtc.einsum "bsf,fd->bsd"(%1, %p1) {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<18x6x6xf32>, !dtc.tensor<6x6xf32>) -> !dtc.tensor<18x6x6xf32>
    %3 = dtc.einsum "bsd,df->bsf"(%2, %p4) {dtc.dims = ["batch", "seq", "mlp"]} : (!dtc.tensor<18x6x6xf32>, !dtc.tensor<6x6xf32>) -> !dtc.tensor<18x6x6xf32>
    %4 = dtc.einsum "bsd,df->bsf"(%2, %p5) : (!dtc.tensor<18x6x6xf32>, !dtc.tensor<6x6xf32>) -> !dtc.tensor<18x6x6xf32>
    %5 = dtc.gated_product silu %3, %4 : (!dtc.tensor<18x6x6xf32>, !dtc.tensor<18x6x6xf32>) -> !dtc.tensor<18x6x6xf32>
    %6 = dtc.einsum "bsf,fd->bsd"(%5, %p6) {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<18x6x6xf32>, !dtc.tensor<6x6xf32>) -> !dtc.tensor<18x6x6xf32>
    %7 = dtc.embedding %p7[%ids] {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<10x6xf32>, !dtc.tensor<18x6xi32>) -> !dtc.tensor<18x6x6xf32>
    %8 = dtc.add %6, %7 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<18x6x6xf32>, !dtc.tensor<18x6x6xf32>) -> !dtc.tensor<18x6x6xf32>
    %9 = dtc.einsum "bsd,bsd->bs"(%8, %2) : (!dtc.tensor<18x6x6xf32>, !dtc.tensor<18x6x6xf32>) -> !dtc.tensor<18x6xf32>
    %10 = dtc.einsum "bs,bsd->bsd"(%9, %8) : (!dtc.tensor<18x6xf32>, !dtc.tensor<18x6x6xf32>) -> !dtc.tensor<18x6x6xf32>
    %11 = dtc.scale %10 by 0.1 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<18x6x6xf32>) -> !dtc.tensor<18x6x6xf32>
    %12 = dtc.add %x, %11 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<18x6x6xf32>, !dtc.tensor<18x6x6xf32>) -> !dtc.tensor<18x6x6xf32>
    return %12 : !dtc.tensor<18x6x6xf32>
  }
  func.func private @layer1(%x: !dtc.tensor<18x6x6xf32>, %p0: !dtc.tensor<6x1x4xf32>, %p1: !dtc.tensor<6x1x4xf32>, %p2: !dtc.tensor<6x1x4xf32>, %p3: !dtc.tensor<1x4x6xf32>, %p4: !dtc.tensor<1x4xf32>, %p5: !dtc.tensor<6xf32>, %p6: !dtc.tensor<4xf32>, %p7: !dtc.tensor<6x1x4xf32>, %p8: !dtc.tensor<1x4x6xf32>) -> (!dtc.tensor<18x6x6xf32>, !dtc.tensor<18x6x6xf32>) {
    %0 = dtc.einsum "bsd,dhe->bshe"(%x, %p0) : (!dtc.tensor<18x6x6xf32>, !dtc.tensor<6x1x4xf32>) -> !dtc.tensor<18x6x1x4xf32>
    %1 = dtc.add %0, %p4 : (!dtc.tensor<18x6x1x4xf32>, !dtc.tensor<1x4xf32>) -> !dtc.tensor<18x6x1x4xf32>
    %2 = dtc.rms_norm %1, %p6 {epsilon = 1.0e-2} : (!dtc.tensor<18x6x1x4xf32>, !dtc.tensor<4xf32>) -> !dtc.tensor<18x6x1x4xf32>
    %3 = dtc.einsum "bsd,dhe->bshe"(%x, %p1) : (!dtc.tensor<18x6x6xf32>, !dtc.tensor<6x1x4xf32>) -> !dtc.tensor<18x6x1x4xf32>
    %4 = dtc.einsum "bsd,dhe->bshe"(%x, %p2) : (!dtc.tensor<18x6x6xf32>, !dtc.tensor<6x1x4xf32>) -> !dtc.tensor<18x6x1x4xf32>
    %5 = dtc.rotary %2, %pos {theta = 1.0e+2} : (!dtc.tensor<18x6x1x4xf32>, !dtc.tensor<6xi32>) -> !dtc.tensor<18x6x1x4xf32>
    %6 = dtc.rotary %3, %pos {theta = 1.0e+2} : (!dtc.tensor<18x6x1x4xf32>, !dtc.tensor<6xi32>) -> !dtc.tensor<18x6x1x4xf32>
    %7:2 = dtc.attention %5, %6, %4 at %pos, %pos random %rng, %layer, %rows {scale = 6.0e-1, site = 0 : i64, causal, dropout = 2.0e-1} : (!dtc.tensor<18x6x1x4xf32>, !dtc.tensor<18x6x1x4xf32>, !dtc.tensor<18x6x1x4xf32>, !dtc.tensor<6xi32>, !dtc.tensor<6xi32>, !dtc.tensor<2xi32>, !dtc.tensor<i32>, !dtc.tensor<18xi32>) -> (!dtc.tensor<18x6x1x4xf32>, !dtc.tensor<18x6x1xf32>)
    %8 = dtc.einsum "bshe,hed->bsd"(%7#0, %p3) : (!dtc.tensor<18x6x1x4xf32>, !dtc.tensor<1x4x6xf32>) -> !dtc.tensor<18x6x6xf32>
    %9 = dtc.add %8, %p5 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<18x6x6xf32>, !dtc.tensor<6xf32>) -> !dtc.tensor<18x6x6xf32>
    %10 = dtc.add %9, %9 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<18x6x6xf32>, !dtc.tensor<18x6x6xf32>) -> !dtc.tensor<18x6x6xf32>
    %11 = dtc.dropout %10 random %rng, %layer, %rows, %pos {dtc.dims = ["batch", "norm_seq", "embed"], p = 2.0e-1, site = 1 : i64} : (!dtc.tensor<18x6x6xf32>, !dtc.tensor<2xi32>, !dtc.tensor<i32>, !dtc.tensor<18xi32>, !dtc.tensor<6xi32>) -> !dtc.tensor<18x6x6xf32>
    %12 = dtc.einsum "bsd,dhe->bshe"(%11, %p0) : (!dtc.tensor<18x6x6xf32>, !dtc.tensor<6x1x4xf32>) -> !dtc.tensor<18x6x1x4xf32>
    %13 = dtc.einsum "bsd,dhe->bshe"(%10, %p7) : (!dtc.tensor<18x6x6xf32>, !dtc.tensor<6x1x4xf32>) -> !dtc.tensor<18x6x1x4xf32>
    %14 = dtc.einsum "bsd,dhe->bshe"(%10, %p2) : (!dtc.tensor<18x6x6xf32>, !dtc.tensor<6x1x4xf32>) -> !dtc.tensor<18x6x1x4xf32>
    %15 = dtc.rotary %12, %pos {theta = 1.0e+2} : (!dtc.tensor<18x6x1x4xf32>, !dtc.tensor<6xi32>) -> !dtc.tensor<18x6x1x4xf32>
    %16 = dtc.rotary %13, %pos {theta = 1.0e+2} : (!dtc.tensor<18x6x1x4xf32>, !dtc.tensor<6xi32>) -> !dtc.tensor<18x6x1x4xf32>
    %17:2 = dtc.attention %15, %16, %14 at %pos, %pos {scale = 6.0e-1, site = 3 : i64, causal} : (!dtc.tensor<18x6x1x4xf32>, !dtc.tensor<18x6x1x4xf32>, !dtc.tensor<18x6x1x4xf32>, !dtc.tensor<6xi32>, !dtc.tensor<6xi32>) -> (!dtc.tensor<18x6x1x4xf32>, !dtc.tensor<18x6x1xf32>)
    %18 = dtc.einsum "bshe,hed->bsd"(%17#0, %p8) {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<18x6x1x4xf32>, !dtc.tensor<1x4x6xf32>) -> !dtc.tensor<18x6x6xf32>
    return %18, %10 : !dtc.tensor<18x6x6xf32>, !dtc.tensor<18x6x6xf32>
  }
  func.func @model(%ids: !dtc.tensor<18x6xi32> {dtc.input = "input_ids", dtc.dims = ["batch", "seq"]}, %labels: !dtc.tensor<18x6xi32> {dtc.input = "labels", dtc.dims = ["batch", "seq"]})
      -> (!dtc.tensor<f32> {dtc.output = "loss"}, !dtc.tensor<i32> {dtc.output = "labels"}) {
    %w0 = dtc.read param of @w0 : !dtc.tensor<10x6xf32>
    %w1 = dtc.read param of @w1 : !dtc.tensor<6xf32>
    %w2 = dtc.read param of @w2 : !dtc.tensor<6x6xf32>
    %w3 = dtc.read param of @w3 : !dtc.tensor<10x6xf32>
    %positions = dtc.read param of @positions : !dtc.tensor<6x6xf32>
    %pos = dtc.iota {dtc.dims = ["seq"]} : () -> !dtc.tensor<6xi32>
    %0 = dtc.embedding %w0[%ids] {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<10x6xf32>, !dtc.tensor<18x6xi32>) -> !dtc.tensor<18x6x6xf32>
    %1 = dtc.embedding %positions[%pos] {dtc.dims = ["norm_seq", "embed"]} : (!dtc.tensor<6x6xf32>, !dtc.tensor<6xi32>) -> !dtc.tensor<6x6xf32>
    %2 = dtc.add %0, %1 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<18x6x6xf32>, !dtc.tensor<6x6xf32>) -> !dtc.tensor<18x6x6xf32>
    %3 = dtc.einsum "bsd,de->bse"(%2, %w2) : (!dtc.tensor<18x6x6xf32>, !dtc.tensor<6x6xf32>) -> !dtc.tensor<18x6x6xf32>
    %4 = dtc.scale %3 by 0.5 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<18x6x6xf32>) -> !dtc.tensor<18x6x6xf32>
    %5 = dtc.scale %4 by 0.5 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<18x6x6xf32>) -> !dtc.tensor<18x6x6xf32>
    %6 = dtc.rms_norm %5, %w1 {dtc.dims = ["batch", "norm_seq", "embed"], epsilon = 1.0e-2} : (!dtc.tensor<18x6x6xf32>, !dtc.tensor<6xf32>) -> !dtc.tensor<18x6x6xf32>
    %7 = dtc.einsum "bsd,vd->bsv"(%6, %w3) {dtc.dims = ["batch", "seq", "vocab"]} : (!dtc.tensor<18x6x6xf32>, !dtc.tensor<10x6xf32>) -> !dtc.tensor<18x6x10xf32>
    %8:2 = dtc.cross_entropy %7, %labels : (!dtc.tensor<18x6x10xf32>, !dtc.tensor<18x6xi32>) -> (!dtc.tensor<f32>, !dtc.tensor<18x6xf32>)
    %n = dtc.count_labels %labels : (!dtc.tensor<18x6xi32>) -> !dtc.tensor<i32>
    %loss = dtc.divide %8#0, %n : (!dtc.tensor<f32>, !dtc.tensor<i32>) -> !dtc.tensor<f32>
    return %loss, %n : !dtc.tensor<f32>, !dtc.tensor<i32>
  }
}
