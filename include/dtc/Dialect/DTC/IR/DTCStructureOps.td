//===- DTCStructureOps.td - Parameters and micro-batches ---*- tablegen -*-===//

#ifndef DTC_STRUCTURE_OPS_TD
#define DTC_STRUCTURE_OPS_TD

def DTC_ParamOp : DTC_Op<"param", [Symbol]> {
  let summary = "a parameter: the stored tensor, and the program's view of it";
  let description = [{
    `stored` is the tensor's Hugging Face name, `stored_shape` its shape;
    `view` maps an index of the view to an index of the stored tensor. Several
    parameters may view disjoint parts of one stored tensor (a fused
    query-key-value weight). Weight decay, initial values, norms and files
    follow the stored tensor. `dims` names the view's dimensions; the rules of
    sharding go by them. `init` is `normal`, `zeros` or `ones`, `std` the
    normal's deviation. `also` lists names under which files may hold a
    redundant equal copy.

    A parameter of bf16 is the rounded copy of a master of f32, which the
    optimizer updates. `grad_type` is the element type of its gradient: of the
    accumulator, and of what is sent.

    ```mlir
    dtc.param @h0_wq : !dtc.tensor<64x4x16xf32> from "h.0.attn.c_attn.weight" [64, 192]
        view affine_map<(d, h, e) -> (d, h * 16 + e)> dims ["embed", "heads", "head_dim"]
        {init = "normal", std = 2.0e-2}
    ```

    *Constraints*
    1. The type is of floats, and invariant or shard on every axis; `stored` is
       not empty.
    2. `view` has the type's rank, is affine in every index, and stays within
       `stored_shape`.
    3. `dims` has one name for each dimension; `init` is one of the three;
       `std` is finite and not negative.
    4. `grad_type`, if any, is bf16 or f32, and stands at a parameter of bf16.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<DTC_FloatTensor>:$type, StrAttr:$stored,
                       DenseI64ArrayAttr:$stored_shape, AffineMapAttr:$view, StrArrayAttr:$dims,
                       StrAttr:$init, DefaultValuedAttr<F64Attr, "0.0">:$std, OptionalAttr<StrArrayAttr>:$also,
                       OptionalAttr<TypeAttr>:$grad_type);
  let assemblyFormat = [{
    $sym_name `:` $type `from` $stored $stored_shape `view` $view `dims` $dims attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::dtc::DTensorType getTensorType() { return ::llvm::cast<::dtc::DTensorType>(getType()); }
    /// Element [i0, i1, ...] of the view is element offset + sum i_k strides[k]
    /// of the flattened stored tensor.
    void getFlatView(int64_t &offset, ::llvm::SmallVectorImpl<int64_t> &strides);
    /// Whether a master copy is kept beside the parameter.
    bool hasMaster() { return getTensorType().getElementType().isBF16(); }
    /// Of what a slot holds: the parameter's, the gradient's, or the type of
    /// the optimizer's state, which is f32 for a parameter of bf16.
    ::mlir::Type getSlotElementType(::dtc::Slot slot);
    /// Weight decay is for stored tensors of two or more dimensions.
    bool hasDecay() { return getStoredShape().size() >= 2; }
  }];
}

def DTC_Slot : I32EnumAttr<"Slot", "what is kept of a parameter", [
    I32EnumAttrCase<"Param", 0, "param">, I32EnumAttrCase<"Grad", 1, "grad">,
    I32EnumAttrCase<"M", 2, "m">, I32EnumAttrCase<"V", 3, "v">,
    I32EnumAttrCase<"Master", 4, "master">]> {
  let cppNamespace = "::dtc";
  let genSpecializedAttr = 0;
}
def DTC_SlotAttr : EnumAttr<DTC_Dialect, DTC_Slot, "slot">;

def DTC_ReadOp : DTC_Op<"read", [DeclareOpInterfaceMethods<SymbolUserOpInterface>, MemoryEffects<[MemRead]>]> {
  let summary = "a parameter, its gradient or its optimizer state";
  let description = [{
    ```mlir
    %w = dtc.read param of @wte : !dtc.tensor<256x64xf32>
    ```

    *Constraints*
    1. The symbol is a `dtc.param`.
    2. The result has the parameter's type; for other slots the placement may
       differ, but is invariant or shard on every axis.
    3. The elements of `grad` have the parameter's `grad_type` (by default its
       element type), those of `m`, `v` and `master` its element type, but f32
       for bf16. Only a parameter of bf16 has a `master`.
  }];
  let arguments = (ins DTC_SlotAttr:$slot, FlatSymbolRefAttr:$param);
  let results = (outs DTC_FloatTensor:$result);
  let assemblyFormat = "custom<Keyword>($slot) `of` $param attr-dict `:` qualified(type($result))";
}

