// Every constraint of dtc.token_loss, broken.
// RUN: dtc-opt %s -split-input-file -verify-diagnostics

// Constraint 1: one shape.
func.func @f(%arg0: !dtc.tensor<2x6xf32>, %arg1: !dtc.tensor<2x6xf32>, %arg2: !dtc.tensor<2x8xf32>, %arg3: !dtc.tensor<2x6xi32>) {
  // expected-error@+1 {{dimension 1 of operand #2 is 8 but 's' is 6 elsewhere}}
  %0:2 = dtc.token_loss %arg0, %arg1, %arg2, %arg3
      : (!dtc.tensor<2x6xf32>, !dtc.tensor<2x6xf32>, !dtc.tensor<2x8xf32>, !dtc.tensor<2x6xi32>) -> (!dtc.tensor<f32>, !dtc.tensor<2x6xf32>)
  return
}

// -----

// The loss is a scalar.
func.func @f(%arg0: !dtc.tensor<2x6xf32>, %arg1: !dtc.tensor<2x6xf32>, %arg2: !dtc.tensor<2x6xf32>, %arg3: !dtc.tensor<2x6xi32>) {
  // expected-error@+1 {{result #0 must have rank 0 but has rank 2}}
  %0:2 = dtc.token_loss %arg0, %arg1, %arg2, %arg3
      : (!dtc.tensor<2x6xf32>, !dtc.tensor<2x6xf32>, !dtc.tensor<2x6xf32>, !dtc.tensor<2x6xi32>) -> (!dtc.tensor<2x6xf32>, !dtc.tensor<2x6xf32>)
  return
}

// -----

// Labels are i32.
func.func @f(%arg0: !dtc.tensor<2x6xf32>, %arg1: !dtc.tensor<2x6xf32>, %arg2: !dtc.tensor<2x6xf32>, %arg3: !dtc.tensor<2x6xi64>) {
  // expected-error@+1 {{labels must be i32, but is 'i64'}}
  %0:2 = dtc.token_loss %arg0, %arg1, %arg2, %arg3
      : (!dtc.tensor<2x6xf32>, !dtc.tensor<2x6xf32>, !dtc.tensor<2x6xf32>, !dtc.tensor<2x6xi64>) -> (!dtc.tensor<f32>, !dtc.tensor<2x6xf32>)
  return
}

// -----

// Element types.
func.func @f(%arg0: !dtc.tensor<2x6xf64>, %arg1: !dtc.tensor<2x6xf32>, %arg2: !dtc.tensor<2x6xf32>, %arg3: !dtc.tensor<2x6xi32>) {
  // expected-error@+1 {{float element types differ: 'f64' and 'f32'}}
  %0:2 = dtc.token_loss %arg0, %arg1, %arg2, %arg3
      : (!dtc.tensor<2x6xf64>, !dtc.tensor<2x6xf32>, !dtc.tensor<2x6xf32>, !dtc.tensor<2x6xi32>) -> (!dtc.tensor<f32>, !dtc.tensor<2x6xf32>)
  return
}

// -----

// Constraint 2: the loss of cut rows is a sum.
func.func @f(%arg0: !dtc.tensor<4{tp:4}x6xf32>, %arg1: !dtc.tensor<4{tp:4}x6xf32>, %arg2: !dtc.tensor<4{tp:4}x6xf32>, %arg3: !dtc.tensor<4{tp:4}x6xi32>) {
  // expected-error@+1 {{on axis {tp:4}, which cuts factor 'b', result #0 is invariant but must be partial}}
  %0:2 = dtc.token_loss %arg0, %arg1, %arg2, %arg3
      : (!dtc.tensor<4{tp:4}x6xf32>, !dtc.tensor<4{tp:4}x6xf32>, !dtc.tensor<4{tp:4}x6xf32>, !dtc.tensor<4{tp:4}x6xi32>) -> (!dtc.tensor<f32>, !dtc.tensor<4{tp:4}x6xf32>)
  return
}

// -----

// The parts are reduced before: a logarithm of summands is none.
func.func @f(%arg0: !dtc.tensor<2x6xf32, replicate{tp:4}>, %arg1: !dtc.tensor<2x6xf32, partial{tp:4}>, %arg2: !dtc.tensor<2x6xf32, replicate{tp:4}>, %arg3: !dtc.tensor<2x6xi32, replicate{tp:4}>) {
  // expected-error@+1 {{the placements (replicate, partial, replicate, replicate -> partial, partial) are illegal}}
  %0:2 = dtc.token_loss %arg0, %arg1, %arg2, %arg3
      : (!dtc.tensor<2x6xf32, replicate{tp:4}>, !dtc.tensor<2x6xf32, partial{tp:4}>, !dtc.tensor<2x6xf32, replicate{tp:4}>, !dtc.tensor<2x6xi32, replicate{tp:4}>) -> (!dtc.tensor<f32, partial{tp:4}>, !dtc.tensor<2x6xf32, partial{tp:4}>)
  return
}
