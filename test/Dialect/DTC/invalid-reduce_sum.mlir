// Every constraint of dtc.reduce_sum, broken.
// RUN: dtc-opt %s -split-input-file -verify-diagnostics

// Constraint 1: not empty.
func.func @f(%arg0: !dtc.tensor<2x3xf32>) {
  // expected-error@+1 {{dims must not be empty}}
  %0 = dtc.reduce_sum %arg0 over [] : (!dtc.tensor<2x3xf32>) -> !dtc.tensor<2x3xf32>
  return
}

// -----

// Increasing.
func.func @f(%arg0: !dtc.tensor<2x3xf32>) {
  // expected-error@+1 {{dims must be increasing, from 0 to 1, but are [1, 0]}}
  %0 = dtc.reduce_sum %arg0 over [1, 0] : (!dtc.tensor<2x3xf32>) -> !dtc.tensor<f32>
  return
}

// -----

// Twice the same.
func.func @f(%arg0: !dtc.tensor<2x3xf32>) {
  // expected-error@+1 {{dims must be increasing, from 0 to 1, but are [1, 1]}}
  %0 = dtc.reduce_sum %arg0 over [1, 1] : (!dtc.tensor<2x3xf32>) -> !dtc.tensor<2xf32>
  return
}

// -----

// Within the rank.
func.func @f(%arg0: !dtc.tensor<2x3xf32>) {
  // expected-error@+1 {{dims must be increasing, from 0 to 1, but are [2]}}
  %0 = dtc.reduce_sum %arg0 over [2] : (!dtc.tensor<2x3xf32>) -> !dtc.tensor<2xf32>
  return
}

// -----

// Not negative.
func.func @f(%arg0: !dtc.tensor<2x3xf32>) {
  // expected-error@+1 {{dims must be increasing, from 0 to 1, but are [-1]}}
  %0 = dtc.reduce_sum %arg0 over [-1] : (!dtc.tensor<2x3xf32>) -> !dtc.tensor<2xf32>
  return
}

// -----

// A scalar has no dimension.
func.func @f(%arg0: !dtc.tensor<f32>) {
  // expected-error@+1 {{dims must be increasing, from 0 to -1, but are [0]}}
  %0 = dtc.reduce_sum %arg0 over [0] : (!dtc.tensor<f32>) -> !dtc.tensor<f32>
  return
}

// -----

// Constraint 2: the remaining dimensions.
func.func @f(%arg0: !dtc.tensor<2x3xf32>) {
  // expected-error@+1 {{dimension 0 of result #0 is 2 but 'b' is 3 elsewhere}}
  %0 = dtc.reduce_sum %arg0 over [0] : (!dtc.tensor<2x3xf32>) -> !dtc.tensor<2xf32>
  return
}

// -----

// Element types.
func.func @f(%arg0: !dtc.tensor<2x3xf32>) {
  // expected-error@+1 {{float element types differ: 'f32' and 'f64'}}
  %0 = dtc.reduce_sum %arg0 over [0] : (!dtc.tensor<2x3xf32>) -> !dtc.tensor<3xf64>
  return
}

// -----

// Constraint 3: a sum over a cut dimension is partial.
func.func @f(%arg0: !dtc.tensor<4{tp:4}x3xf32>) {
  // expected-error@+1 {{on axis {tp:4}, which cuts factor 'a', result #0 is invariant but must be partial}}
  %0 = dtc.reduce_sum %arg0 over [0] : (!dtc.tensor<4{tp:4}x3xf32>) -> !dtc.tensor<3xf32>
  return
}
