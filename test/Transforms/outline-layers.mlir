// RUN: dtc-opt %s -split-input-file -dtc-outline-layers=min-ops=3 | FileCheck %s

// A GPT that is written flat has its two layers outlined as they would be
// written by hand: only the residual stream goes from one to the next.
// RUN: dtc-opt %S/Inputs/gpt-flat.mlir -dtc-outline-layers -o %t.mlir
// RUN: FileCheck %s --check-prefix=GPT --input-file %t.mlir
// RUN: dtc-interpret %t.mlir --against %S/Inputs/gpt-flat.mlir
// RUN: dtc-interpret %t.mlir --against %S/Inputs/gpt.mlir

// GPT-LABEL: func.func private @layer(
// GPT-SAME:    %[[X:[a-z0-9]*]]: !dtc.tensor<8x4x8xf32> {dtc.dims = ["batch", "norm_seq", "embed"]},
// GPT-NEXT:    dtc.layer_norm %[[X]],
// GPT:         dtc.dropout
// GPT:         dtc.activation gelu_tanh
// GPT:         dtc.add
// GPT-NEXT:    %[[Z:.*]] = dtc.add
// GPT-NEXT:    return %[[Z]] : !dtc.tensor<8x4x8xf32>
// GPT-LABEL: func.func @model(
// GPT:         %[[X0:.*]] = dtc.add
// GPT:         %[[X1:.*]] = call @layer(%[[X0]],
// GPT:         %[[X2:.*]] = call @layer(%[[X1]],
// GPT-NEXT:    dtc.layer_norm %[[X2]],
// GPT-NOT:     func.func

// Parameters and constants become arguments; a value that is the same in every
// run (%pos) is one argument.

module {
  // CHECK-LABEL: func.func private @layer(
  // CHECK-SAME:    %[[X:[a-z0-9]*]]: !dtc.tensor<8x4xf32>, %[[W:[a-z0-9]*]]: !dtc.tensor<4x4xf32>, %[[C:[a-z0-9]*]]: !dtc.tensor<8x4xf32>)
  // CHECK-NEXT:    %[[A:.*]] = dtc.einsum "bd,de->be"(%[[X]], %[[W]])
  // CHECK-NEXT:    %[[B:.*]] = dtc.multiply %[[A]], %[[C]]
  // CHECK-NEXT:    %[[Y:.*]] = dtc.add %[[X]], %[[B]]
  // CHECK-NEXT:    return %[[Y]]
  // CHECK-LABEL: func.func @model(
  // CHECK-SAME:    %[[X:[a-z0-9]*]]: !dtc.tensor<8x4xf32>, %[[POS:[a-z0-9]*]]: !dtc.tensor<8x4xf32>)
  // CHECK:         %[[W0:.*]] = dtc.read param of @w0
  // CHECK:         %[[W1:.*]] = dtc.read param of @w1
  // CHECK-NEXT:    %[[X1:.*]] = call @layer(%[[X]], %[[W0]], %[[POS]])
  // CHECK-NEXT:    %[[X2:.*]] = call @layer(%[[X1]], %[[W1]], %[[POS]])
  // CHECK-NEXT:    %[[X3:.*]] = call @layer(%[[X2]], %[[W0]], %[[POS]])
  // CHECK-NEXT:    return %[[X3]]
  dtc.param @w0 : !dtc.tensor<4x4xf32> from "w0" [4, 4] view affine_map<(d0, d1) -> (d0, d1)> dims ["a", "b"] {init = "ones"}
  dtc.param @w1 : !dtc.tensor<4x4xf32> from "w1" [4, 4] view affine_map<(d0, d1) -> (d0, d1)> dims ["a", "b"] {init = "ones"}
  func.func @model(%x0: !dtc.tensor<8x4xf32>, %pos: !dtc.tensor<8x4xf32>) -> !dtc.tensor<8x4xf32> {
    %w0 = dtc.read param of @w0 : !dtc.tensor<4x4xf32>
    %w1 = dtc.read param of @w1 : !dtc.tensor<4x4xf32>
    %a0 = dtc.einsum "bd,de->be"(%x0, %w0) : (!dtc.tensor<8x4xf32>, !dtc.tensor<4x4xf32>) -> !dtc.tensor<8x4xf32>
    %b0 = dtc.multiply %a0, %pos : (!dtc.tensor<8x4xf32>, !dtc.tensor<8x4xf32>) -> !dtc.tensor<8x4xf32>
    %x1 = dtc.add %x0, %b0 : (!dtc.tensor<8x4xf32>, !dtc.tensor<8x4xf32>) -> !dtc.tensor<8x4xf32>
    %a1 = dtc.einsum "bd,de->be"(%x1, %w1) : (!dtc.tensor<8x4xf32>, !dtc.tensor<4x4xf32>) -> !dtc.tensor<8x4xf32>
    %b1 = dtc.multiply %a1, %pos : (!dtc.tensor<8x4xf32>, !dtc.tensor<8x4xf32>) -> !dtc.tensor<8x4xf32>
    %x2 = dtc.add %x1, %b1 : (!dtc.tensor<8x4xf32>, !dtc.tensor<8x4xf32>) -> !dtc.tensor<8x4xf32>
    %a2 = dtc.einsum "bd,de->be"(%x2, %w0) : (!dtc.tensor<8x4xf32>, !dtc.tensor<4x4xf32>) -> !dtc.tensor<8x4xf32>
    %b2 = dtc.multiply %a2, %pos : (!dtc.tensor<8x4xf32>, !dtc.tensor<8x4xf32>) -> !dtc.tensor<8x4xf32>
    %x3 = dtc.add %x2, %b2 : (!dtc.tensor<8x4xf32>, !dtc.tensor<8x4xf32>) -> !dtc.tensor<8x4xf32>
    return %x3 : !dtc.tensor<8x4xf32>
  }
}

