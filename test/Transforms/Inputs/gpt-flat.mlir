// The program of gpt.mlir with everything inline.

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
    %y0 = dtc.layer_norm %x0, %h0_g1, %h0_b1 {epsilon = 1.0e-5, dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<8x4x8xf32>, !dtc.tensor<8xf32>, !dtc.tensor<8xf32>) -> !dtc.tensor<8x4x8xf32>
    %q0 = dtc.einsum "bsd,dhe->bshe"(%y0, %h0_wq) {dtc.dims = ["batch", "seq", "heads", "head_dim"]} : (!dtc.tensor<8x4x8xf32>, !dtc.tensor<8x4x2xf32>) -> !dtc.tensor<8x4x4x2xf32>
    %k0 = dtc.einsum "bsd,dhe->bshe"(%y0, %h0_wk) {dtc.dims = ["batch", "seq", "kv_heads", "head_dim"]} : (!dtc.tensor<8x4x8xf32>, !dtc.tensor<8x4x2xf32>) -> !dtc.tensor<8x4x4x2xf32>
    %p0 = dtc.einsum "bsd,dhe->bshe"(%y0, %h0_wv) {dtc.dims = ["batch", "seq", "kv_heads", "head_dim"]} : (!dtc.tensor<8x4x8xf32>, !dtc.tensor<8x4x2xf32>) -> !dtc.tensor<8x4x4x2xf32>
    %v0 = dtc.add %p0, %h0_bv {dtc.dims = ["batch", "seq", "kv_heads", "head_dim"]} : (!dtc.tensor<8x4x4x2xf32>, !dtc.tensor<4x2xf32>) -> !dtc.tensor<8x4x4x2xf32>
    %o0, %lse0 = dtc.attention %q0, %k0, %v0 at %positions, %positions {causal, scale = 7.0e-1, dtc.dims = ["batch", "seq", "heads", "head_dim"]} : (!dtc.tensor<8x4x4x2xf32>, !dtc.tensor<8x4x4x2xf32>, !dtc.tensor<8x4x4x2xf32>, !dtc.tensor<4xi32>, !dtc.tensor<4xi32>) -> (!dtc.tensor<8x4x4x2xf32>, !dtc.tensor<8x4x4xf32>)
    %z0 = dtc.einsum "bshe,hed->bsd"(%o0, %h0_wo) {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<8x4x4x2xf32>, !dtc.tensor<4x2x8xf32>) -> !dtc.tensor<8x4x8xf32>
    %zb0 = dtc.add %z0, %h0_bo {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<8x4x8xf32>, !dtc.tensor<8xf32>) -> !dtc.tensor<8x4x8xf32>
    %zd0 = dtc.dropout %zb0 random %rng, %l0, %rows, %positions {p = 1.0e-1, site = 1 : i64, dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<8x4x8xf32>, !dtc.tensor<2xi32>, !dtc.tensor<i32>, !dtc.tensor<8xi32>, !dtc.tensor<4xi32>) -> !dtc.tensor<8x4x8xf32>
    %r0 = dtc.add %x0, %zd0 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<8x4x8xf32>, !dtc.tensor<8x4x8xf32>) -> !dtc.tensor<8x4x8xf32>
    %w0 = dtc.layer_norm %r0, %h0_g2, %h0_b2 {epsilon = 1.0e-5, dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<8x4x8xf32>, !dtc.tensor<8xf32>, !dtc.tensor<8xf32>) -> !dtc.tensor<8x4x8xf32>
    %u0 = dtc.einsum "bsd,df->bsf"(%w0, %h0_wu) {dtc.dims = ["batch", "seq", "mlp"]} : (!dtc.tensor<8x4x8xf32>, !dtc.tensor<8x10xf32>) -> !dtc.tensor<8x4x10xf32>
    %ub0 = dtc.add %u0, %h0_bu {dtc.dims = ["batch", "seq", "mlp"]} : (!dtc.tensor<8x4x10xf32>, !dtc.tensor<10xf32>) -> !dtc.tensor<8x4x10xf32>
    %a0 = dtc.activation gelu_tanh %ub0 {dtc.dims = ["batch", "seq", "mlp"]} : (!dtc.tensor<8x4x10xf32>) -> !dtc.tensor<8x4x10xf32>
    %d0 = dtc.einsum "bsf,fd->bsd"(%a0, %h0_wd) {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<8x4x10xf32>, !dtc.tensor<10x8xf32>) -> !dtc.tensor<8x4x8xf32>
    %db0 = dtc.add %d0, %h0_bd {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<8x4x8xf32>, !dtc.tensor<8xf32>) -> !dtc.tensor<8x4x8xf32>
    %x1 = dtc.add %r0, %db0 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<8x4x8xf32>, !dtc.tensor<8x4x8xf32>) -> !dtc.tensor<8x4x8xf32>
    %l1 = dtc.constant 1.0 : () -> !dtc.tensor<i32>
    %y1 = dtc.layer_norm %x1, %h1_g1, %h1_b1 {epsilon = 1.0e-5, dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<8x4x8xf32>, !dtc.tensor<8xf32>, !dtc.tensor<8xf32>) -> !dtc.tensor<8x4x8xf32>
    %q1 = dtc.einsum "bsd,dhe->bshe"(%y1, %h1_wq) {dtc.dims = ["batch", "seq", "heads", "head_dim"]} : (!dtc.tensor<8x4x8xf32>, !dtc.tensor<8x4x2xf32>) -> !dtc.tensor<8x4x4x2xf32>
    %k1 = dtc.einsum "bsd,dhe->bshe"(%y1, %h1_wk) {dtc.dims = ["batch", "seq", "kv_heads", "head_dim"]} : (!dtc.tensor<8x4x8xf32>, !dtc.tensor<8x4x2xf32>) -> !dtc.tensor<8x4x4x2xf32>
    %p1 = dtc.einsum "bsd,dhe->bshe"(%y1, %h1_wv) {dtc.dims = ["batch", "seq", "kv_heads", "head_dim"]} : (!dtc.tensor<8x4x8xf32>, !dtc.tensor<8x4x2xf32>) -> !dtc.tensor<8x4x4x2xf32>
    %v1 = dtc.add %p1, %h1_bv {dtc.dims = ["batch", "seq", "kv_heads", "head_dim"]} : (!dtc.tensor<8x4x4x2xf32>, !dtc.tensor<4x2xf32>) -> !dtc.tensor<8x4x4x2xf32>
    %o1, %lse1 = dtc.attention %q1, %k1, %v1 at %positions, %positions {causal, scale = 7.0e-1, dtc.dims = ["batch", "seq", "heads", "head_dim"]} : (!dtc.tensor<8x4x4x2xf32>, !dtc.tensor<8x4x4x2xf32>, !dtc.tensor<8x4x4x2xf32>, !dtc.tensor<4xi32>, !dtc.tensor<4xi32>) -> (!dtc.tensor<8x4x4x2xf32>, !dtc.tensor<8x4x4xf32>)
    %z1 = dtc.einsum "bshe,hed->bsd"(%o1, %h1_wo) {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<8x4x4x2xf32>, !dtc.tensor<4x2x8xf32>) -> !dtc.tensor<8x4x8xf32>
    %zb1 = dtc.add %z1, %h1_bo {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<8x4x8xf32>, !dtc.tensor<8xf32>) -> !dtc.tensor<8x4x8xf32>
    %zd1 = dtc.dropout %zb1 random %rng, %l1, %rows, %positions {p = 1.0e-1, site = 1 : i64, dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<8x4x8xf32>, !dtc.tensor<2xi32>, !dtc.tensor<i32>, !dtc.tensor<8xi32>, !dtc.tensor<4xi32>) -> !dtc.tensor<8x4x8xf32>
    %r1 = dtc.add %x1, %zd1 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<8x4x8xf32>, !dtc.tensor<8x4x8xf32>) -> !dtc.tensor<8x4x8xf32>
    %w1 = dtc.layer_norm %r1, %h1_g2, %h1_b2 {epsilon = 1.0e-5, dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<8x4x8xf32>, !dtc.tensor<8xf32>, !dtc.tensor<8xf32>) -> !dtc.tensor<8x4x8xf32>
    %u1 = dtc.einsum "bsd,df->bsf"(%w1, %h1_wu) {dtc.dims = ["batch", "seq", "mlp"]} : (!dtc.tensor<8x4x8xf32>, !dtc.tensor<8x10xf32>) -> !dtc.tensor<8x4x10xf32>
    %ub1 = dtc.add %u1, %h1_bu {dtc.dims = ["batch", "seq", "mlp"]} : (!dtc.tensor<8x4x10xf32>, !dtc.tensor<10xf32>) -> !dtc.tensor<8x4x10xf32>
    %a1 = dtc.activation gelu_tanh %ub1 {dtc.dims = ["batch", "seq", "mlp"]} : (!dtc.tensor<8x4x10xf32>) -> !dtc.tensor<8x4x10xf32>
    %d1 = dtc.einsum "bsf,fd->bsd"(%a1, %h1_wd) {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<8x4x10xf32>, !dtc.tensor<10x8xf32>) -> !dtc.tensor<8x4x8xf32>
    %db1 = dtc.add %d1, %h1_bd {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<8x4x8xf32>, !dtc.tensor<8xf32>) -> !dtc.tensor<8x4x8xf32>
    %x2 = dtc.add %r1, %db1 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<8x4x8xf32>, !dtc.tensor<8x4x8xf32>) -> !dtc.tensor<8x4x8xf32>
    %xf = dtc.layer_norm %x2, %gf, %bf {epsilon = 1.0e-5, dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<8x4x8xf32>, !dtc.tensor<8xf32>, !dtc.tensor<8xf32>) -> !dtc.tensor<8x4x8xf32>
    %logits = dtc.einsum "bsd,vd->bsv"(%xf, %wte) {dtc.dims = ["batch", "seq", "vocab"]} : (!dtc.tensor<8x4x8xf32>, !dtc.tensor<9x8xf32>) -> !dtc.tensor<8x4x9xf32>
    %sum, %lse = dtc.cross_entropy %logits, %labels {label_smoothing = 1.0e-1} : (!dtc.tensor<8x4x9xf32>, !dtc.tensor<8x4xi32>) -> (!dtc.tensor<f32>, !dtc.tensor<8x4xf32>)
    %count = dtc.count_labels %labels : (!dtc.tensor<8x4xi32>) -> !dtc.tensor<i32>
    %loss = dtc.divide %sum, %count : (!dtc.tensor<f32>, !dtc.tensor<i32>) -> !dtc.tensor<f32>
    return %loss, %count : !dtc.tensor<f32>, !dtc.tensor<i32>
  }
}
