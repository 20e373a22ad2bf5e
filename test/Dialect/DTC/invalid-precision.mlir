// RUN: dtc-opt %s -split-input-file -verify-diagnostics

// What is f32 beside bf16, op by op.

func.func @cross_entropy(%z: !dtc.tensor<2x3x5xbf16>, %y: !dtc.tensor<2x3xi32>) {
  // expected-error@+1 {{result #0 must have elements of type 'f32' beside 'bf16', but has 'bf16'}}
  %0, %1 = dtc.cross_entropy %z, %y : (!dtc.tensor<2x3x5xbf16>, !dtc.tensor<2x3xi32>) -> (!dtc.tensor<bf16>, !dtc.tensor<2x3xbf16>)
  return
}

// -----

func.func @cross_entropy_one_wide(%z: !dtc.tensor<2x3x5xbf16>, %y: !dtc.tensor<2x3xi32>) {
  // expected-error@+1 {{float element types differ: 'f32' and 'bf16'}}
  %0, %1 = dtc.cross_entropy %z, %y : (!dtc.tensor<2x3x5xbf16>, !dtc.tensor<2x3xi32>) -> (!dtc.tensor<f32>, !dtc.tensor<2x3xbf16>)
  return
}

// -----

// Beside f32 it is f32, not f64.
func.func @cross_entropy_f32(%z: !dtc.tensor<2x3x5xf32>, %y: !dtc.tensor<2x3xi32>) {
  // expected-error@+1 {{result #0 must have elements of type 'f32' beside 'f32', but has 'f64'}}
  %0, %1 = dtc.cross_entropy %z, %y : (!dtc.tensor<2x3x5xf32>, !dtc.tensor<2x3xi32>) -> (!dtc.tensor<f64>, !dtc.tensor<2x3xf64>)
  return
}

// -----

func.func @cross_entropy_grad(%z: !dtc.tensor<2x3x5xbf16>, %y: !dtc.tensor<2x3xi32>, %lse: !dtc.tensor<2x3xbf16>, %d: !dtc.tensor<bf16>) {
  // expected-error@+1 {{operand #2 must have elements of type 'f32' beside 'bf16', but has 'bf16'}}
  %0 = dtc.cross_entropy_grad %z, %y, %lse, %d : (!dtc.tensor<2x3x5xbf16>, !dtc.tensor<2x3xi32>, !dtc.tensor<2x3xbf16>, !dtc.tensor<bf16>) -> !dtc.tensor<2x3x5xbf16>
  return
}

// -----

func.func @vocab_max(%z: !dtc.tensor<2x3x5xbf16>) {
  // expected-error@+1 {{result #0 must have elements of type 'f32' beside 'bf16', but has 'bf16'}}
  %0 = dtc.vocab_max %z : (!dtc.tensor<2x3x5xbf16>) -> !dtc.tensor<2x3xbf16>
  return
}

// -----

func.func @vocab_sum_exp(%z: !dtc.tensor<2x3x5xbf16>, %s: !dtc.tensor<2x3xbf16>) {
  // expected-error@+1 {{operand #1 must have elements of type 'f32' beside 'bf16', but has 'bf16'}}
  %0 = dtc.vocab_sum_exp %z, %s : (!dtc.tensor<2x3x5xbf16>, !dtc.tensor<2x3xbf16>) -> !dtc.tensor<2x3xbf16>
  return
}

// -----

func.func @vocab_pick(%z: !dtc.tensor<2x3x5xbf16>, %y: !dtc.tensor<2x3xi32>) {
  // expected-error@+1 {{result #0 must have elements of type 'f32' beside 'bf16', but has 'bf16'}}
  %0 = dtc.vocab_pick %z, %y : (!dtc.tensor<2x3x5xbf16>, !dtc.tensor<2x3xi32>) -> !dtc.tensor<2x3xbf16>
  return
}

// -----

