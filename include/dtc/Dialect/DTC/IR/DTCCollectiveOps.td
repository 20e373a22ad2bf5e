//===- DTCCollectiveOps.td - The closed table of collectives -*- tablegen -*-===//

#ifndef DTC_COLLECTIVE_OPS_TD
#define DTC_COLLECTIVE_OPS_TD

// Each op's verifier infers the result's type from the operand's by the table
// in lib/Dialect/DTC/IR/Collectives.cpp and compares.
class DTC_CollectiveOp<string mnemonic, list<Trait> traits = []>
    : DTC_Op<mnemonic, !listconcat([Pure,
        DeclareOpInterfaceMethods<CollectiveOpInterface>, Differentiable], traits)> {
  let results = (outs DTC_AnyTensor:$result);
  let hasFolder = 1;
}

def DTC_FOp : DTC_CollectiveOp<"f", []> {
  let summary = "invariant to replicate";
  let description = [{
    For entering a region where each rank's use of the value differs; no data moves. Transpose: `dtc.g`. f is never folded away before differentiation: its transpose is the sum of the cotangents.

    ```
    rank 0 [ x ]            rank 0 [ x ]
    rank 1 [ x ]    f       rank 1 [ x ]     one value      -> copies, used differently
    ```

    ```mlir
    %1 = dtc.f %0 over <tp:2> : (!dtc.tensor<8x64xf32>) -> !dtc.tensor<8x64xf32, replicate{tp:2}>
    ```

    *Constraints*
    1. `axes` is not empty, names no axis twice, and each is invariant in the operand.
    2. The result is the operand with `axes` replicate.
  }];
  let arguments = (ins DTC_AnyTensor:$input, DTC_AxesAttr:$axes);
  let assemblyFormat = "$input `over` $axes attr-dict `:` functional-type(operands, results)";
}

def DTC_GOp : DTC_CollectiveOp<"g", []> {
  let summary = "partial to invariant";
  let description = [{
    For leaving a row-parallel region, and the loss: an all-reduce. Transpose: `dtc.f`.

    ```
    rank 0 [ a ]            rank 0 [ a+b ]
    rank 1 [ b ]    g       rank 1 [ a+b ]   summands       -> one value
    ```

    ```mlir
    %1 = dtc.g %0 over <tp:2> : (!dtc.tensor<8x64xf32, partial{tp:2}>) -> !dtc.tensor<8x64xf32>
    ```

    *Constraints*
    1. `axes` is not empty, names no axis twice, and each is partial in the operand.
    2. The result is the operand with `axes` invariant.
  }];
  let arguments = (ins DTC_AnyTensor:$input, DTC_AxesAttr:$axes);
  let assemblyFormat = "$input `over` $axes attr-dict `:` functional-type(operands, results)";
}

def DTC_AllReduceOp : DTC_CollectiveOp<"all_reduce", []> {
  let summary = "partial to replicate";
  let description = [{
    For a sum that each rank uses differently at once. Transpose: `dtc.all_reduce`. Never folded to g: its transpose is an all-reduce, g's is free.

    ```
    rank 0 [ a ]            rank 0 [ a+b ]
    rank 1 [ b ]            rank 1 [ a+b ]   summands       -> copies, used differently
    ```

    ```mlir
    %1 = dtc.all_reduce %0 over <tp:2>
       : (!dtc.tensor<8x64xf32, partial{tp:2}>) -> !dtc.tensor<8x64xf32, replicate{tp:2}>
    ```

    *Constraints*
    1. `axes` is not empty, names no axis twice, and each is partial in the operand.
    2. The result is the operand with `axes` replicate.
  }];
  let arguments = (ins DTC_AnyTensor:$input, DTC_AxesAttr:$axes);
  let assemblyFormat = "$input `over` $axes attr-dict `:` functional-type(operands, results)";
}

