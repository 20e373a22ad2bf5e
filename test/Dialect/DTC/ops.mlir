// Every op of the dialect survives printing and parsing, in the pretty and in
// the generic form.
// RUN: dtc-opt %s | dtc-opt | FileCheck %s
// RUN: dtc-opt %s -mlir-print-op-generic | dtc-opt | FileCheck %s

module attributes {dtc.mesh = #dtc.mesh<dp:2, cp:2, tp:4>} {

// CHECK: dtc.param @wte : !dtc.tensor<256x64xf32> from "wte.weight" [256, 64] view #{{.*}} dims ["vocab", "embed"] {init = "normal", std = 2.000000e-02 : f64}
dtc.param @wte : !dtc.tensor<256x64xf32> from "wte.weight" [256, 64]
    view affine_map<(v, d) -> (v, d)> dims ["vocab", "embed"] {init = "normal", std = 2.0e-02 : f64}
// CHECK: dtc.param @wq : !dtc.tensor<64x4{tp:4}x16xf32> from "c_attn.weight" [64, 192] view #{{.*}} dims ["embed", "heads", "head_dim"] {also = ["old.weight"], init = "zeros"}
dtc.param @wq : !dtc.tensor<64x4{tp:4}x16xf32> from "c_attn.weight" [64, 192]
    view affine_map<(d, h, e) -> (d, h * 16 + e)> dims ["embed", "heads", "head_dim"] {init = "zeros", also = ["old.weight"]}

// CHECK-LABEL: func @products
func.func @products(%x: !dtc.tensor<8x32x64xf32>, %w: !dtc.tensor<64x4x16xf32>, %bias: !dtc.tensor<64xf32>,
                    %row: !dtc.tensor<8x64xf32>, %i: !dtc.tensor<8x32xi32>, %n: !dtc.tensor<i32>) {
  // CHECK: dtc.einsum "bsd,dhe->bshe"(%{{.*}}, %{{.*}}) : (!dtc.tensor<8x32x64xf32>, !dtc.tensor<64x4x16xf32>) -> !dtc.tensor<8x32x4x16xf32>
  %q = dtc.einsum "bsd,dhe->bshe"(%x, %w)
     : (!dtc.tensor<8x32x64xf32>, !dtc.tensor<64x4x16xf32>) -> !dtc.tensor<8x32x4x16xf32>
  // CHECK: dtc.add %{{.*}}, %{{.*}} : (!dtc.tensor<8x32x64xf32>, !dtc.tensor<64xf32>) -> !dtc.tensor<8x32x64xf32>
  %a = dtc.add %x, %bias : (!dtc.tensor<8x32x64xf32>, !dtc.tensor<64xf32>) -> !dtc.tensor<8x32x64xf32>
  // CHECK: dtc.add %{{.*}}, %{{.*}} {rhs_dims = array<i64: 0, 2>}
  %b = dtc.add %x, %row {rhs_dims = array<i64: 0, 2>} : (!dtc.tensor<8x32x64xf32>, !dtc.tensor<8x64xf32>) -> !dtc.tensor<8x32x64xf32>
  // CHECK: dtc.add %{{.*}}, %{{.*}} : (!dtc.tensor<8x32xi32>, !dtc.tensor<8x32xi32>) -> !dtc.tensor<8x32xi32>
  %c = dtc.add %i, %i : (!dtc.tensor<8x32xi32>, !dtc.tensor<8x32xi32>) -> !dtc.tensor<8x32xi32>
  // CHECK: dtc.multiply %{{.*}}, %{{.*}} : (!dtc.tensor<8x32x64xf32>, !dtc.tensor<8x32x64xf32>) -> !dtc.tensor<8x32x64xf32>
  %d = dtc.multiply %x, %x : (!dtc.tensor<8x32x64xf32>, !dtc.tensor<8x32x64xf32>) -> !dtc.tensor<8x32x64xf32>
  // CHECK: dtc.scale %{{.*}} by 2.500000e-01 : (!dtc.tensor<8x32x64xf32>) -> !dtc.tensor<8x32x64xf32>
  %e = dtc.scale %x by 2.5e-1 : (!dtc.tensor<8x32x64xf32>) -> !dtc.tensor<8x32x64xf32>
  // CHECK: dtc.divide %{{.*}}, %{{.*}} : (!dtc.tensor<8x32x64xf32>, !dtc.tensor<i32>) -> !dtc.tensor<8x32x64xf32>
  %f = dtc.divide %x, %n : (!dtc.tensor<8x32x64xf32>, !dtc.tensor<i32>) -> !dtc.tensor<8x32x64xf32>
  // CHECK: dtc.reduce_sum %{{.*}} over [0, 1] : (!dtc.tensor<8x32x64xf32>) -> !dtc.tensor<64xf32>
  %g = dtc.reduce_sum %x over [0, 1] : (!dtc.tensor<8x32x64xf32>) -> !dtc.tensor<64xf32>
  // CHECK: dtc.broadcast %{{.*}} along [0, 1] : (!dtc.tensor<64xf32>) -> !dtc.tensor<8x32x64xf32>
  %h = dtc.broadcast %g along [0, 1] : (!dtc.tensor<64xf32>) -> !dtc.tensor<8x32x64xf32>
  return
}

// CHECK-LABEL: func @rows
func.func @rows(%x: !dtc.tensor<8x32x64xf32>, %g: !dtc.tensor<64xf32>, %table: !dtc.tensor<256x64xf32>,
                %ids: !dtc.tensor<8x32xi32>, %dtable: !dtc.tensor<256x64xf32>) {
  // CHECK: dtc.embedding %{{.*}}[%{{.*}}] : (!dtc.tensor<256x64xf32>, !dtc.tensor<8x32xi32>) -> !dtc.tensor<8x32x64xf32>
  %a = dtc.embedding %table[%ids] : (!dtc.tensor<256x64xf32>, !dtc.tensor<8x32xi32>) -> !dtc.tensor<8x32x64xf32>
  // CHECK: dtc.embedding_grad %{{.*}}, %{{.*}} : (!dtc.tensor<8x32xi32>, !dtc.tensor<8x32x64xf32>) -> !dtc.tensor<256x64xf32>
  %b = dtc.embedding_grad %ids, %x : (!dtc.tensor<8x32xi32>, !dtc.tensor<8x32x64xf32>) -> !dtc.tensor<256x64xf32>
  // CHECK: dtc.layer_norm %{{.*}}, %{{.*}}, %{{.*}} {epsilon = 1.000000e-05 : f64} : (!dtc.tensor<8x32x64xf32>, !dtc.tensor<64xf32>, !dtc.tensor<64xf32>) -> !dtc.tensor<8x32x64xf32>
  %c = dtc.layer_norm %x, %g, %g {epsilon = 1.0e-5 : f64} : (!dtc.tensor<8x32x64xf32>, !dtc.tensor<64xf32>, !dtc.tensor<64xf32>) -> !dtc.tensor<8x32x64xf32>
  // CHECK: dtc.layer_norm_grad %{{.*}}, %{{.*}}, %{{.*}} {epsilon = 1.000000e-05 : f64} : (!dtc.tensor<8x32x64xf32>, !dtc.tensor<64xf32>, !dtc.tensor<8x32x64xf32>) -> (!dtc.tensor<8x32x64xf32>, !dtc.tensor<64xf32>, !dtc.tensor<64xf32>)
  %d:3 = dtc.layer_norm_grad %x, %g, %x {epsilon = 1.0e-5 : f64} : (!dtc.tensor<8x32x64xf32>, !dtc.tensor<64xf32>, !dtc.tensor<8x32x64xf32>) -> (!dtc.tensor<8x32x64xf32>, !dtc.tensor<64xf32>, !dtc.tensor<64xf32>)
  // CHECK: dtc.rms_norm %{{.*}}, %{{.*}} {epsilon = 1.000000e-05 : f64} : (!dtc.tensor<8x32x64xf32>, !dtc.tensor<64xf32>) -> !dtc.tensor<8x32x64xf32>
  %e = dtc.rms_norm %x, %g {epsilon = 1.0e-5 : f64} : (!dtc.tensor<8x32x64xf32>, !dtc.tensor<64xf32>) -> !dtc.tensor<8x32x64xf32>
  // CHECK: dtc.rms_norm_grad %{{.*}}, %{{.*}}, %{{.*}} {epsilon = 1.000000e-05 : f64} : (!dtc.tensor<8x32x64xf32>, !dtc.tensor<64xf32>, !dtc.tensor<8x32x64xf32>) -> (!dtc.tensor<8x32x64xf32>, !dtc.tensor<64xf32>)
  %f:2 = dtc.rms_norm_grad %x, %g, %x {epsilon = 1.0e-5 : f64} : (!dtc.tensor<8x32x64xf32>, !dtc.tensor<64xf32>, !dtc.tensor<8x32x64xf32>) -> (!dtc.tensor<8x32x64xf32>, !dtc.tensor<64xf32>)
  return
}

// CHECK-LABEL: func @activations
func.func @activations(%x: !dtc.tensor<8x256xf32>) {
  // CHECK: dtc.activation gelu_tanh %{{.*}} : (!dtc.tensor<8x256xf32>) -> !dtc.tensor<8x256xf32>
  %a = dtc.activation gelu_tanh %x : (!dtc.tensor<8x256xf32>) -> !dtc.tensor<8x256xf32>
  // CHECK: dtc.activation gelu %{{.*}} :
  %b = dtc.activation gelu %x : (!dtc.tensor<8x256xf32>) -> !dtc.tensor<8x256xf32>
  // CHECK: dtc.activation silu %{{.*}} :
  %c = dtc.activation silu %x : (!dtc.tensor<8x256xf32>) -> !dtc.tensor<8x256xf32>
  // CHECK: dtc.activation_grad silu %{{.*}}, %{{.*}} : (!dtc.tensor<8x256xf32>, !dtc.tensor<8x256xf32>) -> !dtc.tensor<8x256xf32>
  %d = dtc.activation_grad silu %x, %x : (!dtc.tensor<8x256xf32>, !dtc.tensor<8x256xf32>) -> !dtc.tensor<8x256xf32>
  // CHECK: dtc.gated_product silu %{{.*}}, %{{.*}} : (!dtc.tensor<8x256xf32>, !dtc.tensor<8x256xf32>) -> !dtc.tensor<8x256xf32>
  %e = dtc.gated_product silu %x, %x : (!dtc.tensor<8x256xf32>, !dtc.tensor<8x256xf32>) -> !dtc.tensor<8x256xf32>
  // CHECK: dtc.gated_product_grad gelu %{{.*}}, %{{.*}}, %{{.*}} : (!dtc.tensor<8x256xf32>, !dtc.tensor<8x256xf32>, !dtc.tensor<8x256xf32>) -> (!dtc.tensor<8x256xf32>, !dtc.tensor<8x256xf32>)
  %f:2 = dtc.gated_product_grad gelu %x, %x, %x : (!dtc.tensor<8x256xf32>, !dtc.tensor<8x256xf32>, !dtc.tensor<8x256xf32>) -> (!dtc.tensor<8x256xf32>, !dtc.tensor<8x256xf32>)
  return
}

// CHECK-LABEL: func @attention
func.func @attention(%q: !dtc.tensor<2x6x4x8xf32>, %k: !dtc.tensor<2x5x2x8xf32>, %qp: !dtc.tensor<6xi32>, %kp: !dtc.tensor<5xi32>,
                     %qb: !dtc.tensor<2x6xi32>, %kb: !dtc.tensor<2x5xi32>, %rng: !dtc.tensor<2xi32>, %layer: !dtc.tensor<i32>, %rows: !dtc.tensor<2xi32>) {
  // CHECK: dtc.rotary %{{.*}}, %{{.*}} {theta = 1.000000e+04 : f64} : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<6xi32>) -> !dtc.tensor<2x6x4x8xf32>
  %a = dtc.rotary %q, %qp {theta = 1.0e4 : f64} : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<6xi32>) -> !dtc.tensor<2x6x4x8xf32>
  // CHECK: dtc.rotary %{{.*}}, %{{.*}} {inverse, theta = 1.000000e+04 : f64} : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6xi32>)
  %b = dtc.rotary %q, %qb {inverse, theta = 1.0e4 : f64} : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6xi32>) -> !dtc.tensor<2x6x4x8xf32>
  // CHECK: %[[O:.*]], %[[LSE:.*]] = dtc.attention %{{.*}}, %{{.*}}, %{{.*}} at %{{.*}}, %{{.*}} {causal, scale = 2.500000e-01 : f64} : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x5x2x8xf32>, !dtc.tensor<2x5x2x8xf32>, !dtc.tensor<6xi32>, !dtc.tensor<5xi32>) -> (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x4xf32>)
  %o, %lse = dtc.attention %q, %k, %k at %qp, %kp {causal, scale = 2.5e-1 : f64}
      : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x5x2x8xf32>, !dtc.tensor<2x5x2x8xf32>, !dtc.tensor<6xi32>, !dtc.tensor<5xi32>)
     -> (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x4xf32>)
  // CHECK: dtc.attention %{{.*}}, %{{.*}}, %{{.*}} at %{{.*}}, %{{.*}} documents %{{.*}}, %{{.*}} {scale
  %o1, %lse1 = dtc.attention %q, %k, %k at %qp, %kp documents %qb, %kb {scale = 2.5e-1 : f64}
      : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x5x2x8xf32>, !dtc.tensor<2x5x2x8xf32>, !dtc.tensor<6xi32>, !dtc.tensor<5xi32>, !dtc.tensor<2x6xi32>, !dtc.tensor<2x5xi32>)
     -> (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x4xf32>)
  // CHECK: dtc.attention %{{.*}}, %{{.*}}, %{{.*}} at %{{.*}}, %{{.*}} documents %{{.*}}, %{{.*}} random %{{.*}}, %{{.*}}, %{{.*}} {dropout = 1.000000e-01 : f64, scale = 2.500000e-01 : f64, site = 3 : i64}
  %o2, %lse2 = dtc.attention %q, %k, %k at %qb, %kb documents %qb, %kb random %rng, %layer, %rows {scale = 2.5e-1 : f64, dropout = 1.0e-1 : f64, site = 3 : i64}
      : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x5x2x8xf32>, !dtc.tensor<2x5x2x8xf32>, !dtc.tensor<2x6xi32>, !dtc.tensor<2x5xi32>, !dtc.tensor<2x6xi32>, !dtc.tensor<2x5xi32>, !dtc.tensor<2xi32>, !dtc.tensor<i32>, !dtc.tensor<2xi32>)
     -> (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x4xf32>)
  // CHECK: dtc.attention_grad %{{.*}}, %{{.*}}, %{{.*}} at %{{.*}}, %{{.*}} of %[[O]], %[[LSE]], %{{.*}} {causal, scale = 2.500000e-01 : f64}
  %d:3 = dtc.attention_grad %q, %k, %k at %qp, %kp of %o, %lse, %o {causal, scale = 2.5e-1 : f64}
      : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x5x2x8xf32>, !dtc.tensor<2x5x2x8xf32>, !dtc.tensor<6xi32>, !dtc.tensor<5xi32>, !dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x4xf32>, !dtc.tensor<2x6x4x8xf32>)
     -> (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x5x2x8xf32>, !dtc.tensor<2x5x2x8xf32>)
  // CHECK: dtc.attention_grad %{{.*}}, %{{.*}}, %{{.*}} at %{{.*}}, %{{.*}} of %{{.*}}, %{{.*}}, %{{.*}} documents %{{.*}}, %{{.*}} random %{{.*}}, %{{.*}}, %{{.*}} {dropout = 1.000000e-01 : f64, local, scale = 2.500000e-01 : f64}
  %e:3 = dtc.attention_grad %q, %k, %k at %qb, %kb of %o, %lse, %o documents %qb, %kb random %rng, %layer, %rows {local, scale = 2.5e-1 : f64, dropout = 1.0e-1 : f64}
      : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x5x2x8xf32>, !dtc.tensor<2x5x2x8xf32>, !dtc.tensor<2x6xi32>, !dtc.tensor<2x5xi32>, !dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x4xf32>, !dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6xi32>, !dtc.tensor<2x5xi32>, !dtc.tensor<2xi32>, !dtc.tensor<i32>, !dtc.tensor<2xi32>)
     -> (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x5x2x8xf32>, !dtc.tensor<2x5x2x8xf32>)
  return
}

