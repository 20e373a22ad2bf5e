// Every constraint of dtc.attention, broken.
// RUN: dtc-opt %s -split-input-file -verify-diagnostics

// Constraint 1: ranks.
func.func @f(%arg0: !dtc.tensor<2x6x4x8xf32>, %arg1: !dtc.tensor<2x6x16xf32>, %arg2: !dtc.tensor<2x6x2x8xf32>, %arg3: !dtc.tensor<6xi32>, %arg4: !dtc.tensor<6xi32>) {
  // expected-error@+1 {{operand #1 must have rank 4 but has rank 3}}
  %0:2 = dtc.attention %arg0, %arg1, %arg2 at %arg3, %arg4 {scale = 2.5e-1 : f64}
      : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x16xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<6xi32>, !dtc.tensor<6xi32>) -> (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x4xf32>)
  return
}

// -----

// Lengths: v has k's shape.
func.func @f(%arg0: !dtc.tensor<2x6x4x8xf32>, %arg1: !dtc.tensor<2x6x2x8xf32>, %arg2: !dtc.tensor<2x5x2x8xf32>, %arg3: !dtc.tensor<6xi32>, %arg4: !dtc.tensor<6xi32>) {
  // expected-error@+1 {{dimension 1 of operand #2 is 5 but 't' is 6 elsewhere}}
  %0:2 = dtc.attention %arg0, %arg1, %arg2 at %arg3, %arg4 {scale = 2.5e-1 : f64}
      : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<2x5x2x8xf32>, !dtc.tensor<6xi32>, !dtc.tensor<6xi32>) -> (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x4xf32>)
  return
}

// -----

// Lengths: the output has q's shape.
func.func @f(%arg0: !dtc.tensor<2x6x4x8xf32>, %arg1: !dtc.tensor<2x6x2x8xf32>, %arg2: !dtc.tensor<2x6x2x8xf32>, %arg3: !dtc.tensor<6xi32>, %arg4: !dtc.tensor<6xi32>) {
  // expected-error@+1 {{dimension 3 of result #0 is 4 but 'd' is 8 elsewhere}}
  %0:2 = dtc.attention %arg0, %arg1, %arg2 at %arg3, %arg4 {scale = 2.5e-1 : f64}
      : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<6xi32>, !dtc.tensor<6xi32>) -> (!dtc.tensor<2x6x4x4xf32>, !dtc.tensor<2x6x4xf32>)
  return
}

// -----

// Lengths: the log-sum-exp has its rows.
func.func @f(%arg0: !dtc.tensor<2x6x4x8xf32>, %arg1: !dtc.tensor<2x6x2x8xf32>, %arg2: !dtc.tensor<2x6x2x8xf32>, %arg3: !dtc.tensor<6xi32>, %arg4: !dtc.tensor<6xi32>) {
  // expected-error@+1 {{dimension 2 of result #1 is 2 but 'gm' is 4 elsewhere}}
  %0:2 = dtc.attention %arg0, %arg1, %arg2 at %arg3, %arg4 {scale = 2.5e-1 : f64}
      : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<6xi32>, !dtc.tensor<6xi32>) -> (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x2xf32>)
  return
}

// -----

// Element types.
func.func @f(%arg0: !dtc.tensor<2x6x4x8xf32>, %arg1: !dtc.tensor<2x6x2x8xf32>, %arg2: !dtc.tensor<2x6x2x8xf32>, %arg3: !dtc.tensor<6xi32>, %arg4: !dtc.tensor<6xi32>) {
  // expected-error@+1 {{result #1 must have elements of type 'f32' beside 'f32', but has 'f64'}}
  %0:2 = dtc.attention %arg0, %arg1, %arg2 at %arg3, %arg4 {scale = 2.5e-1 : f64}
      : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<6xi32>, !dtc.tensor<6xi32>) -> (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x4xf64>)
  return
}

// -----

// Key/value heads divide query heads.
func.func @f(%arg0: !dtc.tensor<2x6x4x8xf32>, %arg1: !dtc.tensor<2x6x3x8xf32>, %arg2: !dtc.tensor<2x6x3x8xf32>, %arg3: !dtc.tensor<6xi32>, %arg4: !dtc.tensor<6xi32>) {
  // expected-error@+1 {{3 key/value heads do not divide 4 query heads}}
  %0:2 = dtc.attention %arg0, %arg1, %arg2 at %arg3, %arg4 {scale = 2.5e-1 : f64}
      : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x3x8xf32>, !dtc.tensor<2x6x3x8xf32>, !dtc.tensor<6xi32>, !dtc.tensor<6xi32>) -> (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x4xf32>)
  return
}

