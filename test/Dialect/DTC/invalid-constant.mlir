// Every constraint of dtc.constant, broken.
// RUN: dtc-opt %s -split-input-file -verify-diagnostics

// Constraint 1: an integer has an integral value.
func.func @f() {
  // expected-error@+1 {{an 'i32' must have an integral value in range, but has 0.5}}
  %0 = dtc.constant 0.5 : () -> !dtc.tensor<i32>
  return
}

// -----

// In range.
func.func @f() {
  // expected-error@+1 {{an 'i32' must have an integral value in range, but has 2147483648}}
  %0 = dtc.constant 2147483648.0 : () -> !dtc.tensor<i32>
  return
}

// -----

// No number.
func.func @f() {
  // expected-error@+1 {{an 'i64' must have an integral value in range, but has NaN}}
  %0 = dtc.constant 0x7FF8000000000000 : () -> !dtc.tensor<2xi64>
  return
}

// -----

// Constraint 2: what is not zero is no sum.
func.func @f() {
  // expected-error@+1 {{on axis {tp:4}, which cuts no factor, the placements (partial) are illegal; legal are: all invariant; all replicate}}
  %0 = dtc.constant 1.0 : () -> !dtc.tensor<2xf32, partial{tp:4}>
  return
}

// -----

// A zero is no maximum.
func.func @f() {
  // expected-error@+1 {{the placements (max) are illegal; legal are: all invariant; all replicate; a zero partial}}
  %0 = dtc.constant 0.0 : () -> !dtc.tensor<2xf32, max{tp:4}>
  return
}
