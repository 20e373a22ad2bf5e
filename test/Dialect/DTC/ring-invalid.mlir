// RUN: dtc-opt %s -split-input-file -verify-diagnostics

// A doubled shift: every second block is missed.
module attributes {dtc.mesh = #dtc.mesh<cp:2>} {
func.func @ring(%q: !dtc.tensor<2x8{cp:2}x2x4xf32>, %k: !dtc.tensor<2x8{cp:2}x2x4xf32>, %v: !dtc.tensor<2x8{cp:2}x2x4xf32>, %p: !dtc.tensor<8{cp:2}xi32>, %o: !dtc.tensor<2x8{cp:2}x2x4xf32>, %l: !dtc.tensor<2x8{cp:2}x2xf32>) -> !dtc.tensor<2x8{cp:2}x2x4xf32> {
  // expected-error@+1 {{value #0 is shifted 2 times in one iteration: it would miss blocks}}
  %r:5 = dtc.ring 2(%k, %v, %p, %o, %l) {
  ^bb0(%ki: !dtc.tensor<2x8{cp:2}x2x4xf32>, %vi: !dtc.tensor<2x8{cp:2}x2x4xf32>, %pi: !dtc.tensor<8{cp:2}xi32>, %oi: !dtc.tensor<2x8{cp:2}x2x4xf32>, %li: !dtc.tensor<2x8{cp:2}x2xf32>):
    %k0 = dtc.shift %ki dim 1 blocks 2 : (!dtc.tensor<2x8{cp:2}x2x4xf32>) -> !dtc.tensor<2x8{cp:2}x2x4xf32>
    %k1 = dtc.shift %k0 dim 1 blocks 2 : (!dtc.tensor<2x8{cp:2}x2x4xf32>) -> !dtc.tensor<2x8{cp:2}x2x4xf32>
    %v1 = dtc.shift %vi dim 1 blocks 2 : (!dtc.tensor<2x8{cp:2}x2x4xf32>) -> !dtc.tensor<2x8{cp:2}x2x4xf32>
    %p1 = dtc.shift %pi dim 0 blocks 2 : (!dtc.tensor<8{cp:2}xi32>) -> !dtc.tensor<8{cp:2}xi32>
    %ob, %lb = dtc.attention %q, %ki, %vi at %p, %pi {blocks = 2, causal, scale = 5.0e-01} : (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<8{cp:2}xi32>, !dtc.tensor<8{cp:2}xi32>) -> (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>)
    %o1, %l1 = dtc.merge_attention %oi, %li, %ob, %lb : (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>) -> (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>)
    dtc.yield %k1, %v1, %p1, %o1, %l1 : !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<8{cp:2}xi32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>
  } : (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<8{cp:2}xi32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>) -> (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<8{cp:2}xi32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>)
  return %r#3 : !dtc.tensor<2x8{cp:2}x2x4xf32>
}
}

// -----

// A dropped shift: values no longer belong to their keys.
module attributes {dtc.mesh = #dtc.mesh<cp:2>} {
func.func @ring(%q: !dtc.tensor<2x8{cp:2}x2x4xf32>, %k: !dtc.tensor<2x8{cp:2}x2x4xf32>, %v: !dtc.tensor<2x8{cp:2}x2x4xf32>, %p: !dtc.tensor<8{cp:2}xi32>, %o: !dtc.tensor<2x8{cp:2}x2x4xf32>, %l: !dtc.tensor<2x8{cp:2}x2xf32>) -> !dtc.tensor<2x8{cp:2}x2x4xf32> {
  %r:5 = dtc.ring 2(%k, %v, %p, %o, %l) {
  ^bb0(%ki: !dtc.tensor<2x8{cp:2}x2x4xf32>, %vi: !dtc.tensor<2x8{cp:2}x2x4xf32>, %pi: !dtc.tensor<8{cp:2}xi32>, %oi: !dtc.tensor<2x8{cp:2}x2x4xf32>, %li: !dtc.tensor<2x8{cp:2}x2xf32>):
    %k1 = dtc.shift %ki dim 1 blocks 2 : (!dtc.tensor<2x8{cp:2}x2x4xf32>) -> !dtc.tensor<2x8{cp:2}x2x4xf32>
    %p1 = dtc.shift %pi dim 0 blocks 2 : (!dtc.tensor<8{cp:2}xi32>) -> !dtc.tensor<8{cp:2}xi32>
  // expected-error@+1 {{values meet that have not travelled equally far: a shift is missing or doubled}}
    %ob, %lb = dtc.attention %q, %ki, %vi at %p, %pi {blocks = 2, causal, scale = 5.0e-01} : (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<8{cp:2}xi32>, !dtc.tensor<8{cp:2}xi32>) -> (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>)
    %o1, %l1 = dtc.merge_attention %oi, %li, %ob, %lb : (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>) -> (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>)
    dtc.yield %k1, %vi, %p1, %o1, %l1 : !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<8{cp:2}xi32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>
  } : (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<8{cp:2}xi32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>) -> (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<8{cp:2}xi32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>)
  return %r#3 : !dtc.tensor<2x8{cp:2}x2x4xf32>
}
}

