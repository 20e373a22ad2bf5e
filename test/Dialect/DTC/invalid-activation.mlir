// Every constraint of dtc.activation, broken.
// RUN: dtc-opt %s -split-input-file -verify-diagnostics

// Constraint 1: shapes.
func.func @f(%arg0: !dtc.tensor<2x3xf32>) {
  // expected-error@+1 {{dimension 1 of result #0 is 4 but 'b' is 3 elsewhere}}
  %0 = dtc.activation silu %arg0 : (!dtc.tensor<2x3xf32>) -> !dtc.tensor<2x4xf32>
  return
}

// -----

// Element types.
func.func @f(%arg0: !dtc.tensor<2x3xf32>) {
  // expected-error@+1 {{float element types differ: 'f32' and 'f64'}}
  %0 = dtc.activation silu %arg0 : (!dtc.tensor<2x3xf32>) -> !dtc.tensor<2x3xf64>
  return
}

// -----

// Constraint 2: linear in nothing.
func.func @f(%arg0: !dtc.tensor<2x3xf32, partial{tp:4}>) {
  // expected-error@+1 {{on axis {tp:4}, which cuts no factor, the placements (partial -> partial) are illegal; legal are: all invariant; all replicate}}
  %0 = dtc.activation silu %arg0 : (!dtc.tensor<2x3xf32, partial{tp:4}>) -> !dtc.tensor<2x3xf32, partial{tp:4}>
  return
}

// -----

// An activation that does not exist.
func.func @f(%arg0: !dtc.tensor<2x3xf32>) {
  // expected-error@+1 {{unknown keyword 'relu'}}
  %0 = dtc.activation relu %arg0 : (!dtc.tensor<2x3xf32>) -> !dtc.tensor<2x3xf32>
  return
}
