// RUN: dtc-opt %s -split-input-file -verify-diagnostics -dtc-lower-to-runtime

// Blocks are the ranks' pieces: only then is a block's attention local, and only
// then does -dtc-expand-communication make them. Others, written by hand, have a
// meaning, but no kernel.

module attributes {dtc.mesh = #dtc.mesh<dp:1>} {
  func.func @step(%q: !dtc.tensor<2x8x2x4xf32> {dtc.input = "q"}, %p: !dtc.tensor<8xi32> {dtc.input = "p"}) -> (!dtc.tensor<2x8x2x4xf32> {dtc.output = "o"}) {
    // expected-error @+2 {{has no CPU kernel for 2 blocks on 1 ranks}}
    // expected-error @+1 {{has no kernel}}
    %o, %l = dtc.attention %q, %q, %q at %p, %p {blocks = 2, causal, scale = 5.0e-01} : (!dtc.tensor<2x8x2x4xf32>, !dtc.tensor<2x8x2x4xf32>, !dtc.tensor<2x8x2x4xf32>, !dtc.tensor<8xi32>, !dtc.tensor<8xi32>) -> (!dtc.tensor<2x8x2x4xf32>, !dtc.tensor<2x8x2xf32>)
    return %o : !dtc.tensor<2x8x2x4xf32>
  }
}

// -----

module attributes {dtc.mesh = #dtc.mesh<cp:2>} {
  func.func @step(%x: !dtc.tensor<8{cp:2}xf32> {dtc.input = "x"}) -> (!dtc.tensor<8{cp:2}xf32> {dtc.output = "o"}) {
    %r = dtc.ring 4(%x) {
    ^bb0(%a: !dtc.tensor<8{cp:2}xf32>):
      // expected-error @+1 {{a ring of 4 blocks on 2 ranks cannot be lowered to the runtime level}}
      %b = dtc.shift %a dim 0 blocks 4 : (!dtc.tensor<8{cp:2}xf32>) -> !dtc.tensor<8{cp:2}xf32>
      dtc.yield %b : !dtc.tensor<8{cp:2}xf32>
    } : (!dtc.tensor<8{cp:2}xf32>) -> !dtc.tensor<8{cp:2}xf32>
    return %r : !dtc.tensor<8{cp:2}xf32>
  }
}

// -----

module attributes {dtc.mesh = #dtc.mesh<cp:2>} {
  func.func @step(%x: !dtc.tensor<8{cp:2}xf32> {dtc.input = "x"}) -> (!dtc.tensor<8{cp:2}xf32> {dtc.output = "o"}) {
    // expected-error @+1 {{moves data between ranks outside of a ring}}
    %b = dtc.shift %x dim 0 blocks 2 : (!dtc.tensor<8{cp:2}xf32>) -> !dtc.tensor<8{cp:2}xf32>
    return %b : !dtc.tensor<8{cp:2}xf32>
  }
}