// -----

// All shifts dropped: every query meets its own block twice.
module attributes {dtc.mesh = #dtc.mesh<cp:2>} {
func.func @ring(%q: !dtc.tensor<2x8{cp:2}x2x4xf32>, %k: !dtc.tensor<2x8{cp:2}x2x4xf32>, %v: !dtc.tensor<2x8{cp:2}x2x4xf32>, %p: !dtc.tensor<8{cp:2}xi32>, %o: !dtc.tensor<2x8{cp:2}x2x4xf32>, %l: !dtc.tensor<2x8{cp:2}x2xf32>) -> !dtc.tensor<2x8{cp:2}x2x4xf32> {
  %r:5 = dtc.ring 2(%k, %v, %p, %o, %l) {
  ^bb0(%ki: !dtc.tensor<2x8{cp:2}x2x4xf32>, %vi: !dtc.tensor<2x8{cp:2}x2x4xf32>, %pi: !dtc.tensor<8{cp:2}xi32>, %oi: !dtc.tensor<2x8{cp:2}x2x4xf32>, %li: !dtc.tensor<2x8{cp:2}x2xf32>):
  // expected-error@+1 {{keys do not travel, so every query would meet its own block only}}
    %ob, %lb = dtc.attention %q, %ki, %vi at %p, %pi {blocks = 2, causal, scale = 5.0e-01} : (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<8{cp:2}xi32>, !dtc.tensor<8{cp:2}xi32>) -> (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>)
    %o1, %l1 = dtc.merge_attention %oi, %li, %ob, %lb : (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>) -> (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>)
    dtc.yield %ki, %vi, %pi, %o1, %l1 : !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<8{cp:2}xi32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>
  } : (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<8{cp:2}xi32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>) -> (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<8{cp:2}xi32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>)
  return %r#3 : !dtc.tensor<2x8{cp:2}x2x4xf32>
}
}

// -----

// A reversed shift.
module attributes {dtc.mesh = #dtc.mesh<cp:2>} {
func.func @ring(%q: !dtc.tensor<2x8{cp:2}x2x4xf32>, %k: !dtc.tensor<2x8{cp:2}x2x4xf32>, %v: !dtc.tensor<2x8{cp:2}x2x4xf32>, %p: !dtc.tensor<8{cp:2}xi32>, %o: !dtc.tensor<2x8{cp:2}x2x4xf32>, %l: !dtc.tensor<2x8{cp:2}x2xf32>) -> !dtc.tensor<2x8{cp:2}x2x4xf32> {
  // expected-error@+1 {{value #2 is shifted backwards}}
  %r:5 = dtc.ring 2(%k, %v, %p, %o, %l) {
  ^bb0(%ki: !dtc.tensor<2x8{cp:2}x2x4xf32>, %vi: !dtc.tensor<2x8{cp:2}x2x4xf32>, %pi: !dtc.tensor<8{cp:2}xi32>, %oi: !dtc.tensor<2x8{cp:2}x2x4xf32>, %li: !dtc.tensor<2x8{cp:2}x2xf32>):
    %k1 = dtc.shift %ki dim 1 blocks 2 : (!dtc.tensor<2x8{cp:2}x2x4xf32>) -> !dtc.tensor<2x8{cp:2}x2x4xf32>
    %v1 = dtc.shift %vi dim 1 blocks 2 : (!dtc.tensor<2x8{cp:2}x2x4xf32>) -> !dtc.tensor<2x8{cp:2}x2x4xf32>
    %p1 = dtc.shift %pi dim 0 blocks 2 inverse : (!dtc.tensor<8{cp:2}xi32>) -> !dtc.tensor<8{cp:2}xi32>
    %ob, %lb = dtc.attention %q, %ki, %vi at %p, %pi {blocks = 2, causal, scale = 5.0e-01} : (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<8{cp:2}xi32>, !dtc.tensor<8{cp:2}xi32>) -> (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>)
    %o1, %l1 = dtc.merge_attention %oi, %li, %ob, %lb : (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>) -> (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>)
    dtc.yield %k1, %v1, %p1, %o1, %l1 : !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<8{cp:2}xi32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>
  } : (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<8{cp:2}xi32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>) -> (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<8{cp:2}xi32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>)
  return %r#3 : !dtc.tensor<2x8{cp:2}x2x4xf32>
}
}

