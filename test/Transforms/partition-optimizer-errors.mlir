// RUN: dtc-opt %s -split-input-file -verify-diagnostics -dtc-partition-optimizer

// expected-error @+1 {{has no output named "labels"}}
func.func @step(%loss: !dtc.tensor<f32>) -> (!dtc.tensor<f32> {dtc.output = "loss"}) {
  return %loss : !dtc.tensor<f32>
}

// -----

// expected-error @+1 {{has no parameters to optimize}}
func.func @step(%loss: !dtc.tensor<f32>, %n: !dtc.tensor<i32>) -> (!dtc.tensor<f32> {dtc.output = "loss"}, !dtc.tensor<i32> {dtc.output = "labels"}) {
  return %loss, %n : !dtc.tensor<f32>, !dtc.tensor<i32>
}

// -----

// expected-error @+1 {{'dtc.param' op has no gradient: the step writes none}}
dtc.param @w : !dtc.tensor<4xf32> from "w" [4] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "ones"}
func.func @step(%loss: !dtc.tensor<f32>, %n: !dtc.tensor<i32>) -> (!dtc.tensor<f32> {dtc.output = "loss"}, !dtc.tensor<i32> {dtc.output = "labels"}) {
  return %loss, %n : !dtc.tensor<f32>, !dtc.tensor<i32>
}

// -----

dtc.param @w : !dtc.tensor<4xf32> from "w" [4] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "ones"}
func.func @step(%d: !dtc.tensor<4xf32>, %loss: !dtc.tensor<f32>, %n: !dtc.tensor<i32>) -> (!dtc.tensor<f32> {dtc.output = "loss"}, !dtc.tensor<i32> {dtc.output = "labels"}) {
  dtc.write %d to grad of @w : !dtc.tensor<4xf32>
  // expected-error @+1 {{'dtc.write' op is the second gradient of this parameter}}
  dtc.write %d to grad of @w : !dtc.tensor<4xf32>
  return %loss, %n : !dtc.tensor<f32>, !dtc.tensor<i32>
}

// -----

// expected-error @+1 {{has an optimizer already}}
func.func @step(%loss: !dtc.tensor<f32>, %n: !dtc.tensor<i32>, %o: !dtc.tensor<8xf32> {dtc.input = "optimizer"}) -> (!dtc.tensor<f32> {dtc.output = "loss"}, !dtc.tensor<i32> {dtc.output = "labels"}) {
  return %loss, %n : !dtc.tensor<f32>, !dtc.tensor<i32>
}
