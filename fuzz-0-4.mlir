module {
  dtc.param @w0 : !dtc.tensor<4x4xf32> from "w0" [16] view affine_map<(d0, d1) -> (d0 * 4 + d1)> dims ["vocab", "embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w1 : !dtc.tensor<4xf32> from "w1" [4] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w2 : !dtc.tensor<4x4x4xf32> from "w2" [16, 4] view affine_map<(d0, d1, d2) -> (d1 * 4 + d2, d0)> dims ["embed", "heads", "head_dim"] {init = "normal", std = 4.0e-1}
  dtc.param @w7 : !dtc.tensor<4x4x4xf32> from "w7" [4, 4, 4] view affine_map<(d0, d1, d2) -> (d2, d1, d0)> dims ["heads", "head_dim", "embed"] {init = "normal", std = 4.0e-1}
  func.func private @layer0(%x: !dtc.tensor<2x4x4xf32>, %p0: !dtc.tensor<4x6xf32>, %p1: !dtc.tensor<6x4xf32>, %p2: !dtc.tensor<6xf32>, %p3: !dtc.tensor<4xf32>, %p4: !dtc.tensor<4x4xf32>) -> (!dtc.tensor<2x4x4xf32>) {
    %0 = dtc.einsum "bsd,df->bsf"(%x, %p0) {dtc.dims = ["batch", "seq", "mlp"]} : (!dtc.tensor<2x4x4xf32>, !dtc.tensor<4x6xf32>) -> !dtc.tensor<2x4x6xf32>
    %1 = dtc.add %0, %p2 {dtc.dims = ["batch", "seq", "mlp"]} : (!dtc.tensor<2x4x6xf32>, !dtc.tensor<6xf32>) -> !dtc.tensor<2x4x6xf32>
    %2 = dtc.activation gelu_tanh %1 : (!dtc.tensor<2x4x6xf32>) -> !dtc.tensor<2x4x6xf32>
    %3 = dtc.einsum "bsf,fd->bsd"(%2, %p1) : (!dtc.tensor<2x4x6xf32>, !dtc.tensor<6x4xf32>) -> !dtc.tensor<2x4x4xf32>
    %4 = dtc.add %3, %p3 : (!dtc.tensor<2x4x4xf32>, !dtc.tensor<4xf32>) -> !dtc.tensor<2x4x4xf32>
    %5 = dtc.embedding %p4[%ids] {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x4xf32>, !dtc.tensor<2x4xi32>) -> !dtc.tensor<2x4x4xf32>
    %6 = dtc.add %4, %5 : (!dtc.tensor<2x4x4xf32>, !dtc.tensor<2x4x4xf32>) -> !dtc.tensor<2x4x4xf32>
    return %6 : !dtc.tensor<2x4x4xf32>
  }
  func.func private @layer1(%x: !dtc.tensor<2x4x4xf32>, %p0: !dtc.tensor<4x4x4xf32>, %p1: !dtc.tensor<4x4x4xf32>) -> (!dtc.tensor<2x4x4xf32>) {
    %0 = dtc.einsum "bsd,dhe->bshe"(%x, %p0) {dtc.dims = ["batch", "seq", "heads", "head_dim"]} : (!dtc.tensor<2x4x4xf32>, !dtc.tensor<4x4x4xf32>) -> !dtc.tensor<2x4x4x4xf32>
    %1 = dtc.activation gelu_tanh %0 : (!dtc.tensor<2x4x4x4xf32>) -> !dtc.tensor<2x4x4x4xf32>
    %2 = dtc.einsum "bshe,hed->bsd"(%1, %p1) : (!dtc.tensor<2x4x4x4xf32>, !dtc.tensor<4x4x4xf32>) -> !dtc.tensor<2x4x4xf32>
    return %2 : !dtc.tensor<2x4x4xf32>
  }
  func.func @model(%ids: !dtc.tensor<2x4xi32> {dtc.input = "input_ids", dtc.dims = ["batch", "seq"]}, %labels: !dtc.tensor<2x4xi32> {dtc.input = "labels", dtc.dims = ["batch", "seq"]})
      -> (!dtc.tensor<f32> {dtc.output = "loss"}, !dtc.tensor<i32> {dtc.output = "labels"}) {
    %w0 = dtc.read param of @w0 : !dtc.tensor<4x4xf32>
    %w1 = dtc.read param of @w1 : !dtc.tensor<4xf32>
    %w2 = dtc.read param of @w2 : !dtc.tensor<4x4x4xf32>
    %w7 = dtc.read param of @w7 : !dtc.tensor<4x4x4xf32>
    %0 = dtc.embedding %w0[%ids] {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x4xf32>, !dtc.tensor<2x4xi32>) -> !dtc.tensor<2x4x4xf32>
    %1:1 = call @layer1(%0, %w2, %w7) : (!dtc.tensor<2x4x4xf32>, !dtc.tensor<4x4x4xf32>, !dtc.tensor<4x4x4xf32>) -> (!dtc.tensor<2x4x4xf32>)
    %2 = dtc.rms_norm %1#0, %w1 {dtc.dims = ["batch", "norm_seq", "embed"], epsilon = 1.0e-2} : (!dtc.tensor<2x4x4xf32>, !dtc.tensor<4xf32>) -> !dtc.tensor<2x4x4xf32>
    %3 = dtc.einsum "bsd,vd->bsv"(%2, %w0) {dtc.dims = ["batch", "seq", "vocab"]} : (!dtc.tensor<2x4x4xf32>, !dtc.tensor<4x4xf32>) -> !dtc.tensor<2x4x4xf32>
    %4:2 = dtc.cross_entropy %3, %labels : (!dtc.tensor<2x4x4xf32>, !dtc.tensor<2x4xi32>) -> (!dtc.tensor<f32>, !dtc.tensor<2x4xf32>)
    %n = dtc.count_labels %labels : (!dtc.tensor<2x4xi32>) -> !dtc.tensor<i32>
    %loss = dtc.divide %4#0, %n : (!dtc.tensor<f32>, !dtc.tensor<i32>) -> !dtc.tensor<f32>
    return %loss, %n : !dtc.tensor<f32>, !dtc.tensor<i32>
  }
}
