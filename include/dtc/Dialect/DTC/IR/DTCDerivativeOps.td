//===- DTCDerivativeOps.td - Local derivatives -------------*- tablegen -*-===//

#ifndef DTC_DERIVATIVE_OPS_TD
#define DTC_DERIVATIVE_OPS_TD

def DTC_ActivationGradOp : DTC_InPlaceOp<"activation_grad"> {
  let summary = "derivative of an activation: function'(x) dy";
  let description = [{
    ```mlir
    %dx = dtc.activation_grad silu %x, %dy
       : (!dtc.tensor<8x256xf32>, !dtc.tensor<8x256xf32>) -> !dtc.tensor<8x256xf32>
    ```

    *Constraints*
    1. All values have one shape and element type.
    2. Placement: all factors passed through; linear in {dy}.
  }];
  let arguments = (ins DTC_ActivationAttr:$function, DTC_FloatTensor:$x, DTC_FloatTensor:$dy);
  let results = (outs DTC_FloatTensor:$dx);
  let assemblyFormat = "custom<Keyword>($function) $x `,` $dy attr-dict `:` functional-type(operands, results)";
}

def DTC_GatedProductGradOp : DTC_InPlaceOp<"gated_product_grad"> {
  let summary = "derivative of a gated product";
  let description = [{
    dgate = function'(gate) up dy, dup = function(gate) dy.

    ```mlir
    %dg, %du = dtc.gated_product_grad silu %gate, %up, %dy
       : (!dtc.tensor<8x256xf32>, !dtc.tensor<8x256xf32>, !dtc.tensor<8x256xf32>)
      -> (!dtc.tensor<8x256xf32>, !dtc.tensor<8x256xf32>)
    ```

    *Constraints*
    1. All values have one shape and element type.
    2. Placement: all factors passed through; linear sets {dy}, {up}; dup does
       not read up.
  }];
  let arguments = (ins DTC_ActivationAttr:$function, DTC_FloatTensor:$gate, DTC_FloatTensor:$up, DTC_FloatTensor:$dy);
  let results = (outs DTC_FloatTensor:$dgate, DTC_FloatTensor:$dup);
  let assemblyFormat = "custom<Keyword>($function) $gate `,` $up `,` $dy attr-dict `:` functional-type(operands, results)";
}

