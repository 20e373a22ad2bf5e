//===- Passes.td - The passes on the dtc dialect -----------*- tablegen -*-===//
//
// In the order in which a training step goes through them; docs/dialect.md
// shows the program after each.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_TRANSFORMS_PASSES_TD
#define DTC_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def OutlineLayers : Pass<"dtc-outline-layers", "::mlir::ModuleOp"> {
  let summary = "turn repeated runs of ops into private functions";
  let description = [{
    Finds equal layers in a public function that has everything inline:
    contiguous runs of ops with equal names, attributes and types, whose
    operands come from equal places. Ops without operands (reads of parameters,
    constants such as a layer's number, positions) are no part of a run; what a
    run uses from outside becomes an argument. Each distinct run becomes one
    function, so that everything after this pass is done once for all layers.

    Where a repetition may begin at several ops, the cut that the fewest values
    cross is taken: the residual stream alone. Runs shorter than `min-ops` are
    no layers. A program without repetition is left alone.

    Before:

    ```mlir
    %a = dtc.einsum "bd,de->be"(%x, %w0) : ...
    %y = dtc.activation silu %a : ...
    %b = dtc.einsum "bd,de->be"(%y, %w1) : ...
    %z = dtc.activation silu %b : ...
    ```

    After (with `min-ops=2`):

    ```mlir
    func.func private @layer(%0: !dtc.tensor<8x64xf32>, %1: !dtc.tensor<64x64xf32>) -> !dtc.tensor<8x64xf32> {
      %2 = dtc.einsum "bd,de->be"(%0, %1) : ...
      %3 = dtc.activation silu %2 : ...
      return %3 : !dtc.tensor<8x64xf32>
    }
    ...
    %y = call @layer(%x, %w0) : ...
    %z = call @layer(%y, %w1) : ...
    ```
  }];
  let options = [
    Option<"minOps", "min-ops", "unsigned", "8", "the shortest run that counts as a layer">
  ];
  let dependentDialects = ["::dtc::DTCDialect", "::mlir::func::FuncDialect"];
}

def SetPrecision : Pass<"dtc-set-precision", "::mlir::ModuleOp"> {
  let summary = "let parameters and activations be bf16";
  let description = [{
    Rewrites a logical model of f32. Parameters become bf16 and say the element
    type of their gradients (`grad_type`); all other floats follow by each op's
    own rule: its results are bf16 if its operands are, but for those that it
    declares wide, as a loss and a log-sum-exp. Where an op would meet both
    types, the narrower operands are converted; constants take the type that
    they are used with. Float inputs become bf16, float outputs stay f32.

    `precision=f32` changes nothing. docs/precision.md has the whole picture.

    Before:

    ```mlir
    dtc.param @w : !dtc.tensor<64x64xf32> from "w" [64, 64] ...
    %w = dtc.read param of @w : !dtc.tensor<64x64xf32>
    %z = dtc.einsum "bsd,dv->bsv"(%x, %w) : ... -> !dtc.tensor<8x32x64xf32>
    %loss, %lse = dtc.cross_entropy %z, %labels : ... -> (!dtc.tensor<f32>, !dtc.tensor<8x32xf32>)
    ```

    After (with `precision=bf16 grad-type=f32`):

    ```mlir
    dtc.param @w : !dtc.tensor<64x64xbf16> from "w" [64, 64] ... {grad_type = f32, ...}
    %w = dtc.read param of @w : !dtc.tensor<64x64xbf16>
    %z = dtc.einsum "bsd,dv->bsv"(%x, %w) : ... -> !dtc.tensor<8x32x64xbf16>
    %loss, %lse = dtc.cross_entropy %z, %labels : ... -> (!dtc.tensor<f32>, !dtc.tensor<8x32xf32>)
    ```
  }];
  let options = [
    Option<"precision", "precision", "std::string", "\"f32\"", "f32 or bf16">,
    Option<"gradType", "grad-type", "std::string", "\"f32\"",
           "element type of gradients: f32, or bf16 with precision=bf16">
  ];
  let dependentDialects = ["::dtc::DTCDialect", "::mlir::func::FuncDialect"];
}