// -----

// Fewer query heads than key/value heads.
func.func @f(%arg0: !dtc.tensor<2x6x2x8xf32>, %arg1: !dtc.tensor<2x6x4x8xf32>, %arg2: !dtc.tensor<2x6x4x8xf32>, %arg3: !dtc.tensor<6xi32>, %arg4: !dtc.tensor<6xi32>) {
  // expected-error@+1 {{4 key/value heads do not divide 2 query heads}}
  %0:2 = dtc.attention %arg0, %arg1, %arg2 at %arg3, %arg4 {scale = 2.5e-1 : f64}
      : (!dtc.tensor<2x6x2x8xf32>, !dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x4x8xf32>, !dtc.tensor<6xi32>, !dtc.tensor<6xi32>) -> (!dtc.tensor<2x6x2x8xf32>, !dtc.tensor<2x6x2xf32>)
  return
}

// -----

// Positions are i32.
func.func @f(%arg0: !dtc.tensor<2x6x4x8xf32>, %arg1: !dtc.tensor<2x6x2x8xf32>, %arg2: !dtc.tensor<2x6x2x8xf32>, %arg3: !dtc.tensor<6xi32>, %arg4: !dtc.tensor<6xi64>) {
  // expected-error@+1 {{positions must be i32, but is 'i64'}}
  %0:2 = dtc.attention %arg0, %arg1, %arg2 at %arg3, %arg4 {scale = 2.5e-1 : f64}
      : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<6xi32>, !dtc.tensor<6xi64>) -> (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x4xf32>)
  return
}

// -----

// Both positions have the batch, or neither.
func.func @f(%arg0: !dtc.tensor<2x6x4x8xf32>, %arg1: !dtc.tensor<2x6x2x8xf32>, %arg2: !dtc.tensor<2x6x2x8xf32>, %arg3: !dtc.tensor<6xi32>, %arg4: !dtc.tensor<2x6xi32>) {
  // expected-error@+1 {{positions of queries and keys must both have rank 1 or both rank 2, but have ranks 1 and 2}}
  %0:2 = dtc.attention %arg0, %arg1, %arg2 at %arg3, %arg4 {scale = 2.5e-1 : f64}
      : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<6xi32>, !dtc.tensor<2x6xi32>) -> (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x4xf32>)
  return
}

// -----

// No other ranks.
func.func @f(%arg0: !dtc.tensor<2x6x4x8xf32>, %arg1: !dtc.tensor<2x6x2x8xf32>, %arg2: !dtc.tensor<2x6x2x8xf32>, %arg3: !dtc.tensor<i32>, %arg4: !dtc.tensor<i32>) {
  // expected-error@+1 {{positions of queries and keys must both have rank 1 or both rank 2, but have ranks 0 and 0}}
  %0:2 = dtc.attention %arg0, %arg1, %arg2 at %arg3, %arg4 {scale = 2.5e-1 : f64}
      : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<i32>, !dtc.tensor<i32>) -> (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x4xf32>)
  return
}

// -----

// Positions have the sequence's length.
func.func @f(%arg0: !dtc.tensor<2x6x4x8xf32>, %arg1: !dtc.tensor<2x6x2x8xf32>, %arg2: !dtc.tensor<2x6x2x8xf32>, %arg3: !dtc.tensor<5xi32>, %arg4: !dtc.tensor<6xi32>) {
  // expected-error@+1 {{dimension 0 of operand #3 is 5 but 's' is 6 elsewhere}}
  %0:2 = dtc.attention %arg0, %arg1, %arg2 at %arg3, %arg4 {scale = 2.5e-1 : f64}
      : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<5xi32>, !dtc.tensor<6xi32>) -> (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x4xf32>)
  return
}

// -----