def DTC_AllGatherOp : DTC_CollectiveOp<"all_gather", []> {
  let summary = "shard to replicate";
  let description = [{
    For sequence parallelism, and for parameters that are cut over the data axis. Transpose: `dtc.reduce_scatter`.

    ```
    rank 0 [ x0 ]           rank 0 [ x0 x1 ]
    rank 1 [ x1 ]           rank 1 [ x0 x1 ]  pieces         -> copies, used differently
    ```

    ```mlir
    %1 = dtc.all_gather %0 dim 0 over <tp:2>
       : (!dtc.tensor<8{tp:2}x64xf32>) -> !dtc.tensor<8x64xf32, replicate{tp:2}>
    ```

    *Constraints*
    1. `axes` is not empty, names no axis twice, and are the minor-most axes of dimension `dim` in the operand.
    2. `dim` is a dimension of the operand.
    3. The result is the operand with `axes` replicate.
  }];
  let arguments = (ins DTC_AnyTensor:$input, DTC_AxesAttr:$axes, I64Attr:$dim);
  let assemblyFormat = "$input `dim` $dim `over` $axes attr-dict `:` functional-type(operands, results)";
}

def DTC_ReduceScatterOp : DTC_CollectiveOp<"reduce_scatter", []> {
  let summary = "partial to shard";
  let description = [{
    For leaving a row-parallel region into a cut residual. Transpose: `dtc.all_gather`.

    ```
    rank 0 [ a0 a1 ]        rank 0 [ a0+b0 ]
    rank 1 [ b0 b1 ]        rank 1 [ a1+b1 ]  summands       -> pieces of the sum
    ```

    ```mlir
    %1 = dtc.reduce_scatter %0 dim 0 over <tp:2>
       : (!dtc.tensor<8x64xf32, partial{tp:2}>) -> !dtc.tensor<8{tp:2}x64xf32>
    ```

    *Constraints*
    1. `axes` is not empty, names no axis twice, and each is partial in the operand.
    2. `dim` is a dimension of the operand.
    3. The new product of axes divides the padded length of `dim`.
    4. The result is the operand with `axes` at the minor end of dimension `dim`.
  }];
  let arguments = (ins DTC_AnyTensor:$input, DTC_AxesAttr:$axes, I64Attr:$dim);
  let assemblyFormat = "$input `dim` $dim `over` $axes attr-dict `:` functional-type(operands, results)";
}

def DTC_AllGatherInvariantOp : DTC_CollectiveOp<"all_gather_invariant", []> {
  let summary = "shard to invariant";
  let description = [{
    For leaving a cut region. Transpose: `dtc.slice`.

    ```
    rank 0 [ x0 ]           rank 0 [ x0 x1 ]
    rank 1 [ x1 ]           rank 1 [ x0 x1 ]  pieces         -> one value
    ```

    ```mlir
    %1 = dtc.all_gather_invariant %0 dim 0 over <tp:2>
       : (!dtc.tensor<8{tp:2}x64xf32>) -> !dtc.tensor<8x64xf32>
    ```

    *Constraints*
    1. `axes` is not empty, names no axis twice, and are the minor-most axes of dimension `dim` in the operand.
    2. `dim` is a dimension of the operand.
    3. The result is the operand with `axes` invariant.
  }];
  let arguments = (ins DTC_AnyTensor:$input, DTC_AxesAttr:$axes, I64Attr:$dim);
  let assemblyFormat = "$input `dim` $dim `over` $axes attr-dict `:` functional-type(operands, results)";
}

def DTC_SliceOp : DTC_CollectiveOp<"slice", []> {
  let summary = "invariant to shard";
  let description = [{
    For entering a cut region; no data moves. Transpose: `dtc.all_gather_invariant`.

    ```
    rank 0 [ x0 x1 ]        rank 0 [ x0 ]
    rank 1 [ x0 x1 ]        rank 1 [ x1 ]     one value      -> pieces
    ```

    ```mlir
    %1 = dtc.slice %0 dim 0 over <tp:2> : (!dtc.tensor<8x64xf32>) -> !dtc.tensor<8{tp:2}x64xf32>
    ```

    *Constraints*
    1. `axes` is not empty, names no axis twice, and each is invariant in the operand.
    2. `dim` is a dimension of the operand.
    3. The new product of axes divides the padded length of `dim`.
    4. The result is the operand with `axes` at the minor end of dimension `dim`.
  }];
  let arguments = (ins DTC_AnyTensor:$input, DTC_AxesAttr:$axes, I64Attr:$dim);
  let assemblyFormat = "$input `dim` $dim `over` $axes attr-dict `:` functional-type(operands, results)";
}

