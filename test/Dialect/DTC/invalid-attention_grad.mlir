// Every constraint of dtc.attention_grad, broken.
// RUN: dtc-opt %s -split-input-file -verify-diagnostics

// Constraint 1: shapes as in attention.
func.func @f(%arg0: !dtc.tensor<2x6x4x8xf32>, %arg1: !dtc.tensor<2x6x2x8xf32>, %arg2: !dtc.tensor<2x6x2x8xf32>, %arg3: !dtc.tensor<6xi32>, %arg4: !dtc.tensor<6xi32>, %arg5: !dtc.tensor<2x6x4x8xf32>, %arg6: !dtc.tensor<2x6x2xf32>, %arg7: !dtc.tensor<2x6x4x8xf32>) {
  // expected-error@+1 {{dimension 2 of operand #6 is 2 but 'gm' is 4 elsewhere}}
  %0:3 = dtc.attention_grad %arg0, %arg1, %arg2 at %arg3, %arg4 of %arg5, %arg6, %arg7 {scale = 2.5e-1 : f64}
      : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<6xi32>, !dtc.tensor<6xi32>, !dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x2xf32>, !dtc.tensor<2x6x4x8xf32>) -> (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<2x6x2x8xf32>)
  return
}

// -----

// dk has k's shape.
func.func @f(%arg0: !dtc.tensor<2x6x4x8xf32>, %arg1: !dtc.tensor<2x6x2x8xf32>, %arg2: !dtc.tensor<2x6x2x8xf32>, %arg3: !dtc.tensor<6xi32>, %arg4: !dtc.tensor<6xi32>, %arg5: !dtc.tensor<2x6x4x8xf32>, %arg6: !dtc.tensor<2x6x4xf32>, %arg7: !dtc.tensor<2x6x4x8xf32>) {
  // expected-error@+1 {{dimension 2 of result #1 is 4 but 'g' is 2 elsewhere}}
  %0:3 = dtc.attention_grad %arg0, %arg1, %arg2 at %arg3, %arg4 of %arg5, %arg6, %arg7 {scale = 2.5e-1 : f64}
      : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<6xi32>, !dtc.tensor<6xi32>, !dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x4xf32>, !dtc.tensor<2x6x4x8xf32>) -> (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x2x8xf32>)
  return
}

// -----

// Element types.
func.func @f(%arg0: !dtc.tensor<2x6x4x8xf32>, %arg1: !dtc.tensor<2x6x2x8xf32>, %arg2: !dtc.tensor<2x6x2x8xf32>, %arg3: !dtc.tensor<6xi32>, %arg4: !dtc.tensor<6xi32>, %arg5: !dtc.tensor<2x6x4x8xf32>, %arg6: !dtc.tensor<2x6x4xf32>, %arg7: !dtc.tensor<2x6x4x8xf64>) {
  // expected-error@+1 {{float element types differ: 'f32' and 'f64'}}
  %0:3 = dtc.attention_grad %arg0, %arg1, %arg2 at %arg3, %arg4 of %arg5, %arg6, %arg7 {scale = 2.5e-1 : f64}
      : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<6xi32>, !dtc.tensor<6xi32>, !dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x4xf32>, !dtc.tensor<2x6x4x8xf64>) -> (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<2x6x2x8xf32>)
  return
}

// -----

// Heads.
func.func @f(%arg0: !dtc.tensor<2x6x3x8xf32>, %arg1: !dtc.tensor<2x6x2x8xf32>, %arg2: !dtc.tensor<2x6x2x8xf32>, %arg3: !dtc.tensor<6xi32>, %arg4: !dtc.tensor<6xi32>, %arg5: !dtc.tensor<2x6x3x8xf32>, %arg6: !dtc.tensor<2x6x3xf32>, %arg7: !dtc.tensor<2x6x3x8xf32>) {
  // expected-error@+1 {{2 key/value heads do not divide 3 query heads}}
  %0:3 = dtc.attention_grad %arg0, %arg1, %arg2 at %arg3, %arg4 of %arg5, %arg6, %arg7 {scale = 2.5e-1 : f64}
      : (!dtc.tensor<2x6x3x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<6xi32>, !dtc.tensor<6xi32>, !dtc.tensor<2x6x3x8xf32>, !dtc.tensor<2x6x3xf32>, !dtc.tensor<2x6x3x8xf32>) -> (!dtc.tensor<2x6x3x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<2x6x2x8xf32>)
  return
}

