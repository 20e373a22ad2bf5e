// RUN: dtc-interpret --print %s | FileCheck %s

// Eight tokens on two ranks. Labels are the next token, -100 (here 8) after the
// last: in zigzag order the ranks have [1, 2, 7, none] and [3, 4, 5, 6], in
// striped order [1, 3, 5, 7] and [2, 4, 6, none].

// CHECK: zigzag{{.*}}
// CHECK-NEXT: 1 2 7 8 3 4 5 6
// CHECK: striped{{.*}}
// CHECK-NEXT: 1 3 5 7 2 4 6 8
module attributes {dtc.mesh = #dtc.mesh<cp:2>} {
  func.func @model() -> (!dtc.tensor<8{cp:2}xi32> {dtc.output = "zigzag"}, !dtc.tensor<8{cp:2}xi32> {dtc.output = "striped"}) {
    %0 = dtc.iota : () -> !dtc.tensor<8xi32>
    %one = dtc.constant 1.0 : () -> !dtc.tensor<i32>
    %labels = dtc.add %0, %one : (!dtc.tensor<8xi32>, !dtc.tensor<i32>) -> !dtc.tensor<8xi32>
    %z = dtc.permute zigzag %labels dim 0 parts 2 : (!dtc.tensor<8xi32>) -> !dtc.tensor<8xi32>
    %zc = dtc.slice %z dim 0 over <cp:2> : (!dtc.tensor<8xi32>) -> !dtc.tensor<8{cp:2}xi32>
    %s = dtc.permute striped %labels dim 0 parts 2 : (!dtc.tensor<8xi32>) -> !dtc.tensor<8xi32>
    %sc = dtc.slice %s dim 0 over <cp:2> : (!dtc.tensor<8xi32>) -> !dtc.tensor<8{cp:2}xi32>
    return %zc, %sc : !dtc.tensor<8{cp:2}xi32>, !dtc.tensor<8{cp:2}xi32>
  }
}
