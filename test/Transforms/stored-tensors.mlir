// RUN: dtc-opt %s -split-input-file -verify-diagnostics -dtc-propagate-sharding

// What is stored is trained and saved element by element: each must be in the
// view of exactly one parameter.

// A fused weight, its parts side by side in every row; a transposed one; one in
// reverse order; one that three interleaved views make up.
dtc.param @q : !dtc.tensor<4x2x3xf32> from "qk" [4, 12] view affine_map<(d, h, e) -> (d, h * 3 + e)> dims ["embed", "heads", "head_dim"] {init = "ones"}
dtc.param @k : !dtc.tensor<4x2x3xf32> from "qk" [4, 12] view affine_map<(d, h, e) -> (d, h * 3 + e + 6)> dims ["embed", "heads", "head_dim"] {init = "ones"}
dtc.param @t : !dtc.tensor<4x6xf32> from "t" [6, 4] view affine_map<(a, b) -> (b, a)> dims ["embed", "mlp"] {init = "ones"}
dtc.param @r : !dtc.tensor<6xf32> from "r" [6] view affine_map<(a) -> (5 - a)> dims ["embed"] {init = "ones"}
dtc.param @i0 : !dtc.tensor<4xf32> from "i" [12] view affine_map<(a) -> (a * 3)> dims ["embed"] {init = "ones"}
dtc.param @i1 : !dtc.tensor<4xf32> from "i" [12] view affine_map<(a) -> (a * 3 + 1)> dims ["embed"] {init = "ones"}
dtc.param @i2 : !dtc.tensor<4xf32> from "i" [12] view affine_map<(a) -> (a * 3 + 2)> dims ["embed"] {init = "ones"}
func.func @model(%x: !dtc.tensor<8x4xf32> {dtc.dims = ["batch", "embed"]}) -> !dtc.tensor<8x4xf32> {
  return %x : !dtc.tensor<8x4xf32>
}

// -----

dtc.param @w : !dtc.tensor<4xf32> from "w" [6] view affine_map<(a) -> (a)> dims ["embed"] {init = "ones"}
// expected-error @+1 {{element 3 of stored tensor 'w' is in two views, of @w and @u: each must be in exactly one}}
dtc.param @u : !dtc.tensor<3xf32> from "w" [6] view affine_map<(a) -> (a + 3)> dims ["embed"] {init = "ones"}
func.func @model(%x: !dtc.tensor<8x4xf32> {dtc.dims = ["batch", "embed"]}) -> !dtc.tensor<8x4xf32> {
  return %x : !dtc.tensor<8x4xf32>
}

// -----

// As many elements as are stored, but the first half twice.
dtc.param @w : !dtc.tensor<3xf32> from "w" [6] view affine_map<(a) -> (a)> dims ["embed"] {init = "ones"}
// expected-error @+1 {{element 0 of stored tensor 'w' is in two views, of @w and @u}}
dtc.param @u : !dtc.tensor<3xf32> from "w" [6] view affine_map<(a) -> (a)> dims ["embed"] {init = "ones"}
func.func @model(%x: !dtc.tensor<8x4xf32> {dtc.dims = ["batch", "embed"]}) -> !dtc.tensor<8x4xf32> {
  return %x : !dtc.tensor<8x4xf32>
}

// -----

// One view may read nothing twice either.
// expected-error @+1 {{element 1 of stored tensor 'w' is in two views, of @w and @w}}
dtc.param @w : !dtc.tensor<2x2xf32> from "w" [4] view affine_map<(a, b) -> (a + b)> dims ["embed", "mlp"] {init = "ones"}
func.func @model(%x: !dtc.tensor<8x4xf32> {dtc.dims = ["batch", "embed"]}) -> !dtc.tensor<8x4xf32> {
  return %x : !dtc.tensor<8x4xf32>
}

// -----

// expected-error @+1 {{the views of stored tensor 'w' have 4 elements, but it has 6: each must be in exactly one}}
dtc.param @w : !dtc.tensor<4xf32> from "w" [6] view affine_map<(a) -> (a)> dims ["embed"] {init = "ones"}
func.func @model(%x: !dtc.tensor<8x4xf32> {dtc.dims = ["batch", "embed"]}) -> !dtc.tensor<8x4xf32> {
  return %x : !dtc.tensor<8x4xf32>
}

// -----

dtc.param @w : !dtc.tensor<3xf32> from "w" [6] view affine_map<(a) -> (a)> dims ["embed"] {init = "ones"}
// expected-error @+1 {{stored tensor 'w' has shape [2, 3] here, but another one in the view of @w}}
dtc.param @u : !dtc.tensor<3xf32> from "w" [2, 3] view affine_map<(a) -> (1, a)> dims ["embed"] {init = "ones"}
func.func @model(%x: !dtc.tensor<8x4xf32> {dtc.dims = ["batch", "embed"]}) -> !dtc.tensor<8x4xf32> {
  return %x : !dtc.tensor<8x4xf32>
}