// -----

// Equal runs with other ops between them; the one in the middle has an
// attribute of its own, and stays.

module {
  // CHECK-LABEL: func.func private @layer(
  // CHECK-COUNT-3: dtc.scale
  // CHECK:         return
  // CHECK-LABEL: func.func @model(
  // CHECK-NEXT:    %[[A:.*]] = call @layer(
  // CHECK-NEXT:    %[[B:.*]] = dtc.activation silu %[[A]]
  // CHECK-NEXT:    dtc.scale
  // CHECK-NEXT:    dtc.scale
  // CHECK-NEXT:    dtc.scale
  // CHECK-NEXT:    dtc.activation gelu
  // CHECK-NEXT:    call @layer(
  // CHECK-NEXT:    return
  func.func @model(%x: !dtc.tensor<8xf32>) -> !dtc.tensor<8xf32> {
    %0 = dtc.scale %x by 2.0 : (!dtc.tensor<8xf32>) -> !dtc.tensor<8xf32>
    %1 = dtc.scale %0 by 3.0 : (!dtc.tensor<8xf32>) -> !dtc.tensor<8xf32>
    %2 = dtc.scale %1 by 4.0 : (!dtc.tensor<8xf32>) -> !dtc.tensor<8xf32>
    %3 = dtc.activation silu %2 : (!dtc.tensor<8xf32>) -> !dtc.tensor<8xf32>
    %4 = dtc.scale %3 by 2.0 : (!dtc.tensor<8xf32>) -> !dtc.tensor<8xf32>
    %5 = dtc.scale %4 by 3.0 : (!dtc.tensor<8xf32>) -> !dtc.tensor<8xf32>
    %6 = dtc.scale %5 by 5.0 : (!dtc.tensor<8xf32>) -> !dtc.tensor<8xf32>
    %7 = dtc.activation gelu %6 : (!dtc.tensor<8xf32>) -> !dtc.tensor<8xf32>
    %8 = dtc.scale %7 by 2.0 : (!dtc.tensor<8xf32>) -> !dtc.tensor<8xf32>
    %9 = dtc.scale %8 by 3.0 : (!dtc.tensor<8xf32>) -> !dtc.tensor<8xf32>
    %10 = dtc.scale %9 by 4.0 : (!dtc.tensor<8xf32>) -> !dtc.tensor<8xf32>
    return %10 : !dtc.tensor<8xf32>
  }
}

// -----

// Equal ops that are wired otherwise are no repetition.

module {
  // CHECK-NOT:   func.func private
  // CHECK-LABEL: func.func @model(
  func.func @model(%x: !dtc.tensor<8xf32>, %y: !dtc.tensor<8xf32>) -> !dtc.tensor<8xf32> {
    %0 = dtc.add %x, %y : (!dtc.tensor<8xf32>, !dtc.tensor<8xf32>) -> !dtc.tensor<8xf32>
    %1 = dtc.multiply %0, %y : (!dtc.tensor<8xf32>, !dtc.tensor<8xf32>) -> !dtc.tensor<8xf32>
    %2 = dtc.add %1, %0 : (!dtc.tensor<8xf32>, !dtc.tensor<8xf32>) -> !dtc.tensor<8xf32>
    %3 = dtc.activation silu %2 : (!dtc.tensor<8xf32>) -> !dtc.tensor<8xf32>
    %4 = dtc.add %3, %y : (!dtc.tensor<8xf32>, !dtc.tensor<8xf32>) -> !dtc.tensor<8xf32>
    %5 = dtc.multiply %4, %y : (!dtc.tensor<8xf32>, !dtc.tensor<8xf32>) -> !dtc.tensor<8xf32>
    %6 = dtc.add %5, %5 : (!dtc.tensor<8xf32>, !dtc.tensor<8xf32>) -> !dtc.tensor<8xf32>
    return %6 : !dtc.tensor<8xf32>
  }
}
