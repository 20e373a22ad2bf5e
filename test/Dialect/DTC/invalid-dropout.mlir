// Every constraint of dtc.dropout, broken.
// RUN: dtc-opt %s -split-input-file -verify-diagnostics

// Constraint 1: x has rank 3.
func.func @f(%arg0: !dtc.tensor<2x6xf32>, %arg1: !dtc.tensor<2xi32>, %arg2: !dtc.tensor<i32>, %arg3: !dtc.tensor<2xi32>, %arg4: !dtc.tensor<6xi32>) {
  // expected-error@+1 {{operand #0 must have rank 3 but has rank 2}}
  %0 = dtc.dropout %arg0 random %arg1, %arg2, %arg3, %arg4 {p = 0.1 : f64, site = 0 : i64}
      : (!dtc.tensor<2x6xf32>, !dtc.tensor<2xi32>, !dtc.tensor<i32>, !dtc.tensor<2xi32>, !dtc.tensor<6xi32>) -> !dtc.tensor<2x6xf32>
  return
}

// -----

// The result has x's shape.
func.func @f(%arg0: !dtc.tensor<2x6x8xf32>, %arg1: !dtc.tensor<2xi32>, %arg2: !dtc.tensor<i32>, %arg3: !dtc.tensor<2xi32>, %arg4: !dtc.tensor<6xi32>) {
  // expected-error@+1 {{dimension 2 of result #0 is 4 but 'e' is 8 elsewhere}}
  %0 = dtc.dropout %arg0 random %arg1, %arg2, %arg3, %arg4 {p = 0.1 : f64, site = 0 : i64}
      : (!dtc.tensor<2x6x8xf32>, !dtc.tensor<2xi32>, !dtc.tensor<i32>, !dtc.tensor<2xi32>, !dtc.tensor<6xi32>) -> !dtc.tensor<2x6x4xf32>
  return
}

// -----

// And its element type.
func.func @f(%arg0: !dtc.tensor<2x6x8xf32>, %arg1: !dtc.tensor<2xi32>, %arg2: !dtc.tensor<i32>, %arg3: !dtc.tensor<2xi32>, %arg4: !dtc.tensor<6xi32>) {
  // expected-error@+1 {{float element types differ: 'f32' and 'f64'}}
  %0 = dtc.dropout %arg0 random %arg1, %arg2, %arg3, %arg4 {p = 0.1 : f64, site = 0 : i64}
      : (!dtc.tensor<2x6x8xf32>, !dtc.tensor<2xi32>, !dtc.tensor<i32>, !dtc.tensor<2xi32>, !dtc.tensor<6xi32>) -> !dtc.tensor<2x6x8xf64>
  return
}

// -----

// Constraint 2: p is below 1.
func.func @f(%arg0: !dtc.tensor<2x6x8xf32>, %arg1: !dtc.tensor<2xi32>, %arg2: !dtc.tensor<i32>, %arg3: !dtc.tensor<2xi32>, %arg4: !dtc.tensor<6xi32>) {
  // expected-error@+1 {{p must be at least 0 and below 1, but is 1}}
  %0 = dtc.dropout %arg0 random %arg1, %arg2, %arg3, %arg4 {p = 1.0 : f64, site = 0 : i64}
      : (!dtc.tensor<2x6x8xf32>, !dtc.tensor<2xi32>, !dtc.tensor<i32>, !dtc.tensor<2xi32>, !dtc.tensor<6xi32>) -> !dtc.tensor<2x6x8xf32>
  return
}

// -----

// p is not negative.
func.func @f(%arg0: !dtc.tensor<2x6x8xf32>, %arg1: !dtc.tensor<2xi32>, %arg2: !dtc.tensor<i32>, %arg3: !dtc.tensor<2xi32>, %arg4: !dtc.tensor<6xi32>) {
  // expected-error@+1 {{p must be at least 0 and below 1, but is -0.1}}
  %0 = dtc.dropout %arg0 random %arg1, %arg2, %arg3, %arg4 {p = -0.1 : f64, site = 0 : i64}
      : (!dtc.tensor<2x6x8xf32>, !dtc.tensor<2xi32>, !dtc.tensor<i32>, !dtc.tensor<2xi32>, !dtc.tensor<6xi32>) -> !dtc.tensor<2x6x8xf32>
  return
}

// -----

// rng has 2 numbers.
func.func @f(%arg0: !dtc.tensor<2x6x8xf32>, %arg1: !dtc.tensor<4xi32>, %arg2: !dtc.tensor<i32>, %arg3: !dtc.tensor<2xi32>, %arg4: !dtc.tensor<6xi32>) {
  // expected-error@+1 {{rng must have rank 1 and 2 elements, but is '!dtc.tensor<4xi32>'}}
  %0 = dtc.dropout %arg0 random %arg1, %arg2, %arg3, %arg4 {p = 0.1 : f64, site = 0 : i64}
      : (!dtc.tensor<2x6x8xf32>, !dtc.tensor<4xi32>, !dtc.tensor<i32>, !dtc.tensor<2xi32>, !dtc.tensor<6xi32>) -> !dtc.tensor<2x6x8xf32>
  return
}

