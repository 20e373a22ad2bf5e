// Every constraint of dtc.adamw, broken.
// RUN: dtc-opt %s -split-input-file -verify-diagnostics

// Constraint 1: one shape.
func.func @f(%arg0: !dtc.tensor<4x3xf32>, %arg1: !dtc.tensor<4x3xf32>, %arg2: !dtc.tensor<3xf32>, %arg3: !dtc.tensor<4x3xf32>, %arg4: !dtc.tensor<f32>, %arg5: !dtc.tensor<i32>, %arg6: !dtc.tensor<8xf32>) {
  // expected-error@+1 {{operand #2 must have rank 2 but has rank 1}}
  %0:3 = dtc.adamw %arg0, %arg1, %arg2, %arg3 with %arg4, %arg5, %arg6
      : (!dtc.tensor<4x3xf32>, !dtc.tensor<4x3xf32>, !dtc.tensor<3xf32>, !dtc.tensor<4x3xf32>, !dtc.tensor<f32>, !dtc.tensor<i32>, !dtc.tensor<8xf32>) -> (!dtc.tensor<4x3xf32>, !dtc.tensor<4x3xf32>, !dtc.tensor<4x3xf32>)
  return
}

// -----

// Results too.
func.func @f(%arg0: !dtc.tensor<4x3xf32>, %arg1: !dtc.tensor<4x3xf32>, %arg2: !dtc.tensor<4x3xf32>, %arg3: !dtc.tensor<4x3xf32>, %arg4: !dtc.tensor<f32>, %arg5: !dtc.tensor<i32>, %arg6: !dtc.tensor<8xf32>) {
  // expected-error@+1 {{dimension 0 of result #2 is 3 but 'a' is 4 elsewhere}}
  %0:3 = dtc.adamw %arg0, %arg1, %arg2, %arg3 with %arg4, %arg5, %arg6
      : (!dtc.tensor<4x3xf32>, !dtc.tensor<4x3xf32>, !dtc.tensor<4x3xf32>, !dtc.tensor<4x3xf32>, !dtc.tensor<f32>, !dtc.tensor<i32>, !dtc.tensor<8xf32>) -> (!dtc.tensor<4x3xf32>, !dtc.tensor<4x3xf32>, !dtc.tensor<3x4xf32>)
  return
}

// -----

// One element type, the gradient aside.
func.func @f(%arg0: !dtc.tensor<4x3xf32>, %arg1: !dtc.tensor<4x3xf32>, %arg2: !dtc.tensor<4x3xbf16>, %arg3: !dtc.tensor<4x3xf32>, %arg4: !dtc.tensor<f32>, %arg5: !dtc.tensor<i32>, %arg6: !dtc.tensor<8xf32>) {
  // expected-error@+1 {{float element types differ: 'f32' and 'bf16'}}
  %0:3 = dtc.adamw %arg0, %arg1, %arg2, %arg3 with %arg4, %arg5, %arg6
      : (!dtc.tensor<4x3xf32>, !dtc.tensor<4x3xf32>, !dtc.tensor<4x3xbf16>, !dtc.tensor<4x3xf32>, !dtc.tensor<f32>, !dtc.tensor<i32>, !dtc.tensor<8xf32>) -> (!dtc.tensor<4x3xf32>, !dtc.tensor<4x3xf32>, !dtc.tensor<4x3xf32>)
  return
}

// -----

// coefficient is a scalar.
func.func @f(%arg0: !dtc.tensor<4x3xf32>, %arg1: !dtc.tensor<4x3xf32>, %arg2: !dtc.tensor<4x3xf32>, %arg3: !dtc.tensor<4x3xf32>, %arg4: !dtc.tensor<4x3xf32>, %arg5: !dtc.tensor<i32>, %arg6: !dtc.tensor<8xf32>) {
  // expected-error@+1 {{operand #4 must have rank 0 but has rank 2}}
  %0:3 = dtc.adamw %arg0, %arg1, %arg2, %arg3 with %arg4, %arg5, %arg6
      : (!dtc.tensor<4x3xf32>, !dtc.tensor<4x3xf32>, !dtc.tensor<4x3xf32>, !dtc.tensor<4x3xf32>, !dtc.tensor<4x3xf32>, !dtc.tensor<i32>, !dtc.tensor<8xf32>) -> (!dtc.tensor<4x3xf32>, !dtc.tensor<4x3xf32>, !dtc.tensor<4x3xf32>)
  return
}

// -----

