// Every constraint of dtc.embedding_grad, broken.
// RUN: dtc-opt %s -split-input-file -verify-diagnostics

// Constraint 1: the ids are i32.
func.func @f(%arg0: !dtc.tensor<2x3xi64>, %arg1: !dtc.tensor<2x3x4xf32>) {
  // expected-error@+1 {{ids must be i32, but is 'i64'}}
  %0 = dtc.embedding_grad %arg0, %arg1 : (!dtc.tensor<2x3xi64>, !dtc.tensor<2x3x4xf32>) -> !dtc.tensor<9x4xf32>
  return
}

// -----

// dx has their shape ...
func.func @f(%arg0: !dtc.tensor<2x3xi32>, %arg1: !dtc.tensor<2x5x4xf32>) {
  // expected-error@+1 {{dimension 1 of operand #1 is 5 but 's' is 3 elsewhere}}
  %0 = dtc.embedding_grad %arg0, %arg1 : (!dtc.tensor<2x3xi32>, !dtc.tensor<2x5x4xf32>) -> !dtc.tensor<9x4xf32>
  return
}

// -----

// ... and one dimension more ...
func.func @f(%arg0: !dtc.tensor<2x3xi32>, %arg1: !dtc.tensor<2x3xf32>) {
  // expected-error@+1 {{operand #1 must have rank 3 but has rank 2}}
  %0 = dtc.embedding_grad %arg0, %arg1 : (!dtc.tensor<2x3xi32>, !dtc.tensor<2x3xf32>) -> !dtc.tensor<9x4xf32>
  return
}

// -----

// ... which is dtable's second.
func.func @f(%arg0: !dtc.tensor<2x3xi32>, %arg1: !dtc.tensor<2x3x4xf32>) {
  // expected-error@+1 {{dimension 1 of result #0 is 9 but 'e' is 4 elsewhere}}
  %0 = dtc.embedding_grad %arg0, %arg1 : (!dtc.tensor<2x3xi32>, !dtc.tensor<2x3x4xf32>) -> !dtc.tensor<4x9xf32>
  return
}

// -----

// Element types.
func.func @f(%arg0: !dtc.tensor<2x3xi32>, %arg1: !dtc.tensor<2x3x4xf32>) {
  // expected-error@+1 {{float element types differ: 'f32' and 'f64'}}
  %0 = dtc.embedding_grad %arg0, %arg1 : (!dtc.tensor<2x3xi32>, !dtc.tensor<2x3x4xf32>) -> !dtc.tensor<9x4xf64>
  return
}

// -----

// Constraint 2: cut ids give a sum.
func.func @f(%arg0: !dtc.tensor<4{tp:4}x3xi32>, %arg1: !dtc.tensor<4{tp:4}x3x4xf32>) {
  // expected-error@+1 {{on axis {tp:4}, which cuts factor 'b', result #0 is invariant but must be partial}}
  %0 = dtc.embedding_grad %arg0, %arg1
      : (!dtc.tensor<4{tp:4}x3xi32>, !dtc.tensor<4{tp:4}x3x4xf32>) -> !dtc.tensor<9x4xf32>
  return
}

// -----

// Linear in dx only.
func.func @f(%arg0: !dtc.tensor<2x3xi32, partial{tp:4}>, %arg1: !dtc.tensor<2x3x4xf32, replicate{tp:4}>) {
  // expected-error@+1 {{the placements (partial, replicate -> partial) are illegal}}
  %0 = dtc.embedding_grad %arg0, %arg1
      : (!dtc.tensor<2x3xi32, partial{tp:4}>, !dtc.tensor<2x3x4xf32, replicate{tp:4}>) -> !dtc.tensor<9x4xf32, partial{tp:4}>
  return
}
