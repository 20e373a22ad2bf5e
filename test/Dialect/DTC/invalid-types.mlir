// Every constraint of !dtc.tensor and #dtc.mesh, broken, and the attributes.
// RUN: dtc-opt %s -split-input-file -verify-diagnostics

// Constraint 1: positive dimensions.
// expected-error@+1 {{dimension 1 must be positive and not above its padded length, but is 0(0)}}
func.func private @f(!dtc.tensor<4x0(0)xf32>)

// -----

// No padded length below the length.
// expected-error@+1 {{dimension 0 must be positive and not above its padded length, but is 5(4)}}
func.func private @f(!dtc.tensor<5(4)xf32>)

// -----

// expected-error@+1 {{tensor has more than 2^50 elements}}
func.func private @f(!dtc.tensor<1099511627776x1099511627776xf32>)

// -----

// Constraint 2: axes divide the padded length.
// expected-error@+1 {{dimension 0 of length 6 is not divisible by its axes {tp:4} (product 4)}}
func.func private @f(!dtc.tensor<6{tp:4}xf32>)

// -----

// The product of these is 0 modulo 2^64.
// expected-error@+1 {{dimension 0 of length 6 is not divisible by its axes}}
func.func private @f(!dtc.tensor<6{a:1073741824, b:1073741824, c:1073741824}xf32>)

// -----

// Constraint 3: no axis twice.
// expected-error@+1 {{axis 'tp' is named twice}}
func.func private @f(!dtc.tensor<4{tp:4}x4{tp:4}xf32>)

// -----

// expected-error@+1 {{axis 'tp' is named twice}}
func.func private @f(!dtc.tensor<4{tp:4}xf32, partial{tp:4}>)

// -----

// No parts that overlap.
// expected-error@+1 {{axis 'tp' is named twice}}
func.func private @f(!dtc.tensor<4{tp:4}xf32, replicate{tp:(2)4}>)

// -----

// No parts that do not nest.
// expected-error@+1 {{parts of one axis do not nest}}
func.func private @f(!dtc.tensor<4{tp:2}xf32, partial{tp:(3)2}>)

// -----

// Constraint 4: element types.
// expected-error@+1 {{element type must be f64, f32, bf16, i32 or i64, but is 'f16'}}
func.func private @f(!dtc.tensor<4xf16>)

// -----

// expected-error@+1 {{element type must be f64, f32, bf16, i32 or i64, but is 'i1'}}
func.func private @f(!dtc.tensor<i1>)

// -----

// expected-error@+1 {{max placement is for floats}}
func.func private @f(!dtc.tensor<4xi32, max{tp:4}>)

// -----

// Axes have positive sizes.
// expected-error@+1 {{axis 'tp' must have a positive size, of at most 2^30}}
func.func private @f(!dtc.tensor<4{tp:0}xf32>)

// -----

// expected-error@+1 {{axis 'tp' must have a positive size, of at most 2^30}}
func.func private @f(!dtc.tensor<4{tp:(-2)2}xf32>)

// -----

// expected-error@+1 {{expected 'partial', 'max' or 'replicate', once each, but got 'partial'}}
func.func private @f(!dtc.tensor<4xf32, partial{tp:4}, partial{dp:2}>)

// -----

// A mesh has whole axes ...
// expected-error@+1 {{a mesh has whole axes; 'tp' is given as a part}}
module attributes {dtc.mesh = #dtc.mesh<tp:(2)2>} {}

// -----

// ... once each ...
// expected-error@+1 {{axis 'tp' is named twice in the mesh}}
module attributes {dtc.mesh = #dtc.mesh<tp:2, tp:4>} {}

// -----

// ... and not too many ranks.
// expected-error@+1 {{the mesh must have between 1 and 2^30 ranks}}
module attributes {dtc.mesh = #dtc.mesh<dp:1048576, tp:1048576>} {}

// -----

// The mesh stands on the module.
// expected-error@+1 {{dtc.mesh must be a mesh, on a module}}
func.func private @f() attributes {dtc.mesh = #dtc.mesh<tp:2>}

// -----

// Axes of types lie on the mesh.
module attributes {dtc.mesh = #dtc.mesh<dp:2, tp:4>} {
  func.func @f(%x: !dtc.tensor<8{tp:8}xf32>) {
    // expected-error@+1 {{axis {tp:8} of '!dtc.tensor<8xf32, replicate{tp:8}>' is not on the mesh}}
    %0 = dtc.all_gather %x dim 0 over <tp:8> : (!dtc.tensor<8{tp:8}xf32>) -> !dtc.tensor<8xf32, replicate{tp:8}>
    return
  }
}

// -----

// dtc.dims names every dimension.
func.func @f() {
  // expected-error@+1 {{dtc.dims must name every dimension of '!dtc.tensor<4xi32>'}}
  %0 = dtc.iota {dtc.dims = ["batch", "seq"]} : () -> !dtc.tensor<4xi32>
  return
}

// -----

// dtc.sharding lists the axes of every dimension.
func.func @f() {
  // expected-error@+1 {{dtc.sharding must list the axes of every dimension of '!dtc.tensor<4xi32>'}}
  %0 = dtc.iota {dtc.sharding = ["seq"]} : () -> !dtc.tensor<4xi32>
  return
}

// -----

// A length of zero is no hexadecimal number.
// expected-error@+1 {{dimension 1 must be positive}}
func.func @f(%x: !dtc.tensor<4x0x1xf32>)

// -----

// Every input and output has a name of its own.
// expected-error@+1 {{dtc.input "labels" stands at #0 and at #1}}
func.func @f(%x: !dtc.tensor<4xi32> {dtc.input = "labels"}, %y: !dtc.tensor<4xi32> {dtc.input = "labels"}) {
  return
}

// -----

// expected-error@+1 {{dtc.output "loss" stands at #0 and at #1}}
func.func @f(%x: !dtc.tensor<f32>) -> (!dtc.tensor<f32> {dtc.output = "loss"}, !dtc.tensor<f32> {dtc.output = "loss"}) {
  return %x, %x : !dtc.tensor<f32>, !dtc.tensor<f32>
}

// -----

// expected-error@+1 {{dtc.input must be a string}}
func.func @f(%x: !dtc.tensor<4xi32> {dtc.input = 3}) {
  return
}

// -----

// A part and what comes before it are an axis of their product.
// expected-error@+1 {{axis 'tp' must have a positive size, of at most 2^30}}
func.func @f(%x: !dtc.tensor<8xf32, partial{tp:1073741824, tp:(1073741824)2}>) {
  return
}
