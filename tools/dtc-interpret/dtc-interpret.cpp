//===- dtc-interpret.cpp - The meaning of a program -----------------------===//
//
// Runs a dtc-level program on simulated ranks in float64, and compares it with
// another one on the same data.
//
//===----------------------------------------------------------------------===//

#include "dtc/Interpreter/Interpreter.h"
#include "dtc/Runtime/Error.h"
#include "dtc/Runtime/Safetensors.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstring>

using namespace llvm;
using dtc::Array;
using dtc::Interpreter;
using dtc::ProgramData;

namespace {

cl::OptionCategory category("dtc-interpret options");

cl::opt<std::string> programPath(cl::Positional, cl::Required,
                                 cl::desc("PROGRAM.mlir"),
                                 cl::value_desc("PROGRAM.mlir"),
                                 cl::cat(category));
cl::opt<std::string>
    againstPath("against", cl::value_desc("LOGICAL.mlir"),
                cl::desc("Compare every output and every written slot that "
                         "both programs have"),
                cl::cat(category));
cl::opt<unsigned long long>
    seed("seed", cl::init(0), cl::value_desc("N"),
         cl::desc("Of inputs and parameters (default 0)"), cl::cat(category));
cl::opt<double> tolerance(
    "tolerance", cl::init(1e-9), cl::value_desc("X"),
    cl::desc("Largest error, times the largest magnitude of the value where "
             "that is above 1 (default 1e-9)"),
    cl::cat(category));
cl::opt<bool> printValues("print", cl::desc("Print every output and write"),
                          cl::cat(category));
cl::opt<std::string>
    batchesPath("batches", cl::value_desc("B.safetensors"),
                cl::desc("Take inputs from this file, as a training does"),
                cl::cat(category));
cl::opt<std::string> weightsPath("weights", cl::value_desc("W.safetensors"),
                                 cl::desc("Take stored tensors from this file"),
                                 cl::cat(category));
cl::opt<long long> step("step", cl::init(0), cl::value_desc("I"),
                        cl::desc("Which step's batch (default 0)"),
                        cl::cat(category));
cl::opt<bool> exact("exact",
                    cl::desc("Round nothing to bf16: every float is float64"),
                    cl::cat(category));
cl::opt<bool> finiteDifferences(
    "finite-differences",
    cl::desc("Check written gradients against central differences of the loss "
             "of the --against program, along one random direction for each "
             "parameter"),
    cl::cat(category));

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

/// Throws rt::Error where the dtype is none that is read here.
Array loadTensor(const dtc::rt::SafetensorsEntry &entry) {
  Array x(entry.shape);
  if (auto load = dtc::rt::floatLoader(entry.dtype)) {
    for (int64_t i = 0; i < x.count(); ++i)
      x[i] = load(entry.data, i);
    return x;
  }
  auto integers = [&](auto zero) {
    for (int64_t i = 0; i < x.count(); ++i) {
      auto v = zero;
      std::memcpy(&v, entry.data + i * sizeof(v), sizeof(v));
      x[i] = static_cast<double>(v);
    }
    return x;
  };
  if (entry.dtype == "I32")
    return integers(int32_t(0));
  if (entry.dtype == "I64")
    return integers(int64_t(0));
  throw dtc::rt::Error("tensor '" + entry.name + "' has dtype " + entry.dtype +
                       ", which is not read here");
}

/// Batches are [steps, batch, seq]: takes one step.
Array takeStep(const Array &all, const std::string &name) {
  if (all.rank() != 3)
    throw dtc::rt::Error("tensor '" + name + "' must have rank 3");
  if (step < 0 || step >= all.shape[0])
    throw dtc::rt::Error("--step " + std::to_string(step) + ", but '" + name +
                         "' has " + std::to_string(all.shape[0]) + " steps");
  Array x(ArrayRef<int64_t>(all.shape).drop_front());
  std::copy_n(all.data.begin() + step * x.count(), x.count(), x.data.begin());
  return x;
}

/// The runtime's reader reports errors by exceptions; they end here.
bool loadData(ProgramData &data) {
  try {
    if (!batchesPath.empty()) {
      dtc::rt::SafetensorsFile file(batchesPath);
      for (const auto &entry : file.entries())
        data.setInput(entry.name, takeStep(loadTensor(entry), entry.name));
    }
    if (!weightsPath.empty()) {
      dtc::rt::SafetensorsFile file(weightsPath);
      // Published gpt2 files leave the prefix out.
      for (const auto &entry : file.entries())
        for (const char *prefix : {"", "transformer."})
          data.setStored(prefix + entry.name, loadTensor(entry));
    }
  } catch (const std::exception &e) {
    errs() << "dtc-interpret: " << e.what() << "\n";
    return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

mlir::OwningOpRef<mlir::ModuleOp> parse(StringRef path, SourceMgr &sources,
                                        mlir::MLIRContext &context) {
  auto buffer = MemoryBuffer::getFileOrSTDIN(path, /*IsText=*/true);
  if (!buffer) {
    errs() << path << ": error: " << buffer.getError().message() << "\n";
    return {};
  }
  sources.AddNewSourceBuffer(std::move(*buffer), SMLoc());
  // The parser verifies.
  return mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
}

void printArray(StringRef name, const Interpreter::Named &named) {
  outs() << name << " : " << named.type << "\n";
  const Array &x = named.value;
  int64_t row = x.shape.empty() ? 1 : x.shape.back();
  for (int64_t i = 0; i < x.count(); ++i)
    outs() << (i % row == 0 ? "  " : " ") << format("%.9g", x[i])
           << ((i + 1) % row == 0 ? "\n" : "");
}

const Interpreter::Named *findNamed(ArrayRef<Interpreter::Named> list,
                                    StringRef name) {
  for (const Interpreter::Named &n : list)
    if (n.name == name)
      return &n;
  return nullptr;
}

struct Tally {
  int agree = 0, differ = 0;
  void add(StringRef name, double error, double magnitude, double limit) {
    bool ok = error <= limit * std::max(1.0, magnitude);
    ++(ok ? agree : differ);
    outs() << (ok ? "  " : "! ") << name << ": max error "
           << format("%.3g", error) << " of " << format("%.6g", magnitude)
           << (ok ? "\n" : ": differs\n");
  }
};

/// One line for all values that only one program has.
void reportMissing(ArrayRef<Interpreter::Named> mine,
                   ArrayRef<Interpreter::Named> other, StringRef where) {
  constexpr size_t shown = 4;
  SmallVector<StringRef> names;
  for (const Interpreter::Named &n : mine)
    if (!findNamed(other, n.name))
      names.push_back(n.name);
  if (names.empty())
    return;
  outs() << "  only in " << where << ": ";
  interleaveComma(ArrayRef<StringRef>(names).take_front(shown), outs());
  if (names.size() > shown)
    outs() << " and " << names.size() - shown << " more";
  outs() << "\n";
}

void compareAll(Tally &tally, ArrayRef<Interpreter::Named> mine,
                ArrayRef<Interpreter::Named> other) {
  for (const Interpreter::Named &n : mine) {
    const Interpreter::Named *ref = findNamed(other, n.name);
    if (!ref)
      continue;
    // Counts are exact.
    tally.add(n.name, dtc::getMaxError(n.value, ref->value),
              dtc::getMagnitude(ref->value),
              n.type.isInteger() ? 0.0 : tolerance.getValue());
  }
  reportMissing(mine, other, programPath);
  reportMissing(other, mine, againstPath);
}

/// The loss of a program, its parameters being moved by `data`.
mlir::FailureOr<double> getLoss(mlir::ModuleOp module,
                                const ProgramData &data) {
  Interpreter interpreter(module, &data);
  interpreter.round = !exact;
  if (failed(interpreter.run()))
    return mlir::failure();
  const Interpreter::Named *loss = findNamed(interpreter.getOutputs(), "loss");
  if (!loss || loss->value.count() != 1)
    return module.emitError("has no scalar output 'loss' to differentiate");
  return loss->value[0];
}

/// Along one random direction for each parameter that has a gradient. The
/// formula on four points has an error of h^4, and rounding over h.
mlir::LogicalResult checkGradients(Tally &tally, mlir::ModuleOp module,
                                   mlir::ModuleOp logical,
                                   const Interpreter &ran, ProgramData &data) {
  constexpr double h = 1e-4, limit = 1e-7;
  int checked = 0;
  for (auto param : module.getOps<dtc::ParamOp>()) {
    const Interpreter::Named *grad = findNamed(
        ran.getWrites(),
        Interpreter::getWriteName(dtc::Slot::Grad, param.getSymName()));
    if (!grad)
      continue;
    double slope = 0;
    for (auto [steps, weight] : {std::pair(1, 8.0), std::pair(2, -1.0)})
      for (int side : {-1, 1}) {
        data.move(param.getSymName(), side * steps * h);
        mlir::FailureOr<double> loss = getLoss(logical, data);
        if (failed(loss))
          return mlir::failure();
        slope += side * weight * *loss / (12 * h);
      }
    Array direction = data.getDirection(param);
    double along = 0;
    for (int64_t i = 0; i < direction.count(); ++i)
      along += direction[i] * grad->value[i];
    tally.add("slope along @" + param.getSymName().str(),
              std::abs(slope - along), std::abs(along), limit);
    ++checked;
  }
  data.move("", 0);
  if (checked == 0)
    return module.emitError("writes no gradient to check");
  return mlir::success();
}

int run() {
  if (!(tolerance >= 0)) {
    errs() << "dtc-interpret: --tolerance must be a number of at least 0\n";
    return 1;
  }
  if (finiteDifferences && againstPath.empty()) {
    errs() << "dtc-interpret: --finite-differences needs --against\n";
    return 1;
  }
  mlir::DialectRegistry registry;
  registry.insert<dtc::DTCDialect, mlir::func::FuncDialect>();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects(); // an empty file loads none
  context.printOpOnDiagnostic(false); // the source line says it
  SourceMgr sources, againstSources;
  mlir::SourceMgrDiagnosticHandler handler(sources, &context);
  auto module = parse(programPath, sources, context);
  if (!module)
    return 1;
  ProgramData data(seed);
  data.vocabulary = ProgramData::getVocabulary(*module);
  if (!loadData(data))
    return 1;
  Interpreter interpreter(*module, &data);
  interpreter.round = !exact;
  if (failed(interpreter.run()))
    return 1;
  if (printValues) {
    for (const Interpreter::Named &n : interpreter.getOutputs())
      printArray(n.name, n);
    for (const Interpreter::Named &n : interpreter.getWrites())
      printArray(n.name, n);
  }
  if (againstPath.empty()) {
    outs() << interpreter.getOutputs().size() << " outputs, "
           << interpreter.getWrites().size() << " writes\n";
    return 0;
  }
  mlir::SourceMgrDiagnosticHandler againstHandler(againstSources, &context);
  auto logical = parse(againstPath, againstSources, context);
  if (!logical)
    return 1;
  Interpreter reference(*logical, &data);
  reference.round = !exact;
  if (failed(reference.run()))
    return 1;
  Tally tally;
  compareAll(tally, interpreter.getOutputs(), reference.getOutputs());
  compareAll(tally, interpreter.getWrites(), reference.getWrites());
  if (finiteDifferences &&
      failed(checkGradients(tally, *module, *logical, interpreter, data)))
    return 1;
  if (tally.agree + tally.differ == 0) {
    errs() << "dtc-interpret: the programs have no output in common\n";
    return 1;
  }
  outs() << tally.agree << " values agree";
  if (tally.differ)
    outs() << ", " << tally.differ << " differ";
  outs() << "\n";
  return tally.differ ? 1 : 0;
}

} // namespace

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::SetVersionPrinter([](raw_ostream &os) { os << "dtc 0.1.0\n"; });
  cl::ParseCommandLineOptions(
      argc, argv,
      "Runs a dtc-level program on the simulated ranks of its mesh, in "
      "float64, and compares it with another program on the same data\n");
  return run();
}
