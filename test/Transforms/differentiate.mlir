// RUN: dtc-opt %s -split-input-file -dtc-differentiate | FileCheck %s

// Gradients of a GPT against central differences on one device, then those of
// other meshes against these.
// RUN: dtc-opt %S/Inputs/gpt.mlir -dtc-propagate-sharding=mesh=dp=1 -dtc-insert-collectives -dtc-microbatch -dtc-differentiate -o %t.one.mlir
// RUN: dtc-interpret %t.one.mlir --against %S/Inputs/gpt.mlir --finite-differences
// RUN: dtc-opt %S/Inputs/gpt.mlir -dtc-propagate-sharding=mesh=dp=2,tp=2 -dtc-insert-collectives -dtc-microbatch=count=2 -dtc-differentiate -o %t.mlir
// RUN: dtc-interpret %t.mlir --against %t.one.mlir
// RUN: dtc-opt %S/Inputs/gpt.mlir -dtc-propagate-sharding=mesh=tp=4 -dtc-insert-collectives -dtc-microbatch=count=8 -dtc-differentiate -o %t.mlir
// RUN: dtc-interpret %t.mlir --against %t.one.mlir
// RUN: dtc-opt %S/Inputs/gpt.mlir -dtc-propagate-sharding="mesh=dp=2,tp=4 sequence-parallel" -dtc-insert-collectives -dtc-microbatch=count=2 -dtc-differentiate -o %t.mlir
// RUN: dtc-interpret %t.mlir --against %t.one.mlir

// One layer under tensor parallelism, called twice. Its forward has one g, its
// backward the other: the transpose of f.

module attributes {dtc.mesh = #dtc.mesh<dp:2, tp:2>} {
  dtc.param @w0 : !dtc.tensor<4x6{tp:2}xf32> from "w0" [4, 6] view affine_map<(d0, d1) -> (d0, d1)> dims ["embed", "mlp"] {init = "normal", std = 1.0 : f64}
  dtc.param @u0 : !dtc.tensor<6{tp:2}x4xf32> from "u0" [6, 4] view affine_map<(d0, d1) -> (d0, d1)> dims ["mlp", "embed"] {init = "normal", std = 1.0 : f64}
  dtc.param @w1 : !dtc.tensor<4x6{tp:2}xf32> from "w1" [4, 6] view affine_map<(d0, d1) -> (d0, d1)> dims ["embed", "mlp"] {init = "normal", std = 1.0 : f64}
  dtc.param @u1 : !dtc.tensor<6{tp:2}x4xf32> from "u1" [6, 4] view affine_map<(d0, d1) -> (d0, d1)> dims ["mlp", "embed"] {init = "normal", std = 1.0 : f64}
  // CHECK-LABEL: func.func private @layer_forward(
  // CHECK:         dtc.f %{{.*}} over <tp:2>
  // CHECK:         %[[H:.*]] = dtc.einsum
  // CHECK:         %[[A:.*]] = dtc.activation silu %[[H]]
  // CHECK:         dtc.g %{{.*}} over <tp:2>
  // CHECK-NOT:     dtc.g
  // CHECK:         %[[Z:.*]] = dtc.add
  // CHECK:         return %[[Z]], %[[A]], %[[H]] :