// Documents are i32.
func.func @f(%arg0: !dtc.tensor<2x6x4x8xf32>, %arg1: !dtc.tensor<2x6x2x8xf32>, %arg2: !dtc.tensor<2x6x2x8xf32>, %arg3: !dtc.tensor<6xi32>, %arg4: !dtc.tensor<6xi32>, %arg5: !dtc.tensor<6xi32>, %arg6: !dtc.tensor<6xi64>) {
  // expected-error@+1 {{documents must be i32, but is 'i64'}}
  %0:2 = dtc.attention %arg0, %arg1, %arg2 at %arg3, %arg4 documents %arg5, %arg6 {scale = 2.5e-1 : f64}
      : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<6xi32>, !dtc.tensor<6xi32>, !dtc.tensor<6xi32>, !dtc.tensor<6xi64>) -> (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x4xf32>)
  return
}

// -----

// Documents of queries and keys have one rank.
func.func @f(%arg0: !dtc.tensor<2x6x4x8xf32>, %arg1: !dtc.tensor<2x6x2x8xf32>, %arg2: !dtc.tensor<2x6x2x8xf32>, %arg3: !dtc.tensor<6xi32>, %arg4: !dtc.tensor<6xi32>, %arg5: !dtc.tensor<6xi32>, %arg6: !dtc.tensor<2x6xi32>) {
  // expected-error@+1 {{documents of queries and keys must both have rank 1 or both rank 2, but have ranks 1 and 2}}
  %0:2 = dtc.attention %arg0, %arg1, %arg2 at %arg3, %arg4 documents %arg5, %arg6 {scale = 2.5e-1 : f64}
      : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<6xi32>, !dtc.tensor<6xi32>, !dtc.tensor<6xi32>, !dtc.tensor<2x6xi32>) -> (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x4xf32>)
  return
}

// -----

// Constraint 2: scale is positive.
func.func @f(%arg0: !dtc.tensor<2x6x4x8xf32>, %arg1: !dtc.tensor<2x6x2x8xf32>, %arg2: !dtc.tensor<2x6x2x8xf32>, %arg3: !dtc.tensor<6xi32>, %arg4: !dtc.tensor<6xi32>) {
  // expected-error@+1 {{scale must be positive and finite, but is 0}}
  %0:2 = dtc.attention %arg0, %arg1, %arg2 at %arg3, %arg4 {scale = 0.0 : f64}
      : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<6xi32>, !dtc.tensor<6xi32>) -> (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x4xf32>)
  return
}

// -----

// dropout is below 1.
func.func @f(%arg0: !dtc.tensor<2x6x4x8xf32>, %arg1: !dtc.tensor<2x6x2x8xf32>, %arg2: !dtc.tensor<2x6x2x8xf32>, %arg3: !dtc.tensor<6xi32>, %arg4: !dtc.tensor<6xi32>) {
  // expected-error@+1 {{dropout must be at least 0 and below 1, but is 1}}
  %0:2 = dtc.attention %arg0, %arg1, %arg2 at %arg3, %arg4 {scale = 1.0 : f64, dropout = 1.0 : f64}
      : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<6xi32>, !dtc.tensor<6xi32>) -> (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x4xf32>)
  return
}

// -----

// dropout is not negative.
func.func @f(%arg0: !dtc.tensor<2x6x4x8xf32>, %arg1: !dtc.tensor<2x6x2x8xf32>, %arg2: !dtc.tensor<2x6x2x8xf32>, %arg3: !dtc.tensor<6xi32>, %arg4: !dtc.tensor<6xi32>) {
  // expected-error@+1 {{dropout must be at least 0 and below 1, but is -0.5}}
  %0:2 = dtc.attention %arg0, %arg1, %arg2 at %arg3, %arg4 {scale = 1.0 : f64, dropout = -0.5 : f64}
      : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<6xi32>, !dtc.tensor<6xi32>) -> (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x4xf32>)
  return
}

// -----

// With dropout there are random numbers.
func.func @f(%arg0: !dtc.tensor<2x6x4x8xf32>, %arg1: !dtc.tensor<2x6x2x8xf32>, %arg2: !dtc.tensor<2x6x2x8xf32>, %arg3: !dtc.tensor<6xi32>, %arg4: !dtc.tensor<6xi32>) {
  // expected-error@+1 {{rng, layer and rows must be given exactly when dropout is positive}}
  %0:2 = dtc.attention %arg0, %arg1, %arg2 at %arg3, %arg4 {scale = 1.0 : f64, dropout = 0.5 : f64}
      : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<6xi32>, !dtc.tensor<6xi32>) -> (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x4xf32>)
  return
}