def DTC_SliceReplicatedOp : DTC_CollectiveOp<"slice_replicated", []> {
  let summary = "replicate to shard";
  let description = [{
    For a gathered value that rejoins cut ones; no data moves. Transpose: `dtc.pad`.

    ```
    rank 0 [ x0 x1 ]        rank 0 [ x0 ]
    rank 1 [ x0 x1 ]        rank 1 [ x1 ]     copies         -> pieces
    ```

    ```mlir
    %1 = dtc.slice_replicated %0 dim 0 over <tp:2>
       : (!dtc.tensor<8x64xf32, replicate{tp:2}>) -> !dtc.tensor<8{tp:2}x64xf32>
    ```

    *Constraints*
    1. `axes` is not empty, names no axis twice, and each is replicate in the operand.
    2. `dim` is a dimension of the operand.
    3. The new product of axes divides the padded length of `dim`.
    4. The result is the operand with `axes` at the minor end of dimension `dim`.
  }];
  let arguments = (ins DTC_AnyTensor:$input, DTC_AxesAttr:$axes, I64Attr:$dim);
  let assemblyFormat = "$input `dim` $dim `over` $axes attr-dict `:` functional-type(operands, results)";
}

def DTC_PadOp : DTC_CollectiveOp<"pad", []> {
  let summary = "shard to partial";
  let description = [{
    The own piece, zeros elsewhere; no data moves. Transpose: `dtc.slice_replicated`.

    ```
    rank 0 [ x0 ]           rank 0 [ x0 0  ]
    rank 1 [ x1 ]           rank 1 [ 0  x1 ]  pieces         -> summands
    ```

    ```mlir
    %1 = dtc.pad %0 dim 0 over <tp:2>
       : (!dtc.tensor<8{tp:2}x64xf32>) -> !dtc.tensor<8x64xf32, partial{tp:2}>
    ```

    *Constraints*
    1. `axes` is not empty, names no axis twice, and are the minor-most axes of dimension `dim` in the operand.
    2. `dim` is a dimension of the operand.
    3. The result is the operand with `axes` partial.
  }];
  let arguments = (ins DTC_AnyTensor:$input, DTC_AxesAttr:$axes, I64Attr:$dim);
  let assemblyFormat = "$input `dim` $dim `over` $axes attr-dict `:` functional-type(operands, results)";
}

def DTC_KeepFirstOp : DTC_CollectiveOp<"keep_first", []> {
  let summary = "invariant to partial";
  let description = [{
    For a bias or residual that joins a partial sum; no data moves. Transpose: `dtc.as_one`.

    ```
    rank 0 [ x ]            rank 0 [ x ]
    rank 1 [ x ]            rank 1 [ 0 ]      one value      -> summands
    ```

    ```mlir
    %1 = dtc.keep_first %0 over <tp:2>
       : (!dtc.tensor<8x64xf32>) -> !dtc.tensor<8x64xf32, partial{tp:2}>
    ```

    *Constraints*
    1. `axes` is not empty, names no axis twice, and each is invariant in the operand.
    2. The result is the operand with `axes` partial.
  }];
  let arguments = (ins DTC_AnyTensor:$input, DTC_AxesAttr:$axes);
  let assemblyFormat = "$input `over` $axes attr-dict `:` functional-type(operands, results)";
}

