// Every constraint of dtc.clip, broken.
// RUN: dtc-opt %s -split-input-file -verify-diagnostics

// Constraint 1: scalars.
func.func @f(%arg0: !dtc.tensor<1xf32>, %arg1: !dtc.tensor<f32>, %arg2: !dtc.tensor<i32>, %arg3: !dtc.tensor<8xf32>) {
  // expected-error@+1 {{operand #0 must have rank 0 but has rank 1}}
  %0:3 = dtc.clip %arg0, %arg1, %arg2, %arg3
      : (!dtc.tensor<1xf32>, !dtc.tensor<f32>, !dtc.tensor<i32>, !dtc.tensor<8xf32>) -> (!dtc.tensor<f32>, !dtc.tensor<f32>, !dtc.tensor<i32>)
  return
}

// -----

// Scalar results.
func.func @f(%arg0: !dtc.tensor<f32>, %arg1: !dtc.tensor<f32>, %arg2: !dtc.tensor<i32>, %arg3: !dtc.tensor<8xf32>) {
  // expected-error@+1 {{result #1 must have rank 0 but has rank 1}}
  %0:3 = dtc.clip %arg0, %arg1, %arg2, %arg3
      : (!dtc.tensor<f32>, !dtc.tensor<f32>, !dtc.tensor<i32>, !dtc.tensor<8xf32>) -> (!dtc.tensor<f32>, !dtc.tensor<2xf32>, !dtc.tensor<i32>)
  return
}

// -----

// labels are i32.
func.func @f(%arg0: !dtc.tensor<f32>, %arg1: !dtc.tensor<f32>, %arg2: !dtc.tensor<i64>, %arg3: !dtc.tensor<8xf32>) {
  // expected-error@+1 {{labels must be i32, but is 'i64'}}
  %0:3 = dtc.clip %arg0, %arg1, %arg2, %arg3
      : (!dtc.tensor<f32>, !dtc.tensor<f32>, !dtc.tensor<i64>, !dtc.tensor<8xf32>) -> (!dtc.tensor<f32>, !dtc.tensor<f32>, !dtc.tensor<i32>)
  return
}

// -----

// skip is i32.
func.func @f(%arg0: !dtc.tensor<f32>, %arg1: !dtc.tensor<f32>, %arg2: !dtc.tensor<i32>, %arg3: !dtc.tensor<8xf32>) {
  // expected-error@+1 {{skip must be i32, but is 'i64'}}
  %0:3 = dtc.clip %arg0, %arg1, %arg2, %arg3
      : (!dtc.tensor<f32>, !dtc.tensor<f32>, !dtc.tensor<i32>, !dtc.tensor<8xf32>) -> (!dtc.tensor<f32>, !dtc.tensor<f32>, !dtc.tensor<i64>)
  return
}

// -----

// scalars has 8 elements.
func.func @f(%arg0: !dtc.tensor<f32>, %arg1: !dtc.tensor<f32>, %arg2: !dtc.tensor<i32>, %arg3: !dtc.tensor<7xf32>) {
  // expected-error@+1 {{scalars must have rank 1 and 8 elements, but is '!dtc.tensor<7xf32>'}}
  %0:3 = dtc.clip %arg0, %arg1, %arg2, %arg3
      : (!dtc.tensor<f32>, !dtc.tensor<f32>, !dtc.tensor<i32>, !dtc.tensor<7xf32>) -> (!dtc.tensor<f32>, !dtc.tensor<f32>, !dtc.tensor<i32>)
  return
}

// -----

// Constraint 2: nothing to cut.
func.func @f(%arg0: !dtc.tensor<f32, replicate{tp:4}>, %arg1: !dtc.tensor<f32, replicate{tp:4}>, %arg2: !dtc.tensor<i32, replicate{tp:4}>, %arg3: !dtc.tensor<8{tp:4}xf32>) {
  // expected-error@+1 {{factor 'z' is whole, but axes {tp:4} cut it}}
  %0:3 = dtc.clip %arg0, %arg1, %arg2, %arg3
      : (!dtc.tensor<f32, replicate{tp:4}>, !dtc.tensor<f32, replicate{tp:4}>, !dtc.tensor<i32, replicate{tp:4}>, !dtc.tensor<8{tp:4}xf32>) -> (!dtc.tensor<f32>, !dtc.tensor<f32>, !dtc.tensor<i32>)
  return
}

// -----

// A norm needs the whole sum.
func.func @f(%arg0: !dtc.tensor<f32, partial{tp:4}>, %arg1: !dtc.tensor<f32, replicate{tp:4}>, %arg2: !dtc.tensor<i32, replicate{tp:4}>, %arg3: !dtc.tensor<8xf32, replicate{tp:4}>) {
  // expected-error@+1 {{the placements (partial, replicate, replicate, replicate -> partial, partial, partial) are illegal; legal are: all invariant; all replicate}}
  %0:3 = dtc.clip %arg0, %arg1, %arg2, %arg3
      : (!dtc.tensor<f32, partial{tp:4}>, !dtc.tensor<f32, replicate{tp:4}>, !dtc.tensor<i32, replicate{tp:4}>, !dtc.tensor<8xf32, replicate{tp:4}>) -> (!dtc.tensor<f32, partial{tp:4}>, !dtc.tensor<f32, partial{tp:4}>, !dtc.tensor<i32, partial{tp:4}>)
  return
}
