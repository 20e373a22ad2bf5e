// RUN: dtc-opt %s -split-input-file -verify-diagnostics -dtc-propagate-sharding=mesh=dp=2
// RUN: dtc-opt %s -split-input-file -verify-diagnostics -dtc-insert-collectives

// A program is one module: what stands in a module within it has symbols of its
// own, which no pass would find.
module attributes {dtc.mesh = #dtc.mesh<dp:2>} {
  // expected-error @+1 {{is inside of a module; a program is one module}}
  module {
    dtc.param @a : !dtc.tensor<4xf32> from "a" [4] view affine_map<(d) -> (d)> dims ["embed"] {init = "ones"}
    func.func @f() {
      %a = dtc.read param of @a : !dtc.tensor<4xf32>
      return
    }
  }
  func.func @model(%x: !dtc.tensor<4xf32>) {
    return
  }
}

// -----

// Whatever has symbols of its own.
module attributes {dtc.mesh = #dtc.mesh<dp:2>} {
  // expected-error @+1 {{is inside of a module; a program is one module}}
  gpu.module @g {
    dtc.param @a : !dtc.tensor<4xf32> from "a" [4] view affine_map<(d) -> (d)> dims ["embed"] {init = "ones"}
    func.func @f() {
      %a = dtc.read param of @a : !dtc.tensor<4xf32>
      return
    }
  }
  func.func @model(%x: !dtc.tensor<4xf32>) {
    return
  }
}
