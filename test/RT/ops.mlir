// RUN: dtc-opt %s | dtc-opt | FileCheck %s
// RUN: dtc-opt %s --mlir-print-op-generic | dtc-opt | FileCheck %s

// Every op of the runtime level, printed and read again.

module attributes {dtc.mesh = #dtc.mesh<dp:2, tp:4>} {
  // CHECK: rt.storage @w.param param of "w" : !dtc.tensor<64{tp:4}x8xf32>
  rt.storage @w.param param of "w" : !dtc.tensor<64{tp:4}x8xf32>
  // CHECK: rt.storage @w.grad grad of "w" : !dtc.tensor<64{tp:4}x8xf32> at 512
  rt.storage @w.grad grad of "w" : !dtc.tensor<64{tp:4}x8xf32> at 512

  // CHECK: func.func private @kernel(%{{.*}}: memref<16x8xf32> {rt.noalias}, %{{.*}}: memref<16x8xf32>, %{{.*}}: memref<256xi8>, %{{.*}}: index) attributes {rt.kernel}
  func.func private @kernel(%a: memref<16x8xf32> {rt.noalias}, %b: memref<16x8xf32>, %s: memref<256xi8>, %i: index) attributes {rt.kernel} {
    // CHECK: rt.workspace : memref<4096xi8>
    %ws = rt.workspace : memref<4096xi8>
    return
  }
  func.func private @layer(%x: memref<16x8xf32>, %y: memref<16x8xf32>) attributes {rt.frame_bytes = 0 : i64} {
    return
  }
  // CHECK: func.func @step() attributes {rt.step}
  func.func @step() attributes {rt.step} {
    // CHECK: %[[W:.*]] = rt.address @w.param : memref<16x8xf32>
    %w = rt.address @w.param : memref<16x8xf32>
    %g = rt.address @w.grad : memref<16x8xf32>
    // CHECK: rt.alloc : memref<16x8xf32>
    %x = rt.alloc : memref<16x8xf32>
    // CHECK: rt.alloc at 512 : memref<16x8xf32>
    %y = rt.alloc at 512 : memref<16x8xf32>
    %s = rt.alloc : memref<256xi8>
    %m = rt.alloc : memref<i32>
    // CHECK: rt.index <tp:4> times 16
    %first = rt.index <tp:4> times 16
    // CHECK: rt.index <dp:2, tp:(2)2>{{$}}
    %rank = rt.index <dp:2, tp:(2)2>
    // CHECK: rt.fill %{{.*}} with 1.000000e+00 : memref<16x8xf32>
    rt.fill %x with 1.0 : memref<16x8xf32>
    // CHECK: rt.set_index %{{.*}} into %{{.*}} : memref<i32>
    rt.set_index %rank into %m : memref<i32>
    // CHECK: rt.launch @kernel ins(%[[W]] : memref<16x8xf32>) outs(%{{.*}} : memref<16x8xf32>) scratch(%{{.*}} : memref<256xi8>) index(%{{.*}})
    rt.launch @kernel ins(%w : memref<16x8xf32>) outs(%x : memref<16x8xf32>) scratch(%s : memref<256xi8>) index(%first)
    // CHECK: rt.call @layer ins(%{{.*}} : memref<16x8xf32>) outs(%{{.*}} : memref<16x8xf32>) frame 128
    rt.call @layer ins(%x : memref<16x8xf32>) outs(%y : memref<16x8xf32>) frame 128
    // CHECK: %[[T:.*]] = rt.start all_reduce sum over <dp:2> "grads" blocks [#rt.block<[128, 1, 1, 1, 1]>, #rt.block<[128, 1, 1, 1, 1]>] send(%{{.*}}, %{{.*}} : memref<16x8xf32>, memref<16x8xf32>) recv(%{{.*}}, %{{.*}} : memref<16x8xf32>, memref<16x8xf32>) slot 0
    %t = rt.start all_reduce sum over <dp:2> "grads" blocks [#rt.block<[128, 1, 1, 1, 1]>, #rt.block<[128, 1, 1, 1, 1]>]
           send(%y, %x : memref<16x8xf32>, memref<16x8xf32>) recv(%g, %x : memref<16x8xf32>, memref<16x8xf32>) slot 0
    // CHECK: rt.wait %[[T]]
    rt.wait %t
    // CHECK: rt.start all_to_all sum over <dp:2> "x" blocks [#rt.block<[1, 16, 1, 4, 1], gather_first = true>]
    %u = rt.start all_to_all sum over <dp:2> "x" blocks [#rt.block<[1, 16, 1, 4, 1], gather_first = true>]
           send(%y : memref<16x8xf32>) recv(%x : memref<16x8xf32>)
    rt.wait %u
    return
  }
}
