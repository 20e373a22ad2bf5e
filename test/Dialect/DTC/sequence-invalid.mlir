// RUN: dtc-opt %s -split-input-file -verify-diagnostics

func.func @f(%x: !dtc.tensor<6xi32>) {
  // expected-error@+1 {{dim 1 is not a dimension}}
  %0 = dtc.permute striped %x dim 1 parts 2 : (!dtc.tensor<6xi32>) -> !dtc.tensor<6xi32>
  return
}

// -----

func.func @f(%x: !dtc.tensor<6xi32>) {
  // expected-error@+1 {{parts 4 must divide 6}}
  %0 = dtc.permute striped %x dim 0 parts 4 : (!dtc.tensor<6xi32>) -> !dtc.tensor<6xi32>
  return
}

// -----

func.func @f(%x: !dtc.tensor<6xi32>) {
  // expected-error@+1 {{parts 2 must divide 6 in pairs}}
  %0 = dtc.permute zigzag %x dim 0 parts 2 : (!dtc.tensor<6xi32>) -> !dtc.tensor<6xi32>
  return
}

// -----

// The permuted dimension is whole.
func.func @f(%x: !dtc.tensor<6{cp:2}xi32>) {
  // expected-error@+1 {{factor 'a' is whole}}
  %0 = dtc.permute striped %x dim 0 parts 2 : (!dtc.tensor<6{cp:2}xi32>) -> !dtc.tensor<6{cp:2}xi32>
  return
}

// -----

func.func @f(%x: !dtc.tensor<6xi64>) {
  // expected-error@+1 {{documents must be i32}}
  %0 = dtc.document_positions %x : (!dtc.tensor<6xi64>) -> !dtc.tensor<6xi64>
  return
}

// -----

func.func @f(%x: !dtc.tensor<2x8{cp:2}xi32>) {
  // expected-error@+1 {{factor 's' is whole}}
  %0 = dtc.document_positions %x : (!dtc.tensor<2x8{cp:2}xi32>) -> !dtc.tensor<2x8{cp:2}xi32>
  return
}

// -----

func.func @f(%x: !dtc.tensor<6xf32>) {
  // expected-error@+1 {{dim 1 is not a dimension}}
  %0 = dtc.shift %x dim 1 blocks 2 : (!dtc.tensor<6xf32>) -> !dtc.tensor<6xf32>
  return
}

// -----

func.func @f(%x: !dtc.tensor<6xf32>) {
  // expected-error@+1 {{blocks 4 must divide the dimension's length 6}}
  %0 = dtc.shift %x dim 0 blocks 4 : (!dtc.tensor<6xf32>) -> !dtc.tensor<6xf32>
  return
}

// -----

// More ranks than blocks would cut a block.
func.func @f(%x: !dtc.tensor<8{cp:4}xf32>) {
  // expected-error@+1 {{factor 'a' is whole}}
  %0 = dtc.shift %x dim 0 blocks 2 : (!dtc.tensor<8{cp:4}xf32>) -> !dtc.tensor<8{cp:4}xf32>
  return
}

// -----

func.func @f(%a: !dtc.tensor<1x2x1x4xf32>, %l: !dtc.tensor<1x2x1xf64>) {
  // expected-error@+1 {{operand #1 must have elements of type 'f32' beside 'f32', but has 'f64'}}
  %0, %1 = dtc.merge_attention %a, %l, %a, %l : (!dtc.tensor<1x2x1x4xf32>, !dtc.tensor<1x2x1xf64>, !dtc.tensor<1x2x1x4xf32>, !dtc.tensor<1x2x1xf64>) -> (!dtc.tensor<1x2x1x4xf32>, !dtc.tensor<1x2x1xf64>)
  return
}

// -----

func.func @f(%q: !dtc.tensor<1x6x1x4xf32>, %p: !dtc.tensor<6xi32>) {
  // expected-error@+1 {{blocks 4 must divide the sequence}}
  %0, %1 = dtc.attention %q, %q, %q at %p, %p {scale = 1.0, blocks = 4} : (!dtc.tensor<1x6x1x4xf32>, !dtc.tensor<1x6x1x4xf32>, !dtc.tensor<1x6x1x4xf32>, !dtc.tensor<6xi32>, !dtc.tensor<6xi32>) -> (!dtc.tensor<1x6x1x4xf32>, !dtc.tensor<1x6x1xf32>)
  return
}