// CHECK-LABEL: func @sources
func.func @sources(%x: !dtc.tensor<2x6x8xf32>, %rng: !dtc.tensor<2xi32>, %layer: !dtc.tensor<i32>) {
  // CHECK: dtc.iota : () -> !dtc.tensor<6xi32>
  %positions = dtc.iota : () -> !dtc.tensor<6xi32>
  %rows = dtc.iota : () -> !dtc.tensor<2xi32>
  // CHECK: dtc.constant -1.000000e+00 : () -> !dtc.tensor<i32>
  %c = dtc.constant -1.0 : () -> !dtc.tensor<i32>
  // CHECK: dtc.constant 5.000000e-01 : () -> !dtc.tensor<2x3xbf16>
  %d = dtc.constant 0.5 : () -> !dtc.tensor<2x3xbf16>
  // A zero may be a sum of zeros.
  // CHECK: dtc.constant 0.000000e+00 : () -> !dtc.tensor<2x3(4){tp:4}xf32, partial{dp:2}>
  %z = dtc.constant 0.0 : () -> !dtc.tensor<2x3(4){tp:4}xf32, partial{dp:2}>
  // CHECK: dtc.dropout %{{.*}} random %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {p = 1.000000e-01 : f64, site = 2 : i64} : (!dtc.tensor<2x6x8xf32>, !dtc.tensor<2xi32>, !dtc.tensor<i32>, !dtc.tensor<2xi32>, !dtc.tensor<6xi32>) -> !dtc.tensor<2x6x8xf32>
  %e = dtc.dropout %x random %rng, %layer, %rows, %positions {p = 1.0e-1 : f64, site = 2 : i64}
      : (!dtc.tensor<2x6x8xf32>, !dtc.tensor<2xi32>, !dtc.tensor<i32>, !dtc.tensor<2xi32>, !dtc.tensor<6xi32>) -> !dtc.tensor<2x6x8xf32>
  return
}

