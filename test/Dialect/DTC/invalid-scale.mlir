// Every constraint of dtc.scale, broken.
// RUN: dtc-opt %s -split-input-file -verify-diagnostics

// Constraint 1: shapes.
func.func @f(%arg0: !dtc.tensor<2x3xf32>) {
  // expected-error@+1 {{dimension 0 of result #0 is 3 but 'a' is 2 elsewhere}}
  %0 = dtc.scale %arg0 by 2.0 : (!dtc.tensor<2x3xf32>) -> !dtc.tensor<3x2xf32>
  return
}

// -----

// Element types.
func.func @f(%arg0: !dtc.tensor<2x3xf32>) {
  // expected-error@+1 {{float element types differ: 'f32' and 'f64'}}
  %0 = dtc.scale %arg0 by 2.0 : (!dtc.tensor<2x3xf32>) -> !dtc.tensor<2x3xf64>
  return
}

// -----

// The factor is finite.
func.func @f(%arg0: !dtc.tensor<2x3xf32>) {
  // expected-error@+1 {{factor must be finite}}
  %0 = dtc.scale %arg0 by 0x7FF0000000000000 : (!dtc.tensor<2x3xf32>) -> !dtc.tensor<2x3xf32>
  return
}

// -----

// No number.
func.func @f(%arg0: !dtc.tensor<2x3xf32>) {
  // expected-error@+1 {{factor must be finite}}
  %0 = dtc.scale %arg0 by 0x7FF8000000000000 : (!dtc.tensor<2x3xf32>) -> !dtc.tensor<2x3xf32>
  return
}

// -----

// Constraint 2: a partial operand has a partial result.
func.func @f(%arg0: !dtc.tensor<2xf32, partial{tp:4}>) {
  // expected-error@+1 {{the placements (partial -> invariant) are illegal}}
  %0 = dtc.scale %arg0 by 2.0 : (!dtc.tensor<2xf32, partial{tp:4}>) -> !dtc.tensor<2xf32>
  return
}
