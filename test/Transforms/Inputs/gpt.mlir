// A GPT of two layers, small enough to interpret, with a tied embedding, dropout
// and label smoothing. A tensor-parallel axis of 4 divides neither its MLP nor
// its vocabulary.

module {
  dtc.param @wte : !dtc.tensor<9x8xf32> from "wte" [9, 8] view affine_map<(d0, d1) -> (d0, d1)> dims ["vocab", "embed"] {init = "normal", std = 2.0e-1 : f64}
  dtc.param @wpe : !dtc.tensor<4x8xf32> from "wpe" [4, 8] view affine_map<(d0, d1) -> (d0, d1)> dims ["position", "embed"] {init = "normal", std = 2.0e-1 : f64}
  dtc.param @h0_g1 : !dtc.tensor<8xf32> from "h0_g1" [8] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "ones"}
  dtc.param @h0_b1 : !dtc.tensor<8xf32> from "h0_b1" [8] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "zeros"}
  dtc.param @h0_wq : !dtc.tensor<8x4x2xf32> from "h0_wq" [8, 4, 2] view affine_map<(d0, d1, d2) -> (d0, d1, d2)> dims ["embed", "heads", "head_dim"] {init = "normal", std = 2.0e-1 : f64}
  dtc.param @h0_wk : !dtc.tensor<8x4x2xf32> from "h0_wk" [8, 4, 2] view affine_map<(d0, d1, d2) -> (d0, d1, d2)> dims ["embed", "kv_heads", "head_dim"] {init = "normal", std = 2.0e-1 : f64}
  dtc.param @h0_wv : !dtc.tensor<8x4x2xf32> from "h0_wv" [8, 4, 2] view affine_map<(d0, d1, d2) -> (d0, d1, d2)> dims ["embed", "kv_heads", "head_dim"] {init = "normal", std = 2.0e-1 : f64}
  dtc.param @h0_bv : !dtc.tensor<4x2xf32> from "h0_bv" [4, 2] view affine_map<(d0, d1) -> (d0, d1)> dims ["kv_heads", "head_dim"] {init = "zeros"}
  dtc.param @h0_wo : !dtc.tensor<4x2x8xf32> from "h0_wo" [4, 2, 8] view affine_map<(d0, d1, d2) -> (d0, d1, d2)> dims ["heads", "head_dim", "embed"] {init = "normal", std = 2.0e-1 : f64}
  dtc.param @h0_bo : !dtc.tensor<8xf32> from "h0_bo" [8] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "zeros"}
  dtc.param @h0_g2 : !dtc.tensor<8xf32> from "h0_g2" [8] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "ones"}
  dtc.param @h0_b2 : !dtc.tensor<8xf32> from "h0_b2" [8] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "zeros"}
  dtc.param @h0_wu : !dtc.tensor<8x10xf32> from "h0_wu" [8, 10] view affine_map<(d0, d1) -> (d0, d1)> dims ["embed", "mlp"] {init = "normal", std = 2.0e-1 : f64}
  dtc.param @h0_bu : !dtc.tensor<10xf32> from "h0_bu" [10] view affine_map<(d0) -> (d0)> dims ["mlp"] {init = "zeros"}
  dtc.param @h0_wd : !dtc.tensor<10x8xf32> from "h0_wd" [10, 8] view affine_map<(d0, d1) -> (d0, d1)> dims ["mlp", "embed"] {init = "normal", std = 2.0e-1 : f64}
  dtc.param @h0_bd : !dtc.tensor<8xf32> from "h0_bd" [8] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "zeros"}
  dtc.param @h1_g1 : !dtc.tensor<8xf32> from "h1_g1" [8] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "ones"}
  dtc.param @h1_b1 : !dtc.tensor<8xf32> from "h1_b1" [8] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "zeros"}
  dtc.param @h1_wq : !dtc.tensor<8x4x2xf32> from "h1_wq" [8, 4, 2] view affine_map<(d0, d1, d2) -> (d0, d1, d2)> dims ["embed", "heads", "head_dim"] {init = "normal", std = 2.0e-1 : f64}
  dtc.param @h1_wk : !dtc.tensor<8x4x2xf32> from "h1_wk" [8, 4, 2] view affine_map<(d0, d1, d2) -> (d0, d1, d2)> dims ["embed", "kv_heads", "head_dim"] {init = "normal", std = 2.0e-1 : f64}
  dtc.param @h1_wv : !dtc.tensor<8x4x2xf32> from "h1_wv" [8, 4, 2] view affine_map<(d0, d1, d2) -> (d0, d1, d2)> dims ["embed", "kv_heads", "head_dim"] {init = "normal", std = 2.0e-1 : f64}
  dtc.param @h1_bv : !dtc.tensor<4x2xf32> from "h1_bv" [4, 2] view affine_map<(d0, d1) -> (d0, d1)> dims ["kv_heads", "head_dim"] {init = "zeros"}
  dtc.param @h1_wo : !dtc.tensor<4x2x8xf32> from "h1_wo" [4, 2, 8] view affine_map<(d0, d1, d2) -> (d0, d1, d2)> dims ["heads", "head_dim", "embed"] {init = "normal", std = 2.0e-1 : f64}
  dtc.param @h1_bo : !dtc.tensor<8xf32> from "h1_bo" [8] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "zeros"}
  dtc.param @h1_g2 : !dtc.tensor<8xf32> from "h1_g2" [8] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "ones"}
  dtc.param @h1_b2 : !dtc.tensor<8xf32> from "h1_b2" [8] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "zeros"}
  dtc.param @h1_wu : !dtc.tensor<8x10xf32> from "h1_wu" [8, 10] view affine_map<(d0, d1) -> (d0, d1)> dims ["embed", "mlp"] {init = "normal", std = 2.0e-1 : f64}
  dtc.param @h1_bu : !dtc.tensor<10xf32> from "h1_bu" [10] view affine_map<(d0) -> (d0)> dims ["mlp"] {init = "zeros"}
  dtc.param @h1_wd : !dtc.tensor<10x8xf32> from "h1_wd" [10, 8] view affine_map<(d0, d1) -> (d0, d1)> dims ["mlp", "embed"] {init = "normal", std = 2.0e-1 : f64}
  dtc.param @h1_bd : !dtc.tensor<8xf32> from "h1_bd" [8] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "zeros"}
  dtc.param @gf : !dtc.tensor<8xf32> from "gf" [8] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "ones"}
  dtc.param @bf : !dtc.tensor<8xf32> from "bf" [8] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "zeros"}
  func.func private @layer(%x: !dtc.tensor<8x4x8xf32> {dtc.dims = ["batch", "norm_seq", "embed"]}, %g1: !dtc.tensor<8xf32>, %b1: !dtc.tensor<8xf32>, %wq: !dtc.tensor<8x4x2xf32>, %wk: !dtc.tensor<8x4x2xf32>, %wv: !dtc.tensor<8x4x2xf32>, %bv: !dtc.tensor<4x2xf32>, %wo: !dtc.tensor<4x2x8xf32>, %bo: !dtc.tensor<8xf32>, %g2: !dtc.tensor<8xf32>, %b2: !dtc.tensor<8xf32>, %wu: !dtc.tensor<8x10xf32>, %bu: !dtc.tensor<10xf32>, %wd: !dtc.tensor<10x8xf32>, %bd: !dtc.tensor<8xf32>, %positions: !dtc.tensor<4xi32>, %rng: !dtc.tensor<2xi32>, %layer: !dtc.tensor<i32>, %rows: !dtc.tensor<8xi32>) -> !dtc.tensor<8x4x8xf32> {
    %y = dtc.layer_norm %x, %g1, %b1 {epsilon = 1.0e-5, dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<8x4x8xf32>, !dtc.tensor<8xf32>, !dtc.tensor<8xf32>) -> !dtc.tensor<8x4x8xf32>
    %q = dtc.einsum "bsd,dhe->bshe"(%y, %wq) {dtc.dims = ["batch", "seq", "heads", "head_dim"]} : (!dtc.tensor<8x4x8xf32>, !dtc.tensor<8x4x2xf32>) -> !dtc.tensor<8x4x4x2xf32>
    %k = dtc.einsum "bsd,dhe->bshe"(%y, %wk) {dtc.dims = ["batch", "seq", "kv_heads", "head_dim"]} : (!dtc.tensor<8x4x8xf32>, !dtc.tensor<8x4x2xf32>) -> !dtc.tensor<8x4x4x2xf32>
    %p = dtc.einsum "bsd,dhe->bshe"(%y, %wv) {dtc.dims = ["batch", "seq", "kv_heads", "head_dim"]} : (!dtc.tensor<8x4x8xf32>, !dtc.tensor<8x4x2xf32>) -> !dtc.tensor<8x4x4x2xf32>
    %v = dtc.add %p, %bv {dtc.dims = ["batch", "seq", "kv_heads", "head_dim"]} : (!dtc.tensor<8x4x4x2xf32>, !dtc.tensor<4x2xf32>) -> !dtc.tensor<8x4x4x2xf32>
    %o, %lse = dtc.attention %q, %k, %v at %positions, %positions {causal, scale = 7.0e-1, dtc.dims = ["batch", "seq", "heads", "head_dim"]} : (!dtc.tensor<8x4x4x2xf32>, !dtc.tensor<8x4x4x2xf32>, !dtc.tensor<8x4x4x2xf32>, !dtc.tensor<4xi32>, !dtc.tensor<4xi32>) -> (!dtc.tensor<8x4x4x2xf32>, !dtc.tensor<8x4x4xf32>)
    %z = dtc.einsum "bshe,hed->bsd"(%o, %wo) {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<8x4x4x2xf32>, !dtc.tensor<4x2x8xf32>) -> !dtc.tensor<8x4x8xf32>
    %zb = dtc.add %z, %bo {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<8x4x8xf32>, !dtc.tensor<8xf32>) -> !dtc.tensor<8x4x8xf32>
    %zd = dtc.dropout %zb random %rng, %layer, %rows, %positions {p = 1.0e-1, site = 1 : i64, dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<8x4x8xf32>, !dtc.tensor<2xi32>, !dtc.tensor<i32>, !dtc.tensor<8xi32>, !dtc.tensor<4xi32>) -> !dtc.tensor<8x4x8xf32>
    %r = dtc.add %x, %zd {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<8x4x8xf32>, !dtc.tensor<8x4x8xf32>) -> !dtc.tensor<8x4x8xf32>
    %w = dtc.layer_norm %r, %g2, %b2 {epsilon = 1.0e-5, dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<8x4x8xf32>, !dtc.tensor<8xf32>, !dtc.tensor<8xf32>) -> !dtc.tensor<8x4x8xf32>
    %u = dtc.einsum "bsd,df->bsf"(%w, %wu) {dtc.dims = ["batch", "seq", "mlp"]} : (!dtc.tensor<8x4x8xf32>, !dtc.tensor<8x10xf32>) -> !dtc.tensor<8x4x10xf32>
    %ub = dtc.add %u, %bu {dtc.dims = ["batch", "seq", "mlp"]} : (!dtc.tensor<8x4x10xf32>, !dtc.tensor<10xf32>) -> !dtc.tensor<8x4x10xf32>
    %a = dtc.activation gelu_tanh %ub {dtc.dims = ["batch", "seq", "mlp"]} : (!dtc.tensor<8x4x10xf32>) -> !dtc.tensor<8x4x10xf32>
    %d = dtc.einsum "bsf,fd->bsd"(%a, %wd) {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<8x4x10xf32>, !dtc.tensor<10x8xf32>) -> !dtc.tensor<8x4x8xf32>
    %db = dtc.add %d, %bd {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<8x4x8xf32>, !dtc.tensor<8xf32>) -> !dtc.tensor<8x4x8xf32>
    %out = dtc.add %r, %db {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<8x4x8xf32>, !dtc.tensor<8x4x8xf32>) -> !dtc.tensor<8x4x8xf32>
    return %out : !dtc.tensor<8x4x8xf32>
  }
  func.func @model(%ids: !dtc.tensor<8x4xi32> {dtc.input = "input_ids", dtc.dims = ["batch", "seq"]}, %labels: !dtc.tensor<8x4xi32> {dtc.input = "labels", dtc.dims = ["batch", "seq"]}, %rng: !dtc.tensor<2xi32> {dtc.input = "rng"})
      -> (!dtc.tensor<f32> {dtc.output = "loss"}, !dtc.tensor<i32> {dtc.output = "labels"}) {
    %wte = dtc.read param of @wte : !dtc.tensor<9x8xf32>
    %wpe = dtc.read param of @wpe : !dtc.tensor<4x8xf32>
    %h0_g1 = dtc.read param of @h0_g1 : !dtc.tensor<8xf32>
    %h0_b1 = dtc.read param of @h0_b1 : !dtc.tensor<8xf32>
    %h0_wq = dtc.read param of @h0_wq : !dtc.tensor<8x4x2xf32>
    %h0_wk = dtc.read param of @h0_wk : !dtc.tensor<8x4x2xf32>
    %h0_wv = dtc.read param of @h0_wv : !dtc.tensor<8x4x2xf32>
    %h0_bv = dtc.read param of @h0_bv : !dtc.tensor<4x2xf32>
    %h0_wo = dtc.read param of @h0_wo : !dtc.tensor<4x2x8xf32>
    %h0_bo = dtc.read param of @h0_bo : !dtc.tensor<8xf32>
    %h0_g2 = dtc.read param of @h0_g2 : !dtc.tensor<8xf32>
    %h0_b2 = dtc.read param of @h0_b2 : !dtc.tensor<8xf32>
    %h0_wu = dtc.read param of @h0_wu : !dtc.tensor<8x10xf32>
    %h0_bu = dtc.read param of @h0_bu : !dtc.tensor<10xf32>
    %h0_wd = dtc.read param of @h0_wd : !dtc.tensor<10x8xf32>
    %h0_bd = dtc.read param of @h0_bd : !dtc.tensor<8xf32>
    %h1_g1 = dtc.read param of @h1_g1 : !dtc.tensor<8xf32>
    %h1_b1 = dtc.read param of @h1_b1 : !dtc.tensor<8xf32>
    %h1_wq = dtc.read param of @h1_wq : !dtc.tensor<8x4x2xf32>
    %h1_wk = dtc.read param of @h1_wk : !dtc.tensor<8x4x2xf32>
    %h1_wv = dtc.read param of @h1_wv : !dtc.tensor<8x4x2xf32>
    %h1_bv = dtc.read param of @h1_bv : !dtc.tensor<4x2xf32>
    %h1_wo = dtc.read param of @h1_wo : !dtc.tensor<4x2x8xf32>
    %h1_bo = dtc.read param of @h1_bo : !dtc.tensor<8xf32>
    %h1_g2 = dtc.read param of @h1_g2 : !dtc.tensor<8xf32>
    %h1_b2 = dtc.read param of @h1_b2 : !dtc.tensor<8xf32>
    %h1_wu = dtc.read param of @h1_wu : !dtc.tensor<8x10xf32>
    %h1_bu = dtc.read param of @h1_bu : !dtc.tensor<10xf32>
    %h1_wd = dtc.read param of @h1_wd : !dtc.tensor<10x8xf32>
    %h1_bd = dtc.read param of @h1_bd : !dtc.tensor<8xf32>
    %gf = dtc.read param of @gf : !dtc.tensor<8xf32>
    %bf = dtc.read param of @bf : !dtc.tensor<8xf32>
    %positions = dtc.iota {dtc.dims = ["seq"]} : () -> !dtc.tensor<4xi32>
    %rows = dtc.iota {dtc.dims = ["batch"]} : () -> !dtc.tensor<8xi32>
    %e = dtc.embedding %wte[%ids] {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<9x8xf32>, !dtc.tensor<8x4xi32>) -> !dtc.tensor<8x4x8xf32>
    %pe = dtc.embedding %wpe[%positions] {dtc.dims = ["norm_seq", "embed"]} : (!dtc.tensor<4x8xf32>, !dtc.tensor<4xi32>) -> !dtc.tensor<4x8xf32>
    %x0 = dtc.add %e, %pe {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<8x4x8xf32>, !dtc.tensor<4x8xf32>) -> !dtc.tensor<8x4x8xf32>
    %l0 = dtc.constant 0.0 : () -> !dtc.tensor<i32>
    %x1 = call @layer(%x0, %h0_g1, %h0_b1, %h0_wq, %h0_wk, %h0_wv, %h0_bv, %h0_wo, %h0_bo, %h0_g2, %h0_b2, %h0_wu, %h0_bu, %h0_wd, %h0_bd, %positions, %rng, %l0, %rows) : (!dtc.tensor<8x4x8xf32>, !dtc.tensor<8xf32>, !dtc.tensor<8xf32>, !dtc.tensor<8x4x2xf32>, !dtc.tensor<8x4x2xf32>, !dtc.tensor<8x4x2xf32>, !dtc.tensor<4x2xf32>, !dtc.tensor<4x2x8xf32>, !dtc.tensor<8xf32>, !dtc.tensor<8xf32>, !dtc.tensor<8xf32>, !dtc.tensor<8x10xf32>, !dtc.tensor<10xf32>, !dtc.tensor<10x8xf32>, !dtc.tensor<8xf32>, !dtc.tensor<4xi32>, !dtc.tensor<2xi32>, !dtc.tensor<i32>, !dtc.tensor<8xi32>) -> !dtc.tensor<8x4x8xf32>
    %l1 = dtc.constant 1.0 : () -> !dtc.tensor<i32>
    %x2 = call @layer(%x1, %h1_g1, %h1_b1, %h1_wq, %h1_wk, %h1_wv, %h1_bv, %h1_wo, %h1_bo, %h1_g2, %h1_b2, %h1_wu, %h1_bu, %h1_wd, %h1_bd, %positions, %rng, %l1, %rows) : (!dtc.tensor<8x4x8xf32>, !dtc.tensor<8xf32>, !dtc.tensor<8xf32>, !dtc.tensor<8x4x2xf32>, !dtc.tensor<8x4x2xf32>, !dtc.tensor<8x4x2xf32>, !dtc.tensor<4x2xf32>, !dtc.tensor<4x2x8xf32>, !dtc.tensor<8xf32>, !dtc.tensor<8xf32>, !dtc.tensor<8xf32>, !dtc.tensor<8x10xf32>, !dtc.tensor<10xf32>, !dtc.tensor<10x8xf32>, !dtc.tensor<8xf32>, !dtc.tensor<4xi32>, !dtc.tensor<2xi32>, !dtc.tensor<i32>, !dtc.tensor<8xi32>) -> !dtc.tensor<8x4x8xf32>
    %xf = dtc.layer_norm %x2, %gf, %bf {epsilon = 1.0e-5, dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<8x4x8xf32>, !dtc.tensor<8xf32>, !dtc.tensor<8xf32>) -> !dtc.tensor<8x4x8xf32>
    %logits = dtc.einsum "bsd,vd->bsv"(%xf, %wte) {dtc.dims = ["batch", "seq", "vocab"]} : (!dtc.tensor<8x4x8xf32>, !dtc.tensor<9x8xf32>) -> !dtc.tensor<8x4x9xf32>
    %sum, %lse = dtc.cross_entropy %logits, %labels {label_smoothing = 1.0e-1} : (!dtc.tensor<8x4x9xf32>, !dtc.tensor<8x4xi32>) -> (!dtc.tensor<f32>, !dtc.tensor<8x4xf32>)
    %count = dtc.count_labels %labels : (!dtc.tensor<8x4xi32>) -> !dtc.tensor<i32>
    %loss = dtc.divide %sum, %count : (!dtc.tensor<f32>, !dtc.tensor<i32>) -> !dtc.tensor<f32>
    return %loss, %count : !dtc.tensor<f32>, !dtc.tensor<i32>
  }
}
