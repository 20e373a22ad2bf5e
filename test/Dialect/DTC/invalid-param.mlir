// Every constraint of dtc.param, dtc.read and dtc.write, broken.
// RUN: dtc-opt %s -split-input-file -verify-diagnostics

// Constraint 1 of param: floats.
// expected-error@+1 {{failed to satisfy constraint: type attribute of dtc tensor of floats}}
dtc.param @p : !dtc.tensor<4x3xi32> from "p" [4, 3] view affine_map<(a, b) -> (a, b)> dims ["vocab", "embed"] {init = "zeros"}

// -----

// expected-error@+1 {{the stored tensor needs a name}}
dtc.param @p : !dtc.tensor<4x3xf32> from "" [4, 3] view affine_map<(a, b) -> (a, b)> dims ["vocab", "embed"] {init = "zeros"}

// -----

// Invariant or shard on every axis.
// expected-error@+1 {{must be invariant or shard on every axis, but is '!dtc.tensor<4x3xf32, partial{dp:2}>'}}
dtc.param @p : !dtc.tensor<4x3xf32, partial{dp:2}> from "p" [4, 3] view affine_map<(a, b) -> (a, b)> dims ["vocab", "embed"] {init = "zeros"}

// -----

// expected-error@+1 {{must be invariant or shard on every axis, but is '!dtc.tensor<4x3xf32, replicate{dp:2}>'}}
dtc.param @p : !dtc.tensor<4x3xf32, replicate{dp:2}> from "p" [4, 3] view affine_map<(a, b) -> (a, b)> dims ["vocab", "embed"] {init = "zeros"}

// -----

// Constraint 2: the view has the type's rank.
// expected-error@+1 {{view must map 2 indices to 2}}
dtc.param @p : !dtc.tensor<4x3xf32> from "p" [4, 3] view affine_map<(a) -> (a, a)> dims ["vocab", "embed"] {init = "zeros"}

// -----

// And as many results as the stored tensor has dimensions.
// expected-error@+1 {{view must map 2 indices to 1}}
dtc.param @p : !dtc.tensor<4x3xf32> from "p" [12] view affine_map<(a, b) -> (a, b)> dims ["vocab", "embed"] {init = "zeros"}

// -----

// No symbols.
// expected-error@+1 {{view must map 1 indices to 1}}
dtc.param @p : !dtc.tensor<4xf32> from "p" [4] view affine_map<(a)[s] -> (a + s)> dims ["vocab"] {init = "zeros"}

// -----

// Affine in every index.
// expected-error@+1 {{view must be affine in every index}}
dtc.param @p : !dtc.tensor<4x3xf32> from "p" [2, 3] view affine_map<(a, b) -> (a floordiv 2, b)> dims ["vocab", "embed"] {init = "zeros"}

// -----

// expected-error@+1 {{view must be affine in every index}}
dtc.param @p : !dtc.tensor<4xf32> from "p" [4] view affine_map<(a) -> (a mod 0)> dims ["vocab"] {init = "zeros"}

// -----

// Within the stored tensor.
// expected-error@+1 {{view reaches [0, 7] in dimension 0 of the stored tensor, which has 7}}
dtc.param @p : !dtc.tensor<2x4xf32> from "p" [7] view affine_map<(h, e) -> (h * 4 + e)> dims ["heads", "head_dim"] {init = "zeros"}

// -----

// expected-error@+1 {{view reaches [-3, 0] in dimension 0 of the stored tensor, which has 4}}
dtc.param @p : !dtc.tensor<4xf32> from "p" [4] view affine_map<(a) -> (-a)> dims ["embed"] {init = "zeros"}

// -----

// expected-error@+1 {{view reaches [0, 0] in dimension 1 of the stored tensor, which has 0}}
dtc.param @p : !dtc.tensor<4xf32> from "p" [4, 0] view affine_map<(a) -> (a, 0)> dims ["embed"] {init = "zeros"}

// -----

// Constraint 3: one name for each dimension.
// expected-error@+1 {{dims must name 2 dimensions}}
dtc.param @p : !dtc.tensor<4x3xf32> from "p" [4, 3] view affine_map<(a, b) -> (a, b)> dims ["vocab"] {init = "zeros"}

