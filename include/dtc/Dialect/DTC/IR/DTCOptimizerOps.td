//===- DTCOptimizerOps.td - Clipping and AdamW -------------*- tablegen -*-===//

#ifndef DTC_OPTIMIZER_OPS_TD
#define DTC_OPTIMIZER_OPS_TD

def DTC_SumSquaresOp : DTC_ComputeOp<"sum_squares"> {
  let summary = "the sum of a tensor's squares";
  let description = [{
    Summed in f64 over fixed tiles, rounded to the result once. A result of f64
    can be added to others' without a trace of how the tensor was cut: pieces
    and the whole then give one norm when it is rounded to f32.

    ```mlir
    %q = dtc.sum_squares %dw : (!dtc.tensor<64{tp:2}x64xf32>) -> !dtc.tensor<f64, partial{tp:2}>
    ```

    *Constraints*
    1. The result is a scalar of the operand's element type (f32 for bf16) or
       of f64.
    2. Placement: every factor summed; no linear set, so a partial operand is
       illegal: a sum has no square.
  }];
  let arguments = (ins DTC_FloatTensor:$x);
  let results = (outs DTC_FloatTensor:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def DTC_ClipOp : DTC_ComputeOp<"clip"> {
  let summary = "gradient norm, clipping coefficient, and whether to skip";
  let description = [{
    norm = sqrt(sum_squares); coefficient = min(1, c / (norm + 1e-6)), 1 if c
    is 0; skip = 1 if the norm or the loss is not finite or there is no label.
    `scalars` [8] are lr, beta1, beta2, eps, weight_decay, 1 - beta1^t,
    1 - beta2^t, c.

    ```mlir
    %norm, %c, %skip = dtc.clip %sum, %loss, %labels, %scalars
       : (!dtc.tensor<f32>, !dtc.tensor<f32>, !dtc.tensor<i32>, !dtc.tensor<8xf32>)
      -> (!dtc.tensor<f32>, !dtc.tensor<f32>, !dtc.tensor<i32>)
    ```

    *Constraints*
    1. sum_squares, loss, norm and coefficient are float scalars, labels and
       skip i32 scalars; scalars has 8 elements; all floats but sum_squares have
       one element type, which is not bf16.
    2. Placement: nothing to cut; no linear set.
  }];
  let arguments = (ins DTC_FloatTensor:$sum_squares, DTC_FloatTensor:$loss, DTC_IntTensor:$labels, DTC_FloatTensor:$scalars);
  let results = (outs DTC_FloatTensor:$norm, DTC_FloatTensor:$coefficient, DTC_IntTensor:$skip);
  let assemblyFormat = "$sum_squares `,` $loss `,` $labels `,` $scalars attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def DTC_AdamWOp : DTC_InPlaceOp<"adamw"> {
  let summary = "one AdamW update of one tensor";
  let description = [{
    g = coefficient * grad; p -= lr wd p (if `decay`); m = b1 m + (1-b1) g;
    v = b2 v + (1-b2) g^2; p -= lr (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps)
    (Loshchilov and Hutter 2019, algorithm 2). With skip, everything is kept.
    `scalars` as in `dtc.clip`.

    ```mlir
    %p1, %m1, %v1 = dtc.adamw %p, %dp, %m, %v with %c, %skip, %scalars {decay}
       : (!dtc.tensor<64xf32>, !dtc.tensor<64xf32>, !dtc.tensor<64xf32>, !dtc.tensor<64xf32>,
          !dtc.tensor<f32>, !dtc.tensor<i32>, !dtc.tensor<8xf32>)
      -> (!dtc.tensor<64xf32>, !dtc.tensor<64xf32>, !dtc.tensor<64xf32>)
    ```

    *Constraints*
    1. param, grad, m, v and the results have one shape; coefficient is a float
       scalar, skip an i32 scalar, scalars has 8 elements; floats have the
       gradient's element type, but all others f32 beside a gradient of bf16.
    2. Placement: all factors passed through; no linear set.
  }];
  let arguments = (ins DTC_FloatTensor:$param, DTC_FloatTensor:$grad, DTC_FloatTensor:$m, DTC_FloatTensor:$v,
                       DTC_FloatTensor:$coefficient, DTC_IntTensor:$skip, DTC_FloatTensor:$scalars, UnitAttr:$decay);
  let results = (outs DTC_FloatTensor:$new_param, DTC_FloatTensor:$new_m, DTC_FloatTensor:$new_v);
  let assemblyFormat = [{
    $param `,` $grad `,` $m `,` $v `with` $coefficient `,` $skip `,` $scalars
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // DTC_OPTIMIZER_OPS_TD