func.func @token_loss(%s: !dtc.tensor<2x3xbf16>, %y: !dtc.tensor<2x3xi32>) {
  // expected-error@+1 {{operand #0 must have elements of type 'f32', but has 'bf16'}}
  %0, %1 = dtc.token_loss %s, %s, %s, %y : (!dtc.tensor<2x3xbf16>, !dtc.tensor<2x3xbf16>, !dtc.tensor<2x3xbf16>, !dtc.tensor<2x3xi32>) -> (!dtc.tensor<bf16>, !dtc.tensor<2x3xbf16>)
  return
}

// -----

func.func @attention(%q: !dtc.tensor<2x4x2x8xbf16>, %p: !dtc.tensor<4xi32>) {
  // expected-error@+1 {{result #1 must have elements of type 'f32' beside 'bf16', but has 'bf16'}}
  %0, %1 = dtc.attention %q, %q, %q at %p, %p {causal, scale = 1.0} : (!dtc.tensor<2x4x2x8xbf16>, !dtc.tensor<2x4x2x8xbf16>, !dtc.tensor<2x4x2x8xbf16>, !dtc.tensor<4xi32>, !dtc.tensor<4xi32>) -> (!dtc.tensor<2x4x2x8xbf16>, !dtc.tensor<2x4x2xbf16>)
  return
}

// -----

func.func @attention_grad(%q: !dtc.tensor<2x4x2x8xbf16>, %p: !dtc.tensor<4xi32>, %lse: !dtc.tensor<2x4x2xbf16>) {
  // expected-error@+1 {{operand #6 must have elements of type 'f32' beside 'bf16', but has 'bf16'}}
  %0, %1, %2 = dtc.attention_grad %q, %q, %q at %p, %p of %q, %lse, %q {causal, scale = 1.0} : (!dtc.tensor<2x4x2x8xbf16>, !dtc.tensor<2x4x2x8xbf16>, !dtc.tensor<2x4x2x8xbf16>, !dtc.tensor<4xi32>, !dtc.tensor<4xi32>, !dtc.tensor<2x4x2x8xbf16>, !dtc.tensor<2x4x2xbf16>, !dtc.tensor<2x4x2x8xbf16>) -> (!dtc.tensor<2x4x2x8xbf16>, !dtc.tensor<2x4x2x8xbf16>, !dtc.tensor<2x4x2x8xbf16>)
  return
}

// -----

func.func @merge_attention(%a: !dtc.tensor<2x4x2x8xbf16>, %l: !dtc.tensor<2x4x2xbf16>) {
  // expected-error@+1 {{operand #1 must have elements of type 'f32' beside 'bf16', but has 'bf16'}}
  %0, %1 = dtc.merge_attention %a, %l, %a, %l : (!dtc.tensor<2x4x2x8xbf16>, !dtc.tensor<2x4x2xbf16>, !dtc.tensor<2x4x2x8xbf16>, !dtc.tensor<2x4x2xbf16>) -> (!dtc.tensor<2x4x2x8xbf16>, !dtc.tensor<2x4x2xbf16>)
  return
}

// -----

func.func @sum_squares(%x: !dtc.tensor<4xbf16>) {
  // expected-error@+1 {{the sum of squares of 'bf16' is 'f32' or f64, but here it is 'bf16'}}
  %0 = dtc.sum_squares %x : (!dtc.tensor<4xbf16>) -> !dtc.tensor<bf16>
  return
}

// -----

func.func @clip(%s: !dtc.tensor<f32>, %l: !dtc.tensor<bf16>, %n: !dtc.tensor<i32>, %c: !dtc.tensor<8xbf16>) {
  // expected-error@+1 {{operand #1 must have elements of type 'f32', but has 'bf16'}}
  %0, %1, %2 = dtc.clip %s, %l, %n, %c : (!dtc.tensor<f32>, !dtc.tensor<bf16>, !dtc.tensor<i32>, !dtc.tensor<8xbf16>) -> (!dtc.tensor<bf16>, !dtc.tensor<bf16>, !dtc.tensor<i32>)
  return
}