// -----

// A shift by blocks of another size.
module attributes {dtc.mesh = #dtc.mesh<cp:2>} {
func.func @ring(%q: !dtc.tensor<2x8{cp:2}x2x4xf32>, %k: !dtc.tensor<2x8{cp:2}x2x4xf32>, %v: !dtc.tensor<2x8{cp:2}x2x4xf32>, %p: !dtc.tensor<8{cp:2}xi32>, %o: !dtc.tensor<2x8{cp:2}x2x4xf32>, %l: !dtc.tensor<2x8{cp:2}x2xf32>) -> !dtc.tensor<2x8{cp:2}x2x4xf32> {
  %r:5 = dtc.ring 2(%k, %v, %p, %o, %l) {
  ^bb0(%ki: !dtc.tensor<2x8{cp:2}x2x4xf32>, %vi: !dtc.tensor<2x8{cp:2}x2x4xf32>, %pi: !dtc.tensor<8{cp:2}xi32>, %oi: !dtc.tensor<2x8{cp:2}x2x4xf32>, %li: !dtc.tensor<2x8{cp:2}x2xf32>):
  // expected-error@+1 {{has blocks 4 in a ring of 2}}
    %k1 = dtc.shift %ki dim 1 blocks 4 : (!dtc.tensor<2x8{cp:2}x2x4xf32>) -> !dtc.tensor<2x8{cp:2}x2x4xf32>
    %v1 = dtc.shift %vi dim 1 blocks 2 : (!dtc.tensor<2x8{cp:2}x2x4xf32>) -> !dtc.tensor<2x8{cp:2}x2x4xf32>
    %p1 = dtc.shift %pi dim 0 blocks 2 : (!dtc.tensor<8{cp:2}xi32>) -> !dtc.tensor<8{cp:2}xi32>
    %ob, %lb = dtc.attention %q, %ki, %vi at %p, %pi {blocks = 2, causal, scale = 5.0e-01} : (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<8{cp:2}xi32>, !dtc.tensor<8{cp:2}xi32>) -> (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>)
    %o1, %l1 = dtc.merge_attention %oi, %li, %ob, %lb : (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>) -> (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>)
    dtc.yield %k1, %v1, %p1, %o1, %l1 : !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<8{cp:2}xi32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>
  } : (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<8{cp:2}xi32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>) -> (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<8{cp:2}xi32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>)
  return %r#3 : !dtc.tensor<2x8{cp:2}x2x4xf32>
}
}

// -----