// -----

// Positions.
func.func @f(%arg0: !dtc.tensor<2x6x4x8xf32>, %arg1: !dtc.tensor<2x6x2x8xf32>, %arg2: !dtc.tensor<2x6x2x8xf32>, %arg3: !dtc.tensor<2x6xi32>, %arg4: !dtc.tensor<6xi32>, %arg5: !dtc.tensor<2x6x4x8xf32>, %arg6: !dtc.tensor<2x6x4xf32>, %arg7: !dtc.tensor<2x6x4x8xf32>) {
  // expected-error@+1 {{positions of queries and keys must both have rank 1 or both rank 2, but have ranks 2 and 1}}
  %0:3 = dtc.attention_grad %arg0, %arg1, %arg2 at %arg3, %arg4 of %arg5, %arg6, %arg7 {scale = 2.5e-1 : f64}
      : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<2x6xi32>, !dtc.tensor<6xi32>, !dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x4xf32>, !dtc.tensor<2x6x4x8xf32>) -> (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<2x6x2x8xf32>)
  return
}

// -----

// Attributes.
func.func @f(%arg0: !dtc.tensor<2x6x4x8xf32>, %arg1: !dtc.tensor<2x6x2x8xf32>, %arg2: !dtc.tensor<2x6x2x8xf32>, %arg3: !dtc.tensor<6xi32>, %arg4: !dtc.tensor<6xi32>, %arg5: !dtc.tensor<2x6x4x8xf32>, %arg6: !dtc.tensor<2x6x4xf32>, %arg7: !dtc.tensor<2x6x4x8xf32>) {
  // expected-error@+1 {{scale must be positive and finite, but is -1}}
  %0:3 = dtc.attention_grad %arg0, %arg1, %arg2 at %arg3, %arg4 of %arg5, %arg6, %arg7 {scale = -1.0 : f64}
      : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<6xi32>, !dtc.tensor<6xi32>, !dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x4xf32>, !dtc.tensor<2x6x4x8xf32>) -> (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<2x6x2x8xf32>)
  return
}

// -----

// Random numbers.
func.func @f(%arg0: !dtc.tensor<2x6x4x8xf32>, %arg1: !dtc.tensor<2x6x2x8xf32>, %arg2: !dtc.tensor<2x6x2x8xf32>, %arg3: !dtc.tensor<6xi32>, %arg4: !dtc.tensor<6xi32>, %arg5: !dtc.tensor<2x6x4x8xf32>, %arg6: !dtc.tensor<2x6x4xf32>, %arg7: !dtc.tensor<2x6x4x8xf32>) {
  // expected-error@+1 {{rng, layer and rows must be given exactly when dropout is positive}}
  %0:3 = dtc.attention_grad %arg0, %arg1, %arg2 at %arg3, %arg4 of %arg5, %arg6, %arg7 {scale = 1.0 : f64, dropout = 0.5 : f64}
      : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<6xi32>, !dtc.tensor<6xi32>, !dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x4xf32>, !dtc.tensor<2x6x4x8xf32>) -> (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<2x6x2x8xf32>)
  return
}

// -----

