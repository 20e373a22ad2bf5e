//===- RTOps.td - Buffers, kernels, collectives ------------*- tablegen -*-===//

#ifndef DTC_RT_OPS_TD
#define DTC_RT_OPS_TD

include "dtc/Dialect/DTC/IR/DTCBase.td"
include "dtc/Dialect/RT/IR/RTBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

def RT_StorageOp : RT_Op<"storage", [Symbol]> {
  let summary = "a piece of the arena that outlives the step";
  let description = [{
    A parameter, its gradient and optimizer state (then `of` is the name of the
    `dtc.param`), an input, a scalar that the runtime sets, or an output (then
    `of` is the input's or output's name). `type` is the logical tensor and its
    placement; the rank holds its local piece. `offset` is set when memory is
    planned.

    ```mlir
    rt.storage @wte.grad grad of "wte" : !dtc.tensor<256x64xf32> at 4096
    ```

    In a pipeline `stage` is the coordinate on the axis pp whose ranks have it.

    *Constraints*
    1. The type is invariant or shard on every axis, all of them on the
       module's mesh.
    2. The offset, if any, is a multiple of 64 and not negative.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, RT_StorageKindAttr:$kind, StrAttr:$of,
                       TypeAttrOf<DTC_AnyTensor>:$type, OptionalAttr<I64Attr>:$offset,
                       DefaultValuedAttr<I64Attr, "0">:$stage);
  let assemblyFormat = "$sym_name custom<EnumWord>($kind) `of` $of `:` $type (`at` $offset^)? (`stage` $stage^)? attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::dtc::DTensorType getTensorType() { return ::llvm::cast<::dtc::DTensorType>(getType()); }
    /// The rank's buffer.
    ::mlir::MemRefType getBufferType() { return ::dtc::rt::getLocalBufferType(getTensorType()); }
  }];
}

def RT_AddressOp : RT_Op<"address", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the buffer of a piece of storage";
  let description = [{
    ```mlir
    %w = rt.address @wte.param : memref<256x64xf32>
    ```

    *Constraints*
    1. The symbol is an `rt.storage`; the result is its buffer's type.
    2. Stands in the step function only: other functions take buffers.
  }];
  let arguments = (ins FlatSymbolRefAttr:$storage);
  let results = (outs RT_Buffer:$buffer);
  let assemblyFormat = "$storage attr-dict `:` type($buffer)";
}

