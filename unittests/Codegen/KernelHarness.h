//===- KernelHarness.h - Compile generated kernels and call them -*- C++
//-*-===//
#ifndef DTC_UNITTESTS_CODEGEN_KERNELHARNESS_H
#define DTC_UNITTESTS_CODEGEN_KERNELHARNESS_H

#include "dtc/Codegen/EmitObject.h"
#include "dtc/Codegen/Workspace.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace dtc::test {

/// A module of functions that take raw pointers, compiled to a shared object
/// and loaded into this process. Scratch memory is filled with NaN at each
/// request and ends at an inaccessible page.
class KernelModule {
public:
  explicit KernelModule(std::string cpu = "native");
  ~KernelModule();

  mlir::OpBuilder &builder() { return *b; }
  mlir::Location loc() { return b->getUnknownLoc(); }
  mlir::MemRefType memref(llvm::ArrayRef<int64_t> shape, mlir::Type element) {
    return mlir::MemRefType::get(shape, element);
  }
  mlir::Type f32() { return b->getF32Type(); }
  mlir::Type f64() { return b->getF64Type(); }
  mlir::Type i32() { return b->getI32Type(); }

  /// Adds `name`. Memref arguments are passed as pointers, index as int64_t.
  void add(const std::string &name, llvm::ArrayRef<mlir::Type> arguments,
           llvm::function_ref<void(mlir::OpBuilder &, mlir::ValueRange)> body);
  /// Scratch memory from this harness, or none at all if `bytes` is null.
  codegen::Workspace &workspace() { return *ws; }
  const codegen::TargetInfo &target() const { return info; }

  /// Lowers, emits, links and loads; aborts with a message on failure.
  void compile(int optLevel = 3);
  void *symbol(const std::string &name);
  template <typename Fn> Fn function(const std::string &name) {
    return reinterpret_cast<Fn>(symbol(name));
  }
  std::string dump();

private:
  std::string cpu;
  codegen::TargetInfo info;
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::unique_ptr<mlir::OpBuilder> b;
  std::unique_ptr<codegen::Workspace> ws;
  void *handle = nullptr;
};

/// Whether scratch memory is filled with NaN before each use (default: yes).
void poisonWorkspace(bool on);
void setThreads(int count);

/// An array that ends at an inaccessible page: reading or writing beyond it is
/// a crash.
template <typename T> class Guarded {
public:
  explicit Guarded(size_t count);
  ~Guarded();
  Guarded(const Guarded &) = delete;
  Guarded(Guarded &&other)
      : map(other.map), mapBytes(other.mapBytes), first(other.first),
        count(other.count) {
    other.map = nullptr;
  }
  T *data() { return first; }
  size_t size() const { return count; }
  T &operator[](size_t i) { return first[i]; }
  T *begin() { return first; }
  T *end() { return first + count; }
  std::vector<T> copy() { return std::vector<T>(first, first + count); }

private:
  void *map;
  size_t mapBytes;
  T *first;
  size_t count;
};

void *mapGuarded(size_t bytes, void *&map, size_t &mapBytes);
void unmapGuarded(void *map, size_t mapBytes);

template <typename T> Guarded<T>::Guarded(size_t n) : count(n) {
  first = static_cast<T *>(mapGuarded(n * sizeof(T), map, mapBytes));
}
template <typename T> Guarded<T>::~Guarded() {
  if (map)
    unmapGuarded(map, mapBytes);
}

} // namespace dtc::test
#endif
