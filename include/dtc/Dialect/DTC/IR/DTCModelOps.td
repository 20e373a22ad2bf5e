//===- DTCModelOps.td - What models are written with -------*- tablegen -*-===//

#ifndef DTC_MODEL_OPS_TD
#define DTC_MODEL_OPS_TD

def DTC_EinsumOp : DTC_ComputeOp<"einsum", [Differentiable, MatrixProduct]> {
  let summary = "the product of two tensors, summed over shared factors";
  let description = [{
    Einstein's notation, one letter a dimension. Letters that the result lacks
    are summed; the product is linear in each operand, not in both at once.

    ```mlir
    %q = dtc.einsum "bsd,dhe->bshe"(%x, %w)
       : (!dtc.tensor<8x32x64xf32>, !dtc.tensor<64x4x16xf32>) -> !dtc.tensor<8x32x4x16xf32>
    ```

    *Constraints*
    1. The equation has the form `LHS,RHS->OUT`, with lower-case letters.
    2. No letter stands twice in one value; every letter of OUT stands in LHS
       or RHS.
    3. Ranks, lengths of equal letters, and element types agree.
    4. Placement: every letter is passed through, or summed if OUT lacks it;
       linear sets {lhs}, {rhs}.
  }];
  let arguments = (ins StrAttr:$equation, DTC_FloatTensor:$lhs, DTC_FloatTensor:$rhs);
  let results = (outs DTC_FloatTensor:$result);
  let assemblyFormat = "$equation `(` $lhs `,` $rhs `)` attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def DTC_AddOp : DTC_InPlaceOp<"add", [Differentiable]> {
  let summary = "sum of two tensors; the second may lack dimensions (a bias)";
  let description = [{
    Residual additions and biases. `rhs_dims` lists, in increasing order, the
    dimensions of the left operand that the right one has; without it they are
    the last ones. Also adds integers.

    ```mlir
    %y = dtc.add %x, %bias : (!dtc.tensor<8x32x64xf32>, !dtc.tensor<64xf32>) -> !dtc.tensor<8x32x64xf32>
    ```

    *Constraints*
    1. `rhs_dims` has the right operand's rank, is increasing, and within the
       left operand's rank.
    2. Lengths and element types agree.
    3. Placement: all factors passed through; jointly linear in {lhs, rhs}.
  }];
  let arguments = (ins DTC_AnyTensor:$lhs, DTC_AnyTensor:$rhs, OptionalAttr<DenseI64ArrayAttr>:$rhs_dims);
  let results = (outs DTC_AnyTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// For each dimension of rhs, the dimension of lhs it corresponds to.
    ::llvm::SmallVector<int64_t> getRhsDimList();
  }];
}

