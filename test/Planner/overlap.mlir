// RUN: dtc-opt %s -dtc-overlap | FileCheck %s

module attributes {dtc.mesh = #dtc.mesh<pp:2, dp:2>} {
  func.func private @work(%x: memref<8xf32>, %y: memref<8xf32>) attributes {rt.kernel} {
    return
  }
  func.func private @half(%x: memref<8xf32>, %y: memref<4xf32>) attributes {rt.kernel} {
    return
  }
  func.func private @layer(%x: memref<8xf32>, %w: memref<8xf32>, %y: memref<8xf32>) {
    rt.launch @work ins(%x : memref<8xf32>) outs(%y : memref<8xf32>)
    return
  }

  // A gradient is on its way while the next layer works; its buffer is not
  // written until then.
  // CHECK-LABEL: func.func @delayed
  // CHECK:      %[[T:.*]] = rt.start all_reduce
  // CHECK-NEXT: rt.launch @work ins(%arg1 : memref<8xf32>) outs(%{{.*}} : memref<8xf32>)
  // CHECK-NEXT: rt.wait %[[T]]
  // CHECK-NEXT: rt.launch @work ins(%arg0 : memref<8xf32>)
  func.func @delayed(%g: memref<8xf32> {rt.noalias}, %x: memref<8xf32> {rt.noalias}) {
    %y = rt.alloc : memref<8xf32>
    %t = rt.start all_reduce sum over <dp:2> "g" blocks [#rt.block<[8, 1, 1, 1, 1]>] send(%g : memref<8xf32>) recv(%g : memref<8xf32>)
    rt.wait %t
    rt.launch @work ins(%x : memref<8xf32>) outs(%y : memref<8xf32>)
    rt.launch @work ins(%g : memref<8xf32>) outs(%x : memref<8xf32>)
    return
  }

  // What is sent may be read, not written.
  // CHECK-LABEL: func.func @sent
  // CHECK:      %[[T:.*]] = rt.start
  // CHECK-NEXT: rt.launch @work ins(%arg0 : memref<8xf32>)
  // CHECK-NEXT: rt.wait %[[T]]
  // CHECK-NEXT: rt.launch @work ins(%arg1 : memref<8xf32>) outs(%arg0 : memref<8xf32>)
  func.func @sent(%g: memref<8xf32> {rt.noalias}, %x: memref<8xf32> {rt.noalias}, %y: memref<4xf32> {rt.noalias}) {
    %t = rt.start reduce_scatter sum over <dp:2> "g" blocks [#rt.block<[1, 4, 1, 1, 1]>] send(%g : memref<8xf32>) recv(%y : memref<4xf32>)
    rt.wait %t
    rt.launch @work ins(%g : memref<8xf32>) outs(%x : memref<8xf32>)
    rt.launch @work ins(%x : memref<8xf32>) outs(%g : memref<8xf32>)
    return
  }

  // The next layer's parameters are gathered while this one works, not while
  // the one before it does.
  // CHECK-LABEL: func.func @gathered
  // CHECK:      rt.call @layer ins(%arg0, %arg0
  // CHECK:      %[[W:.*]] = rt.alloc
  // CHECK-NEXT: %[[T:.*]] = rt.start all_gather {{.*}} recv(%[[W]]
  // CHECK-NEXT: rt.call @layer ins(%{{.*}}, %arg0
  // CHECK-NEXT: rt.wait %[[T]]
  // CHECK-NEXT: rt.call @layer ins(%{{.*}}, %[[W]]
  func.func @gathered(%x: memref<8xf32> {rt.noalias}, %p: memref<4xf32> {rt.noalias}) {
    %a = rt.alloc : memref<8xf32>
    %b = rt.alloc : memref<8xf32>
    rt.call @layer ins(%x, %x : memref<8xf32>, memref<8xf32>) outs(%a : memref<8xf32>)
    rt.call @layer ins(%a, %x : memref<8xf32>, memref<8xf32>) outs(%b : memref<8xf32>)
    %w = rt.alloc : memref<8xf32>
    %t = rt.start all_gather sum over <dp:2> "w" blocks [#rt.block<[1, 4, 1, 1, 1]>] send(%p : memref<4xf32>) recv(%w : memref<8xf32>)
    rt.wait %t
    rt.call @layer ins(%b, %w : memref<8xf32>, memref<8xf32>) outs(%a : memref<8xf32>)
    return
  }

  // What the layer before makes is not there earlier.
  // CHECK-LABEL: func.func @made
  // CHECK:      rt.call @layer
  // CHECK-NEXT: rt.alloc
  // CHECK-NEXT: rt.start all_gather
  func.func @made(%x: memref<8xf32> {rt.noalias}, %p: memref<8xf32> {rt.noalias}) {
    rt.call @layer ins(%x, %x : memref<8xf32>, memref<8xf32>) outs(%p : memref<8xf32>)
    %w = rt.alloc : memref<16xf32>
    %t = rt.start all_gather sum over <dp:2> "w" blocks [#rt.block<[1, 8, 1, 1, 1]>] send(%p : memref<8xf32>) recv(%w : memref<16xf32>)
    rt.wait %t
    return
  }

  // Two gathers of what two kernels behind one layer make: the second one's
  // buffer and start stand behind what they need, wherever the first's went.
  // CHECK-LABEL: func.func @two
  // CHECK:      rt.call @layer
  // CHECK-NEXT: %[[V:.*]] = rt.alloc : memref<16xf32>
  // CHECK-NEXT: rt.start all_gather {{.*}} recv(%[[V]]
  // CHECK-NEXT: %[[Q:.*]] = rt.alloc : memref<4xf32>
  // CHECK-NEXT: rt.launch @half ins({{.*}}) outs(%[[Q]]
  // CHECK-NEXT: %[[W:.*]] = rt.alloc : memref<8xf32>
  // CHECK-NEXT: rt.start all_gather {{.*}} send(%[[Q]] {{.*}} recv(%[[W]]
  func.func @two(%x: memref<8xf32> {rt.noalias}, %p: memref<8xf32> {rt.noalias}) {
    rt.call @layer ins(%x, %x : memref<8xf32>, memref<8xf32>) outs(%p : memref<8xf32>)
    %q = rt.alloc : memref<4xf32>
    rt.launch @half ins(%p : memref<8xf32>) outs(%q : memref<4xf32>)
    %v = rt.alloc : memref<16xf32>
    %t = rt.start all_gather sum over <dp:2> "v" blocks [#rt.block<[1, 8, 1, 1, 1]>] send(%p : memref<8xf32>) recv(%v : memref<16xf32>)
    rt.wait %t
    %w = rt.alloc : memref<8xf32>
    %u = rt.start all_gather sum over <dp:2> "w" blocks [#rt.block<[1, 4, 1, 1, 1]>] send(%q : memref<4xf32>) recv(%w : memref<8xf32>)
    rt.wait %u
    return
  }

  // Arguments that may overlap are one buffer. So are both ends of a sum over
  // stages: ranks of other stages wait in another order.
  // CHECK-LABEL: func.func @kept
  // CHECK:      %[[T:.*]] = rt.start
  // CHECK-NEXT: rt.wait %[[T]]
  // CHECK-NEXT: rt.launch
  // CHECK-NEXT: %[[U:.*]] = rt.start
  // CHECK-NEXT: rt.wait %[[U]]
  // CHECK-NEXT: rt.launch
  func.func @kept(%g: memref<8xf32>, %x: memref<8xf32>, %y: memref<8xf32> {rt.noalias}) {
    %t = rt.start all_reduce sum over <dp:2> "g" blocks [#rt.block<[8, 1, 1, 1, 1]>] send(%g : memref<8xf32>) recv(%g : memref<8xf32>)
    rt.wait %t
    rt.launch @work ins(%x : memref<8xf32>) outs(%x : memref<8xf32>)
    %u = rt.start all_reduce sum over <pp:2> "s" blocks [#rt.block<[8, 1, 1, 1, 1]>] send(%y : memref<8xf32>) recv(%y : memref<8xf32>)
    rt.wait %u
    rt.launch @work ins(%x : memref<8xf32>) outs(%x : memref<8xf32>)
    return
  }
}
