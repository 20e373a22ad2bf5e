// Ops whose kernels are worth a look of their own: long rows, cut and padded
// factors, every path that depends on sizes. As unittests/Algebra/sample-ops.mlir.

module attributes {dtc.mesh = #dtc.mesh<tp:4>} {

// Products of matrices: all orientations that training meets, and padded terms.

func.func @einsum_q(%x: !dtc.tensor<2x33x48xf64>, %y: !dtc.tensor<48x3x16xf64>) -> !dtc.tensor<2x33x3x16xf64> {
  %r0 = dtc.einsum "bsd,dhe->bshe"(%x, %y) : (!dtc.tensor<2x33x48xf64>, !dtc.tensor<48x3x16xf64>) -> !dtc.tensor<2x33x3x16xf64>
  return %r0 : !dtc.tensor<2x33x3x16xf64>
}
func.func @einsum_q_dx(%x: !dtc.tensor<2x33x3x16xf64>, %y: !dtc.tensor<48x3x16xf64>) -> !dtc.tensor<2x33x48xf64> {
  %r0 = dtc.einsum "bshe,dhe->bsd"(%x, %y) : (!dtc.tensor<2x33x3x16xf64>, !dtc.tensor<48x3x16xf64>) -> !dtc.tensor<2x33x48xf64>
  return %r0 : !dtc.tensor<2x33x48xf64>
}
func.func @einsum_q_dw(%x: !dtc.tensor<2x33x48xf64>, %y: !dtc.tensor<2x33x3x16xf64>) -> !dtc.tensor<48x3x16xf64> {
  %r0 = dtc.einsum "bsd,bshe->dhe"(%x, %y) : (!dtc.tensor<2x33x48xf64>, !dtc.tensor<2x33x3x16xf64>) -> !dtc.tensor<48x3x16xf64>
  return %r0 : !dtc.tensor<48x3x16xf64>
}
func.func @einsum_o(%x: !dtc.tensor<2x33x3x16xf64>, %y: !dtc.tensor<3x16x48xf64>) -> !dtc.tensor<2x33x48xf64> {
  %r0 = dtc.einsum "bshe,hed->bsd"(%x, %y) : (!dtc.tensor<2x33x3x16xf64>, !dtc.tensor<3x16x48xf64>) -> !dtc.tensor<2x33x48xf64>
  return %r0 : !dtc.tensor<2x33x48xf64>
}
func.func @einsum_logits(%x: !dtc.tensor<2x33x48xf64>, %y: !dtc.tensor<70x48xf64>) -> !dtc.tensor<2x33x70xf64> {
  %r0 = dtc.einsum "bsd,vd->bsv"(%x, %y) : (!dtc.tensor<2x33x48xf64>, !dtc.tensor<70x48xf64>) -> !dtc.tensor<2x33x70xf64>
  return %r0 : !dtc.tensor<2x33x70xf64>
}
func.func @einsum_logits_dw(%x: !dtc.tensor<2x33x48xf64>, %y: !dtc.tensor<2x33x70xf64>) -> !dtc.tensor<70x48xf64> {
  %r0 = dtc.einsum "bsd,bsv->vd"(%x, %y) : (!dtc.tensor<2x33x48xf64>, !dtc.tensor<2x33x70xf64>) -> !dtc.tensor<70x48xf64>
  return %r0 : !dtc.tensor<70x48xf64>
}
func.func @einsum_logits_dx(%x: !dtc.tensor<2x33x70xf64>, %y: !dtc.tensor<70x48xf64>) -> !dtc.tensor<2x33x48xf64> {
  %r0 = dtc.einsum "bsv,vd->bsd"(%x, %y) : (!dtc.tensor<2x33x70xf64>, !dtc.tensor<70x48xf64>) -> !dtc.tensor<2x33x48xf64>
  return %r0 : !dtc.tensor<2x33x48xf64>
}
func.func @einsum_batched(%x: !dtc.tensor<3x17x20xf64>, %y: !dtc.tensor<3x20x35xf64>) -> !dtc.tensor<3x17x35xf64> {
  %r0 = dtc.einsum "bij,bjk->bik"(%x, %y) : (!dtc.tensor<3x17x20xf64>, !dtc.tensor<3x20x35xf64>) -> !dtc.tensor<3x17x35xf64>
  return %r0 : !dtc.tensor<3x17x35xf64>
}
func.func @einsum_batched_inner(%x: !dtc.tensor<3x5x4x2xf64>, %y: !dtc.tensor<3x4x6x2xf64>) -> !dtc.tensor<3x5x6x2xf64> {
  %r0 = dtc.einsum "bijh,bjkh->bikh"(%x, %y) : (!dtc.tensor<3x5x4x2xf64>, !dtc.tensor<3x4x6x2xf64>) -> !dtc.tensor<3x5x6x2xf64>
  return %r0 : !dtc.tensor<3x5x6x2xf64>
}
func.func @einsum_no_merge(%x: !dtc.tensor<4x5x6xf64>, %y: !dtc.tensor<5x18xf64>) -> !dtc.tensor<6x4x18xf64> {
  %r0 = dtc.einsum "asb,sc->bac"(%x, %y) : (!dtc.tensor<4x5x6xf64>, !dtc.tensor<5x18xf64>) -> !dtc.tensor<6x4x18xf64>
  return %r0 : !dtc.tensor<6x4x18xf64>
}
func.func @einsum_rows_major(%x: !dtc.tensor<19x23xf64>, %y: !dtc.tensor<23x37xf64>) -> !dtc.tensor<37x19xf64> {
  %r0 = dtc.einsum "ab,bc->ca"(%x, %y) : (!dtc.tensor<19x23xf64>, !dtc.tensor<23x37xf64>) -> !dtc.tensor<37x19xf64>
  return %r0 : !dtc.tensor<37x19xf64>
}
func.func @einsum_one_sided(%x: !dtc.tensor<6x7xf64>, %y: !dtc.tensor<5xf64>) -> !dtc.tensor<5xf64> {
  %r0 = dtc.einsum "ab,c->c"(%x, %y) : (!dtc.tensor<6x7xf64>, !dtc.tensor<5xf64>) -> !dtc.tensor<5xf64>
  return %r0 : !dtc.tensor<5xf64>
}
func.func @einsum_vector(%x: !dtc.tensor<70x65xf64>, %y: !dtc.tensor<65xf64>) -> !dtc.tensor<70xf64> {
  %r0 = dtc.einsum "ab,b->a"(%x, %y) : (!dtc.tensor<70x65xf64>, !dtc.tensor<65xf64>) -> !dtc.tensor<70xf64>
  return %r0 : !dtc.tensor<70xf64>
}
func.func @einsum_vector_left(%x: !dtc.tensor<65xf64>, %y: !dtc.tensor<65x70xf64>) -> !dtc.tensor<70xf64> {
  %r0 = dtc.einsum "b,ba->a"(%x, %y) : (!dtc.tensor<65xf64>, !dtc.tensor<65x70xf64>) -> !dtc.tensor<70xf64>
  return %r0 : !dtc.tensor<70xf64>
}
func.func @einsum_padded_vocab(%x: !dtc.tensor<2x33x70(72){tp:4}xf64>, %y: !dtc.tensor<70(72){tp:4}x48xf64>) -> !dtc.tensor<2x33x48xf64, partial{tp:4}> {
  %r0 = dtc.einsum "bsv,vd->bsd"(%x, %y) : (!dtc.tensor<2x33x70(72){tp:4}xf64>, !dtc.tensor<70(72){tp:4}x48xf64>) -> !dtc.tensor<2x33x48xf64, partial{tp:4}>
  return %r0 : !dtc.tensor<2x33x48xf64, partial{tp:4}>
}
func.func @einsum_padded_mlp(%x: !dtc.tensor<2x9x41(44){tp:4}xf64>, %y: !dtc.tensor<41(44){tp:4}x48xf64>) -> !dtc.tensor<2x9x48xf64, partial{tp:4}> {
  %r0 = dtc.einsum "bsm,md->bsd"(%x, %y) : (!dtc.tensor<2x9x41(44){tp:4}xf64>, !dtc.tensor<41(44){tp:4}x48xf64>) -> !dtc.tensor<2x9x48xf64, partial{tp:4}>
  return %r0 : !dtc.tensor<2x9x48xf64, partial{tp:4}>
}
func.func @einsum_padded_inner(%x: !dtc.tensor<2x3x41(44){tp:4}xf64>, %y: !dtc.tensor<2x3x41(44){tp:4}x18xf64>) -> !dtc.tensor<18xf64, partial{tp:4}> {
  %r0 = dtc.einsum "bvm,bvmd->d"(%x, %y) : (!dtc.tensor<2x3x41(44){tp:4}xf64>, !dtc.tensor<2x3x41(44){tp:4}x18xf64>) -> !dtc.tensor<18xf64, partial{tp:4}>
  return %r0 : !dtc.tensor<18xf64, partial{tp:4}>
}
func.func @einsum_padded_out(%x: !dtc.tensor<2x9x48xf64, replicate{tp:4}>, %y: !dtc.tensor<48x41(44){tp:4}xf64>) -> !dtc.tensor<2x9x41(44){tp:4}xf64> {
  %r0 = dtc.einsum "bsd,dm->bsm"(%x, %y) : (!dtc.tensor<2x9x48xf64, replicate{tp:4}>, !dtc.tensor<48x41(44){tp:4}xf64>) -> !dtc.tensor<2x9x41(44){tp:4}xf64>
  return %r0 : !dtc.tensor<2x9x41(44){tp:4}xf64>
}
// Sums of several blocks of terms.
func.func @einsum_long(%x: !dtc.tensor<37x1100xf64>, %y: !dtc.tensor<1100x45xf64>) -> !dtc.tensor<37x45xf64> {
  %r0 = dtc.einsum "ab,bc->ac"(%x, %y) : (!dtc.tensor<37x1100xf64>, !dtc.tensor<1100x45xf64>) -> !dtc.tensor<37x45xf64>
  return %r0 : !dtc.tensor<37x45xf64>
}
func.func @einsum_long_dw(%x: !dtc.tensor<1100x37xf64>, %y: !dtc.tensor<1100x45xf64>) -> !dtc.tensor<37x45xf64> {
  %r0 = dtc.einsum "ba,bc->ac"(%x, %y) : (!dtc.tensor<1100x37xf64>, !dtc.tensor<1100x45xf64>) -> !dtc.tensor<37x45xf64>
  return %r0 : !dtc.tensor<37x45xf64>
}
func.func @einsum_empty(%x: !dtc.tensor<5(8){tp:4}xf64>, %y: !dtc.tensor<5(8){tp:4}x18xf64>) -> !dtc.tensor<18xf64, partial{tp:4}> {
  %r0 = dtc.einsum "m,md->d"(%x, %y) : (!dtc.tensor<5(8){tp:4}xf64>, !dtc.tensor<5(8){tp:4}x18xf64>) -> !dtc.tensor<18xf64, partial{tp:4}>
  return %r0 : !dtc.tensor<18xf64, partial{tp:4}>
}

// Elementwise, above and below what is worth threads.

func.func @add_large(%x: !dtc.tensor<3x50x131xf64>, %y: !dtc.tensor<3x50x131xf64>) -> !dtc.tensor<3x50x131xf64> {
  %r0 = dtc.add %x, %y : (!dtc.tensor<3x50x131xf64>, !dtc.tensor<3x50x131xf64>) -> !dtc.tensor<3x50x131xf64>
  return %r0 : !dtc.tensor<3x50x131xf64>
}
func.func @add_bias_large(%x: !dtc.tensor<3x50x131xf64>, %y: !dtc.tensor<131xf64>) -> !dtc.tensor<3x50x131xf64> {
  %r0 = dtc.add %x, %y : (!dtc.tensor<3x50x131xf64>, !dtc.tensor<131xf64>) -> !dtc.tensor<3x50x131xf64>
  return %r0 : !dtc.tensor<3x50x131xf64>
}
func.func @add_bias_heads(%x: !dtc.tensor<4x30x3x64xf64>, %y: !dtc.tensor<3x64xf64>) -> !dtc.tensor<4x30x3x64xf64> {
  %r0 = dtc.add %x, %y : (!dtc.tensor<4x30x3x64xf64>, !dtc.tensor<3x64xf64>) -> !dtc.tensor<4x30x3x64xf64>
  return %r0 : !dtc.tensor<4x30x3x64xf64>
}
func.func @add_rows(%x: !dtc.tensor<3x50x131xf64>, %y: !dtc.tensor<50xf64>) -> !dtc.tensor<3x50x131xf64> {
  %r0 = dtc.add %x, %y {rhs_dims = array<i64: 1>} : (!dtc.tensor<3x50x131xf64>, !dtc.tensor<50xf64>) -> !dtc.tensor<3x50x131xf64>
  return %r0 : !dtc.tensor<3x50x131xf64>
}
func.func @add_long_row(%x: !dtc.tensor<2x20011xf64>, %y: !dtc.tensor<20011xf64>) -> !dtc.tensor<2x20011xf64> {
  %r0 = dtc.add %x, %y {rhs_dims = array<i64: 1>} : (!dtc.tensor<2x20011xf64>, !dtc.tensor<20011xf64>) -> !dtc.tensor<2x20011xf64>
  return %r0 : !dtc.tensor<2x20011xf64>
}
func.func @add_padded(%x: !dtc.tensor<5x41(44){tp:4}xf64>, %y: !dtc.tensor<41(44){tp:4}xf64>) -> !dtc.tensor<5x41(44){tp:4}xf64> {
  %r0 = dtc.add %x, %y : (!dtc.tensor<5x41(44){tp:4}xf64>, !dtc.tensor<41(44){tp:4}xf64>) -> !dtc.tensor<5x41(44){tp:4}xf64>
  return %r0 : !dtc.tensor<5x41(44){tp:4}xf64>
}
func.func @multiply_large(%x: !dtc.tensor<3x50x131xf64>, %y: !dtc.tensor<3x50x131xf64>) -> !dtc.tensor<3x50x131xf64> {
  %r0 = dtc.multiply %x, %y : (!dtc.tensor<3x50x131xf64>, !dtc.tensor<3x50x131xf64>) -> !dtc.tensor<3x50x131xf64>
  return %r0 : !dtc.tensor<3x50x131xf64>
}
func.func @scale_large(%x: !dtc.tensor<3x50x131xf64>) -> !dtc.tensor<3x50x131xf64> {
  %r0 = dtc.scale %x by -3.0e-01 : (!dtc.tensor<3x50x131xf64>) -> !dtc.tensor<3x50x131xf64>
  return %r0 : !dtc.tensor<3x50x131xf64>
}
func.func @divide_large(%x: !dtc.tensor<3x50x131xf64>, %n: !dtc.tensor<i32> {test.data = "value 7"}) -> !dtc.tensor<3x50x131xf64> {
  %r0 = dtc.divide %x, %n : (!dtc.tensor<3x50x131xf64>, !dtc.tensor<i32>) -> !dtc.tensor<3x50x131xf64>
  return %r0 : !dtc.tensor<3x50x131xf64>
}
func.func @broadcast_large(%x: !dtc.tensor<50xf64>) -> !dtc.tensor<3x50x131xf64> {
  %r0 = dtc.broadcast %x along [0, 2] : (!dtc.tensor<50xf64>) -> !dtc.tensor<3x50x131xf64>
  return %r0 : !dtc.tensor<3x50x131xf64>
}
func.func @broadcast_rows(%x: !dtc.tensor<50x131xf64>) -> !dtc.tensor<3x50x131xf64> {
  %r0 = dtc.broadcast %x along [0] : (!dtc.tensor<50x131xf64>) -> !dtc.tensor<3x50x131xf64>
  return %r0 : !dtc.tensor<3x50x131xf64>
}
func.func @broadcast_scalar_large(%x: !dtc.tensor<f64>) -> !dtc.tensor<20011xf64> {
  %r0 = dtc.broadcast %x along [0] : (!dtc.tensor<f64>) -> !dtc.tensor<20011xf64>
  return %r0 : !dtc.tensor<20011xf64>
}
func.func @activation_gelu_tanh(%x: !dtc.tensor<3x50x131xf64>) -> !dtc.tensor<3x50x131xf64> {
  %r0 = dtc.activation gelu_tanh %x : (!dtc.tensor<3x50x131xf64>) -> !dtc.tensor<3x50x131xf64>
  return %r0 : !dtc.tensor<3x50x131xf64>
}
func.func @activation_grad_gelu_tanh(%x: !dtc.tensor<3x50x131xf64>, %dy: !dtc.tensor<3x50x131xf64>) -> !dtc.tensor<3x50x131xf64> {
  %r0 = dtc.activation_grad gelu_tanh %x, %dy : (!dtc.tensor<3x50x131xf64>, !dtc.tensor<3x50x131xf64>) -> !dtc.tensor<3x50x131xf64>
  return %r0 : !dtc.tensor<3x50x131xf64>
}
func.func @activation_gelu(%x: !dtc.tensor<3x50x131xf64>) -> !dtc.tensor<3x50x131xf64> {
  %r0 = dtc.activation gelu %x : (!dtc.tensor<3x50x131xf64>) -> !dtc.tensor<3x50x131xf64>
  return %r0 : !dtc.tensor<3x50x131xf64>
}
func.func @activation_grad_gelu(%x: !dtc.tensor<3x50x131xf64>, %dy: !dtc.tensor<3x50x131xf64>) -> !dtc.tensor<3x50x131xf64> {
  %r0 = dtc.activation_grad gelu %x, %dy : (!dtc.tensor<3x50x131xf64>, !dtc.tensor<3x50x131xf64>) -> !dtc.tensor<3x50x131xf64>
  return %r0 : !dtc.tensor<3x50x131xf64>
}
func.func @activation_silu(%x: !dtc.tensor<3x50x131xf64>) -> !dtc.tensor<3x50x131xf64> {
  %r0 = dtc.activation silu %x : (!dtc.tensor<3x50x131xf64>) -> !dtc.tensor<3x50x131xf64>
  return %r0 : !dtc.tensor<3x50x131xf64>
}
func.func @activation_grad_silu(%x: !dtc.tensor<3x50x131xf64>, %dy: !dtc.tensor<3x50x131xf64>) -> !dtc.tensor<3x50x131xf64> {
  %r0 = dtc.activation_grad silu %x, %dy : (!dtc.tensor<3x50x131xf64>, !dtc.tensor<3x50x131xf64>) -> !dtc.tensor<3x50x131xf64>
  return %r0 : !dtc.tensor<3x50x131xf64>
}
func.func @gated_product(%x: !dtc.tensor<3x50x131xf64>, %y: !dtc.tensor<3x50x131xf64>) -> !dtc.tensor<3x50x131xf64> {
  %r0 = dtc.gated_product silu %x, %y : (!dtc.tensor<3x50x131xf64>, !dtc.tensor<3x50x131xf64>) -> !dtc.tensor<3x50x131xf64>
  return %r0 : !dtc.tensor<3x50x131xf64>
}
func.func @gated_product_grad(%x: !dtc.tensor<3x50x131xf64>, %y: !dtc.tensor<3x50x131xf64>, %dy: !dtc.tensor<3x50x131xf64>) -> (!dtc.tensor<3x50x131xf64>, !dtc.tensor<3x50x131xf64>) {
  %r0, %r1 = dtc.gated_product_grad silu %x, %y, %dy : (!dtc.tensor<3x50x131xf64>, !dtc.tensor<3x50x131xf64>, !dtc.tensor<3x50x131xf64>) -> (!dtc.tensor<3x50x131xf64>, !dtc.tensor<3x50x131xf64>)
  return %r0, %r1 : !dtc.tensor<3x50x131xf64>, !dtc.tensor<3x50x131xf64>
}
func.func @iota_cut() -> !dtc.tensor<70(72){tp:4}xi32> {
  %r0 = dtc.iota : () -> !dtc.tensor<70(72){tp:4}xi32>
  return %r0 : !dtc.tensor<70(72){tp:4}xi32>
}
func.func @constant_large() -> !dtc.tensor<3x50x131xf64> {
  %r0 = dtc.constant 2.5 : () -> !dtc.tensor<3x50x131xf64>
  return %r0 : !dtc.tensor<3x50x131xf64>
}
func.func @micro_batch_cut(%x: !dtc.tensor<24{tp:4}x5x40xf64>, %m: !dtc.tensor<i32, replicate{tp:4}> {test.data = "value 2"}) -> !dtc.tensor<8{tp:4}x5x40xf64> {
  %r0 = dtc.micro_batch %x[%m] parts 4 count 3 : (!dtc.tensor<24{tp:4}x5x40xf64>, !dtc.tensor<i32, replicate{tp:4}>) -> !dtc.tensor<8{tp:4}x5x40xf64>
  return %r0 : !dtc.tensor<8{tp:4}x5x40xf64>
}
func.func @micro_batch_uncut(%x: !dtc.tensor<24x5x400xf64>, %m: !dtc.tensor<i32> {test.data = "value 2"}) -> !dtc.tensor<8x5x400xf64> {
  %r0 = dtc.micro_batch %x[%m] parts 4 count 3 : (!dtc.tensor<24x5x400xf64>, !dtc.tensor<i32>) -> !dtc.tensor<8x5x400xf64>
  return %r0 : !dtc.tensor<8x5x400xf64>
}

// Sums.

func.func @reduce_bias(%x: !dtc.tensor<4x57x131xf64> {test.data = "positive"}) -> !dtc.tensor<131xf64> {
  %r0 = dtc.reduce_sum %x over [0, 1] : (!dtc.tensor<4x57x131xf64>) -> !dtc.tensor<131xf64>
  return %r0 : !dtc.tensor<131xf64>
}
func.func @reduce_bias_small(%x: !dtc.tensor<57x5xf64> {test.data = "positive"}) -> !dtc.tensor<5xf64> {
  %r0 = dtc.reduce_sum %x over [0] : (!dtc.tensor<57x5xf64>) -> !dtc.tensor<5xf64>
  return %r0 : !dtc.tensor<5xf64>
}
func.func @reduce_last(%x: !dtc.tensor<4x57x131xf64> {test.data = "positive"}) -> !dtc.tensor<4x57xf64> {
  %r0 = dtc.reduce_sum %x over [2] : (!dtc.tensor<4x57x131xf64>) -> !dtc.tensor<4x57xf64>
  return %r0 : !dtc.tensor<4x57xf64>
}
func.func @reduce_middle(%x: !dtc.tensor<4x57x131xf64> {test.data = "positive"}) -> !dtc.tensor<4x131xf64> {
  %r0 = dtc.reduce_sum %x over [1] : (!dtc.tensor<4x57x131xf64>) -> !dtc.tensor<4x131xf64>
  return %r0 : !dtc.tensor<4x131xf64>
}
func.func @reduce_outer_inner(%x: !dtc.tensor<4x57x131xf64> {test.data = "positive"}) -> !dtc.tensor<57xf64> {
  %r0 = dtc.reduce_sum %x over [0, 2] : (!dtc.tensor<4x57x131xf64>) -> !dtc.tensor<57xf64>
  return %r0 : !dtc.tensor<57xf64>
}
func.func @reduce_everything(%x: !dtc.tensor<4x57x131xf64> {test.data = "positive"}) -> !dtc.tensor<f64> {
  %r0 = dtc.reduce_sum %x over [0, 1, 2] : (!dtc.tensor<4x57x131xf64>) -> !dtc.tensor<f64>
  return %r0 : !dtc.tensor<f64>
}
func.func @reduce_padded_rows(%x: !dtc.tensor<41(44){tp:4}x35xf64> {test.data = "positive"}) -> !dtc.tensor<35xf64, partial{tp:4}> {
  %r0 = dtc.reduce_sum %x over [0] : (!dtc.tensor<41(44){tp:4}x35xf64>) -> !dtc.tensor<35xf64, partial{tp:4}>
  return %r0 : !dtc.tensor<35xf64, partial{tp:4}>
}
func.func @reduce_padded_cols(%x: !dtc.tensor<5x41(44){tp:4}xf64> {test.data = "positive"}) -> !dtc.tensor<5xf64, partial{tp:4}> {
  %r0 = dtc.reduce_sum %x over [1] : (!dtc.tensor<5x41(44){tp:4}xf64>) -> !dtc.tensor<5xf64, partial{tp:4}>
  return %r0 : !dtc.tensor<5xf64, partial{tp:4}>
}
func.func @reduce_padded_middle(%x: !dtc.tensor<5x41(44){tp:4}x3xf64> {test.data = "positive"}) -> !dtc.tensor<3xf64, partial{tp:4}> {
  %r0 = dtc.reduce_sum %x over [0, 1] : (!dtc.tensor<5x41(44){tp:4}x3xf64>) -> !dtc.tensor<3xf64, partial{tp:4}>
  return %r0 : !dtc.tensor<3xf64, partial{tp:4}>
}
func.func @reduce_padded_all(%x: !dtc.tensor<5x41(44){tp:4}x3xf64> {test.data = "positive"}) -> !dtc.tensor<f64, partial{tp:4}> {
  %r0 = dtc.reduce_sum %x over [0, 1, 2] : (!dtc.tensor<5x41(44){tp:4}x3xf64>) -> !dtc.tensor<f64, partial{tp:4}>
  return %r0 : !dtc.tensor<f64, partial{tp:4}>
}
func.func @reduce_kept_padded(%x: !dtc.tensor<35x41(44){tp:4}xf64> {test.data = "positive"}) -> !dtc.tensor<41(44){tp:4}xf64> {
  %r0 = dtc.reduce_sum %x over [0] : (!dtc.tensor<35x41(44){tp:4}xf64>) -> !dtc.tensor<41(44){tp:4}xf64>
  return %r0 : !dtc.tensor<41(44){tp:4}xf64>
}
func.func @sum_squares_large(%x: !dtc.tensor<7x50x131xf64>) -> !dtc.tensor<f64> {
  %r0 = dtc.sum_squares %x : (!dtc.tensor<7x50x131xf64>) -> !dtc.tensor<f64>
  return %r0 : !dtc.tensor<f64>
}
func.func @sum_squares_rows(%x: !dtc.tensor<7x41(44){tp:4}x3xf64>) -> !dtc.tensor<f64, partial{tp:4}> {
  %r0 = dtc.sum_squares %x : (!dtc.tensor<7x41(44){tp:4}x3xf64>) -> !dtc.tensor<f64, partial{tp:4}>
  return %r0 : !dtc.tensor<f64, partial{tp:4}>
}
func.func @sum_squares_last(%x: !dtc.tensor<3x7x41(44){tp:4}xf64>) -> !dtc.tensor<f64, partial{tp:4}> {
  %r0 = dtc.sum_squares %x : (!dtc.tensor<3x7x41(44){tp:4}xf64>) -> !dtc.tensor<f64, partial{tp:4}>
  return %r0 : !dtc.tensor<f64, partial{tp:4}>
}
func.func @sum_squares_first(%x: !dtc.tensor<41(44){tp:4}x2500xf64>) -> !dtc.tensor<f64, partial{tp:4}> {
  %r0 = dtc.sum_squares %x : (!dtc.tensor<41(44){tp:4}x2500xf64>) -> !dtc.tensor<f64, partial{tp:4}>
  return %r0 : !dtc.tensor<f64, partial{tp:4}>
}

// Normalizations.

func.func @layer_norm(%x: !dtc.tensor<4x57x131xf64>, %g: !dtc.tensor<131xf64>, %b: !dtc.tensor<131xf64>) -> !dtc.tensor<4x57x131xf64> {
  %r0 = dtc.layer_norm %x, %g, %b {epsilon = 1.0e-05} : (!dtc.tensor<4x57x131xf64>, !dtc.tensor<131xf64>, !dtc.tensor<131xf64>) -> !dtc.tensor<4x57x131xf64>
  return %r0 : !dtc.tensor<4x57x131xf64>
}
func.func @layer_norm_grad(%x: !dtc.tensor<4x57x131xf64>, %g: !dtc.tensor<131xf64>, %dy: !dtc.tensor<4x57x131xf64>) -> (!dtc.tensor<4x57x131xf64>, !dtc.tensor<131xf64>, !dtc.tensor<131xf64>) {
  %r0, %r1, %r2 = dtc.layer_norm_grad %x, %g, %dy {epsilon = 1.0e-05} : (!dtc.tensor<4x57x131xf64>, !dtc.tensor<131xf64>, !dtc.tensor<4x57x131xf64>) -> (!dtc.tensor<4x57x131xf64>, !dtc.tensor<131xf64>, !dtc.tensor<131xf64>)
  return %r0, %r1, %r2 : !dtc.tensor<4x57x131xf64>, !dtc.tensor<131xf64>, !dtc.tensor<131xf64>
}
func.func @rms_norm(%x: !dtc.tensor<4x57x131xf64>, %g: !dtc.tensor<131xf64>) -> !dtc.tensor<4x57x131xf64> {
  %r0 = dtc.rms_norm %x, %g {epsilon = 1.0e-06} : (!dtc.tensor<4x57x131xf64>, !dtc.tensor<131xf64>) -> !dtc.tensor<4x57x131xf64>
  return %r0 : !dtc.tensor<4x57x131xf64>
}
func.func @rms_norm_grad(%x: !dtc.tensor<4x57x131xf64>, %g: !dtc.tensor<131xf64>, %dy: !dtc.tensor<4x57x131xf64>) -> (!dtc.tensor<4x57x131xf64>, !dtc.tensor<131xf64>) {
  %r0, %r1 = dtc.rms_norm_grad %x, %g, %dy {epsilon = 1.0e-06} : (!dtc.tensor<4x57x131xf64>, !dtc.tensor<131xf64>, !dtc.tensor<4x57x131xf64>) -> (!dtc.tensor<4x57x131xf64>, !dtc.tensor<131xf64>)
  return %r0, %r1 : !dtc.tensor<4x57x131xf64>, !dtc.tensor<131xf64>
}
func.func @layer_norm_grad_padded(%x: !dtc.tensor<3x41(44){tp:4}x20xf64>, %g: !dtc.tensor<20xf64, replicate{tp:4}>, %dy: !dtc.tensor<3x41(44){tp:4}x20xf64>) -> (!dtc.tensor<3x41(44){tp:4}x20xf64>, !dtc.tensor<20xf64, partial{tp:4}>, !dtc.tensor<20xf64, partial{tp:4}>) {
  %r0, %r1, %r2 = dtc.layer_norm_grad %x, %g, %dy {epsilon = 1.0e-05} : (!dtc.tensor<3x41(44){tp:4}x20xf64>, !dtc.tensor<20xf64, replicate{tp:4}>, !dtc.tensor<3x41(44){tp:4}x20xf64>) -> (!dtc.tensor<3x41(44){tp:4}x20xf64>, !dtc.tensor<20xf64, partial{tp:4}>, !dtc.tensor<20xf64, partial{tp:4}>)
  return %r0, %r1, %r2 : !dtc.tensor<3x41(44){tp:4}x20xf64>, !dtc.tensor<20xf64, partial{tp:4}>, !dtc.tensor<20xf64, partial{tp:4}>
}
func.func @rms_norm_grad_padded(%x: !dtc.tensor<3x41(44){tp:4}x20xf64>, %g: !dtc.tensor<20xf64, replicate{tp:4}>, %dy: !dtc.tensor<3x41(44){tp:4}x20xf64>) -> (!dtc.tensor<3x41(44){tp:4}x20xf64>, !dtc.tensor<20xf64, partial{tp:4}>) {
  %r0, %r1 = dtc.rms_norm_grad %x, %g, %dy {epsilon = 1.0e-06} : (!dtc.tensor<3x41(44){tp:4}x20xf64>, !dtc.tensor<20xf64, replicate{tp:4}>, !dtc.tensor<3x41(44){tp:4}x20xf64>) -> (!dtc.tensor<3x41(44){tp:4}x20xf64>, !dtc.tensor<20xf64, partial{tp:4}>)
  return %r0, %r1 : !dtc.tensor<3x41(44){tp:4}x20xf64>, !dtc.tensor<20xf64, partial{tp:4}>
}

// Tables, positions, random numbers.

func.func @embedding_large(%x: !dtc.tensor<70x131xf64>, %i: !dtc.tensor<4x57xi32> {test.data = "below 70"}) -> !dtc.tensor<4x57x131xf64> {
  %r0 = dtc.embedding %x[%i] : (!dtc.tensor<70x131xf64>, !dtc.tensor<4x57xi32>) -> !dtc.tensor<4x57x131xf64>
  return %r0 : !dtc.tensor<4x57x131xf64>
}
func.func @embedding_cut(%x: !dtc.tensor<70(72){tp:4}x35xf64>, %i: !dtc.tensor<4x9xi32, replicate{tp:4}> {test.data = "below 70"}) -> !dtc.tensor<4x9x35xf64, partial{tp:4}> {
  %r0 = dtc.embedding %x[%i] : (!dtc.tensor<70(72){tp:4}x35xf64>, !dtc.tensor<4x9xi32, replicate{tp:4}>) -> !dtc.tensor<4x9x35xf64, partial{tp:4}>
  return %r0 : !dtc.tensor<4x9x35xf64, partial{tp:4}>
}
func.func @embedding_grad_large(%i: !dtc.tensor<4x57xi32> {test.data = "below 20"}, %dx: !dtc.tensor<4x57x131xf64>) -> !dtc.tensor<70x131xf64> {
  %r0 = dtc.embedding_grad %i, %dx : (!dtc.tensor<4x57xi32>, !dtc.tensor<4x57x131xf64>) -> !dtc.tensor<70x131xf64>
  return %r0 : !dtc.tensor<70x131xf64>
}
func.func @embedding_grad_cut(%i: !dtc.tensor<4x9xi32, replicate{tp:4}> {test.data = "below 70"}, %dx: !dtc.tensor<4x9x35xf64, replicate{tp:4}>) -> !dtc.tensor<70(72){tp:4}x35xf64> {
  %r0 = dtc.embedding_grad %i, %dx : (!dtc.tensor<4x9xi32, replicate{tp:4}>, !dtc.tensor<4x9x35xf64, replicate{tp:4}>) -> !dtc.tensor<70(72){tp:4}x35xf64>
  return %r0 : !dtc.tensor<70(72){tp:4}x35xf64>
}
func.func @rotary_large(%x: !dtc.tensor<2x60x4x64xf64>, %p: !dtc.tensor<60xi32> {test.data = "below 100000"}) -> !dtc.tensor<2x60x4x64xf64> {
  %r0 = dtc.rotary %x, %p {theta = 1.0e+04} : (!dtc.tensor<2x60x4x64xf64>, !dtc.tensor<60xi32>) -> !dtc.tensor<2x60x4x64xf64>
  return %r0 : !dtc.tensor<2x60x4x64xf64>
}
func.func @rotary_inverse(%x: !dtc.tensor<2x9x4{tp:4}x36xf64>, %p: !dtc.tensor<2x9xi32, replicate{tp:4}> {test.data = "below 4096"}) -> !dtc.tensor<2x9x4{tp:4}x36xf64> {
  %r0 = dtc.rotary %x, %p {theta = 5.0e+05, inverse} : (!dtc.tensor<2x9x4{tp:4}x36xf64>, !dtc.tensor<2x9xi32, replicate{tp:4}>) -> !dtc.tensor<2x9x4{tp:4}x36xf64>
  return %r0 : !dtc.tensor<2x9x4{tp:4}x36xf64>
}
func.func @dropout_large(%x: !dtc.tensor<4x57x131xf64>, %r: !dtc.tensor<2xi32> {test.data = "below 1000000000"}, %l: !dtc.tensor<i32> {test.data = "value 5"}, %b: !dtc.tensor<4xi32> {test.data = "below 1000"}, %p: !dtc.tensor<57xi32> {test.data = "below 5000"}) -> !dtc.tensor<4x57x131xf64> {
  %r0 = dtc.dropout %x random %r, %l, %b, %p {p = 1.0e-01, site = 3} : (!dtc.tensor<4x57x131xf64>, !dtc.tensor<2xi32>, !dtc.tensor<i32>, !dtc.tensor<4xi32>, !dtc.tensor<57xi32>) -> !dtc.tensor<4x57x131xf64>
  return %r0 : !dtc.tensor<4x57x131xf64>
}
func.func @dropout_cut(%x: !dtc.tensor<2x5x70(72){tp:4}xf64>, %r: !dtc.tensor<2xi32, replicate{tp:4}> {test.data = "below 1000000000"}, %l: !dtc.tensor<i32, replicate{tp:4}> {test.data = "value 5"}, %b: !dtc.tensor<2xi32, replicate{tp:4}> {test.data = "below 1000"}, %p: !dtc.tensor<5xi32, replicate{tp:4}> {test.data = "below 5000"}) -> !dtc.tensor<2x5x70(72){tp:4}xf64> {
  %r0 = dtc.dropout %x random %r, %l, %b, %p {p = 5.0e-01, site = 3} : (!dtc.tensor<2x5x70(72){tp:4}xf64>, !dtc.tensor<2xi32, replicate{tp:4}>, !dtc.tensor<i32, replicate{tp:4}>, !dtc.tensor<2xi32, replicate{tp:4}>, !dtc.tensor<5xi32, replicate{tp:4}>) -> !dtc.tensor<2x5x70(72){tp:4}xf64>
  return %r0 : !dtc.tensor<2x5x70(72){tp:4}xf64>
}

// Attention.

func.func @attention_causal(%q: !dtc.tensor<2x37x4x16xf64>, %k: !dtc.tensor<2x41x2x16xf64>, %v: !dtc.tensor<2x41x2x16xf64>, %p: !dtc.tensor<37xi32> {test.data = "below 90"}, %t: !dtc.tensor<41xi32> {test.data = "below 90"}) -> (!dtc.tensor<2x37x4x16xf64>, !dtc.tensor<2x37x4xf64>) {
  %r0, %r1 = dtc.attention %q, %k, %v at %p, %t {causal, scale = 2.5e-01} : (!dtc.tensor<2x37x4x16xf64>, !dtc.tensor<2x41x2x16xf64>, !dtc.tensor<2x41x2x16xf64>, !dtc.tensor<37xi32>, !dtc.tensor<41xi32>) -> (!dtc.tensor<2x37x4x16xf64>, !dtc.tensor<2x37x4xf64>)
  return %r0, %r1 : !dtc.tensor<2x37x4x16xf64>, !dtc.tensor<2x37x4xf64>
}
func.func @attention_documents(%q: !dtc.tensor<2x37x4x16xf64>, %k: !dtc.tensor<2x41x2x16xf64>, %v: !dtc.tensor<2x41x2x16xf64>, %p: !dtc.tensor<37xi32> {test.data = "below 90"}, %t: !dtc.tensor<41xi32> {test.data = "below 90"}, %dq: !dtc.tensor<2x37xi32> {test.data = "documents"}, %dk: !dtc.tensor<2x41xi32> {test.data = "documents"}) -> (!dtc.tensor<2x37x4x16xf64>, !dtc.tensor<2x37x4xf64>) {
  %r0, %r1 = dtc.attention %q, %k, %v at %p, %t documents %dq, %dk {causal, scale = 2.5e-01} : (!dtc.tensor<2x37x4x16xf64>, !dtc.tensor<2x41x2x16xf64>, !dtc.tensor<2x41x2x16xf64>, !dtc.tensor<37xi32>, !dtc.tensor<41xi32>, !dtc.tensor<2x37xi32>, !dtc.tensor<2x41xi32>) -> (!dtc.tensor<2x37x4x16xf64>, !dtc.tensor<2x37x4xf64>)
  return %r0, %r1 : !dtc.tensor<2x37x4x16xf64>, !dtc.tensor<2x37x4xf64>
}
func.func @attention_documents_row(%q: !dtc.tensor<2x37x4x16xf64>, %k: !dtc.tensor<2x41x2x16xf64>, %v: !dtc.tensor<2x41x2x16xf64>, %p: !dtc.tensor<37xi32> {test.data = "below 90"}, %t: !dtc.tensor<41xi32> {test.data = "below 90"}, %dq: !dtc.tensor<37xi32> {test.data = "documents"}, %dk: !dtc.tensor<41xi32> {test.data = "documents"}) -> (!dtc.tensor<2x37x4x16xf64>, !dtc.tensor<2x37x4xf64>) {
  %r0, %r1 = dtc.attention %q, %k, %v at %p, %t documents %dq, %dk {scale = 2.5e-01} : (!dtc.tensor<2x37x4x16xf64>, !dtc.tensor<2x41x2x16xf64>, !dtc.tensor<2x41x2x16xf64>, !dtc.tensor<37xi32>, !dtc.tensor<41xi32>, !dtc.tensor<37xi32>, !dtc.tensor<41xi32>) -> (!dtc.tensor<2x37x4x16xf64>, !dtc.tensor<2x37x4xf64>)
  return %r0, %r1 : !dtc.tensor<2x37x4x16xf64>, !dtc.tensor<2x37x4xf64>
}
func.func @attention_dropout_cut(%q: !dtc.tensor<2x21x8{tp:4}x16xf64>, %k: !dtc.tensor<2x21x4{tp:4}x16xf64>, %v: !dtc.tensor<2x21x4{tp:4}x16xf64>, %p: !dtc.tensor<21xi32, replicate{tp:4}> {test.data = "below 90"}, %t: !dtc.tensor<21xi32, replicate{tp:4}> {test.data = "below 90"}, %rng: !dtc.tensor<2xi32, replicate{tp:4}> {test.data = "below 1000000"}, %layer: !dtc.tensor<i32, replicate{tp:4}> {test.data = "value 3"}, %rows: !dtc.tensor<2xi32, replicate{tp:4}> {test.data = "below 1000"}) -> (!dtc.tensor<2x21x8{tp:4}x16xf64>, !dtc.tensor<2x21x8{tp:4}xf64>) {
  %r0, %r1 = dtc.attention %q, %k, %v at %p, %t random %rng, %layer, %rows {causal, scale = 2.5e-01, dropout = 2.0e-01, site = 2} : (!dtc.tensor<2x21x8{tp:4}x16xf64>, !dtc.tensor<2x21x4{tp:4}x16xf64>, !dtc.tensor<2x21x4{tp:4}x16xf64>, !dtc.tensor<21xi32, replicate{tp:4}>, !dtc.tensor<21xi32, replicate{tp:4}>, !dtc.tensor<2xi32, replicate{tp:4}>, !dtc.tensor<i32, replicate{tp:4}>, !dtc.tensor<2xi32, replicate{tp:4}>) -> (!dtc.tensor<2x21x8{tp:4}x16xf64>, !dtc.tensor<2x21x8{tp:4}xf64>)
  return %r0, %r1 : !dtc.tensor<2x21x8{tp:4}x16xf64>, !dtc.tensor<2x21x8{tp:4}xf64>
}
func.func @attention_grad_causal(%q: !dtc.tensor<2x37x4x16xf64>, %k: !dtc.tensor<2x41x2x16xf64>, %v: !dtc.tensor<2x41x2x16xf64>, %p: !dtc.tensor<37xi32> {test.data = "below 90"}, %t: !dtc.tensor<41xi32> {test.data = "below 90"}, %o: !dtc.tensor<2x37x4x16xf64>, %l: !dtc.tensor<2x37x4xf64> {test.data = "positive"}, %d: !dtc.tensor<2x37x4x16xf64>) -> (!dtc.tensor<2x37x4x16xf64>, !dtc.tensor<2x41x2x16xf64>, !dtc.tensor<2x41x2x16xf64>) {
  %r0, %r1, %r2 = dtc.attention_grad %q, %k, %v at %p, %t of %o, %l, %d {causal, scale = 2.5e-01} : (!dtc.tensor<2x37x4x16xf64>, !dtc.tensor<2x41x2x16xf64>, !dtc.tensor<2x41x2x16xf64>, !dtc.tensor<37xi32>, !dtc.tensor<41xi32>, !dtc.tensor<2x37x4x16xf64>, !dtc.tensor<2x37x4xf64>, !dtc.tensor<2x37x4x16xf64>) -> (!dtc.tensor<2x37x4x16xf64>, !dtc.tensor<2x41x2x16xf64>, !dtc.tensor<2x41x2x16xf64>)
  return %r0, %r1, %r2 : !dtc.tensor<2x37x4x16xf64>, !dtc.tensor<2x41x2x16xf64>, !dtc.tensor<2x41x2x16xf64>
}
func.func @attention_grad_documents(%q: !dtc.tensor<2x37x4x16xf64>, %k: !dtc.tensor<2x41x2x16xf64>, %v: !dtc.tensor<2x41x2x16xf64>, %p: !dtc.tensor<37xi32> {test.data = "below 90"}, %t: !dtc.tensor<41xi32> {test.data = "below 90"}, %o: !dtc.tensor<2x37x4x16xf64>, %l: !dtc.tensor<2x37x4xf64> {test.data = "positive"}, %d: !dtc.tensor<2x37x4x16xf64>, %dq: !dtc.tensor<2x37xi32> {test.data = "documents"}, %dk: !dtc.tensor<2x41xi32> {test.data = "documents"}) -> (!dtc.tensor<2x37x4x16xf64>, !dtc.tensor<2x41x2x16xf64>, !dtc.tensor<2x41x2x16xf64>) {
  %r0, %r1, %r2 = dtc.attention_grad %q, %k, %v at %p, %t of %o, %l, %d documents %dq, %dk {causal, scale = 2.5e-01} : (!dtc.tensor<2x37x4x16xf64>, !dtc.tensor<2x41x2x16xf64>, !dtc.tensor<2x41x2x16xf64>, !dtc.tensor<37xi32>, !dtc.tensor<41xi32>, !dtc.tensor<2x37x4x16xf64>, !dtc.tensor<2x37x4xf64>, !dtc.tensor<2x37x4x16xf64>, !dtc.tensor<2x37xi32>, !dtc.tensor<2x41xi32>) -> (!dtc.tensor<2x37x4x16xf64>, !dtc.tensor<2x41x2x16xf64>, !dtc.tensor<2x41x2x16xf64>)
  return %r0, %r1, %r2 : !dtc.tensor<2x37x4x16xf64>, !dtc.tensor<2x41x2x16xf64>, !dtc.tensor<2x41x2x16xf64>
}
func.func @attention_grad_documents_row(%q: !dtc.tensor<2x37x4x16xf64>, %k: !dtc.tensor<2x41x2x16xf64>, %v: !dtc.tensor<2x41x2x16xf64>, %p: !dtc.tensor<37xi32> {test.data = "below 90"}, %t: !dtc.tensor<41xi32> {test.data = "below 90"}, %o: !dtc.tensor<2x37x4x16xf64>, %l: !dtc.tensor<2x37x4xf64> {test.data = "positive"}, %d: !dtc.tensor<2x37x4x16xf64>, %dq: !dtc.tensor<37xi32> {test.data = "documents"}, %dk: !dtc.tensor<41xi32> {test.data = "documents"}) -> (!dtc.tensor<2x37x4x16xf64>, !dtc.tensor<2x41x2x16xf64>, !dtc.tensor<2x41x2x16xf64>) {
  %r0, %r1, %r2 = dtc.attention_grad %q, %k, %v at %p, %t of %o, %l, %d documents %dq, %dk {scale = 2.5e-01} : (!dtc.tensor<2x37x4x16xf64>, !dtc.tensor<2x41x2x16xf64>, !dtc.tensor<2x41x2x16xf64>, !dtc.tensor<37xi32>, !dtc.tensor<41xi32>, !dtc.tensor<2x37x4x16xf64>, !dtc.tensor<2x37x4xf64>, !dtc.tensor<2x37x4x16xf64>, !dtc.tensor<37xi32>, !dtc.tensor<41xi32>) -> (!dtc.tensor<2x37x4x16xf64>, !dtc.tensor<2x41x2x16xf64>, !dtc.tensor<2x41x2x16xf64>)
  return %r0, %r1, %r2 : !dtc.tensor<2x37x4x16xf64>, !dtc.tensor<2x41x2x16xf64>, !dtc.tensor<2x41x2x16xf64>
}
func.func @attention_grad_dropout_cut(%q: !dtc.tensor<2x21x8{tp:4}x16xf64>, %k: !dtc.tensor<2x21x4{tp:4}x16xf64>, %v: !dtc.tensor<2x21x4{tp:4}x16xf64>, %p: !dtc.tensor<21xi32, replicate{tp:4}> {test.data = "below 90"}, %t: !dtc.tensor<21xi32, replicate{tp:4}> {test.data = "below 90"}, %o: !dtc.tensor<2x21x8{tp:4}x16xf64>, %l: !dtc.tensor<2x21x8{tp:4}xf64> {test.data = "positive"}, %d: !dtc.tensor<2x21x8{tp:4}x16xf64>, %rng: !dtc.tensor<2xi32, replicate{tp:4}> {test.data = "below 1000000"}, %layer: !dtc.tensor<i32, replicate{tp:4}> {test.data = "value 3"}, %rows: !dtc.tensor<2xi32, replicate{tp:4}> {test.data = "below 1000"}) -> (!dtc.tensor<2x21x8{tp:4}x16xf64>, !dtc.tensor<2x21x4{tp:4}x16xf64>, !dtc.tensor<2x21x4{tp:4}x16xf64>) {
  %r0, %r1, %r2 = dtc.attention_grad %q, %k, %v at %p, %t of %o, %l, %d random %rng, %layer, %rows {causal, scale = 2.5e-01, dropout = 2.0e-01, site = 2} : (!dtc.tensor<2x21x8{tp:4}x16xf64>, !dtc.tensor<2x21x4{tp:4}x16xf64>, !dtc.tensor<2x21x4{tp:4}x16xf64>, !dtc.tensor<21xi32, replicate{tp:4}>, !dtc.tensor<21xi32, replicate{tp:4}>, !dtc.tensor<2x21x8{tp:4}x16xf64>, !dtc.tensor<2x21x8{tp:4}xf64>, !dtc.tensor<2x21x8{tp:4}x16xf64>, !dtc.tensor<2xi32, replicate{tp:4}>, !dtc.tensor<i32, replicate{tp:4}>, !dtc.tensor<2xi32, replicate{tp:4}>) -> (!dtc.tensor<2x21x8{tp:4}x16xf64>, !dtc.tensor<2x21x4{tp:4}x16xf64>, !dtc.tensor<2x21x4{tp:4}x16xf64>)
  return %r0, %r1, %r2 : !dtc.tensor<2x21x8{tp:4}x16xf64>, !dtc.tensor<2x21x4{tp:4}x16xf64>, !dtc.tensor<2x21x4{tp:4}x16xf64>
}

// The loss.

func.func @cross_entropy(%x: !dtc.tensor<3x11x1001xf64>, %y: !dtc.tensor<3x11xi32> {test.data = "labels 1001"}) -> (!dtc.tensor<f64>, !dtc.tensor<3x11xf64>) {
  %r0, %r1 = dtc.cross_entropy %x, %y : (!dtc.tensor<3x11x1001xf64>, !dtc.tensor<3x11xi32>) -> (!dtc.tensor<f64>, !dtc.tensor<3x11xf64>)
  return %r0, %r1 : !dtc.tensor<f64>, !dtc.tensor<3x11xf64>
}
func.func @cross_entropy_grad(%x: !dtc.tensor<3x11x1001xf64>, %y: !dtc.tensor<3x11xi32> {test.data = "labels 1001"}, %l: !dtc.tensor<3x11xf64> {test.data = "value 7"}, %d: !dtc.tensor<f64>) -> !dtc.tensor<3x11x1001xf64> {
  %r0 = dtc.cross_entropy_grad %x, %y, %l, %d : (!dtc.tensor<3x11x1001xf64>, !dtc.tensor<3x11xi32>, !dtc.tensor<3x11xf64>, !dtc.tensor<f64>) -> !dtc.tensor<3x11x1001xf64>
  return %r0 : !dtc.tensor<3x11x1001xf64>
}
func.func @cross_entropy_grad_cut(%x: !dtc.tensor<3x11x70(72){tp:4}xf64>, %y: !dtc.tensor<3x11xi32, replicate{tp:4}> {test.data = "labels 70"}, %l: !dtc.tensor<3x11xf64, replicate{tp:4}> {test.data = "value 4"}, %d: !dtc.tensor<f64, replicate{tp:4}>) -> !dtc.tensor<3x11x70(72){tp:4}xf64> {
  %r0 = dtc.cross_entropy_grad %x, %y, %l, %d : (!dtc.tensor<3x11x70(72){tp:4}xf64>, !dtc.tensor<3x11xi32, replicate{tp:4}>, !dtc.tensor<3x11xf64, replicate{tp:4}>, !dtc.tensor<f64, replicate{tp:4}>) -> !dtc.tensor<3x11x70(72){tp:4}xf64>
  return %r0 : !dtc.tensor<3x11x70(72){tp:4}xf64>
}
func.func @vocab_pick_cut(%x: !dtc.tensor<3x11x70(72){tp:4}xf64>, %y: !dtc.tensor<3x11xi32, replicate{tp:4}> {test.data = "labels 70"}) -> !dtc.tensor<3x11xf64, partial{tp:4}> {
  %r0 = dtc.vocab_pick %x, %y : (!dtc.tensor<3x11x70(72){tp:4}xf64>, !dtc.tensor<3x11xi32, replicate{tp:4}>) -> !dtc.tensor<3x11xf64, partial{tp:4}>
  return %r0 : !dtc.tensor<3x11xf64, partial{tp:4}>
}
func.func @cross_entropy_smoothed(%x: !dtc.tensor<3x11x1001xf64>, %y: !dtc.tensor<3x11xi32> {test.data = "labels 1001"}) -> (!dtc.tensor<f64>, !dtc.tensor<3x11xf64>) {
  %r0, %r1 = dtc.cross_entropy %x, %y {label_smoothing = 1.0e-01} : (!dtc.tensor<3x11x1001xf64>, !dtc.tensor<3x11xi32>) -> (!dtc.tensor<f64>, !dtc.tensor<3x11xf64>)
  return %r0, %r1 : !dtc.tensor<f64>, !dtc.tensor<3x11xf64>
}
func.func @cross_entropy_grad_smoothed(%x: !dtc.tensor<3x11x1001xf64>, %y: !dtc.tensor<3x11xi32> {test.data = "labels 1001"}, %l: !dtc.tensor<3x11xf64> {test.data = "value 7"}, %d: !dtc.tensor<f64>) -> !dtc.tensor<3x11x1001xf64> {
  %r0 = dtc.cross_entropy_grad %x, %y, %l, %d {label_smoothing = 1.0e-01} : (!dtc.tensor<3x11x1001xf64>, !dtc.tensor<3x11xi32>, !dtc.tensor<3x11xf64>, !dtc.tensor<f64>) -> !dtc.tensor<3x11x1001xf64>
  return %r0 : !dtc.tensor<3x11x1001xf64>
}
func.func @cross_entropy_grad_cut_smoothed(%x: !dtc.tensor<3x11x70(72){tp:4}xf64>, %y: !dtc.tensor<3x11xi32, replicate{tp:4}> {test.data = "labels 70"}, %l: !dtc.tensor<3x11xf64, replicate{tp:4}> {test.data = "value 4"}, %d: !dtc.tensor<f64, replicate{tp:4}>) -> !dtc.tensor<3x11x70(72){tp:4}xf64> {
  %r0 = dtc.cross_entropy_grad %x, %y, %l, %d {label_smoothing = 1.0e-01} : (!dtc.tensor<3x11x70(72){tp:4}xf64>, !dtc.tensor<3x11xi32, replicate{tp:4}>, !dtc.tensor<3x11xf64, replicate{tp:4}>, !dtc.tensor<f64, replicate{tp:4}>) -> !dtc.tensor<3x11x70(72){tp:4}xf64>
  return %r0 : !dtc.tensor<3x11x70(72){tp:4}xf64>
}
func.func @vocab_pick_cut_smoothed(%x: !dtc.tensor<3x11x70(72){tp:4}xf64>, %y: !dtc.tensor<3x11xi32, replicate{tp:4}> {test.data = "labels 70"}) -> !dtc.tensor<3x11xf64, partial{tp:4}> {
  %r0 = dtc.vocab_pick %x, %y {label_smoothing = 1.0e-01} : (!dtc.tensor<3x11x70(72){tp:4}xf64>, !dtc.tensor<3x11xi32, replicate{tp:4}>) -> !dtc.tensor<3x11xf64, partial{tp:4}>
  return %r0 : !dtc.tensor<3x11xf64, partial{tp:4}>
}
func.func @cross_entropy_padded(%x: !dtc.tensor<3x11x70(72)xf64>, %y: !dtc.tensor<3x11xi32> {test.data = "labels 70"}) -> (!dtc.tensor<f64>, !dtc.tensor<3x11xf64>) {
  %r0, %r1 = dtc.cross_entropy %x, %y : (!dtc.tensor<3x11x70(72)xf64>, !dtc.tensor<3x11xi32>) -> (!dtc.tensor<f64>, !dtc.tensor<3x11xf64>)
  return %r0, %r1 : !dtc.tensor<f64>, !dtc.tensor<3x11xf64>
}
func.func @vocab_max_cut(%x: !dtc.tensor<3x11x70(72){tp:4}xf64>) -> !dtc.tensor<3x11xf64, max{tp:4}> {
  %r0 = dtc.vocab_max %x : (!dtc.tensor<3x11x70(72){tp:4}xf64>) -> !dtc.tensor<3x11xf64, max{tp:4}>
  return %r0 : !dtc.tensor<3x11xf64, max{tp:4}>
}
func.func @vocab_max_empty(%x: !dtc.tensor<3x11x5(8){tp:4}xf64>) -> !dtc.tensor<3x11xf64, max{tp:4}> {
  %r0 = dtc.vocab_max %x : (!dtc.tensor<3x11x5(8){tp:4}xf64>) -> !dtc.tensor<3x11xf64, max{tp:4}>
  return %r0 : !dtc.tensor<3x11xf64, max{tp:4}>
}
func.func @vocab_sum_exp_cut(%x: !dtc.tensor<3x11x70(72){tp:4}xf64>, %s: !dtc.tensor<3x11xf64, replicate{tp:4}>) -> !dtc.tensor<3x11xf64, partial{tp:4}> {
  %r0 = dtc.vocab_sum_exp %x, %s : (!dtc.tensor<3x11x70(72){tp:4}xf64>, !dtc.tensor<3x11xf64, replicate{tp:4}>) -> !dtc.tensor<3x11xf64, partial{tp:4}>
  return %r0 : !dtc.tensor<3x11xf64, partial{tp:4}>
}
func.func @vocab_pick_empty(%x: !dtc.tensor<3x11x5(8){tp:4}xf64>, %y: !dtc.tensor<3x11xi32, replicate{tp:4}> {test.data = "labels 5"}) -> !dtc.tensor<3x11xf64, partial{tp:4}> {
  %r0 = dtc.vocab_pick %x, %y {label_smoothing = 1.0e-01} : (!dtc.tensor<3x11x5(8){tp:4}xf64>, !dtc.tensor<3x11xi32, replicate{tp:4}>) -> !dtc.tensor<3x11xf64, partial{tp:4}>
  return %r0 : !dtc.tensor<3x11xf64, partial{tp:4}>
}
func.func @token_loss_large(%s: !dtc.tensor<9x3001xf64>, %e: !dtc.tensor<9x3001xf64> {test.data = "positive"}, %p: !dtc.tensor<9x3001xf64>, %y: !dtc.tensor<9x3001xi32> {test.data = "labels 70"}) -> (!dtc.tensor<f64>, !dtc.tensor<9x3001xf64>) {
  %r0, %r1 = dtc.token_loss %s, %e, %p, %y : (!dtc.tensor<9x3001xf64>, !dtc.tensor<9x3001xf64>, !dtc.tensor<9x3001xf64>, !dtc.tensor<9x3001xi32>) -> (!dtc.tensor<f64>, !dtc.tensor<9x3001xf64>)
  return %r0, %r1 : !dtc.tensor<f64>, !dtc.tensor<9x3001xf64>
}
func.func @token_loss_padded(%s: !dtc.tensor<3x41(44){tp:4}xf64>, %e: !dtc.tensor<3x41(44){tp:4}xf64> {test.data = "positive"}, %p: !dtc.tensor<3x41(44){tp:4}xf64>, %y: !dtc.tensor<3x41(44){tp:4}xi32> {test.data = "labels 70"}) -> (!dtc.tensor<f64, partial{tp:4}>, !dtc.tensor<3x41(44){tp:4}xf64>) {
  %r0, %r1 = dtc.token_loss %s, %e, %p, %y : (!dtc.tensor<3x41(44){tp:4}xf64>, !dtc.tensor<3x41(44){tp:4}xf64>, !dtc.tensor<3x41(44){tp:4}xf64>, !dtc.tensor<3x41(44){tp:4}xi32>) -> (!dtc.tensor<f64, partial{tp:4}>, !dtc.tensor<3x41(44){tp:4}xf64>)
  return %r0, %r1 : !dtc.tensor<f64, partial{tp:4}>, !dtc.tensor<3x41(44){tp:4}xf64>
}
func.func @count_labels_large(%y: !dtc.tensor<9x3001xi32> {test.data = "labels 70"}) -> !dtc.tensor<i32> {
  %r0 = dtc.count_labels %y : (!dtc.tensor<9x3001xi32>) -> !dtc.tensor<i32>
  return %r0 : !dtc.tensor<i32>
}
func.func @count_labels_padded(%y: !dtc.tensor<41(44){tp:4}x5x41xi32> {test.data = "labels 70"}) -> !dtc.tensor<i32, partial{tp:4}> {
  %r0 = dtc.count_labels %y : (!dtc.tensor<41(44){tp:4}x5x41xi32>) -> !dtc.tensor<i32, partial{tp:4}>
  return %r0 : !dtc.tensor<i32, partial{tp:4}>
}

// The update.

func.func @adamw_decay(%p: !dtc.tensor<3x50x131xf64>, %g: !dtc.tensor<3x50x131xf64>, %m: !dtc.tensor<3x50x131xf64>, %v: !dtc.tensor<3x50x131xf64> {test.data = "positive"}, %c: !dtc.tensor<f64> {test.data = "positive"}, %k: !dtc.tensor<i32> {test.data = "value 0"}, %s: !dtc.tensor<8xf64> {test.data = "optimizer"}) -> (!dtc.tensor<3x50x131xf64>, !dtc.tensor<3x50x131xf64>, !dtc.tensor<3x50x131xf64>) {
  %r0, %r1, %r2 = dtc.adamw %p, %g, %m, %v with %c, %k, %s {decay} : (!dtc.tensor<3x50x131xf64>, !dtc.tensor<3x50x131xf64>, !dtc.tensor<3x50x131xf64>, !dtc.tensor<3x50x131xf64>, !dtc.tensor<f64>, !dtc.tensor<i32>, !dtc.tensor<8xf64>) -> (!dtc.tensor<3x50x131xf64>, !dtc.tensor<3x50x131xf64>, !dtc.tensor<3x50x131xf64>)
  return %r0, %r1, %r2 : !dtc.tensor<3x50x131xf64>, !dtc.tensor<3x50x131xf64>, !dtc.tensor<3x50x131xf64>
}
func.func @adamw_plain(%p: !dtc.tensor<3x50x131xf64>, %g: !dtc.tensor<3x50x131xf64>, %m: !dtc.tensor<3x50x131xf64>, %v: !dtc.tensor<3x50x131xf64> {test.data = "positive"}, %c: !dtc.tensor<f64> {test.data = "positive"}, %k: !dtc.tensor<i32> {test.data = "value 0"}, %s: !dtc.tensor<8xf64> {test.data = "optimizer"}) -> (!dtc.tensor<3x50x131xf64>, !dtc.tensor<3x50x131xf64>, !dtc.tensor<3x50x131xf64>) {
  %r0, %r1, %r2 = dtc.adamw %p, %g, %m, %v with %c, %k, %s : (!dtc.tensor<3x50x131xf64>, !dtc.tensor<3x50x131xf64>, !dtc.tensor<3x50x131xf64>, !dtc.tensor<3x50x131xf64>, !dtc.tensor<f64>, !dtc.tensor<i32>, !dtc.tensor<8xf64>) -> (!dtc.tensor<3x50x131xf64>, !dtc.tensor<3x50x131xf64>, !dtc.tensor<3x50x131xf64>)
  return %r0, %r1, %r2 : !dtc.tensor<3x50x131xf64>, !dtc.tensor<3x50x131xf64>, !dtc.tensor<3x50x131xf64>
}
func.func @clip_without_limit(%q: !dtc.tensor<f64> {test.data = "value 90"}, %l: !dtc.tensor<f64>, %n: !dtc.tensor<i32> {test.data = "value 0"}, %s: !dtc.tensor<8xf64> {test.data = "value 0"}) -> (!dtc.tensor<f64>, !dtc.tensor<f64>, !dtc.tensor<i32>) {
  %r0, %r1, %r2 = dtc.clip %q, %l, %n, %s : (!dtc.tensor<f64>, !dtc.tensor<f64>, !dtc.tensor<i32>, !dtc.tensor<8xf64>) -> (!dtc.tensor<f64>, !dtc.tensor<f64>, !dtc.tensor<i32>)
  return %r0, %r1, %r2 : !dtc.tensor<f64>, !dtc.tensor<f64>, !dtc.tensor<i32>
}
// Large enough that B is packed once for all tiles.
func.func @einsum_shared(%x: !dtc.tensor<256x1024xf64>, %y: !dtc.tensor<256x1024xf64>) -> !dtc.tensor<256x256xf64> {
  %r0 = dtc.einsum "md,nd->mn"(%x, %y) : (!dtc.tensor<256x1024xf64>, !dtc.tensor<256x1024xf64>) -> !dtc.tensor<256x256xf64>
  return %r0 : !dtc.tensor<256x256xf64>
}
func.func @einsum_shared_padded(%x: !dtc.tensor<256x1021(1024)xf64>, %y: !dtc.tensor<1021(1024)x200xf64>) -> !dtc.tensor<256x200xf64> {
  %r0 = dtc.einsum "md,dn->mn"(%x, %y) : (!dtc.tensor<256x1021(1024)xf64>, !dtc.tensor<1021(1024)x200xf64>) -> !dtc.tensor<256x200xf64>
  return %r0 : !dtc.tensor<256x200xf64>
}
// The normalized dimension is whole here, but cut unevenly elsewhere.
func.func @layer_norm_whole(%x: !dtc.tensor<3x7x41(44)xf64>, %g: !dtc.tensor<41(44)xf64>, %b: !dtc.tensor<41(44)xf64>) -> !dtc.tensor<3x7x41(44)xf64> {
  %r0 = dtc.layer_norm %x, %g, %b {epsilon = 1.0e-05} : (!dtc.tensor<3x7x41(44)xf64>, !dtc.tensor<41(44)xf64>, !dtc.tensor<41(44)xf64>) -> !dtc.tensor<3x7x41(44)xf64>
  return %r0 : !dtc.tensor<3x7x41(44)xf64>
}
func.func @layer_norm_grad_whole(%x: !dtc.tensor<3x7x41(44)xf64>, %g: !dtc.tensor<41(44)xf64>, %dy: !dtc.tensor<3x7x41(44)xf64>) -> (!dtc.tensor<3x7x41(44)xf64>, !dtc.tensor<41(44)xf64>, !dtc.tensor<41(44)xf64>) {
  %r0, %r1, %r2 = dtc.layer_norm_grad %x, %g, %dy {epsilon = 1.0e-05} : (!dtc.tensor<3x7x41(44)xf64>, !dtc.tensor<41(44)xf64>, !dtc.tensor<3x7x41(44)xf64>) -> (!dtc.tensor<3x7x41(44)xf64>, !dtc.tensor<41(44)xf64>, !dtc.tensor<41(44)xf64>)
  return %r0, %r1, %r2 : !dtc.tensor<3x7x41(44)xf64>, !dtc.tensor<41(44)xf64>, !dtc.tensor<41(44)xf64>
}
func.func @rms_norm_whole(%x: !dtc.tensor<3x7x41(44)xf64>, %g: !dtc.tensor<41(44)xf64>) -> !dtc.tensor<3x7x41(44)xf64> {
  %r0 = dtc.rms_norm %x, %g {epsilon = 1.0e-06} : (!dtc.tensor<3x7x41(44)xf64>, !dtc.tensor<41(44)xf64>) -> !dtc.tensor<3x7x41(44)xf64>
  return %r0 : !dtc.tensor<3x7x41(44)xf64>
}
func.func @rms_norm_grad_whole(%x: !dtc.tensor<3x7x41(44)xf64>, %g: !dtc.tensor<41(44)xf64>, %dy: !dtc.tensor<3x7x41(44)xf64>) -> (!dtc.tensor<3x7x41(44)xf64>, !dtc.tensor<41(44)xf64>) {
  %r0, %r1 = dtc.rms_norm_grad %x, %g, %dy {epsilon = 1.0e-06} : (!dtc.tensor<3x7x41(44)xf64>, !dtc.tensor<41(44)xf64>, !dtc.tensor<3x7x41(44)xf64>) -> (!dtc.tensor<3x7x41(44)xf64>, !dtc.tensor<41(44)xf64>)
  return %r0, %r1 : !dtc.tensor<3x7x41(44)xf64>, !dtc.tensor<41(44)xf64>
}

// Conversions, whatever stands for f64.

func.func @convert_to_bf16(%x: !dtc.tensor<37x131xf32>) -> !dtc.tensor<37x131xbf16> {
  %r0 = dtc.convert %x : (!dtc.tensor<37x131xf32>) -> !dtc.tensor<37x131xbf16>
  return %r0 : !dtc.tensor<37x131xbf16>
}
func.func @convert_from_bf16(%x: !dtc.tensor<37x131xbf16>) -> !dtc.tensor<37x131xf32> {
  %r0 = dtc.convert %x : (!dtc.tensor<37x131xbf16>) -> !dtc.tensor<37x131xf32>
  return %r0 : !dtc.tensor<37x131xf32>
}
func.func @convert_f64_bf16(%x: !dtc.tensor<5x67xf64>) -> !dtc.tensor<5x67xbf16> {
  %r0 = dtc.convert %x : (!dtc.tensor<5x67xf64>) -> !dtc.tensor<5x67xbf16>
  return %r0 : !dtc.tensor<5x67xbf16>
}

// Results of f32 from a gradient of bf16, as optimizers have them.

func.func @adamw_bf16(%p: !dtc.tensor<37x131xf32>, %g: !dtc.tensor<37x131xbf16>, %m: !dtc.tensor<37x131xf32>, %v: !dtc.tensor<37x131xf32> {test.data = "positive"}, %c: !dtc.tensor<f32> {test.data = "value 0.75"}, %k: !dtc.tensor<i32> {test.data = "value 0"}, %s: !dtc.tensor<8xf32> {test.data = "optimizer"})
    -> (!dtc.tensor<37x131xf32>, !dtc.tensor<37x131xf32>, !dtc.tensor<37x131xf32>) {
  %r0, %r1, %r2 = dtc.adamw %p, %g, %m, %v with %c, %k, %s {decay} : (!dtc.tensor<37x131xf32>, !dtc.tensor<37x131xbf16>, !dtc.tensor<37x131xf32>, !dtc.tensor<37x131xf32>, !dtc.tensor<f32>, !dtc.tensor<i32>, !dtc.tensor<8xf32>) -> (!dtc.tensor<37x131xf32>, !dtc.tensor<37x131xf32>, !dtc.tensor<37x131xf32>)
  return %r0, %r1, %r2 : !dtc.tensor<37x131xf32>, !dtc.tensor<37x131xf32>, !dtc.tensor<37x131xf32>
}
func.func @sum_squares_bf16(%x: !dtc.tensor<37x131xbf16>) -> !dtc.tensor<f32> {
  %r0 = dtc.sum_squares %x : (!dtc.tensor<37x131xbf16>) -> !dtc.tensor<f32>
  return %r0 : !dtc.tensor<f32>
}
}
