module {
  dtc.param @w0 : !dtc.tensor<2x1xf32> from "w0" [2, 1] view affine_map<(d0, d1) -> (d0, d1)> dims ["vocab", "embed"] {init = "normal", std = 4.0e-1}
  dtc.param @w1 : !dtc.tensor<1xf32> from "w1" [1] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "normal", std = 4.0e-1}
  func.func @model(%ids: !dtc.tensor<1x1xi32> {dtc.input = "input_ids", dtc.dims = ["batch", "seq"]}, %labels: !dtc.tensor<1x1xi32> {dtc.input = "labels", dtc.dims = ["batch", "seq"]})
      -> (!dtc.tensor<f32> {dtc.output = "loss"}, !dtc.tensor<i32> {dtc.output = "labels"}) {
    %w0 = dtc.read param of @w0 : !dtc.tensor<2x1xf32>
    %w1 = dtc.read param of @w1 : !dtc.tensor<1xf32>
    %0 = dtc.embedding %w0[%ids] {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<2x1xf32>, !dtc.tensor<1x1xi32>) -> !dtc.tensor<1x1x1xf32>
    %1 = dtc.rms_norm %0, %w1 {dtc.dims = ["batch", "norm_seq", "embed"], epsilon = 1.0e-2} : (!dtc.tensor<1x1x1xf32>, !dtc.tensor<1xf32>) -> !dtc.tensor<1x1x1xf32>
    %2 = dtc.einsum "bsd,vd->bsv"(%1, %w0) {dtc.dims = ["batch", "seq", "vocab"]} : (!dtc.tensor<1x1x1xf32>, !dtc.tensor<2x1xf32>) -> !dtc.tensor<1x1x2xf32>
    %3:2 = dtc.cross_entropy %2, %labels : (!dtc.tensor<1x1x2xf32>, !dtc.tensor<1x1xi32>) -> (!dtc.tensor<f32>, !dtc.tensor<1x1xf32>)
    %n = dtc.count_labels %labels : (!dtc.tensor<1x1xi32>) -> !dtc.tensor<i32>
    %loss = dtc.divide %3#0, %n : (!dtc.tensor<f32>, !dtc.tensor<i32>) -> !dtc.tensor<f32>
    return %loss, %n : !dtc.tensor<f32>, !dtc.tensor<i32>
  }
}