// CHECK-LABEL: func @loss
func.func @loss(%z: !dtc.tensor<2x6x10xf32>, %labels: !dtc.tensor<2x6xi32>, %dloss: !dtc.tensor<f32>) {
  // CHECK: dtc.cross_entropy %{{.*}}, %{{.*}} : (!dtc.tensor<2x6x10xf32>, !dtc.tensor<2x6xi32>) -> (!dtc.tensor<f32>, !dtc.tensor<2x6xf32>)
  %sum, %lse = dtc.cross_entropy %z, %labels : (!dtc.tensor<2x6x10xf32>, !dtc.tensor<2x6xi32>) -> (!dtc.tensor<f32>, !dtc.tensor<2x6xf32>)
  // CHECK: dtc.cross_entropy_grad %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {label_smoothing = 1.000000e-01 : f64} : (!dtc.tensor<2x6x10xf32>, !dtc.tensor<2x6xi32>, !dtc.tensor<2x6xf32>, !dtc.tensor<f32>) -> !dtc.tensor<2x6x10xf32>
  %dz = dtc.cross_entropy_grad %z, %labels, %lse, %dloss {label_smoothing = 0.1 : f64} : (!dtc.tensor<2x6x10xf32>, !dtc.tensor<2x6xi32>, !dtc.tensor<2x6xf32>, !dtc.tensor<f32>) -> !dtc.tensor<2x6x10xf32>
  // CHECK: dtc.count_labels %{{.*}} : (!dtc.tensor<2x6xi32>) -> !dtc.tensor<i32>
  %n = dtc.count_labels %labels : (!dtc.tensor<2x6xi32>) -> !dtc.tensor<i32>
  // CHECK: dtc.vocab_max %{{.*}} : (!dtc.tensor<2x6x10xf32>) -> !dtc.tensor<2x6xf32>
  %max = dtc.vocab_max %z : (!dtc.tensor<2x6x10xf32>) -> !dtc.tensor<2x6xf32>
  // CHECK: dtc.vocab_sum_exp %{{.*}}, %{{.*}} : (!dtc.tensor<2x6x10xf32>, !dtc.tensor<2x6xf32>) -> !dtc.tensor<2x6xf32>
  %s = dtc.vocab_sum_exp %z, %max : (!dtc.tensor<2x6x10xf32>, !dtc.tensor<2x6xf32>) -> !dtc.tensor<2x6xf32>
  // CHECK: dtc.vocab_pick %{{.*}}, %{{.*}} : (!dtc.tensor<2x6x10xf32>, !dtc.tensor<2x6xi32>) -> !dtc.tensor<2x6xf32>
  %p = dtc.vocab_pick %z, %labels : (!dtc.tensor<2x6x10xf32>, !dtc.tensor<2x6xi32>) -> !dtc.tensor<2x6xf32>
  // CHECK: dtc.token_loss %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : (!dtc.tensor<2x6xf32>, !dtc.tensor<2x6xf32>, !dtc.tensor<2x6xf32>, !dtc.tensor<2x6xi32>) -> (!dtc.tensor<f32>, !dtc.tensor<2x6xf32>)
  %l, %lse2 = dtc.token_loss %max, %s, %p, %labels : (!dtc.tensor<2x6xf32>, !dtc.tensor<2x6xf32>, !dtc.tensor<2x6xf32>, !dtc.tensor<2x6xi32>) -> (!dtc.tensor<f32>, !dtc.tensor<2x6xf32>)
  return
}

