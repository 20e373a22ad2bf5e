// RUN: dtc-opt %s -split-input-file -verify-diagnostics -verify-each=false -dtc-propagate-sharding="mesh=dp=2,tp=3 report-conflicts"

// expected-error @+1 {{tp=3 does not divide 8 (heads); it may be 1, 2, 4 or 8}}
dtc.param @w : !dtc.tensor<4x8x2xf32> from "w" [4, 16] view affine_map<(a, b, c) -> (a, b * 2 + c)> dims ["embed", "heads", "head_dim"] {init = "ones"}

// -----

// Key/value heads may also divide tp: each is then shared by several ranks.
// expected-error @+1 {{tp=3 does not divide 4 (kv_heads); it may be 1, 2 or 4, or a multiple of 4}}
dtc.param @w : !dtc.tensor<4x4x2xf32> from "w" [4, 8] view affine_map<(a, b, c) -> (a, b * 2 + c)> dims ["embed", "kv_heads", "head_dim"] {init = "ones"}

// -----

// expected-error @+1 {{dp=2 does not divide 7 (batch); it may be 1 or 7}}
func.func @model(%x: !dtc.tensor<7x4xf32> {dtc.dims = ["batch", "embed"]}) -> !dtc.tensor<7x4xf32> {
  return %x : !dtc.tensor<7x4xf32>
}

// -----

func.func @model(%x: !dtc.tensor<8x4xf32>) -> !dtc.tensor<8x4xf32> {
  // expected-error @+1 {{axis {cp:2} is not on the mesh #dtc.mesh<dp:2, tp:3>}}
  %y = dtc.scale %x by 2.0 {dtc.sharding = [#dtc.axes<cp:2>, #dtc.axes<>]} : (!dtc.tensor<8x4xf32>) -> !dtc.tensor<8x4xf32>
  return %y : !dtc.tensor<8x4xf32>
}

// -----

// Also in a function that nobody calls.
// expected-error @+1 {{has a value of type 'memref<16xf32>'; all must be dtc tensors}}
func.func private @kernel(%a: memref<16xf32>) {
  return
}
func.func @model(%x: !dtc.tensor<8xf32>) {
  return
}

// -----

// expected-error @+1 {{must have a body of one block}}
func.func private @elsewhere(!dtc.tensor<8xf32>)
func.func @model(%x: !dtc.tensor<8xf32>) {
  return
}

// -----

// A program is partitioned once.
// expected-error @+1 {{has a value of type '!dtc.tensor<2xf32, partial{tp:2}>', which is sharded already; axes to keep are named by 'dtc.sharding'}}
func.func @model(%x: !dtc.tensor<2xf32, partial{tp:2}>) {
  return
}

// -----

// expected-error @+1 {{has a value of type '!dtc.tensor<4{tp:2}xf32>', which is sharded already}}
dtc.param @w : !dtc.tensor<4{tp:2}xf32> from "w" [4] view affine_map<(a) -> (a)> dims ["embed"] {init = "ones"}

// -----

func.func @a(%x: !dtc.tensor<8xf32>) -> !dtc.tensor<8xf32> {
  return %x : !dtc.tensor<8xf32>
}
// expected-error @+1 {{a program has one public function, but @a is public too}}
func.func @b(%x: !dtc.tensor<8xf32>) -> !dtc.tensor<8xf32> {
  return %x : !dtc.tensor<8xf32>
}

// -----

// A dimension that may not be padded: query heads are a product of factors.
module {
  func.func @model(%q: !dtc.tensor<2x4x4x2xf32>, %k: !dtc.tensor<2x4x4x2xf32>, %p: !dtc.tensor<4xi32> {dtc.sharding = [#dtc.axes<>]}) -> !dtc.tensor<2x4x4x2xf32> {
    // expected-error @+1 {{axes of size 3 do not divide 4; their product may be 1, 2 or 4}}
    %s = dtc.scale %q by 1.0 {dtc.sharding = [#dtc.axes<>, #dtc.axes<>, #dtc.axes<tp:3>, #dtc.axes<>]} : (!dtc.tensor<2x4x4x2xf32>) -> !dtc.tensor<2x4x4x2xf32>
    %o, %lse = dtc.attention %s, %k, %k at %p, %p {causal, scale = 1.0} : (!dtc.tensor<2x4x4x2xf32>, !dtc.tensor<2x4x4x2xf32>, !dtc.tensor<2x4x4x2xf32>, !dtc.tensor<4xi32>, !dtc.tensor<4xi32>) -> (!dtc.tensor<2x4x4x2xf32>, !dtc.tensor<2x4x4xf32>)
    return %o : !dtc.tensor<2x4x4x2xf32>
  }
}

// -----

// Conflicts are reported: the activation is cut where the parameter decides.
module {
  dtc.param @w : !dtc.tensor<6x6xf32> from "w" [6, 6] view affine_map<(a, b) -> (a, b)> dims ["embed", "mlp"] {init = "ones"}
  func.func @model(%a: !dtc.tensor<8x6xf32>) -> !dtc.tensor<8x6xf32> {
    %w = dtc.read param of @w : !dtc.tensor<6x6xf32>
    // expected-note @+1 {{the operand comes from here}}
    %x = dtc.scale %a by 1.0 {dtc.sharding = [#dtc.axes<>, #dtc.axes<tp:3>]} : (!dtc.tensor<8x6xf32>) -> !dtc.tensor<8x6xf32>
    // expected-remark @+1 {{operand #0 is cut by {tp:3} on factor 'd', which another operand decides otherwise}}
    %h = dtc.einsum "bd,df->bf"(%x, %w) : (!dtc.tensor<8x6xf32>, !dtc.tensor<6x6xf32>) -> !dtc.tensor<8x6xf32>
    return %h : !dtc.tensor<8x6xf32>
  }
}

// -----

func.func @model(%x: !dtc.tensor<8x7xf32>) {
  // expected-error @+1 {{has a value of type '!dtc.tensor<8{dp:2}x7xf32>', which is sharded already}}
  %0 = dtc.slice %x dim 0 over <dp:2> : (!dtc.tensor<8x7xf32>) -> !dtc.tensor<8{dp:2}x7xf32>
  return
}

// -----

// A prime below 2^50: its divisors are found without counting to it.
// expected-error @+1 {{dp=2 does not divide 1125899906842597 (batch); it may be 1 or 1125899906842597}}
func.func @model(%x: !dtc.tensor<1125899906842597xf32> {dtc.dims = ["batch"]}) {
  return
}
