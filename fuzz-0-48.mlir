module {
  dtc.param @w0 : !dtc.tensor<7x6xf32> from "w0" [42] view affine_map<(d0, d1) -> (d0 * 6 + d1)> dims ["vocab", "embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w1 : !dtc.tensor<6xf32> from "w1" [6] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w2 : !dtc.tensor<6x3xf32> from "w2" [18] view affine_map<(d0, d1) -> (d0 * 3 + d1)> dims ["embed", "mlp"] {init = "normal", std = 4.0e-1}
  dtc.param @w3 : !dtc.tensor<3x6xf32> from "w3" [18] view affine_map<(d0, d1) -> (d0 * 6 + d1)> dims ["mlp", "embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w5 : !dtc.tensor<6x4x4xf32> from "w5" [4, 4, 6] view affine_map<(d0, d1, d2) -> (d2, d1, d0)> dims ["embed", "heads", "head_dim"] {init = "normal", std = 4.0e-1}
  dtc.param @w6 : !dtc.tensor<6x4x4xf32> from "w6" [6, 4, 4] view affine_map<(d0, d1, d2) -> (d0, d1, d2)> dims ["embed", "kv_heads", "head_dim"] {init = "normal", std = 4.0e-1}
  dtc.param @w7 : !dtc.tensor<6x4x4xf32> from "w7" [6, 4, 4] view affine_map<(d0, d1, d2) -> (d0, d1, d2)> dims ["embed", "kv_heads", "head_dim"] {init = "normal", std = 4.0e-1}
  dtc.param @w8 : !dtc.tensor<4x4x6xf32> from "w8" [4, 4, 6] view affine_map<(d0, d1, d2) -> (d0, d1, d2)> dims ["heads", "head_dim", "embed"] {init = "normal", std = 4.0e-1}
  func.func private @layer0(%x: !dtc.tensor<4x4x6xf32>, %p0: !dtc.tensor<6x4x4xf32>, %p1: !dtc.tensor<4x4x6xf32>, %p3: !dtc.tensor<6x4x4xf32>, %p4: !dtc.tensor<6x4x4xf32>, %p5: !dtc.tensor<6x4x4xf32>, %p6: !dtc.tensor<4x4x6xf32>, %p9: !dtc.tensor<7x6xf32>, %p10: !dtc.tensor<4x4x6xf32>, %pos: !dtc.tensor<4xi32>, %documents: !dtc.tensor<4x4xi32>, %places: !dtc.tensor<4x4xi32>) -> (!dtc.tensor<4x4x6xf32>) {
    %0 = dtc.einsum "bsd,dhe->bshe"(%x, %p0) {dtc.dims = ["batch", "seq", "heads", "head_dim"]} : (!dtc.tensor<4x4x6xf32>, !dtc.tensor<6x4x4xf32>) -> !dtc.tensor<4x4x4x4xf32>
    %1 = dtc.activation gelu %0 : (!dtc.tensor<4x4x4x4xf32>) -> !dtc.tensor<4x4x4x4xf32>
    %2 = dtc.einsum "bshe,hed->bsd"(%1, %p1) : (!dtc.tensor<4x4x4x4xf32>, !dtc.tensor<4x4x6xf32>) -> !dtc.tensor<4x4x6xf32>
    %3 = dtc.reduce_sum %2 over [1] : (!dtc.tensor<4x4x6xf32>) -> !dtc.tensor<4x6xf32>
    %4 = dtc.broadcast %3 along [1] : (!dtc.tensor<4x6xf32>) -> !dtc.tensor<4x4x6xf32>
    %5 = dtc.scale %4 by 0.2 : (!dtc.tensor<4x4x6xf32>) -> !dtc.tensor<4x4x6xf32>
    %6 = dtc.einsum "bsd,dhe->bshe"(%2, %p3) {dtc.dims = ["batch", "seq", "heads", "head_dim"]} : (!dtc.tensor<4x4x6xf32>, !dtc.tensor<6x4x4xf32>) -> !dtc.tensor<4x4x4x4xf32>
    %7 = dtc.einsum "bsd,dhe->bshe"(%x, %p4) {dtc.dims = ["batch", "seq", "kv_heads", "head_dim"]} : (!dtc.tensor<4x4x6xf32>, !dtc.tensor<6x4x4xf32>) -> !dtc.tensor<4x4x4x4xf32>
    %8 = dtc.einsum "bsd,dhe->bshe"(%x, %p5) {dtc.dims = ["batch", "seq", "kv_heads", "head_dim"]} : (!dtc.tensor<4x4x6xf32>, !dtc.tensor<6x4x4xf32>) -> !dtc.tensor<4x4x4x4xf32>
    %9:2 = dtc.attention %6, %7, %8 at %pos, %pos random %rng, %layer, %rows {dtc.dims = ["batch", "seq", "heads", "head_dim"], scale = 6.0e-1, site = 7 : i64, causal, dropout = 2.0e-1} : (!dtc.tensor<4x4x4x4xf32>, !dtc.tensor<4x4x4x4xf32>, !dtc.tensor<4x4x4x4xf32>, !dtc.tensor<4xi32>, !dtc.tensor<4xi32>, !dtc.tensor<2xi32>, !dtc.tensor<i32>, !dtc.tensor<4xi32>) -> (!dtc.tensor<4x4x4x4xf32>, !dtc.tensor<4x4x4xf32>)
    %10 = dtc.einsum "bshe,hed->bsd"(%9#0, %p6) {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x4x4x4xf32>, !dtc.tensor<4x4x6xf32>) -> !dtc.tensor<4x4x6xf32>
    %11 = dtc.embedding %p9[%ids] : (!dtc.tensor<7x6xf32>, !dtc.tensor<4x4xi32>) -> !dtc.tensor<4x4x6xf32>
    %12 = dtc.add %10, %11 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x4x6xf32>, !dtc.tensor<4x4x6xf32>) -> !dtc.tensor<4x4x6xf32>
    %13 = dtc.einsum "bsd,dhe->bshe"(%10, %p3) {dtc.dims = ["batch", "seq", "heads", "head_dim"]} : (!dtc.tensor<4x4x6xf32>, !dtc.tensor<6x4x4xf32>) -> !dtc.tensor<4x4x4x4xf32>
    %14 = dtc.activation gelu %13 : (!dtc.tensor<4x4x4x4xf32>) -> !dtc.tensor<4x4x4x4xf32>
    %15 = dtc.einsum "bshe,hed->bsd"(%14, %p10) {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x4x4x4xf32>, !dtc.tensor<4x4x6xf32>) -> !dtc.tensor<4x4x6xf32>
    %16 = dtc.add %x, %15 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x4x6xf32>, !dtc.tensor<4x4x6xf32>) -> !dtc.tensor<4x4x6xf32>
    return %16 : !dtc.tensor<4x4x6xf32>
  }
  func.func private @layer1(%x: !dtc.tensor<4x4x6xf32>, %pos: !dtc.tensor<4xi32>, %documents: !dtc.tensor<4x4xi32>, %places: !dtc.tensor<4x4xi32>) -> (!dtc.tensor<4x4x6xf32>) {
    %0 = dtc.einsum "bsd,btd->bst"(%x, %x) : (!dtc.tensor<4x4x6xf32>, !dtc.tensor<4x4x6xf32>) -> !dtc.tensor<4x4x4xf32>
    %1 = dtc.einsum "bst,btd->bsd"(%0, %x) : (!dtc.tensor<4x4x4xf32>, !dtc.tensor<4x4x6xf32>) -> !dtc.tensor<4x4x6xf32>
    %2 = dtc.scale %1 by 0.05 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x4x6xf32>) -> !dtc.tensor<4x4x6xf32>
    %3 = dtc.reduce_sum %2 over [1] : (!dtc.tensor<4x4x6xf32>) -> !dtc.tensor<4x6xf32>
    %4 = dtc.broadcast %3 along [1] : (!dtc.tensor<4x6xf32>) -> !dtc.tensor<4x4x6xf32>
    %5 = dtc.scale %4 by 0.2 : (!dtc.tensor<4x4x6xf32>) -> !dtc.tensor<4x4x6xf32>
    return %5 : !dtc.tensor<4x4x6xf32>
  }
  func.func private @layer2(%x: !dtc.tensor<4x4x6xf32>, %p0: !dtc.tensor<7x6xf32>, %p1: !dtc.tensor<6x3xf32>, %p2: !dtc.tensor<3x6xf32>, %p5: !dtc.tensor<6x4x4xf32>, %p6: !dtc.tensor<4x4x6xf32>, %p7: !dtc.tensor<4x4xf32>, %pos: !dtc.tensor<4xi32>, %documents: !dtc.tensor<4x4xi32>, %places: !dtc.tensor<4x4xi32>) -> (!dtc.tensor<4x4x6xf32>) {
    %0 = dtc.embedding %p0[%ids] {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<7x6xf32>, !dtc.tensor<4x4xi32>) -> !dtc.tensor<4x4x6xf32>
    %1 = dtc.add %x, %0 : (!dtc.tensor<4x4x6xf32>, !dtc.tensor<4x4x6xf32>) -> !dtc.tensor<4x4x6xf32>
    %2 = dtc.add %1, %1 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x4x6xf32>, !dtc.tensor<4x4x6xf32>) -> !dtc.tensor<4x4x6xf32>
    %3 = dtc.einsum "bsd,df->bsf"(%2, %p1) {dtc.dims = ["batch", "seq", "mlp"]} : (!dtc.tensor<4x4x6xf32>, !dtc.tensor<6x3xf32>) -> !dtc.tensor<4x4x3xf32>
    %4 = dtc.activation silu %3 : (!dtc.tensor<4x4x3xf32>) -> !dtc.tensor<4x4x3xf32>
    %5 = dtc.einsum "bsf,fd->bsd"(%4, %p2) {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x4x3xf32>, !dtc.tensor<3x6xf32>) -> !dtc.tensor<4x4x6xf32>
    %6 = dtc.einsum "bsd,dhe->bshe"(%5, %p5) {dtc.dims = ["batch", "seq", "heads", "head_dim"]} : (!dtc.tensor<4x4x6xf32>, !dtc.tensor<6x4x4xf32>) -> !dtc.tensor<4x4x4x4xf32>
    %7 = dtc.add %6, %p7 : (!dtc.tensor<4x4x4x4xf32>, !dtc.tensor<4x4xf32>) -> !dtc.tensor<4x4x4x4xf32>
    %8 = dtc.activation silu %7 : (!dtc.tensor<4x4x4x4xf32>) -> !dtc.tensor<4x4x4x4xf32>
    %9 = dtc.einsum "bshe,hed->bsd"(%8, %p6) {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x4x4x4xf32>, !dtc.tensor<4x4x6xf32>) -> !dtc.tensor<4x4x6xf32>
    return %9 : !dtc.tensor<4x4x6xf32>
  }
  func.func @model(%ids: !dtc.tensor<4x4xi32> {dtc.input = "input_ids", dtc.dims = ["batch", "seq"]}, %labels: !dtc.tensor<4x4xi32> {dtc.input = "labels", dtc.dims = ["batch", "seq"]}, %documents: !dtc.tensor<4x4xi32> {dtc.input = "document_ids", dtc.dims = ["batch", "seq"]})
      -> (!dtc.tensor<f32> {dtc.output = "loss"}, !dtc.tensor<i32> {dtc.output = "labels"}) {
    %w0 = dtc.read param of @w0 : !dtc.tensor<7x6xf32>
    %w1 = dtc.read param of @w1 : !dtc.tensor<6xf32>
    %w2 = dtc.read param of @w2 : !dtc.tensor<6x3xf32>
    %w3 = dtc.read param of @w3 : !dtc.tensor<3x6xf32>
    %w5 = dtc.read param of @w5 : !dtc.tensor<6x4x4xf32>
    %w6 = dtc.read param of @w6 : !dtc.tensor<6x4x4xf32>
    %w7 = dtc.read param of @w7 : !dtc.tensor<6x4x4xf32>
    %w8 = dtc.read param of @w8 : !dtc.tensor<4x4x6xf32>
    %pos = dtc.iota {dtc.dims = ["seq"]} : () -> !dtc.tensor<4xi32>
    %places = dtc.document_positions %documents {dtc.dims = ["batch", "seq"]} : (!dtc.tensor<4x4xi32>) -> !dtc.tensor<4x4xi32>
    %0 = dtc.embedding %w0[%ids] {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<7x6xf32>, !dtc.tensor<4x4xi32>) -> !dtc.tensor<4x4x6xf32>
    %1 = dtc.einsum "bsd,df->bsf"(%0, %w2) : (!dtc.tensor<4x4x6xf32>, !dtc.tensor<6x3xf32>) -> !dtc.tensor<4x4x3xf32>
    %2 = dtc.activation silu %1 : (!dtc.tensor<4x4x3xf32>) -> !dtc.tensor<4x4x3xf32>
    %3 = dtc.einsum "bsf,fd->bsd"(%2, %w3) {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x4x3xf32>, !dtc.tensor<3x6xf32>) -> !dtc.tensor<4x4x6xf32>
    %4 = dtc.einsum "bsd,dhe->bshe"(%0, %w5) {dtc.dims = ["batch", "seq", "heads", "head_dim"]} : (!dtc.tensor<4x4x6xf32>, !dtc.tensor<6x4x4xf32>) -> !dtc.tensor<4x4x4x4xf32>
    %5 = dtc.einsum "bsd,dhe->bshe"(%3, %w6) {dtc.dims = ["batch", "seq", "kv_heads", "head_dim"]} : (!dtc.tensor<4x4x6xf32>, !dtc.tensor<6x4x4xf32>) -> !dtc.tensor<4x4x4x4xf32>
    %6 = dtc.einsum "bsd,dhe->bshe"(%3, %w7) {dtc.dims = ["batch", "seq", "kv_heads", "head_dim"]} : (!dtc.tensor<4x4x6xf32>, !dtc.tensor<6x4x4xf32>) -> !dtc.tensor<4x4x4x4xf32>
    %7 = dtc.rotary %4, %places {dtc.dims = ["batch", "seq", "heads", "head_dim"], theta = 1.0e+2} : (!dtc.tensor<4x4x4x4xf32>, !dtc.tensor<4x4xi32>) -> !dtc.tensor<4x4x4x4xf32>
    %8 = dtc.rotary %5, %places {dtc.dims = ["batch", "seq", "kv_heads", "head_dim"], theta = 1.0e+2} : (!dtc.tensor<4x4x4x4xf32>, !dtc.tensor<4x4xi32>) -> !dtc.tensor<4x4x4x4xf32>
    %9:2 = dtc.attention %7, %8, %6 at %pos, %pos documents %documents, %documents {dtc.dims = ["batch", "seq", "heads", "head_dim"], scale = 6.0e-1, site = 15 : i64} : (!dtc.tensor<4x4x4x4xf32>, !dtc.tensor<4x4x4x4xf32>, !dtc.tensor<4x4x4x4xf32>, !dtc.tensor<4xi32>, !dtc.tensor<4xi32>, !dtc.tensor<4x4xi32>, !dtc.tensor<4x4xi32>) -> (!dtc.tensor<4x4x4x4xf32>, !dtc.tensor<4x4x4xf32>)
    %10 = dtc.einsum "bshe,hed->bsd"(%9#0, %w8) {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x4x4x4xf32>, !dtc.tensor<4x4x6xf32>) -> !dtc.tensor<4x4x6xf32>
    %11 = dtc.rms_norm %10, %w1 {dtc.dims = ["batch", "norm_seq", "embed"], epsilon = 1.0e-2} : (!dtc.tensor<4x4x6xf32>, !dtc.tensor<6xf32>) -> !dtc.tensor<4x4x6xf32>
    %12 = dtc.einsum "bsd,vd->bsv"(%11, %w0) {dtc.dims = ["batch", "seq", "vocab"]} : (!dtc.tensor<4x4x6xf32>, !dtc.tensor<7x6xf32>) -> !dtc.tensor<4x4x7xf32>
    %13:2 = dtc.cross_entropy %12, %labels : (!dtc.tensor<4x4x7xf32>, !dtc.tensor<4x4xi32>) -> (!dtc.tensor<f32>, !dtc.tensor<4x4xf32>)
    %14 = dtc.reduce_sum %10 over [0, 1, 2] : (!dtc.tensor<4x4x6xf32>) -> !dtc.tensor<f32>
    %15 = dtc.scale %14 by 0.01 : (!dtc.tensor<f32>) -> !dtc.tensor<f32>
    %16 = dtc.add %13#0, %15 : (!dtc.tensor<f32>, !dtc.tensor<f32>) -> !dtc.tensor<f32>
    %n = dtc.count_labels %labels : (!dtc.tensor<4x4xi32>) -> !dtc.tensor<i32>
    %loss = dtc.divide %16, %n : (!dtc.tensor<f32>, !dtc.tensor<i32>) -> !dtc.tensor<f32>
    return %loss, %n : !dtc.tensor<f32>, !dtc.tensor<i32>
  }
}