def LayoutSequence : Pass<"dtc-layout-sequence", "::mlir::ModuleOp"> {
  let summary = "put the sequence in an order that divides causal work evenly";
  let description = [{
    Permutes every input and every table of positions that has a dimension
    named "seq" (`dtc.permute`). The permuted order is the logical one from
    there on; masks, rotary angles, labels and random numbers go by positions,
    so nothing else changes. The inputs' own dimension is renamed `input_seq`:
    nothing cuts it. Runs before axes are given; contiguous does nothing.

    Before:

    ```mlir
    func.func @model(%ids: !dtc.tensor<8x32xi32> {dtc.dims = ["batch", "seq"], ...}) {
      %p = dtc.iota {dtc.dims = ["seq"]} : () -> !dtc.tensor<32xi32>
    ```

    After, with `layout=zigzag parts=4`:

    ```mlir
    func.func @model(%ids: !dtc.tensor<8x32xi32> {dtc.dims = ["batch", "input_seq"], ...}) {
      %0 = dtc.permute zigzag %ids dim 1 parts 4 {dtc.dims = ["batch", "seq"]} : ...
      %p = dtc.iota {dtc.dims = ["input_seq"]} : () -> !dtc.tensor<32xi32>
      %1 = dtc.permute zigzag %p dim 0 parts 4 {dtc.dims = ["seq"]} : ...
    ```
  }];
  let options = [
    Option<"layout", "layout", "std::string", "\"contiguous\"", "contiguous, striped or zigzag">,
    Option<"parts", "parts", "int64_t", "0", "pieces of the sequence (default: the size of cp on the mesh)">,
    Option<"mesh", "mesh", "std::string", "", "axes and sizes, such as dp=2,cp=4">
  ];
  let dependentDialects = ["::dtc::DTCDialect", "::mlir::func::FuncDialect"];
}

def PropagateSharding : Pass<"dtc-propagate-sharding", "::mlir::ModuleOp"> {
  let summary = "give every dimension its axes, from the rules and annotations";
  let description = [{
    The module gets `dtc.mesh`. Parameters, inputs and annotated values get the
    axes that the rules give to the names of their dimensions (`batch = dp`,
    `heads = tp`, ...; docs/placements.md has the table); `dtc.sharding` on an
    argument, a parameter or an op overrides them. From there axes go forward:
    an op's factors take the axes of its operands, its results those of their
    factors. Where operands disagree, parameters decide first, then annotated
    values, then the residual stream (values with `dtc.dims`), then the others
    in operand order; `report-conflicts` remarks on what loses. What nothing
    shards stays whole. A function is cloned where calls shard it differently.
    The program before is one device's: one module, no type of it sharded.

    Then every dimension gets its padded length: the least multiple, not below
    its length, of the product of all axes that cut it anywhere. Batch,
    sequence and heads may not be padded: an error names the legal sizes.

    Before:

    ```mlir
    dtc.param @w : !dtc.tensor<64x4x16xf32> ... dims ["embed", "heads", "head_dim"]
    %q = dtc.einsum "bsd,dhe->bshe"(%x, %w) : ... -> !dtc.tensor<8x32x4x16xf32>
    ```

    After, with `mesh=dp=2,tp=2`:

    ```mlir
    dtc.param @w : !dtc.tensor<64x4{tp:2}x16xf32> ...
    %q = dtc.einsum "bsd,dhe->bshe"(%x, %w)
       {dtc.sharding = [#dtc.axes<dp:2>, #dtc.axes<>, #dtc.axes<tp:2>, #dtc.axes<>]} : ...
    ```
  }];
  let options = [
    Option<"mesh", "mesh", "std::string", "", "axes and sizes, such as dp=2,tp=4">,
    Option<"rulesFile", "rules", "std::string", "", "a file with rules, instead of the defaults">,
    Option<"sequenceParallel", "sequence-parallel", "bool", "false",
           "cut the residual stream's sequence over tp">,
    Option<"printRules", "print-rules", "bool", "false", "print the mesh and the rules">,
    Option<"reportConflicts", "report-conflicts", "bool", "false",
           "remark on operands whose axes an op does not take">
  ];
  let dependentDialects = ["::dtc::DTCDialect", "::mlir::func::FuncDialect"];
}

