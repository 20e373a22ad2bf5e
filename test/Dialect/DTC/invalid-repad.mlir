// Every constraint of dtc.repad, broken.
// RUN: dtc-opt %s -split-input-file -verify-diagnostics

// Constraint 1: a dimension.
func.func @f(%x: !dtc.tensor<5x7xf32>) {
  // expected-error@+1 {{dim 2 is not a dimension of '!dtc.tensor<5x7xf32>'}}
  %0 = dtc.repad %x dim 2 : (!dtc.tensor<5x7xf32>) -> !dtc.tensor<5x7xf32>
  return
}

// -----

// The logical tensor stays.
func.func @f(%x: !dtc.tensor<5x7xf32>) {
  // expected-error@+1 {{must keep shape and element type}}
  %0 = dtc.repad %x dim 0 : (!dtc.tensor<5x7xf32>) -> !dtc.tensor<8x7xf32>
  return
}

// -----

func.func @f(%x: !dtc.tensor<5x7xf32>) {
  // expected-error@+1 {{must keep shape and element type}}
  %0 = dtc.repad %x dim 0 : (!dtc.tensor<5x7xf32>) -> !dtc.tensor<5(8)x7xf64>
  return
}

// -----

// Constraint 2: one dimension.
func.func @f(%x: !dtc.tensor<5x7xf32>) {
  // expected-error@+1 {{dimension 1 of result #0 is padded to 8 but 'b' is padded to 7 elsewhere}}
  %0 = dtc.repad %x dim 0 : (!dtc.tensor<5x7xf32>) -> !dtc.tensor<5(8)x7(8)xf32>
  return
}

// -----

// Constraint 3: pieces would have other borders.
func.func @f(%x: !dtc.tensor<5(6){dp:2}x7xf32>) {
  // expected-error@+1 {{factor 'a' is whole}}
  %0 = dtc.repad %x dim 0 : (!dtc.tensor<5(6){dp:2}x7xf32>) -> !dtc.tensor<5(8){dp:2}x7xf32>
  return
}

// -----

// The placement stays.
func.func @f(%x: !dtc.tensor<5x7xf32, partial{dp:2}>) {
  // expected-error@+1 {{the placements (partial -> replicate) are illegal}}
  %0 = dtc.repad %x dim 0 : (!dtc.tensor<5x7xf32, partial{dp:2}>) -> !dtc.tensor<5(8)x7xf32, replicate{dp:2}>
  return
}
