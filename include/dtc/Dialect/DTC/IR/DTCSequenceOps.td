//===- DTCSequenceOps.td - The sequence as an axis ---------*- tablegen -*-===//

#ifndef DTC_SEQUENCE_OPS_TD
#define DTC_SEQUENCE_OPS_TD

def DTC_SequenceLayout : I32EnumAttr<"SequenceLayout", "order of the tokens over the pieces of the sequence", [
    I32EnumAttrCase<"Striped", 0, "striped">, I32EnumAttrCase<"Zigzag", 1, "zigzag">]> {
  let cppNamespace = "::dtc";
  let genSpecializedAttr = 0;
}
def DTC_SequenceLayoutAttr : EnumAttr<DTC_Dialect, DTC_SequenceLayout, "sequence_layout">;

def DTC_PermuteOp : DTC_ComputeOp<"permute"> {
  let summary = "integers of the sequence in the order of a layout";
  let description = [{
    The n tokens of dimension `dim` in an order in which each of `parts` equal
    slices is what one rank works on. `striped`: slice r holds tokens r,
    r + parts, r + 2 parts, ... (Brandon et al. 2023). `zigzag`: of 2 parts
    equal blocks slice r holds block r, then block 2 parts - 1 - r, so that
    each has equally many causal pairs.

    Token ids, labels, positions and documents pass through it once, at the
    input. From there on the new order is the logical one: no op depends on
    where a token stands, only on its position.

    ```mlir
    // 0 1 2 3 4 5 6 7 becomes 0 1 6 7 2 3 4 5
    %1 = dtc.permute zigzag %0 dim 0 parts 2 : (!dtc.tensor<8xi32>) -> !dtc.tensor<8xi32>
    ```

    *Constraints*
    1. `dim` is a dimension; operand and result have one shape and element type.
    2. `parts` is positive and divides the dimension's length, 2 parts does for
       zigzag.
    3. Placement: `dim` is whole, others passed through.
  }];
  let arguments = (ins DTC_SequenceLayoutAttr:$layout, DTC_IntTensor:$x, I64Attr:$dim, I64Attr:$parts);
  let results = (outs DTC_IntTensor:$result);
  let assemblyFormat = "custom<Keyword>($layout) $x `dim` $dim `parts` $parts attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def DTC_DocumentPositionsOp : DTC_ComputeOp<"document_positions"> {
  let summary = "positions that restart with each document";
  let description = [{
    documents [b, s] to [b, s]: how many tokens of the same document stand
    directly before a token. A document is a run of equal numbers.

    ```mlir
    // 4 4 4 7 7 4 becomes 0 1 2 0 1 0
    %p = dtc.document_positions %d : (!dtc.tensor<8x32xi32>) -> !dtc.tensor<8x32xi32>
    ```

    *Constraints*
    1. Documents and positions are i32, of rank 2, and have one shape.
    2. Placement: the batch is passed through, the sequence is whole.
  }];
  let arguments = (ins DTC_IntTensor:$documents);
  let results = (outs DTC_IntTensor:$result);
  let assemblyFormat = "$documents attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def DTC_ShiftOp : DTC_CommunicatingOp<"shift", [Differentiable]> {
  let summary = "every block of a dimension takes the place of the next one";
  let description = [{
    Dimension `dim` is seen as `blocks` equal blocks; block i of the result is
    block i - 1 of the operand (block i + 1 with `inverse`), the first one is
    the last one. Where the axes cut the dimension into its blocks, every rank
    sends its piece to the next one: a ring. The inverse is the transpose.

    ```
    rank 0 [ x0 ]           rank 0 [ x2 ]
    rank 1 [ x1 ]   shift   rank 1 [ x0 ]
    rank 2 [ x2 ]           rank 2 [ x1 ]
    ```

    ```mlir
    %1 = dtc.shift %0 dim 1 blocks 4 : (!dtc.tensor<8x32{cp:4}x2x16xf32>) -> !dtc.tensor<8x32{cp:4}x2x16xf32>
    ```

    *Constraints*
    1. `dim` is a dimension; operand and result have one shape and element type.
    2. `blocks` is positive and divides the dimension's length.
    3. Placement: the number of the block is passed through, the place in the
       block is whole; others are passed through; linear in {x}.
  }];
  let arguments = (ins DTC_AnyTensor:$x, I64Attr:$dim, I64Attr:$blocks, UnitAttr:$inverse);
  let results = (outs DTC_AnyTensor:$result);
  let assemblyFormat = "$x `dim` $dim `blocks` $blocks (`inverse` $inverse^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def DTC_MergeAttentionOp : DTC_InPlaceOp<"merge_attention"> {
  let summary = "attention to two disjoint sets of keys, from attention to each";
  let description = [{
    Outputs [b, s, h, d] and log-sum-exps [b, s, h] of the same queries for two
    sets of keys: lse = log(exp(lse_a) + exp(lse_b)), result = exp(lse_a - lse)
    a + exp(lse_b - lse) b (Milakov and Gimelshein 2018). A set without a
    visible key (-inf) counts nothing; where both are such, the result is 0 and
    -inf.

    ```mlir
    %o, %lse = dtc.merge_attention %a, %la, %b, %lb
       : (!dtc.tensor<8x32x4x16xf32>, !dtc.tensor<8x32x4xf32>, !dtc.tensor<8x32x4x16xf32>, !dtc.tensor<8x32x4xf32>)
      -> (!dtc.tensor<8x32x4x16xf32>, !dtc.tensor<8x32x4xf32>)
    ```

    *Constraints*
    1. Shapes as above; one element type, but f32 for log-sum-exps beside bf16.
    2. Placement: all factors passed through; jointly linear in {a, b}; the
       log-sum-exp reads neither.
  }];
  let arguments = (ins DTC_FloatTensor:$a, DTC_FloatTensor:$lse_a, DTC_FloatTensor:$b, DTC_FloatTensor:$lse_b);
  let results = (outs DTC_FloatTensor:$result, DTC_FloatTensor:$lse);
  let assemblyFormat = "$a `,` $lse_a `,` $b `,` $lse_b attr-dict `:` functional-type(operands, results)";
}