// CHECK-LABEL: func @optimizer
func.func @optimizer(%loss: !dtc.tensor<f32>, %n: !dtc.tensor<i32>, %scalars: !dtc.tensor<8xf32>) {
  // CHECK: %[[W:.*]] = dtc.read param of @wte : !dtc.tensor<256x64xf32>
  %w = dtc.read param of @wte : !dtc.tensor<256x64xf32>
  // CHECK: dtc.read grad of @wte : !dtc.tensor<256{dp:2}x64xf32>
  %g0 = dtc.read grad of @wte : !dtc.tensor<256{dp:2}x64xf32>
  %g = dtc.read grad of @wte : !dtc.tensor<256x64xf32>
  // CHECK: dtc.read m of @wte
  %m = dtc.read m of @wte : !dtc.tensor<256x64xf32>
  // CHECK: dtc.read v of @wte
  %v = dtc.read v of @wte : !dtc.tensor<256x64xf32>
  // CHECK: dtc.sum_squares %{{.*}} : (!dtc.tensor<256x64xf32>) -> !dtc.tensor<f32>
  %ss = dtc.sum_squares %g : (!dtc.tensor<256x64xf32>) -> !dtc.tensor<f32>
  // CHECK: dtc.clip %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : (!dtc.tensor<f32>, !dtc.tensor<f32>, !dtc.tensor<i32>, !dtc.tensor<8xf32>) -> (!dtc.tensor<f32>, !dtc.tensor<f32>, !dtc.tensor<i32>)
  %norm, %coefficient, %skip = dtc.clip %ss, %loss, %n, %scalars : (!dtc.tensor<f32>, !dtc.tensor<f32>, !dtc.tensor<i32>, !dtc.tensor<8xf32>) -> (!dtc.tensor<f32>, !dtc.tensor<f32>, !dtc.tensor<i32>)
  // CHECK: dtc.adamw %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} with %{{.*}}, %{{.*}}, %{{.*}} {decay} :
  %p1, %m1, %v1 = dtc.adamw %w, %g, %m, %v with %coefficient, %skip, %scalars {decay}
      : (!dtc.tensor<256x64xf32>, !dtc.tensor<256x64xf32>, !dtc.tensor<256x64xf32>, !dtc.tensor<256x64xf32>, !dtc.tensor<f32>, !dtc.tensor<i32>, !dtc.tensor<8xf32>)
     -> (!dtc.tensor<256x64xf32>, !dtc.tensor<256x64xf32>, !dtc.tensor<256x64xf32>)
  // CHECK: dtc.write %{{.*}} to param of @wte : !dtc.tensor<256x64xf32>
  dtc.write %p1 to param of @wte : !dtc.tensor<256x64xf32>
  // CHECK: dtc.write %{{.*}} to v of @wte
  dtc.write %v1 to v of @wte : !dtc.tensor<256x64xf32>
  return
}