// Keys that are one block ahead of their values.
module attributes {dtc.mesh = #dtc.mesh<cp:2>} {
func.func @ring(%q: !dtc.tensor<2x8{cp:2}x2x4xf32>, %k: !dtc.tensor<2x8{cp:2}x2x4xf32>, %v: !dtc.tensor<2x8{cp:2}x2x4xf32>, %p: !dtc.tensor<8{cp:2}xi32>, %o: !dtc.tensor<2x8{cp:2}x2x4xf32>, %l: !dtc.tensor<2x8{cp:2}x2xf32>) -> !dtc.tensor<2x8{cp:2}x2x4xf32> {
  %r:5 = dtc.ring 2(%k, %v, %p, %o, %l) {
  ^bb0(%ki: !dtc.tensor<2x8{cp:2}x2x4xf32>, %vi: !dtc.tensor<2x8{cp:2}x2x4xf32>, %pi: !dtc.tensor<8{cp:2}xi32>, %oi: !dtc.tensor<2x8{cp:2}x2x4xf32>, %li: !dtc.tensor<2x8{cp:2}x2xf32>):
    %k1 = dtc.shift %ki dim 1 blocks 2 : (!dtc.tensor<2x8{cp:2}x2x4xf32>) -> !dtc.tensor<2x8{cp:2}x2x4xf32>
    %v1 = dtc.shift %vi dim 1 blocks 2 : (!dtc.tensor<2x8{cp:2}x2x4xf32>) -> !dtc.tensor<2x8{cp:2}x2x4xf32>
    %p1 = dtc.shift %pi dim 0 blocks 2 : (!dtc.tensor<8{cp:2}xi32>) -> !dtc.tensor<8{cp:2}xi32>
  // expected-error@+1 {{values meet that have not travelled equally far: a shift is missing or doubled}}
    %ob, %lb = dtc.attention %q, %k1, %vi at %p, %pi {blocks = 2, causal, scale = 5.0e-01} : (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<8{cp:2}xi32>, !dtc.tensor<8{cp:2}xi32>) -> (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>)
    %o1, %l1 = dtc.merge_attention %oi, %li, %ob, %lb : (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>) -> (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>)
    dtc.yield %k1, %v1, %p1, %o1, %l1 : !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<8{cp:2}xi32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>
  } : (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<8{cp:2}xi32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>) -> (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<8{cp:2}xi32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>)
  return %r#3 : !dtc.tensor<2x8{cp:2}x2x4xf32>
}
}

// -----

// A block that is lost.
module attributes {dtc.mesh = #dtc.mesh<cp:2>} {
func.func @ring(%q: !dtc.tensor<2x8{cp:2}x2x4xf32>, %k: !dtc.tensor<2x8{cp:2}x2x4xf32>, %v: !dtc.tensor<2x8{cp:2}x2x4xf32>, %p: !dtc.tensor<8{cp:2}xi32>, %o: !dtc.tensor<2x8{cp:2}x2x4xf32>, %l: !dtc.tensor<2x8{cp:2}x2xf32>) -> !dtc.tensor<2x8{cp:2}x2x4xf32> {
  // expected-error@+1 {{yielded value #0 does not come from argument #0: its block would be lost}}
  %r:5 = dtc.ring 2(%k, %v, %p, %o, %l) {
  ^bb0(%ki: !dtc.tensor<2x8{cp:2}x2x4xf32>, %vi: !dtc.tensor<2x8{cp:2}x2x4xf32>, %pi: !dtc.tensor<8{cp:2}xi32>, %oi: !dtc.tensor<2x8{cp:2}x2x4xf32>, %li: !dtc.tensor<2x8{cp:2}x2xf32>):
    %k1 = dtc.shift %ki dim 1 blocks 2 : (!dtc.tensor<2x8{cp:2}x2x4xf32>) -> !dtc.tensor<2x8{cp:2}x2x4xf32>
    %v1 = dtc.shift %vi dim 1 blocks 2 : (!dtc.tensor<2x8{cp:2}x2x4xf32>) -> !dtc.tensor<2x8{cp:2}x2x4xf32>
    %p1 = dtc.shift %pi dim 0 blocks 2 : (!dtc.tensor<8{cp:2}xi32>) -> !dtc.tensor<8{cp:2}xi32>
    %ob, %lb = dtc.attention %q, %ki, %vi at %p, %pi {blocks = 2, causal, scale = 5.0e-01} : (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<8{cp:2}xi32>, !dtc.tensor<8{cp:2}xi32>) -> (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>)
    %o1, %l1 = dtc.merge_attention %oi, %li, %ob, %lb : (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>) -> (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>)
    dtc.yield %v1, %v1, %p1, %o1, %l1 : !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<8{cp:2}xi32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>
  } : (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<8{cp:2}xi32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>) -> (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<8{cp:2}xi32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>)
  return %r#3 : !dtc.tensor<2x8{cp:2}x2x4xf32>
}
}

