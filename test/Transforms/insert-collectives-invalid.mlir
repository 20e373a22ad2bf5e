// RUN: dtc-opt %s -split-input-file -verify-diagnostics -dtc-insert-collectives

// What -dtc-propagate-sharding leaves is checked where it does not come from
// there.
// expected-error@+1 {{has a value of type 'i32'; all must be dtc tensors}}
func.func @f(%x: i32) {
  return
}

// -----

module attributes {dtc.mesh = #dtc.mesh<tp:3>} {
  // expected-error@+1 {{cannot be cut by its dtc.sharding: dimension 0 of length 8 is not divisible by its axes {tp:3}}}
  dtc.param @w : !dtc.tensor<8xf32> from "w" [8] view affine_map<(d) -> (d)> dims ["embed"] {init = "ones", dtc.sharding = [#dtc.axes<tp:3>]}
  func.func @f() {
    return
  }
}

// -----

module attributes {dtc.mesh = #dtc.mesh<tp:2>} {
  // expected-error@+1 {{axis 'tp' is named twice}}
  func.func @f(%x: !dtc.tensor<8x8xf32> {dtc.sharding = [#dtc.axes<tp:2>, #dtc.axes<tp:2>]}) {
    return
  }
}