// -----

func.func @adamw(%p: !dtc.tensor<4xbf16>, %g: !dtc.tensor<4xbf16>, %c: !dtc.tensor<bf16>, %k: !dtc.tensor<i32>, %s: !dtc.tensor<8xbf16>) {
  // expected-error@+1 {{operand #0 must have elements of type 'f32' beside 'bf16', but has 'bf16'}}
  %0, %1, %2 = dtc.adamw %p, %g, %p, %p with %c, %k, %s : (!dtc.tensor<4xbf16>, !dtc.tensor<4xbf16>, !dtc.tensor<4xbf16>, !dtc.tensor<4xbf16>, !dtc.tensor<bf16>, !dtc.tensor<i32>, !dtc.tensor<8xbf16>) -> (!dtc.tensor<4xbf16>, !dtc.tensor<4xbf16>, !dtc.tensor<4xbf16>)
  return
}

// -----

// Constraint 1 of convert.
func.func @convert(%x: !dtc.tensor<4xf32>) {
  // expected-error@+1 {{dimension 0 of result #0 is 5 but 'a' is 4 elsewhere}}
  %0 = dtc.convert %x : (!dtc.tensor<4xf32>) -> !dtc.tensor<5xbf16>
  return
}

// -----

// Constraint 2 of convert.
func.func @convert(%x: !dtc.tensor<4{tp:2}xf32>) {
  // expected-error@+1 {{factor 'a' is cut by {tp:2} in one value and by {} in result #0}}
  %0 = dtc.convert %x : (!dtc.tensor<4{tp:2}xf32>) -> !dtc.tensor<4xbf16>
  return
}

// -----

// Constraint 4 of param.
// expected-error@+1 {{grad_type must be bf16 or f32, but is 'f64'}}
dtc.param @p : !dtc.tensor<4xbf16> from "p" [4] view affine_map<(a) -> (a)> dims ["embed"] {init = "zeros", grad_type = f64}

// -----

// expected-error@+1 {{grad_type is for parameters of bf16, not 'f32'}}
dtc.param @p : !dtc.tensor<4xf32> from "p" [4] view affine_map<(a) -> (a)> dims ["embed"] {init = "zeros", grad_type = f32}

// -----

// Constraint 3 of read.
dtc.param @p : !dtc.tensor<4xf32> from "p" [4] view affine_map<(a) -> (a)> dims ["embed"] {init = "zeros"}
func.func @f() {
  // expected-error@+1 {{@p has no master: it is 'f32', not bf16}}
  %0 = dtc.read master of @p : !dtc.tensor<4xf32>
  return
}

// -----

dtc.param @p : !dtc.tensor<4xbf16> from "p" [4] view affine_map<(a) -> (a)> dims ["embed"] {init = "zeros"}
func.func @f() {
  // expected-error@+1 {{has elements of type 'bf16', but m of @p has 'f32'}}
  %0 = dtc.read m of @p : !dtc.tensor<4xbf16>
  return
}

// -----

dtc.param @p : !dtc.tensor<4xbf16> from "p" [4] view affine_map<(a) -> (a)> dims ["embed"] {init = "zeros", grad_type = f32}
func.func @f(%x: !dtc.tensor<4xbf16>) {
  // expected-error@+1 {{has elements of type 'bf16', but grad of @p has 'f32'}}
  dtc.write %x to grad of @p : !dtc.tensor<4xbf16>
  return
}

// -----

dtc.param @p : !dtc.tensor<4xbf16> from "p" [4] view affine_map<(a) -> (a)> dims ["embed"] {init = "zeros"}
func.func @f(%x: !dtc.tensor<4xf32>) {
  // expected-error@+1 {{has elements of type 'f32', but grad of @p has 'bf16'}}
  dtc.write %x to grad of @p : !dtc.tensor<4xf32>
  return
}