// Constraint 2: key positions may not be cut alone ...
func.func @f(%arg0: !dtc.tensor<2x8x4x8xf32, replicate{tp:4}>, %arg1: !dtc.tensor<2x8{tp:4}x2x8xf32>, %arg2: !dtc.tensor<2x8{tp:4}x2x8xf32>, %arg3: !dtc.tensor<8xi32, replicate{tp:4}>, %arg4: !dtc.tensor<8{tp:4}xi32>, %arg5: !dtc.tensor<2x8x4x8xf32, replicate{tp:4}>, %arg6: !dtc.tensor<2x8x4xf32, replicate{tp:4}>, %arg7: !dtc.tensor<2x8x4x8xf32, replicate{tp:4}>) {
  // expected-error@+1 {{axis {tp:4} cuts factor 't', which may be cut only together with its pair}}
  %0:3 = dtc.attention_grad %arg0, %arg1, %arg2 at %arg3, %arg4 of %arg5, %arg6, %arg7 {scale = 2.5e-1 : f64}
      : (!dtc.tensor<2x8x4x8xf32, replicate{tp:4}>, !dtc.tensor<2x8{tp:4}x2x8xf32>, !dtc.tensor<2x8{tp:4}x2x8xf32>, !dtc.tensor<8xi32, replicate{tp:4}>, !dtc.tensor<8{tp:4}xi32>, !dtc.tensor<2x8x4x8xf32, replicate{tp:4}>, !dtc.tensor<2x8x4xf32, replicate{tp:4}>, !dtc.tensor<2x8x4x8xf32, replicate{tp:4}>) -> (!dtc.tensor<2x8x4x8xf32, partial{tp:4}>, !dtc.tensor<2x8{tp:4}x2x8xf32>, !dtc.tensor<2x8{tp:4}x2x8xf32>)
  return
}

// -----

// ... unless local: then dq is a sum.
func.func @f(%arg0: !dtc.tensor<2x8x4x8xf32, replicate{tp:4}>, %arg1: !dtc.tensor<2x8{tp:4}x2x8xf32>, %arg2: !dtc.tensor<2x8{tp:4}x2x8xf32>, %arg3: !dtc.tensor<8xi32, replicate{tp:4}>, %arg4: !dtc.tensor<8{tp:4}xi32>, %arg5: !dtc.tensor<2x8x4x8xf32, replicate{tp:4}>, %arg6: !dtc.tensor<2x8x4xf32, replicate{tp:4}>, %arg7: !dtc.tensor<2x8x4x8xf32, replicate{tp:4}>) {
  // expected-error@+1 {{on axis {tp:4}, which cuts factor 't', result #0 is invariant but must be partial}}
  %0:3 = dtc.attention_grad %arg0, %arg1, %arg2 at %arg3, %arg4 of %arg5, %arg6, %arg7 {local, scale = 1.0 : f64}
      : (!dtc.tensor<2x8x4x8xf32, replicate{tp:4}>, !dtc.tensor<2x8{tp:4}x2x8xf32>, !dtc.tensor<2x8{tp:4}x2x8xf32>, !dtc.tensor<8xi32, replicate{tp:4}>, !dtc.tensor<8{tp:4}xi32>, !dtc.tensor<2x8x4x8xf32, replicate{tp:4}>, !dtc.tensor<2x8x4xf32, replicate{tp:4}>, !dtc.tensor<2x8x4x8xf32, replicate{tp:4}>) -> (!dtc.tensor<2x8x4x8xf32>, !dtc.tensor<2x8{tp:4}x2x8xf32>, !dtc.tensor<2x8{tp:4}x2x8xf32>)
  return
}

// -----