def DTC_LayerNormGradOp : DTC_ComputeOp<"layer_norm_grad"> {
  let summary = "derivative of layer normalization";
  let description = [{
    With h = (x - mean) r, r = 1/sqrt(var + epsilon), g = dy gamma:
    dx = r (g - mean(g) - h mean(g h)); dgamma and dbeta sum dy h and dy over
    all rows.

    ```mlir
    %dx, %dg, %db = dtc.layer_norm_grad %x, %gamma, %dy {epsilon = 1.0e-5 : f64}
       : (!dtc.tensor<8x64xf32>, !dtc.tensor<64xf32>, !dtc.tensor<8x64xf32>)
      -> (!dtc.tensor<8x64xf32>, !dtc.tensor<64xf32>, !dtc.tensor<64xf32>)
    ```

    *Constraints*
    1. Shapes as in layer_norm; one element type.
    2. Placement: the last dimension is whole; the others are kept in dx and
       summed in dgamma and dbeta; linear sets {dy} and {gamma}; dgamma does
       not read gamma, dbeta reads dy only.
  }];
  let arguments = (ins DTC_FloatTensor:$x, DTC_FloatTensor:$gamma, DTC_FloatTensor:$dy, F64Attr:$epsilon);
  let results = (outs DTC_FloatTensor:$dx, DTC_FloatTensor:$dgamma, DTC_FloatTensor:$dbeta);
  let assemblyFormat = "$x `,` $gamma `,` $dy attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def DTC_RmsNormGradOp : DTC_ComputeOp<"rms_norm_grad"> {
  let summary = "derivative of root-mean-square normalization";
  let description = [{
    With r = 1/sqrt(mean(x^2) + epsilon), g = dy gamma:
    dx = r g - x r^3 mean(g x); dgamma sums dy x r over all rows.

    ```mlir
    %dx, %dg = dtc.rms_norm_grad %x, %gamma, %dy {epsilon = 1.0e-5 : f64}
       : (!dtc.tensor<8x64xf32>, !dtc.tensor<64xf32>, !dtc.tensor<8x64xf32>)
      -> (!dtc.tensor<8x64xf32>, !dtc.tensor<64xf32>)
    ```

    *Constraints*
    1. Shapes as in rms_norm; one element type.
    2. Placement: the last dimension is whole; the others are kept in dx and
       summed in dgamma; linear sets {dy} and {gamma}; dgamma does not read
       gamma.
  }];
  let arguments = (ins DTC_FloatTensor:$x, DTC_FloatTensor:$gamma, DTC_FloatTensor:$dy, F64Attr:$epsilon);
  let results = (outs DTC_FloatTensor:$dx, DTC_FloatTensor:$dgamma);
  let assemblyFormat = "$x `,` $gamma `,` $dy attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def DTC_EmbeddingGradOp : DTC_ComputeOp<"embedding_grad", [TableLookup]> {
  let summary = "derivative of an embedding: rows of dx added at their ids";
  let description = [{
    dtable[v, e] = sum of dx[..., e] over all ids[...] = v.

    ```mlir
    %dt = dtc.embedding_grad %ids, %dx
       : (!dtc.tensor<8x32xi32>, !dtc.tensor<8x32x64xf32>) -> !dtc.tensor<256x64xf32>
    ```

    *Constraints*
    1. ids are i32; dx has their shape and one dimension more, dtable's second;
       one element type.
    2. Placement: dtable's rows and features passed through, ids' dimensions
       summed; linear in {dx}.
  }];
  let arguments = (ins DTC_IntTensor:$ids, DTC_FloatTensor:$dx);
  let results = (outs DTC_FloatTensor:$dtable);
  let assemblyFormat = "$ids `,` $dx attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def DTC_AttentionGradOp : DTC_CommunicatingOp<"attention_grad",
    [DeclareOpInterfaceMethods<ExpandableOpInterface>, MatrixProduct, AttrSizedOperandSegments]> {
  let summary = "derivative of attention from the saved output and log-sum-exp";
  let description = [{
    Operands as in `dtc.attention`, then its results and the output's
    cotangent (Dao et al. 2022, algorithm 4). `local` is the form that never
    communicates: with the saved log-sum-exp dq is a plain sum over key
    positions, which may then be cut alone.

    ```mlir
    %dq, %dk, %dv = dtc.attention_grad %q, %k, %v at %p, %p of %o, %lse, %do {causal, scale = 2.5e-1}
       : (...) -> (!dtc.tensor<8x32x4x16xf32>, !dtc.tensor<8x32x2x16xf32>, !dtc.tensor<8x32x2x16xf32>)
    ```

    *Constraints*
    1. Shapes, element types and attributes as in `dtc.attention`.
    2. Placement: as in `dtc.attention`; s and m are summed in dk and dv; with
       `local`, t may be cut by itself, is summed in dq, and is no pair with s;
       linear sets {dout} and {v, out}; dv reads neither v nor out.
    3. blocks above 1 comes with `local`, and is as in `dtc.attention`.
  }];
  let arguments = (ins DTC_FloatTensor:$q, DTC_FloatTensor:$k, DTC_FloatTensor:$v,
                       DTC_IntTensor:$q_positions, DTC_IntTensor:$k_positions,
                       DTC_FloatTensor:$out, DTC_FloatTensor:$lse, DTC_FloatTensor:$dout,
                       Optional<DTC_IntTensor>:$q_documents, Optional<DTC_IntTensor>:$k_documents,
                       Optional<DTC_IntTensor>:$rng, Optional<DTC_IntTensor>:$layer, Optional<DTC_IntTensor>:$rows,
                       UnitAttr:$causal, F64Attr:$scale,
                       DefaultValuedAttr<F64Attr, "0.0">:$dropout, DefaultValuedAttr<I64Attr, "0">:$site,
                       UnitAttr:$local, DefaultValuedAttr<I64Attr, "1">:$blocks);
  let results = (outs DTC_FloatTensor:$dq, DTC_FloatTensor:$dk, DTC_FloatTensor:$dv);
  let assemblyFormat = [{
    $q `,` $k `,` $v `at` $q_positions `,` $k_positions `of` $out `,` $lse `,` $dout
    (`documents` $q_documents^ `,` $k_documents)? (`random` $rng^ `,` $layer `,` $rows)?
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def DTC_CrossEntropyGradOp : DTC_InPlaceOp<"cross_entropy_grad"> {
  let summary = "derivative of cross entropy from the saved log-sum-exp";
  let description = [{
    dlogits[b, s, v] = (exp(logits - lse) - (1-e) [v = label] - e/v) dloss where
    the label is not ignored, else 0. No communication is left.

    ```mlir
    %dz = dtc.cross_entropy_grad %z, %labels, %lse, %dloss
       : (!dtc.tensor<8x32x256xf32>, !dtc.tensor<8x32xi32>, !dtc.tensor<8x32xf32>, !dtc.tensor<f32>)
      -> !dtc.tensor<8x32x256xf32>
    ```

    *Constraints*
    1. Shapes and element types as in cross_entropy; dloss is a scalar, and is
       f32 beside bf16.
    2. Placement: all factors passed through; linear in {dloss}.
  }];
  let arguments = (ins DTC_FloatTensor:$logits, DTC_IntTensor:$labels, DTC_FloatTensor:$lse, DTC_FloatTensor:$dloss,
                       DefaultValuedAttr<F64Attr, "0.0">:$label_smoothing);
  let results = (outs DTC_FloatTensor:$dlogits);
  let assemblyFormat = "$logits `,` $labels `,` $lse `,` $dloss attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif // DTC_DERIVATIVE_OPS_TD
