//===- Passes.td - From the dtc level to machine code ------*- tablegen -*-===//

#ifndef DTC_CONVERSION_PASSES_TD
#define DTC_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerToRuntime : Pass<"dtc-lower-to-runtime", "::mlir::ModuleOp"> {
  let summary = "values to buffers, ops to kernels and collectives";
  let description = [{
    Takes the program after -dtc-partition-optimizer to the runtime level (the
    rt dialect). Every value becomes a buffer of its local shape; parameters,
    gradients, optimizer state, inputs and outputs become `rt.storage`. Compute
    ops become launches of kernels, one kernel for all ops that differ in
    nothing that its code may depend on. `f` and `as_one` cost nothing; the
    other collectives without data movement are local kernels. Collectives
    that move data become `rt.start` and `rt.wait`; neighbours of one kind,
    group of ranks and element type share a bucket of at most `bucket-bytes`.
    Results of layer functions belong to the caller.

    A value is computed directly into what is written or returned, and in
    place where the op allows it and nobody else needs the operand.

    Before:

    ```mlir
    %g = dtc.reduce_sum %y over [0] : (!dtc.tensor<8{dp:2}x8xf32>) -> !dtc.tensor<8xf32, partial{dp:2}>
    %d = dtc.g %g over <dp:2> : (!dtc.tensor<8xf32, partial{dp:2}>) -> !dtc.tensor<8xf32>
    dtc.write %d to grad of @w : !dtc.tensor<8xf32>
    ```

    After:

    ```mlir
    rt.storage @w.grad grad of "w" : !dtc.tensor<8xf32>
    ...
    %d = rt.address @w.grad : memref<8xf32>
    rt.launch @reduce_sum_0 ins(%y : memref<4x8xf32>) outs(%d : memref<8xf32>)
    %t = rt.start all_reduce sum over <dp:2> "step: g of w" blocks [#rt.block<[8, 1, 1, 1, 1]>]
        send(%d : memref<8xf32>) recv(%d : memref<8xf32>)
    rt.wait %t
    ```
  }];
  let options = [
    Option<"bucketBytes", "bucket-bytes", "int64_t", "26214400",
           "largest sum of buffers in one collective">,
    Option<"vectorBits", "vector-bits", "unsigned", "512",
           "width of the vectors that kernels use">
  ];
  let dependentDialects = [
    "::dtc::rt::RTDialect", "::mlir::func::FuncDialect", "::mlir::arith::ArithDialect",
    "::mlir::scf::SCFDialect", "::mlir::memref::MemRefDialect", "::mlir::vector::VectorDialect",
    "::mlir::math::MathDialect", "::mlir::affine::AffineDialect", "::mlir::LLVM::LLVMDialect"
  ];
}

def Overlap : Pass<"dtc-overlap", "::mlir::ModuleOp"> {
  let summary = "collectives in flight while ops run that do not need them";
  let description = [{
    Every wait moves down to the first op of its block that uses what is
    received or overwrites what is sent; the start of an all_gather moves up, at
    most past one call: the parameters of the next layer are gathered while
    this one is computed. Order is the same on all ranks of a group (collectives
    over pp, whose ranks run different steps, stay where they are), and what is
    computed is the same: results are equal to the bit.

    What is in flight keeps its buffers, so memory grows by as much; run before
    -dtc-plan-memory.

    Before:

    ```mlir
    rt.call @layer_backward ins(%x1, %w1 : ...) outs(%dx1, %dw1 : ...)
    %t = rt.start reduce_scatter sum over <dp:2> "dw1" blocks [..] send(%dw1 : ..) recv(%g1 : ..)
    rt.wait %t
    %u = rt.start all_gather none over <dp:2> "w0" blocks [..] send(%p0 : ..) recv(%w0 : ..)
    rt.wait %u
    rt.call @layer_backward ins(%x0, %w0 : ...) outs(%dx0, %dw0 : ...)
    rt.launch @adamw ins(%g1, ... : ...) outs(...)
    ```

    After:

    ```mlir
    %u = rt.start all_gather none over <dp:2> "w0" blocks [..] send(%p0 : ..) recv(%w0 : ..)
    rt.call @layer_backward ins(%x1, %w1 : ...) outs(%dx1, %dw1 : ...)
    %t = rt.start reduce_scatter sum over <dp:2> "dw1" blocks [..] send(%dw1 : ..) recv(%g1 : ..)
    rt.wait %u
    rt.call @layer_backward ins(%x0, %w0 : ...) outs(%dx0, %dw0 : ...)
    rt.wait %t
    rt.launch @adamw ins(%g1, ... : ...) outs(...)
    ```
  }];
  let dependentDialects = ["::dtc::rt::RTDialect"];
}