def RT_AllocOp : RT_Op<"alloc", [MemoryEffects<[MemAlloc]>]> {
  let summary = "a buffer of the function's frame";
  let description = [{
    Lives from its first use to its last; a use in a loop, of a buffer from
    outside, is for the whole loop. `offset` is its place in the frame, set
    when memory is planned. Its content is undefined at first.

    ```mlir
    %0 = rt.alloc : memref<8x32x64xf32>
    %1 = rt.alloc at 65536 : memref<8x32x64xf32>
    ```

    *Constraints*
    1. The offset, if any, is a multiple of 64 and not negative.
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$offset);
  let results = (outs RT_Buffer:$buffer);
  let assemblyFormat = "(`at` $offset^)? attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}

def RT_WorkspaceOp : RT_Op<"workspace", [MemoryEffects<[MemRead]>]> {
  let summary = "scratch memory of one thread";
  let description = [{
    In a kernel, within a parallel region: memory that no other thread uses,
    aligned to 64 bytes. Every `rt.workspace` of a thread is the same memory.

    ```mlir
    %s = rt.workspace : memref<4096xi8>
    ```

    *Constraints*
    1. The result is memref<N x i8>.
  }];
  let results = (outs RT_Buffer:$buffer);
  let assemblyFormat = "attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

def RT_IndexOp : RT_Op<"index", [Pure]> {
  let summary = "the rank's index on an ordered list of axes, scaled";
  let description = [{
    The rank's coordinates on the axes, major to minor, as one number, times
    `scale`.

    ```mlir
    %first = rt.index #dtc.axes<tp:4> times 64
    ```

    *Constraints*
    1. The axes lie on the module's mesh.
  }];
  let arguments = (ins DTC_AxesAttr:$axes, DefaultValuedAttr<I64Attr, "1">:$scale);
  let results = (outs Index:$result);
  let assemblyFormat = "$axes (`times` $scale^)? attr-dict";
  let hasVerifier = 1;
}

def RT_FillOp : RT_Op<"fill", [MemoryEffects<[MemWrite]>]> {
  let summary = "sets every element of a buffer to a number";
  let description = [{
    ```mlir
    rt.fill %b with 0.0 : memref<256x64xf32>
    ```

    *Constraints*
    1. The buffer is a memref of static shape and identity layout.
  }];
  let arguments = (ins RT_Buffer:$buffer, F64Attr:$value);
  let assemblyFormat = "$buffer `with` $value attr-dict `:` type($buffer)";
}

def RT_SetIndexOp : RT_Op<"set_index", [MemoryEffects<[MemWrite]>]> {
  let summary = "stores an index, such as a micro-batch's number, as i32";
  let description = [{
    ```mlir
    rt.set_index %m into %number : memref<i32>
    ```

    *Constraints*
    1. The buffer is memref<i32>.
  }];
  let arguments = (ins Index:$index, RT_Buffer:$buffer);
  let assemblyFormat = "$index `into` $buffer attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}

def RT_LaunchOp : RT_Op<"launch", [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "runs a kernel";
  let description = [{
    The kernel reads `ins`, writes all of `outs`, and uses `scratch` as it
    likes. A buffer that stands among `ins` and `outs` is updated in place. The
    kernel's arguments are ins, outs, scratch, index, in this order.

    ```mlir
    rt.launch @add_0 ins(%x, %y : memref<8xf32>, memref<8xf32>) outs(%x : memref<8xf32>)
    ```

    *Constraints*
    1. The symbol is a function marked `rt.kernel`, whose arguments have the
       operands' types.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<RT_Buffer>:$ins, Variadic<RT_Buffer>:$outs,
                       Variadic<RT_Buffer>:$scratch, Variadic<Index>:$index);
  let assemblyFormat = [{
    $kernel (`ins` `(` $ins^ `:` type($ins) `)`)? (`outs` `(` $outs^ `:` type($outs) `)`)?
    (`scratch` `(` $scratch^ `:` type($scratch) `)`)? (`index` `(` $index^ `)`)? attr-dict
  }];
}

def RT_CallOp : RT_Op<"call", [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "runs a layer function";
  let description = [{
    The function reads `ins` and writes all of `outs`: the caller owns results.
    Its frame lies inside the caller's, at `offset` once memory is planned.

    ```mlir
    rt.call @layer ins(%x, %w : memref<8xf32>, memref<8xf32>) outs(%y : memref<8xf32>) frame 4096
    ```

    *Constraints*
    1. The symbol is a function that is no kernel, whose arguments have the
       operands' types.
    2. The offset, if any, is a multiple of 64 and not negative.
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<RT_Buffer>:$ins, Variadic<RT_Buffer>:$outs,
                       OptionalAttr<I64Attr>:$offset);
  let assemblyFormat = [{
    $callee (`ins` `(` $ins^ `:` type($ins) `)`)? (`outs` `(` $outs^ `:` type($outs) `)`)?
    (`frame` $offset^)? attr-dict
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

def RT_StartOp : RT_Op<"start", [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "starts a collective over one or several buffers";
  let description = [{
    One collective over a bucket of buffers and a group of ranks: those that
    differ on `axes` only, ordered major to minor. All buffers stay untouched
    until `rt.wait`. An all_reduce may be in place; a shift sends to the next
    rank of the group and receives from the one before. `slot` names the collective
    in flight, once memory is planned.

    ```mlir
    %t = rt.start all_reduce sum over #dtc.axes<dp:2> "grads" blocks [#rt.block<[1, 64, 1, 1, 1]>]
           send(%g : memref<64xf32>) recv(%g : memref<64xf32>)
    rt.wait %t
    ```

    *Constraints*
    1. There is at least one buffer, one block for each, and a receive buffer
       for each send buffer; all have one element type.
    2. The buffers' sizes are what kind, block and number of ranks say.
    3. The axes lie on the module's mesh. A maximum is an all_reduce of floats.
    4. The token is waited for once, in the same block.
  }];
  let arguments = (ins RT_CollectiveKindAttr:$kind, RT_ReductionAttr:$reduction, DTC_AxesAttr:$axes, StrAttr:$name,
                       TypedArrayAttrBase<RT_BlockAttr, "array of blocks">:$blocks,
                       Variadic<RT_Buffer>:$send, Variadic<RT_Buffer>:$recv, OptionalAttr<I64Attr>:$slot);
  let results = (outs RT_TokenType:$token);
  let assemblyFormat = [{
    custom<EnumWord>($kind) custom<EnumWord>($reduction) `over` $axes $name `blocks` $blocks
    `send` `(` $send `:` type($send) `)` `recv` `(` $recv `:` type($recv) `)` (`slot` $slot^)? attr-dict
  }];
  let hasVerifier = 1;
}

def RT_WaitOp : RT_Op<"wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "completes a collective";
  let description = [{
    Afterwards the receive buffers hold the result, and the send buffers may be
    written again.

    ```mlir
    rt.wait %token
    ```

    *Constraints*
    1. The operand is the token of an `rt.start`.
  }];
  let arguments = (ins RT_TokenType:$token);
  let assemblyFormat = "$token attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Messages between the ranks of a pipeline
//===----------------------------------------------------------------------===//

def RT_PostOp : RT_Op<"post", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "posts the receive of a channel's next message";
  let description = [{
    The buffer stays untouched until `rt.receive`.

    ```mlir
    rt.post <"stage 0 to 1: activations", number = 0, peer = 1, bytes = 64> into %b : memref<16xf32>
    ```

    *Constraints*
    1. The buffer has the channel's bytes.
  }];
  let arguments = (ins RT_ChannelAttr:$channel, RT_Buffer:$buffer);
  let assemblyFormat = "$channel `into` $buffer attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}

def RT_ReceiveOp : RT_Op<"receive", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits until the oldest posted receive has arrived";
  let arguments = (ins RT_ChannelAttr:$channel, RT_Buffer:$buffer);
  let description = [{
    ```mlir
    rt.receive <"stage 0 to 1: activations", number = 0, peer = 1, bytes = 64> into %b : memref<16xf32>
    ```

    *Constraints*
    1. The buffer has the channel's bytes; it is that of the `rt.post`.
  }];
  let assemblyFormat = "$channel `into` $buffer attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}

def RT_SendOp : RT_Op<"send", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "starts to send a channel's next message";
  let description = [{
    The buffer stays untouched until `rt.sent`.

    ```mlir
    rt.send <"stage 0 to 1: activations", number = 0, peer = 1, bytes = 64> from %b : memref<16xf32>
    ```

    *Constraints*
    1. The buffer has the channel's bytes.
  }];
  let arguments = (ins RT_ChannelAttr:$channel, RT_Buffer:$buffer);
  let assemblyFormat = "$channel `from` $buffer attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}

def RT_SentOp : RT_Op<"sent", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits until the oldest unfinished send is complete";
  let description = [{
    ```mlir
    rt.sent <"stage 0 to 1: activations", number = 0, peer = 1, bytes = 64> from %b : memref<16xf32>
    ```

    *Constraints*
    1. The buffer has the channel's bytes; it is that of the `rt.send`.
  }];
  let arguments = (ins RT_ChannelAttr:$channel, RT_Buffer:$buffer);
  let assemblyFormat = "$channel `from` $buffer attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

def RT_PipelineOp : RT_Op<"pipeline", [NoTerminator, SingleBlock, RecursiveMemoryEffects]> {
  let summary = "runs tasks and messages in the order of a schedule";
  let description = [{
    The body has the rank's tasks (`rt.task`): the work of one stage on one
    micro-batch, forward or backward. `actions` is the order in which they run,
    one after the other:

    - `run t micro_batch m slots [s, ...]`: task number t; the i-th of the
      task's groups is used in copy s_i;
    - `post c slot s`, `receive c`: channel number c, its group in copy s;
    - `send c slot s`, `sent c`.

    A *group* is a buffer in several copies, one for each micro-batch for which
    it is needed at once: what a backward needs of its forward, what arrives,
    what is sent. Group i has `copies[i]` copies in the i-th operand; channel c
    has its messages in group `channel_groups[c]`.

    ```mlir
    rt.pipeline groups(%0 : memref<16384xi8>) copies [2] channels [] in [] actions [
      run 0 micro_batch 0 slots [0], run 0 micro_batch 1 slots [1],
      run 1 micro_batch 0 slots [0], run 1 micro_batch 1 slots [1]] {
      rt.task "forward" stage 0 groups [0] { ... }
      rt.task "backward" stage 0 groups [0] { ... }
    }
    ```

    *Constraints*
    1. The body has tasks only.
    2. Every group is memref<N x i8>, and its copies divide N into multiples
       of 64; a channel's group has copies of at least the channel's bytes.
    3. Actions name tasks, channels and copies that exist, and a run has a slot
       for each group of its task. A channel posts or sends, not both;
       receives and sents do not overtake posts and sends, and a copy is not
       used again before they did.
  }];
  let arguments = (ins Variadic<RT_Buffer>:$groups, DenseI64ArrayAttr:$copies,
                       TypedArrayAttrBase<RT_ChannelAttr, "array of channels">:$channels,
                       DenseI64ArrayAttr:$channel_groups, DenseI64ArrayAttr:$actions);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    (`groups` `(` $groups^ `:` type($groups) `)`)? `copies` $copies `channels` $channels `in` $channel_groups
    `actions` custom<Actions>($actions) $body attr-dict
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Bytes of one copy of a group.
    int64_t getCopyBytes(unsigned group);
  }];
}

def RT_TaskOp : RT_Op<"task", [HasParent<"PipelineOp">, NoTerminator, SingleBlock, RecursiveMemoryEffects]> {
  let summary = "the work of one stage on one micro-batch";
  let description = [{
    The block's argument is the number of the micro-batch. `groups` are the
    numbers of the pipeline's groups of which a run names the copy.

    ```mlir
    rt.task "forward" stage 0 groups [0, 1] {
    ^bb0(%m: index):
      %x = rt.slot 0 at 0 : memref<16xf32>
      ...
    }
    ```

    *Constraints*
    1. The block has one argument, an index.
    2. The groups exist, none twice.
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$stage, DenseI64ArrayAttr:$groups);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$name `stage` $stage `groups` $groups $body attr-dict";
  let hasVerifier = 1;
}

def RT_SlotOp : RT_Op<"slot", [Pure]> {
  let summary = "a buffer in the copy of a group that the run names";
  let description = [{
    `index` is the group's place among the task's groups.

    ```mlir
    %x = rt.slot 0 at 4096 : memref<8x32x64xf32>
    ```

    *Constraints*
    1. Stands in a task that has the group; the buffer lies within a copy, at a
       multiple of 64.
  }];
  let arguments = (ins I64Attr:$index, I64Attr:$offset);
  let results = (outs RT_Buffer:$buffer);
  let assemblyFormat = "$index `at` $offset attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}

#endif // DTC_RT_OPS_TD
