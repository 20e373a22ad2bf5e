// RUN: dtc-opt %s -dtc-expand-communication -dtc-lower-to-runtime | FileCheck %s

// While a block is computed with, the next one is on its way: keys and values
// from the beginning of an iteration to its end; their gradients, made by the
// iteration before, until the first op that adds to them. There are P-1 shifts
// of keys and values, P of the gradients.
module attributes {dtc.mesh = #dtc.mesh<cp:4>} {
  // Forward: three iterations in the loop, the last one without shifts.
  // CHECK-LABEL: func.func private @forward(
  // CHECK: scf.for
  // CHECK: rt.start shift {{.*}}#rt.block{{.*}}#rt.block
  // CHECK: rt.start shift
  // CHECK: rt.launch @[[ATTENTION:kernel_[0-9]+_attention]] 
  // CHECK: rt.launch @{{.*}}_merge_attention
  // CHECK: rt.wait
  // CHECK: rt.wait
  // CHECK: {{^    }}}
  // CHECK-NOT: rt.start
  // CHECK: rt.launch @[[ATTENTION]]
  // CHECK-NOT: rt.start
  // CHECK: return
  func.func private @forward(%q: !dtc.tensor<2x8{cp:4}x4x4xf32>, %k: !dtc.tensor<2x8{cp:4}x2x4xf32>, %v: !dtc.tensor<2x8{cp:4}x2x4xf32>, %p: !dtc.tensor<8{cp:4}xi32>)
      -> (!dtc.tensor<2x8{cp:4}x4x4xf32>, !dtc.tensor<2x8{cp:4}x4xf32>) {
    %o, %lse = dtc.attention %q, %k, %v at %p, %p {causal, scale = 5.0e-01} : (!dtc.tensor<2x8{cp:4}x4x4xf32>, !dtc.tensor<2x8{cp:4}x2x4xf32>, !dtc.tensor<2x8{cp:4}x2x4xf32>, !dtc.tensor<8{cp:4}xi32>, !dtc.tensor<8{cp:4}xi32>) -> (!dtc.tensor<2x8{cp:4}x4x4xf32>, !dtc.tensor<2x8{cp:4}x4xf32>)
    return %o, %lse : !dtc.tensor<2x8{cp:4}x4x4xf32>, !dtc.tensor<2x8{cp:4}x4xf32>
  }

  // CHECK-LABEL: func.func private @backward(
  // The first iteration has no gradients to shift.
  // CHECK: rt.start shift
  // CHECK: rt.start shift
  // CHECK-NOT: rt.start
  // CHECK: rt.launch @[[GRAD:kernel_[0-9]+_attention_grad]] 
  // CHECK-NOT: rt.start
  // CHECK: scf.for
  // CHECK: %[[K:.*]] = rt.start shift
  // CHECK: %[[P:.*]] = rt.start shift
  // CHECK: %[[D:.*]] = rt.start shift
  // CHECK: rt.launch @[[GRAD]]
  // CHECK: rt.wait %[[D]]
  // CHECK: rt.launch @{{.*}}_add
  // CHECK: rt.wait %[[K]]
  // CHECK: rt.wait %[[P]]
  // CHECK: {{^    }}}
  // The last one shifts no keys; its gradients go home after it.
  // CHECK: %[[D:.*]] = rt.start shift
  // CHECK-NOT: rt.start
  // CHECK: rt.launch @[[GRAD]]
  // CHECK: rt.wait %[[D]]
  // CHECK: rt.launch @{{.*}}_add
  // CHECK: %[[H:.*]] = rt.start shift
  // CHECK-NEXT: rt.wait %[[H]]
  // CHECK-NOT: rt.start
  // CHECK: return
  func.func private @backward(%q: !dtc.tensor<2x8{cp:4}x4x4xf32>, %k: !dtc.tensor<2x8{cp:4}x2x4xf32>, %v: !dtc.tensor<2x8{cp:4}x2x4xf32>, %p: !dtc.tensor<8{cp:4}xi32>, %lse: !dtc.tensor<2x8{cp:4}x4xf32>)
      -> (!dtc.tensor<2x8{cp:4}x4x4xf32>, !dtc.tensor<2x8{cp:4}x2x4xf32>, !dtc.tensor<2x8{cp:4}x2x4xf32>) {
    %dq, %dk, %dv = dtc.attention_grad %q, %k, %v at %p, %p of %q, %lse, %q {causal, scale = 5.0e-01} : (!dtc.tensor<2x8{cp:4}x4x4xf32>, !dtc.tensor<2x8{cp:4}x2x4xf32>, !dtc.tensor<2x8{cp:4}x2x4xf32>, !dtc.tensor<8{cp:4}xi32>, !dtc.tensor<8{cp:4}xi32>, !dtc.tensor<2x8{cp:4}x4x4xf32>, !dtc.tensor<2x8{cp:4}x4xf32>, !dtc.tensor<2x8{cp:4}x4x4xf32>) -> (!dtc.tensor<2x8{cp:4}x4x4xf32>, !dtc.tensor<2x8{cp:4}x2x4xf32>, !dtc.tensor<2x8{cp:4}x2x4xf32>)
    return %dq, %dk, %dv : !dtc.tensor<2x8{cp:4}x4x4xf32>, !dtc.tensor<2x8{cp:4}x2x4xf32>, !dtc.tensor<2x8{cp:4}x2x4xf32>
  }

  func.func @step(%i: !dtc.tensor<2x8{cp:4}x4x4xf32> {dtc.input = "q"}, %k: !dtc.tensor<2x8{cp:4}x2x4xf32> {dtc.input = "k"}, %p: !dtc.tensor<8{cp:4}xi32> {dtc.input = "p"})
      -> (!dtc.tensor<2x8{cp:4}x2x4xf32> {dtc.output = "dk"}) {
    %f:2 = call @forward(%i, %k, %k, %p) : (!dtc.tensor<2x8{cp:4}x4x4xf32>, !dtc.tensor<2x8{cp:4}x2x4xf32>, !dtc.tensor<2x8{cp:4}x2x4xf32>, !dtc.tensor<8{cp:4}xi32>) -> (!dtc.tensor<2x8{cp:4}x4x4xf32>, !dtc.tensor<2x8{cp:4}x4xf32>)
    %g:3 = call @backward(%i, %k, %k, %p, %f#1) : (!dtc.tensor<2x8{cp:4}x4x4xf32>, !dtc.tensor<2x8{cp:4}x2x4xf32>, !dtc.tensor<2x8{cp:4}x2x4xf32>, !dtc.tensor<8{cp:4}xi32>, !dtc.tensor<2x8{cp:4}x4xf32>) -> (!dtc.tensor<2x8{cp:4}x4x4xf32>, !dtc.tensor<2x8{cp:4}x2x4xf32>, !dtc.tensor<2x8{cp:4}x2x4xf32>)
    return %g#1 : !dtc.tensor<2x8{cp:4}x2x4xf32>
  }
}
