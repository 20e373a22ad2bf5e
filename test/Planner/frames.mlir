// RUN: dtc-opt %s -split-input-file -dtc-plan-memory=check=true | FileCheck %s

// Buffers that do not live together share memory, a callee's frame lies in its
// caller's only while it runs, and a collective's buffers live until the wait.

// CHECK: rt.collective_slots = 2 : i64
module attributes {dtc.mesh = #dtc.mesh<dp:2>} {
  rt.storage @w.param param of "w" : !dtc.tensor<100xf32>
  // Rounded up to a multiple of 64.
  // CHECK: rt.storage @w.grad grad of "w" : !dtc.tensor<100xf32> at 448
  rt.storage @w.grad grad of "w" : !dtc.tensor<100xf32>

  func.func private @kernel(%a: memref<64xf32>, %b: memref<64xf32>) attributes {rt.kernel} {
    return
  }

  // CHECK: func.func private @layer
  // CHECK-SAME: rt.frame_bytes = 512
  func.func private @layer(%x: memref<64xf32>, %y: memref<64xf32>) {
    %0 = rt.alloc : memref<64xf32>
    %1 = rt.alloc : memref<64xf32>
    %2 = rt.alloc : memref<64xf32>
    // %2 may take %0's place.
    // CHECK: %[[A:.*]] = rt.alloc at [[P:[0-9]+]]
    // CHECK: rt.alloc at {{[0-9]+}}
    // CHECK: rt.alloc at [[P]] : memref<64xf32>
    rt.launch @kernel ins(%x : memref<64xf32>) outs(%0 : memref<64xf32>)
    rt.launch @kernel ins(%0 : memref<64xf32>) outs(%1 : memref<64xf32>)
    rt.launch @kernel ins(%1 : memref<64xf32>) outs(%2 : memref<64xf32>)
    rt.launch @kernel ins(%2 : memref<64xf32>) outs(%y : memref<64xf32>)
    return
  }

  // CHECK: func.func @step
  // CHECK-SAME: rt.arena_bytes = 1920 : i64, rt.frame_bytes = 1024 : i64, rt.frame_offset = 896 : i64
  func.func @step() attributes {rt.step} {
    %0 = rt.alloc : memref<64xf32>
    %1 = rt.alloc : memref<64xf32>
    %2 = rt.alloc : memref<64xf32>
    %3 = rt.alloc : memref<64xf32>
    // 256 bytes each: 0 and 1, and the layer's 512.
    rt.call @layer ins(%0 : memref<64xf32>) outs(%1 : memref<64xf32>)
    // CHECK: rt.start
    // CHECK-SAME: slot 0
    // CHECK: rt.start
    // CHECK-SAME: slot 1
    %t = rt.start all_reduce sum over <dp:2> "a" blocks [#rt.block<[64, 1, 1, 1, 1]>] send(%0 : memref<64xf32>) recv(%2 : memref<64xf32>)
    %u = rt.start all_reduce sum over <dp:2> "b" blocks [#rt.block<[64, 1, 1, 1, 1]>] send(%1 : memref<64xf32>) recv(%1 : memref<64xf32>)
    rt.wait %u
    // Nothing of the first collective may be written yet.
    rt.launch @kernel ins(%1 : memref<64xf32>) outs(%3 : memref<64xf32>)
    rt.wait %t
    return
  }
}

// -----

// A gradient whose sum over micro-batches is another buffer is stored in the
// frame, in the place of what is not needed any more when it is reduced. It
// stays to the end. Other storage lies before the frame.

// CHECK: module
module attributes {dtc.mesh = #dtc.mesh<dp:2>} {
  // CHECK: rt.storage @a.grad grad of "a" : !dtc.tensor<64{dp:2}xf32> at 512 {rt.gradient}
  rt.storage @a.grad grad of "a" : !dtc.tensor<64{dp:2}xf32> {rt.gradient}
  // CHECK: rt.storage @b.grad grad of "b" : !dtc.tensor<64xf32> at 0
  rt.storage @b.grad grad of "b" : !dtc.tensor<64xf32>
  func.func private @kernel(%a: memref<64xf32>) attributes {rt.kernel} {
    return
  }
  // CHECK: func.func @step
  // CHECK-SAME: rt.arena_bytes = 768 : i64, rt.frame_bytes = 512 : i64, rt.frame_offset = 256 : i64
  // CHECK-SAME: ["gradients", 512], {{.*}} ["activations", 256]
  func.func @step() attributes {rt.step} {
    %g = rt.address @a.grad : memref<32xf32>
    %h = rt.address @b.grad : memref<64xf32>
    // CHECK: rt.alloc at 0 {rt.gradient}
    // CHECK: rt.alloc at 256 : memref<64xf32>
    %sum = rt.alloc {rt.gradient} : memref<64xf32>
    %0 = rt.alloc : memref<64xf32>
    rt.launch @kernel outs(%h : memref<64xf32>)
    rt.launch @kernel outs(%sum : memref<64xf32>)
    rt.launch @kernel outs(%0 : memref<64xf32>)
    rt.launch @kernel ins(%0 : memref<64xf32>)
    rt.launch @kernel ins(%sum : memref<64xf32>)
    %t = rt.start reduce_scatter sum over <dp:2> "a" blocks [#rt.block<[1, 32, 1, 1, 1]>] send(%sum : memref<64xf32>) recv(%g : memref<32xf32>)
    rt.wait %t
    return
  }
}
