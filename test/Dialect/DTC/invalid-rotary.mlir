// Every constraint of dtc.rotary, broken.
// RUN: dtc-opt %s -split-input-file -verify-diagnostics

// Constraint 1: x has rank 4.
func.func @f(%arg0: !dtc.tensor<2x6x8xf32>, %arg1: !dtc.tensor<6xi32>) {
  // expected-error@+1 {{x must have rank 4 and an even last length, but is '!dtc.tensor<2x6x8xf32>'}}
  %0 = dtc.rotary %arg0, %arg1 {theta = 1.0e4 : f64}
      : (!dtc.tensor<2x6x8xf32>, !dtc.tensor<6xi32>) -> !dtc.tensor<2x6x8xf32>
  return
}

// -----

// Its last length is even.
func.func @f(%arg0: !dtc.tensor<2x6x4x7xf32>, %arg1: !dtc.tensor<6xi32>) {
  // expected-error@+1 {{x must have rank 4 and an even last length, but is '!dtc.tensor<2x6x4x7xf32>'}}
  %0 = dtc.rotary %arg0, %arg1 {theta = 1.0e4 : f64}
      : (!dtc.tensor<2x6x4x7xf32>, !dtc.tensor<6xi32>) -> !dtc.tensor<2x6x4x7xf32>
  return
}

// -----

// Positions are i32.
func.func @f(%arg0: !dtc.tensor<2x6x4x8xf32>, %arg1: !dtc.tensor<6xi64>) {
  // expected-error@+1 {{positions must be i32, but is 'i64'}}
  %0 = dtc.rotary %arg0, %arg1 {theta = 1.0e4 : f64}
      : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<6xi64>) -> !dtc.tensor<2x6x4x8xf32>
  return
}

// -----

// Positions are [s] or [b, s].
func.func @f(%arg0: !dtc.tensor<2x6x4x8xf32>, %arg1: !dtc.tensor<4xi32>) {
  // expected-error@+1 {{dimension 0 of operand #1 is 4 but 's' is 6 elsewhere}}
  %0 = dtc.rotary %arg0, %arg1 {theta = 1.0e4 : f64}
      : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<4xi32>) -> !dtc.tensor<2x6x4x8xf32>
  return
}

// -----

// Not [s, b].
func.func @f(%arg0: !dtc.tensor<2x6x4x8xf32>, %arg1: !dtc.tensor<6x2xi32>) {
  // expected-error@+1 {{dimension 0 of operand #1 is 6 but 'b' is 2 elsewhere}}
  %0 = dtc.rotary %arg0, %arg1 {theta = 1.0e4 : f64}
      : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<6x2xi32>) -> !dtc.tensor<2x6x4x8xf32>
  return
}

// -----

// Not a scalar.
func.func @f(%arg0: !dtc.tensor<2x6x4x8xf32>, %arg1: !dtc.tensor<i32>) {
  // expected-error@+1 {{positions must have rank 1 or 2, but have rank 0}}
  %0 = dtc.rotary %arg0, %arg1 {theta = 1.0e4 : f64}
      : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<i32>) -> !dtc.tensor<2x6x4x8xf32>
  return
}

// -----

// The result has x's shape.
func.func @f(%arg0: !dtc.tensor<2x6x4x8xf32>, %arg1: !dtc.tensor<6xi32>) {
  // expected-error@+1 {{dimension 2 of result #0 is 2 but 'h' is 4 elsewhere}}
  %0 = dtc.rotary %arg0, %arg1 {theta = 1.0e4 : f64}
      : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<6xi32>) -> !dtc.tensor<2x6x2x8xf32>
  return
}

// -----

// And its element type.
func.func @f(%arg0: !dtc.tensor<2x6x4x8xf32>, %arg1: !dtc.tensor<6xi32>) {
  // expected-error@+1 {{float element types differ: 'f32' and 'f64'}}
  %0 = dtc.rotary %arg0, %arg1 {theta = 1.0e4 : f64}
      : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<6xi32>) -> !dtc.tensor<2x6x4x8xf64>
  return
}

// -----

// theta is positive.
func.func @f(%arg0: !dtc.tensor<2x6x4x8xf32>, %arg1: !dtc.tensor<6xi32>) {
  // expected-error@+1 {{theta must be positive and finite, but is -10000}}
  %0 = dtc.rotary %arg0, %arg1 {theta = -1.0e4 : f64}
      : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<6xi32>) -> !dtc.tensor<2x6x4x8xf32>
  return
}

// -----

// Constraint 2: the last dimension is whole.
func.func @f(%arg0: !dtc.tensor<2x6x4x8{tp:4}xf32>, %arg1: !dtc.tensor<6xi32, replicate{tp:4}>) {
  // expected-error@+1 {{factor 'd' is whole, but axes {tp:4} cut it}}
  %0 = dtc.rotary %arg0, %arg1 {theta = 1.0e4 : f64}
      : (!dtc.tensor<2x6x4x8{tp:4}xf32>, !dtc.tensor<6xi32, replicate{tp:4}>) -> !dtc.tensor<2x6x4x8{tp:4}xf32>
  return
}

// -----

// It may not be padded: the halves would move.
func.func @f(%arg0: !dtc.tensor<2x6x4x6(8)xf32>, %arg1: !dtc.tensor<6xi32>) {
  // expected-error@+1 {{dimension 3 of operand #0 is padded to 8 but 'd' may not be padded}}
  %0 = dtc.rotary %arg0, %arg1 {theta = 1.0e4 : f64}
      : (!dtc.tensor<2x6x4x6(8)xf32>, !dtc.tensor<6xi32>) -> !dtc.tensor<2x6x4x6(8)xf32>
  return
}

// -----

// Positions of cut heads are replicate.
func.func @f(%arg0: !dtc.tensor<2x6x4{tp:4}x8xf32>, %arg1: !dtc.tensor<6xi32>) {
  // expected-error@+1 {{on axis {tp:4}, which cuts factor 'h', operand #1 is invariant but must be replicate}}
  %0 = dtc.rotary %arg0, %arg1 {theta = 1.0e4 : f64}
      : (!dtc.tensor<2x6x4{tp:4}x8xf32>, !dtc.tensor<6xi32>) -> !dtc.tensor<2x6x4{tp:4}x8xf32>
  return
}