def DTC_AsOneOp : DTC_CollectiveOp<"as_one", []> {
  let summary = "replicate to invariant";
  let description = [{
    Copies taken as one value; no data moves. Transpose: `dtc.keep_first`. Never used to undo an f: it is free, but moves the reduction of the cotangent to where the value is used.

    ```
    rank 0 [ x ]            rank 0 [ x ]
    rank 1 [ x ]            rank 1 [ x ]      copies         -> one value
    ```

    ```mlir
    %1 = dtc.as_one %0 over <tp:2>
       : (!dtc.tensor<8x64xf32, replicate{tp:2}>) -> !dtc.tensor<8x64xf32>
    ```

    *Constraints*
    1. `axes` is not empty, names no axis twice, and each is replicate in the operand.
    2. The result is the operand with `axes` invariant.
  }];
  let arguments = (ins DTC_AnyTensor:$input, DTC_AxesAttr:$axes);
  let assemblyFormat = "$input `over` $axes attr-dict `:` functional-type(operands, results)";
}

def DTC_KeepFirstReplicatedOp : DTC_CollectiveOp<"keep_first_replicated", []> {
  let summary = "replicate to partial";
  let description = [{
    For copies that join a partial sum; no data moves. Transpose: `dtc.keep_first_replicated`.

    ```
    rank 0 [ x ]            rank 0 [ x ]
    rank 1 [ x ]            rank 1 [ 0 ]      copies         -> summands
    ```

    ```mlir
    %1 = dtc.keep_first_replicated %0 over <tp:2>
       : (!dtc.tensor<8x64xf32, replicate{tp:2}>) -> !dtc.tensor<8x64xf32, partial{tp:2}>
    ```

    *Constraints*
    1. `axes` is not empty, names no axis twice, and each is replicate in the operand.
    2. The result is the operand with `axes` partial.
  }];
  let arguments = (ins DTC_AnyTensor:$input, DTC_AxesAttr:$axes);
  let assemblyFormat = "$input `over` $axes attr-dict `:` functional-type(operands, results)";
}

def DTC_AllToAllOp : DTC_CollectiveOp<"all_to_all", []> {
  let summary = "shard to shard";
  let description = [{
    For heads against sequence, experts: one dimension is gathered, another cut. Transpose: `dtc.all_to_all`.

    ```
    rank 0 [ x00 x01 ]      rank 0 [ x00 ; x10 ]
    rank 1 [ x10 x11 ]      rank 1 [ x01 ; x11 ]  cut along rows -> cut along columns
    ```

    ```mlir
    %1 = dtc.all_to_all %0 from 0 to 1 over <tp:2>
       : (!dtc.tensor<8{tp:2}x64xf32>) -> !dtc.tensor<8x64{tp:2}xf32>
    ```

    *Constraints*
    1. `axes` is not empty, names no axis twice, and are the minor-most axes of dimension `dim` in the operand.
    2. `dim` and `dim2` are two dimensions of the operand.
    3. The new product of axes divides the padded length of `dim2`.
    4. The result is the operand with `axes` at the minor end of dimension `dim2`.
  }];
  let arguments = (ins DTC_AnyTensor:$input, DTC_AxesAttr:$axes, I64Attr:$dim, I64Attr:$dim2);
  let assemblyFormat = "$input `from` $dim `to` $dim2 `over` $axes attr-dict `:` functional-type(operands, results)";
}

def DTC_ReduceMaxOp : DTC_CollectiveOp<"reduce_max", []> {
  let summary = "max to invariant";
  let description = [{
    For the largest of the ranks' values; without a derivative. It has no transpose: a maximum is used without derivative.

    ```
    rank 0 [ a ]            rank 0 [ max(a,b) ]
    rank 1 [ b ]            rank 1 [ max(a,b) ]  operands of a maximum -> one value
    ```

    ```mlir
    %1 = dtc.reduce_max %0 over <tp:2> : (!dtc.tensor<8xf32, max{tp:2}>) -> !dtc.tensor<8xf32>
    ```

    *Constraints*
    1. `axes` is not empty, names no axis twice, and each is max in the operand.
    2. The operand is of floats.
    3. The result is the operand with `axes` invariant.
  }];
  let arguments = (ins DTC_AnyTensor:$input, DTC_AxesAttr:$axes);
  let assemblyFormat = "$input `over` $axes attr-dict `:` functional-type(operands, results)";
}

#endif // DTC_COLLECTIVE_OPS_TD
