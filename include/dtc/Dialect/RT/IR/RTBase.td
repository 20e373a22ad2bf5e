//===- RTBase.td - The runtime-level dialect ---------------*- tablegen -*-===//

#ifndef DTC_RT_BASE_TD
#define DTC_RT_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def RT_Dialect : Dialect {
  let name = "rt";
  let cppNamespace = "::dtc::rt";
  let summary = "What one rank runs: buffers, kernels, collectives";
  let description = [{
    The runtime level: every rank runs the same functions on its own memory.
    Buffers are memrefs of static shape and identity layout. They are storage
    of the arena (`rt.storage`), a function's arguments, or part of its frame
    (`rt.alloc`). Kernels are functions marked `rt.kernel`; they alone touch
    elements. Everything else is a list of launches, calls and collectives,
    and loops over micro-batches (`scf.for`).

    Discardable attributes:
    - `rt.kernel` (unit, on a function): a kernel. Its arguments are buffers,
      then indices; `rt.noalias` marks an argument that overlaps no other.
    - `rt.step` (unit, on a function): the training step, without arguments.
      With a pipeline there is one for each coordinate on the mesh's axis pp,
      which `rt.stage` on it says.
    - `rt.frame_bytes` (on a function that is no kernel): the size of its
      frame, once memory is planned.
    - `rt.gradient` (unit, on an `rt.alloc`): it adds up a gradient over
      micro-batches; on `rt.storage`: it is for what becomes of such a sum, and
      lies in the step's frame.
    - on a step: `rt.frame_offset`, where its frame starts in the arena;
      `rt.arena_bytes`, the size of the arena; `rt.memory`, its terms;
    - on the module: `rt.collective_slots`, how many collectives are in flight
      at most; `rt.microbatches`, their number.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["::dtc::DTCDialect", "::mlir::memref::MemRefDialect"];
  let extraClassDeclaration = [{
    void registerTypesAndAttributes();
    void registerOps();
  }];
}

def RT_TokenType : TypeDef<RT_Dialect, "Token"> {
  let mnemonic = "token";
  let summary = "a collective in flight";
}

def RT_BlockAttr : AttrDef<RT_Dialect, "Block"> {
  let mnemonic = "block";
  let summary = "the shape of what two ranks exchange";
  let description = [{
    Five nested dimensions, as `dtc_block` of the runtime's interface has them
    (include/dtc/Runtime/ABI.h): `#rt.block<[4, 8, 16, 1, 1]>`. With
    `gather_first` an all_to_all gathers dimension 1 and cuts dimension 3,
    without it the other way round.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$sizes, DefaultValuedParameter<"bool", "false">:$gather_first);
  let assemblyFormat = "`<` `[` $sizes `]` (`,` `gather_first` `=` $gather_first^)? `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getNumElements() const;
  }];
}

def RT_ChannelAttr : AttrDef<RT_Dialect, "Channel"> {
  let mnemonic = "channel";
  let summary = "one end of a line of messages between two ranks of a pipeline";
  let description = [{
    Messages of `bytes` bytes, in order, between this rank and the one whose
    coordinate on the axis pp is `peer`. `number` is equal at both ends and
    unique in the program (dtc_channel of include/dtc/Runtime/ABI.h):
    `#rt.channel<"stage 0 to 1, values", number = 0, peer = 1, bytes = 4096>`.
  }];
  let parameters = (ins StringRefParameter<>:$name, "int64_t":$number, "int64_t":$peer, "int64_t":$bytes);
  let assemblyFormat = "`<` $name `,` `number` `=` $number `,` `peer` `=` $peer `,` `bytes` `=` $bytes `>`";
}

def RT_StorageKind : I32EnumAttr<"StorageKind", "what a piece of the arena is for", [
    I32EnumAttrCase<"Param", 0, "param">, I32EnumAttrCase<"Grad", 1, "grad">,
    I32EnumAttrCase<"M", 2, "m">, I32EnumAttrCase<"V", 3, "v">,
    I32EnumAttrCase<"Input", 4, "input">, I32EnumAttrCase<"Scalar", 5, "scalar">,
    I32EnumAttrCase<"Output", 6, "output">, I32EnumAttrCase<"Master", 7, "master">]> {
  let cppNamespace = "::dtc::rt";
  let genSpecializedAttr = 0;
}
def RT_StorageKindAttr : EnumAttr<RT_Dialect, RT_StorageKind, "storage_kind">;

def RT_CollectiveKind : I32EnumAttr<"CollectiveKind", "how a collective moves data", [
    I32EnumAttrCase<"AllReduce", 0, "all_reduce">, I32EnumAttrCase<"AllGather", 1, "all_gather">,
    I32EnumAttrCase<"ReduceScatter", 2, "reduce_scatter">, I32EnumAttrCase<"AllToAll", 3, "all_to_all">,
    I32EnumAttrCase<"Shift", 4, "shift">]> {
  let cppNamespace = "::dtc::rt";
  let genSpecializedAttr = 0;
}
def RT_CollectiveKindAttr : EnumAttr<RT_Dialect, RT_CollectiveKind, "collective_kind">;

def RT_Reduction : I32EnumAttr<"Reduction", "how summands are joined", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">]> {
  let cppNamespace = "::dtc::rt";
  let genSpecializedAttr = 0;
}
def RT_ReductionAttr : EnumAttr<RT_Dialect, RT_Reduction, "reduction">;

def RT_Buffer : Type<CPred<"::dtc::rt::isBuffer($_self)">,
    "memref of static shape and identity layout, of at most 2^50 numbers", "::mlir::MemRefType">;

class RT_Op<string mnemonic, list<Trait> traits = []> : Op<RT_Dialect, mnemonic, traits>;

#endif // DTC_RT_BASE_TD