def InsertCollectives : Pass<"dtc-insert-collectives", "::mlir::ModuleOp"> {
  let summary = "placements in the types, f and g and their kin";
  let description = [{
    Gives every value its placement and inserts the collectives that the rule
    demands. A partial result is reduced at once, to the value's own placement
    (g, or reduce_scatter where its dimensions are cut), unless its one use is
    linear in it alone. An invariant activation gets one f, before its first
    consumer that needs it replicate; a consumer whose results are needed
    replicate only takes f's result too. Parameters are converted in the public
    function, once for each distinct placement; layer functions take them as
    they need them.

    Before:

    ```mlir
    %y = dtc.einsum "bsd,df->bsf"(%x, %w1) {dtc.sharding = [.., #dtc.axes<tp:2>]} : ...
    %z = dtc.einsum "bsf,fd->bsd"(%y, %w2) : ...
    ```

    After:

    ```mlir
    %f = dtc.f %x over <tp:2> : ... -> !dtc.tensor<8x32x64xf32, replicate{tp:2}>
    %y = dtc.einsum "bsd,df->bsf"(%f, %w1) : ... -> !dtc.tensor<8x32x256{tp:2}xf32>
    %p = dtc.einsum "bsf,fd->bsd"(%y, %w2) : ... -> !dtc.tensor<8x32x64xf32, partial{tp:2}>
    %z = dtc.g %p over <tp:2> : ... -> !dtc.tensor<8x32x64xf32>
    ```
  }];
  let dependentDialects = ["::dtc::DTCDialect", "::mlir::func::FuncDialect"];
}

def Microbatch : Pass<"dtc-microbatch", "::mlir::ModuleOp"> {
  let summary = "run the model once for each micro-batch";
  let description = [{
    The public function becomes `@step`. What depends on the batch is moved
    into one `dtc.micro_batches` op (for a count of 1 too), in which the batch
    has rows/count rows; layer functions get the new types.

    A dimension is the batch if it is named "batch" in `dtc.dims`, or shares a
    factor with one that is, through ops and calls. Inputs, and values that an
    op makes over the batch from nothing (row numbers), are cut by
    `dtc.micro_batch`, so row numbers stay global. A value that sums the batch
    away is yielded at once and summed over micro-batches; the ops after it,
    which must be linear in it, stand after the loop, and so does its
    reduction over ranks. Integers that sum the batch away (a count of labels)
    are computed before the loop, for the whole batch. Everything else stays
    before the loop.

    Before:

    ```mlir
    func.func @model(%x: !dtc.tensor<8{dp:2}x4xf32> {dtc.dims = ["batch", "embed"], ...})
        -> (!dtc.tensor<f32> {dtc.output = "loss"}) {
      %s = dtc.reduce_sum %x over [0, 1] : (...) -> !dtc.tensor<f32, partial{dp:2}>
      %loss = dtc.g %s over <dp:2> : ...
      return %loss : !dtc.tensor<f32>
    }
    ```

    After, with `count=4`:

    ```mlir
    func.func @step(%x: !dtc.tensor<8{dp:2}x4xf32> {dtc.dims = ["batch", "embed"], ...})
        -> (!dtc.tensor<f32> {dtc.output = "loss"}) {
      %s = dtc.micro_batches 4 {
      ^bb0(%m: !dtc.tensor<i32>):
        %mf = dtc.f %m over <dp:2> : ...
        %xm = dtc.micro_batch %x[%mf] parts 2 count 4 : (...) -> !dtc.tensor<2{dp:2}x4xf32>
        %p = dtc.reduce_sum %xm over [0, 1] : (...) -> !dtc.tensor<f32, partial{dp:2}>
        dtc.yield %p : !dtc.tensor<f32, partial{dp:2}>
      } : !dtc.tensor<f32, partial{dp:2}>
      %loss = dtc.g %s over <dp:2> : ...
      return %loss : !dtc.tensor<f32>
    }
    ```
  }];
  let options = [
    Option<"count", "count", "int64_t", "1", "number of micro-batches that each data-parallel rank runs in a step">
  ];
  let dependentDialects = ["::dtc::DTCDialect", "::mlir::func::FuncDialect"];
}

