// RUN: dtc-opt %s -dtc-lower-to-runtime | FileCheck %s

// Blocks of what is exchanged, and the collectives that stay on the rank.

module attributes {dtc.mesh = #dtc.mesh<dp:2, tp:4>} {
  // CHECK: func.func private @gather
  // CHECK: rt.start all_gather sum over <dp:2, tp:4> {{.*}} blocks [#rt.block<[3, 2, 5, 1, 1]>] send(%{{.*}} : memref<3x2x5xf32>) recv(%{{.*}} : memref<3x16x5xf32>)
  func.func private @gather(%x: !dtc.tensor<3x16{dp:2, tp:4}x5xf32>) -> !dtc.tensor<3x16x5xf32, replicate{dp:2, tp:4}> {
    %0 = dtc.all_gather %x dim 1 over <dp:2, tp:4> : (!dtc.tensor<3x16{dp:2, tp:4}x5xf32>) -> !dtc.tensor<3x16x5xf32, replicate{dp:2, tp:4}>
    return %0 : !dtc.tensor<3x16x5xf32, replicate{dp:2, tp:4}>
  }
  // CHECK: func.func private @scatter
  // CHECK: rt.start reduce_scatter sum over <tp:4> {{.*}} blocks [#rt.block<[3, 4, 5, 1, 1]>]
  func.func private @scatter(%x: !dtc.tensor<3x16x5xf32, partial{tp:4}>) -> !dtc.tensor<3x16{tp:4}x5xf32> {
    %0 = dtc.reduce_scatter %x dim 1 over <tp:4> : (!dtc.tensor<3x16x5xf32, partial{tp:4}>) -> !dtc.tensor<3x16{tp:4}x5xf32>
    return %0 : !dtc.tensor<3x16{tp:4}x5xf32>
  }
  // CHECK: func.func private @swap
  // CHECK: rt.start all_to_all sum over <tp:4> {{.*}} blocks [#rt.block<[1, 2, 3, 4, 1], gather_first = true>]
  func.func private @swap(%x: !dtc.tensor<8{tp:4}x3x16xf32>) -> !dtc.tensor<8x3x16{tp:4}xf32> {
    %0 = dtc.all_to_all %x from 0 to 2 over <tp:4> : (!dtc.tensor<8{tp:4}x3x16xf32>) -> !dtc.tensor<8x3x16{tp:4}xf32>
    return %0 : !dtc.tensor<8x3x16{tp:4}xf32>
  }
  // CHECK: func.func private @local
  func.func private @local(%x: !dtc.tensor<8x4xf32>) -> !dtc.tensor<8x4xf32, partial{tp:4}> {
    // CHECK: %[[I:.*]] = rt.index <tp:4> times 2
    // CHECK: rt.launch @{{.*}}slice {{.*}} index(%[[I]])
    %0 = dtc.slice %x dim 0 over <tp:4> : (!dtc.tensor<8x4xf32>) -> !dtc.tensor<8{tp:4}x4xf32>
    // CHECK: rt.launch @{{.*}}pad
    %1 = dtc.pad %0 dim 0 over <tp:4> : (!dtc.tensor<8{tp:4}x4xf32>) -> !dtc.tensor<8x4xf32, partial{tp:4}>
    // CHECK: rt.launch @{{.*}}keep_first
    %2 = dtc.keep_first %x over <tp:4> : (!dtc.tensor<8x4xf32>) -> !dtc.tensor<8x4xf32, partial{tp:4}>
    %3 = dtc.add %1, %2 : (!dtc.tensor<8x4xf32, partial{tp:4}>, !dtc.tensor<8x4xf32, partial{tp:4}>) -> !dtc.tensor<8x4xf32, partial{tp:4}>
    return %3 : !dtc.tensor<8x4xf32, partial{tp:4}>
  }
  func.func @step() {
    return
  }
}
