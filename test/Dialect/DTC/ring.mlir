// RUN: dtc-opt %s | dtc-opt | FileCheck %s

// A ring: two blocks of keys visit the queries of two ranks.

// CHECK-LABEL: func.func @ring
// CHECK: dtc.ring 2(
// CHECK: dtc.shift %{{.*}} dim 1 blocks 2 : (!dtc.tensor<2x8{cp:2}x2x4xf32>) -> !dtc.tensor<2x8{cp:2}x2x4xf32>
// CHECK: dtc.attention {{.*}}blocks = 2
// CHECK: dtc.merge_attention
// CHECK: dtc.yield
module attributes {dtc.mesh = #dtc.mesh<cp:2>} {
func.func @ring(%q: !dtc.tensor<2x8{cp:2}x2x4xf32>, %k: !dtc.tensor<2x8{cp:2}x2x4xf32>, %v: !dtc.tensor<2x8{cp:2}x2x4xf32>, %p: !dtc.tensor<8{cp:2}xi32>, %o: !dtc.tensor<2x8{cp:2}x2x4xf32>, %l: !dtc.tensor<2x8{cp:2}x2xf32>) -> !dtc.tensor<2x8{cp:2}x2x4xf32> {
  %r:5 = dtc.ring 2(%k, %v, %p, %o, %l) {
  ^bb0(%ki: !dtc.tensor<2x8{cp:2}x2x4xf32>, %vi: !dtc.tensor<2x8{cp:2}x2x4xf32>, %pi: !dtc.tensor<8{cp:2}xi32>, %oi: !dtc.tensor<2x8{cp:2}x2x4xf32>, %li: !dtc.tensor<2x8{cp:2}x2xf32>):
    %k1 = dtc.shift %ki dim 1 blocks 2 : (!dtc.tensor<2x8{cp:2}x2x4xf32>) -> !dtc.tensor<2x8{cp:2}x2x4xf32>
    %v1 = dtc.shift %vi dim 1 blocks 2 : (!dtc.tensor<2x8{cp:2}x2x4xf32>) -> !dtc.tensor<2x8{cp:2}x2x4xf32>
    %p1 = dtc.shift %pi dim 0 blocks 2 : (!dtc.tensor<8{cp:2}xi32>) -> !dtc.tensor<8{cp:2}xi32>
    %ob, %lb = dtc.attention %q, %ki, %vi at %p, %pi {blocks = 2, causal, scale = 5.0e-01} : (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<8{cp:2}xi32>, !dtc.tensor<8{cp:2}xi32>) -> (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>)
    %o1, %l1 = dtc.merge_attention %oi, %li, %ob, %lb : (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>) -> (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>)
    dtc.yield %k1, %v1, %p1, %o1, %l1 : !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<8{cp:2}xi32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>
  } : (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<8{cp:2}xi32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>) -> (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<8{cp:2}xi32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>)
  return %r#3 : !dtc.tensor<2x8{cp:2}x2x4xf32>
}
}