  // Its operands: those of the layer that it needs, the saved values, and the
  // result's cotangent. f is made again, not saved.
  // CHECK-LABEL: func.func private @layer_backward(
  // CHECK-SAME:    %[[X:.*]]: !dtc.tensor<2{dp:2}x4xf32>, %[[W:.*]]: !dtc.tensor<4x6{tp:2}xf32, replicate{dp:2}>, %[[U:.*]]: !dtc.tensor<6{tp:2}x4xf32, replicate{dp:2}>,
  // CHECK-SAME:    %[[A:.*]]: !dtc.tensor<2{dp:2}x6{tp:2}xf32>, %[[H:.*]]: !dtc.tensor<2{dp:2}x6{tp:2}xf32>, %[[DZ:.*]]: !dtc.tensor<2{dp:2}x4xf32>)
  // CHECK-NEXT:    %[[DP:.*]] = dtc.f %[[DZ]] over <tp:2>
  // CHECK-NEXT:    %[[DA:.*]] = dtc.einsum "bd,fd->bf"(%[[DP]], %[[U]])
  // CHECK-NEXT:    %[[DU:.*]] = dtc.einsum "bf,bd->fd"(%[[A]], %[[DP]]) : {{.*}} -> !dtc.tensor<6{tp:2}x4xf32, partial{dp:2}>
  // CHECK-NEXT:    %[[DH:.*]] = dtc.activation_grad silu %[[H]], %[[DA]]
  // CHECK-NEXT:    %[[DF:.*]] = dtc.einsum "bf,df->bd"(%[[DH]], %[[W]]) : {{.*}} -> !dtc.tensor<2{dp:2}x4xf32, partial{tp:2}>
  // CHECK-NEXT:    %[[F:.*]] = dtc.f %[[X]] over <tp:2>
  // CHECK-NEXT:    %[[DW:.*]] = dtc.einsum "bd,bf->df"(%[[F]], %[[DH]]) : {{.*}} -> !dtc.tensor<4x6{tp:2}xf32, partial{dp:2}>
  // CHECK-NEXT:    %[[G:.*]] = dtc.g %[[DF]] over <tp:2>
  // CHECK-NEXT:    %[[DX:.*]] = dtc.add %[[DZ]], %[[G]]
  // CHECK-NEXT:    return %[[DX]], %[[DW]], %[[DU]]
  func.func private @layer(%x: !dtc.tensor<2{dp:2}x4xf32>, %w: !dtc.tensor<4x6{tp:2}xf32, replicate{dp:2}>, %u: !dtc.tensor<6{tp:2}x4xf32, replicate{dp:2}>) -> !dtc.tensor<2{dp:2}x4xf32> {
    %f = dtc.f %x over <tp:2> : (!dtc.tensor<2{dp:2}x4xf32>) -> !dtc.tensor<2{dp:2}x4xf32, replicate{tp:2}>
    %h = dtc.einsum "bd,df->bf"(%f, %w) : (!dtc.tensor<2{dp:2}x4xf32, replicate{tp:2}>, !dtc.tensor<4x6{tp:2}xf32, replicate{dp:2}>) -> !dtc.tensor<2{dp:2}x6{tp:2}xf32>
    %a = dtc.activation silu %h : (!dtc.tensor<2{dp:2}x6{tp:2}xf32>) -> !dtc.tensor<2{dp:2}x6{tp:2}xf32>
    %p = dtc.einsum "bf,fd->bd"(%a, %u) : (!dtc.tensor<2{dp:2}x6{tp:2}xf32>, !dtc.tensor<6{tp:2}x4xf32, replicate{dp:2}>) -> !dtc.tensor<2{dp:2}x4xf32, partial{tp:2}>
    %y = dtc.g %p over <tp:2> : (!dtc.tensor<2{dp:2}x4xf32, partial{tp:2}>) -> !dtc.tensor<2{dp:2}x4xf32>
    %z = dtc.add %x, %y : (!dtc.tensor<2{dp:2}x4xf32>, !dtc.tensor<2{dp:2}x4xf32>) -> !dtc.tensor<2{dp:2}x4xf32>
    return %z : !dtc.tensor<2{dp:2}x4xf32>
  }

