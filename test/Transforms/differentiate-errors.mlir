// RUN: dtc-opt %s -split-input-file -verify-diagnostics -dtc-differentiate

// expected-error @+1 {{has no output named "loss" to differentiate}}
func.func @step(%x: !dtc.tensor<f32>) -> !dtc.tensor<f32> {
  return %x : !dtc.tensor<f32>
}

// -----

// A loss that is still summands: someone forgot its reduction.
// expected-error @+1 {{the loss must be a float scalar, invariant on every axis, but is '!dtc.tensor<f32, partial{dp:2}>'}}
func.func @step(%x: !dtc.tensor<f32, partial{dp:2}>) -> (!dtc.tensor<f32, partial{dp:2}> {dtc.output = "loss"}) {
  return %x : !dtc.tensor<f32, partial{dp:2}>
}

// -----

dtc.param @w : !dtc.tensor<4xf32> from "w" [4] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "ones"}
func.func @step() -> (!dtc.tensor<f32> {dtc.output = "loss"}) {
  %w = dtc.read param of @w : !dtc.tensor<4xf32>
  // expected-error @+1 {{'dtc.sum_squares' op lies between a parameter and the loss, but has no derivative}}
  %0 = dtc.sum_squares %w : (!dtc.tensor<4xf32>) -> !dtc.tensor<f32>
  return %0 : !dtc.tensor<f32>
}

// -----

// What follows the loop is differentiated before it, so it must be linear.
dtc.param @w : !dtc.tensor<4xf32> from "w" [4] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "ones"}
func.func @step() -> (!dtc.tensor<f32> {dtc.output = "loss"}) {
  %w = dtc.read param of @w : !dtc.tensor<4xf32>
  %s = dtc.micro_batches 2 {
  ^bb0(%m: !dtc.tensor<i32>):
    %0 = dtc.reduce_sum %w over [0] : (!dtc.tensor<4xf32>) -> !dtc.tensor<f32>
    dtc.yield %0 : !dtc.tensor<f32>
  } : !dtc.tensor<f32>
  // expected-error @+1 {{its derivative needs a value that the loop over micro-batches makes, but is computed before the loop: what follows the loop must be linear}}
  %1 = dtc.multiply %s, %s : (!dtc.tensor<f32>, !dtc.tensor<f32>) -> !dtc.tensor<f32>
  return %1 : !dtc.tensor<f32>
}

// -----

dtc.param @w : !dtc.tensor<f32> from "w" [1] view affine_map<() -> (0)> dims [] {init = "ones"}
func.func private @layer() -> !dtc.tensor<f32> {
  // expected-error @+1 {{may stand in the public function only; layers take parameters as operands}}
  %w = dtc.read param of @w : !dtc.tensor<f32>
  return %w : !dtc.tensor<f32>
}
func.func @step() -> (!dtc.tensor<f32> {dtc.output = "loss"}) {
  %0 = call @layer() : () -> !dtc.tensor<f32>
  return %0 : !dtc.tensor<f32>
}

// -----

func.func private @layer(%x: !dtc.tensor<f32>) -> !dtc.tensor<f32> {
  // expected-error @+1 {{calls @layer recursively}}
  %0 = call @layer(%x) : (!dtc.tensor<f32>) -> !dtc.tensor<f32>
  return %0 : !dtc.tensor<f32>
}
func.func @step(%x: !dtc.tensor<f32>) -> (!dtc.tensor<f32> {dtc.output = "loss"}) {
  %0 = call @layer(%x) : (!dtc.tensor<f32>) -> !dtc.tensor<f32>
  return %0 : !dtc.tensor<f32>
}

// -----

func.func private @outside(%x: !dtc.tensor<f32>) -> !dtc.tensor<f32>
func.func @step(%x: !dtc.tensor<f32>) -> (!dtc.tensor<f32> {dtc.output = "loss"}) {
  // expected-error @+1 {{calls @outside, which is not defined in the module}}
  %0 = call @outside(%x) : (!dtc.tensor<f32>) -> !dtc.tensor<f32>
  return %0 : !dtc.tensor<f32>
}
