// Every constraint of dtc.iota, broken.
// RUN: dtc-opt %s -split-input-file -verify-diagnostics

// Constraint 1: i32.
func.func @f() {
  // expected-error@+1 {{result must be i32, but is 'i64'}}
  %0 = dtc.iota : () -> !dtc.tensor<6xi64>
  return
}

// -----

// Rank 1.
func.func @f() {
  // expected-error@+1 {{result #0 must have rank 1 but has rank 2}}
  %0 = dtc.iota : () -> !dtc.tensor<2x6xi32>
  return
}

// -----

// Integers.
func.func @f() {
  // expected-error@+1 {{result #0 must be dtc tensor of integers}}
  %0 = dtc.iota : () -> !dtc.tensor<6xf32>
  return
}

// -----

// Constraint 2: no sum.
func.func @f() {
  // expected-error@+1 {{on axis {tp:4}, which cuts no factor, the placements (partial) are illegal; legal are: all invariant; all replicate}}
  %0 = dtc.iota : () -> !dtc.tensor<6xi32, partial{tp:4}>
  return
}
