// RUN: dtc-opt %s | dtc-opt | FileCheck %s

// A rank's part of a pipeline: tasks, and the order in which they run. What the
// forward keeps for the backward lies in a group of two copies, because two
// micro-batches are in flight; what arrives and what leaves has groups too.

module attributes {dtc.mesh = #dtc.mesh<pp:2>} {
  func.func private @kernel(%a: memref<16xf32>, %b: memref<16xf32>) attributes {rt.kernel} {
    return
  }
  // CHECK: func.func @step() attributes {rt.stage = 0 : i64, rt.step}
  func.func @step() attributes {rt.stage = 0 : i64, rt.step} {
    %kept = rt.alloc : memref<128xi8>
    %out = rt.alloc : memref<128xi8>
    %in = rt.alloc : memref<64xi8>
    // CHECK: rt.pipeline groups({{.*}}) copies [2, 2, 1]
    // CHECK-SAME: channels [#rt.channel<"there", number = 0, peer = 1, bytes = 64>, #rt.channel<"back", number = 1, peer = 1, bytes = 64>] in [1, 2] actions [
    // CHECK-NEXT: post 1 slot 0,
    // CHECK-NEXT: run 0 micro_batch 0 slots [0, 0],
    // CHECK-NEXT: send 0 slot 0,
    rt.pipeline groups(%kept, %out, %in : memref<128xi8>, memref<128xi8>, memref<64xi8>) copies [2, 2, 1]
        channels [#rt.channel<"there", number = 0, peer = 1, bytes = 64>,
                  #rt.channel<"back", number = 1, peer = 1, bytes = 64>] in [1, 2] actions [
      post 1 slot 0, run 0 micro_batch 0 slots [0, 0], send 0 slot 0,
      run 0 micro_batch 1 slots [1, 1], send 0 slot 1,
      receive 1, run 1 micro_batch 0 slots [0, 0], post 1 slot 0,
      receive 1, run 1 micro_batch 1 slots [1, 0], sent 0, sent 0] {
      // CHECK: rt.task "forward" stage 0 groups [0, 1] {
      rt.task "forward" stage 0 groups [0, 1] {
      ^bb0(%m: index):
        // CHECK: rt.slot 0 at 0 : memref<16xf32>
        %x = rt.slot 0 at 0 : memref<16xf32>
        %y = rt.slot 1 at 0 : memref<16xf32>
        rt.launch @kernel ins(%x : memref<16xf32>) outs(%y : memref<16xf32>)
      }
      rt.task "backward" stage 0 groups [0, 2] {
      ^bb0(%m: index):
        %x = rt.slot 0 at 0 : memref<16xf32>
        %dy = rt.slot 1 at 0 : memref<16xf32>
        rt.launch @kernel ins(%dy : memref<16xf32>) outs(%x : memref<16xf32>)
      }
    }
    // A message on its own, as sums over stages send them.
    %g = rt.alloc : memref<16xf32>
    // CHECK: rt.post <"sum", number = 2, peer = 1, bytes = 64> into %{{.*}} : memref<16xf32>
    rt.post <"sum", number = 2, peer = 1, bytes = 64> into %g : memref<16xf32>
    rt.receive <"sum", number = 2, peer = 1, bytes = 64> into %g : memref<16xf32>
    rt.send <"sum", number = 3, peer = 1, bytes = 64> from %g : memref<16xf32>
    rt.sent <"sum", number = 3, peer = 1, bytes = 64> from %g : memref<16xf32>
    return
  }
}
