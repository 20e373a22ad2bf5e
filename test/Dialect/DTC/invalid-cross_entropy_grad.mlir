// Every constraint of dtc.cross_entropy_grad, broken.
// RUN: dtc-opt %s -split-input-file -verify-diagnostics

// Constraint 1: shapes as in cross_entropy.
func.func @f(%arg0: !dtc.tensor<2x6x8xf32>, %arg1: !dtc.tensor<2x6xi32>, %arg2: !dtc.tensor<2x8xf32>, %arg3: !dtc.tensor<f32>) {
  // expected-error@+1 {{dimension 1 of operand #2 is 8 but 's' is 6 elsewhere}}
  %0 = dtc.cross_entropy_grad %arg0, %arg1, %arg2, %arg3
      : (!dtc.tensor<2x6x8xf32>, !dtc.tensor<2x6xi32>, !dtc.tensor<2x8xf32>, !dtc.tensor<f32>) -> !dtc.tensor<2x6x8xf32>
  return
}

// -----

// dloss is a scalar.
func.func @f(%arg0: !dtc.tensor<2x6x8xf32>, %arg1: !dtc.tensor<2x6xi32>, %arg2: !dtc.tensor<2x6xf32>, %arg3: !dtc.tensor<2x6xf32>) {
  // expected-error@+1 {{operand #3 must have rank 0 but has rank 2}}
  %0 = dtc.cross_entropy_grad %arg0, %arg1, %arg2, %arg3
      : (!dtc.tensor<2x6x8xf32>, !dtc.tensor<2x6xi32>, !dtc.tensor<2x6xf32>, !dtc.tensor<2x6xf32>) -> !dtc.tensor<2x6x8xf32>
  return
}

// -----

// Labels are i32.
func.func @f(%arg0: !dtc.tensor<2x6x8xf32>, %arg1: !dtc.tensor<2x6xi64>, %arg2: !dtc.tensor<2x6xf32>, %arg3: !dtc.tensor<f32>) {
  // expected-error@+1 {{labels must be i32, but is 'i64'}}
  %0 = dtc.cross_entropy_grad %arg0, %arg1, %arg2, %arg3
      : (!dtc.tensor<2x6x8xf32>, !dtc.tensor<2x6xi64>, !dtc.tensor<2x6xf32>, !dtc.tensor<f32>) -> !dtc.tensor<2x6x8xf32>
  return
}

// -----

// Element types.
func.func @f(%arg0: !dtc.tensor<2x6x8xf32>, %arg1: !dtc.tensor<2x6xi32>, %arg2: !dtc.tensor<2x6xf64>, %arg3: !dtc.tensor<f32>) {
  // expected-error@+1 {{float element types differ: 'f64' and 'f32'}}
  %0 = dtc.cross_entropy_grad %arg0, %arg1, %arg2, %arg3
      : (!dtc.tensor<2x6x8xf32>, !dtc.tensor<2x6xi32>, !dtc.tensor<2x6xf64>, !dtc.tensor<f32>) -> !dtc.tensor<2x6x8xf32>
  return
}

// -----

// label_smoothing.
func.func @f(%arg0: !dtc.tensor<2x6x8xf32>, %arg1: !dtc.tensor<2x6xi32>, %arg2: !dtc.tensor<2x6xf32>, %arg3: !dtc.tensor<f32>) {
  // expected-error@+1 {{label_smoothing must be at least 0 and below 1, but is 1.5}}
  %0 = dtc.cross_entropy_grad %arg0, %arg1, %arg2, %arg3 {label_smoothing = 1.5 : f64}
      : (!dtc.tensor<2x6x8xf32>, !dtc.tensor<2x6xi32>, !dtc.tensor<2x6xf32>, !dtc.tensor<f32>) -> !dtc.tensor<2x6x8xf32>
  return
}

// -----

// Constraint 2: the saved log-sum-exp of a cut vocabulary is passed through f.
func.func @f(%arg0: !dtc.tensor<2x6x8{tp:4}xf32>, %arg1: !dtc.tensor<2x6xi32, replicate{tp:4}>, %arg2: !dtc.tensor<2x6xf32>, %arg3: !dtc.tensor<f32, replicate{tp:4}>) {
  // expected-error@+1 {{on axis {tp:4}, which cuts factor 'v', operand #2 is invariant but must be replicate}}
  %0 = dtc.cross_entropy_grad %arg0, %arg1, %arg2, %arg3
      : (!dtc.tensor<2x6x8{tp:4}xf32>, !dtc.tensor<2x6xi32, replicate{tp:4}>, !dtc.tensor<2x6xf32>, !dtc.tensor<f32, replicate{tp:4}>) -> !dtc.tensor<2x6x8{tp:4}xf32>
  return
}

// -----

// Linear in dloss only.
func.func @f(%arg0: !dtc.tensor<2x6x8xf32, partial{tp:4}>, %arg1: !dtc.tensor<2x6xi32, replicate{tp:4}>, %arg2: !dtc.tensor<2x6xf32, replicate{tp:4}>, %arg3: !dtc.tensor<f32, replicate{tp:4}>) {
  // expected-error@+1 {{the placements (partial, replicate, replicate, replicate -> partial) are illegal}}
  %0 = dtc.cross_entropy_grad %arg0, %arg1, %arg2, %arg3
      : (!dtc.tensor<2x6x8xf32, partial{tp:4}>, !dtc.tensor<2x6xi32, replicate{tp:4}>, !dtc.tensor<2x6xf32, replicate{tp:4}>, !dtc.tensor<f32, replicate{tp:4}>) -> !dtc.tensor<2x6x8xf32, partial{tp:4}>
  return
}