// -----

// Without, there are none.
func.func @f(%arg0: !dtc.tensor<2x6x4x8xf32>, %arg1: !dtc.tensor<2x6x2x8xf32>, %arg2: !dtc.tensor<2x6x2x8xf32>, %arg3: !dtc.tensor<6xi32>, %arg4: !dtc.tensor<6xi32>, %arg5: !dtc.tensor<2xi32>, %arg6: !dtc.tensor<i32>, %arg7: !dtc.tensor<2xi32>) {
  // expected-error@+1 {{rng, layer and rows must be given exactly when dropout is positive}}
  %0:2 = dtc.attention %arg0, %arg1, %arg2 at %arg3, %arg4 random %arg5, %arg6, %arg7 {scale = 2.5e-1 : f64}
      : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<6xi32>, !dtc.tensor<6xi32>, !dtc.tensor<2xi32>, !dtc.tensor<i32>, !dtc.tensor<2xi32>) -> (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x4xf32>)
  return
}

// -----

// rng has 2 numbers.
func.func @f(%arg0: !dtc.tensor<2x6x4x8xf32>, %arg1: !dtc.tensor<2x6x2x8xf32>, %arg2: !dtc.tensor<2x6x2x8xf32>, %arg3: !dtc.tensor<6xi32>, %arg4: !dtc.tensor<6xi32>, %arg5: !dtc.tensor<3xi32>, %arg6: !dtc.tensor<i32>, %arg7: !dtc.tensor<2xi32>) {
  // expected-error@+1 {{rng must have rank 1 and 2 elements, but is '!dtc.tensor<3xi32>'}}
  %0:2 = dtc.attention %arg0, %arg1, %arg2 at %arg3, %arg4 random %arg5, %arg6, %arg7 {scale = 1.0 : f64, dropout = 0.5 : f64}
      : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<6xi32>, !dtc.tensor<6xi32>, !dtc.tensor<3xi32>, !dtc.tensor<i32>, !dtc.tensor<2xi32>) -> (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x4xf32>)
  return
}

// -----

// rows has the batch's length.
func.func @f(%arg0: !dtc.tensor<2x6x4x8xf32>, %arg1: !dtc.tensor<2x6x2x8xf32>, %arg2: !dtc.tensor<2x6x2x8xf32>, %arg3: !dtc.tensor<6xi32>, %arg4: !dtc.tensor<6xi32>, %arg5: !dtc.tensor<2xi32>, %arg6: !dtc.tensor<i32>, %arg7: !dtc.tensor<3xi32>) {
  // expected-error@+1 {{dimension 0 of operand #7 is 3 but 'b' is 2 elsewhere}}
  %0:2 = dtc.attention %arg0, %arg1, %arg2 at %arg3, %arg4 random %arg5, %arg6, %arg7 {scale = 1.0 : f64, dropout = 0.5 : f64}
      : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<6xi32>, !dtc.tensor<6xi32>, !dtc.tensor<2xi32>, !dtc.tensor<i32>, !dtc.tensor<3xi32>) -> (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x4xf32>)
  return
}

// -----

// site is below 16.
func.func @f(%arg0: !dtc.tensor<2x6x4x8xf32>, %arg1: !dtc.tensor<2x6x2x8xf32>, %arg2: !dtc.tensor<2x6x2x8xf32>, %arg3: !dtc.tensor<6xi32>, %arg4: !dtc.tensor<6xi32>, %arg5: !dtc.tensor<2xi32>, %arg6: !dtc.tensor<i32>, %arg7: !dtc.tensor<2xi32>) {
  // expected-error@+1 {{site must be from 0 to 15, but is 16}}
  %0:2 = dtc.attention %arg0, %arg1, %arg2 at %arg3, %arg4 random %arg5, %arg6, %arg7 {scale = 1.0 : f64, dropout = 0.5 : f64, site = 16 : i64}
      : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<6xi32>, !dtc.tensor<6xi32>, !dtc.tensor<2xi32>, !dtc.tensor<i32>, !dtc.tensor<2xi32>) -> (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x4xf32>)
  return
}

// -----

