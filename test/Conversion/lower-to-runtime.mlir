// RUN: dtc-opt %s -dtc-lower-to-runtime | FileCheck %s
// RUN: dtc-opt %s -dtc-lower-to-runtime=bucket-bytes=32 | FileCheck %s --check-prefix=SMALL

// Values become buffers; equal ops share a kernel; gradients are reduced in one
// bucket, in place, where the runtime looks for them; the optimizer updates in
// place; a layer's results belong to its caller.

module attributes {dtc.mesh = #dtc.mesh<dp:2>} {
  dtc.param @a : !dtc.tensor<8xf32> from "a" [8] view affine_map<(d) -> (d)> dims ["embed"] {init = "zeros"}
  dtc.param @b : !dtc.tensor<8xf32> from "b" [8] view affine_map<(d) -> (d)> dims ["embed"] {init = "zeros"}
  // CHECK: rt.storage @a.param param of "a" : !dtc.tensor<8xf32>
  // CHECK: rt.storage @b.param
  // CHECK: rt.storage @a.grad
  // CHECK: rt.storage @a.m m of "a"
  // CHECK: rt.storage @b.v
  // CHECK: rt.storage @input.input_ids input of "input_ids" : !dtc.tensor<8{dp:2}x8xf32>
  // CHECK: rt.storage @input.rng scalar
  // CHECK: rt.storage @output.loss output of "loss" : !dtc.tensor<f32>

  // The result is an argument: it is computed there from the start, the second
  // op in place. Nothing is copied.
  // CHECK: func.func private @layer(%[[X:.*]]: memref<4x8xf32>, %[[W:.*]]: memref<8xf32>, %[[Y:.*]]: memref<4x8xf32>) {
  // CHECK-NEXT: rt.launch @[[ADD:.*]] ins(%[[X]], %[[W]] : {{.*}}) outs(%[[Y]] :
  // CHECK-NEXT: rt.launch @[[SILU:.*]] ins(%[[Y]] : {{.*}}) outs(%[[Y]] :
  // CHECK-NEXT: return
  func.func private @layer(%x: !dtc.tensor<8{dp:2}x8xf32>, %w: !dtc.tensor<8xf32, replicate{dp:2}>) -> !dtc.tensor<8{dp:2}x8xf32> {
    %0 = dtc.add %x, %w : (!dtc.tensor<8{dp:2}x8xf32>, !dtc.tensor<8xf32, replicate{dp:2}>) -> !dtc.tensor<8{dp:2}x8xf32>
    %1 = dtc.activation silu %0 : (!dtc.tensor<8{dp:2}x8xf32>) -> !dtc.tensor<8{dp:2}x8xf32>
    return %1 : !dtc.tensor<8{dp:2}x8xf32>
  }

  // Arguments that overlap nothing are marked.
  // CHECK: func.func private @[[ADD]](%{{.*}}: memref<4x8xf32> {rt.noalias}, %{{.*}}: memref<8xf32> {rt.noalias}, %{{.*}}: memref<4x8xf32> {rt.noalias}) attributes {rt.kernel, rt.label = "add 4x8xf32 8xf32 -> 4x8xf32"}
  // CHECK: func.func private @[[SILU]](%{{.*}}: memref<4x8xf32>, %{{.*}}: memref<4x8xf32>) attributes {rt.kernel, rt.label = "activation function={{.*}} 4x8xf32 -> 4x8xf32"}

  // CHECK: func.func @step() attributes {rt.step}
  func.func @step(%x: !dtc.tensor<8{dp:2}x8xf32> {dtc.input = "input_ids"}) -> (!dtc.tensor<f32> {dtc.output = "loss"}) {
    %a = dtc.read param of @a : !dtc.tensor<8xf32>
    %b = dtc.read param of @b : !dtc.tensor<8xf32>
    %af = dtc.f %a over <dp:2> : (!dtc.tensor<8xf32>) -> !dtc.tensor<8xf32, replicate{dp:2}>
    // CHECK-DAG: %[[IN:.*]] = rt.address @input.input_ids
    // CHECK-DAG: %[[A:.*]] = rt.address @a.param
    // CHECK-DAG: %[[GA:.*]] = rt.address @a.grad
    // CHECK-DAG: %[[GB:.*]] = rt.address @b.grad
    // CHECK-DAG: %[[LOSS:.*]] = rt.address @output.loss
    // CHECK: rt.call @layer ins(%[[IN]], %[[A]]
    %y = call @layer(%x, %af) : (!dtc.tensor<8{dp:2}x8xf32>, !dtc.tensor<8xf32, replicate{dp:2}>) -> !dtc.tensor<8{dp:2}x8xf32>
    // CHECK: rt.launch @[[SUM:.*]] ins({{.*}}) outs(%[[GA]] : memref<8xf32>)
    %ga = dtc.reduce_sum %y over [0] : (!dtc.tensor<8{dp:2}x8xf32>) -> !dtc.tensor<8xf32, partial{dp:2}>
    // The same kernel.
    // CHECK: rt.launch @[[SUM]] ins({{.*}}) outs(%[[GB]] : memref<8xf32>)
    %gb = dtc.reduce_sum %x over [0] : (!dtc.tensor<8{dp:2}x8xf32>) -> !dtc.tensor<8xf32, partial{dp:2}>
    // CHECK: rt.start all_reduce sum over <dp:2> "step: g of a to b" blocks [#rt.block<[8, 1, 1, 1, 1]>, #rt.block<[8, 1, 1, 1, 1]>]
    // CHECK-SAME: send(%[[GA]], %[[GB]] : {{.*}}) recv(%[[GA]], %[[GB]]
    // CHECK-NEXT: rt.wait
    // SMALL: rt.start {{.*}} "step: g of a"
    // SMALL: rt.start {{.*}} "step: g of b"
    %da = dtc.g %ga over <dp:2> : (!dtc.tensor<8xf32, partial{dp:2}>) -> !dtc.tensor<8xf32>
    dtc.write %da to grad of @a : !dtc.tensor<8xf32>
    %db = dtc.g %gb over <dp:2> : (!dtc.tensor<8xf32, partial{dp:2}>) -> !dtc.tensor<8xf32>
    dtc.write %db to grad of @b : !dtc.tensor<8xf32>
    // Written and returned: computed where it is returned.
    // CHECK: rt.launch @{{.*}} outs(%[[LOSS]] : memref<f32>)
    %loss = dtc.sum_squares %da : (!dtc.tensor<8xf32>) -> !dtc.tensor<f32>
    return %loss : !dtc.tensor<f32>
  }
}
