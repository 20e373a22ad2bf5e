// Every constraint of dtc.embedding, broken.
// RUN: dtc-opt %s -split-input-file -verify-diagnostics

// Constraint 1: the table has rank 2.
func.func @f(%arg0: !dtc.tensor<9x4x1xf32>, %arg1: !dtc.tensor<2x3xi32>) {
  // expected-error@+1 {{operand #0 must have rank 2 but has rank 3}}
  %0 = dtc.embedding %arg0[%arg1] : (!dtc.tensor<9x4x1xf32>, !dtc.tensor<2x3xi32>) -> !dtc.tensor<2x3x4xf32>
  return
}

// -----

// The ids are i32.
func.func @f(%arg0: !dtc.tensor<9x4xf32>, %arg1: !dtc.tensor<2x3xi64>) {
  // expected-error@+1 {{ids must be i32, but is 'i64'}}
  %0 = dtc.embedding %arg0[%arg1] : (!dtc.tensor<9x4xf32>, !dtc.tensor<2x3xi64>) -> !dtc.tensor<2x3x4xf32>
  return
}

// -----

// The result has the ids' shape ...
func.func @f(%arg0: !dtc.tensor<9x4xf32>, %arg1: !dtc.tensor<2x3xi32>) {
  // expected-error@+1 {{dimension 1 of result #0 is 5 but 's' is 3 elsewhere}}
  %0 = dtc.embedding %arg0[%arg1] : (!dtc.tensor<9x4xf32>, !dtc.tensor<2x3xi32>) -> !dtc.tensor<2x5x4xf32>
  return
}

// -----

// ... and the table's second dimension ...
func.func @f(%arg0: !dtc.tensor<9x4xf32>, %arg1: !dtc.tensor<2x3xi32>) {
  // expected-error@+1 {{dimension 2 of result #0 is 9 but 'e' is 4 elsewhere}}
  %0 = dtc.embedding %arg0[%arg1] : (!dtc.tensor<9x4xf32>, !dtc.tensor<2x3xi32>) -> !dtc.tensor<2x3x9xf32>
  return
}

// -----

// ... and element type.
func.func @f(%arg0: !dtc.tensor<9x4xf32>, %arg1: !dtc.tensor<2x3xi32>) {
  // expected-error@+1 {{float element types differ: 'f32' and 'bf16'}}
  %0 = dtc.embedding %arg0[%arg1] : (!dtc.tensor<9x4xf32>, !dtc.tensor<2x3xi32>) -> !dtc.tensor<2x3x4xbf16>
  return
}

// -----

// Constraint 2: cut rows give a sum.
func.func @f(%arg0: !dtc.tensor<8{tp:4}x4xf32>, %arg1: !dtc.tensor<2x3xi32, replicate{tp:4}>) {
  // expected-error@+1 {{on axis {tp:4}, which cuts factor 'v', result #0 is invariant but must be partial}}
  %0 = dtc.embedding %arg0[%arg1]
      : (!dtc.tensor<8{tp:4}x4xf32>, !dtc.tensor<2x3xi32, replicate{tp:4}>) -> !dtc.tensor<2x3x4xf32>
  return
}

// -----

// Ids are passed through f.
func.func @f(%arg0: !dtc.tensor<8{tp:4}x4xf32>, %arg1: !dtc.tensor<2x3xi32>) {
  // expected-error@+1 {{on axis {tp:4}, which cuts factor 'v', operand #1 is invariant but must be replicate}}
  %0 = dtc.embedding %arg0[%arg1]
      : (!dtc.tensor<8{tp:4}x4xf32>, !dtc.tensor<2x3xi32>) -> !dtc.tensor<2x3x4xf32, partial{tp:4}>
  return
}

// -----

// Linear in the table only.
func.func @f(%arg0: !dtc.tensor<8x4xf32, replicate{tp:4}>, %arg1: !dtc.tensor<2x3xi32, partial{tp:4}>) {
  // expected-error@+1 {{the placements (replicate, partial -> partial) are illegal}}
  %0 = dtc.embedding %arg0[%arg1]
      : (!dtc.tensor<8x4xf32, replicate{tp:4}>, !dtc.tensor<2x3xi32, partial{tp:4}>) -> !dtc.tensor<2x3x4xf32, partial{tp:4}>
  return
}