def DTC_MultiplyOp : DTC_InPlaceOp<"multiply", [Differentiable]> {
  let summary = "elementwise product of two tensors of one shape";
  let description = [{
    ```mlir
    %z = dtc.multiply %x, %y : (!dtc.tensor<8x64xf32>, !dtc.tensor<8x64xf32>) -> !dtc.tensor<8x64xf32>
    ```

    *Constraints*
    1. Shapes and element types agree.
    2. Placement: all factors passed through; linear sets {lhs}, {rhs}.
  }];
  let arguments = (ins DTC_FloatTensor:$lhs, DTC_FloatTensor:$rhs);
  let results = (outs DTC_FloatTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}

def DTC_ScaleOp : DTC_InPlaceOp<"scale", [Differentiable]> {
  let summary = "a tensor times a constant of the program";
  let description = [{
    ```mlir
    %y = dtc.scale %x by 2.5e-1 : (!dtc.tensor<8x64xf32>) -> !dtc.tensor<8x64xf32>
    ```

    *Constraints*
    1. Operand and result have one shape and element type; the factor is finite.
    2. Placement: all factors passed through; linear in {x}.
  }];
  let arguments = (ins DTC_FloatTensor:$x, F64Attr:$factor);
  let results = (outs DTC_FloatTensor:$result);
  let assemblyFormat = "$x `by` $factor attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def DTC_ConvertOp : DTC_ComputeOp<"convert", [Differentiable]> {
  let summary = "a tensor with elements of another float type";
  let description = [{
    Rounded to nearest, ties to even. The cotangent is converted back.

    ```mlir
    %y = dtc.convert %x : (!dtc.tensor<8x64xf32>) -> !dtc.tensor<8x64xbf16>
    ```

    *Constraints*
    1. Operand and result have one shape.
    2. Placement: all factors passed through; linear in {x}.
  }];
  let arguments = (ins DTC_FloatTensor:$x);
  let results = (outs DTC_FloatTensor:$result);
  let assemblyFormat = "$x attr-dict `:` functional-type(operands, results)";
}

def DTC_DivideOp : DTC_InPlaceOp<"divide", [Differentiable]> {
  let summary = "a tensor divided by an integer scalar (a count)";
  let description = [{
    A count of zero divides by one: a step without labels has loss 0.

    ```mlir
    %mean = dtc.divide %loss, %labels : (!dtc.tensor<f32>, !dtc.tensor<i32>) -> !dtc.tensor<f32>
    ```

    *Constraints*
    1. Operand and result have one shape and element type; the count is an i32
       scalar. It has no cotangent.
    2. Placement: all factors passed through; linear in {x}.
  }];
  let arguments = (ins DTC_FloatTensor:$x, DTC_IntTensor:$count);
  let results = (outs DTC_FloatTensor:$result);
  let assemblyFormat = "$x `,` $count attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def DTC_ReduceSumOp : DTC_ComputeOp<"reduce_sum", [Differentiable]> {
  let summary = "sum over some dimensions";
  let description = [{
    ```mlir
    %db = dtc.reduce_sum %dy over [0, 1] : (!dtc.tensor<8x32x64xf32>) -> !dtc.tensor<64xf32>
    ```

    *Constraints*
    1. `dims` is increasing, not empty, and within the operand's rank.
    2. The result has the remaining dimensions and the same element type.
    3. Placement: remaining factors passed through, `dims` summed; linear in {x}.
  }];
  let arguments = (ins DTC_FloatTensor:$x, DenseI64ArrayAttr:$dims);
  let results = (outs DTC_FloatTensor:$result);
  let assemblyFormat = "$x `over` $dims attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def DTC_BroadcastOp : DTC_ComputeOp<"broadcast", [Differentiable]> {
  let summary = "repeats a tensor along new dimensions";
  let description = [{
    `dims` are the dimensions of the result that the operand lacks.

    ```mlir
    %dx = dtc.broadcast %dl along [0, 1] : (!dtc.tensor<64xf32>) -> !dtc.tensor<8x32x64xf32>
    ```

    *Constraints*
    1. `dims` is increasing, not empty, and within the result's rank.
    2. The operand has the remaining dimensions and the same element type.
    3. Placement: all factors passed through; linear in {x}.
  }];
  let arguments = (ins DTC_FloatTensor:$x, DenseI64ArrayAttr:$dims);
  let results = (outs DTC_FloatTensor:$result);
  let assemblyFormat = "$x `along` $dims attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def DTC_EmbeddingOp : DTC_ComputeOp<"embedding", [Differentiable, TableLookup]> {
  let summary = "rows of a table";
  let description = [{
    result[..., e] = table[ids[...], e]. A rank that lacks the row gives zero,
    so the table's rows are a summed factor.

    ```mlir
    %x = dtc.embedding %wte[%ids] : (!dtc.tensor<256x64xf32>, !dtc.tensor<8x32xi32>) -> !dtc.tensor<8x32x64xf32>
    ```

    *Constraints*
    1. The table has rank 2; the ids are i32; the result has the ids' shape and
       the table's second dimension, and the table's element type.
    2. Placement: ids' dimensions and the row's features passed through, the
       table's rows summed; linear in {table}.
  }];
  let arguments = (ins DTC_FloatTensor:$table, DTC_IntTensor:$ids);
  let results = (outs DTC_FloatTensor:$result);
  let assemblyFormat = "$table `[` $ids `]` attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def DTC_LayerNormOp : DTC_ComputeOp<"layer_norm", [Differentiable]> {
  let summary = "layer normalization over the last dimension";
  let description = [{
    y = (x - mean) / sqrt(var + epsilon) * gamma + beta, over the last
    dimension (Ba et al. 2016, equation 4; the variance is biased).

    ```mlir
    %y = dtc.layer_norm %x, %gamma, %beta {epsilon = 1.0e-5 : f64}
       : (!dtc.tensor<8x64xf32>, !dtc.tensor<64xf32>, !dtc.tensor<64xf32>) -> !dtc.tensor<8x64xf32>
    ```

    *Constraints*
    1. gamma and beta have rank 1 and x's last length; one element type;
       epsilon is positive.
    2. Placement: the last dimension is whole, others passed through; jointly
       linear in {gamma, beta}.
  }];
  let arguments = (ins DTC_FloatTensor:$x, DTC_FloatTensor:$gamma, DTC_FloatTensor:$beta, F64Attr:$epsilon);
  let results = (outs DTC_FloatTensor:$result);
  let assemblyFormat = "$x `,` $gamma `,` $beta attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def DTC_RmsNormOp : DTC_ComputeOp<"rms_norm", [Differentiable]> {
  let summary = "root-mean-square normalization over the last dimension";
  let description = [{
    y = x / sqrt(mean(x^2) + epsilon) * gamma (Zhang and Sennrich 2019,
    equation 4).

    ```mlir
    %y = dtc.rms_norm %x, %gamma {epsilon = 1.0e-6 : f64}
       : (!dtc.tensor<8x64xf32>, !dtc.tensor<64xf32>) -> !dtc.tensor<8x64xf32>
    ```

    *Constraints*
    1. gamma has rank 1 and x's last length; one element type; epsilon is
       positive.
    2. Placement: the last dimension is whole, others passed through; linear in
       {gamma}.
  }];
  let arguments = (ins DTC_FloatTensor:$x, DTC_FloatTensor:$gamma, F64Attr:$epsilon);
  let results = (outs DTC_FloatTensor:$result);
  let assemblyFormat = "$x `,` $gamma attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def DTC_Activation : I32EnumAttr<"Activation", "activation function", [
    I32EnumAttrCase<"GeluTanh", 0, "gelu_tanh">, I32EnumAttrCase<"Gelu", 1, "gelu">,
    I32EnumAttrCase<"Silu", 2, "silu">]> {
  let cppNamespace = "::dtc";
  let genSpecializedAttr = 0;
}
def DTC_ActivationAttr : EnumAttr<DTC_Dialect, DTC_Activation, "activation">;

def DTC_ActivationOp : DTC_InPlaceOp<"activation", [Differentiable]> {
  let summary = "GELU (tanh or exact) or SiLU";
  let description = [{
    gelu_tanh: x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))); gelu:
    x/2 (1 + erf(x / sqrt 2)) (Hendrycks and Gimpel 2016, section 2); silu:
    x / (1 + exp(-x)).

    ```mlir
    %y = dtc.activation gelu_tanh %x : (!dtc.tensor<8x256xf32>) -> !dtc.tensor<8x256xf32>
    ```

    *Constraints*
    1. Operand and result have one shape and element type.
    2. Placement: all factors passed through.
  }];
  let arguments = (ins DTC_ActivationAttr:$function, DTC_FloatTensor:$x);
  let results = (outs DTC_FloatTensor:$result);
  let assemblyFormat = "custom<Keyword>($function) $x attr-dict `:` functional-type(operands, results)";
}

