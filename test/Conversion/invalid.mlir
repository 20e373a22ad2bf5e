// RUN: dtc-opt %s -dtc-lower-to-runtime -split-input-file -verify-diagnostics

// expected-error@+1 {{has no public function}}
module {
}

// -----

module {
  func.func @a() { return }
  // expected-error@+1 {{is public, and so is @a: a program has one public function}}
  func.func @b() { return }
}

// -----

module {
  // expected-error@+1 {{argument 0 of the step has no dtc.input}}
  func.func @step(%x: !dtc.tensor<8xf32>) { return }
}

// -----

module {
  dtc.param @a : !dtc.tensor<8xf32> from "a" [8] view affine_map<(d) -> (d)> dims ["embed"] {init = "zeros"}
  // expected-error@+1 {{reads or writes parameters, but is no step}}
  func.func private @layer() -> !dtc.tensor<8xf32> {
    %a = dtc.read param of @a : !dtc.tensor<8xf32>
    return %a : !dtc.tensor<8xf32>
  }
  func.func @step() { return }
}

// -----

// The arena's symbols are named after parameters.
// expected-error@+1 {{needs the symbol @w.param, which is taken}}
dtc.param @w : !dtc.tensor<4xf32> from "w" [4] view affine_map<(d) -> (d)> dims ["embed"] {init = "ones"}
dtc.param @w.param : !dtc.tensor<4xf32> from "v" [4] view affine_map<(d) -> (d)> dims ["embed"] {init = "ones"}
func.func @step() -> (!dtc.tensor<4xf32> {dtc.output = "o"}) {
  %w = dtc.read param of @w : !dtc.tensor<4xf32>
  return %w : !dtc.tensor<4xf32>
}
