// Every constraint of dtc.einsum, broken.
// RUN: dtc-opt %s -split-input-file -verify-diagnostics

// Constraint 1: the form.
func.func @f(%arg0: !dtc.tensor<2x3xf32>, %arg1: !dtc.tensor<3x4xf32>) {
  // expected-error@+1 {{equation must have the form LHS,RHS->OUT, but is 'ab,bc'}}
  %0 = dtc.einsum "ab,bc"(%arg0, %arg1) : (!dtc.tensor<2x3xf32>, !dtc.tensor<3x4xf32>) -> !dtc.tensor<2x4xf32>
  return
}

// -----

// Two commas.
func.func @f(%arg0: !dtc.tensor<2xf32>, %arg1: !dtc.tensor<3xf32>) {
  // expected-error@+1 {{equation must have the form LHS,RHS->OUT, but is 'a,b,c->a'}}
  %0 = dtc.einsum "a,b,c->a"(%arg0, %arg1) : (!dtc.tensor<2xf32>, !dtc.tensor<3xf32>) -> !dtc.tensor<2xf32>
  return
}

// -----

// Lower-case letters only.
func.func @f(%arg0: !dtc.tensor<2x3xf32>, %arg1: !dtc.tensor<3x4xf32>) {
  // expected-error@+1 {{equation has letters a to z only, not 'B'}}
  %0 = dtc.einsum "aB,Bc->ac"(%arg0, %arg1) : (!dtc.tensor<2x3xf32>, !dtc.tensor<3x4xf32>) -> !dtc.tensor<2x4xf32>
  return
}

// -----

// A comma on the right.
func.func @f(%arg0: !dtc.tensor<2x3xf32>, %arg1: !dtc.tensor<3x4xf32>) {
  // expected-error@+1 {{equation has letters a to z only, not ','}}
  %0 = dtc.einsum "ab->b,c"(%arg0, %arg1) : (!dtc.tensor<2x3xf32>, !dtc.tensor<3x4xf32>) -> !dtc.tensor<2x4xf32>
  return
}

// -----

// Constraint 2: no diagonals.
func.func @f(%arg0: !dtc.tensor<2x2xf32>, %arg1: !dtc.tensor<2x3xf32>) {
  // expected-error@+1 {{letter 'a' stands twice in 'aa'}}
  %0 = dtc.einsum "aa,ab->b"(%arg0, %arg1) : (!dtc.tensor<2x2xf32>, !dtc.tensor<2x3xf32>) -> !dtc.tensor<3xf32>
  return
}

// -----

// Every letter of the result stands in an operand.
func.func @f(%arg0: !dtc.tensor<2x3xf32>, %arg1: !dtc.tensor<3x4xf32>) {
  // expected-error@+1 {{letter 'd' of the result is in no operand}}
  %0 = dtc.einsum "ab,bc->ad"(%arg0, %arg1) : (!dtc.tensor<2x3xf32>, !dtc.tensor<3x4xf32>) -> !dtc.tensor<2x5xf32>
  return
}

// -----

// Constraint 3: ranks.
func.func @f(%arg0: !dtc.tensor<2x3x1xf32>, %arg1: !dtc.tensor<3x4xf32>) {
  // expected-error@+1 {{operand #0 must have rank 2 but has rank 3}}
  %0 = dtc.einsum "ab,bc->ac"(%arg0, %arg1) : (!dtc.tensor<2x3x1xf32>, !dtc.tensor<3x4xf32>) -> !dtc.tensor<2x4xf32>
  return
}

// -----

// Lengths.
func.func @f(%arg0: !dtc.tensor<2x3xf32>, %arg1: !dtc.tensor<5x4xf32>) {
  // expected-error@+1 {{dimension 0 of operand #1 is 5 but 'b' is 3 elsewhere}}
  %0 = dtc.einsum "ab,bc->ac"(%arg0, %arg1) : (!dtc.tensor<2x3xf32>, !dtc.tensor<5x4xf32>) -> !dtc.tensor<2x4xf32>
  return
}

// -----

// Element types.
func.func @f(%arg0: !dtc.tensor<2x3xf32>, %arg1: !dtc.tensor<3x4xf64>) {
  // expected-error@+1 {{element types of operands and result differ}}
  %0 = dtc.einsum "ab,bc->ac"(%arg0, %arg1) : (!dtc.tensor<2x3xf32>, !dtc.tensor<3x4xf64>) -> !dtc.tensor<2x4xf32>
  return
}

// -----

// Constraint 4: a letter is cut alike in all values.
func.func @f(%arg0: !dtc.tensor<4{tp:4}x4xf32>, %arg1: !dtc.tensor<4x4xf32>) {
  // expected-error@+1 {{factor 'a' is cut by {tp:4} in one value and by {} in result #0}}
  %0 = dtc.einsum "ab,bc->ac"(%arg0, %arg1) : (!dtc.tensor<4{tp:4}x4xf32>, !dtc.tensor<4x4xf32>) -> !dtc.tensor<4x4xf32>
  return
}

// -----

// An operand that lacks a cut letter is replicate: its gradient is a sum.
func.func @f(%arg0: !dtc.tensor<4{tp:4}x4xf32>, %arg1: !dtc.tensor<4x4xf32>) {
  // expected-error@+1 {{on axis {tp:4}, which cuts factor 'a', operand #1 is invariant but must be replicate}}
  %0 = dtc.einsum "ab,bc->ac"(%arg0, %arg1)
      : (!dtc.tensor<4{tp:4}x4xf32>, !dtc.tensor<4x4xf32>) -> !dtc.tensor<4{tp:4}x4xf32>
  return
}

// -----

// A cut letter that is summed leaves a partial result.
func.func @f(%arg0: !dtc.tensor<4x4{tp:4}xf32>, %arg1: !dtc.tensor<4{tp:4}x4xf32>) {
  // expected-error@+1 {{on axis {tp:4}, which cuts factor 'b', result #0 is invariant but must be partial}}
  %0 = dtc.einsum "ab,bc->ac"(%arg0, %arg1)
      : (!dtc.tensor<4x4{tp:4}xf32>, !dtc.tensor<4{tp:4}x4xf32>) -> !dtc.tensor<4x4xf32>
  return
}

// -----

// Linear in each operand, not in both at once.
func.func @f(%arg0: !dtc.tensor<4x4xf32, partial{tp:4}>, %arg1: !dtc.tensor<4x4xf32, partial{tp:4}>) {
  // expected-error@+1 {{on axis {tp:4}, which cuts no factor, the placements (partial, partial -> partial) are illegal; legal are: all invariant; all replicate; partial in operand #0 with every other operand replicate; partial in operand #1 with every other operand replicate}}
  %0 = dtc.einsum "ab,bc->ac"(%arg0, %arg1)
      : (!dtc.tensor<4x4xf32, partial{tp:4}>, !dtc.tensor<4x4xf32, partial{tp:4}>) -> !dtc.tensor<4x4xf32, partial{tp:4}>
  return
}

// -----

// One axis cuts two letters.
func.func @f(%arg0: !dtc.tensor<4{tp:4}x4xf32>, %arg1: !dtc.tensor<4{tp:4}x4xf32>) {
  // expected-error@+1 {{axis {tp:4} cuts several factors: 'ac'}}
  %0 = dtc.einsum "ab,cd->bd"(%arg0, %arg1)
      : (!dtc.tensor<4{tp:4}x4xf32>, !dtc.tensor<4{tp:4}x4xf32>) -> !dtc.tensor<4x4xf32, partial{tp:4}>
  return
}