// dk of cut queries is a sum.
func.func @f(%arg0: !dtc.tensor<2x8{tp:4}x4x8xf32>, %arg1: !dtc.tensor<2x8x2x8xf32, replicate{tp:4}>, %arg2: !dtc.tensor<2x8x2x8xf32, replicate{tp:4}>, %arg3: !dtc.tensor<8{tp:4}xi32>, %arg4: !dtc.tensor<8xi32, replicate{tp:4}>, %arg5: !dtc.tensor<2x8{tp:4}x4x8xf32>, %arg6: !dtc.tensor<2x8{tp:4}x4xf32>, %arg7: !dtc.tensor<2x8{tp:4}x4x8xf32>) {
  // expected-error@+1 {{on axis {tp:4}, which cuts factor 's', result #1 is invariant but must be partial}}
  %0:3 = dtc.attention_grad %arg0, %arg1, %arg2 at %arg3, %arg4 of %arg5, %arg6, %arg7 {scale = 2.5e-1 : f64}
      : (!dtc.tensor<2x8{tp:4}x4x8xf32>, !dtc.tensor<2x8x2x8xf32, replicate{tp:4}>, !dtc.tensor<2x8x2x8xf32, replicate{tp:4}>, !dtc.tensor<8{tp:4}xi32>, !dtc.tensor<8xi32, replicate{tp:4}>, !dtc.tensor<2x8{tp:4}x4x8xf32>, !dtc.tensor<2x8{tp:4}x4xf32>, !dtc.tensor<2x8{tp:4}x4x8xf32>) -> (!dtc.tensor<2x8{tp:4}x4x8xf32>, !dtc.tensor<2x8x2x8xf32>, !dtc.tensor<2x8x2x8xf32, partial{tp:4}>)
  return
}

// -----

// local has no pair.
func.func @f(%arg0: !dtc.tensor<2x8{tp:4}x4x8xf32>, %arg1: !dtc.tensor<2x8{tp:4}x2x8xf32>, %arg2: !dtc.tensor<2x8{tp:4}x2x8xf32>, %arg3: !dtc.tensor<8{tp:4}xi32>, %arg4: !dtc.tensor<8{tp:4}xi32>, %arg5: !dtc.tensor<2x8{tp:4}x4x8xf32>, %arg6: !dtc.tensor<2x8{tp:4}x4xf32>, %arg7: !dtc.tensor<2x8{tp:4}x4x8xf32>) {
  // expected-error@+1 {{axis {tp:4} cuts several factors: 'st'}}
  %0:3 = dtc.attention_grad %arg0, %arg1, %arg2 at %arg3, %arg4 of %arg5, %arg6, %arg7 {local, scale = 1.0 : f64}
      : (!dtc.tensor<2x8{tp:4}x4x8xf32>, !dtc.tensor<2x8{tp:4}x2x8xf32>, !dtc.tensor<2x8{tp:4}x2x8xf32>, !dtc.tensor<8{tp:4}xi32>, !dtc.tensor<8{tp:4}xi32>, !dtc.tensor<2x8{tp:4}x4x8xf32>, !dtc.tensor<2x8{tp:4}x4xf32>, !dtc.tensor<2x8{tp:4}x4x8xf32>) -> (!dtc.tensor<2x8{tp:4}x4x8xf32>, !dtc.tensor<2x8{tp:4}x2x8xf32>, !dtc.tensor<2x8{tp:4}x2x8xf32>)
  return
}

// -----

// dv reads neither v nor out.
func.func @f(%arg0: !dtc.tensor<2x6x4x8xf32, replicate{tp:4}>, %arg1: !dtc.tensor<2x6x2x8xf32, replicate{tp:4}>, %arg2: !dtc.tensor<2x6x2x8xf32, partial{tp:4}>, %arg3: !dtc.tensor<6xi32, replicate{tp:4}>, %arg4: !dtc.tensor<6xi32, replicate{tp:4}>, %arg5: !dtc.tensor<2x6x4x8xf32, partial{tp:4}>, %arg6: !dtc.tensor<2x6x4xf32, replicate{tp:4}>, %arg7: !dtc.tensor<2x6x4x8xf32, replicate{tp:4}>) {
  // expected-error@+1 {{are illegal; legal are: all invariant; all replicate; partial in operand #7 with every other operand replicate; partial in operands #2, #5 with every other operand replicate}}
  %0:3 = dtc.attention_grad %arg0, %arg1, %arg2 at %arg3, %arg4 of %arg5, %arg6, %arg7 {scale = 2.5e-1 : f64}
      : (!dtc.tensor<2x6x4x8xf32, replicate{tp:4}>, !dtc.tensor<2x6x2x8xf32, replicate{tp:4}>, !dtc.tensor<2x6x2x8xf32, partial{tp:4}>, !dtc.tensor<6xi32, replicate{tp:4}>, !dtc.tensor<6xi32, replicate{tp:4}>, !dtc.tensor<2x6x4x8xf32, partial{tp:4}>, !dtc.tensor<2x6x4xf32, replicate{tp:4}>, !dtc.tensor<2x6x4x8xf32, replicate{tp:4}>) -> (!dtc.tensor<2x6x4x8xf32, partial{tp:4}>, !dtc.tensor<2x6x2x8xf32, partial{tp:4}>, !dtc.tensor<2x6x2x8xf32, partial{tp:4}>)
  return
}