def DTC_RingOp : DTC_Op<"ring", [SingleBlock, RecursiveMemoryEffects]> {
  let summary = "blocks of keys visit the queries of every rank, one after another";
  let description = [{
    Runs its body `blocks` times. The block's arguments are first the `inits`,
    then what the body yielded; the results are what it yielded last. What is
    yielded through one `dtc.shift` travels (keys, values, their positions and
    documents, and the gradients that go with them); everything else stays
    home. After `blocks` shifts all that travels is back at its owner. A last
    shift whose result nothing uses is not executed.

    ```mlir
    %r:4 = dtc.ring 4(%k, %v, %zero, %none) {
    ^bb0(%ki: ..., %vi: ..., %o: ..., %lse: ...):
      %ob, %lb = dtc.attention %q, %ki, %vi at %p, %pi {blocks = 4, ...} : ...
      %o1, %lse1 = dtc.merge_attention %o, %lse, %ob, %lb : ...
      %k1 = dtc.shift %ki dim 1 blocks 4 : ...
      %v1 = dtc.shift %vi dim 1 blocks 4 : ...
      dtc.yield %k1, %v1, %o1, %lse1 : ...
    } : (...) -> (...)
    ```

    *Constraints*
    1. `blocks` is positive; the types of inits, arguments, yielded values and
       results agree.
    2. Every yielded value comes from its own argument, through one shift of
       `blocks` blocks (it travels) or through none (it stays); no shift goes
       backwards.
    3. Values that meet in an op have travelled equally far, but for attention
       and its derivative: their queries stay, and all of their keys have
       travelled equally far. So each block of queries meets each block of keys
       once.
  }];
  let arguments = (ins I64Attr:$blocks, Variadic<DTC_AnyTensor>:$inits);
  let results = (outs Variadic<DTC_AnyTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$blocks `(` $inits `)` $body attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether carried value i travels with the blocks of keys.
    bool isTravelling(unsigned i);
    /// Whether the last of the shifts that make value i is needed.
    bool needsLastShift(unsigned i) { return !getResult(i).use_empty(); }
  }];
}

#endif // DTC_SEQUENCE_OPS_TD
