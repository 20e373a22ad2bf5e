//===- DTCLossOps.td - Parts of the vocabulary-parallel loss -*- tablegen -*-===//

#ifndef DTC_LOSS_OPS_TD
#define DTC_LOSS_OPS_TD

def DTC_VocabMaxOp : DTC_ComputeOp<"vocab_max"> {
  let summary = "the largest logit of each row";
  let description = [{
    logits [b, s, v] to [b, s].

    ```mlir
    %m = dtc.vocab_max %z : (!dtc.tensor<8x32x256{tp:2}xf32>) -> !dtc.tensor<8x32xf32, max{tp:2}>
    ```

    *Constraints*
    1. Shapes as above; one element type, but an f32 result beside bf16.
    2. Placement: b and s passed through; over v the result is a maximum.
  }];
  let arguments = (ins DTC_FloatTensor:$logits);
  let results = (outs DTC_FloatTensor:$result);
  let assemblyFormat = "$logits attr-dict `:` functional-type(operands, results)";
}

def DTC_VocabSumExpOp : DTC_ComputeOp<"vocab_sum_exp"> {
  let summary = "sum over the vocabulary of exp(logit - shift)";
  let description = [{
    logits [b, s, v] and shift [b, s] to [b, s].

    ```mlir
    %s = dtc.vocab_sum_exp %z, %shift
       : (!dtc.tensor<8x32x256xf32>, !dtc.tensor<8x32xf32>) -> !dtc.tensor<8x32xf32>
    ```

    *Constraints*
    1. Shapes as above; one element type, but an f32 shift and result beside
       bf16.
    2. Placement: b and s passed through, v summed.
  }];
  let arguments = (ins DTC_FloatTensor:$logits, DTC_FloatTensor:$shift);
  let results = (outs DTC_FloatTensor:$result);
  let assemblyFormat = "$logits `,` $shift attr-dict `:` functional-type(operands, results)";
}

def DTC_VocabPickOp : DTC_ComputeOp<"vocab_pick"> {
  let summary = "the label's logit, with its share of the smoothing";
  let description = [{
    logits [b, s, v] and labels [b, s] to [b, s]:
    (1-e) logits[label] + e/v sum(logits), e being `label_smoothing` and v the
    logical vocabulary. A label that the piece lacks, or that is ignored, picks
    nothing.

    ```mlir
    %p = dtc.vocab_pick %z, %labels {label_smoothing = 0.1 : f64}
       : (!dtc.tensor<8x32x256xf32>, !dtc.tensor<8x32xi32>) -> !dtc.tensor<8x32xf32>
    ```

    *Constraints*
    1. Shapes as above; one element type, but an f32 result beside bf16;
       0 <= label_smoothing < 1.
    2. Placement: b and s passed through, v summed; linear in {logits}.
  }];
  let arguments = (ins DTC_FloatTensor:$logits, DTC_IntTensor:$labels,
                       DefaultValuedAttr<F64Attr, "0.0">:$label_smoothing);
  let results = (outs DTC_FloatTensor:$result);
  let assemblyFormat = "$logits `,` $labels attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def DTC_TokenLossOp : DTC_ComputeOp<"token_loss"> {
  let summary = "sum of the token losses from their parts";
  let description = [{
    From each row's shift, sum_exp and picked [b, s]: lse = log(sum_exp) + shift,
    and the loss, the sum of lse - picked over labels that are not ignored.

    ```mlir
    %loss, %lse = dtc.token_loss %shift, %s, %p, %labels
       : (!dtc.tensor<8x32xf32>, !dtc.tensor<8x32xf32>, !dtc.tensor<8x32xf32>, !dtc.tensor<8x32xi32>)
      -> (!dtc.tensor<f32>, !dtc.tensor<8x32xf32>)
    ```

    *Constraints*
    1. shift, sum_exp, picked, labels and lse have one shape; the loss is a
       scalar; all floats have one element type, which is not bf16.
    2. Placement: b and s summed in the loss, kept in lse; lse does not read
       picked and labels.
  }];
  let arguments = (ins DTC_FloatTensor:$shift, DTC_FloatTensor:$sum_exp, DTC_FloatTensor:$picked, DTC_IntTensor:$labels);
  let results = (outs DTC_FloatTensor:$loss, DTC_FloatTensor:$lse);
  let assemblyFormat = "$shift `,` $sum_exp `,` $picked `,` $labels attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif // DTC_LOSS_OPS_TD