def CutStages : Pass<"dtc-cut-stages", "::mlir::ModuleOp"> {
  let summary = "cut the loop's body into pipeline stages";
  let description = [{
    Turns the body of `dtc.micro_batches` into `stages` calls, one after the
    other, each with `dtc.stage = k`. Every op that depends on a parameter, and
    whatever the loop yields, goes into one of them; equal stages are one
    function. What remains beside the calls is the prelude: slices of the
    micro-batch and what follows from them and constants alone (masks,
    positions, row numbers), which every stage's rank may compute for itself.
    A value that skips stages is a result of one call and an operand of
    another.

    A parameter that several stages use, and any other value before the loop
    that depends on one, is made once for each of them: every stage then has
    gradients of its own, which are reduced apart and added after the loop.

    The cut minimizes the cost of the slowest stage: of an op the larger of its
    matrix products' operations and ten for each byte that it moves; of a call
    the sum of its callee's. Among equally slow cuts (up to 1 %) it takes the
    one across whose boundaries the fewest bytes go. A call is not cut, unless
    there are fewer ops than stages: then calls are inlined first. `memory`
    bounds the bytes of each stage: 16 for each element of its parameters, and
    the values of as many micro-batches as are in flight (at stage k of S:
    min(S - k, micro-batches)).

    `cuts` is a cut by hand, `N, N, ...`: how many of the body's calls (layers)
    each stage has. Ops before the first call go with it, others with the call
    that they follow; with 0 at the start or the end, the ops before the first
    or after the last call are a stage. `ops: N, N, ...` counts every op.

    `stages` defaults to the size of pp on the module's mesh. One stage changes
    nothing.

    Before:

    ```mlir
    %s = dtc.micro_batches 2 {
    ^bb0(%m: !dtc.tensor<i32>):
      %ids_m = dtc.micro_batch %ids[%m] parts 1 count 2 : ...
      %x0 = dtc.embedding %wte[%ids_m] : ...
      %x1 = func.call @layer(%x0, %w0) : ...
      %x2 = func.call @layer(%x1, %w1) : ...
      %logits = dtc.einsum "bsd,vd->bsv"(%x2, %wte) : ...
    ```

    After, with `stages=2`:

    ```mlir
    func.func private @stage_0(%wte: ..., %ids_m: ..., %w0: ...) -> !dtc.tensor<4x8x16xf32> { ... }
    func.func private @stage_1(%x1: ..., %w1: ..., %wte: ...) -> !dtc.tensor<f32> { ... }
    ...
    %s = dtc.micro_batches 2 {
    ^bb0(%m: !dtc.tensor<i32>):
      %ids_m = dtc.micro_batch %ids[%m] parts 1 count 2 : ...
      %x1 = func.call @stage_0(%wte, %ids_m, %w0) {dtc.stage = 0 : i64} : ...
      %l = func.call @stage_1(%x1, %w1, %wte_again) {dtc.stage = 1 : i64} : ...
      dtc.yield %l : !dtc.tensor<f32>
    ```
  }];
  let options = [
    Option<"stages", "stages", "int64_t", "0", "number of stages (default: the size of pp on the mesh)">,
    Option<"cuts", "cuts", "std::string", "", "layers of each stage, such as 3,4,4,3, or ops:N,N,...">,
    Option<"memory", "memory", "int64_t", "0", "bytes that each stage may take (0: no limit)">,
    Option<"zero", "zero", "int64_t", "0", "the stage of -dtc-shard-parameters, for memory: what it will cut of parameters, gradients and optimizer state">
  ];
  let dependentDialects = ["::dtc::DTCDialect", "::mlir::func::FuncDialect"];
}

