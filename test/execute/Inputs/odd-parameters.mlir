module {
  dtc.param @t : !dtc.tensor<7x4xf32> from "t" [7, 4] view affine_map<(d0, d1) -> (d0, d1)> dims ["vocab", "embed"] {init = "normal", std = 4.0e-1}
  dtc.param @scalar : !dtc.tensor<f32> from "scalar" [] view affine_map<() -> ()> dims [] {init = "normal", std = 4.0e-1}
  dtc.param @one : !dtc.tensor<4x1xf32> from "one" [4, 1] view affine_map<(d0, d1) -> (d0, d1)> dims ["embed", "single"] {init = "normal", std = 4.0e-1}
  dtc.param @square : !dtc.tensor<4x4xf32> from "square" [4, 4] view affine_map<(d0, d1) -> (d0, d1)> dims ["embed", "embed_out"] {init = "normal", std = 4.0e-1}
  dtc.param @row : !dtc.tensor<4xf32> from "row" [4] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "normal", std = 4.0e-1}
  dtc.param @unused : !dtc.tensor<3x5xf32> from "unused" [3, 5] view affine_map<(d0, d1) -> (d0, d1)> dims ["p", "q"] {init = "normal", std = 4.0e-1}
  dtc.param @up : !dtc.tensor<4x5xf32> from "up" [4, 5] view affine_map<(d0, d1) -> (d0, d1)> dims ["embed", "mlp"] {init = "normal", std = 4.0e-1}
  dtc.param @hidden : !dtc.tensor<5xf32> from "hidden" [5] view affine_map<(d0) -> (d0)> dims ["mlp"] {init = "normal", std = 4.0e-1}
  dtc.param @down : !dtc.tensor<5x4xf32> from "down" [5, 4] view affine_map<(d0, d1) -> (d0, d1)> dims ["mlp", "embed"] {init = "normal", std = 4.0e-1}
  func.func private @inner(%x: !dtc.tensor<8x4x4xf32>, %s: !dtc.tensor<f32>, %r: !dtc.tensor<4xf32>) -> !dtc.tensor<8x4x4xf32> {
    %0 = dtc.einsum "bsd,d->bsd"(%x, %r) : (!dtc.tensor<8x4x4xf32>, !dtc.tensor<4xf32>) -> !dtc.tensor<8x4x4xf32>
    %1 = dtc.einsum "bsd,->bsd"(%0, %s) : (!dtc.tensor<8x4x4xf32>, !dtc.tensor<f32>) -> !dtc.tensor<8x4x4xf32>
    return %1 : !dtc.tensor<8x4x4xf32>
  }
  func.func private @layer(%x: !dtc.tensor<8x4x4xf32>, %u: !dtc.tensor<4x5xf32>, %h: !dtc.tensor<5xf32>, %d: !dtc.tensor<5x4xf32>, %s: !dtc.tensor<f32>, %r: !dtc.tensor<4xf32>) -> !dtc.tensor<8x4x4xf32> {
    %0 = dtc.einsum "bsd,df->bsf"(%x, %u) : (!dtc.tensor<8x4x4xf32>, !dtc.tensor<4x5xf32>) -> !dtc.tensor<8x4x5xf32>
    %1 = dtc.add %0, %h : (!dtc.tensor<8x4x5xf32>, !dtc.tensor<5xf32>) -> !dtc.tensor<8x4x5xf32>
    %2 = dtc.activation gelu %1 : (!dtc.tensor<8x4x5xf32>) -> !dtc.tensor<8x4x5xf32>
    %3 = dtc.einsum "bsf,fd->bsd"(%2, %d) : (!dtc.tensor<8x4x5xf32>, !dtc.tensor<5x4xf32>) -> !dtc.tensor<8x4x4xf32>
    %4 = func.call @inner(%3, %s, %r) : (!dtc.tensor<8x4x4xf32>, !dtc.tensor<f32>, !dtc.tensor<4xf32>) -> !dtc.tensor<8x4x4xf32>
    %5 = func.call @inner(%4, %s, %r) : (!dtc.tensor<8x4x4xf32>, !dtc.tensor<f32>, !dtc.tensor<4xf32>) -> !dtc.tensor<8x4x4xf32>
    %6 = dtc.add %x, %5 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<8x4x4xf32>, !dtc.tensor<8x4x4xf32>) -> !dtc.tensor<8x4x4xf32>
    return %6 : !dtc.tensor<8x4x4xf32>
  }
  func.func @model(%ids: !dtc.tensor<8x4xi32> {dtc.input = "input_ids", dtc.dims = ["batch", "seq"]}, %labels: !dtc.tensor<8x4xi32> {dtc.input = "labels", dtc.dims = ["batch", "seq"]})
      -> (!dtc.tensor<f32> {dtc.output = "loss"}, !dtc.tensor<i32> {dtc.output = "labels"}) {
    %t = dtc.read param of @t : !dtc.tensor<7x4xf32>
    %s = dtc.read param of @scalar : !dtc.tensor<f32>
    %o = dtc.read param of @one : !dtc.tensor<4x1xf32>
    %sq = dtc.read param of @square : !dtc.tensor<4x4xf32>
    %r = dtc.read param of @row : !dtc.tensor<4xf32>
    %un = dtc.read param of @unused : !dtc.tensor<3x5xf32>
    %u = dtc.read param of @up : !dtc.tensor<4x5xf32>
    %h = dtc.read param of @hidden : !dtc.tensor<5xf32>
    %d = dtc.read param of @down : !dtc.tensor<5x4xf32>
    %0 = dtc.embedding %t[%ids] {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<7x4xf32>, !dtc.tensor<8x4xi32>) -> !dtc.tensor<8x4x4xf32>
    %derived = dtc.einsum "d,de->e"(%r, %sq) : (!dtc.tensor<4xf32>, !dtc.tensor<4x4xf32>) -> !dtc.tensor<4xf32>
    %1 = dtc.add %0, %derived {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<8x4x4xf32>, !dtc.tensor<4xf32>) -> !dtc.tensor<8x4x4xf32>
    %2 = func.call @layer(%1, %u, %h, %d, %s, %r) : (!dtc.tensor<8x4x4xf32>, !dtc.tensor<4x5xf32>, !dtc.tensor<5xf32>, !dtc.tensor<5x4xf32>, !dtc.tensor<f32>, !dtc.tensor<4xf32>) -> !dtc.tensor<8x4x4xf32>
    %3 = func.call @layer(%2, %u, %h, %d, %s, %derived) : (!dtc.tensor<8x4x4xf32>, !dtc.tensor<4x5xf32>, !dtc.tensor<5xf32>, !dtc.tensor<5x4xf32>, !dtc.tensor<f32>, !dtc.tensor<4xf32>) -> !dtc.tensor<8x4x4xf32>
    %40 = dtc.einsum "bsd,dk->bsk"(%3, %o) : (!dtc.tensor<8x4x4xf32>, !dtc.tensor<4x1xf32>) -> !dtc.tensor<8x4x1xf32>
    %41 = dtc.activation gelu %40 : (!dtc.tensor<8x4x1xf32>) -> !dtc.tensor<8x4x1xf32>
    %42 = dtc.einsum "bsk,dk->bsd"(%41, %o) : (!dtc.tensor<8x4x1xf32>, !dtc.tensor<4x1xf32>) -> !dtc.tensor<8x4x4xf32>
    %4 = dtc.add %42, %3 : (!dtc.tensor<8x4x4xf32>, !dtc.tensor<8x4x4xf32>) -> !dtc.tensor<8x4x4xf32>
    %7 = dtc.rms_norm %4, %r {dtc.dims = ["batch", "norm_seq", "embed"], epsilon = 1.0e-2} : (!dtc.tensor<8x4x4xf32>, !dtc.tensor<4xf32>) -> !dtc.tensor<8x4x4xf32>
    %8 = dtc.einsum "bsd,vd->bsv"(%7, %t) {dtc.dims = ["batch", "seq", "vocab"]} : (!dtc.tensor<8x4x4xf32>, !dtc.tensor<7x4xf32>) -> !dtc.tensor<8x4x7xf32>
    %9:2 = dtc.cross_entropy %8, %labels : (!dtc.tensor<8x4x7xf32>, !dtc.tensor<8x4xi32>) -> (!dtc.tensor<f32>, !dtc.tensor<8x4xf32>)
    %n = dtc.count_labels %labels : (!dtc.tensor<8x4xi32>) -> !dtc.tensor<i32>
    %loss = dtc.divide %9#0, %n : (!dtc.tensor<f32>, !dtc.tensor<i32>) -> !dtc.tensor<f32>
    return %loss, %n : !dtc.tensor<f32>, !dtc.tensor<i32>
  }
}
