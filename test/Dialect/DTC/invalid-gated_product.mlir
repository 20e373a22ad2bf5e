// Every constraint of dtc.gated_product, broken.
// RUN: dtc-opt %s -split-input-file -verify-diagnostics

// Constraint 1: shapes.
func.func @f(%arg0: !dtc.tensor<2x3xf32>, %arg1: !dtc.tensor<2x4xf32>) {
  // expected-error@+1 {{dimension 1 of operand #1 is 4 but 'b' is 3 elsewhere}}
  %0 = dtc.gated_product silu %arg0, %arg1 : (!dtc.tensor<2x3xf32>, !dtc.tensor<2x4xf32>) -> !dtc.tensor<2x3xf32>
  return
}

// -----

// Element types.
func.func @f(%arg0: !dtc.tensor<2x3xf32>, %arg1: !dtc.tensor<2x3xf64>) {
  // expected-error@+1 {{float element types differ: 'f32' and 'f64'}}
  %0 = dtc.gated_product silu %arg0, %arg1 : (!dtc.tensor<2x3xf32>, !dtc.tensor<2x3xf64>) -> !dtc.tensor<2x3xf32>
  return
}

// -----

// Constraint 2: linear in up, not in the gate.
func.func @f(%arg0: !dtc.tensor<2x3xf32, partial{tp:4}>, %arg1: !dtc.tensor<2x3xf32, replicate{tp:4}>) {
  // expected-error@+1 {{the placements (partial, replicate -> partial) are illegal}}
  %0 = dtc.gated_product silu %arg0, %arg1
      : (!dtc.tensor<2x3xf32, partial{tp:4}>, !dtc.tensor<2x3xf32, replicate{tp:4}>) -> !dtc.tensor<2x3xf32, partial{tp:4}>
  return
}
