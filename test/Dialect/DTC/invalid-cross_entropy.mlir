// Every constraint of dtc.cross_entropy, broken.
// RUN: dtc-opt %s -split-input-file -verify-diagnostics

// Constraint 1: logits have rank 3.
func.func @f(%arg0: !dtc.tensor<2x8xf32>, %arg1: !dtc.tensor<2xi32>) {
  // expected-error@+1 {{operand #0 must have rank 3 but has rank 2}}
  %0:2 = dtc.cross_entropy %arg0, %arg1
      : (!dtc.tensor<2x8xf32>, !dtc.tensor<2xi32>) -> (!dtc.tensor<f32>, !dtc.tensor<2xf32>)
  return
}

// -----

// Labels are i32.
func.func @f(%arg0: !dtc.tensor<2x6x8xf32>, %arg1: !dtc.tensor<2x6xi64>) {
  // expected-error@+1 {{labels must be i32, but is 'i64'}}
  %0:2 = dtc.cross_entropy %arg0, %arg1
      : (!dtc.tensor<2x6x8xf32>, !dtc.tensor<2x6xi64>) -> (!dtc.tensor<f32>, !dtc.tensor<2x6xf32>)
  return
}

// -----

// Labels have the first two dimensions.
func.func @f(%arg0: !dtc.tensor<2x6x8xf32>, %arg1: !dtc.tensor<2x8xi32>) {
  // expected-error@+1 {{dimension 1 of operand #1 is 8 but 's' is 6 elsewhere}}
  %0:2 = dtc.cross_entropy %arg0, %arg1
      : (!dtc.tensor<2x6x8xf32>, !dtc.tensor<2x8xi32>) -> (!dtc.tensor<f32>, !dtc.tensor<2x6xf32>)
  return
}

// -----

// The loss is a scalar.
func.func @f(%arg0: !dtc.tensor<2x6x8xf32>, %arg1: !dtc.tensor<2x6xi32>) {
  // expected-error@+1 {{result #0 must have rank 0 but has rank 1}}
  %0:2 = dtc.cross_entropy %arg0, %arg1
      : (!dtc.tensor<2x6x8xf32>, !dtc.tensor<2x6xi32>) -> (!dtc.tensor<1xf32>, !dtc.tensor<2x6xf32>)
  return
}

// -----

// The log-sum-exp has the labels' shape.
func.func @f(%arg0: !dtc.tensor<2x6x8xf32>, %arg1: !dtc.tensor<2x6xi32>) {
  // expected-error@+1 {{dimension 1 of result #1 is 8 but 's' is 6 elsewhere}}
  %0:2 = dtc.cross_entropy %arg0, %arg1
      : (!dtc.tensor<2x6x8xf32>, !dtc.tensor<2x6xi32>) -> (!dtc.tensor<f32>, !dtc.tensor<2x8xf32>)
  return
}

// -----

// Element types.
func.func @f(%arg0: !dtc.tensor<2x6x8xf32>, %arg1: !dtc.tensor<2x6xi32>) {
  // expected-error@+1 {{float element types differ: 'f64' and 'f32'}}
  %0:2 = dtc.cross_entropy %arg0, %arg1
      : (!dtc.tensor<2x6x8xf32>, !dtc.tensor<2x6xi32>) -> (!dtc.tensor<f64>, !dtc.tensor<2x6xf32>)
  return
}

// -----

// Constraint 2: label_smoothing is below 1.
func.func @f(%arg0: !dtc.tensor<2x6x8xf32>, %arg1: !dtc.tensor<2x6xi32>) {
  // expected-error@+1 {{label_smoothing must be at least 0 and below 1, but is 1}}
  %0:2 = dtc.cross_entropy %arg0, %arg1 {label_smoothing = 1.0 : f64}
      : (!dtc.tensor<2x6x8xf32>, !dtc.tensor<2x6xi32>) -> (!dtc.tensor<f32>, !dtc.tensor<2x6xf32>)
  return
}

// -----

// It is not negative.
func.func @f(%arg0: !dtc.tensor<2x6x8xf32>, %arg1: !dtc.tensor<2x6xi32>) {
  // expected-error@+1 {{label_smoothing must be at least 0 and below 1, but is -0.25}}
  %0:2 = dtc.cross_entropy %arg0, %arg1 {label_smoothing = -0.25 : f64}
      : (!dtc.tensor<2x6x8xf32>, !dtc.tensor<2x6xi32>) -> (!dtc.tensor<f32>, !dtc.tensor<2x6xf32>)
  return
}

// -----

// Constraint 3: the loss of cut rows is a sum.
func.func @f(%arg0: !dtc.tensor<4{tp:4}x6x8xf32>, %arg1: !dtc.tensor<4{tp:4}x6xi32>) {
  // expected-error@+1 {{on axis {tp:4}, which cuts factor 'b', result #0 is invariant but must be partial}}
  %0:2 = dtc.cross_entropy %arg0, %arg1
      : (!dtc.tensor<4{tp:4}x6x8xf32>, !dtc.tensor<4{tp:4}x6xi32>) -> (!dtc.tensor<f32>, !dtc.tensor<4{tp:4}x6xf32>)
  return
}

// -----

// Over a cut vocabulary the op communicates: the loss is one value.
func.func @f(%arg0: !dtc.tensor<2x6x8{tp:4}xf32>, %arg1: !dtc.tensor<2x6xi32, replicate{tp:4}>) {
  // expected-error@+1 {{on axis {tp:4}, which cuts factor 'v', result #0 is partial but must be invariant}}
  %0:2 = dtc.cross_entropy %arg0, %arg1
      : (!dtc.tensor<2x6x8{tp:4}xf32>, !dtc.tensor<2x6xi32, replicate{tp:4}>) -> (!dtc.tensor<f32, partial{tp:4}>, !dtc.tensor<2x6xf32>)
  return
}

// -----

// Linear in nothing.
func.func @f(%arg0: !dtc.tensor<2x6x8xf32, partial{tp:4}>, %arg1: !dtc.tensor<2x6xi32, replicate{tp:4}>) {
  // expected-error@+1 {{the placements (partial, replicate -> partial, partial) are illegal; legal are: all invariant; all replicate}}
  %0:2 = dtc.cross_entropy %arg0, %arg1
      : (!dtc.tensor<2x6x8xf32, partial{tp:4}>, !dtc.tensor<2x6xi32, replicate{tp:4}>) -> (!dtc.tensor<f32, partial{tp:4}>, !dtc.tensor<2x6xf32, partial{tp:4}>)
  return
}