  // The cotangent of what follows the loop comes before it. The loop adds the
  // parameters' cotangents, which are reduced over dp once, after it.
  // CHECK-LABEL: func.func @step(
  // CHECK:         %[[W0:.*]] = dtc.f %{{.*}} over <dp:2>
  // CHECK:         %[[U0:.*]] = dtc.f %{{.*}} over <dp:2>
  // CHECK:         %[[W1:.*]] = dtc.f %{{.*}} over <dp:2>
  // CHECK:         %[[U1:.*]] = dtc.f %{{.*}} over <dp:2>
  // CHECK:         %[[ONE:.*]] = dtc.constant 1.0{{.*}} : () -> !dtc.tensor<f32>
  // CHECK-NEXT:    %[[DL:.*]] = dtc.f %[[ONE]] over <dp:2>
  // CHECK-NEXT:    %[[SUMS:.*]]:5 = dtc.micro_batches 2 {
  // CHECK:           %[[L0:.*]]:3 = func.call @layer_forward(%[[XM:.*]], %[[W0]], %[[U0]])
  // CHECK-NEXT:      %[[L1:.*]]:3 = func.call @layer_forward(%[[L0]]#0, %[[W1]], %[[U1]])
  // CHECK-NEXT:      %[[LOSS:.*]] = dtc.reduce_sum %[[L1]]#0
  // CHECK-NEXT:      %[[D2:.*]] = dtc.broadcast %[[DL]]
  // CHECK-NEXT:      %[[D1:.*]]:3 = func.call @layer_backward(%[[L0]]#0, %[[W1]], %[[U1]], %[[L1]]#1, %[[L1]]#2, %[[D2]])
  // CHECK-NEXT:      %[[D0:.*]]:3 = func.call @layer_backward(%[[XM]], %[[W0]], %[[U0]], %[[L0]]#1, %[[L0]]#2, %[[D1]]#0)
  // CHECK-NEXT:      dtc.yield %[[LOSS]], %[[D1]]#1, %[[D1]]#2, %[[D0]]#1, %[[D0]]#2
  // CHECK:         dtc.g %[[SUMS]]#0 over <dp:2>
  // CHECK:         %[[G:.*]] = dtc.g %[[SUMS]]#3 over <dp:2>
  // CHECK:         dtc.write %[[G]] to grad of @w0
  func.func @step(%x: !dtc.tensor<4{dp:2}x4xf32> {dtc.input = "x"}) -> (!dtc.tensor<f32> {dtc.output = "loss"}) {
    %w0 = dtc.read param of @w0 : !dtc.tensor<4x6{tp:2}xf32>
    %w0f = dtc.f %w0 over <dp:2> : (!dtc.tensor<4x6{tp:2}xf32>) -> !dtc.tensor<4x6{tp:2}xf32, replicate{dp:2}>
    %u0 = dtc.read param of @u0 : !dtc.tensor<6{tp:2}x4xf32>
    %u0f = dtc.f %u0 over <dp:2> : (!dtc.tensor<6{tp:2}x4xf32>) -> !dtc.tensor<6{tp:2}x4xf32, replicate{dp:2}>
    %w1 = dtc.read param of @w1 : !dtc.tensor<4x6{tp:2}xf32>
    %w1f = dtc.f %w1 over <dp:2> : (!dtc.tensor<4x6{tp:2}xf32>) -> !dtc.tensor<4x6{tp:2}xf32, replicate{dp:2}>
    %u1 = dtc.read param of @u1 : !dtc.tensor<6{tp:2}x4xf32>
    %u1f = dtc.f %u1 over <dp:2> : (!dtc.tensor<6{tp:2}x4xf32>) -> !dtc.tensor<6{tp:2}x4xf32, replicate{dp:2}>
    %s = dtc.micro_batches 2 {
    ^bb0(%m: !dtc.tensor<i32>):
      %mf = dtc.f %m over <dp:2> : (!dtc.tensor<i32>) -> !dtc.tensor<i32, replicate{dp:2}>
      %x0 = dtc.micro_batch %x[%mf] parts 2 count 2 : (!dtc.tensor<4{dp:2}x4xf32>, !dtc.tensor<i32, replicate{dp:2}>) -> !dtc.tensor<2{dp:2}x4xf32>
      %x1 = func.call @layer(%x0, %w0f, %u0f) : (!dtc.tensor<2{dp:2}x4xf32>, !dtc.tensor<4x6{tp:2}xf32, replicate{dp:2}>, !dtc.tensor<6{tp:2}x4xf32, replicate{dp:2}>) -> !dtc.tensor<2{dp:2}x4xf32>
      %x2 = func.call @layer(%x1, %w1f, %u1f) : (!dtc.tensor<2{dp:2}x4xf32>, !dtc.tensor<4x6{tp:2}xf32, replicate{dp:2}>, !dtc.tensor<6{tp:2}x4xf32, replicate{dp:2}>) -> !dtc.tensor<2{dp:2}x4xf32>
      %l = dtc.reduce_sum %x2 over [0, 1] : (!dtc.tensor<2{dp:2}x4xf32>) -> !dtc.tensor<f32, partial{dp:2}>
      dtc.yield %l : !dtc.tensor<f32, partial{dp:2}>
    } : !dtc.tensor<f32, partial{dp:2}>
    %loss = dtc.g %s over <dp:2> : (!dtc.tensor<f32, partial{dp:2}>) -> !dtc.tensor<f32>
    return %loss : !dtc.tensor<f32>
  }
}