// -----

// expected-error@+1 {{init must be normal, zeros or ones, but is 'xavier'}}
dtc.param @p : !dtc.tensor<4xf32> from "p" [4] view affine_map<(a) -> (a)> dims ["embed"] {init = "xavier"}

// -----

// expected-error@+1 {{std must be finite and not negative}}
dtc.param @p : !dtc.tensor<4xf32> from "p" [4] view affine_map<(a) -> (a)> dims ["embed"] {init = "normal", std = -1.0 : f64}

// -----

// expected-error@+1 {{std must be finite and not negative}}
dtc.param @p : !dtc.tensor<4xf32> from "p" [4] view affine_map<(a) -> (a)> dims ["embed"] {init = "normal", std = 0x7FF0000000000000 : f64}

// -----

// Constraint 1 of read and write: the symbol is a parameter.
func.func @f() {
  // expected-error@+1 {{@p is not a dtc.param}}
  %0 = dtc.read param of @p : !dtc.tensor<4xf32>
  return
}

// -----

func.func @f(%x: !dtc.tensor<4xf32>) {
  // expected-error@+1 {{@f is not a dtc.param}}
  dtc.write %x to param of @f : !dtc.tensor<4xf32>
  return
}

// -----

// Constraint 2: the parameter's type.
dtc.param @p : !dtc.tensor<4xf32> from "p" [4] view affine_map<(a) -> (a)> dims ["embed"] {init = "zeros"}
func.func @f() {
  // expected-error@+1 {{has type '!dtc.tensor<4{dp:2}xf32>' but @p is '!dtc.tensor<4xf32>'}}
  %0 = dtc.read param of @p : !dtc.tensor<4{dp:2}xf32>
  return
}

// -----

// A gradient may be placed otherwise, but it is no sum any more.
dtc.param @p : !dtc.tensor<4xf32> from "p" [4] view affine_map<(a) -> (a)> dims ["embed"] {init = "zeros"}
func.func @f(%x: !dtc.tensor<4xf32, partial{dp:2}>) {
  // expected-error@+1 {{has type '!dtc.tensor<4xf32, partial{dp:2}>' but @p is '!dtc.tensor<4xf32>'}}
  dtc.write %x to grad of @p : !dtc.tensor<4xf32, partial{dp:2}>
  return
}

// -----

dtc.param @p : !dtc.tensor<4xf32> from "p" [4] view affine_map<(a) -> (a)> dims ["embed"] {init = "zeros"}
func.func @f() {
  // expected-error@+1 {{has type '!dtc.tensor<5xf32>' but @p is '!dtc.tensor<4xf32>'}}
  %0 = dtc.read m of @p : !dtc.tensor<5xf32>
  return
}

// -----

dtc.param @p : !dtc.tensor<4xf32> from "p" [4] view affine_map<(a) -> (a)> dims ["embed"] {init = "zeros"}
func.func @f() {
  // expected-error@+1 {{unknown keyword 'weight'}}
  %0 = dtc.read weight of @p : !dtc.tensor<4xf32>
  return
}

// -----

// Numbers that 64 bits do not hold.
// expected-error@+1 {{view reaches further than 2^63 in dimension 0}}
dtc.param @p : !dtc.tensor<2x2xf32> from "w" [4] view affine_map<(a, b) -> (a * 4611686018427387904 + b * 4611686018427387905)> dims ["a", "b"] {init = "zeros"}

// -----

// expected-error@+1 {{the stored tensor has more than 2^50 elements}}
dtc.param @p : !dtc.tensor<4xf32> from "w" [4611686018427387905, 4] view affine_map<(a) -> (0, a)> dims ["a"] {init = "zeros"}

// -----

// Attributes are looked at before their op verifies.
// expected-error@+1 {{dtc.dims must name every dimension}}
"dtc.param"() {dtc.dims = []} : () -> ()

// -----

module attributes {dtc.mesh = #dtc.mesh<dp:2>} {
  // expected-error@+1 {{requires attribute}}
  "dtc.param"() : () -> ()
}