def Differentiate : Pass<"dtc-differentiate", "::mlir::ModuleOp"> {
  let summary = "append the backward, down to every parameter's gradient";
  let description = [{
    Reverse mode, op by op through DifferentiableOpInterface, on typed
    programs: the cotangent of a value has the conjugate type, and a
    collective's derivative is its transpose, so the gradients' communication
    comes out of the types.

    Each layer function `@l` becomes `@l_forward`, which also returns what the
    backward needs, and `@l_backward`; calls stay calls. The backward takes
    operands again, recomputes what costs nothing (constants, f), and is given
    the rest as saved values. With `recompute` it is given less and computes
    the rest again from that, by the same ops, so that the bits are the same:
    `selective` what is bound by memory (norms, activations, sums, dropout,
    whose numbers are drawn again), `full` everything from the layer's operands
    on, as far as the backward needs it (not the layer's last sum or
    collective), a number also products whose operations, divided by the bytes
    of their results, are at most that. Kept is what has the fewest bytes. In the public function the loss's cotangent is 1;
    the backward of what stands after the loop over micro-batches is computed
    before it (so it may not need the loop's results), the loop's body gets its
    own backward at its end, and the transposes of what stands before the loop
    follow after it. The step ends in a `dtc.write` to every parameter's
    gradient, zero where no path leads to the loss.

    Before:

    ```mlir
    %w = dtc.read param of @w : !dtc.tensor<4xf32>
    %wf = dtc.f %w over <dp:2> : ...
    %s = dtc.micro_batches 4 {
    ^bb0(%m: !dtc.tensor<i32>):
      ...
      %y = dtc.add %x, %wf : ...
      %l = dtc.reduce_sum %y over [0, 1] : (...) -> !dtc.tensor<f32, partial{dp:2}>
      dtc.yield %l : !dtc.tensor<f32, partial{dp:2}>
    } : !dtc.tensor<f32, partial{dp:2}>
    %loss = dtc.g %s over <dp:2> : ...
    ```

    After:

    ```mlir
    %w = dtc.read param of @w : !dtc.tensor<4xf32>
    %wf = dtc.f %w over <dp:2> : ...
    %one = dtc.constant 1.0 : () -> !dtc.tensor<f32>
    %dl = dtc.f %one over <dp:2> : ...
    %s:2 = dtc.micro_batches 4 {
    ^bb0(%m: !dtc.tensor<i32>):
      ...
      %l = dtc.reduce_sum %y over [0, 1] : (...) -> !dtc.tensor<f32, partial{dp:2}>
      %dy = dtc.broadcast %dl along [0, 1] : ...
      %dwf = dtc.reduce_sum %dy over [0] : (...) -> !dtc.tensor<4xf32, partial{dp:2}>
      dtc.yield %l, %dwf : ...
    } : !dtc.tensor<f32, partial{dp:2}>, !dtc.tensor<4xf32, partial{dp:2}>
    %loss = dtc.g %s#0 over <dp:2> : ...
    %dw = dtc.g %s#1 over <dp:2> : ...
    dtc.write %dw to grad of @w : !dtc.tensor<4xf32>
    ```
  }];
  let options = [
    Option<"gatherAgain", "gather-again", "bool", "false",
           "save the pieces of a gathered value and gather them again in the backward">,
    Option<"recompute", "recompute", "std::string", "\"none\"",
           "what layers do not keep for their backward: none, selective, full, or operations per byte">
  ];
  let dependentDialects = ["::dtc::DTCDialect", "::mlir::func::FuncDialect"];
}

def SplitBackward : Pass<"dtc-split-backward", "::mlir::ModuleOp"> {
  let summary = "input gradients and weight gradients of each stage apart";
  let description = [{
    Splits the backward of each pipeline stage as zero-bubble schedules need it
    (Qi et al. 2023): `@s_backward_input` makes the cotangents that the stage
    before waits for, `@s_backward_weight` the rest, which can be done whenever
    the rank would be idle. Layers' backwards are split likewise, once per
    function. What the input part makes and the weight part needs is passed as
    results of the one and operands of the other: the output cotangent of each
    weight's product, as a rule. Ops that cost next to nothing (f, constants,
    broadcasts) are in both parts; a sum that would be the only reason to pass a larger value is in
    the input part, which then gives that gradient.

    The first stage has nothing to send: its input part is the chain of
    cotangents through its layers, and is left out where there are none. A
    weight part without gradients is left out too. Calls without
    `dtc.phase = "backward"` stay.

    Before:

    ```mlir
    %d:2 = func.call @stage_1_backward(%x, %w, %dy) {dtc.phase = "backward", dtc.stage = 1 : i64} : ...
    ```

    After:

    ```mlir
    %dx, %dh = func.call @stage_1_backward_input(%w, %dy) {dtc.phase = "input_backward", dtc.stage = 1 : i64} : ...
    %dw = func.call @stage_1_backward_weight(%x, %dh) {dtc.phase = "weight_backward", dtc.stage = 1 : i64} : ...
    ```
  }];
  let dependentDialects = ["::dtc::DTCDialect", "::mlir::func::FuncDialect"];
}