// skip is i32.
func.func @f(%arg0: !dtc.tensor<4x3xf32>, %arg1: !dtc.tensor<4x3xf32>, %arg2: !dtc.tensor<4x3xf32>, %arg3: !dtc.tensor<4x3xf32>, %arg4: !dtc.tensor<f32>, %arg5: !dtc.tensor<i64>, %arg6: !dtc.tensor<8xf32>) {
  // expected-error@+1 {{skip must be i32, but is 'i64'}}
  %0:3 = dtc.adamw %arg0, %arg1, %arg2, %arg3 with %arg4, %arg5, %arg6
      : (!dtc.tensor<4x3xf32>, !dtc.tensor<4x3xf32>, !dtc.tensor<4x3xf32>, !dtc.tensor<4x3xf32>, !dtc.tensor<f32>, !dtc.tensor<i64>, !dtc.tensor<8xf32>) -> (!dtc.tensor<4x3xf32>, !dtc.tensor<4x3xf32>, !dtc.tensor<4x3xf32>)
  return
}

// -----

// scalars has 8 elements.
func.func @f(%arg0: !dtc.tensor<4x3xf32>, %arg1: !dtc.tensor<4x3xf32>, %arg2: !dtc.tensor<4x3xf32>, %arg3: !dtc.tensor<4x3xf32>, %arg4: !dtc.tensor<f32>, %arg5: !dtc.tensor<i32>, %arg6: !dtc.tensor<9xf32>) {
  // expected-error@+1 {{scalars must have rank 1 and 8 elements, but is '!dtc.tensor<9xf32>'}}
  %0:3 = dtc.adamw %arg0, %arg1, %arg2, %arg3 with %arg4, %arg5, %arg6
      : (!dtc.tensor<4x3xf32>, !dtc.tensor<4x3xf32>, !dtc.tensor<4x3xf32>, !dtc.tensor<4x3xf32>, !dtc.tensor<f32>, !dtc.tensor<i32>, !dtc.tensor<9xf32>) -> (!dtc.tensor<4x3xf32>, !dtc.tensor<4x3xf32>, !dtc.tensor<4x3xf32>)
  return
}

// -----

// Constraint 2: a cut parameter has cut state.
func.func @f(%arg0: !dtc.tensor<4{tp:4}x3xf32>, %arg1: !dtc.tensor<4{tp:4}x3xf32>, %arg2: !dtc.tensor<4x3xf32>, %arg3: !dtc.tensor<4x3xf32>, %arg4: !dtc.tensor<f32, replicate{tp:4}>, %arg5: !dtc.tensor<i32, replicate{tp:4}>, %arg6: !dtc.tensor<8xf32, replicate{tp:4}>) {
  // expected-error@+1 {{factor 'a' is cut by {tp:4} in one value and by {} in operand #2}}
  %0:3 = dtc.adamw %arg0, %arg1, %arg2, %arg3 with %arg4, %arg5, %arg6
      : (!dtc.tensor<4{tp:4}x3xf32>, !dtc.tensor<4{tp:4}x3xf32>, !dtc.tensor<4x3xf32>, !dtc.tensor<4x3xf32>, !dtc.tensor<f32, replicate{tp:4}>, !dtc.tensor<i32, replicate{tp:4}>, !dtc.tensor<8xf32, replicate{tp:4}>) -> (!dtc.tensor<4{tp:4}x3xf32>, !dtc.tensor<4{tp:4}x3xf32>, !dtc.tensor<4{tp:4}x3xf32>)
  return
}

// -----

// A gradient is reduced before.
func.func @f(%arg0: !dtc.tensor<4x3xf32, replicate{tp:4}>, %arg1: !dtc.tensor<4x3xf32, partial{tp:4}>, %arg2: !dtc.tensor<4x3xf32, replicate{tp:4}>, %arg3: !dtc.tensor<4x3xf32, replicate{tp:4}>, %arg4: !dtc.tensor<f32, replicate{tp:4}>, %arg5: !dtc.tensor<i32, replicate{tp:4}>, %arg6: !dtc.tensor<8xf32, replicate{tp:4}>) {
  // expected-error@+1 {{the placements (replicate, partial, replicate, replicate, replicate, replicate, replicate -> partial, partial, partial) are illegal; legal are: all invariant; all replicate}}
  %0:3 = dtc.adamw %arg0, %arg1, %arg2, %arg3 with %arg4, %arg5, %arg6
      : (!dtc.tensor<4x3xf32, replicate{tp:4}>, !dtc.tensor<4x3xf32, partial{tp:4}>, !dtc.tensor<4x3xf32, replicate{tp:4}>, !dtc.tensor<4x3xf32, replicate{tp:4}>, !dtc.tensor<f32, replicate{tp:4}>, !dtc.tensor<i32, replicate{tp:4}>, !dtc.tensor<8xf32, replicate{tp:4}>) -> (!dtc.tensor<4x3xf32, partial{tp:4}>, !dtc.tensor<4x3xf32, partial{tp:4}>, !dtc.tensor<4x3xf32, partial{tp:4}>)
  return
}
