//===- Workspace.h - Scratch memory of a kernel -----------------*- C++ -*-===//
#ifndef DTC_CODEGEN_WORKSPACE_H
#define DTC_CODEGEN_WORKSPACE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include <algorithm>
#include <functional>

namespace dtc::codegen {

/// How a kernel gets scratch memory, without allocating. The memory belongs to
/// the caller; a kernel asks at most once per iteration of a parallel loop, and
/// uses what it got only within that iteration. Its content is undefined
/// before and after.
struct Workspace {
  /// Called inside a parallel region (or outside of any, where the kernel is
  /// serial). Returns a memref<bytes x i8> of identity layout, 64-byte aligned,
  /// that no other thread uses.
  using GetFn =
      std::function<mlir::Value(mlir::OpBuilder &, mlir::Location, int64_t)>;

  explicit Workspace(GetFn get) : get(std::move(get)) {}

  mlir::Value request(mlir::OpBuilder &b, mlir::Location loc, int64_t bytes) {
    bytes = (bytes + 63) / 64 * 64;
    maxBytes = std::max(maxBytes, bytes);
    return get(b, loc, bytes);
  }

  GetFn get;
  /// The most that any kernel asked for so far: what the program has to
  /// reserve per thread.
  int64_t maxBytes = 0;
};

/// A memref of static shape and identity layout over raw memory: `pointer` is
/// an !llvm.ptr. For callbacks and function arguments that come from C.
mlir::Value memrefFromPointer(mlir::OpBuilder &b, mlir::Location loc,
                              mlir::Value pointer, mlir::MemRefType type);

} // namespace dtc::codegen
#endif