// CHECK-LABEL: func @repad
func.func @repad(%x: !dtc.tensor<5x7xf32, partial{tp:4}>) -> !dtc.tensor<5(8)x7xf32, partial{tp:4}> {
  // CHECK: dtc.repad %{{.*}} dim 0 : (!dtc.tensor<5x7xf32, partial{tp:4}>) -> !dtc.tensor<5(8)x7xf32, partial{tp:4}>
  %0 = dtc.repad %x dim 0 : (!dtc.tensor<5x7xf32, partial{tp:4}>) -> !dtc.tensor<5(8)x7xf32, partial{tp:4}>
  return %0 : !dtc.tensor<5(8)x7xf32, partial{tp:4}>
}

// CHECK-LABEL: func @micro_batches
func.func @micro_batches(%ids: !dtc.tensor<8{dp:2}x32xi32>) -> !dtc.tensor<i32, partial{dp:2}> {
  // CHECK: dtc.micro_batches 4 {
  // CHECK-NEXT: ^bb0(%{{.*}}: !dtc.tensor<i32>):
  %n = dtc.micro_batches 4 {
  ^bb0(%m: !dtc.tensor<i32>):
    %mf = dtc.f %m over <dp:2> : (!dtc.tensor<i32>) -> !dtc.tensor<i32, replicate{dp:2}>
    // CHECK: dtc.micro_batch %{{.*}}[%{{.*}}] parts 2 count 4 : (!dtc.tensor<8{dp:2}x32xi32>, !dtc.tensor<i32, replicate{dp:2}>) -> !dtc.tensor<2{dp:2}x32xi32>
    %x = dtc.micro_batch %ids[%mf] parts 2 count 4 : (!dtc.tensor<8{dp:2}x32xi32>, !dtc.tensor<i32, replicate{dp:2}>) -> !dtc.tensor<2{dp:2}x32xi32>
    %c = dtc.count_labels %x : (!dtc.tensor<2{dp:2}x32xi32>) -> !dtc.tensor<i32, partial{dp:2}>
    // CHECK: dtc.yield %{{.*}} : !dtc.tensor<i32, partial{dp:2}>
    dtc.yield %c : !dtc.tensor<i32, partial{dp:2}>
  } : !dtc.tensor<i32, partial{dp:2}>
  return %n : !dtc.tensor<i32, partial{dp:2}>
}

