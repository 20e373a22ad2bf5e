// RUN: dtc-opt %s -split-input-file -verify-diagnostics -dtc-microbatch=count=3

// expected-error @+1 {{batch 8 is not a multiple of dp x microbatches = 2 x 3; microbatches may be 1, 2 or 4}}
func.func @model(%x: !dtc.tensor<8{dp:2}xf32> {dtc.dims = ["batch"]}) -> (!dtc.tensor<f32> {dtc.output = "loss"}) {
  %0 = dtc.reduce_sum %x over [0] : (!dtc.tensor<8{dp:2}xf32>) -> !dtc.tensor<f32, partial{dp:2}>
  %1 = dtc.g %0 over <dp:2> : (!dtc.tensor<f32, partial{dp:2}>) -> !dtc.tensor<f32>
  return %1 : !dtc.tensor<f32>
}

// -----

// expected-error @+1 {{batch 8 is not a multiple of microbatches = 3; microbatches may be 1, 2, 4 or 8}}
func.func @model(%x: !dtc.tensor<8xf32> {dtc.dims = ["batch"]}) -> !dtc.tensor<f32> {
  %0 = dtc.reduce_sum %x over [0] : (!dtc.tensor<8xf32>) -> !dtc.tensor<f32>
  return %0 : !dtc.tensor<f32>
}

// -----

// expected-error @+1 {{nothing that is returned depends on a dimension named "batch" in dtc.dims}}
func.func @model(%x: !dtc.tensor<6xf32>) -> !dtc.tensor<f32> {
  %0 = dtc.reduce_sum %x over [0] : (!dtc.tensor<6xf32>) -> !dtc.tensor<f32>
  return %0 : !dtc.tensor<f32>
}

// -----

// expected-error @+1 {{the batch may not be padded: '!dtc.tensor<5(6)xf32>'}}
func.func @model(%x: !dtc.tensor<5(6)xf32> {dtc.dims = ["batch"]}) -> !dtc.tensor<f32> {
  %0 = dtc.reduce_sum %x over [0] : (!dtc.tensor<5(6)xf32>) -> !dtc.tensor<f32>
  return %0 : !dtc.tensor<f32>
}

// -----

// expected-error @+1 {{result #0 has a row for each row of the batch; a step may return only sums over the batch}}
func.func @model(%x: !dtc.tensor<6xf32> {dtc.dims = ["batch"]}) -> !dtc.tensor<6xf32> {
  %0 = dtc.scale %x by 2.0 : (!dtc.tensor<6xf32>) -> !dtc.tensor<6xf32>
  return %0 : !dtc.tensor<6xf32>
}

// -----

// The square of a mean is no sum over micro-batches.
func.func @model(%x: !dtc.tensor<6xf32> {dtc.dims = ["batch"]}) -> !dtc.tensor<f32> {
  %0 = dtc.reduce_sum %x over [0] : (!dtc.tensor<6xf32>) -> !dtc.tensor<f32>
  // expected-error @+1 {{uses a sum over the batch, in which it is not linear: it cannot be computed for micro-batches}}
  %1 = dtc.multiply %0, %0 : (!dtc.tensor<f32>, !dtc.tensor<f32>) -> !dtc.tensor<f32>
  return %1 : !dtc.tensor<f32>
}

// -----

// Statistics of a batch (as in batch normalization) cannot be split.
func.func @model(%x: !dtc.tensor<6x2xf32> {dtc.dims = ["batch", "embed"]}) -> !dtc.tensor<f32> {
  %0 = dtc.reduce_sum %x over [0] : (!dtc.tensor<6x2xf32>) -> !dtc.tensor<2xf32>
  // expected-error @+1 {{uses both a sum over the batch and rows of it: it cannot be computed for micro-batches}}
  %1 = dtc.add %x, %0 : (!dtc.tensor<6x2xf32>, !dtc.tensor<2xf32>) -> !dtc.tensor<6x2xf32>
  %2 = dtc.reduce_sum %1 over [0, 1] : (!dtc.tensor<6x2xf32>) -> !dtc.tensor<f32>
  return %2 : !dtc.tensor<f32>
}