def DTC_GatedProductOp : DTC_InPlaceOp<"gated_product", [Differentiable]> {
  let summary = "activation(gate) times up";
  let description = [{
    The gated linear unit's product (Shazeer 2020, equation 6, for silu).

    ```mlir
    %y = dtc.gated_product silu %gate, %up
       : (!dtc.tensor<8x256xf32>, !dtc.tensor<8x256xf32>) -> !dtc.tensor<8x256xf32>
    ```

    *Constraints*
    1. Both operands and the result have one shape and element type.
    2. Placement: all factors passed through; linear in {up}.
  }];
  let arguments = (ins DTC_ActivationAttr:$function, DTC_FloatTensor:$gate, DTC_FloatTensor:$up);
  let results = (outs DTC_FloatTensor:$result);
  let assemblyFormat = "custom<Keyword>($function) $gate `,` $up attr-dict `:` functional-type(operands, results)";
}

def DTC_RotaryOp : DTC_InPlaceOp<"rotary", [Differentiable]> {
  let summary = "rotary position embedding with explicit positions";
  let description = [{
    Rotates features (i, i + d/2) of x [b, s, h, d] by the angle
    position * theta^(-2i/d) (Su et al. 2021, equation 34, in the half-split
    pairing of Hugging Face's llama). `inverse` rotates back: the derivative.

    ```mlir
    %y = dtc.rotary %q, %positions {theta = 1.0e4 : f64}
       : (!dtc.tensor<8x32x4x16xf32>, !dtc.tensor<32xi32>) -> !dtc.tensor<8x32x4x16xf32>
    ```

    *Constraints*
    1. x has rank 4 and an even last length; positions are i32, [s] or [b, s];
       the result has x's shape and element type; theta is positive.
    2. Placement: the last dimension is whole, others passed through; linear in
       {x}.
  }];
  let arguments = (ins DTC_FloatTensor:$x, DTC_IntTensor:$positions, F64Attr:$theta, UnitAttr:$inverse);
  let results = (outs DTC_FloatTensor:$result);
  let assemblyFormat = "$x `,` $positions attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def DTC_AttentionOp : DTC_CommunicatingOp<"attention",
    [DeclareOpInterfaceMethods<DifferentiableOpInterface, ["hasCotangent"]>,
     DeclareOpInterfaceMethods<ExpandableOpInterface>, MatrixProduct, AttrSizedOperandSegments]> {
  let summary = "scaled-dot-product attention";
  let description = [{
    q [b, s, h, d] attends to k, v [b, t, g, d]; h = g m query heads share g
    key/value heads (head i uses group i / m). Results: the output [b, s, h, d]
    and the log-sum-exp of each row's scaled scores [b, s, h] (saved for the
    derivative, no cotangent). A key is visible if its position is not above
    the query's (when causal) and its document is the query's (when documents
    are given): positions, never indices, so that any order of the sequence is
    right. A row without a visible key gives 0 and -inf.

    With `dropout` p > 0 each probability is dropped with probability p and
    kept ones are scaled by 1/(1-p); the drawn numbers depend on (seed, step,
    layer, site, row, head, query position, key position) only. `rng` is
    (seed, step), `layer` a scalar, `rows` [b] the global row numbers.

    With `blocks` p > 1 queries and keys are seen as p blocks each, and a query
    sees keys of the block of its own number only: one step of a ring, which is
    local where the blocks are the ranks' pieces.

    ```mlir
    %o, %lse = dtc.attention %q, %k, %v at %pos, %pos {causal, scale = 2.5e-1}
       : (...) -> (!dtc.tensor<8x32x4x16xf32>, !dtc.tensor<8x32x4xf32>)
    ```

    *Constraints*
    1. Ranks and lengths as above; one element type, but f32 for the
       log-sum-exp beside bf16; g divides h; positions and documents are i32,
       [s] and [t], or [b, s] and [b, t].
    2. scale is positive; 0 <= dropout < 1; rng, layer and rows are present
       exactly when dropout is positive.
    3. Placement: b, g, m and s passed through, d whole; t may be cut only
       together with s, by the same axes (the op then communicates); no factor
       is padded; linear in {v}; the log-sum-exp does not read v.
    4. blocks is positive and divides s and t; above 1, the number of the block
       is passed through, and the keys of a block are whole.
  }];
  let arguments = (ins DTC_FloatTensor:$q, DTC_FloatTensor:$k, DTC_FloatTensor:$v,
                       DTC_IntTensor:$q_positions, DTC_IntTensor:$k_positions,
                       Optional<DTC_IntTensor>:$q_documents, Optional<DTC_IntTensor>:$k_documents,
                       Optional<DTC_IntTensor>:$rng, Optional<DTC_IntTensor>:$layer, Optional<DTC_IntTensor>:$rows,
                       UnitAttr:$causal, F64Attr:$scale,
                       DefaultValuedAttr<F64Attr, "0.0">:$dropout, DefaultValuedAttr<I64Attr, "0">:$site,
                       DefaultValuedAttr<I64Attr, "1">:$blocks);
  let results = (outs DTC_FloatTensor:$result, DTC_FloatTensor:$lse);
  let assemblyFormat = [{
    $q `,` $k `,` $v `at` $q_positions `,` $k_positions
    (`documents` $q_documents^ `,` $k_documents)? (`random` $rng^ `,` $layer `,` $rows)?
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def DTC_DropoutOp : DTC_InPlaceOp<"dropout", [Differentiable]> {
  let summary = "zeros elements with probability p, scales the others";
  let description = [{
    x [b, s, ...]: an element is kept if the random number of (seed, step,
    layer, site; row, position, index of the feature in the logical remaining
    dimensions) is at least p, and scaled by 1/(1-p). The same operands give
    the same mask, so the op is its own derivative. `rng` is (seed, step),
    `layer` a scalar, `rows` [b] the global row numbers, `positions` [s] or
    [b, s].

    ```mlir
    %y = dtc.dropout %x random %rng, %layer, %rows, %positions {p = 1.0e-1 : f64, site = 2 : i64}
       : (!dtc.tensor<8x32x64xf32>, !dtc.tensor<2xi32>, !dtc.tensor<i32>, !dtc.tensor<8xi32>, !dtc.tensor<32xi32>)
      -> !dtc.tensor<8x32x64xf32>
    ```

    *Constraints*
    1. x has rank 3; the result has its shape and element type.
    2. 0 <= p < 1; rng is [2], layer a scalar, rows [b], positions [s] or
       [b, s], all i32.
    3. Placement: all factors of x passed through; linear in {x}.
  }];
  let arguments = (ins DTC_FloatTensor:$x, DTC_IntTensor:$rng, DTC_IntTensor:$layer,
                       DTC_IntTensor:$rows, DTC_IntTensor:$positions, F64Attr:$p, I64Attr:$site);
  let results = (outs DTC_FloatTensor:$result);
  let assemblyFormat = "$x `random` $rng `,` $layer `,` $rows `,` $positions attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def DTC_CrossEntropyOp : DTC_CommunicatingOp<"cross_entropy",
    [DeclareOpInterfaceMethods<DifferentiableOpInterface, ["hasCotangent"]>,
     DeclareOpInterfaceMethods<ExpandableOpInterface>]> {
  let summary = "sum of the token losses, ignoring some labels";
  let description = [{
    logits [b, s, v] and labels [b, s]: the loss is the sum over tokens whose
    label is not -100 of log-sum-exp(logits) - (1-e) logits[label] -
    e/v sum(logits), e being `label_smoothing` (as PyTorch's cross_entropy with
    reduction 'sum'). The second result is the log-sum-exp of each row, saved
    for the derivative. A label below 0 or not below the vocabulary counts as
    ignored; readers of batches refuse it before.

    ```mlir
    %loss, %lse = dtc.cross_entropy %z, %labels
       : (!dtc.tensor<8x32x256xf32>, !dtc.tensor<8x32xi32>) -> (!dtc.tensor<f32>, !dtc.tensor<8x32xf32>)
    ```

    *Constraints*
    1. logits have rank 3, labels i32 and the first two dimensions; the loss is
       a scalar, the log-sum-exp has the labels' shape; all have the logits'
       element type, but f32 beside bf16.
    2. 0 <= label_smoothing < 1.
    3. Placement: b and s summed in the loss, kept in the log-sum-exp; v
       communicates; no linear set.
  }];
  let arguments = (ins DTC_FloatTensor:$logits, DTC_IntTensor:$labels,
                       DefaultValuedAttr<F64Attr, "0.0">:$label_smoothing);
  let results = (outs DTC_FloatTensor:$loss, DTC_FloatTensor:$lse);
  let assemblyFormat = "$logits `,` $labels attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def DTC_CountLabelsOp : DTC_ComputeOp<"count_labels"> {
  let summary = "the number of labels that are not ignored";
  let description = [{
    ```mlir
    %n = dtc.count_labels %labels : (!dtc.tensor<8x32xi32>) -> !dtc.tensor<i32>
    ```

    *Constraints*
    1. labels are i32 of any rank; the result is an i32 scalar.
    2. Placement: every factor summed; linear in nothing.
  }];
  let arguments = (ins DTC_IntTensor:$labels);
  let results = (outs DTC_IntTensor:$result);
  let assemblyFormat = "$labels attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def DTC_IotaOp : DTC_ComputeOp<"iota"> {
  let summary = "0, 1, 2, ...";
  let description = [{
    Positions of a sequence, numbers of the rows of a batch: result[i] = i,
    the logical index.

    ```mlir
    %p = dtc.iota : () -> !dtc.tensor<32xi32>
    ```

    *Constraints*
    1. The result is i32 of rank 1.
    2. Placement: the factor is passed through.
  }];
  let results = (outs DTC_IntTensor:$result);
  let assemblyFormat = "attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def DTC_ConstantOp : DTC_ComputeOp<"constant"> {
  let summary = "a tensor filled with one number";
  let description = [{
    ```mlir
    %one = dtc.constant 1.0 : () -> !dtc.tensor<f32>
    ```

    *Constraints*
    1. An integer result has an integral value.
    2. Placement: all factors passed through; a zero may be partial.
  }];
  let arguments = (ins F64Attr:$value);
  let results = (outs DTC_AnyTensor:$result);
  let assemblyFormat = "$value attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif // DTC_MODEL_OPS_TD
