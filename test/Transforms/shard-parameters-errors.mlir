// RUN: not dtc-opt %s -dtc-shard-parameters=stage=4 2>&1 | FileCheck %s --check-prefix=STAGE
// RUN: not dtc-opt %s -dtc-shard-parameters="stage=3 reshard=never" 2>&1 | FileCheck %s --check-prefix=RESHARD
// RUN: dtc-opt %s -split-input-file -verify-diagnostics -dtc-shard-parameters=stage=3

// STAGE: error: ZeRO stage is 4, but may be 0, 1, 2 or 3
// RESHARD: error: reshard is 'never', but may be micro-batch or step

module attributes {dtc.mesh = #dtc.mesh<dp:2>} {
  dtc.param @w : !dtc.tensor<8xf32> from "w" [8] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "ones"}
  // expected-error@+1 {{writes no gradient: differentiate it first}}
  func.func @step(%l: !dtc.tensor<f32>) -> (!dtc.tensor<f32> {dtc.output = "loss"}) {
    %0 = dtc.read param of @w : !dtc.tensor<8xf32>
    return %l : !dtc.tensor<f32>
  }
}

// -----

module attributes {dtc.mesh = #dtc.mesh<dp:2>} {
  dtc.param @w : !dtc.tensor<8xf32> from "w" [8] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "ones"}
  func.func @step(%l: !dtc.tensor<f32>) -> (!dtc.tensor<f32> {dtc.output = "loss"}) {
    // expected-error@+1 {{reads optimizer state, which follows its gradient: shard parameters before -dtc-partition-optimizer}}
    %0 = dtc.read m of @w : !dtc.tensor<8xf32>
    dtc.write %0 to grad of @w : !dtc.tensor<8xf32>
    return %l : !dtc.tensor<f32>
  }
}