// Constraint 3: the last dimension is whole.
func.func @f(%arg0: !dtc.tensor<2x6x4x8{tp:4}xf32>, %arg1: !dtc.tensor<2x6x2x8{tp:4}xf32>, %arg2: !dtc.tensor<2x6x2x8{tp:4}xf32>, %arg3: !dtc.tensor<6xi32, replicate{tp:4}>, %arg4: !dtc.tensor<6xi32, replicate{tp:4}>) {
  // expected-error@+1 {{factor 'd' is whole, but axes {tp:4} cut it}}
  %0:2 = dtc.attention %arg0, %arg1, %arg2 at %arg3, %arg4 {scale = 2.5e-1 : f64}
      : (!dtc.tensor<2x6x4x8{tp:4}xf32>, !dtc.tensor<2x6x2x8{tp:4}xf32>, !dtc.tensor<2x6x2x8{tp:4}xf32>, !dtc.tensor<6xi32, replicate{tp:4}>, !dtc.tensor<6xi32, replicate{tp:4}>) -> (!dtc.tensor<2x6x4x8{tp:4}xf32>, !dtc.tensor<2x6x4xf32>)
  return
}

// -----

// Key positions may not be cut alone.
func.func @f(%arg0: !dtc.tensor<2x8x4x8xf32, replicate{tp:4}>, %arg1: !dtc.tensor<2x8{tp:4}x2x8xf32>, %arg2: !dtc.tensor<2x8{tp:4}x2x8xf32>, %arg3: !dtc.tensor<8xi32, replicate{tp:4}>, %arg4: !dtc.tensor<8{tp:4}xi32>) {
  // expected-error@+1 {{axis {tp:4} cuts factor 't', which may be cut only together with its pair}}
  %0:2 = dtc.attention %arg0, %arg1, %arg2 at %arg3, %arg4 {scale = 2.5e-1 : f64}
      : (!dtc.tensor<2x8x4x8xf32, replicate{tp:4}>, !dtc.tensor<2x8{tp:4}x2x8xf32>, !dtc.tensor<2x8{tp:4}x2x8xf32>, !dtc.tensor<8xi32, replicate{tp:4}>, !dtc.tensor<8{tp:4}xi32>) -> (!dtc.tensor<2x8x4x8xf32>, !dtc.tensor<2x8x4xf32>)
  return
}

// -----

// Both by the same axes, or it is no pair.
func.func @f(%arg0: !dtc.tensor<2x8{dp:2}x4x8xf32, replicate{tp:2}>, %arg1: !dtc.tensor<2x8{tp:2}x2x8xf32, replicate{dp:2}>, %arg2: !dtc.tensor<2x8{tp:2}x2x8xf32, replicate{dp:2}>, %arg3: !dtc.tensor<8{dp:2}xi32, replicate{tp:2}>, %arg4: !dtc.tensor<8{tp:2}xi32, replicate{dp:2}>) {
  // expected-error@+1 {{axis {tp:2} cuts factor 't', which may be cut only together with its pair}}
  %0:2 = dtc.attention %arg0, %arg1, %arg2 at %arg3, %arg4 {scale = 2.5e-1 : f64}
      : (!dtc.tensor<2x8{dp:2}x4x8xf32, replicate{tp:2}>, !dtc.tensor<2x8{tp:2}x2x8xf32, replicate{dp:2}>, !dtc.tensor<2x8{tp:2}x2x8xf32, replicate{dp:2}>, !dtc.tensor<8{dp:2}xi32, replicate{tp:2}>, !dtc.tensor<8{tp:2}xi32, replicate{dp:2}>) -> (!dtc.tensor<2x8{dp:2}x4x8xf32>, !dtc.tensor<2x8{dp:2}x4xf32>)
  return
}

// -----

