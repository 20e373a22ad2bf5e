// Every constraint of dtc.vocab_pick, broken.
// RUN: dtc-opt %s -split-input-file -verify-diagnostics

// Constraint 1: shapes.
func.func @f(%arg0: !dtc.tensor<2x6x8xf32>, %arg1: !dtc.tensor<2x8xi32>) {
  // expected-error@+1 {{dimension 1 of operand #1 is 8 but 's' is 6 elsewhere}}
  %0 = dtc.vocab_pick %arg0, %arg1 : (!dtc.tensor<2x6x8xf32>, !dtc.tensor<2x8xi32>) -> !dtc.tensor<2x6xf32>
  return
}

// -----

// Labels are i32.
func.func @f(%arg0: !dtc.tensor<2x6x8xf32>, %arg1: !dtc.tensor<2x6xi64>) {
  // expected-error@+1 {{labels must be i32, but is 'i64'}}
  %0 = dtc.vocab_pick %arg0, %arg1 : (!dtc.tensor<2x6x8xf32>, !dtc.tensor<2x6xi64>) -> !dtc.tensor<2x6xf32>
  return
}

// -----

// Element types.
func.func @f(%arg0: !dtc.tensor<2x6x8xf32>, %arg1: !dtc.tensor<2x6xi32>) {
  // expected-error@+1 {{result #0 must have elements of type 'f32' beside 'f32', but has 'f64'}}
  %0 = dtc.vocab_pick %arg0, %arg1 : (!dtc.tensor<2x6x8xf32>, !dtc.tensor<2x6xi32>) -> !dtc.tensor<2x6xf64>
  return
}

// -----

// label_smoothing.
func.func @f(%arg0: !dtc.tensor<2x6x8xf32>, %arg1: !dtc.tensor<2x6xi32>) {
  // expected-error@+1 {{label_smoothing must be at least 0 and below 1, but is NaN}}
  %0 = dtc.vocab_pick %arg0, %arg1 {label_smoothing = 0x7FF8000000000000 : f64}
      : (!dtc.tensor<2x6x8xf32>, !dtc.tensor<2x6xi32>) -> !dtc.tensor<2x6xf32>
  return
}

// -----

// Constraint 2: the vocabulary is summed.
func.func @f(%arg0: !dtc.tensor<2x6x8{tp:4}xf32>, %arg1: !dtc.tensor<2x6xi32, replicate{tp:4}>) {
  // expected-error@+1 {{on axis {tp:4}, which cuts factor 'v', result #0 is invariant but must be partial}}
  %0 = dtc.vocab_pick %arg0, %arg1
      : (!dtc.tensor<2x6x8{tp:4}xf32>, !dtc.tensor<2x6xi32, replicate{tp:4}>) -> !dtc.tensor<2x6xf32>
  return
}

// -----

// Linear in the logits only.
func.func @f(%arg0: !dtc.tensor<2x6x8xf32, replicate{tp:4}>, %arg1: !dtc.tensor<2x6xi32, partial{tp:4}>) {
  // expected-error@+1 {{the placements (replicate, partial -> partial) are illegal}}
  %0 = dtc.vocab_pick %arg0, %arg1
      : (!dtc.tensor<2x6x8xf32, replicate{tp:4}>, !dtc.tensor<2x6xi32, partial{tp:4}>) -> !dtc.tensor<2x6xf32, partial{tp:4}>
  return
}
