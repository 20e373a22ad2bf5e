// RUN: dtc-opt %s -dtc-expand-communication | FileCheck %s --check-prefix=RING
// RUN: dtc-opt %s -dtc-expand-communication=attention=all-gather | FileCheck %s --check-prefix=GATHER
// RUN: dtc-opt %s -dtc-expand-communication=attention=ulysses | FileCheck %s --check-prefix=ULYSSES
// RUN: not dtc-opt %s -dtc-expand-communication=attention=star 2>&1 | FileCheck %s --check-prefix=WORD

// Three expansions of one op, forward and backward.

// RING-LABEL: func.func @attention
// RING: %[[O:[a-z0-9_]+]] = dtc.constant 0.0
// RING: %[[L:[a-z0-9_]+]] = dtc.constant 0xFFF0000000000000
// RING: %[[R:[a-z0-9_]+]]:5 = dtc.ring 2(%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %[[O]], %[[L]]) {
// RING: ^bb0(%[[K:[a-z0-9_]+]]: !dtc.tensor<2x8{cp:2}x2x4xf32>, %[[V:[a-z0-9_]+]]: !dtc.tensor<2x8{cp:2}x2x4xf32>, %[[P:[a-z0-9_]+]]: !dtc.tensor<8{cp:2}xi32>, %[[OI:[a-z0-9_]+]]: !dtc.tensor<2x8{cp:2}x4x4xf32>, %[[LI:[a-z0-9_]+]]: !dtc.tensor<2x8{cp:2}x4xf32>):
// RING-COUNT-3: dtc.shift {{.*}} blocks 2
// RING-NOT: dtc.shift
// RING: %[[OB:[a-z0-9_]+]], %[[LB:[a-z0-9_]+]] = dtc.attention %{{[a-z0-9_]+}}, %[[K]], %[[V]] at %{{[a-z0-9_]+}}, %[[P]] {{.*}}blocks = 2
// RING: dtc.merge_attention %[[OI]], %[[LI]], %[[OB]], %[[LB]]
// RING: return %[[R]]#3, %[[R]]#4

// GATHER-LABEL: func.func @attention
// GATHER-COUNT-3: dtc.all_gather {{.*}} over <cp:2>
// GATHER-NOT: dtc.all_gather
// GATHER: dtc.attention {{.*}} !dtc.tensor<2x8x2x4xf32, replicate{cp:2}>
// GATHER-NOT: dtc.all_gather
// GATHER: return

// ULYSSES-LABEL: func.func @attention
// ULYSSES-COUNT-3: dtc.all_to_all {{.*}} from 1 to 2 over <cp:2>
// ULYSSES: dtc.attention {{.*}}!dtc.tensor<2x8x4{cp:2}x4xf32>
// ULYSSES-COUNT-2: dtc.all_to_all {{.*}} from 2 to 1 over <cp:2>
// ULYSSES: return

// WORD: attention exchanges by ring, all-gather or ulysses, but not by 'star'
module attributes {dtc.mesh = #dtc.mesh<cp:2>} {
func.func @attention(%q: !dtc.tensor<2x8{cp:2}x4x4xf32>, %k: !dtc.tensor<2x8{cp:2}x2x4xf32>, %v: !dtc.tensor<2x8{cp:2}x2x4xf32>, %p: !dtc.tensor<8{cp:2}xi32>)
    -> (!dtc.tensor<2x8{cp:2}x4x4xf32>, !dtc.tensor<2x8{cp:2}x4xf32>) {
  %o, %lse = dtc.attention %q, %k, %v at %p, %p {causal, scale = 5.0e-01} : (!dtc.tensor<2x8{cp:2}x4x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<8{cp:2}xi32>, !dtc.tensor<8{cp:2}xi32>) -> (!dtc.tensor<2x8{cp:2}x4x4xf32>, !dtc.tensor<2x8{cp:2}x4xf32>)
  return %o, %lse : !dtc.tensor<2x8{cp:2}x4x4xf32>, !dtc.tensor<2x8{cp:2}x4xf32>
}

// Gradients of keys and values go around with them, and are home at the end.

// RING-LABEL: func.func @backward
// RING: %[[R:[a-z0-9_]+]]:6 = dtc.ring 2(
// RING-COUNT-3: dtc.shift
// RING: %[[DQ:[a-z0-9_]+]], %[[DK:[a-z0-9_]+]], %[[DV:[a-z0-9_]+]] = dtc.attention_grad {{.*}}blocks = 2{{.*}}local
// RING: dtc.add %{{[a-z0-9_]+}}, %[[DQ]]
// RING: %[[KS:[a-z0-9_]+]] = dtc.add %{{[a-z0-9_]+}}, %[[DK]]
// RING: dtc.shift %[[KS]]
// RING: %[[VS:[a-z0-9_]+]] = dtc.add %{{[a-z0-9_]+}}, %[[DV]]
// RING: dtc.shift %[[VS]]
// RING: return %[[R]]#3, %[[R]]#4, %[[R]]#5

// GATHER-LABEL: func.func @backward
// GATHER: dtc.attention_grad
// GATHER-COUNT-2: dtc.reduce_scatter {{.*}} dim 1 over <cp:2>
// GATHER: return
func.func @backward(%q: !dtc.tensor<2x8{cp:2}x4x4xf32>, %k: !dtc.tensor<2x8{cp:2}x2x4xf32>, %v: !dtc.tensor<2x8{cp:2}x2x4xf32>, %p: !dtc.tensor<8{cp:2}xi32>, %lse: !dtc.tensor<2x8{cp:2}x4xf32>)
    -> (!dtc.tensor<2x8{cp:2}x4x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>) {
  %dq, %dk, %dv = dtc.attention_grad %q, %k, %v at %p, %p of %q, %lse, %q {causal, scale = 5.0e-01} : (!dtc.tensor<2x8{cp:2}x4x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<8{cp:2}xi32>, !dtc.tensor<8{cp:2}xi32>, !dtc.tensor<2x8{cp:2}x4x4xf32>, !dtc.tensor<2x8{cp:2}x4xf32>, !dtc.tensor<2x8{cp:2}x4x4xf32>) -> (!dtc.tensor<2x8{cp:2}x4x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>)
  return %dq, %dk, %dv : !dtc.tensor<2x8{cp:2}x4x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>
}
}
