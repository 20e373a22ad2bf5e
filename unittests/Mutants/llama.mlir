#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0) -> (d0)>
#map2 = affine_map<(d0, d1, d2) -> (d1 * 4 + d2, d0)>
#map3 = affine_map<(d0, d1, d2) -> (d2, d0 * 4 + d1)>
#map4 = affine_map<(d0, d1) -> (d1, d0)>
module {
  dtc.param @wte : !dtc.tensor<10x16xf32> from "model.embed_tokens.weight" [10, 16] view #map dims ["vocab", "embed"] {init = "normal", std = 2.000000e-02 : f64}
  dtc.param @h0_norm1_g : !dtc.tensor<16xf32> from "model.layers.0.input_layernorm.weight" [16] view #map1 dims ["embed"] {init = "ones"}
  dtc.param @h0_wq : !dtc.tensor<16x4x4xf32> from "model.layers.0.self_attn.q_proj.weight" [16, 16] view #map2 dims ["embed", "heads", "head_dim"] {init = "normal", std = 2.000000e-02 : f64}
  dtc.param @h0_wk : !dtc.tensor<16x2x4xf32> from "model.layers.0.self_attn.k_proj.weight" [8, 16] view #map2 dims ["embed", "kv_heads", "head_dim"] {init = "normal", std = 2.000000e-02 : f64}
  dtc.param @h0_wv : !dtc.tensor<16x2x4xf32> from "model.layers.0.self_attn.v_proj.weight" [8, 16] view #map2 dims ["embed", "kv_heads", "head_dim"] {init = "normal", std = 2.000000e-02 : f64}
  dtc.param @h0_wo : !dtc.tensor<4x4x16xf32> from "model.layers.0.self_attn.o_proj.weight" [16, 16] view #map3 dims ["heads", "head_dim", "embed"] {init = "normal", std = 2.000000e-02 : f64}
  dtc.param @h0_norm2_g : !dtc.tensor<16xf32> from "model.layers.0.post_attention_layernorm.weight" [16] view #map1 dims ["embed"] {init = "ones"}
  dtc.param @h0_wgate : !dtc.tensor<16x10xf32> from "model.layers.0.mlp.gate_proj.weight" [10, 16] view #map4 dims ["embed", "mlp"] {init = "normal", std = 2.000000e-02 : f64}
  dtc.param @h0_wup : !dtc.tensor<16x10xf32> from "model.layers.0.mlp.up_proj.weight" [10, 16] view #map4 dims ["embed", "mlp"] {init = "normal", std = 2.000000e-02 : f64}
  dtc.param @h0_wdown : !dtc.tensor<10x16xf32> from "model.layers.0.mlp.down_proj.weight" [16, 10] view #map4 dims ["mlp", "embed"] {init = "normal", std = 2.000000e-02 : f64}
  dtc.param @normf_g : !dtc.tensor<16xf32> from "model.norm.weight" [16] view #map1 dims ["embed"] {init = "ones"}
  dtc.param @lm_head : !dtc.tensor<10x16xf32> from "lm_head.weight" [10, 16] view #map dims ["vocab", "embed"] {init = "normal", std = 2.000000e-02 : f64}
  func.func private @layer(%arg0: !dtc.tensor<4x4x16xf32> {dtc.dims = ["batch", "norm_seq", "embed"]}, %arg1: !dtc.tensor<16xf32>, %arg2: !dtc.tensor<16x4x4xf32>, %arg3: !dtc.tensor<16x2x4xf32>, %arg4: !dtc.tensor<16x2x4xf32>, %arg5: !dtc.tensor<4x4x16xf32>, %arg6: !dtc.tensor<16xf32>, %arg7: !dtc.tensor<16x10xf32>, %arg8: !dtc.tensor<16x10xf32>, %arg9: !dtc.tensor<10x16xf32>, %arg10: !dtc.tensor<4xi32>) -> !dtc.tensor<4x4x16xf32> {
    %0 = dtc.rms_norm %arg0, %arg1 {dtc.dims = ["batch", "norm_seq", "embed"], epsilon = 9.9999999999999995E-7 : f64} : (!dtc.tensor<4x4x16xf32>, !dtc.tensor<16xf32>) -> !dtc.tensor<4x4x16xf32>
    %1 = dtc.einsum "bsd,dhe->bshe"(%0, %arg2) {dtc.dims = ["batch", "seq", "heads", "head_dim"]} : (!dtc.tensor<4x4x16xf32>, !dtc.tensor<16x4x4xf32>) -> !dtc.tensor<4x4x4x4xf32>
    %2 = dtc.einsum "bsd,dhe->bshe"(%0, %arg3) {dtc.dims = ["batch", "seq", "kv_heads", "head_dim"]} : (!dtc.tensor<4x4x16xf32>, !dtc.tensor<16x2x4xf32>) -> !dtc.tensor<4x4x2x4xf32>
    %3 = dtc.einsum "bsd,dhe->bshe"(%0, %arg4) {dtc.dims = ["batch", "seq", "kv_heads", "head_dim"]} : (!dtc.tensor<4x4x16xf32>, !dtc.tensor<16x2x4xf32>) -> !dtc.tensor<4x4x2x4xf32>
    %4 = dtc.rotary %1, %arg10 {dtc.dims = ["batch", "seq", "heads", "head_dim"], theta = 1.000000e+04 : f64} : (!dtc.tensor<4x4x4x4xf32>, !dtc.tensor<4xi32>) -> !dtc.tensor<4x4x4x4xf32>
    %5 = dtc.rotary %2, %arg10 {dtc.dims = ["batch", "seq", "kv_heads", "head_dim"], theta = 1.000000e+04 : f64} : (!dtc.tensor<4x4x2x4xf32>, !dtc.tensor<4xi32>) -> !dtc.tensor<4x4x2x4xf32>
    %result, %lse = dtc.attention %4, %5, %3 at %arg10, %arg10 {causal, dtc.dims = ["batch", "seq", "heads", "head_dim"], scale = 5.000000e-01 : f64, site = 1 : i64} : (!dtc.tensor<4x4x4x4xf32>, !dtc.tensor<4x4x2x4xf32>, !dtc.tensor<4x4x2x4xf32>, !dtc.tensor<4xi32>, !dtc.tensor<4xi32>) -> (!dtc.tensor<4x4x4x4xf32>, !dtc.tensor<4x4x4xf32>)
    %6 = dtc.einsum "bshe,hed->bsd"(%result, %arg5) {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x4x4x4xf32>, !dtc.tensor<4x4x16xf32>) -> !dtc.tensor<4x4x16xf32>
    %7 = dtc.add %arg0, %6 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x4x16xf32>, !dtc.tensor<4x4x16xf32>) -> !dtc.tensor<4x4x16xf32>
    %8 = dtc.rms_norm %7, %arg6 {dtc.dims = ["batch", "norm_seq", "embed"], epsilon = 9.9999999999999995E-7 : f64} : (!dtc.tensor<4x4x16xf32>, !dtc.tensor<16xf32>) -> !dtc.tensor<4x4x16xf32>
    %9 = dtc.einsum "bsd,df->bsf"(%8, %arg7) {dtc.dims = ["batch", "seq", "mlp"]} : (!dtc.tensor<4x4x16xf32>, !dtc.tensor<16x10xf32>) -> !dtc.tensor<4x4x10xf32>
    %10 = dtc.einsum "bsd,df->bsf"(%8, %arg8) {dtc.dims = ["batch", "seq", "mlp"]} : (!dtc.tensor<4x4x16xf32>, !dtc.tensor<16x10xf32>) -> !dtc.tensor<4x4x10xf32>
    %11 = dtc.gated_product silu %9, %10 {dtc.dims = ["batch", "seq", "mlp"]} : (!dtc.tensor<4x4x10xf32>, !dtc.tensor<4x4x10xf32>) -> !dtc.tensor<4x4x10xf32>
    %12 = dtc.einsum "bsf,fd->bsd"(%11, %arg9) {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x4x10xf32>, !dtc.tensor<10x16xf32>) -> !dtc.tensor<4x4x16xf32>
    %13 = dtc.add %7, %12 {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<4x4x16xf32>, !dtc.tensor<4x4x16xf32>) -> !dtc.tensor<4x4x16xf32>
    return %13 : !dtc.tensor<4x4x16xf32>
  }
  func.func @model(%arg0: !dtc.tensor<4x4xi32> {dtc.dims = ["batch", "seq"], dtc.input = "input_ids"}, %arg1: !dtc.tensor<4x4xi32> {dtc.dims = ["batch", "seq"], dtc.input = "labels"}) -> (!dtc.tensor<f32> {dtc.output = "loss"}, !dtc.tensor<i32> {dtc.output = "labels"}) {
    %0 = dtc.read param of @wte : !dtc.tensor<10x16xf32>
    %1 = dtc.read param of @h0_norm1_g : !dtc.tensor<16xf32>
    %2 = dtc.read param of @h0_wq : !dtc.tensor<16x4x4xf32>
    %3 = dtc.read param of @h0_wk : !dtc.tensor<16x2x4xf32>
    %4 = dtc.read param of @h0_wv : !dtc.tensor<16x2x4xf32>
    %5 = dtc.read param of @h0_wo : !dtc.tensor<4x4x16xf32>
    %6 = dtc.read param of @h0_norm2_g : !dtc.tensor<16xf32>
    %7 = dtc.read param of @h0_wgate : !dtc.tensor<16x10xf32>
    %8 = dtc.read param of @h0_wup : !dtc.tensor<16x10xf32>
    %9 = dtc.read param of @h0_wdown : !dtc.tensor<10x16xf32>
    %10 = dtc.read param of @normf_g : !dtc.tensor<16xf32>
    %11 = dtc.read param of @lm_head : !dtc.tensor<10x16xf32>
    %12 = dtc.iota {dtc.dims = ["seq"]} : () -> !dtc.tensor<4xi32>
    %13 = dtc.embedding %0[%arg0] {dtc.dims = ["batch", "norm_seq", "embed"]} : (!dtc.tensor<10x16xf32>, !dtc.tensor<4x4xi32>) -> !dtc.tensor<4x4x16xf32>
    %14 = call @layer(%13, %1, %2, %3, %4, %5, %6, %7, %8, %9, %12) : (!dtc.tensor<4x4x16xf32>, !dtc.tensor<16xf32>, !dtc.tensor<16x4x4xf32>, !dtc.tensor<16x2x4xf32>, !dtc.tensor<16x2x4xf32>, !dtc.tensor<4x4x16xf32>, !dtc.tensor<16xf32>, !dtc.tensor<16x10xf32>, !dtc.tensor<16x10xf32>, !dtc.tensor<10x16xf32>, !dtc.tensor<4xi32>) -> !dtc.tensor<4x4x16xf32>
    %15 = dtc.rms_norm %14, %10 {dtc.dims = ["batch", "norm_seq", "embed"], epsilon = 9.9999999999999995E-7 : f64} : (!dtc.tensor<4x4x16xf32>, !dtc.tensor<16xf32>) -> !dtc.tensor<4x4x16xf32>
    %16 = dtc.einsum "bsd,vd->bsv"(%15, %11) {dtc.dims = ["batch", "seq", "vocab"]} : (!dtc.tensor<4x4x16xf32>, !dtc.tensor<10x16xf32>) -> !dtc.tensor<4x4x10xf32>
    %loss, %lse = dtc.cross_entropy %16, %arg1 : (!dtc.tensor<4x4x10xf32>, !dtc.tensor<4x4xi32>) -> (!dtc.tensor<f32>, !dtc.tensor<4x4xf32>)
    %17 = dtc.count_labels %arg1 : (!dtc.tensor<4x4xi32>) -> !dtc.tensor<i32>
    %18 = dtc.divide %loss, %17 : (!dtc.tensor<f32>, !dtc.tensor<i32>) -> !dtc.tensor<f32>
    return %18, %17 : !dtc.tensor<f32>, !dtc.tensor<i32>
  }
}
