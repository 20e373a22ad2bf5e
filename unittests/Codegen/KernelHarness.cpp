//===- KernelHarness.cpp - Compile generated kernels and call them --------===//
#include "KernelHarness.h"
#include "dtc/Codegen/CpuPipeline.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <omp.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;
using namespace dtc;
using namespace dtc::test;

static bool poison = true;

void dtc::test::poisonWorkspace(bool on) { poison = on; }
void dtc::test::setThreads(int count) { omp_set_num_threads(count); }

void *dtc::test::mapGuarded(size_t bytes, void *&map, size_t &mapBytes) {
  size_t page = sysconf(_SC_PAGESIZE);
  mapBytes = (bytes + page - 1) / page * page + page;
  map = mmap(nullptr, mapBytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED) {
    perror("mmap");
    abort();
  }
  char *end = static_cast<char *>(map) + mapBytes - page;
  mprotect(end, page, PROT_NONE);
  return end - bytes;
}

void dtc::test::unmapGuarded(void *map, size_t mapBytes) {
  munmap(map, mapBytes);
}

namespace {
/// One thread's scratch memory. It grows by being mapped anew.
struct Scratch {
  void *map = nullptr;
  size_t mapBytes = 0, bytes = 0;
  char *first = nullptr;
  ~Scratch() {
    if (map)
      unmapGuarded(map, mapBytes);
  }
};
} // namespace

extern "C" void *dtc_test_workspace(int64_t bytes) {
  static thread_local Scratch scratch;
  if (scratch.bytes != size_t(bytes)) {
    if (scratch.map)
      unmapGuarded(scratch.map, scratch.mapBytes);
    scratch.first =
        static_cast<char *>(mapGuarded(bytes, scratch.map, scratch.mapBytes));
    scratch.bytes = bytes;
  }
  if (poison)
    memset(scratch.first, 0xff, bytes); // NaN as f32 and as f64
  return scratch.first;
}

static void check(bool ok, const std::string &what) {
  if (ok)
    return;
  fprintf(stderr, "kernel harness: %s\n", what.c_str());
  abort();
}

KernelModule::KernelModule(std::string cpuName) : cpu(std::move(cpuName)) {
  DialectRegistry registry;
  codegen::registerCpuDialects(registry);
  context = std::make_unique<MLIRContext>(registry);
  context->loadAllAvailableDialects();
  b = std::make_unique<OpBuilder>(context.get());
  module = ModuleOp::create(b->getUnknownLoc());
  b->setInsertionPointToStart(module->getBody());
  auto ptr = LLVM::LLVMPointerType::get(context.get());
  auto declare =
      func::FuncOp::create(*b, loc(), "dtc_test_workspace",
                           b->getFunctionType({b->getI64Type()}, {ptr}));
  declare.setPrivate();
  ws = std::make_unique<codegen::Workspace>([ptr](OpBuilder &b, Location loc,
                                                  int64_t bytes) -> Value {
    Value size = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(bytes));
    Value p = func::CallOp::create(b, loc, "dtc_test_workspace", TypeRange{ptr},
                                   ValueRange{size})
                  .getResult(0);
    return codegen::memrefFromPointer(b, loc, p,
                                      MemRefType::get({bytes}, b.getI8Type()));
  });
  auto target = codegen::targetInfo(cpu);
  check(bool(target), "unknown CPU " + cpu);
  info = *target;
}

KernelModule::~KernelModule() {
  if (handle)
    dlclose(handle);
}

void KernelModule::add(const std::string &name, llvm::ArrayRef<Type> arguments,
                       llvm::function_ref<void(OpBuilder &, ValueRange)> body) {
  b->setInsertionPointToEnd(module->getBody());
  auto ptr = LLVM::LLVMPointerType::get(context.get());
  llvm::SmallVector<Type> types;
  for (Type type : arguments)
    types.push_back(isa<MemRefType>(type) ? Type(ptr) : type);
  auto function =
      func::FuncOp::create(*b, loc(), name, b->getFunctionType(types, {}));
  Block *entry = function.addEntryBlock();
  b->setInsertionPointToStart(entry);
  llvm::SmallVector<Value> values;
  for (auto [type, argument] : llvm::zip(arguments, entry->getArguments()))
    values.push_back(isa<MemRefType>(type)
                         ? codegen::memrefFromPointer(*b, loc(), argument,
                                                      cast<MemRefType>(type))
                         : Value(argument));
  body(*b, values);
  b->setInsertionPointToEnd(entry);
  func::ReturnOp::create(*b, loc());
}

std::string KernelModule::dump() {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  return text;
}

void KernelModule::compile(int optLevel) {
  check(succeeded(verify(*module)), "invalid module:\n" + dump());
  auto started = std::chrono::steady_clock::now();
  auto lap = [&](const char *what) {
    auto end = std::chrono::steady_clock::now();
    if (getenv("DTC_TIME_KERNELS"))
      fprintf(stderr, "%s: %.0f ms\n", what,
              std::chrono::duration<double, std::milli>(end - started).count());
    started = end;
  };
  PassManager pm(context.get());
  codegen::buildCpuLoweringPipeline(pm);
  check(succeeded(pm.run(*module)), "lowering failed");
  auto object =
      codegen::emitObject(*module, {cpu, codegen::EmitKind::Object, optLevel});
  if (!object)
    check(false, llvm::toString(object.takeError()));

  lap("LLVM");

  char directory[] = "/tmp/dtc-kernels-XXXXXX";
  check(mkdtemp(directory), "mkdtemp failed");
  std::string base = directory, objectPath = base + "/k.o",
              library = base + "/k.so";
  FILE *file = fopen(objectPath.c_str(), "wb");
  check(file &&
            fwrite(object->data(), 1, object->size(), file) == object->size(),
        "cannot write " + objectPath);
  fclose(file);
  // What the project is built with; a bare machine has no cc.
  llvm::ErrorOr<std::string> linker = llvm::sys::findProgramByName("clang-22");
  if (!linker)
    linker = llvm::sys::findProgramByName("cc");
  check(bool(linker), "no C compiler to link with");
  llvm::StringRef command[] = {*linker, "-shared", objectPath,
                               "-o",    library,   "-lm"};
  check(llvm::sys::ExecuteAndWait(*linker, command) == 0, "linking failed");
  handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  check(handle, handle ? "" : dlerror());
  if (const char *keep = getenv("DTC_KEEP_KERNELS"); keep && *keep) {
    fprintf(stderr, "kept %s\n", library.c_str());
    return;
  }
  unlink(objectPath.c_str());
  unlink(library.c_str());
  rmdir(directory);
}

void *KernelModule::symbol(const std::string &name) {
  void *found = dlsym(handle, name.c_str());
  check(found, "no symbol " + name);
  return found;
}
