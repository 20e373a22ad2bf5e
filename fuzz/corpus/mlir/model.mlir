dtc.param @w : !dtc.tensor<5x6xf32> from "w" [5, 6] view affine_map<(a, b) -> (a, b)> dims ["vocab", "embed"] {init = "normal", std = 0.4}
func.func @model(%ids: !dtc.tensor<4x2xi32> {dtc.input = "input_ids", dtc.dims = ["batch", "seq"]},
                 %labels: !dtc.tensor<4x2xi32> {dtc.input = "labels", dtc.dims = ["batch", "seq"]})
    -> (!dtc.tensor<f32> {dtc.output = "loss"}, !dtc.tensor<i32> {dtc.output = "labels"}) {
  %w = dtc.read param of @w : !dtc.tensor<5x6xf32>
  %x = dtc.embedding %w[%ids] : (!dtc.tensor<5x6xf32>, !dtc.tensor<4x2xi32>) -> !dtc.tensor<4x2x6xf32>
  %logits = dtc.einsum "bsd,vd->bsv"(%x, %w) : (!dtc.tensor<4x2x6xf32>, !dtc.tensor<5x6xf32>) -> !dtc.tensor<4x2x5xf32>
  %sum, %lse = dtc.cross_entropy %logits, %labels : (!dtc.tensor<4x2x5xf32>, !dtc.tensor<4x2xi32>) -> (!dtc.tensor<f32>, !dtc.tensor<4x2xf32>)
  %n = dtc.count_labels %labels : (!dtc.tensor<4x2xi32>) -> !dtc.tensor<i32>
  %loss = dtc.divide %sum, %n : (!dtc.tensor<f32>, !dtc.tensor<i32>) -> !dtc.tensor<f32>
  return %loss, %n : !dtc.tensor<f32>, !dtc.tensor<i32>
}
