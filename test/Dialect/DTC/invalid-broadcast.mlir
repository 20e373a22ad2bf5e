// Every constraint of dtc.broadcast, broken.
// RUN: dtc-opt %s -split-input-file -verify-diagnostics

// Constraint 1: not empty.
func.func @f(%arg0: !dtc.tensor<2xf32>) {
  // expected-error@+1 {{dims must not be empty}}
  %0 = dtc.broadcast %arg0 along [] : (!dtc.tensor<2xf32>) -> !dtc.tensor<2xf32>
  return
}

// -----

// Increasing.
func.func @f(%arg0: !dtc.tensor<f32>) {
  // expected-error@+1 {{dims must be increasing, from 0 to 1, but are [1, 0]}}
  %0 = dtc.broadcast %arg0 along [1, 0] : (!dtc.tensor<f32>) -> !dtc.tensor<2x3xf32>
  return
}

// -----

// Within the result's rank.
func.func @f(%arg0: !dtc.tensor<2xf32>) {
  // expected-error@+1 {{dims must be increasing, from 0 to 1, but are [2]}}
  %0 = dtc.broadcast %arg0 along [2] : (!dtc.tensor<2xf32>) -> !dtc.tensor<2x3xf32>
  return
}

// -----

// Not negative.
func.func @f(%arg0: !dtc.tensor<2xf32>) {
  // expected-error@+1 {{dims must be increasing, from 0 to 1, but are [-1]}}
  %0 = dtc.broadcast %arg0 along [-1] : (!dtc.tensor<2xf32>) -> !dtc.tensor<2x3xf32>
  return
}

// -----

// Constraint 2: the remaining dimensions.
func.func @f(%arg0: !dtc.tensor<2xf32>) {
  // expected-error@+1 {{dimension 1 of result #0 is 3 but 'b' is 2 elsewhere}}
  %0 = dtc.broadcast %arg0 along [0] : (!dtc.tensor<2xf32>) -> !dtc.tensor<2x3xf32>
  return
}

// -----

// Element types.
func.func @f(%arg0: !dtc.tensor<3xf64>) {
  // expected-error@+1 {{float element types differ: 'f64' and 'f32'}}
  %0 = dtc.broadcast %arg0 along [0] : (!dtc.tensor<3xf64>) -> !dtc.tensor<2x3xf32>
  return
}

// -----

// Constraint 3: what is repeated along a cut dimension is replicate.
func.func @f(%arg0: !dtc.tensor<3xf32>) {
  // expected-error@+1 {{on axis {tp:4}, which cuts factor 'a', operand #0 is invariant but must be replicate}}
  %0 = dtc.broadcast %arg0 along [0] : (!dtc.tensor<3xf32>) -> !dtc.tensor<4{tp:4}x3xf32>
  return
}