// One list of axes, not a part of it.
func.func @f(%arg0: !dtc.tensor<2x8{cp:2, dp:2}x4x8xf32>, %arg1: !dtc.tensor<2x8{cp:2}x2x8xf32, replicate{dp:2}>, %arg2: !dtc.tensor<2x8{cp:2}x2x8xf32, replicate{dp:2}>, %arg3: !dtc.tensor<8{cp:2, dp:2}xi32>, %arg4: !dtc.tensor<8{cp:2}xi32, replicate{dp:2}>) {
  // expected-error@+1 {{factors 's' and 't' are a pair, but are cut by {cp:2, dp:2} and by {cp:2}}}
  %0:2 = dtc.attention %arg0, %arg1, %arg2 at %arg3, %arg4 {scale = 2.5e-1 : f64}
      : (!dtc.tensor<2x8{cp:2, dp:2}x4x8xf32>, !dtc.tensor<2x8{cp:2}x2x8xf32, replicate{dp:2}>, !dtc.tensor<2x8{cp:2}x2x8xf32, replicate{dp:2}>, !dtc.tensor<8{cp:2, dp:2}xi32>, !dtc.tensor<8{cp:2}xi32, replicate{dp:2}>) -> (!dtc.tensor<2x8{cp:2, dp:2}x4x8xf32>, !dtc.tensor<2x8{cp:2, dp:2}x4xf32>)
  return
}

// -----

// In one order.
func.func @f(%arg0: !dtc.tensor<2x8{cp:2, dp:2}x4x8xf32>, %arg1: !dtc.tensor<2x8{dp:2, cp:2}x2x8xf32>, %arg2: !dtc.tensor<2x8{dp:2, cp:2}x2x8xf32>, %arg3: !dtc.tensor<8{cp:2, dp:2}xi32>, %arg4: !dtc.tensor<8{dp:2, cp:2}xi32>) {
  // expected-error@+1 {{factors 's' and 't' are a pair, but are cut by {cp:2, dp:2} and by {dp:2, cp:2}}}
  %0:2 = dtc.attention %arg0, %arg1, %arg2 at %arg3, %arg4 {scale = 2.5e-1 : f64}
      : (!dtc.tensor<2x8{cp:2, dp:2}x4x8xf32>, !dtc.tensor<2x8{dp:2, cp:2}x2x8xf32>, !dtc.tensor<2x8{dp:2, cp:2}x2x8xf32>, !dtc.tensor<8{cp:2, dp:2}xi32>, !dtc.tensor<8{dp:2, cp:2}xi32>) -> (!dtc.tensor<2x8{cp:2, dp:2}x4x8xf32>, !dtc.tensor<2x8{cp:2, dp:2}x4xf32>)
  return
}

// -----

// Keys of cut queries are replicate.
func.func @f(%arg0: !dtc.tensor<2x8{tp:4}x4x8xf32>, %arg1: !dtc.tensor<2x8x2x8xf32>, %arg2: !dtc.tensor<2x8x2x8xf32>, %arg3: !dtc.tensor<8{tp:4}xi32>, %arg4: !dtc.tensor<8xi32>) {
  // expected-error@+1 {{on axis {tp:4}, which cuts factor 's', operand #1 is invariant but must be replicate}}
  %0:2 = dtc.attention %arg0, %arg1, %arg2 at %arg3, %arg4 {scale = 2.5e-1 : f64}
      : (!dtc.tensor<2x8{tp:4}x4x8xf32>, !dtc.tensor<2x8x2x8xf32>, !dtc.tensor<2x8x2x8xf32>, !dtc.tensor<8{tp:4}xi32>, !dtc.tensor<8xi32>) -> (!dtc.tensor<2x8{tp:4}x4x8xf32>, !dtc.tensor<2x8{tp:4}x4xf32>)
  return
}

// -----

// Groups before members: 4 axes cut 2 groups and 2 members, so keys are cut by the major half.
func.func @f(%arg0: !dtc.tensor<2x6x4{tp:4}x8xf32>, %arg1: !dtc.tensor<2x6x2{tp:(2)2}x8xf32, replicate{tp:2}>, %arg2: !dtc.tensor<2x6x2{tp:(2)2}x8xf32, replicate{tp:2}>, %arg3: !dtc.tensor<6xi32, replicate{tp:4}>, %arg4: !dtc.tensor<6xi32, replicate{tp:4}>) {
  // expected-error@+1 {{factor 'g' is cut by {tp:2} in one value and by {tp:(2)2} in operand #1}}
  %0:2 = dtc.attention %arg0, %arg1, %arg2 at %arg3, %arg4 {scale = 2.5e-1 : f64}
      : (!dtc.tensor<2x6x4{tp:4}x8xf32>, !dtc.tensor<2x6x2{tp:(2)2}x8xf32, replicate{tp:2}>, !dtc.tensor<2x6x2{tp:(2)2}x8xf32, replicate{tp:2}>, !dtc.tensor<6xi32, replicate{tp:4}>, !dtc.tensor<6xi32, replicate{tp:4}>) -> (!dtc.tensor<2x6x4{tp:4}x8xf32>, !dtc.tensor<2x6x4{tp:4}xf32>)
  return
}

