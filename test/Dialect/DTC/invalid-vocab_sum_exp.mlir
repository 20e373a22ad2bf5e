// Every constraint of dtc.vocab_sum_exp, broken.
// RUN: dtc-opt %s -split-input-file -verify-diagnostics

// Constraint 1: shapes.
func.func @f(%arg0: !dtc.tensor<2x6x8xf32>, %arg1: !dtc.tensor<2x8xf32>) {
  // expected-error@+1 {{dimension 1 of operand #1 is 8 but 's' is 6 elsewhere}}
  %0 = dtc.vocab_sum_exp %arg0, %arg1 : (!dtc.tensor<2x6x8xf32>, !dtc.tensor<2x8xf32>) -> !dtc.tensor<2x6xf32>
  return
}

// -----

// Element types.
func.func @f(%arg0: !dtc.tensor<2x6x8xf32>, %arg1: !dtc.tensor<2x6xf64>) {
  // expected-error@+1 {{float element types differ: 'f64' and 'f32'}}
  %0 = dtc.vocab_sum_exp %arg0, %arg1 : (!dtc.tensor<2x6x8xf32>, !dtc.tensor<2x6xf64>) -> !dtc.tensor<2x6xf32>
  return
}

// -----

// Constraint 2: the vocabulary is summed.
func.func @f(%arg0: !dtc.tensor<2x6x8{tp:4}xf32>, %arg1: !dtc.tensor<2x6xf32, replicate{tp:4}>) {
  // expected-error@+1 {{on axis {tp:4}, which cuts factor 'v', result #0 is invariant but must be partial}}
  %0 = dtc.vocab_sum_exp %arg0, %arg1
      : (!dtc.tensor<2x6x8{tp:4}xf32>, !dtc.tensor<2x6xf32, replicate{tp:4}>) -> !dtc.tensor<2x6xf32>
  return
}

// -----

// A maximum is reduced before it is a shift.
func.func @f(%arg0: !dtc.tensor<2x6x8{tp:4}xf32>, %arg1: !dtc.tensor<2x6xf32, max{tp:4}>) {
  // expected-error@+1 {{on axis {tp:4}, which cuts factor 'v', operand #1 is max but must be replicate}}
  %0 = dtc.vocab_sum_exp %arg0, %arg1
      : (!dtc.tensor<2x6x8{tp:4}xf32>, !dtc.tensor<2x6xf32, max{tp:4}>) -> !dtc.tensor<2x6xf32, partial{tp:4}>
  return
}