def ExpandCommunication : Pass<"dtc-expand-communication", "::mlir::ModuleOp"> {
  let summary = "turn ops that communicate inside into local ops and collectives";
  let description = [{
    An op one of whose communicating factors is cut expands itself
    (ExpandableOpInterface); an op that communicates and cannot is refused.
    Runs after differentiation, because the parts (a running maximum) have no
    derivative of their own.

    Before:

    ```mlir
    %loss, %lse = dtc.cross_entropy %logits, %labels
        : (!dtc.tensor<8x32x256{tp:2}xf32>, !dtc.tensor<8x32xi32, replicate{tp:2}>)
       -> (!dtc.tensor<f32>, !dtc.tensor<8x32xf32>)
    ```

    After:

    ```mlir
    %0 = dtc.vocab_max %logits : (...) -> !dtc.tensor<8x32xf32, max{tp:2}>
    %max = dtc.reduce_max %0 over <tp:2> : ...
    %shift = dtc.f %max over <tp:2> : ...
    %1 = dtc.vocab_sum_exp %logits, %shift : (...) -> !dtc.tensor<8x32xf32, partial{tp:2}>
    %sum_exp = dtc.g %1 over <tp:2> : ...
    %2 = dtc.vocab_pick %logits, %labels : (...) -> !dtc.tensor<8x32xf32, partial{tp:2}>
    %picked = dtc.g %2 over <tp:2> : ...
    %loss, %lse = dtc.token_loss %max, %sum_exp, %picked, %one_labels : ...
    ```
  }];
  let options = [
    Option<"attention", "attention", "std::string", "",
           "how attention over a cut sequence exchanges data: ring (default), all-gather or ulysses">
  ];
  let dependentDialects = ["::dtc::DTCDialect"];
}