// -----

// Constraint 3: blocks come with local.
func.func @f(%arg0: !dtc.tensor<2x6x4x8xf32>, %arg1: !dtc.tensor<2x6x2x8xf32>, %arg2: !dtc.tensor<2x6x2x8xf32>, %arg3: !dtc.tensor<6xi32>, %arg4: !dtc.tensor<6xi32>, %arg5: !dtc.tensor<2x6x4x8xf32>, %arg6: !dtc.tensor<2x6x4xf32>, %arg7: !dtc.tensor<2x6x4x8xf32>) {
  // expected-error@+1 {{with several blocks is always local}}
  %0:3 = dtc.attention_grad %arg0, %arg1, %arg2 at %arg3, %arg4 of %arg5, %arg6, %arg7 {scale = 1.0 : f64, blocks = 2 : i64}
      : (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<6xi32>, !dtc.tensor<6xi32>, !dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x4xf32>, !dtc.tensor<2x6x4x8xf32>) -> (!dtc.tensor<2x6x4x8xf32>, !dtc.tensor<2x6x2x8xf32>, !dtc.tensor<2x6x2x8xf32>)
  return
}

// -----

// v alone is no linear set.
func.func @f(%arg0: !dtc.tensor<2x6x4x8xf32, replicate{tp:4}>, %arg1: !dtc.tensor<2x6x2x8xf32, replicate{tp:4}>, %arg2: !dtc.tensor<2x6x2x8xf32, partial{tp:4}>, %arg3: !dtc.tensor<6xi32, replicate{tp:4}>, %arg4: !dtc.tensor<6xi32, replicate{tp:4}>, %arg5: !dtc.tensor<2x6x4x8xf32, replicate{tp:4}>, %arg6: !dtc.tensor<2x6x4xf32, replicate{tp:4}>, %arg7: !dtc.tensor<2x6x4x8xf32, replicate{tp:4}>) {
  // expected-error@+1 {{the placements (replicate, replicate, partial, replicate, replicate, replicate, replicate, replicate -> partial, partial, replicate) are illegal}}
  %0:3 = dtc.attention_grad %arg0, %arg1, %arg2 at %arg3, %arg4 of %arg5, %arg6, %arg7 {scale = 2.5e-1 : f64}
      : (!dtc.tensor<2x6x4x8xf32, replicate{tp:4}>, !dtc.tensor<2x6x2x8xf32, replicate{tp:4}>, !dtc.tensor<2x6x2x8xf32, partial{tp:4}>, !dtc.tensor<6xi32, replicate{tp:4}>, !dtc.tensor<6xi32, replicate{tp:4}>, !dtc.tensor<2x6x4x8xf32, replicate{tp:4}>, !dtc.tensor<2x6x4xf32, replicate{tp:4}>, !dtc.tensor<2x6x4x8xf32, replicate{tp:4}>) -> (!dtc.tensor<2x6x4x8xf32, partial{tp:4}>, !dtc.tensor<2x6x2x8xf32, partial{tp:4}>, !dtc.tensor<2x6x2x8xf32, replicate{tp:4}>)
  return
}
