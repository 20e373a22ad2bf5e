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
    The lines of a schedule as docs/schedules.md describes them. A loop over
    micro-batches names its schedule.

    ```mlir
    dtc.schedule @pipeline [
      "schedule: 1f1b", "pp: 2", "micro-batches: 1",
      "rank 0: post0:1>0 F0 send0:0>1 wait0:1>0 B0 R U",
      "rank 1: post0:0>1 wait0:0>1 F0 B0 send0:1>0 R U"]
    ```

    *Constraints*
    1. The lines are a schedule that `dtc::schedule::verify` proves: every
       message sent, posted and awaited once, no cycle of waits, every backward
       after its forward, and the peaks that it claims.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$lines);
  let assemblyFormat = "$sym_name $lines attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The schedule that the lines say.
    ::llvm::Expected<::dtc::schedule::Schedule> getSchedule();
  }];
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
