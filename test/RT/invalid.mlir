// RUN: dtc-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{must be invariant or shard on every axis}}
rt.storage @w.param param of "w" : !dtc.tensor<64xf32, partial{tp:4}>

// -----

// expected-error@+1 {{offset 100 is not a multiple of 64}}
rt.storage @w.param param of "w" : !dtc.tensor<64xf32> at 100

// -----

// expected-error@+1 {{unknown word 'weight'}}
rt.storage @w.param weight of "w" : !dtc.tensor<64xf32>

// -----

func.func @f() attributes {rt.step} {
  // expected-error@+1 {{@w is not an rt.storage}}
  %w = rt.address @w : memref<64xf32>
  return
}

// -----

rt.storage @w param of "w" : !dtc.tensor<64xf32>
func.func @f() attributes {rt.step} {
  // expected-error@+1 {{has type 'memref<32xf32>' but @w has 'memref<64xf32>'}}
  %w = rt.address @w : memref<32xf32>
  return
}

// -----

rt.storage @w param of "w" : !dtc.tensor<64xf32>
func.func private @layer() {
  // expected-error@+1 {{must stand in the step function}}
  %w = rt.address @w : memref<64xf32>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{offset -64 is not a multiple of 64}}
  %b = rt.alloc at -64 : memref<64xf32>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{must be memref of static shape and identity layout, of at most 2^50 numbers}}
  %b = rt.alloc : memref<?xf32>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{axis {tp:4} is not on the mesh}}
  %i = rt.index <tp:4>
  return
}

// -----

func.func @f(%i: index, %b: memref<2xi32>) {
  // expected-error@+1 {{stores into memref<i32>}}
  rt.set_index %i into %b : memref<2xi32>
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{must be memref<N x i8>}}
  %b = rt.workspace : memref<64xf32>
  return
}

// -----

func.func private @layer(%a: memref<8xf32>)
func.func @f(%a: memref<8xf32>) {
  // expected-error@+1 {{@layer is not a kernel}}
  rt.launch @layer ins(%a : memref<8xf32>)
  return
}

// -----

func.func private @kernel(%a: memref<8xf32>) attributes {rt.kernel}
func.func @f(%a: memref<8xf32>) {
  // expected-error@+1 {{@kernel is a kernel}}
  rt.call @kernel ins(%a : memref<8xf32>)
  return
}

// -----

func.func private @kernel(%a: memref<8xf32>) attributes {rt.kernel}
func.func @f(%a: memref<9xf32>) {
  // expected-error@+1 {{operands do not have the types of @kernel}}
  rt.launch @kernel ins(%a : memref<9xf32>)
  return
}

// -----

module attributes {dtc.mesh = #dtc.mesh<dp:2>} {
  func.func @f(%a: memref<8xf32>) {
    // expected-error@+1 {{as many receive buffers and blocks as send buffers}}
    %t = rt.start all_reduce sum over <dp:2> "x" blocks [] send(%a : memref<8xf32>) recv(%a : memref<8xf32>)
    rt.wait %t
    return
  }
}

// -----

module attributes {dtc.mesh = #dtc.mesh<dp:2>} {
  func.func @f(%a: memref<8xf32>, %b: memref<8xf32>) {
    // expected-error@+1 {{buffer 0 sends 8 and receives 8 elements, but block and ranks say 8 and 16}}
    %t = rt.start all_gather sum over <dp:2> "x" blocks [#rt.block<[8, 1, 1, 1, 1]>] send(%a : memref<8xf32>) recv(%b : memref<8xf32>)
    rt.wait %t
    return
  }
}

// -----

module attributes {dtc.mesh = #dtc.mesh<dp:2>} {
  func.func @f(%a: memref<8xf32>, %b: memref<8xi32>) {
    // expected-error@+1 {{different element types}}
    %t = rt.start all_reduce sum over <dp:2> "x" blocks [#rt.block<[8, 1, 1, 1, 1]>] send(%a : memref<8xf32>) recv(%b : memref<8xi32>)
    rt.wait %t
    return
  }
}

// -----

module attributes {dtc.mesh = #dtc.mesh<dp:2>} {
  func.func @f(%a: memref<8xi32>) {
    // expected-error@+1 {{a maximum is an all_reduce of floats}}
    %t = rt.start all_reduce max over <dp:2> "x" blocks [#rt.block<[8, 1, 1, 1, 1]>] send(%a : memref<8xi32>) recv(%a : memref<8xi32>)
    rt.wait %t
    return
  }
}

// -----

module attributes {dtc.mesh = #dtc.mesh<dp:2>} {
  func.func @f(%a: memref<8xf32>) {
    // expected-error@+1 {{must be waited for once}}
    %t = rt.start all_reduce sum over <dp:2> "x" blocks [#rt.block<[8, 1, 1, 1, 1]>] send(%a : memref<8xf32>) recv(%a : memref<8xf32>)
    return
  }
}

// -----

func.func @f(%t: !rt.token) {
  // expected-error@+1 {{needs the token of an rt.start}}
  rt.wait %t
  return
}

// -----

// expected-error@+1 {{axis {tp:2} is not on the mesh}}
rt.storage @w.param param of "w" : !dtc.tensor<8{tp:2}xf32>

// -----

func.func @f(%a: memref<4xindex>) {
  // expected-error@+1 {{must be memref of static shape and identity layout, of at most 2^50 numbers}}
  rt.post <"x", number = 0, peer = 1, bytes = 32> into %a : memref<4xindex>
  return
}

// -----

module attributes {dtc.mesh = #dtc.mesh<dp:2>} {
  func.func @f(%a: memref<0xf32>) {
    // expected-error@+1 {{a block has at most 2^50 elements}}
    %t = rt.start all_reduce sum over <dp:2> "x" blocks [#rt.block<[4294967296, 4294967296, 1, 1, 1]>] send(%a : memref<0xf32>) recv(%a : memref<0xf32>)
    rt.wait %t
    return
  }
}
