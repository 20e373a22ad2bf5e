// Every constraint of dtc.divide, broken.
// RUN: dtc-opt %s -split-input-file -verify-diagnostics

// Constraint 1: shapes.
func.func @f(%arg0: !dtc.tensor<2x3xf32>, %arg1: !dtc.tensor<i32>) {
  // expected-error@+1 {{result #0 must have rank 2 but has rank 1}}
  %0 = dtc.divide %arg0, %arg1 : (!dtc.tensor<2x3xf32>, !dtc.tensor<i32>) -> !dtc.tensor<2xf32>
  return
}

// -----

// Element types.
func.func @f(%arg0: !dtc.tensor<2x3xf32>, %arg1: !dtc.tensor<i32>) {
  // expected-error@+1 {{float element types differ: 'f32' and 'f64'}}
  %0 = dtc.divide %arg0, %arg1 : (!dtc.tensor<2x3xf32>, !dtc.tensor<i32>) -> !dtc.tensor<2x3xf64>
  return
}

// -----

// The count is a scalar.
func.func @f(%arg0: !dtc.tensor<2x3xf32>, %arg1: !dtc.tensor<2xi32>) {
  // expected-error@+1 {{operand #1 must have rank 0 but has rank 1}}
  %0 = dtc.divide %arg0, %arg1 : (!dtc.tensor<2x3xf32>, !dtc.tensor<2xi32>) -> !dtc.tensor<2x3xf32>
  return
}

// -----

// The count is i32.
func.func @f(%arg0: !dtc.tensor<2x3xf32>, %arg1: !dtc.tensor<i64>) {
  // expected-error@+1 {{count must be i32, but is 'i64'}}
  %0 = dtc.divide %arg0, %arg1 : (!dtc.tensor<2x3xf32>, !dtc.tensor<i64>) -> !dtc.tensor<2x3xf32>
  return
}

// -----

// The count is an integer.
func.func @f(%arg0: !dtc.tensor<2x3xf32>, %arg1: !dtc.tensor<f32>) {
  // expected-error@+1 {{operand #1 must be dtc tensor of integers}}
  %0 = dtc.divide %arg0, %arg1 : (!dtc.tensor<2x3xf32>, !dtc.tensor<f32>) -> !dtc.tensor<2x3xf32>
  return
}

// -----

// Constraint 2: linear in x, not in the count.
func.func @f(%arg0: !dtc.tensor<2xf32, replicate{tp:4}>, %arg1: !dtc.tensor<i32, partial{tp:4}>) {
  // expected-error@+1 {{the placements (replicate, partial -> partial) are illegal}}
  %0 = dtc.divide %arg0, %arg1
      : (!dtc.tensor<2xf32, replicate{tp:4}>, !dtc.tensor<i32, partial{tp:4}>) -> !dtc.tensor<2xf32, partial{tp:4}>
  return
}
