// RUN: dtc-opt %s -split-input-file -verify-diagnostics "-dtc-layout-sequence=layout=zigzag parts=2"

// What knows tokens by their place, not by their position, would compute
// something else in another order.

dtc.param @mix : !dtc.tensor<8x8xf32> from "mix" [8, 8] view affine_map<(a, b) -> (a, b)> dims ["from", "to"] {init = "ones"}
func.func private @layer(%x: !dtc.tensor<2x8x4xf32>, %w: !dtc.tensor<8x8xf32>) -> !dtc.tensor<2x8x4xf32> {
  %y = dtc.einsum "bsd,st->btd"(%x, %w) : (!dtc.tensor<2x8x4xf32>, !dtc.tensor<8x8xf32>) -> !dtc.tensor<2x8x4xf32>
  return %y : !dtc.tensor<2x8x4xf32>
}
dtc.param @table : !dtc.tensor<5x4xf32> from "table" [5, 4] view affine_map<(a, b) -> (a, b)> dims ["vocab", "embed"] {init = "ones"}
func.func @model(%ids: !dtc.tensor<2x8xi32> {dtc.dims = ["batch", "seq"], dtc.input = "input_ids"}) -> !dtc.tensor<2x8x4xf32> {
  // expected-error @+1 {{has the sequence as dimension 0 in its original order, so its layout must be contiguous, not zigzag}}
  %w = dtc.read param of @mix : !dtc.tensor<8x8xf32>
  %t = dtc.read param of @table : !dtc.tensor<5x4xf32>
  %x = dtc.embedding %t[%ids] : (!dtc.tensor<5x4xf32>, !dtc.tensor<2x8xi32>) -> !dtc.tensor<2x8x4xf32>
  %y = func.call @layer(%x, %w) : (!dtc.tensor<2x8x4xf32>, !dtc.tensor<8x8xf32>) -> !dtc.tensor<2x8x4xf32>
  return %y : !dtc.tensor<2x8x4xf32>
}

// -----

// Positions that are not named so.

func.func @model(%ids: !dtc.tensor<2x8xi32> {dtc.dims = ["batch", "seq"], dtc.input = "input_ids"}) -> !dtc.tensor<2x8xi32> {
  // expected-error @+1 {{has the sequence as dimension 0 in its original order, so its layout must be contiguous, not zigzag}}
  %p = dtc.iota : () -> !dtc.tensor<8xi32>
  %x = dtc.add %ids, %p : (!dtc.tensor<2x8xi32>, !dtc.tensor<8xi32>) -> !dtc.tensor<2x8xi32>
  return %x : !dtc.tensor<2x8xi32>
}

// -----

// An op that counts along the sequence, where only permuted documents are.

func.func private @layer(%d: !dtc.tensor<2x8xi32>) -> !dtc.tensor<2x8xi32> {
  // expected-error @+1 {{reads the order of the sequence, so its layout must be contiguous, not zigzag}}
  %p = dtc.document_positions %d : (!dtc.tensor<2x8xi32>) -> !dtc.tensor<2x8xi32>
  return %p : !dtc.tensor<2x8xi32>
}
func.func @model(%d: !dtc.tensor<2x8xi32> {dtc.dims = ["batch", "seq"], dtc.input = "document_ids"}) -> !dtc.tensor<2x8xi32> {
  %p = func.call @layer(%d) : (!dtc.tensor<2x8xi32>) -> !dtc.tensor<2x8xi32>
  return %p : !dtc.tensor<2x8xi32>
}

// -----

// Constants have no order, and a table of positions is read by position.

dtc.param @table : !dtc.tensor<8x4xf32> from "table" [8, 4] view affine_map<(a, b) -> (a, b)> dims ["position", "embed"] {init = "ones"}
func.func @model(%ids: !dtc.tensor<2x8xi32> {dtc.dims = ["batch", "seq"], dtc.input = "input_ids"}) -> !dtc.tensor<2x8x4xf32> {
  %w = dtc.read param of @table : !dtc.tensor<8x4xf32>
  %p = dtc.iota {dtc.dims = ["seq"]} : () -> !dtc.tensor<8xi32>
  %rows = dtc.embedding %w[%p] : (!dtc.tensor<8x4xf32>, !dtc.tensor<8xi32>) -> !dtc.tensor<8x4xf32>
  %c = dtc.constant 2.0 : () -> !dtc.tensor<8x4xf32>
  %m = dtc.multiply %rows, %c : (!dtc.tensor<8x4xf32>, !dtc.tensor<8x4xf32>) -> !dtc.tensor<8x4xf32>
  %x = dtc.embedding %w[%ids] : (!dtc.tensor<8x4xf32>, !dtc.tensor<2x8xi32>) -> !dtc.tensor<2x8x4xf32>
  %y = dtc.add %x, %m : (!dtc.tensor<2x8x4xf32>, !dtc.tensor<8x4xf32>) -> !dtc.tensor<2x8x4xf32>
  return %y : !dtc.tensor<2x8x4xf32>
}

// -----

// expected-error @+1 {{only integers of the sequence are put in another order, not '!dtc.tensor<2x8x4xf32>': its layout must be contiguous, not zigzag}}
func.func @model(%x: !dtc.tensor<2x8x4xf32> {dtc.dims = ["batch", "seq", "embed"], dtc.input = "x"}) -> !dtc.tensor<2x8x4xf32> {
  %y = dtc.scale %x by 2.0 : (!dtc.tensor<2x8x4xf32>) -> !dtc.tensor<2x8x4xf32>
  return %y : !dtc.tensor<2x8x4xf32>
}
