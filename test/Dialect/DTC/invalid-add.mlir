// Every constraint of dtc.add, broken.
// RUN: dtc-opt %s -split-input-file -verify-diagnostics

// Constraint 1: rhs_dims has the right operand's rank.
func.func @f(%arg0: !dtc.tensor<2x3xf32>, %arg1: !dtc.tensor<3xf32>) {
  // expected-error@+1 {{rhs_dims must list 1 dimensions}}
  %0 = dtc.add %arg0, %arg1 {rhs_dims = array<i64: 0, 1>}
      : (!dtc.tensor<2x3xf32>, !dtc.tensor<3xf32>) -> !dtc.tensor<2x3xf32>
  return
}

// -----

// It is increasing.
func.func @f(%arg0: !dtc.tensor<2x3xf32>, %arg1: !dtc.tensor<3x2xf32>) {
  // expected-error@+1 {{rhs_dims must be increasing and below 2}}
  %0 = dtc.add %arg0, %arg1 {rhs_dims = array<i64: 1, 0>}
      : (!dtc.tensor<2x3xf32>, !dtc.tensor<3x2xf32>) -> !dtc.tensor<2x3xf32>
  return
}

// -----

// It is within the left operand's rank.
func.func @f(%arg0: !dtc.tensor<2x3xf32>, %arg1: !dtc.tensor<3xf32>) {
  // expected-error@+1 {{rhs_dims must be increasing and below 2}}
  %0 = dtc.add %arg0, %arg1 {rhs_dims = array<i64: 2>}
      : (!dtc.tensor<2x3xf32>, !dtc.tensor<3xf32>) -> !dtc.tensor<2x3xf32>
  return
}

// -----

// Not negative.
func.func @f(%arg0: !dtc.tensor<2x3xf32>, %arg1: !dtc.tensor<3xf32>) {
  // expected-error@+1 {{rhs_dims must be increasing and below 2}}
  %0 = dtc.add %arg0, %arg1 {rhs_dims = array<i64: -1>}
      : (!dtc.tensor<2x3xf32>, !dtc.tensor<3xf32>) -> !dtc.tensor<2x3xf32>
  return
}

// -----

// The right operand may not have the higher rank.
func.func @f(%arg0: !dtc.tensor<3xf32>, %arg1: !dtc.tensor<2x3xf32>) {
  // expected-error@+1 {{rhs_dims must list 2 dimensions}}
  %0 = dtc.add %arg0, %arg1 : (!dtc.tensor<3xf32>, !dtc.tensor<2x3xf32>) -> !dtc.tensor<2x3xf32>
  return
}

// -----

// Constraint 2: lengths.
func.func @f(%arg0: !dtc.tensor<2x3xf32>, %arg1: !dtc.tensor<2xf32>) {
  // expected-error@+1 {{dimension 0 of operand #1 is 2 but 'b' is 3 elsewhere}}
  %0 = dtc.add %arg0, %arg1 : (!dtc.tensor<2x3xf32>, !dtc.tensor<2xf32>) -> !dtc.tensor<2x3xf32>
  return
}

// -----

// Element types.
func.func @f(%arg0: !dtc.tensor<2x3xf32>, %arg1: !dtc.tensor<3xi32>) {
  // expected-error@+1 {{element types of operands and result differ}}
  %0 = dtc.add %arg0, %arg1 : (!dtc.tensor<2x3xf32>, !dtc.tensor<3xi32>) -> !dtc.tensor<2x3xf32>
  return
}

// -----

// Constraint 3: jointly linear. A bias that is added on every rank is added 4 times.
func.func @f(%arg0: !dtc.tensor<2x3xf32, partial{tp:4}>, %arg1: !dtc.tensor<3xf32, replicate{tp:4}>) {
  // expected-error@+1 {{on axis {tp:4}, which cuts no factor, the placements (partial, replicate -> partial) are illegal; legal are: all invariant; all replicate; partial in operands #0, #1 with every other operand replicate}}
  %0 = dtc.add %arg0, %arg1
      : (!dtc.tensor<2x3xf32, partial{tp:4}>, !dtc.tensor<3xf32, replicate{tp:4}>) -> !dtc.tensor<2x3xf32, partial{tp:4}>
  return
}

// -----

// A bias of a cut sum is replicate.
func.func @f(%arg0: !dtc.tensor<4{tp:4}x3xf32>, %arg1: !dtc.tensor<3xf32>) {
  // expected-error@+1 {{on axis {tp:4}, which cuts factor 'a', operand #1 is invariant but must be replicate}}
  %0 = dtc.add %arg0, %arg1 : (!dtc.tensor<4{tp:4}x3xf32>, !dtc.tensor<3xf32>) -> !dtc.tensor<4{tp:4}x3xf32>
  return
}
