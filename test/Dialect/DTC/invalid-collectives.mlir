// The constraints of the collectives, broken.
// RUN: dtc-opt %s -split-input-file -verify-diagnostics

// No axes.
func.func @f(%x: !dtc.tensor<8x16xf32>) {
  // expected-error@+1 {{needs at least one axis}}
  %0 = dtc.f %x over <> : (!dtc.tensor<8x16xf32>) -> !dtc.tensor<8x16xf32>
  return
}

// -----

// An axis of size 1 is none.
func.func @f(%x: !dtc.tensor<8x16xf32>) {
  // expected-error@+1 {{needs at least one axis}}
  %0 = dtc.f %x over <tp:1> : (!dtc.tensor<8x16xf32>) -> !dtc.tensor<8x16xf32>
  return
}

// -----

func.func @f(%x: !dtc.tensor<8x16xf32>) {
  // expected-error@+1 {{axis 'tp' is named twice}}
  %0 = dtc.f %x over <tp:4, dp:2, tp:4> : (!dtc.tensor<8x16xf32>) -> !dtc.tensor<8x16xf32, replicate{dp:2, tp:4}>
  return
}

// -----

// f: from invariant.
func.func @f(%x: !dtc.tensor<8x16xf32, partial{tp:4}>) {
  // expected-error@+1 {{axis {tp:4} is partial but must be invariant}}
  %0 = dtc.f %x over <tp:4> : (!dtc.tensor<8x16xf32, partial{tp:4}>) -> !dtc.tensor<8x16xf32, replicate{tp:4}>
  return
}

// -----

// To replicate.
func.func @f(%x: !dtc.tensor<8x16xf32>) {
  // expected-error@+1 {{result must be '!dtc.tensor<8x16xf32, replicate{tp:4}>' but is '!dtc.tensor<8x16xf32>'}}
  %0 = dtc.f %x over <tp:4> : (!dtc.tensor<8x16xf32>) -> !dtc.tensor<8x16xf32>
  return
}

// -----

// g: from partial.
func.func @f(%x: !dtc.tensor<8x16xf32>) {
  // expected-error@+1 {{axis {tp:4} is invariant but must be partial}}
  %0 = dtc.g %x over <tp:4> : (!dtc.tensor<8x16xf32>) -> !dtc.tensor<8x16xf32>
  return
}

// -----

// A maximum is no sum.
func.func @f(%x: !dtc.tensor<8x16xf32, max{tp:4}>) {
  // expected-error@+1 {{axis {tp:4} is max but must be partial}}
  %0 = dtc.g %x over <tp:4> : (!dtc.tensor<8x16xf32, max{tp:4}>) -> !dtc.tensor<8x16xf32>
  return
}

// -----

func.func @f(%x: !dtc.tensor<8x16xf32, replicate{tp:4}>) {
  // expected-error@+1 {{axis {tp:4} is replicate but must be partial}}
  %0 = dtc.all_reduce %x over <tp:4> : (!dtc.tensor<8x16xf32, replicate{tp:4}>) -> !dtc.tensor<8x16xf32, replicate{tp:4}>
  return
}

// -----

// all_gather: a dimension of the operand.
func.func @f(%x: !dtc.tensor<8{tp:4}x16xf32>) {
  // expected-error@+1 {{dim 2 is not a dimension of 2}}
  %0 = dtc.all_gather %x dim 2 over <tp:4> : (!dtc.tensor<8{tp:4}x16xf32>) -> !dtc.tensor<8x16xf32, replicate{tp:4}>
  return
}

// -----

func.func @f(%x: !dtc.tensor<8{tp:4}x16xf32>) {
  // expected-error@+1 {{dim -1 is not a dimension of 2}}
  %0 = dtc.all_gather %x dim -1 over <tp:4> : (!dtc.tensor<8{tp:4}x16xf32>) -> !dtc.tensor<8x16xf32, replicate{tp:4}>
  return
}

// -----

// The one that the axes cut.
func.func @f(%x: !dtc.tensor<8{tp:4}x16xf32>) {
  // expected-error@+1 {{axes {tp:4} are not the minor-most axes of dimension 1, which has {}}}
  %0 = dtc.all_gather %x dim 1 over <tp:4> : (!dtc.tensor<8{tp:4}x16xf32>) -> !dtc.tensor<8x16xf32, replicate{tp:4}>
  return
}

// -----

// Minor-most axes: pieces stay contiguous.
func.func @f(%x: !dtc.tensor<8{dp:2, tp:4}x16xf32>) {
  // expected-error@+1 {{axes {dp:2} are not the minor-most axes of dimension 0, which has {dp:2, tp:4}}}
  %0 = dtc.all_gather_invariant %x dim 0 over <dp:2> : (!dtc.tensor<8{dp:2, tp:4}x16xf32>) -> !dtc.tensor<8{tp:4}x16xf32>
  return
}

