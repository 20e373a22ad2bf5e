// RUN: dtc-opt %s "-dtc-layout-sequence=layout=zigzag parts=2" | FileCheck %s
// RUN: dtc-opt %s "-dtc-layout-sequence=layout=contiguous mesh=cp=4" | FileCheck %s --check-prefix=SAME
// RUN: not dtc-opt %s "-dtc-layout-sequence=layout=zigzag mesh=cp=3" 2>&1 | FileCheck %s --check-prefix=LENGTH
// RUN: not dtc-opt %s "-dtc-layout-sequence=layout=spiral mesh=cp=2" 2>&1 | FileCheck %s --check-prefix=WORD

// Inputs and positions are permuted where they come in. What needs the order
// of the tokens (positions in their documents) stays before it.

// CHECK-LABEL: func.func @model
// CHECK-SAME: %[[IDS:.*]]: !dtc.tensor<2x8xi32> {dtc.dims = ["batch", "input_seq"], dtc.input = "input_ids"}
// CHECK-SAME: %[[DOCS:.*]]: !dtc.tensor<2x8xi32> {dtc.dims = ["batch", "input_seq"], dtc.input = "document_ids"}
// CHECK-DAG: %[[I:.*]] = dtc.permute zigzag %[[IDS]] dim 1 parts 2 {dtc.dims = ["batch", "seq"]}
// CHECK-DAG: %[[D:.*]] = dtc.permute zigzag %[[DOCS]] dim 1 parts 2 {dtc.dims = ["batch", "seq"]}
// CHECK: %[[IOTA:.*]] = dtc.iota {dtc.dims = ["input_seq"]}
// CHECK: %[[P:.*]] = dtc.permute zigzag %[[IOTA]] dim 0 parts 2 {dtc.dims = ["seq"]}
// CHECK: %[[PLACES:.*]] = dtc.document_positions %[[DOCS]] {dtc.dims = ["batch", "input_seq"]}
// CHECK: %[[Q:.*]] = dtc.permute zigzag %[[PLACES]] dim 1 parts 2 {dtc.dims = ["batch", "seq"]}
// CHECK: dtc.add %[[I]], %[[P]]
// CHECK: dtc.add %[[Q]], %[[D]]

// SAME-NOT: dtc.permute
// SAME-NOT: input_seq

// LENGTH: zigzag over 3 pieces needs a sequence whose length is a multiple of 6, but it is 8
// WORD: layout of the sequence is 'spiral', but may be contiguous, striped or zigzag
func.func @model(%ids: !dtc.tensor<2x8xi32> {dtc.dims = ["batch", "seq"], dtc.input = "input_ids"},
                 %docs: !dtc.tensor<2x8xi32> {dtc.dims = ["batch", "seq"], dtc.input = "document_ids"})
    -> (!dtc.tensor<2x8xi32>, !dtc.tensor<2x8xi32>) {
  %p = dtc.iota {dtc.dims = ["seq"]} : () -> !dtc.tensor<8xi32>
  %places = dtc.document_positions %docs {dtc.dims = ["batch", "seq"]} : (!dtc.tensor<2x8xi32>) -> !dtc.tensor<2x8xi32>
  %x = dtc.add %ids, %p : (!dtc.tensor<2x8xi32>, !dtc.tensor<8xi32>) -> !dtc.tensor<2x8xi32>
  %y = dtc.add %places, %docs : (!dtc.tensor<2x8xi32>, !dtc.tensor<2x8xi32>) -> !dtc.tensor<2x8xi32>
  return %x, %y : !dtc.tensor<2x8xi32>, !dtc.tensor<2x8xi32>
}
