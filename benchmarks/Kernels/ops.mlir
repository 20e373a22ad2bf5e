// The memory-bound kernels of a GPT-2 124M step (batch 4, sequence 256), and what
// llama has besides at like sizes.

func.func @add(%x: !dtc.tensor<4x256x768xf32>, %y: !dtc.tensor<4x256x768xf32>) -> !dtc.tensor<4x256x768xf32> {
  %r0 = dtc.add %x, %y : (!dtc.tensor<4x256x768xf32>, !dtc.tensor<4x256x768xf32>) -> !dtc.tensor<4x256x768xf32>
  return %r0 : !dtc.tensor<4x256x768xf32>
}
func.func @add_bias(%x: !dtc.tensor<4x256x3072xf32>, %y: !dtc.tensor<3072xf32>) -> !dtc.tensor<4x256x3072xf32> {
  %r0 = dtc.add %x, %y : (!dtc.tensor<4x256x3072xf32>, !dtc.tensor<3072xf32>) -> !dtc.tensor<4x256x3072xf32>
  return %r0 : !dtc.tensor<4x256x3072xf32>
}
func.func @reduce_sum(%x: !dtc.tensor<4x256x3072xf32>) -> !dtc.tensor<3072xf32> {
  %r0 = dtc.reduce_sum %x over [0, 1] : (!dtc.tensor<4x256x3072xf32>) -> !dtc.tensor<3072xf32>
  return %r0 : !dtc.tensor<3072xf32>
}
func.func @reduce_sum_small(%x: !dtc.tensor<4x256x768xf32>) -> !dtc.tensor<768xf32> {
  %r0 = dtc.reduce_sum %x over [0, 1] : (!dtc.tensor<4x256x768xf32>) -> !dtc.tensor<768xf32>
  return %r0 : !dtc.tensor<768xf32>
}
func.func @layer_norm(%x: !dtc.tensor<4x256x768xf32>, %g: !dtc.tensor<768xf32>, %b: !dtc.tensor<768xf32>) -> !dtc.tensor<4x256x768xf32> {
  %r0 = dtc.layer_norm %x, %g, %b {epsilon = 1.0e-05} : (!dtc.tensor<4x256x768xf32>, !dtc.tensor<768xf32>, !dtc.tensor<768xf32>) -> !dtc.tensor<4x256x768xf32>
  return %r0 : !dtc.tensor<4x256x768xf32>
}
func.func @layer_norm_grad(%x: !dtc.tensor<4x256x768xf32>, %g: !dtc.tensor<768xf32>, %dy: !dtc.tensor<4x256x768xf32>) -> (!dtc.tensor<4x256x768xf32>, !dtc.tensor<768xf32>, !dtc.tensor<768xf32>) {
  %r0, %r1, %r2 = dtc.layer_norm_grad %x, %g, %dy {epsilon = 1.0e-05} : (!dtc.tensor<4x256x768xf32>, !dtc.tensor<768xf32>, !dtc.tensor<4x256x768xf32>) -> (!dtc.tensor<4x256x768xf32>, !dtc.tensor<768xf32>, !dtc.tensor<768xf32>)
  return %r0, %r1, %r2 : !dtc.tensor<4x256x768xf32>, !dtc.tensor<768xf32>, !dtc.tensor<768xf32>
}
func.func @rms_norm(%x: !dtc.tensor<4x256x768xf32>, %g: !dtc.tensor<768xf32>) -> !dtc.tensor<4x256x768xf32> {
  %r0 = dtc.rms_norm %x, %g {epsilon = 1.0e-06} : (!dtc.tensor<4x256x768xf32>, !dtc.tensor<768xf32>) -> !dtc.tensor<4x256x768xf32>
  return %r0 : !dtc.tensor<4x256x768xf32>
}
func.func @rms_norm_grad(%x: !dtc.tensor<4x256x768xf32>, %g: !dtc.tensor<768xf32>, %dy: !dtc.tensor<4x256x768xf32>) -> (!dtc.tensor<4x256x768xf32>, !dtc.tensor<768xf32>) {
  %r0, %r1 = dtc.rms_norm_grad %x, %g, %dy {epsilon = 1.0e-06} : (!dtc.tensor<4x256x768xf32>, !dtc.tensor<768xf32>, !dtc.tensor<4x256x768xf32>) -> (!dtc.tensor<4x256x768xf32>, !dtc.tensor<768xf32>)
  return %r0, %r1 : !dtc.tensor<4x256x768xf32>, !dtc.tensor<768xf32>
}
func.func @activation_gelu_tanh(%x: !dtc.tensor<4x256x3072xf32>) -> !dtc.tensor<4x256x3072xf32> {
  %r0 = dtc.activation gelu_tanh %x : (!dtc.tensor<4x256x3072xf32>) -> !dtc.tensor<4x256x3072xf32>
  return %r0 : !dtc.tensor<4x256x3072xf32>
}
func.func @activation_grad_gelu_tanh(%x: !dtc.tensor<4x256x3072xf32>, %dy: !dtc.tensor<4x256x3072xf32>) -> !dtc.tensor<4x256x3072xf32> {
  %r0 = dtc.activation_grad gelu_tanh %x, %dy : (!dtc.tensor<4x256x3072xf32>, !dtc.tensor<4x256x3072xf32>) -> !dtc.tensor<4x256x3072xf32>
  return %r0 : !dtc.tensor<4x256x3072xf32>
}
func.func @activation_gelu(%x: !dtc.tensor<4x256x3072xf32>) -> !dtc.tensor<4x256x3072xf32> {
  %r0 = dtc.activation gelu %x : (!dtc.tensor<4x256x3072xf32>) -> !dtc.tensor<4x256x3072xf32>
  return %r0 : !dtc.tensor<4x256x3072xf32>
}
func.func @activation_grad_gelu(%x: !dtc.tensor<4x256x3072xf32>, %dy: !dtc.tensor<4x256x3072xf32>) -> !dtc.tensor<4x256x3072xf32> {
  %r0 = dtc.activation_grad gelu %x, %dy : (!dtc.tensor<4x256x3072xf32>, !dtc.tensor<4x256x3072xf32>) -> !dtc.tensor<4x256x3072xf32>
  return %r0 : !dtc.tensor<4x256x3072xf32>
}
func.func @activation_silu(%x: !dtc.tensor<4x256x3072xf32>) -> !dtc.tensor<4x256x3072xf32> {
  %r0 = dtc.activation silu %x : (!dtc.tensor<4x256x3072xf32>) -> !dtc.tensor<4x256x3072xf32>
  return %r0 : !dtc.tensor<4x256x3072xf32>
}
func.func @activation_grad_silu(%x: !dtc.tensor<4x256x3072xf32>, %dy: !dtc.tensor<4x256x3072xf32>) -> !dtc.tensor<4x256x3072xf32> {
  %r0 = dtc.activation_grad silu %x, %dy : (!dtc.tensor<4x256x3072xf32>, !dtc.tensor<4x256x3072xf32>) -> !dtc.tensor<4x256x3072xf32>
  return %r0 : !dtc.tensor<4x256x3072xf32>
}
func.func @gated_product(%x: !dtc.tensor<4x256x3072xf32>, %y: !dtc.tensor<4x256x3072xf32>) -> !dtc.tensor<4x256x3072xf32> {
  %r0 = dtc.gated_product silu %x, %y : (!dtc.tensor<4x256x3072xf32>, !dtc.tensor<4x256x3072xf32>) -> !dtc.tensor<4x256x3072xf32>
  return %r0 : !dtc.tensor<4x256x3072xf32>
}
func.func @gated_product_grad(%x: !dtc.tensor<4x256x3072xf32>, %y: !dtc.tensor<4x256x3072xf32>, %dy: !dtc.tensor<4x256x3072xf32>) -> (!dtc.tensor<4x256x3072xf32>, !dtc.tensor<4x256x3072xf32>) {
  %r0, %r1 = dtc.gated_product_grad silu %x, %y, %dy : (!dtc.tensor<4x256x3072xf32>, !dtc.tensor<4x256x3072xf32>, !dtc.tensor<4x256x3072xf32>) -> (!dtc.tensor<4x256x3072xf32>, !dtc.tensor<4x256x3072xf32>)
  return %r0, %r1 : !dtc.tensor<4x256x3072xf32>, !dtc.tensor<4x256x3072xf32>
}
func.func @rotary(%x: !dtc.tensor<4x256x12x64xf32>, %p: !dtc.tensor<256xi32>) -> !dtc.tensor<4x256x12x64xf32> {
  %r0 = dtc.rotary %x, %p {theta = 1.0e+04} : (!dtc.tensor<4x256x12x64xf32>, !dtc.tensor<256xi32>) -> !dtc.tensor<4x256x12x64xf32>
  return %r0 : !dtc.tensor<4x256x12x64xf32>
}
func.func @dropout(%x: !dtc.tensor<4x256x768xf32>, %r: !dtc.tensor<2xi32> {test.data = "below 1000000000"}, %l: !dtc.tensor<i32> {test.data = "below 12"}, %b: !dtc.tensor<4xi32>, %p: !dtc.tensor<256xi32>) -> !dtc.tensor<4x256x768xf32> {
  %r0 = dtc.dropout %x random %r, %l, %b, %p {p = 1.0e-01, site = 3} : (!dtc.tensor<4x256x768xf32>, !dtc.tensor<2xi32>, !dtc.tensor<i32>, !dtc.tensor<4xi32>, !dtc.tensor<256xi32>) -> !dtc.tensor<4x256x768xf32>
  return %r0 : !dtc.tensor<4x256x768xf32>
}
func.func @embedding(%x: !dtc.tensor<50257x768xf32> {test.bytes = 3145728}, %i: !dtc.tensor<4x256xi32> {test.data = "below 50257"}) -> !dtc.tensor<4x256x768xf32> {
  %r0 = dtc.embedding %x[%i] : (!dtc.tensor<50257x768xf32>, !dtc.tensor<4x256xi32>) -> !dtc.tensor<4x256x768xf32>
  return %r0 : !dtc.tensor<4x256x768xf32>
}
func.func @embedding_grad(%i: !dtc.tensor<4x256xi32> {test.data = "below 50257"}, %dx: !dtc.tensor<4x256x768xf32>) -> !dtc.tensor<50257x768xf32> {
  %r0 = dtc.embedding_grad %i, %dx : (!dtc.tensor<4x256xi32>, !dtc.tensor<4x256x768xf32>) -> !dtc.tensor<50257x768xf32>
  return %r0 : !dtc.tensor<50257x768xf32>
}
func.func @cross_entropy(%x: !dtc.tensor<4x256x50257xf32>, %y: !dtc.tensor<4x256xi32> {test.data = "below 50257"}) -> (!dtc.tensor<f32>, !dtc.tensor<4x256xf32>) {
  %r0, %r1 = dtc.cross_entropy %x, %y : (!dtc.tensor<4x256x50257xf32>, !dtc.tensor<4x256xi32>) -> (!dtc.tensor<f32>, !dtc.tensor<4x256xf32>)
  return %r0, %r1 : !dtc.tensor<f32>, !dtc.tensor<4x256xf32>
}
func.func @cross_entropy_grad(%x: !dtc.tensor<4x256x50257xf32>, %y: !dtc.tensor<4x256xi32> {test.data = "below 50257"}, %l: !dtc.tensor<4x256xf32>, %d: !dtc.tensor<f32>) -> !dtc.tensor<4x256x50257xf32> {
  %r0 = dtc.cross_entropy_grad %x, %y, %l, %d : (!dtc.tensor<4x256x50257xf32>, !dtc.tensor<4x256xi32>, !dtc.tensor<4x256xf32>, !dtc.tensor<f32>) -> !dtc.tensor<4x256x50257xf32>
  return %r0 : !dtc.tensor<4x256x50257xf32>
}
func.func @sum_squares(%x: !dtc.tensor<50257x768xf32>) -> !dtc.tensor<f32> {
  %r0 = dtc.sum_squares %x : (!dtc.tensor<50257x768xf32>) -> !dtc.tensor<f32>
  return %r0 : !dtc.tensor<f32>
}
func.func @adamw(%p: !dtc.tensor<50257x768xf32>, %g: !dtc.tensor<50257x768xf32>, %m: !dtc.tensor<50257x768xf32>, %v: !dtc.tensor<50257x768xf32> {test.data = "positive"}, %c: !dtc.tensor<f32> {test.data = "positive"}, %k: !dtc.tensor<i32> {test.data = "below 1"}, %s: !dtc.tensor<8xf32> {test.data = "positive"}) -> (!dtc.tensor<50257x768xf32>, !dtc.tensor<50257x768xf32>, !dtc.tensor<50257x768xf32>) {
  %r0, %r1, %r2 = dtc.adamw %p, %g, %m, %v with %c, %k, %s {decay} : (!dtc.tensor<50257x768xf32>, !dtc.tensor<50257x768xf32>, !dtc.tensor<50257x768xf32>, !dtc.tensor<50257x768xf32>, !dtc.tensor<f32>, !dtc.tensor<i32>, !dtc.tensor<8xf32>) -> (!dtc.tensor<50257x768xf32>, !dtc.tensor<50257x768xf32>, !dtc.tensor<50257x768xf32>)
  return %r0, %r1, %r2 : !dtc.tensor<50257x768xf32>, !dtc.tensor<50257x768xf32>, !dtc.tensor<50257x768xf32>
}