// -----

// A parameter that is used twice has the sum of two cotangents, in the loop; one
// that is read twice, after it; one without a path to the loss has a zero.

module {
  dtc.param @a : !dtc.tensor<4xf32> from "a" [4] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "ones"}
  dtc.param @b : !dtc.tensor<4xf32> from "b" [4] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "ones"}
  dtc.param @c : !dtc.tensor<4xf32> from "c" [4] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "ones"}
  // CHECK-LABEL: func.func @step(
  // CHECK:         %[[SUMS:.*]]:4 = dtc.micro_batches 3 {
  // CHECK:           dtc.broadcast
  // CHECK:           %[[SUM:.*]] = dtc.add
  // CHECK:           dtc.yield %{{.*}}, %{{.*}}, %[[SUM]], %{{.*}} :
  // CHECK-NEXT:    } : !dtc.tensor<f32>, !dtc.tensor<4xf32>, !dtc.tensor<4xf32>, !dtc.tensor<4xf32>
  // CHECK-NEXT:    dtc.write %[[SUMS]]#2 to grad of @a
  // CHECK-NEXT:    %[[B:.*]] = dtc.add %[[SUMS]]#{{[13]}}, %[[SUMS]]#{{[13]}}
  // CHECK-NEXT:    dtc.write %[[B]] to grad of @b
  // CHECK-NEXT:    %[[ZERO:.*]] = dtc.constant 0.0{{.*}} -> !dtc.tensor<4xf32>
  // CHECK-NEXT:    dtc.write %[[ZERO]] to grad of @c
  func.func @step() -> (!dtc.tensor<f32> {dtc.output = "loss"}) {
    %a = dtc.read param of @a : !dtc.tensor<4xf32>
    %b = dtc.read param of @b : !dtc.tensor<4xf32>
    %again = dtc.read param of @b : !dtc.tensor<4xf32>
    %s = dtc.micro_batches 3 {
    ^bb0(%m: !dtc.tensor<i32>):
      %0 = dtc.multiply %a, %b : (!dtc.tensor<4xf32>, !dtc.tensor<4xf32>) -> !dtc.tensor<4xf32>
      %1 = dtc.multiply %0, %a : (!dtc.tensor<4xf32>, !dtc.tensor<4xf32>) -> !dtc.tensor<4xf32>
      %2 = dtc.add %1, %again : (!dtc.tensor<4xf32>, !dtc.tensor<4xf32>) -> !dtc.tensor<4xf32>
      %3 = dtc.reduce_sum %2 over [0] : (!dtc.tensor<4xf32>) -> !dtc.tensor<f32>
      dtc.yield %3 : !dtc.tensor<f32>
    } : !dtc.tensor<f32>
    return %s : !dtc.tensor<f32>
  }
}

// -----

// Functions within functions. The outer forward saves what the inner one
// needs; a result that one call does not use has a zero cotangent there; data
// (%x) gets none; a function that has nothing to do with the loss stays.

