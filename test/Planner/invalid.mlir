// RUN: dtc-opt %s -dtc-plan-memory=check=true -split-input-file -verify-diagnostics

// expected-error@+1 {{calls itself: its frame would have no end}}
func.func private @a(%x: memref<4xf32>) {
  rt.call @a ins(%x : memref<4xf32>)
  return
}

// -----

// What is in flight is neither written nor, where it receives, read.
module attributes {dtc.mesh = #dtc.mesh<dp:2>} {
  func.func private @work(%x: memref<8xf32>, %y: memref<8xf32>) attributes {rt.kernel} {
    return
  }
  func.func @reads(%x: memref<8xf32> {rt.noalias}, %y: memref<8xf32> {rt.noalias}, %z: memref<4xf32> {rt.noalias}) {
    // Both read what is sent.
    // expected-note@+1 {{it starts here}}
    %t = rt.start all_gather sum over <dp:2> "w" blocks [#rt.block<[1, 4, 1, 1, 1]>] send(%z : memref<4xf32>) recv(%x : memref<8xf32>)
    %u = rt.start all_gather sum over <dp:2> "v" blocks [#rt.block<[1, 4, 1, 1, 1]>] send(%z : memref<4xf32>) recv(%y : memref<8xf32>)
    rt.wait %u
    rt.launch @work ins(%y : memref<8xf32>) outs(%y : memref<8xf32>)
    // expected-error@+1 {{reads a buffer of the collective 'w', which is in flight}}
    rt.launch @work ins(%x : memref<8xf32>) outs(%y : memref<8xf32>)
    rt.wait %t
    return
  }
}

// -----

module attributes {dtc.mesh = #dtc.mesh<dp:2>} {
  func.func private @work(%x: memref<8xf32>, %y: memref<8xf32>) attributes {rt.kernel} {
    return
  }
  func.func @writes(%x: memref<8xf32> {rt.noalias}, %y: memref<8xf32> {rt.noalias}, %z: memref<4xf32> {rt.noalias}) {
    // expected-note@+1 {{it starts here}}
    %t = rt.start reduce_scatter sum over <dp:2> "g" blocks [#rt.block<[1, 4, 1, 1, 1]>] send(%x : memref<8xf32>) recv(%z : memref<4xf32>)
    rt.launch @work ins(%x : memref<8xf32>) outs(%y : memref<8xf32>)
    // expected-error@+1 {{writes a buffer of the collective 'g', which is in flight}}
    rt.launch @work ins(%y : memref<8xf32>) outs(%x : memref<8xf32>)
    rt.wait %t
    return
  }
}

// -----

// Frames are planned of what is there.
// expected-error@+1 {{has no body: its frame is not known}}
func.func private @g(memref<8xf32>)
func.func @f(%x: memref<8xf32>) {
  rt.call @g ins(%x : memref<8xf32>)
  return
}

// -----

// expected-error@+1 {{has no body: its frame is not known}}
func.func private @s() attributes {rt.step}