// -----

// Inside a function a constant would be added once for each micro-batch.
func.func private @layer(%x: !dtc.tensor<6xf32>) -> !dtc.tensor<f32> {
  %0 = dtc.reduce_sum %x over [0] : (!dtc.tensor<6xf32>) -> !dtc.tensor<f32>
  %1 = dtc.constant 1.0 : () -> !dtc.tensor<f32>
  // expected-error @+1 {{uses a sum over the batch, in which it is not linear: it cannot be computed for micro-batches}}
  %2 = dtc.add %0, %1 : (!dtc.tensor<f32>, !dtc.tensor<f32>) -> !dtc.tensor<f32>
  return %2 : !dtc.tensor<f32>
}
func.func @model(%x: !dtc.tensor<6xf32> {dtc.dims = ["batch"]}) -> !dtc.tensor<f32> {
  %0 = call @layer(%x) : (!dtc.tensor<6xf32>) -> !dtc.tensor<f32>
  return %0 : !dtc.tensor<f32>
}

// -----

func.func private @layer(%labels: !dtc.tensor<6xi32>) -> !dtc.tensor<i32> {
  // expected-error @+1 {{sums integers over the batch inside a layer: it must stand in the model function, where it is computed for all micro-batches at once}}
  %0 = dtc.count_labels %labels : (!dtc.tensor<6xi32>) -> !dtc.tensor<i32>
  return %0 : !dtc.tensor<i32>
}
func.func @model(%labels: !dtc.tensor<6xi32> {dtc.dims = ["batch"]}) -> !dtc.tensor<i32> {
  %0 = call @layer(%labels) : (!dtc.tensor<6xi32>) -> !dtc.tensor<i32>
  return %0 : !dtc.tensor<i32>
}

// -----

func.func private @layer(%x: !dtc.tensor<6x2xf32>, %table: !dtc.tensor<6x2xf32>) -> !dtc.tensor<6x2xf32> {
  // expected-error @+1 {{numbers the rows of the batch inside a layer: it must stand in the model function and be passed}}
  %rows = dtc.iota {dtc.dims = ["batch"]} : () -> !dtc.tensor<6xi32>
  %0 = dtc.embedding %table[%rows] : (!dtc.tensor<6x2xf32>, !dtc.tensor<6xi32>) -> !dtc.tensor<6x2xf32>
  %1 = dtc.add %x, %0 : (!dtc.tensor<6x2xf32>, !dtc.tensor<6x2xf32>) -> !dtc.tensor<6x2xf32>
  return %1 : !dtc.tensor<6x2xf32>
}
func.func @model(%x: !dtc.tensor<6x2xf32> {dtc.dims = ["batch", "embed"]}, %table: !dtc.tensor<6x2xf32>) -> !dtc.tensor<f32> {
  %0 = call @layer(%x, %table) : (!dtc.tensor<6x2xf32>, !dtc.tensor<6x2xf32>) -> !dtc.tensor<6x2xf32>
  %1 = dtc.reduce_sum %0 over [0, 1] : (!dtc.tensor<6x2xf32>) -> !dtc.tensor<f32>
  return %1 : !dtc.tensor<f32>
}

// -----

// Two batches that meet in one op.
func.func @model(%x: !dtc.tensor<6xf32> {dtc.dims = ["batch"]}, %y: !dtc.tensor<6xf32> {dtc.dims = ["batch"]}) -> !dtc.tensor<f32> {
  // expected-error @+1 {{two dimensions of one op may not both be the batch: factors 'a' and 'b'}}
  %0 = dtc.einsum "a,b->ab"(%x, %y) : (!dtc.tensor<6xf32>, !dtc.tensor<6xf32>) -> !dtc.tensor<6x6xf32>
  %1 = dtc.reduce_sum %0 over [0, 1] : (!dtc.tensor<6x6xf32>) -> !dtc.tensor<f32>
  return %1 : !dtc.tensor<f32>
}

// -----

func.func @a() { return }
// expected-error @+1 {{a program has one public function, but @a is public too}}
func.func @b() { return }
