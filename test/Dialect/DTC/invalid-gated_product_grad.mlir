// Every constraint of dtc.gated_product_grad, broken.
// RUN: dtc-opt %s -split-input-file -verify-diagnostics

// Constraint 1: shapes.
func.func @f(%arg0: !dtc.tensor<2x3xf32>, %arg1: !dtc.tensor<2x3xf32>, %arg2: !dtc.tensor<2x3xf32>) {
  // expected-error@+1 {{result #1 must have rank 2 but has rank 1}}
  %0:2 = dtc.gated_product_grad silu %arg0, %arg1, %arg2
      : (!dtc.tensor<2x3xf32>, !dtc.tensor<2x3xf32>, !dtc.tensor<2x3xf32>) -> (!dtc.tensor<2x3xf32>, !dtc.tensor<3xf32>)
  return
}

// -----

// Element types.
func.func @f(%arg0: !dtc.tensor<2x3xf32>, %arg1: !dtc.tensor<2x3xf32>, %arg2: !dtc.tensor<2x3xf32>) {
  // expected-error@+1 {{float element types differ: 'f32' and 'f64'}}
  %0:2 = dtc.gated_product_grad silu %arg0, %arg1, %arg2
      : (!dtc.tensor<2x3xf32>, !dtc.tensor<2x3xf32>, !dtc.tensor<2x3xf32>) -> (!dtc.tensor<2x3xf32>, !dtc.tensor<2x3xf64>)
  return
}

// -----

// Constraint 2: dup does not read up.
func.func @f(%arg0: !dtc.tensor<2x3xf32, replicate{tp:4}>, %arg1: !dtc.tensor<2x3xf32, partial{tp:4}>, %arg2: !dtc.tensor<2x3xf32, replicate{tp:4}>) {
  // expected-error@+1 {{the placements (replicate, partial, replicate -> partial, partial) are illegal}}
  %0:2 = dtc.gated_product_grad silu %arg0, %arg1, %arg2
      : (!dtc.tensor<2x3xf32, replicate{tp:4}>, !dtc.tensor<2x3xf32, partial{tp:4}>, !dtc.tensor<2x3xf32, replicate{tp:4}>) -> (!dtc.tensor<2x3xf32, partial{tp:4}>, !dtc.tensor<2x3xf32, partial{tp:4}>)
  return
}

// -----

// Not linear in the gate.
func.func @f(%arg0: !dtc.tensor<2x3xf32, partial{tp:4}>, %arg1: !dtc.tensor<2x3xf32, replicate{tp:4}>, %arg2: !dtc.tensor<2x3xf32, replicate{tp:4}>) {
  // expected-error@+1 {{the placements (partial, replicate, replicate -> partial, partial) are illegal}}
  %0:2 = dtc.gated_product_grad silu %arg0, %arg1, %arg2
      : (!dtc.tensor<2x3xf32, partial{tp:4}>, !dtc.tensor<2x3xf32, replicate{tp:4}>, !dtc.tensor<2x3xf32, replicate{tp:4}>) -> (!dtc.tensor<2x3xf32, partial{tp:4}>, !dtc.tensor<2x3xf32, partial{tp:4}>)
  return
}