module {
  dtc.param @w : !dtc.tensor<4xf32> from "w" [4] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "ones"}
  // CHECK-LABEL: func.func private @inner_forward(
  // CHECK:         return %{{.*}}, %{{.*}}, %[[SAVED:.*]] :
  // CHECK-LABEL: func.func private @inner_backward(
  // CHECK-SAME:    -> !dtc.tensor<4xf32> {
  func.func private @inner(%x: !dtc.tensor<4xf32>, %w: !dtc.tensor<4xf32>) -> (!dtc.tensor<4xf32>, !dtc.tensor<4xf32>) {
    %two = dtc.constant 2.0 : () -> !dtc.tensor<4xf32>
    %0 = dtc.multiply %w, %two : (!dtc.tensor<4xf32>, !dtc.tensor<4xf32>) -> !dtc.tensor<4xf32>
    %1 = dtc.activation silu %0 : (!dtc.tensor<4xf32>) -> !dtc.tensor<4xf32>
    %2 = dtc.multiply %1, %x : (!dtc.tensor<4xf32>, !dtc.tensor<4xf32>) -> !dtc.tensor<4xf32>
    return %1, %2 : !dtc.tensor<4xf32>, !dtc.tensor<4xf32>
  }
  // CHECK-LABEL: func.func private @outer_forward(
  // CHECK:         %[[ONE:.*]]:3 = call @inner_forward
  // CHECK:         %[[TWO:.*]]:3 = call @inner_forward
  // CHECK:         return %{{.*}}, %[[TWO]]#2, %[[ONE]]#2 :
  // CHECK-LABEL: func.func private @outer_backward(
  // CHECK:         %[[ZERO:.*]] = dtc.constant 0.0
  // CHECK:         call @inner_backward(%{{.*}}, %{{.*}}, %{{.*}}, %[[ZERO]])
  // CHECK:         call @inner_backward
  func.func private @outer(%x: !dtc.tensor<4xf32>, %w: !dtc.tensor<4xf32>) -> !dtc.tensor<4xf32> {
    %0, %1 = call @inner(%x, %w) : (!dtc.tensor<4xf32>, !dtc.tensor<4xf32>) -> (!dtc.tensor<4xf32>, !dtc.tensor<4xf32>)
    %2 = dtc.add %0, %1 : (!dtc.tensor<4xf32>, !dtc.tensor<4xf32>) -> !dtc.tensor<4xf32>
    %3, %4 = call @inner(%x, %2) : (!dtc.tensor<4xf32>, !dtc.tensor<4xf32>) -> (!dtc.tensor<4xf32>, !dtc.tensor<4xf32>)
    return %3 : !dtc.tensor<4xf32>
  }
  // CHECK-LABEL: func.func private @data(
  // CHECK-NOT:   @data_
  func.func private @data(%x: !dtc.tensor<4xf32>) -> !dtc.tensor<4xf32> {
    %0 = dtc.scale %x by 3.0 : (!dtc.tensor<4xf32>) -> !dtc.tensor<4xf32>
    return %0 : !dtc.tensor<4xf32>
  }
  // CHECK-LABEL: func.func @step(
  // CHECK:         call @data(
  // CHECK:         call @outer_forward(
  // CHECK:         %[[G:.*]] = call @outer_backward(
  // CHECK-NEXT:    dtc.write %[[G]] to grad of @w
  func.func @step(%x: !dtc.tensor<4xf32> {dtc.input = "x"}) -> (!dtc.tensor<f32> {dtc.output = "loss"}) {
    %w = dtc.read param of @w : !dtc.tensor<4xf32>
    %d = call @data(%x) : (!dtc.tensor<4xf32>) -> !dtc.tensor<4xf32>
    %0 = call @outer(%d, %w) : (!dtc.tensor<4xf32>, !dtc.tensor<4xf32>) -> !dtc.tensor<4xf32>
    %1 = dtc.reduce_sum %0 over [0] : (!dtc.tensor<4xf32>) -> !dtc.tensor<f32>
    return %1 : !dtc.tensor<f32>
  }
}

// -----

// A bf16 parameter whose gradient is f32: what an op gives is converted in the
// layer, and summed and reduced as f32; with a gradient of bf16 all is bf16.