// CHECK-LABEL: func @collectives
func.func @collectives(%i: !dtc.tensor<8x16xf32>, %p: !dtc.tensor<8x16xf32, partial{tp:4}>, %s: !dtc.tensor<8x16{tp:4}xf32>,
                       %r: !dtc.tensor<8x16xf32, replicate{tp:4}>, %m: !dtc.tensor<8x16xf32, max{tp:4}>) {
  // CHECK: dtc.f %{{.*}} over <tp:4> : (!dtc.tensor<8x16xf32>) -> !dtc.tensor<8x16xf32, replicate{tp:4}>
  %0 = dtc.f %i over <tp:4> : (!dtc.tensor<8x16xf32>) -> !dtc.tensor<8x16xf32, replicate{tp:4}>
  // CHECK: dtc.g %{{.*}} over <tp:4> : (!dtc.tensor<8x16xf32, partial{tp:4}>) -> !dtc.tensor<8x16xf32>
  %1 = dtc.g %p over <tp:4> : (!dtc.tensor<8x16xf32, partial{tp:4}>) -> !dtc.tensor<8x16xf32>
  // CHECK: dtc.all_reduce %{{.*}} over <tp:(2)2> : (!dtc.tensor<8x16xf32, partial{tp:4}>) -> !dtc.tensor<8x16xf32, partial{tp:2}, replicate{tp:(2)2}>
  %2 = dtc.all_reduce %p over <tp:(2)2> : (!dtc.tensor<8x16xf32, partial{tp:4}>) -> !dtc.tensor<8x16xf32, partial{tp:2}, replicate{tp:(2)2}>
  // CHECK: dtc.all_gather %{{.*}} dim 1 over <tp:4>
  %3 = dtc.all_gather %s dim 1 over <tp:4> : (!dtc.tensor<8x16{tp:4}xf32>) -> !dtc.tensor<8x16xf32, replicate{tp:4}>
  // CHECK: dtc.reduce_scatter %{{.*}} dim 1 over <tp:4>
  %4 = dtc.reduce_scatter %p dim 1 over <tp:4> : (!dtc.tensor<8x16xf32, partial{tp:4}>) -> !dtc.tensor<8x16{tp:4}xf32>
  // CHECK: dtc.all_gather_invariant %{{.*}} dim 1 over <tp:4>
  %5 = dtc.all_gather_invariant %s dim 1 over <tp:4> : (!dtc.tensor<8x16{tp:4}xf32>) -> !dtc.tensor<8x16xf32>
  // CHECK: dtc.slice %{{.*}} dim 1 over <tp:4>
  %6 = dtc.slice %i dim 1 over <tp:4> : (!dtc.tensor<8x16xf32>) -> !dtc.tensor<8x16{tp:4}xf32>
  // CHECK: dtc.slice_replicated %{{.*}} dim 0 over <tp:4>
  %7 = dtc.slice_replicated %r dim 0 over <tp:4> : (!dtc.tensor<8x16xf32, replicate{tp:4}>) -> !dtc.tensor<8{tp:4}x16xf32>
  // CHECK: dtc.pad %{{.*}} dim 1 over <tp:4>
  %8 = dtc.pad %s dim 1 over <tp:4> : (!dtc.tensor<8x16{tp:4}xf32>) -> !dtc.tensor<8x16xf32, partial{tp:4}>
  // CHECK: dtc.keep_first %{{.*}} over <tp:4>
  %9 = dtc.keep_first %i over <tp:4> : (!dtc.tensor<8x16xf32>) -> !dtc.tensor<8x16xf32, partial{tp:4}>
  // CHECK: dtc.as_one %{{.*}} over <tp:4>
  %10 = dtc.as_one %r over <tp:4> : (!dtc.tensor<8x16xf32, replicate{tp:4}>) -> !dtc.tensor<8x16xf32>
  // CHECK: dtc.keep_first_replicated %{{.*}} over <tp:4>
  %11 = dtc.keep_first_replicated %r over <tp:4> : (!dtc.tensor<8x16xf32, replicate{tp:4}>) -> !dtc.tensor<8x16xf32, partial{tp:4}>
  // CHECK: dtc.all_to_all %{{.*}} from 1 to 0 over <tp:4>
  %12 = dtc.all_to_all %s from 1 to 0 over <tp:4> : (!dtc.tensor<8x16{tp:4}xf32>) -> !dtc.tensor<8{tp:4}x16xf32>
  // CHECK: dtc.reduce_max %{{.*}} over <tp:4>
  %13 = dtc.reduce_max %m over <tp:4> : (!dtc.tensor<8x16xf32, max{tp:4}>) -> !dtc.tensor<8x16xf32>
  return
}

}
