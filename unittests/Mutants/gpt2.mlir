#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0) -> (d0)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1 * 2 + d2)>
#map3 = affine_map<(d0, d1) -> (d0 * 2 + d1)>
#map4 = affine_map<(d0, d1, d2) -> (d0, d1 * 2 + d2 + 8)>
#map5 = affine_map<(d0, d1) -> (d0 * 2 + d1 + 8)>
#map6 = affine_map<(d0, d1, d2) -> (d0, d1 * 2 + d2 + 16)>
#map7 = affine_map<(d0, d1) -> (d0 * 2 + d1 + 16)>
#map8 = affine_map<(d0, d1, d2) -> (d0 * 2 + d1, d2)>
module {
  dtc.param @wte : !dtc.tensor<10x8xf32> from "transformer.wte.weight" [10, 8] view #map dims ["vocab", "embed"] {also = ["lm_head.weight"], init = "normal", std = 2.000000e-02 : f64}
  dtc.param @wpe : !dtc.tensor<4x8xf32> from "transformer.wpe.weight" [4, 8] view #map dims ["position", "embed"] {init = "normal", std = 2.000000e-02 : f64}
  dtc.param @h0_norm1_g : !dtc.tensor<8xf32> from "transformer.h.0.ln_1.weight" [8] view #map1 dims ["embed"] {init = "ones"}
  dtc.param @h0_norm1_b : !dtc.tensor<8xf32> from "transformer.h.0.ln_1.bias" [8] view #map1 dims ["embed"] {init = "zeros"}
  dtc.param @h0_wq : !dtc.tensor<8x4x2xf32> from "transformer.h.0.attn.c_attn.weight" [8, 24] view #map2 dims ["embed", "heads", "head_dim"] {init = "normal", std = 2.000000e-02 : f64}
  dtc.param @h0_bq : !dtc.tensor<4x2xf32> from "transformer.h.0.attn.c_attn.bias" [24] view #map3 dims ["heads", "head_dim"] {init = "zeros"}
  dtc.param @h0_wk : !dtc.tensor<8x4x2xf32> from "transformer.h.0.attn.c_attn.weight" [8, 24] view #map4 dims ["embed", "kv_heads", "head_dim"] {init = "normal", std = 2.000000e-02 : f64}
  dtc.param @h0_bk : !dtc.tensor<4x2xf32> from "transformer.h.0.attn.c_attn.bias" [24] view #map5 dims ["kv_heads", "head_dim"] {init = "zeros"}
  dtc.param @h0_wv : !dtc.tensor<8x4x2xf32> from "transformer.h.0.attn.c_attn.weight" [8, 24] view #map6 dims ["embed", "kv_heads", "head_dim"] {init = "normal", std = 2.000000e-02 : f64}
  dtc.param @h0_bv : !dtc.tensor<4x2xf32> from "transformer.h.0.attn.c_attn.bias" [24] view #map7 dims ["kv_heads", "head_dim"] {init = "zeros"}
  dtc.param @h0_wo : !dtc.tensor<4x2x8xf32> from "transformer.h.0.attn.c_proj.weight" [8, 8] view #map8 dims ["heads", "head_dim", "embed"] {init = "normal", std = 0.014142135623730949 : f64}
  dtc.param @h0_bo : !dtc.tensor<8xf32> from "transformer.h.0.attn.c_proj.bias" [8] view #map1 dims ["embed"] {init = "zeros"}
  dtc.param @h0_norm2_g : !dtc.tensor<8xf32> from "transformer.h.0.ln_2.weight" [8] view #map1 dims ["embed"] {init = "ones"}
  dtc.param @h0_norm2_b : !dtc.tensor<8xf32> from "transformer.h.0.ln_2.bias" [8] view #map1 dims ["embed"] {init = "zeros"}
  dtc.param @h0_wup : !dtc.tensor<8x10xf32> from "transformer.h.0.mlp.c_fc.weight" [8, 10] view #map dims ["embed", "mlp"] {init = "normal", std = 2.000000e-02 : f64}
  dtc.param @h0_bup : !dtc.tensor<10xf32> from "transformer.h.0.mlp.c_fc.bias" [10] view #map1 dims ["mlp"] {init = "zeros"}
  dtc.param @h0_wdown : !dtc.tensor<10x8xf32> from "transformer.h.0.mlp.c_proj.weight" [10, 8] view #map dims ["mlp", "embed"] {init = "normal", std = 0.014142135623730949 : f64}
  dtc.param @h0_bdown : !dtc.tensor<8xf32> from "transformer.h.0.mlp.c_proj.bias" [8] view #map1 dims ["embed"] {init = "zeros"}
  dtc.param @normf_g : !dtc.tensor<8xf32> from "transformer.ln_f.weight" [8] view #map1 dims ["embed"] {init = "ones"}
  dtc.param @normf_b : !dtc.tensor<8xf32> from "transformer.ln_f.bias" [8] view #map1 dims ["embed"] {init = "zeros"}
  func.func private @layer(%arg0: !dtc.tensor<4x4x8xf32> {dtc.dims = ["batch", "norm_seq", "embed"]}, %arg1: !dtc.tensor<8xf32>, %arg2: !dtc.tensor<8xf32>, %arg3: !dtc.tensor<8x4x2xf32>, %arg4: !dtc.tensor<4x2xf32>, %arg5: !dtc.tensor<8x4x2xf32>, %arg6: !dtc.tensor<4x2xf32>, %arg7: !dtc.tensor<8x4x2xf32>, %arg8: !dtc.tensor<4x2xf32>, %arg9: !dtc.tensor<4x2x8xf32>, %arg10: !dtc.tensor<8xf32>, %arg11: !dtc.tensor<8xf32>, %arg12: !dtc.tensor<8xf32>, %arg13: !dtc.tensor<8x10xf32>, %arg14: !dtc.tensor<10xf32>, %arg15: !dtc.tensor<10x8xf32>, %arg16: !dtc.tensor<8xf32>, %arg17: !dtc.tensor<4xi32>) -> !dtc.tensor<4x4x8xf32> {
    %0 = dtc.layer_norm %arg0, %arg1, %arg2 {dtc.dims = ["batch", "norm_seq", "embed"], epsilon = 1.000000e-05 : f64} : (!dtc.tensor<4x4x8xf32>, !dtc.tensor<8xf32>, !dtc.tensor<8xf32>) -> !dtc.tensor<4x4x8xf32>
    %1 = dtc.einsum "bsd,dhe->bshe"(%0, %arg3) {dtc.dims = ["batch", "seq", "heads", "head_dim"]} : (!dtc.tensor<4x4x8xf32>, !dtc.tensor<8x4x2xf32>) -> !dtc.tensor<4x4x4x2xf32>
    %2 = dtc.add %1, %arg4 {dtc.dims = ["batch", "seq", "heads", "head_dim"]} : (!dtc.tensor<4x4x4x2xf32>, !dtc.tensor<4x2xf32>) -> !dtc.tensor<4x4x4x2xf32>
    %3 = dtc.einsum "bsd,dhe->bshe"(%0, %arg5) {dtc.dims = ["batch", "seq", "kv_heads", "head_dim"]} : (!dtc.tensor<4x4x8xf32>, !dtc.tensor<8x4x2xf32>) -> !dtc.tensor<4x4x4x2xf32>
    %4 = dtc.add %3, %arg6 {dtc.dims = ["batch", "seq", "kv_heads", "head_dim"]} : (!dtc.tensor<4x4x4x2xf32>, !dtc.tensor<4x2xf32>) -> !dtc.tensor<4x4x4x2xf32>
    %5 = dtc.einsum "bsd,dhe->bshe"(%0, %arg7) {dtc.dims = ["batch", "seq", "kv_heads", "head_dim"]} : (!dtc.tensor<4x4x8xf32>, !dtc.tensor<8x4x2xf32>) -> !dtc.tensor<4x4x4x2xf32>
    %6 = dtc.add %5, %arg8 {dtc.dims = ["batch", "seq", "kv_heads", "head_dim"]} : (!dtc.tensor<4x4x4x2xf32>, !dtc.tensor<4x2xf32>) -> !dtc.tensor<4x4x4x2xf32>
    %result, %lse = dtc.attention %2, %4, %6 at %arg17, %arg17 {causal, dtc.dims = ["batch", "seq", "heads", "head_dim"], scale = 0.70710678118654746 : f64, site = 1 : i64} : (!dtc.tensor<4x4x4x2xf32>, !dtc.tensor<4x4x4x2xf32>, !dtc.tensor<4x4x4x2xf32>, !dtc.tensor<4xi32>, !dtc.tensor<4xi32>) -> (!dtc.tensor<4x4x4x2xf32>, !dtc.tensor<4x4x4xf32>)
    %7 = dtc.einsum "bshe,hed->bsd"(%result, %arg9) {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x4x4x2xf32>, !dtc.tensor<4x2x8xf32>) -> !dtc.tensor<4x4x8xf32>
    %8 = dtc.add %7, %arg10 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x4x8xf32>, !dtc.tensor<8xf32>) -> !dtc.tensor<4x4x8xf32>
    %9 = dtc.add %arg0, %8 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x4x8xf32>, !dtc.tensor<4x4x8xf32>) -> !dtc.tensor<4x4x8xf32>
    %10 = dtc.layer_norm %9, %arg11, %arg12 {dtc.dims = ["batch", "norm_seq", "embed"], epsilon = 1.000000e-05 : f64} : (!dtc.tensor<4x4x8xf32>, !dtc.tensor<8xf32>, !dtc.tensor<8xf32>) -> !dtc.tensor<4x4x8xf32>
    %11 = dtc.einsum "bsd,df->bsf"(%10, %arg13) {dtc.dims = ["batch", "seq", "mlp"]} : (!dtc.tensor<4x4x8xf32>, !dtc.tensor<8x10xf32>) -> !dtc.tensor<4x4x10xf32>
    %12 = dtc.add %11, %arg14 {dtc.dims = ["batch", "seq", "mlp"]} : (!dtc.tensor<4x4x10xf32>, !dtc.tensor<10xf32>) -> !dtc.tensor<4x4x10xf32>
    %13 = dtc.activation gelu_tanh %12 {dtc.dims = ["batch", "seq", "mlp"]} : (!dtc.tensor<4x4x10xf32>) -> !dtc.tensor<4x4x10xf32>
    %14 = dtc.einsum "bsf,fd->bsd"(%13, %arg15) {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x4x10xf32>, !dtc.tensor<10x8xf32>) -> !dtc.tensor<4x4x8xf32>
    %15 = dtc.add %14, %arg16 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x4x8xf32>, !dtc.tensor<8xf32>) -> !dtc.tensor<4x4x8xf32>
    %16 = dtc.add %9, %15 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x4x8xf32>, !dtc.tensor<4x4x8xf32>) -> !dtc.tensor<4x4x8xf32>
    return %16 : !dtc.tensor<4x4x8xf32>
  }
  func.func @model(%arg0: !dtc.tensor<4x4xi32> {dtc.dims = ["batch", "seq"], dtc.input = "input_ids"}, %arg1: !dtc.tensor<4x4xi32> {dtc.dims = ["batch", "seq"], dtc.input = "labels"}) -> (!dtc.tensor<f32> {dtc.output = "loss"}, !dtc.tensor<i32> {dtc.output = "labels"}) {
    %0 = dtc.read param of @wte : !dtc.tensor<10x8xf32>
    %1 = dtc.read param of @wpe : !dtc.tensor<4x8xf32>
    %2 = dtc.read param of @h0_norm1_g : !dtc.tensor<8xf32>
    %3 = dtc.read param of @h0_norm1_b : !dtc.tensor<8xf32>
    %4 = dtc.read param of @h0_wq : !dtc.tensor<8x4x2xf32>
    %5 = dtc.read param of @h0_bq : !dtc.tensor<4x2xf32>
    %6 = dtc.read param of @h0_wk : !dtc.tensor<8x4x2xf32>
    %7 = dtc.read param of @h0_bk : !dtc.tensor<4x2xf32>
    %8 = dtc.read param of @h0_wv : !dtc.tensor<8x4x2xf32>
    %9 = dtc.read param of @h0_bv : !dtc.tensor<4x2xf32>
    %10 = dtc.read param of @h0_wo : !dtc.tensor<4x2x8xf32>
    %11 = dtc.read param of @h0_bo : !dtc.tensor<8xf32>
    %12 = dtc.read param of @h0_norm2_g : !dtc.tensor<8xf32>
    %13 = dtc.read param of @h0_norm2_b : !dtc.tensor<8xf32>
    %14 = dtc.read param of @h0_wup : !dtc.tensor<8x10xf32>
    %15 = dtc.read param of @h0_bup : !dtc.tensor<10xf32>
    %16 = dtc.read param of @h0_wdown : !dtc.tensor<10x8xf32>
    %17 = dtc.read param of @h0_bdown : !dtc.tensor<8xf32>
    %18 = dtc.read param of @normf_g : !dtc.tensor<8xf32>
    %19 = dtc.read param of @normf_b : !dtc.tensor<8xf32>
    %20 = dtc.iota {dtc.dims = ["seq"]} : () -> !dtc.tensor<4xi32>
    %21 = dtc.embedding %0[%arg0] {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<10x8xf32>, !dtc.tensor<4x4xi32>) -> !dtc.tensor<4x4x8xf32>
    %22 = dtc.embedding %1[%20] {dtc.dims = ["norm_seq", "embed"]} : (!dtc.tensor<4x8xf32>, !dtc.tensor<4xi32>) -> !dtc.tensor<4x8xf32>
    %23 = dtc.add %21, %22 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x4x8xf32>, !dtc.tensor<4x8xf32>) -> !dtc.tensor<4x4x8xf32>
    %24 = call @layer(%23, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %20) : (!dtc.tensor<4x4x8xf32>, !dtc.tensor<8xf32>, !dtc.tensor<8xf32>, !dtc.tensor<8x4x2xf32>, !dtc.tensor<4x2xf32>, !dtc.tensor<8x4x2xf32>, !dtc.tensor<4x2xf32>, !dtc.tensor<8x4x2xf32>, !dtc.tensor<4x2xf32>, !dtc.tensor<4x2x8xf32>, !dtc.tensor<8xf32>, !dtc.tensor<8xf32>, !dtc.tensor<8xf32>, !dtc.tensor<8x10xf32>, !dtc.tensor<10xf32>, !dtc.tensor<10x8xf32>, !dtc.tensor<8xf32>, !dtc.tensor<4xi32>) -> !dtc.tensor<4x4x8xf32>
    %25 = dtc.layer_norm %24, %18, %19 {dtc.dims = ["batch", "norm_seq", "embed"], epsilon = 1.000000e-05 : f64} : (!dtc.tensor<4x4x8xf32>, !dtc.tensor<8xf32>, !dtc.tensor<8xf32>) -> !dtc.tensor<4x4x8xf32>
    %26 = dtc.einsum "bsd,vd->bsv"(%25, %0) {dtc.dims = ["batch", "seq", "vocab"]} : (!dtc.tensor<4x4x8xf32>, !dtc.tensor<10x8xf32>) -> !dtc.tensor<4x4x10xf32>
    %loss, %lse = dtc.cross_entropy %26, %arg1 : (!dtc.tensor<4x4x10xf32>, !dtc.tensor<4x4xi32>) -> (!dtc.tensor<f32>, !dtc.tensor<4x4xf32>)
    %27 = dtc.count_labels %arg1 : (!dtc.tensor<4x4xi32>) -> !dtc.tensor<i32>
    %28 = dtc.divide %loss, %27 : (!dtc.tensor<f32>, !dtc.tensor<i32>) -> !dtc.tensor<f32>
    return %28, %27 : !dtc.tensor<f32>, !dtc.tensor<i32>
  }
}