module attributes {dtc.mesh = #dtc.mesh<dp:2>} {
  dtc.param @wide : !dtc.tensor<4x4xbf16> from "wide" [4, 4] view affine_map<(d0, d1) -> (d0, d1)> dims ["embed", "mlp"] {init = "normal", std = 1.0 : f64, grad_type = f32}
  // CHECK-LABEL: func.func private @used_twice_backward(
  // CHECK-SAME:    -> (!dtc.tensor<2{dp:2}x4xbf16>, !dtc.tensor<4x4xf32, partial{dp:2}>)
  // CHECK:         %[[A:.*]] = dtc.einsum "ba,bc->ac"{{.*}} -> !dtc.tensor<4x4xbf16, partial{dp:2}>
  // CHECK:         %[[AF:.*]] = dtc.convert %[[A]] : {{.*}} -> !dtc.tensor<4x4xf32, partial{dp:2}>
  // CHECK:         %[[BF:.*]] = dtc.convert %{{.*}} -> !dtc.tensor<4x4xf32, partial{dp:2}>
  // CHECK:         dtc.add %[[AF]], %[[BF]] : {{.*}} -> !dtc.tensor<4x4xf32, partial{dp:2}>
  func.func private @used_twice(%x: !dtc.tensor<2{dp:2}x4xbf16>, %w: !dtc.tensor<4x4xbf16, replicate{dp:2}>) -> !dtc.tensor<2{dp:2}x4xbf16> {
    %y = dtc.einsum "ba,ac->bc"(%x, %w) : (!dtc.tensor<2{dp:2}x4xbf16>, !dtc.tensor<4x4xbf16, replicate{dp:2}>) -> !dtc.tensor<2{dp:2}x4xbf16>
    %z = dtc.einsum "ba,ac->bc"(%y, %w) : (!dtc.tensor<2{dp:2}x4xbf16>, !dtc.tensor<4x4xbf16, replicate{dp:2}>) -> !dtc.tensor<2{dp:2}x4xbf16>
    return %z : !dtc.tensor<2{dp:2}x4xbf16>
  }
  // CHECK-LABEL: func.func @step(
  // CHECK:         dtc.micro_batches 2
  // CHECK:           call @used_twice_backward({{.*}} -> (!dtc.tensor<2{dp:2}x4xbf16>, !dtc.tensor<4x4xf32, partial{dp:2}>)
  // CHECK-NOT:       dtc.convert
  // CHECK:           dtc.add {{.*}} -> !dtc.tensor<4x4xf32, partial{dp:2}>
  // CHECK:         %[[G:.*]] = dtc.g {{.*}} -> !dtc.tensor<4x4xf32>
  // CHECK:         dtc.write %[[G]] to grad of @wide : !dtc.tensor<4x4xf32>
  func.func @step(%x: !dtc.tensor<4{dp:2}x4xbf16> {dtc.input = "x"}) -> (!dtc.tensor<f32> {dtc.output = "loss"}) {
    %w = dtc.read param of @wide : !dtc.tensor<4x4xbf16>
    %wf = dtc.f %w over <dp:2> : (!dtc.tensor<4x4xbf16>) -> !dtc.tensor<4x4xbf16, replicate{dp:2}>
    %0 = dtc.micro_batches 2 {
    ^bb0(%m: !dtc.tensor<i32>):
      %mf = dtc.f %m over <dp:2> : (!dtc.tensor<i32>) -> !dtc.tensor<i32, replicate{dp:2}>
      %xm = dtc.micro_batch %x[%mf] parts 2 count 2 : (!dtc.tensor<4{dp:2}x4xbf16>, !dtc.tensor<i32, replicate{dp:2}>) -> !dtc.tensor<2{dp:2}x4xbf16>
      %y = func.call @used_twice(%xm, %wf) : (!dtc.tensor<2{dp:2}x4xbf16>, !dtc.tensor<4x4xbf16, replicate{dp:2}>) -> !dtc.tensor<2{dp:2}x4xbf16>
      %z = func.call @used_twice(%y, %wf) : (!dtc.tensor<2{dp:2}x4xbf16>, !dtc.tensor<4x4xbf16, replicate{dp:2}>) -> !dtc.tensor<2{dp:2}x4xbf16>
      %s = dtc.reduce_sum %z over [0, 1] : (!dtc.tensor<2{dp:2}x4xbf16>) -> !dtc.tensor<bf16, partial{dp:2}>
      %l = dtc.convert %s : (!dtc.tensor<bf16, partial{dp:2}>) -> !dtc.tensor<f32, partial{dp:2}>
      dtc.yield %l : !dtc.tensor<f32, partial{dp:2}>
    } : !dtc.tensor<f32, partial{dp:2}>
    %loss = dtc.g %0 over <dp:2> : (!dtc.tensor<f32, partial{dp:2}>) -> !dtc.tensor<f32>
    return %loss : !dtc.tensor<f32>
  }
}

