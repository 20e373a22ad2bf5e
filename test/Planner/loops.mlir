// RUN: dtc-opt %s -dtc-plan-memory=check=true | FileCheck %s

// A buffer from outside of a loop, used inside, is used in every iteration: it
// shares memory with nothing in the loop.

func.func private @kernel(%a: memref<16xf32>, %b: memref<16xf32>) attributes {rt.kernel} {
  return
}

// CHECK: func.func @f
// CHECK-SAME: rt.frame_bytes = 192
func.func @f(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = rt.alloc : memref<16xf32>
  rt.fill %0 with 0.0 : memref<16xf32>
  scf.for %i = %c0 to %n step %c1 {
    %1 = rt.alloc : memref<16xf32>
    rt.launch @kernel ins(%0 : memref<16xf32>) outs(%1 : memref<16xf32>)
    %2 = rt.alloc : memref<16xf32>
    rt.launch @kernel ins(%1 : memref<16xf32>) outs(%2 : memref<16xf32>)
  }
  return
}