// -----

// layer is a scalar.
func.func @f(%arg0: !dtc.tensor<2x6x8xf32>, %arg1: !dtc.tensor<2xi32>, %arg2: !dtc.tensor<1xi32>, %arg3: !dtc.tensor<2xi32>, %arg4: !dtc.tensor<6xi32>) {
  // expected-error@+1 {{operand #2 must have rank 0 but has rank 1}}
  %0 = dtc.dropout %arg0 random %arg1, %arg2, %arg3, %arg4 {p = 0.1 : f64, site = 0 : i64}
      : (!dtc.tensor<2x6x8xf32>, !dtc.tensor<2xi32>, !dtc.tensor<1xi32>, !dtc.tensor<2xi32>, !dtc.tensor<6xi32>) -> !dtc.tensor<2x6x8xf32>
  return
}

// -----

// rows has the batch's length.
func.func @f(%arg0: !dtc.tensor<2x6x8xf32>, %arg1: !dtc.tensor<2xi32>, %arg2: !dtc.tensor<i32>, %arg3: !dtc.tensor<6xi32>, %arg4: !dtc.tensor<6xi32>) {
  // expected-error@+1 {{dimension 0 of operand #3 is 6 but 'b' is 2 elsewhere}}
  %0 = dtc.dropout %arg0 random %arg1, %arg2, %arg3, %arg4 {p = 0.1 : f64, site = 0 : i64}
      : (!dtc.tensor<2x6x8xf32>, !dtc.tensor<2xi32>, !dtc.tensor<i32>, !dtc.tensor<6xi32>, !dtc.tensor<6xi32>) -> !dtc.tensor<2x6x8xf32>
  return
}

// -----

// positions are [s] or [b, s].
func.func @f(%arg0: !dtc.tensor<2x6x8xf32>, %arg1: !dtc.tensor<2xi32>, %arg2: !dtc.tensor<i32>, %arg3: !dtc.tensor<2xi32>, %arg4: !dtc.tensor<2xi32>) {
  // expected-error@+1 {{dimension 0 of operand #4 is 2 but 's' is 6 elsewhere}}
  %0 = dtc.dropout %arg0 random %arg1, %arg2, %arg3, %arg4 {p = 0.1 : f64, site = 0 : i64}
      : (!dtc.tensor<2x6x8xf32>, !dtc.tensor<2xi32>, !dtc.tensor<i32>, !dtc.tensor<2xi32>, !dtc.tensor<2xi32>) -> !dtc.tensor<2x6x8xf32>
  return
}

// -----

// No other rank.
func.func @f(%arg0: !dtc.tensor<2x6x8xf32>, %arg1: !dtc.tensor<2xi32>, %arg2: !dtc.tensor<i32>, %arg3: !dtc.tensor<2xi32>, %arg4: !dtc.tensor<2x6x8xi32>) {
  // expected-error@+1 {{positions must have rank 1 or 2, but have rank 3}}
  %0 = dtc.dropout %arg0 random %arg1, %arg2, %arg3, %arg4 {p = 0.1 : f64, site = 0 : i64}
      : (!dtc.tensor<2x6x8xf32>, !dtc.tensor<2xi32>, !dtc.tensor<i32>, !dtc.tensor<2xi32>, !dtc.tensor<2x6x8xi32>) -> !dtc.tensor<2x6x8xf32>
  return
}

// -----

// rng is i32.
func.func @f(%arg0: !dtc.tensor<2x6x8xf32>, %arg1: !dtc.tensor<2xi64>, %arg2: !dtc.tensor<i32>, %arg3: !dtc.tensor<2xi32>, %arg4: !dtc.tensor<6xi32>) {
  // expected-error@+1 {{rng must be i32, but is 'i64'}}
  %0 = dtc.dropout %arg0 random %arg1, %arg2, %arg3, %arg4 {p = 0.1 : f64, site = 0 : i64}
      : (!dtc.tensor<2x6x8xf32>, !dtc.tensor<2xi64>, !dtc.tensor<i32>, !dtc.tensor<2xi32>, !dtc.tensor<6xi32>) -> !dtc.tensor<2x6x8xf32>
  return
}

// -----

