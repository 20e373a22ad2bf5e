// Every constraint of dtc.count_labels, broken.
// RUN: dtc-opt %s -split-input-file -verify-diagnostics

// Constraint 1: labels are i32.
func.func @f(%arg0: !dtc.tensor<2x6xi64>) {
  // expected-error@+1 {{labels must be i32, but is 'i64'}}
  %0 = dtc.count_labels %arg0 : (!dtc.tensor<2x6xi64>) -> !dtc.tensor<i32>
  return
}

// -----

// The result is i32.
func.func @f(%arg0: !dtc.tensor<2x6xi32>) {
  // expected-error@+1 {{result must be i32, but is 'i64'}}
  %0 = dtc.count_labels %arg0 : (!dtc.tensor<2x6xi32>) -> !dtc.tensor<i64>
  return
}

// -----

// The result is a scalar.
func.func @f(%arg0: !dtc.tensor<2x6xi32>) {
  // expected-error@+1 {{result #0 must have rank 0 but has rank 1}}
  %0 = dtc.count_labels %arg0 : (!dtc.tensor<2x6xi32>) -> !dtc.tensor<2xi32>
  return
}

// -----

// Constraint 2: the count of cut labels is a sum.
func.func @f(%arg0: !dtc.tensor<4{tp:4}x6xi32>) {
  // expected-error@+1 {{on axis {tp:4}, which cuts factor 'a', result #0 is invariant but must be partial}}
  %0 = dtc.count_labels %arg0 : (!dtc.tensor<4{tp:4}x6xi32>) -> !dtc.tensor<i32>
  return
}

// -----

// Linear in nothing.
func.func @f(%arg0: !dtc.tensor<2x6xi32, partial{tp:4}>) {
  // expected-error@+1 {{the placements (partial -> partial) are illegal; legal are: all invariant; all replicate}}
  %0 = dtc.count_labels %arg0 : (!dtc.tensor<2x6xi32, partial{tp:4}>) -> !dtc.tensor<i32, partial{tp:4}>
  return
}