// -----

func.func @f(%q: !dtc.tensor<1x6x1x4xf32>, %l: !dtc.tensor<1x6x1xf32>, %p: !dtc.tensor<6xi32>) {
  // expected-error@+1 {{with several blocks is always local}}
  %0, %1, %2 = dtc.attention_grad %q, %q, %q at %p, %p of %q, %l, %q {scale = 1.0, blocks = 2} : (!dtc.tensor<1x6x1x4xf32>, !dtc.tensor<1x6x1x4xf32>, !dtc.tensor<1x6x1x4xf32>, !dtc.tensor<6xi32>, !dtc.tensor<6xi32>, !dtc.tensor<1x6x1x4xf32>, !dtc.tensor<1x6x1xf32>, !dtc.tensor<1x6x1x4xf32>) -> (!dtc.tensor<1x6x1x4xf32>, !dtc.tensor<1x6x1x4xf32>, !dtc.tensor<1x6x1x4xf32>)
  return
}

// -----

func.func @f(%x: !dtc.tensor<6xi32>) {
  // expected-error@+1 {{dimension 0 of result #0 is 8 but 'a' is 6 elsewhere}}
  %0 = dtc.permute striped %x dim 0 parts 2 : (!dtc.tensor<6xi32>) -> !dtc.tensor<8xi32>
  return
}

// -----

func.func @f(%x: !dtc.tensor<6xi32>) {
  // expected-error@+1 {{parts 0 must divide 6}}
  %0 = dtc.permute striped %x dim 0 parts 0 : (!dtc.tensor<6xi32>) -> !dtc.tensor<6xi32>
  return
}

// -----

func.func @f(%x: !dtc.tensor<6xi32>) {
  // expected-error@+1 {{must have rank 2 but has rank 1}}
  %0 = dtc.document_positions %x : (!dtc.tensor<6xi32>) -> !dtc.tensor<6xi32>
  return
}

// -----

func.func @f(%x: !dtc.tensor<2x6xi32>) {
  // expected-error@+1 {{dimension 1 of result #0 is 8 but 's' is 6 elsewhere}}
  %0 = dtc.document_positions %x : (!dtc.tensor<2x6xi32>) -> !dtc.tensor<2x8xi32>
  return
}

// -----

func.func @f(%x: !dtc.tensor<6xf32>) {
  // expected-error@+1 {{blocks 0 must divide the dimension's length 6}}
  %0 = dtc.shift %x dim 0 blocks 0 : (!dtc.tensor<6xf32>) -> !dtc.tensor<6xf32>
  return
}

// -----

func.func @f(%x: !dtc.tensor<6x2xf32>) {
  // expected-error@+1 {{dimension 1 of result #0 is 3}}
  %0 = dtc.shift %x dim 0 blocks 2 : (!dtc.tensor<6x2xf32>) -> !dtc.tensor<6x3xf32>
  return
}

// -----

func.func @f(%o: !dtc.tensor<2x6x4x8xf32>, %l: !dtc.tensor<2x6x2xf32>) {
  // expected-error@+1 {{dimension 2 of operand #1 is 2 but 'h' is 4 elsewhere}}
  %0:2 = dtc.merge_attention %o, %l, %o, %l : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x2xf32>, !dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x2xf32>) -> (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x4xf32>)
  return
}

// -----

// Linear in both outputs at once, not in one.
func.func @f(%a: !dtc.tensor<2x6x4x8xf32, partial{tp:2}>, %b: !dtc.tensor<2x6x4x8xf32, replicate{tp:2}>, %l: !dtc.tensor<2x6x4xf32, replicate{tp:2}>) {
  // expected-error@+1 {{the placements (partial, replicate, replicate, replicate -> partial, replicate) are illegal}}
  %0:2 = dtc.merge_attention %a, %l, %b, %l : (!dtc.tensor<2x6x4x8xf32, partial{tp:2}>, !dtc.tensor<2x6x4xf32, replicate{tp:2}>, !dtc.tensor<2x6x4x8xf32, replicate{tp:2}>, !dtc.tensor<2x6x4xf32, replicate{tp:2}>)
      -> (!dtc.tensor<2x6x4x8xf32, partial{tp:2}>, !dtc.tensor<2x6x4xf32, replicate{tp:2}>)
  return
}