// layer is i32.
func.func @f(%arg0: !dtc.tensor<2x6x8xf32>, %arg1: !dtc.tensor<2xi32>, %arg2: !dtc.tensor<i64>, %arg3: !dtc.tensor<2xi32>, %arg4: !dtc.tensor<6xi32>) {
  // expected-error@+1 {{layer must be i32, but is 'i64'}}
  %0 = dtc.dropout %arg0 random %arg1, %arg2, %arg3, %arg4 {p = 0.1 : f64, site = 0 : i64}
      : (!dtc.tensor<2x6x8xf32>, !dtc.tensor<2xi32>, !dtc.tensor<i64>, !dtc.tensor<2xi32>, !dtc.tensor<6xi32>) -> !dtc.tensor<2x6x8xf32>
  return
}

// -----

// rows is i32.
func.func @f(%arg0: !dtc.tensor<2x6x8xf32>, %arg1: !dtc.tensor<2xi32>, %arg2: !dtc.tensor<i32>, %arg3: !dtc.tensor<2xi64>, %arg4: !dtc.tensor<6xi32>) {
  // expected-error@+1 {{rows must be i32, but is 'i64'}}
  %0 = dtc.dropout %arg0 random %arg1, %arg2, %arg3, %arg4 {p = 0.1 : f64, site = 0 : i64}
      : (!dtc.tensor<2x6x8xf32>, !dtc.tensor<2xi32>, !dtc.tensor<i32>, !dtc.tensor<2xi64>, !dtc.tensor<6xi32>) -> !dtc.tensor<2x6x8xf32>
  return
}

// -----

// positions are i32.
func.func @f(%arg0: !dtc.tensor<2x6x8xf32>, %arg1: !dtc.tensor<2xi32>, %arg2: !dtc.tensor<i32>, %arg3: !dtc.tensor<2xi32>, %arg4: !dtc.tensor<6xi64>) {
  // expected-error@+1 {{positions must be i32, but is 'i64'}}
  %0 = dtc.dropout %arg0 random %arg1, %arg2, %arg3, %arg4 {p = 0.1 : f64, site = 0 : i64}
      : (!dtc.tensor<2x6x8xf32>, !dtc.tensor<2xi32>, !dtc.tensor<i32>, !dtc.tensor<2xi32>, !dtc.tensor<6xi64>) -> !dtc.tensor<2x6x8xf32>
  return
}

// -----

// site is below 16.
func.func @f(%arg0: !dtc.tensor<2x6x8xf32>, %arg1: !dtc.tensor<2xi32>, %arg2: !dtc.tensor<i32>, %arg3: !dtc.tensor<2xi32>, %arg4: !dtc.tensor<6xi32>) {
  // expected-error@+1 {{site must be from 0 to 15, but is -1}}
  %0 = dtc.dropout %arg0 random %arg1, %arg2, %arg3, %arg4 {p = 0.1 : f64, site = -1 : i64}
      : (!dtc.tensor<2x6x8xf32>, !dtc.tensor<2xi32>, !dtc.tensor<i32>, !dtc.tensor<2xi32>, !dtc.tensor<6xi32>) -> !dtc.tensor<2x6x8xf32>
  return
}

// -----

// Constraint 3: linear in x only.
func.func @f(%arg0: !dtc.tensor<2x6x8xf32, replicate{tp:4}>, %arg1: !dtc.tensor<2xi32, partial{tp:4}>, %arg2: !dtc.tensor<i32, replicate{tp:4}>, %arg3: !dtc.tensor<2xi32, replicate{tp:4}>, %arg4: !dtc.tensor<6xi32, replicate{tp:4}>) {
  // expected-error@+1 {{the placements (replicate, partial, replicate, replicate, replicate -> partial) are illegal}}
  %0 = dtc.dropout %arg0 random %arg1, %arg2, %arg3, %arg4 {p = 0.1 : f64, site = 0 : i64}
      : (!dtc.tensor<2x6x8xf32, replicate{tp:4}>, !dtc.tensor<2xi32, partial{tp:4}>, !dtc.tensor<i32, replicate{tp:4}>, !dtc.tensor<2xi32, replicate{tp:4}>, !dtc.tensor<6xi32, replicate{tp:4}>) -> !dtc.tensor<2x6x8xf32, partial{tp:4}>
  return
}

// -----

// Numbers of cut features are replicate.
func.func @f(%arg0: !dtc.tensor<2x6x8{tp:4}xf32>, %arg1: !dtc.tensor<2xi32>, %arg2: !dtc.tensor<i32>, %arg3: !dtc.tensor<2xi32>, %arg4: !dtc.tensor<6xi32>) {
  // expected-error@+1 {{on axis {tp:4}, which cuts factor 'e', operand #1 is invariant but must be replicate}}
  %0 = dtc.dropout %arg0 random %arg1, %arg2, %arg3, %arg4 {p = 0.1 : f64, site = 0 : i64}
      : (!dtc.tensor<2x6x8{tp:4}xf32>, !dtc.tensor<2xi32>, !dtc.tensor<i32>, !dtc.tensor<2xi32>, !dtc.tensor<6xi32>) -> !dtc.tensor<2x6x8{tp:4}xf32>
  return
}
