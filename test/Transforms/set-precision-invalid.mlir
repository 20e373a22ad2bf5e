// RUN: dtc-opt %s -split-input-file -verify-diagnostics -dtc-set-precision="precision=bf16"

func.func @f64(%x: !dtc.tensor<4xf32>) -> !dtc.tensor<4xf64> {
  // expected-error@+1 {{precision bf16 is for a model of f32, but here is '!dtc.tensor<4xf64>'}}
  %y = dtc.convert %x : (!dtc.tensor<4xf32>) -> !dtc.tensor<4xf64>
  return %y : !dtc.tensor<4xf64>
}

// -----

dtc.param @w : !dtc.tensor<4xf32> from "w" [4] view affine_map<(a) -> (a)> dims ["embed"] {init = "zeros"}
func.func @state() -> !dtc.tensor<4xf32> {
  // expected-error@+1 {{precision bf16 is for a model that only reads parameters}}
  %m = dtc.read m of @w : !dtc.tensor<4xf32>
  return %m : !dtc.tensor<4xf32>
}

// -----

func.func @partitioned(%x: !dtc.tensor<4xf32>) -> !dtc.tensor<4xf32, replicate{tp:2}> {
  // expected-error@+1 {{precision bf16 is for a model as it is written, before it is partitioned}}
  %y = dtc.f %x over <tp:2> : (!dtc.tensor<4xf32>) -> !dtc.tensor<4xf32, replicate{tp:2}>
  return %y : !dtc.tensor<4xf32, replicate{tp:2}>
}