def ShardParameters : Pass<"dtc-shard-parameters", "::mlir::ModuleOp"> {
  let summary = "cut gradients, and parameters, over the data-parallel group";
  let description = [{
    ZeRO (Rajbhandari et al. 2020) as placements. Its group is dp and cp as one.
    Every parameter gets a second placement, in which one of its dimensions is
    cut over the group too: the one that pads least, the first among equals. A
    dimension that no other axis cuts is padded by itself (`dtc.repad`). One
    that is cut already stands back unless its pieces divide: a vector that tp
    cuts, say, is made whole on the way from one padding to the other. Only a
    scalar, or what the group's axes cut already, stays as it is.

    | stage | what changes |
    |---|---|
    | 0 | nothing |
    | 1 | the gradient is written in the second placement: g becomes reduce_scatter, after the loop. -dtc-partition-optimizer keeps optimizer state where gradients lie, and gathers what it has updated |
    | 2 | also: the reduce_scatter is part of the loop over micro-batches, right after the op that makes the cotangent; the sum over micro-batches is the piece |
    | 3 | also: the parameter itself is stored so; it is gathered before every op or call that uses it, in the forward and again in the backward. With `reshard=step` it is gathered once, before the loop |

    In a pipeline the ops of stages are those of their functions: pieces are
    passed to stages, which gather before each layer and return pieces of
    gradients. Functions of layers are the same in all stages of ZeRO.

    Runs after -dtc-differentiate (and -dtc-split-backward).

    Before:

    ```mlir
    %0 = dtc.read param of @w : !dtc.tensor<8x4xf32>
    %1 = dtc.f %0 over <dp:2> : (!dtc.tensor<8x4xf32>) -> !dtc.tensor<8x4xf32, replicate{dp:2}>
    %2 = dtc.micro_batches 2 {
    ^bb0(%m: !dtc.tensor<i32>):
      %3 = func.call @layer_backward(%1, ...) : (...) -> !dtc.tensor<8x4xf32, partial{dp:2}>
      dtc.yield %3 : !dtc.tensor<8x4xf32, partial{dp:2}>
    } : !dtc.tensor<8x4xf32, partial{dp:2}>
    %4 = dtc.g %2 over <dp:2> : (!dtc.tensor<8x4xf32, partial{dp:2}>) -> !dtc.tensor<8x4xf32>
    dtc.write %4 to grad of @w : !dtc.tensor<8x4xf32>
    ```

    After, with `stage=3`:

    ```mlir
    %0 = dtc.read param of @w : !dtc.tensor<8{dp:2}x4xf32>
    %2 = dtc.micro_batches 2 {
    ^bb0(%m: !dtc.tensor<i32>):
      %1 = dtc.all_gather %0 dim 0 over <dp:2> : (!dtc.tensor<8{dp:2}x4xf32>) -> !dtc.tensor<8x4xf32, replicate{dp:2}>
      %3 = func.call @layer_backward(%1, ...) : (...) -> !dtc.tensor<8x4xf32, partial{dp:2}>
      %4 = dtc.reduce_scatter %3 dim 0 over <dp:2> : (!dtc.tensor<8x4xf32, partial{dp:2}>) -> !dtc.tensor<8{dp:2}x4xf32>
      dtc.yield %4 : !dtc.tensor<8{dp:2}x4xf32>
    } : !dtc.tensor<8{dp:2}x4xf32>
    dtc.write %2 to grad of @w : !dtc.tensor<8{dp:2}x4xf32>
    ```
  }];
  let options = [
    Option<"stage", "stage", "int64_t", "0", "0 to 3: what is cut over dp and cp">,
    Option<"reshard", "reshard", "std::string", "\"micro-batch\"",
           "stage 3: gathered parameters are freed after each use (micro-batch) or at the end of the step (step)">
  ];
  let dependentDialects = ["::dtc::DTCDialect", "::mlir::func::FuncDialect"];
}

def PartitionOptimizer : Pass<"dtc-partition-optimizer", "::mlir::ModuleOp"> {
  let summary = "add gradient norm, clipping and AdamW on the owned pieces";
  let description = [{
    The step gets an input `optimizer` (8 scalars, see `dtc.clip`) and outputs
    `grad_norm` and `skipped`. The squares of each gradient are summed where
    its pieces lie; sums with equal placement are added, and each distinct set
    of axes is reduced once, so every element counts once whatever the mesh.
    Parameters are updated where the gradient's pieces lie.

    Before:

    ```mlir
    dtc.write %dw to grad of @w : !dtc.tensor<64{tp:2}x64xf32>
    return %loss, %count : ...
    ```

    After:

    ```mlir
    dtc.write %dw to grad of @w : !dtc.tensor<64{tp:2}x64xf32>
    %q = dtc.sum_squares %dw : (...) -> !dtc.tensor<f32, partial{tp:2}>
    %sq = dtc.g %q over <tp:2> : ...
    %norm, %coefficient, %skip = dtc.clip %sq, %loss, %count, %optimizer : ...
    %c = dtc.f %coefficient over <tp:2> : ...
    ...
    %m = dtc.read m of @w : ...
    %v = dtc.read v of @w : ...
    %p1, %m1, %v1 = dtc.adamw %w, %dw, %m, %v with %c, %s, %o {decay} : ...
    dtc.write %p1 to param of @w : ...
    dtc.write %m1 to m of @w : ...
    dtc.write %v1 to v of @w : ...
    return %loss, %count, %norm, %skip : ...
    ```
  }];
  let dependentDialects = ["::dtc::DTCDialect", "::mlir::func::FuncDialect"];
}

