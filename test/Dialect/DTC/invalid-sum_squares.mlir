// Every constraint of dtc.sum_squares, broken.
// RUN: dtc-opt %s -split-input-file -verify-diagnostics

// Constraint 1: a scalar.
func.func @f(%arg0: !dtc.tensor<2x3xf32>) {
  // expected-error@+1 {{result #0 must have rank 0 but has rank 1}}
  %0 = dtc.sum_squares %arg0 : (!dtc.tensor<2x3xf32>) -> !dtc.tensor<2xf32>
  return
}

// -----

// The operand's element type, or f64.
func.func @f(%arg0: !dtc.tensor<2x3xf32>) {
  // expected-error@+1 {{the sum of squares of 'f32' is 'f32' or f64, but here it is 'bf16'}}
  %0 = dtc.sum_squares %arg0 : (!dtc.tensor<2x3xf32>) -> !dtc.tensor<bf16>
  return
}

// -----

// Constraint 2: squares of pieces are summands.
func.func @f(%arg0: !dtc.tensor<4{tp:4}x3xf32>) {
  // expected-error@+1 {{on axis {tp:4}, which cuts factor 'a', result #0 is invariant but must be partial}}
  %0 = dtc.sum_squares %arg0 : (!dtc.tensor<4{tp:4}x3xf32>) -> !dtc.tensor<f32>
  return
}

// -----

// A sum has no square.
func.func @f(%arg0: !dtc.tensor<2x3xf32, partial{tp:4}>) {
  // expected-error@+1 {{the placements (partial -> partial) are illegal; legal are: all invariant; all replicate}}
  %0 = dtc.sum_squares %arg0 : (!dtc.tensor<2x3xf32, partial{tp:4}>) -> !dtc.tensor<f32, partial{tp:4}>
  return
}
