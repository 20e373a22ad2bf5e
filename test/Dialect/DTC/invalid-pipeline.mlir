// RUN: dtc-opt %s -split-input-file -verify-diagnostics

// Sums over stages and schedules.

func.func @f(%x: !dtc.tensor<4xf32>, %y: !dtc.tensor<5xf32>) {
  // expected-error@+1 {{operands must have the result's type}}
  %s = dtc.sum_stages %x, %y from [0, 1] to [0] : (!dtc.tensor<4xf32>, !dtc.tensor<5xf32>) -> !dtc.tensor<4xf32>
  return
}

// -----

func.func @f(%x: !dtc.tensor<4xf32>) {
  // expected-error@+1 {{'from' must have 1 ranks, one for each operand}}
  %s = dtc.sum_stages %x from [0, 1] to [0] : (!dtc.tensor<4xf32>) -> !dtc.tensor<4xf32>
  return
}

// -----

func.func @f(%x: !dtc.tensor<4xf32>) {
  // expected-error@+1 {{'from' has rank 0 twice}}
  %s = dtc.sum_stages %x, %x from [0, 0] to [0] : (!dtc.tensor<4xf32>, !dtc.tensor<4xf32>) -> !dtc.tensor<4xf32>
  return
}

// -----

func.func @f(%x: !dtc.tensor<4xf32>) {
  // expected-error@+1 {{'from' has rank -1, which is negative}}
  %s = dtc.sum_stages %x from [-1] to [0] : (!dtc.tensor<4xf32>) -> !dtc.tensor<4xf32>
  return
}

// -----

func.func @f(%x: !dtc.tensor<4xf32>) {
  // expected-error@+1 {{'to' must be increasing and not negative}}
  %s = dtc.sum_stages %x from [0] to [1, 1] : (!dtc.tensor<4xf32>) -> !dtc.tensor<4xf32>
  return
}

// -----

// expected-error@+1 {{rank 0: send0:0>1 is missing}}
dtc.schedule @never [
  "schedule: by-hand", "pp: 2", "micro-batches: 1",
  "rank 0: F0 B0 R U",
  "rank 1: F0 B0 R U"]

// -----

dtc.schedule @two [
  "schedule: gpipe", "pp: 1", "micro-batches: 2",
  "rank 0: F0 F1 B0 B1 R U"]
func.func @f() {
  // expected-error@+1 {{runs 3 micro-batches, but @two is for 2}}
  dtc.micro_batches 3 schedule @two {
  ^bb0(%m: !dtc.tensor<i32>):
    dtc.yield
  }
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{@none is not a dtc.schedule}}
  dtc.micro_batches 3 schedule @none {
  ^bb0(%m: !dtc.tensor<i32>):
    dtc.yield
  }
  return
}