def PlanMemory : Pass<"dtc-plan-memory", "::mlir::ModuleOp"> {
  let summary = "give every buffer its place";
  let description = [{
    Places the buffers of each function in its frame by their lifetimes, the
    frames of callees inside the callers', and storage and the step's frame in
    one arena. A buffer of a collective lives until the wait. Numbers the
    collectives in flight. Frames are at most 5 % larger than the largest sum
    of bytes that live at once, or the pass says so.

    With `check` every pair of buffers that live at once is proven apart.

    Before:

    ```mlir
    %0 = rt.alloc : memref<64xf32>
    %1 = rt.alloc : memref<64xf32>
    rt.launch @a ins(%x : memref<64xf32>) outs(%0 : memref<64xf32>)
    rt.launch @a ins(%0 : memref<64xf32>) outs(%y : memref<64xf32>)
    rt.launch @a ins(%y : memref<64xf32>) outs(%1 : memref<64xf32>)
    %t = rt.start all_reduce sum over <dp:2> "g" blocks [..] send(%1 : ..) recv(%1 : ..)
    rt.wait %t
    ```

    After: the first buffer is not needed any more when the second one is.

    ```mlir
    %0 = rt.alloc at 0 : memref<64xf32>
    %1 = rt.alloc at 0 : memref<64xf32>
    ...
    %t = rt.start all_reduce sum over <dp:2> "g" blocks [..] send(%1 : ..) recv(%1 : ..) slot 0
    rt.wait %t
    ```
  }];
  let options = [
    Option<"check", "check", "bool", "false", "verify that no two live buffers overlap">,
    Option<"report", "memory-report", "bool", "false", "print the terms of the arena, the largest sum of live bytes, and where the last buffer begins">
  ];
  let dependentDialects = ["::dtc::rt::RTDialect"];
}

def LowerToCpu : Pass<"dtc-lower-to-cpu", "::mlir::ModuleOp"> {
  let summary = "the runtime level to functions on pointers";
  let description = [{
    Takes a program whose memory is planned to func, scf, memref and the LLVM
    dialect: `dtc_program_step`, `dtc_program_json`, and calls of the runtime
    (include/dtc/Runtime/ABI.h). Buffers become addresses, collectives
    constant descriptors. What remains is for buildCpuLoweringPipeline.

    Before:

    ```mlir
    %0 = rt.alloc at 512 : memref<64xf32>
    rt.launch @a ins(%x : memref<64xf32>) outs(%0 : memref<64xf32>)
    ```

    After, in a layer function:

    ```mlir
    %at = llvm.getelementptr %frame[512] : (!llvm.ptr) -> !llvm.ptr, i8
    func.call @a(%rank, %px, %at) : (!llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
    ```
  }];
  let options = [
    Option<"cpu", "cpu", "std::string", "\"native\"", "the processor, as LLVM names it">,
    Option<"flags", "flags", "std::string", "\"\"", "the compiler's flags, for the program's description">
  ];
  let dependentDialects = [
    "::dtc::rt::RTDialect", "::mlir::func::FuncDialect", "::mlir::arith::ArithDialect",
    "::mlir::scf::SCFDialect", "::mlir::memref::MemRefDialect", "::mlir::LLVM::LLVMDialect"
  ];
}

#endif // DTC_CONVERSION_PASSES_TD
