// Every constraint of dtc.vocab_max, broken.
// RUN: dtc-opt %s -split-input-file -verify-diagnostics

// Constraint 1: shapes.
func.func @f(%arg0: !dtc.tensor<2x6x8xf32>) {
  // expected-error@+1 {{dimension 1 of result #0 is 8 but 's' is 6 elsewhere}}
  %0 = dtc.vocab_max %arg0 : (!dtc.tensor<2x6x8xf32>) -> !dtc.tensor<2x8xf32>
  return
}

// -----

// Logits have rank 3.
func.func @f(%arg0: !dtc.tensor<6x8xf32>) {
  // expected-error@+1 {{operand #0 must have rank 3 but has rank 2}}
  %0 = dtc.vocab_max %arg0 : (!dtc.tensor<6x8xf32>) -> !dtc.tensor<6xf32>
  return
}

// -----

// Element types.
func.func @f(%arg0: !dtc.tensor<2x6x8xf32>) {
  // expected-error@+1 {{result #0 must have elements of type 'f32' beside 'f32', but has 'f64'}}
  %0 = dtc.vocab_max %arg0 : (!dtc.tensor<2x6x8xf32>) -> !dtc.tensor<2x6xf64>
  return
}

// -----

// Constraint 2: over a cut vocabulary the result is a maximum, not a sum.
func.func @f(%arg0: !dtc.tensor<2x6x8{tp:4}xf32>) {
  // expected-error@+1 {{on axis {tp:4}, which cuts factor 'v', result #0 is partial but must be max}}
  %0 = dtc.vocab_max %arg0 : (!dtc.tensor<2x6x8{tp:4}xf32>) -> !dtc.tensor<2x6xf32, partial{tp:4}>
  return
}

// -----

// A sum has no maximum.
func.func @f(%arg0: !dtc.tensor<2x6x8xf32, partial{tp:4}>) {
  // expected-error@+1 {{the placements (partial -> partial) are illegal}}
  %0 = dtc.vocab_max %arg0 : (!dtc.tensor<2x6x8xf32, partial{tp:4}>) -> !dtc.tensor<2x6xf32, partial{tp:4}>
  return
}
