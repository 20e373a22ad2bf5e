// Every constraint of dtc.layer_norm, broken.
// RUN: dtc-opt %s -split-input-file -verify-diagnostics

// Constraint 1: gamma has rank 1.
func.func @f(%arg0: !dtc.tensor<2x3xf32>, %arg1: !dtc.tensor<2x3xf32>, %arg2: !dtc.tensor<3xf32>) {
  // expected-error@+1 {{operand #1 must have rank 1 but has rank 2}}
  %0 = dtc.layer_norm %arg0, %arg1, %arg2 {epsilon = 1.0e-5 : f64}
      : (!dtc.tensor<2x3xf32>, !dtc.tensor<2x3xf32>, !dtc.tensor<3xf32>) -> !dtc.tensor<2x3xf32>
  return
}

// -----

// gamma has x's last length.
func.func @f(%arg0: !dtc.tensor<2x3xf32>, %arg1: !dtc.tensor<2xf32>, %arg2: !dtc.tensor<3xf32>) {
  // expected-error@+1 {{dimension 0 of operand #1 is 2 but 'b' is 3 elsewhere}}
  %0 = dtc.layer_norm %arg0, %arg1, %arg2 {epsilon = 1.0e-5 : f64}
      : (!dtc.tensor<2x3xf32>, !dtc.tensor<2xf32>, !dtc.tensor<3xf32>) -> !dtc.tensor<2x3xf32>
  return
}

// -----

// beta has it too.
func.func @f(%arg0: !dtc.tensor<2x3xf32>, %arg1: !dtc.tensor<3xf32>, %arg2: !dtc.tensor<2xf32>) {
  // expected-error@+1 {{dimension 0 of operand #2 is 2 but 'b' is 3 elsewhere}}
  %0 = dtc.layer_norm %arg0, %arg1, %arg2 {epsilon = 1.0e-5 : f64}
      : (!dtc.tensor<2x3xf32>, !dtc.tensor<3xf32>, !dtc.tensor<2xf32>) -> !dtc.tensor<2x3xf32>
  return
}

// -----

// One element type.
func.func @f(%arg0: !dtc.tensor<2x3xf32>, %arg1: !dtc.tensor<3xf64>, %arg2: !dtc.tensor<3xf32>) {
  // expected-error@+1 {{float element types differ: 'f32' and 'f64'}}
  %0 = dtc.layer_norm %arg0, %arg1, %arg2 {epsilon = 1.0e-5 : f64}
      : (!dtc.tensor<2x3xf32>, !dtc.tensor<3xf64>, !dtc.tensor<3xf32>) -> !dtc.tensor<2x3xf32>
  return
}

// -----

// epsilon is positive.
func.func @f(%arg0: !dtc.tensor<2x3xf32>, %arg1: !dtc.tensor<3xf32>, %arg2: !dtc.tensor<3xf32>) {
  // expected-error@+1 {{epsilon must be positive and finite, but is 0}}
  %0 = dtc.layer_norm %arg0, %arg1, %arg2 {epsilon = 0.0 : f64}
      : (!dtc.tensor<2x3xf32>, !dtc.tensor<3xf32>, !dtc.tensor<3xf32>) -> !dtc.tensor<2x3xf32>
  return
}

// -----

// Something is normalized.
func.func @f(%arg0: !dtc.tensor<f32>, %arg1: !dtc.tensor<3xf32>, %arg2: !dtc.tensor<3xf32>) {
  // expected-error@+1 {{x must have a dimension to normalize}}
  %0 = dtc.layer_norm %arg0, %arg1, %arg2 {epsilon = 1.0e-5 : f64}
      : (!dtc.tensor<f32>, !dtc.tensor<3xf32>, !dtc.tensor<3xf32>) -> !dtc.tensor<f32>
  return
}

// -----

// Constraint 2: the last dimension is whole.
func.func @f(%arg0: !dtc.tensor<2x4{tp:4}xf32>, %arg1: !dtc.tensor<4{tp:4}xf32>, %arg2: !dtc.tensor<4{tp:4}xf32>) {
  // expected-error@+1 {{factor 'b' is whole, but axes {tp:4} cut it}}
  %0 = dtc.layer_norm %arg0, %arg1, %arg2 {epsilon = 1.0e-5 : f64}
      : (!dtc.tensor<2x4{tp:4}xf32>, !dtc.tensor<4{tp:4}xf32>, !dtc.tensor<4{tp:4}xf32>) -> !dtc.tensor<2x4{tp:4}xf32>
  return
}

// -----

// gamma of cut rows is replicate.
func.func @f(%arg0: !dtc.tensor<4{tp:4}x4xf32>, %arg1: !dtc.tensor<4xf32>, %arg2: !dtc.tensor<4xf32>) {
  // expected-error@+1 {{on axis {tp:4}, which cuts factor 'a', operand #1 is invariant but must be replicate}}
  %0 = dtc.layer_norm %arg0, %arg1, %arg2 {epsilon = 1.0e-5 : f64}
      : (!dtc.tensor<4{tp:4}x4xf32>, !dtc.tensor<4xf32>, !dtc.tensor<4xf32>) -> !dtc.tensor<4{tp:4}x4xf32>
  return
}

// -----

// Not linear in x.
func.func @f(%arg0: !dtc.tensor<2x4xf32, partial{tp:4}>, %arg1: !dtc.tensor<4xf32, replicate{tp:4}>, %arg2: !dtc.tensor<4xf32, replicate{tp:4}>) {
  // expected-error@+1 {{the placements (partial, replicate, replicate -> partial) are illegal}}
  %0 = dtc.layer_norm %arg0, %arg1, %arg2 {epsilon = 1.0e-5 : f64}
      : (!dtc.tensor<2x4xf32, partial{tp:4}>, !dtc.tensor<4xf32, replicate{tp:4}>, !dtc.tensor<4xf32, replicate{tp:4}>) -> !dtc.tensor<2x4xf32, partial{tp:4}>
  return
}

// -----

// Linear in gamma and beta together only.
func.func @f(%arg0: !dtc.tensor<2x4xf32, replicate{tp:4}>, %arg1: !dtc.tensor<4xf32, partial{tp:4}>, %arg2: !dtc.tensor<4xf32, replicate{tp:4}>) {
  // expected-error@+1 {{the placements (replicate, partial, replicate -> partial) are illegal}}
  %0 = dtc.layer_norm %arg0, %arg1, %arg2 {epsilon = 1.0e-5 : f64}
      : (!dtc.tensor<2x4xf32, replicate{tp:4}>, !dtc.tensor<4xf32, partial{tp:4}>, !dtc.tensor<4xf32, replicate{tp:4}>) -> !dtc.tensor<2x4xf32, partial{tp:4}>
  return
}