def DTC_WriteOp : DTC_Op<"write", [DeclareOpInterfaceMethods<SymbolUserOpInterface>, MemoryEffects<[MemWrite]>]> {
  let summary = "replaces a parameter, its gradient or its optimizer state";
  let description = [{
    ```mlir
    dtc.write %dw to grad of @w : !dtc.tensor<64x64xf32>
    ```

    *Constraints*
    1. The symbol is a `dtc.param`.
    2. The value's type is what `dtc.read` of the slot may have.
  }];
  let arguments = (ins DTC_SlotAttr:$slot, FlatSymbolRefAttr:$param, DTC_FloatTensor:$value);
  let assemblyFormat = "$value `to` custom<Keyword>($slot) `of` $param attr-dict `:` qualified(type($value))";
}

def DTC_MicroBatchesOp : DTC_Op<"micro_batches", [SingleBlock, RecursiveMemoryEffects,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "runs its body once for each micro-batch and adds the results";
  let description = [{
    The body sees the number of the micro-batch (an i32 scalar, invariant) and
    values from outside. Result i is the sum over micro-batches of the i-th
    yielded value.

    ```mlir
    %loss = dtc.micro_batches 4 {
    ^bb0(%m: !dtc.tensor<i32>):
      %ids_m = dtc.micro_batch %ids[%m] parts 2 : (...) -> !dtc.tensor<4x32xi32>
      ...
      dtc.yield %l : !dtc.tensor<f32>
    } : !dtc.tensor<f32>
    ```

    *Constraints*
    1. The count is positive; the block has the one argument.
    2. The yielded types are the result types.
    3. No yielded value has a max placement.
    4. `schedule`, if any, names a `dtc.schedule` of `count` micro-batches: the
       order in which the ranks of a pipeline run the body's stages.
  }];
  let arguments = (ins I64Attr:$count, OptionalAttr<FlatSymbolRefAttr>:$schedule);
  let results = (outs Variadic<DTC_AnyTensor>:$sums);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$count (`schedule` $schedule^)? $body attr-dict (`:` type($sums)^)?";
  let hasVerifier = 1;
}

def DTC_YieldOp : DTC_Op<"yield", [Pure, Terminator, ParentOneOf<["MicroBatchesOp", "RingOp"]>, ReturnLike]> {
  let summary = "ends the body of micro_batches, or of ring";
  let description = [{
    ```mlir
    dtc.yield %loss, %dw : !dtc.tensor<f32>, !dtc.tensor<64x64xf32>
    ```

    *Constraints*: as `micro_batches` and `ring` list them.
  }];
  let arguments = (ins Variadic<DTC_AnyTensor>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

def DTC_MicroBatchOp : DTC_ComputeOp<"micro_batch"> {
  let summary = "one micro-batch of a tensor whose first dimension is the batch";
  let description = [{
    The batch of B rows is seen as (parts, M, rows): micro-batch m holds row
    r B/parts + m rows + i of every r. `parts` is the number of pieces of the
    batch, so that each rank takes contiguous rows of its own piece.

    ```mlir
    %y = dtc.micro_batch %x[%m] parts 2 count 4
       : (!dtc.tensor<16{dp:2}x32xi32>, !dtc.tensor<i32, replicate{dp:2}>) -> !dtc.tensor<4{dp:2}x32xi32>
    ```

    *Constraints*
    1. The operand has rank 1 or more; the result has its shape but for the
       first dimension, which is divided by M = `count`; parts M divides the
       operand's first dimension; m is an i32 scalar.
    2. The product of the axes on the first dimension is `parts` or 1; the
       placements of operand and result are equal, and m is invariant, or
       replicate where they are replicate or shard.
  }];
  let arguments = (ins DTC_AnyTensor:$x, DTC_IntTensor:$m, I64Attr:$parts, I64Attr:$count);
  let results = (outs DTC_AnyTensor:$result);
  let assemblyFormat = "$x `[` $m `]` `parts` $parts `count` $count attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def DTC_RepadOp : DTC_ComputeOp<"repad", [Differentiable]> {
  let summary = "the same tensor with another padded length";
  let description = [{
    The identity on the logical tensor: dimension `dim` gets the padded length
    of the result. What padding holds is undefined, so longer padding copies
    nothing into it and shorter padding drops it. A piece of a parameter (ZeRO)
    is padded by itself; the activations beside it are not.

    ```mlir
    %1 = dtc.repad %0 dim 0 : (!dtc.tensor<5x7xf32, partial{dp:4}>) -> !dtc.tensor<5(8)x7xf32, partial{dp:4}>
    ```

    *Constraints*
    1. `dim` is a dimension; operand and result have one shape and element type.
    2. Padded lengths differ in dimension `dim` at most.
    3. Placement: dimension `dim` is whole in both, and may be padded to
       different lengths; others are passed through; linear in {x}.
  }];
  let arguments = (ins DTC_AnyTensor:$x, I64Attr:$dim);
  let results = (outs DTC_AnyTensor:$result);
  let assemblyFormat = "$x `dim` $dim attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif // DTC_STRUCTURE_OPS_TD