def SchedulePipeline : Pass<"dtc-schedule-pipeline", "::mlir::ModuleOp"> {
  let summary = "give the stages to ranks, and their work an order";
  let description = [{
    On a mesh with pp, runs last at the dtc level. The loop over micro-batches,
    whose body is calls of stages, gets a `dtc.schedule`: a usual one, or one
    from a file, proven before anything runs. After the loop, values that
    different ranks have are added by `dtc.sum_stages`: a tied weight's
    gradient, after its reduction over data-parallel ranks; the squares of the
    gradient norm, each parameter at its first rank; and the loss becomes known
    to all ranks. What is computed where follows from what needs it.

    Before (two stages; `%l` is of stage 1, `%ga` of 0, `%gb` of 1):

    ```mlir
    %l, %ga, %gb = dtc.micro_batches 2 { ... }
    %g = dtc.add %ga, %gb : ...
    dtc.write %g to grad of @wte : !dtc.tensor<256x64xf32>
    return %l : !dtc.tensor<f32>
    ```

    After:

    ```mlir
    dtc.schedule @pipeline ["schedule: 1f1b", "pp: 2", "micro-batches: 2",
                            "rank 0: post0:1>0 F0 ...", "rank 1: ..."]
    %l, %ga, %gb = dtc.micro_batches 2 schedule @pipeline { ... }
    %loss = dtc.sum_stages %l from [1] to [0, 1] : ...
    %g = dtc.sum_stages %ga, %gb from [0, 1] to [0, 1] : ...
    dtc.write %g to grad of @wte : !dtc.tensor<256x64xf32>
    return %loss : !dtc.tensor<f32>
    ```
  }];
  let options = [
    Option<"scheduleName", "schedule", "std::string", "\"1f1b\"",
           "gpipe, 1f1b, interleaved, zb-h1 or zb-v">,
    Option<"file", "file", "std::string", "", "a file with a schedule (docs/schedules.md)">
  ];
  let dependentDialects = ["::dtc::DTCDialect", "::mlir::func::FuncDialect"];
}

def ReportWork : Pass<"dtc-report-work", "::mlir::ModuleOp"> {
  let summary = "print the bytes that a rank sends and the pairs that attention visits";
  let description = [{
    Changes nothing. For the whole step (calls and micro-batches counted): calls
    and bytes sent by one rank, for each kind of collective and group of axes.
    For each piece of the sequence: the pairs of query and key that a causal
    mask leaves, in the layout that `-dtc-layout-sequence` chose, and how many
    tiles the kernels of a ring execute for them, forward and backward: those
    with a visible pair.

    ```
    bytes sent by one rank in one step
      shift over {cp:8}: 58 calls, 45952 bytes
      total: 58 calls, 45952 bytes
    causal attention on each of 8 pieces of 16 tokens (zigzag)
      pairs: 1032 1032 1032 1032 1032 1032 1032 1032
      most over least: 1.00
      forward tiles of 4 x 4 executed: 66 66 66 66 66 66 66 66 of 128 each
      backward tiles of 4 x 4 executed: 66 66 66 66 66 66 66 66 of 128 each
    ```
  }];
  let options = [
    Option<"cpu", "cpu", "std::string", "\"native\"", "processor whose kernels' tiles are counted">,
    Option<"queryTile", "query-tile", "int64_t", "0", "queries of a tile, in place of the kernels' own">,
    Option<"keyTile", "key-tile", "int64_t", "0", "keys of a tile, in place of the kernels' own">
  ];
}

#endif // DTC_TRANSFORMS_PASSES_TD