// -----

// No factor is padded.
func.func @f(%arg0: !dtc.tensor<3(4){tp:4}x6x4x8xf32>, %arg1: !dtc.tensor<3(4){tp:4}x6x2x8xf32>, %arg2: !dtc.tensor<3(4){tp:4}x6x2x8xf32>, %arg3: !dtc.tensor<6xi32, replicate{tp:4}>, %arg4: !dtc.tensor<6xi32, replicate{tp:4}>) {
  // expected-error@+1 {{dimension 0 of operand #0 is padded to 4 but 'b' may not be padded}}
  %0:2 = dtc.attention %arg0, %arg1, %arg2 at %arg3, %arg4 {scale = 2.5e-1 : f64}
      : (!dtc.tensor<3(4){tp:4}x6x4x8xf32>, !dtc.tensor<3(4){tp:4}x6x2x8xf32>, !dtc.tensor<3(4){tp:4}x6x2x8xf32>, !dtc.tensor<6xi32, replicate{tp:4}>, !dtc.tensor<6xi32, replicate{tp:4}>) -> (!dtc.tensor<3(4){tp:4}x6x4x8xf32>, !dtc.tensor<3(4){tp:4}x6x4xf32>)
  return
}

// -----

// Not linear in q.
func.func @f(%arg0: !dtc.tensor<2x6x4x8xf32, partial{tp:4}>, %arg1: !dtc.tensor<2x6x2x8xf32, replicate{tp:4}>, %arg2: !dtc.tensor<2x6x2x8xf32, replicate{tp:4}>, %arg3: !dtc.tensor<6xi32, replicate{tp:4}>, %arg4: !dtc.tensor<6xi32, replicate{tp:4}>) {
  // expected-error@+1 {{the placements (partial, replicate, replicate, replicate, replicate -> partial, partial) are illegal}}
  %0:2 = dtc.attention %arg0, %arg1, %arg2 at %arg3, %arg4 {scale = 2.5e-1 : f64}
      : (!dtc.tensor<2x6x4x8xf32, partial{tp:4}>, !dtc.tensor<2x6x2x8xf32, replicate{tp:4}>, !dtc.tensor<2x6x2x8xf32, replicate{tp:4}>, !dtc.tensor<6xi32, replicate{tp:4}>, !dtc.tensor<6xi32, replicate{tp:4}>) -> (!dtc.tensor<2x6x4x8xf32, partial{tp:4}>, !dtc.tensor<2x6x4xf32, partial{tp:4}>)
  return
}

// -----

// The log-sum-exp does not read v.
func.func @f(%arg0: !dtc.tensor<2x6x4x8xf32, replicate{tp:4}>, %arg1: !dtc.tensor<2x6x2x8xf32, replicate{tp:4}>, %arg2: !dtc.tensor<2x6x2x8xf32, partial{tp:4}>, %arg3: !dtc.tensor<6xi32, replicate{tp:4}>, %arg4: !dtc.tensor<6xi32, replicate{tp:4}>) {
  // expected-error@+1 {{the placements (replicate, replicate, partial, replicate, replicate -> partial, partial) are illegal}}
  %0:2 = dtc.attention %arg0, %arg1, %arg2 at %arg3, %arg4 {scale = 2.5e-1 : f64}
      : (!dtc.tensor<2x6x4x8xf32, replicate{tp:4}>, !dtc.tensor<2x6x2x8xf32, replicate{tp:4}>, !dtc.tensor<2x6x2x8xf32, partial{tp:4}>, !dtc.tensor<6xi32, replicate{tp:4}>, !dtc.tensor<6xi32, replicate{tp:4}>) -> (!dtc.tensor<2x6x4x8xf32, partial{tp:4}>, !dtc.tensor<2x6x4xf32, partial{tp:4}>)
  return
}

// -----

