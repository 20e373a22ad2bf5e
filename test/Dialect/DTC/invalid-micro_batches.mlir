// Every constraint of dtc.micro_batches and dtc.micro_batch, broken.
// RUN: dtc-opt %s -split-input-file -verify-diagnostics

// Constraint 1 of micro_batches: a positive count.
func.func @f() {
  // expected-error@+1 {{count must be positive}}
  dtc.micro_batches 0 {
  ^bb0(%m: !dtc.tensor<i32>):
    dtc.yield
  }
  return
}

// -----

// The one argument.
func.func @f() {
  // expected-error@+1 {{body must have one argument of type '!dtc.tensor<i32>'}}
  dtc.micro_batches 2 {
    dtc.yield
  }
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{body must have one argument of type '!dtc.tensor<i32>'}}
  dtc.micro_batches 2 {
  ^bb0(%m: !dtc.tensor<i32, replicate{dp:2}>):
    dtc.yield
  }
  return
}

// -----

// Constraint 2: yielded types are result types.
func.func @f(%x: !dtc.tensor<4xf32>) {
  // expected-error@+1 {{yielded types must be the result types}}
  %0 = dtc.micro_batches 2 {
  ^bb0(%m: !dtc.tensor<i32>):
    dtc.yield %x : !dtc.tensor<4xf32>
  } : !dtc.tensor<5xf32>
  return
}

// -----

// Constraint 3: a sum of maxima is none.
func.func @f(%x: !dtc.tensor<4xf32, max{dp:2}>) {
  // expected-error@+1 {{may not yield a max placement}}
  %0 = dtc.micro_batches 2 {
  ^bb0(%m: !dtc.tensor<i32>):
    dtc.yield %x : !dtc.tensor<4xf32, max{dp:2}>
  } : !dtc.tensor<4xf32, max{dp:2}>
  return
}

// -----

// Constraint 1 of micro_batch: rank 1 or more.
func.func @f(%x: !dtc.tensor<f32>, %m: !dtc.tensor<i32>) {
  // expected-error@+1 {{parts 1 times count 1 must divide the batch}}
  %0 = dtc.micro_batch %x[%m] parts 1 count 1 : (!dtc.tensor<f32>, !dtc.tensor<i32>) -> !dtc.tensor<f32>
  return
}

// -----

// parts times count divides the batch.
func.func @f(%x: !dtc.tensor<8x3xf32>, %m: !dtc.tensor<i32>) {
  // expected-error@+1 {{parts 1 times count 3 must divide the batch}}
  %0 = dtc.micro_batch %x[%m] parts 1 count 3 : (!dtc.tensor<8x3xf32>, !dtc.tensor<i32>) -> !dtc.tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: !dtc.tensor<8x3xf32>, %m: !dtc.tensor<i32>) {
  // expected-error@+1 {{parts 0 times count 1 must divide the batch}}
  %0 = dtc.micro_batch %x[%m] parts 0 count 1 : (!dtc.tensor<8x3xf32>, !dtc.tensor<i32>) -> !dtc.tensor<8x3xf32>
  return
}

// -----

// The product is 0 modulo 2^64.
func.func @f(%x: !dtc.tensor<8x3xf32>, %m: !dtc.tensor<i32>) {
  // expected-error@+1 {{must divide the batch}}
  %0 = dtc.micro_batch %x[%m] parts 4294967296 count 4294967296 : (!dtc.tensor<8x3xf32>, !dtc.tensor<i32>) -> !dtc.tensor<8x3xf32>
  return
}

// -----

// The result's batch is divided by count.
func.func @f(%x: !dtc.tensor<8x3xf32>, %m: !dtc.tensor<i32>) {
  // expected-error@+1 {{dimension 0 of result #0 is 8 but 'pr' is 4 elsewhere}}
  %0 = dtc.micro_batch %x[%m] parts 1 count 2 : (!dtc.tensor<8x3xf32>, !dtc.tensor<i32>) -> !dtc.tensor<8x3xf32>
  return
}

// -----

// Other dimensions are kept.
func.func @f(%x: !dtc.tensor<8x3xf32>, %m: !dtc.tensor<i32>) {
  // expected-error@+1 {{dimension 1 of result #0 is 4 but 'a' is 3 elsewhere}}
  %0 = dtc.micro_batch %x[%m] parts 1 count 2 : (!dtc.tensor<8x3xf32>, !dtc.tensor<i32>) -> !dtc.tensor<4x4xf32>
  return
}

// -----

// m is an i32 scalar.
func.func @f(%x: !dtc.tensor<8x3xf32>, %m: !dtc.tensor<i64>) {
  // expected-error@+1 {{m must be an i32 scalar, and the element type be kept}}
  %0 = dtc.micro_batch %x[%m] parts 1 count 2 : (!dtc.tensor<8x3xf32>, !dtc.tensor<i64>) -> !dtc.tensor<4x3xf32>
  return
}

// -----

func.func @f(%x: !dtc.tensor<8x3xf32>, %m: !dtc.tensor<i32>) {
  // expected-error@+1 {{m must be an i32 scalar, and the element type be kept}}
  %0 = dtc.micro_batch %x[%m] parts 1 count 2 : (!dtc.tensor<8x3xf32>, !dtc.tensor<i32>) -> !dtc.tensor<4x3xf64>
  return
}

// -----

// Constraint 2: as many pieces as parts.
func.func @f(%x: !dtc.tensor<8{dp:2}x3xf32>, %m: !dtc.tensor<i32, replicate{dp:2}>) {
  // expected-error@+1 {{the batch is cut in 2 pieces, but parts is 4}}
  %0 = dtc.micro_batch %x[%m] parts 4 count 1 : (!dtc.tensor<8{dp:2}x3xf32>, !dtc.tensor<i32, replicate{dp:2}>) -> !dtc.tensor<8{dp:2}x3xf32>
  return
}

// -----

// Equal placements.
func.func @f(%x: !dtc.tensor<8{dp:2}x3xf32>, %m: !dtc.tensor<i32, replicate{dp:2}>) {
  // expected-error@+1 {{factor 'p' is cut by {dp:2} in one value and by {} in result #0}}
  %0 = dtc.micro_batch %x[%m] parts 2 count 2 : (!dtc.tensor<8{dp:2}x3xf32>, !dtc.tensor<i32, replicate{dp:2}>) -> !dtc.tensor<4x3xf32>
  return
}

// -----

// m is replicate where the batch is cut.
func.func @f(%x: !dtc.tensor<8{dp:2}x3xf32>, %m: !dtc.tensor<i32>) {
  // expected-error@+1 {{on axis {dp:2}, which cuts factor 'p', operand #1 is invariant but must be replicate}}
  %0 = dtc.micro_batch %x[%m] parts 2 count 2 : (!dtc.tensor<8{dp:2}x3xf32>, !dtc.tensor<i32>) -> !dtc.tensor<4{dp:2}x3xf32>
  return
}