// -----

func.func @f(%x: !dtc.tensor<8{dp:2, tp:4}x16xf32>) {
  // expected-error@+1 {{axes {tp:2} are not the minor-most axes of dimension 0}}
  %0 = dtc.all_gather %x dim 0 over <tp:2> : (!dtc.tensor<8{dp:2, tp:4}x16xf32>) -> !dtc.tensor<8{dp:2, tp:(2)2}x16xf32, replicate{tp:2}>
  return
}

// -----

// The pieces must come out even.
func.func @f(%x: !dtc.tensor<6x16xf32, partial{tp:4}>) {
  // expected-error@+1 {{padded length 6 of dimension 0 is not divisible by its axes {tp:4} (product 4)}}
  %0 = dtc.reduce_scatter %x dim 0 over <tp:4> : (!dtc.tensor<6x16xf32, partial{tp:4}>) -> !dtc.tensor<6x16xf32>
  return
}

// -----

func.func @f(%x: !dtc.tensor<6x16xf32>) {
  // expected-error@+1 {{padded length 6 of dimension 0 is not divisible by its axes {tp:4} (product 4)}}
  %0 = dtc.slice %x dim 0 over <tp:4> : (!dtc.tensor<6x16xf32>) -> !dtc.tensor<6x16xf32>
  return
}

// -----

func.func @f(%x: !dtc.tensor<8x16xf32>) {
  // expected-error@+1 {{axis {tp:4} is invariant but must be replicate}}
  %0 = dtc.slice_replicated %x dim 0 over <tp:4> : (!dtc.tensor<8x16xf32>) -> !dtc.tensor<8{tp:4}x16xf32>
  return
}

// -----

func.func @f(%x: !dtc.tensor<8x16xf32, replicate{tp:4}>) {
  // expected-error@+1 {{axis {tp:4} is replicate but must be shard}}
  %0 = dtc.pad %x dim 0 over <tp:4> : (!dtc.tensor<8x16xf32, replicate{tp:4}>) -> !dtc.tensor<8x16xf32, partial{tp:4}>
  return
}

// -----

func.func @f(%x: !dtc.tensor<8x16xf32, replicate{tp:4}>) {
  // expected-error@+1 {{axis {tp:4} is replicate but must be invariant}}
  %0 = dtc.keep_first %x over <tp:4> : (!dtc.tensor<8x16xf32, replicate{tp:4}>) -> !dtc.tensor<8x16xf32, partial{tp:4}>
  return
}

// -----

func.func @f(%x: !dtc.tensor<8x16xf32, partial{tp:4}>) {
  // expected-error@+1 {{axis {tp:4} is partial but must be replicate}}
  %0 = dtc.as_one %x over <tp:4> : (!dtc.tensor<8x16xf32, partial{tp:4}>) -> !dtc.tensor<8x16xf32>
  return
}

// -----

func.func @f(%x: !dtc.tensor<8x16xf32>) {
  // expected-error@+1 {{axis {tp:4} is invariant but must be replicate}}
  %0 = dtc.keep_first_replicated %x over <tp:4> : (!dtc.tensor<8x16xf32>) -> !dtc.tensor<8x16xf32, partial{tp:4}>
  return
}

// -----

// all_to_all: two dimensions.
func.func @f(%x: !dtc.tensor<8{tp:4}x16xf32>) {
  // expected-error@+1 {{dim2 0 must be another dimension, below 2}}
  %0 = dtc.all_to_all %x from 0 to 0 over <tp:4> : (!dtc.tensor<8{tp:4}x16xf32>) -> !dtc.tensor<8{tp:4}x16xf32>
  return
}

// -----

func.func @f(%x: !dtc.tensor<8{tp:4}x16xf32>) {
  // expected-error@+1 {{dim2 -1 must be another dimension, below 2}}
  %0 = dtc.all_to_all %x from 0 to -1 over <tp:4> : (!dtc.tensor<8{tp:4}x16xf32>) -> !dtc.tensor<8{tp:4}x16xf32>
  return
}

// -----

func.func @f(%x: !dtc.tensor<8{tp:4}x6xf32>) {
  // expected-error@+1 {{padded length 6 of dimension 1 is not divisible by its axes {tp:4} (product 4)}}
  %0 = dtc.all_to_all %x from 0 to 1 over <tp:4> : (!dtc.tensor<8{tp:4}x6xf32>) -> !dtc.tensor<8{tp:4}x6xf32>
  return
}

// -----

func.func @f(%x: !dtc.tensor<8x16xf32, partial{tp:4}>) {
  // expected-error@+1 {{axis {tp:4} is partial but must be max}}
  %0 = dtc.reduce_max %x over <tp:4> : (!dtc.tensor<8x16xf32, partial{tp:4}>) -> !dtc.tensor<8x16xf32>
  return
}
