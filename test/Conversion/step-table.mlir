// RUN: dtc-opt %s -dtc-lower-to-runtime -dtc-plan-memory -dtc-lower-to-cpu=cpu=x86-64-v3 | FileCheck %s

// The step is data; a layer is a list of calls; the program describes itself.

module attributes {dtc.mesh = #dtc.mesh<dp:2>} {
  dtc.param @a : !dtc.tensor<8xf32> from "a" [8] view affine_map<(d) -> (d)> dims ["vocab"] {init = "zeros"}
  // CHECK-DAG: llvm.mlir.global internal constant @step_words(dense<
  // CHECK-DAG: llvm.mlir.global external constant @dtc_program_json("{{.*}}\22mesh\22:{{..}}\22dp\22,2{{..}}{{.*}}\22vocab\22:8
  // CHECK-DAG: llvm.mlir.global internal constant @collective_0_axes(dense<[1, 2]>
  // CHECK-DAG: llvm.func @dtc_rt_start(!llvm.ptr, !llvm.ptr, i32, !llvm.ptr, !llvm.ptr)
  // CHECK-DAG: llvm.func internal @layer(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr)
  // CHECK-DAG: llvm.func internal @step_run(
  // CHECK-DAG: llvm.func @dtc_program_step(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr)
  // CHECK-DAG: llvm.func @dtc_program_open(%{{.*}}: !llvm.ptr)
  func.func private @layer(%x: !dtc.tensor<8{dp:2}x8xf32>) -> !dtc.tensor<8xf32, partial{dp:2}> {
    %0 = dtc.reduce_sum %x over [0] : (!dtc.tensor<8{dp:2}x8xf32>) -> !dtc.tensor<8xf32, partial{dp:2}>
    return %0 : !dtc.tensor<8xf32, partial{dp:2}>
  }
  func.func @step(%x: !dtc.tensor<8{dp:2}x8xf32> {dtc.input = "input_ids"}, %o: !dtc.tensor<8xf32> {dtc.input = "optimizer"})
      -> (!dtc.tensor<f32> {dtc.output = "loss"}, !dtc.tensor<f32> {dtc.output = "grad_norm"},
          !dtc.tensor<i32> {dtc.output = "labels"}, !dtc.tensor<i32> {dtc.output = "skipped"}) {
    %p = call @layer(%x) : (!dtc.tensor<8{dp:2}x8xf32>) -> !dtc.tensor<8xf32, partial{dp:2}>
    %s = dtc.g %p over <dp:2> : (!dtc.tensor<8xf32, partial{dp:2}>) -> !dtc.tensor<8xf32>
    dtc.write %s to grad of @a : !dtc.tensor<8xf32>
    %l = dtc.sum_squares %s : (!dtc.tensor<8xf32>) -> !dtc.tensor<f32>
    %n = dtc.sum_squares %o : (!dtc.tensor<8xf32>) -> !dtc.tensor<f32>
    %c = dtc.constant 3.0 : () -> !dtc.tensor<i32>
    %z = dtc.constant 0.0 : () -> !dtc.tensor<i32>
    return %l, %n, %c, %z : !dtc.tensor<f32>, !dtc.tensor<f32>, !dtc.tensor<i32>, !dtc.tensor<i32>
  }
}
