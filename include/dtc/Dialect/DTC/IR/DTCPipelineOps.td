//===- DTCPipelineOps.td - Schedules, sums over stages -----*- tablegen -*-===//
//
// pp is in no type: stages are functions, and where they run is data.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_PIPELINE_OPS_TD
#define DTC_PIPELINE_OPS_TD

def DTC_ScheduleOp : DTC_Op<"schedule", [Symbol]> {
  let summary = "who runs which stage of which micro-batch, and in which order";
  let description = [{
    `ranks` has for each stage the rank on the axis pp that runs it; `lists`
    has for each rank its actions, in the words of docs/schedules.md. A loop
    over micro-batches names its schedule in the attribute `schedule`.

    ```mlir
    dtc.schedule @pipeline stages [0, 1] micro_batches 2 lists [
      "F0 send:a0>1:0 F1 send:a0>1:1 ...",
      "..."]
    ```

    *Constraints*
    1. There is a list for each rank, and each rank runs a stage.
    2. There is at least one micro-batch.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, DenseI64ArrayAttr:$ranks, I64Attr:$micro_batches, StrArrayAttr:$lists);
  let assemblyFormat = "$sym_name `stages` $ranks `micro_batches` $micro_batches `lists` $lists attr-dict";
  let hasVerifier = 1;
}

def DTC_SumStagesOp : DTC_Op<"sum_stages", [Pure,
    DeclareOpInterfaceMethods<FactorOpInterface>, DeclareOpInterfaceMethods<MeaningOpInterface>]> {
  let summary = "a sum of values that different ranks of a pipeline hold";
  let description = [{
    Operand i lies on rank `from[i]` of the axis pp; the sum, in the order of
    the operands, is wanted on the ranks `to`. With one operand a value becomes
    known elsewhere. The gradients of a tied weight are added so, the squares
    of the gradient norm, and the loss is made known.

    ```mlir
    %g = dtc.sum_stages %first, %last from [0, 3] to [0, 3] : !dtc.tensor<256x64xf32>
    ```

    *Constraints*
    1. There is at least one operand; all have the result's type, and `from`
       has a rank for each, none twice.
    2. `to` is increasing, not empty, and no rank is negative.
    3. No placement is max.
  }];
  let arguments = (ins Variadic<DTC_AnyTensor>:$values, DenseI64ArrayAttr:$from, DenseI64ArrayAttr:$to);
  let results = (outs DTC_AnyTensor:$result);
  let assemblyFormat = "$values `from` $from `to` $to attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif // DTC_PIPELINE_OPS_TD