// -----

// Too few iterations: blocks are not back at their owners.
module attributes {dtc.mesh = #dtc.mesh<cp:2>} {
func.func @ring(%q: !dtc.tensor<2x8{cp:2}x2x4xf32>, %k: !dtc.tensor<2x8{cp:2}x2x4xf32>, %v: !dtc.tensor<2x8{cp:2}x2x4xf32>, %p: !dtc.tensor<8{cp:2}xi32>, %o: !dtc.tensor<2x8{cp:2}x2x4xf32>, %l: !dtc.tensor<2x8{cp:2}x2xf32>) -> !dtc.tensor<2x8{cp:2}x2x4xf32> {
  %r:5 = dtc.ring 1(%k, %v, %p, %o, %l) {
  ^bb0(%ki: !dtc.tensor<2x8{cp:2}x2x4xf32>, %vi: !dtc.tensor<2x8{cp:2}x2x4xf32>, %pi: !dtc.tensor<8{cp:2}xi32>, %oi: !dtc.tensor<2x8{cp:2}x2x4xf32>, %li: !dtc.tensor<2x8{cp:2}x2xf32>):
  // expected-error@+1 {{has blocks 2 in a ring of 1}}
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

// -----

func.func @ring(%x: !dtc.tensor<8xf32>) {
  // expected-error@+1 {{blocks must be positive}}
  %r = dtc.ring 0(%x) {
  ^bb0(%a: !dtc.tensor<8xf32>):
    dtc.yield %a : !dtc.tensor<8xf32>
  } : (!dtc.tensor<8xf32>) -> !dtc.tensor<8xf32>
  return
}

// -----

func.func @ring(%x: !dtc.tensor<8xf32>) {
  // expected-error@+1 {{types of inits, arguments, yielded values and results must agree}}
  %r = dtc.ring 2(%x) {
  ^bb0(%a: !dtc.tensor<4xf32>):
    dtc.yield %a : !dtc.tensor<4xf32>
  } : (!dtc.tensor<8xf32>) -> !dtc.tensor<8xf32>
  return
}

// -----

// Queries that go around with the keys meet their own block only.
module attributes {dtc.mesh = #dtc.mesh<cp:2>} {
func.func @ring(%q: !dtc.tensor<2x8{cp:2}x2x4xf32>, %p: !dtc.tensor<8{cp:2}xi32>) {
  %r:2 = dtc.ring 2(%q, %p) {
  ^bb0(%qi: !dtc.tensor<2x8{cp:2}x2x4xf32>, %pi: !dtc.tensor<8{cp:2}xi32>):
    // expected-error@+1 {{queries must stay}}
    %ob, %lb = dtc.attention %qi, %qi, %qi at %pi, %pi {blocks = 2, causal, scale = 5.0e-01} : (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<8{cp:2}xi32>, !dtc.tensor<8{cp:2}xi32>) -> (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<2x8{cp:2}x2xf32>)
    %q1 = dtc.shift %qi dim 1 blocks 2 : (!dtc.tensor<2x8{cp:2}x2x4xf32>) -> !dtc.tensor<2x8{cp:2}x2x4xf32>
    %p1 = dtc.shift %pi dim 0 blocks 2 : (!dtc.tensor<8{cp:2}xi32>) -> !dtc.tensor<8{cp:2}xi32>
    dtc.yield %q1, %p1 : !dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<8{cp:2}xi32>
  } : (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<8{cp:2}xi32>) -> (!dtc.tensor<2x8{cp:2}x2x4xf32>, !dtc.tensor<8{cp:2}xi32>)
  return
}
}

// -----

// A value that depends on itself does not travel.
func.func @f(%x: !dtc.tensor<8xf32>) {
  // expected-error@+1 {{yielded value #0 does not come from argument #0: its block would be lost}}
  %r = dtc.ring 2(%x) {
  ^bb0(%a: !dtc.tensor<8xf32>):
    %b = dtc.add %b, %a : (!dtc.tensor<8xf32>, !dtc.tensor<8xf32>) -> !dtc.tensor<8xf32>
    dtc.yield %b : !dtc.tensor<8xf32>
  } : (!dtc.tensor<8xf32>) -> !dtc.tensor<8xf32>
  return
}