// -----

// What is made of a parameter before the loop adds up in the gradients' type
// too: it is rounded once, after its sum has been reduced.

module attributes {dtc.mesh = #dtc.mesh<dp:2>} {
  dtc.param @w : !dtc.tensor<4xbf16> from "w" [4] view affine_map<(d0) -> (d0)> dims ["embed"] {init = "normal", std = 1.0 : f64, grad_type = f32}
  // CHECK-LABEL: func.func private @layer_backward(
  // CHECK-SAME:    -> !dtc.tensor<4xf32, partial{dp:2}>
  func.func private @layer(%x: !dtc.tensor<2{dp:2}x4xbf16>, %a: !dtc.tensor<4xbf16, replicate{dp:2}>) -> !dtc.tensor<2{dp:2}xbf16> {
    %y = dtc.einsum "ba,a->b"(%x, %a) : (!dtc.tensor<2{dp:2}x4xbf16>, !dtc.tensor<4xbf16, replicate{dp:2}>) -> !dtc.tensor<2{dp:2}xbf16>
    return %y : !dtc.tensor<2{dp:2}xbf16>
  }
  // CHECK-LABEL: func.func @step(
  // CHECK:         %[[SUM:.*]]:2 = dtc.micro_batches 2
  // CHECK:           call @layer_backward(
  // CHECK-NOT:       dtc.convert
  // CHECK:           dtc.yield
  // CHECK:         %[[G:.*]] = dtc.g %[[SUM]]#1 over <dp:2> : {{.*}} -> !dtc.tensor<4xf32>
  // CHECK:         %[[DA:.*]] = dtc.convert %[[G]] : {{.*}} -> !dtc.tensor<4xbf16>
  // CHECK:         %[[DW:.*]] = dtc.activation_grad gelu %{{.*}}, %[[DA]] : {{.*}} -> !dtc.tensor<4xbf16>
  // CHECK:         %[[DF:.*]] = dtc.convert %[[DW]] : {{.*}} -> !dtc.tensor<4xf32>
  // CHECK:         dtc.write %[[DF]] to grad of @w : !dtc.tensor<4xf32>
  func.func @step(%x: !dtc.tensor<4{dp:2}x4xbf16> {dtc.input = "x"}) -> (!dtc.tensor<f32> {dtc.output = "loss"}) {
    %w = dtc.read param of @w : !dtc.tensor<4xbf16>
    %a = dtc.activation gelu %w : (!dtc.tensor<4xbf16>) -> !dtc.tensor<4xbf16>
    %f = dtc.f %a over <dp:2> : (!dtc.tensor<4xbf16>) -> !dtc.tensor<4xbf16, replicate{dp:2}>
    %0 = dtc.micro_batches 2 {
    ^bb0(%m: !dtc.tensor<i32>):
      %mf = dtc.f %m over <dp:2> : (!dtc.tensor<i32>) -> !dtc.tensor<i32, replicate{dp:2}>
      %xm = dtc.micro_batch %x[%mf] parts 2 count 2 : (!dtc.tensor<4{dp:2}x4xbf16>, !dtc.tensor<i32, replicate{dp:2}>) -> !dtc.tensor<2{dp:2}x4xbf16>
      %y = func.call @layer(%xm, %f) : (!dtc.tensor<2{dp:2}x4xbf16>, !dtc.tensor<4xbf16, replicate{dp:2}>) -> !dtc.tensor<2{dp:2}xbf16>
      %s = dtc.reduce_sum %y over [0] : (!dtc.tensor<2{dp:2}xbf16>) -> !dtc.tensor<bf16, partial{dp:2}>
      %l = dtc.convert %s : (!dtc.tensor<bf16, partial{dp:2}>) -> !dtc.tensor<f32, partial{dp:2}>
      dtc.yield %l : !dtc.tensor<f32, partial{dp:2}>
    } : !dtc.tensor<f32, partial{dp:2}>
    %loss = dtc.g %0 over <dp:2> : (!dtc.tensor<f32, partial{dp:2}>) -> !dtc.tensor<f32>
    return %loss : !dtc.tensor<f32>
  }
}
