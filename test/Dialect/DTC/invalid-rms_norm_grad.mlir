// Every constraint of dtc.rms_norm_grad, broken.
// RUN: dtc-opt %s -split-input-file -verify-diagnostics

// Constraint 1: shapes.
func.func @f(%arg0: !dtc.tensor<2x3xf32>, %arg1: !dtc.tensor<3xf32>, %arg2: !dtc.tensor<2x3xf32>) {
  // expected-error@+1 {{dimension 0 of result #1 is 2 but 'b' is 3 elsewhere}}
  %0:2 = dtc.rms_norm_grad %arg0, %arg1, %arg2 {epsilon = 1.0e-5 : f64}
      : (!dtc.tensor<2x3xf32>, !dtc.tensor<3xf32>, !dtc.tensor<2x3xf32>) -> (!dtc.tensor<2x3xf32>, !dtc.tensor<2xf32>)
  return
}

// -----

// One element type.
func.func @f(%arg0: !dtc.tensor<2x3xf32>, %arg1: !dtc.tensor<3xf32>, %arg2: !dtc.tensor<2x3xf64>) {
  // expected-error@+1 {{float element types differ: 'f32' and 'f64'}}
  %0:2 = dtc.rms_norm_grad %arg0, %arg1, %arg2 {epsilon = 1.0e-5 : f64}
      : (!dtc.tensor<2x3xf32>, !dtc.tensor<3xf32>, !dtc.tensor<2x3xf64>) -> (!dtc.tensor<2x3xf32>, !dtc.tensor<3xf32>)
  return
}

// -----

// epsilon is positive.
func.func @f(%arg0: !dtc.tensor<2x3xf32>, %arg1: !dtc.tensor<3xf32>, %arg2: !dtc.tensor<2x3xf32>) {
  // expected-error@+1 {{epsilon must be positive and finite, but is NaN}}
  %0:2 = dtc.rms_norm_grad %arg0, %arg1, %arg2 {epsilon = 0x7FF8000000000000 : f64}
      : (!dtc.tensor<2x3xf32>, !dtc.tensor<3xf32>, !dtc.tensor<2x3xf32>) -> (!dtc.tensor<2x3xf32>, !dtc.tensor<3xf32>)
  return
}

// -----

// Something is normalized.
func.func @f(%arg0: !dtc.tensor<f32>, %arg1: !dtc.tensor<3xf32>, %arg2: !dtc.tensor<f32>) {
  // expected-error@+1 {{x must have a dimension to normalize}}
  %0:2 = dtc.rms_norm_grad %arg0, %arg1, %arg2 {epsilon = 1.0e-5 : f64}
      : (!dtc.tensor<f32>, !dtc.tensor<3xf32>, !dtc.tensor<f32>) -> (!dtc.tensor<f32>, !dtc.tensor<3xf32>)
  return
}

// -----

// Constraint 2: dgamma of cut rows is a sum.
func.func @f(%arg0: !dtc.tensor<4{tp:4}x3xf32>, %arg1: !dtc.tensor<3xf32, replicate{tp:4}>, %arg2: !dtc.tensor<4{tp:4}x3xf32>) {
  // expected-error@+1 {{on axis {tp:4}, which cuts factor 'a', result #1 is invariant but must be partial}}
  %0:2 = dtc.rms_norm_grad %arg0, %arg1, %arg2 {epsilon = 1.0e-5 : f64}
      : (!dtc.tensor<4{tp:4}x3xf32>, !dtc.tensor<3xf32, replicate{tp:4}>, !dtc.tensor<4{tp:4}x3xf32>) -> (!dtc.tensor<4{tp:4}x3xf32>, !dtc.tensor<3xf32>)
  return
}

// -----

// dgamma does not read gamma.
func.func @f(%arg0: !dtc.tensor<2x3xf32, replicate{tp:4}>, %arg1: !dtc.tensor<3xf32, partial{tp:4}>, %arg2: !dtc.tensor<2x3xf32, replicate{tp:4}>) {
  // expected-error@+1 {{the placements (replicate, partial, replicate -> partial, partial) are illegal}}
  %0:2 = dtc.rms_norm_grad %arg0, %arg1, %arg2 {epsilon = 1.0e-5 : f64}
      : (!dtc.tensor<2x3xf32, replicate{tp:4}>, !dtc.tensor<3xf32, partial{tp:4}>, !dtc.tensor<2x3xf32, replicate{tp:4}>) -> (!dtc.tensor<2x3xf32, partial{tp:4}>, !dtc.tensor<3xf32, partial{tp:4}>)
  return
}

// -----

// The last dimension is whole.
func.func @f(%arg0: !dtc.tensor<2x4{tp:4}xf32>, %arg1: !dtc.tensor<4{tp:4}xf32>, %arg2: !dtc.tensor<2x4{tp:4}xf32>) {
  // expected-error@+1 {{factor 'b' is whole, but axes {tp:4} cut it}}
  %0:2 = dtc.rms_norm_grad %arg0, %arg1, %arg2 {epsilon = 1.0e-5 : f64}
      : (!dtc.tensor<2x4{tp:4}xf32>, !dtc.tensor<4{tp:4}xf32>, !dtc.tensor<2x4{tp:4}xf32>) -> (!dtc.tensor<2x4{tp:4}xf32>, !dtc.tensor<4{tp:4}xf32>)
  return
}