// Constraint 4: blocks is positive.
func.func @f(%arg0: !dtc.tensor<2x6x4x8xf32>, %arg1: !dtc.tensor<2x6x2x8xf32>, %arg2: !dtc.tensor<2x6x2x8xf32>, %arg3: !dtc.tensor<6xi32>, %arg4: !dtc.tensor<6xi32>) {
  // expected-error@+1 {{blocks 0 must divide the sequence of '!dtc.tensor<2x6x4x8xf32>'}}
  %0:2 = dtc.attention %arg0, %arg1, %arg2 at %arg3, %arg4 {scale = 1.0 : f64, blocks = 0 : i64}
      : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<6xi32>, !dtc.tensor<6xi32>) -> (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x4xf32>)
  return
}

// -----

// blocks divides the sequence.
func.func @f(%arg0: !dtc.tensor<2x6x4x8xf32>, %arg1: !dtc.tensor<2x6x2x8xf32>, %arg2: !dtc.tensor<2x6x2x8xf32>, %arg3: !dtc.tensor<6xi32>, %arg4: !dtc.tensor<6xi32>) {
  // expected-error@+1 {{blocks 4 must divide the sequence of '!dtc.tensor<2x6x4x8xf32>'}}
  %0:2 = dtc.attention %arg0, %arg1, %arg2 at %arg3, %arg4 {scale = 1.0 : f64, blocks = 4 : i64}
      : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<6xi32>, !dtc.tensor<6xi32>) -> (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x4xf32>)
  return
}

// -----

// Keys of a block are whole.
func.func @f(%arg0: !dtc.tensor<2x8{tp:4}x4x8xf32>, %arg1: !dtc.tensor<2x8{tp:4}x2x8xf32>, %arg2: !dtc.tensor<2x8{tp:4}x2x8xf32>, %arg3: !dtc.tensor<8{tp:4}xi32>, %arg4: !dtc.tensor<8{tp:4}xi32>) {
  // expected-error@+1 {{factor 't' is whole, but axes {tp:(2)2} cut it}}
  %0:2 = dtc.attention %arg0, %arg1, %arg2 at %arg3, %arg4 {scale = 1.0 : f64, blocks = 2 : i64}
      : (!dtc.tensor<2x8{tp:4}x4x8xf32>, !dtc.tensor<2x8{tp:4}x2x8xf32>, !dtc.tensor<2x8{tp:4}x2x8xf32>, !dtc.tensor<8{tp:4}xi32>, !dtc.tensor<8{tp:4}xi32>) -> (!dtc.tensor<2x8{tp:4}x4x8xf32>, !dtc.tensor<2x8{tp:4}x4xf32>)
  return
}

// -----

// Documents of queries alone.
func.func @f(%arg0: !dtc.tensor<2x6x4x8xf32>, %arg1: !dtc.tensor<2x6x2x8xf32>, %arg2: !dtc.tensor<2x6x2x8xf32>, %arg3: !dtc.tensor<6xi32>, %arg4: !dtc.tensor<6xi32>, %arg5: !dtc.tensor<6xi32>) {
  // expected-error@+1 {{documents must be given for queries and keys, or for neither}}
  %0:2 = "dtc.attention"(%arg0, %arg1, %arg2, %arg3, %arg4, %arg5) <{scale = 1.0 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0>}>
      : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<6xi32>, !dtc.tensor<6xi32>, !dtc.tensor<6xi32>) -> (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x4xf32>)
  return
}

// -----

// Random numbers without rows.
func.func @f(%arg0: !dtc.tensor<2x6x4x8xf32>, %arg1: !dtc.tensor<2x6x2x8xf32>, %arg2: !dtc.tensor<2x6x2x8xf32>, %arg3: !dtc.tensor<6xi32>, %arg4: !dtc.tensor<6xi32>, %arg5: !dtc.tensor<2xi32>, %arg6: !dtc.tensor<i32>) {
  // expected-error@+1 {{rng, layer and rows must be given exactly when dropout is positive}}
  %0:2 = "dtc.attention"(%arg0, %arg1, %arg2, %arg3, %arg4, %arg5, %arg6) <{scale = 1.0 : f64, dropout = 0.5 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 1, 1, 0>}>
      : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<6xi32>, !dtc.tensor<6xi32>, !dtc.tensor<2xi32>, !dtc.tensor<i32>) -> (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x4xf32>)
  return
}
