//===- MemoryCommand.cpp - dtc-plan memory --------------------------------===//

#include "Commands.h"
#include "dtc/Planner/Formulas.h"
#include "dtc/Planner/MemoryReport.h"
#include "dtc/Planner/Traffic.h"
#include "dtc/Tools/Compile/Flags.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace llvm;

cl::SubCommand dtc::memoryCommand(
    "memory", "Says where the bytes of a training step are: of a model and the "
              "flags of dtc-compile, or by formulas");

namespace {

cl::OptionCategory category("dtc-plan memory options");

cl::opt<unsigned> largest("largest", cl::init(8), cl::value_desc("N"),
                          cl::desc("For a model: how many of the largest "
                                   "buffers at the peak are named (default 8)"),
                          cl::sub(dtc::memoryCommand), cl::cat(category));
cl::opt<double> params("params", cl::value_desc("P"),
                       cl::desc("Instead of a model: state of P parameters, "
                                "such as 7.5e9, in every stage of ZeRO"),
                       cl::sub(dtc::memoryCommand), cl::cat(category));
cl::opt<double>
    hidden("hidden", cl::value_desc("H"),
           cl::desc("Instead of a model: activations that one layer of GPT's "
                    "kind keeps, with --heads, --seq, --micro-batch"),
           cl::sub(dtc::memoryCommand), cl::cat(category));
cl::opt<double> heads("heads", cl::value_desc("A"),
                      cl::desc("For --hidden: attention heads"),
                      cl::sub(dtc::memoryCommand), cl::cat(category));
cl::opt<double> sequence("seq", cl::value_desc("S"),
                         cl::desc("For --hidden: length of a sequence"),
                         cl::sub(dtc::memoryCommand), cl::cat(category));
cl::opt<double> microBatch("micro-batch", cl::init(1), cl::value_desc("B"),
                           cl::desc("For --hidden: sequences of a micro-batch "
                                    "(default 1)"),
                           cl::sub(dtc::memoryCommand), cl::cat(category));

const dtc::CompileFlags flags(dtc::memoryCommand, category);

} // namespace

static int64_t getAxis(const dtc::CompileOptions &options, StringRef name) {
  for (const auto &[axis, size] : options.mesh)
    if (axis == name)
      return size;
  return 1;
}

/// What parameters, gradients and the optimizer's state take; `name` is how the
/// count is printed.
static void printState(double count, const std::string &name,
                       const dtc::CompileOptions &options) {
  int64_t ranks = getAxis(options, "dp") * getAxis(options, "cp");
  struct Row {
    const char *name;
    dtc::StatePrecision precision;
  };
  const Row rows[] = {{"f32", {4, 4, 0, 8}},
                      {"bf16, bf16 gradients", {2, 2, 4, 8}},
                      {"bf16, f32 gradients", {2, 4, 4, 8}}};
  outs() << "state of " << name
         << " parameters that neither tp nor pp cuts on each of " << ranks
         << " ranks of dp and cp, in GB (1e9 bytes), by stage of ZeRO\n"
         << format("  %-22s %10s %10s %10s %10s\n", "precision", "0", "1", "2",
                   "3");
  for (const Row &row : rows) {
    outs() << format("  %-22s", row.name);
    for (int stage = 0; stage <= 3; ++stage) {
      double gb = dtc::getStateBytes(count, ranks, stage, row.precision) / 1e9;
      outs() << format(gb < 1 ? " %10.4f" : " %10.2f", gb);
    }
    outs() << "\n";
  }
}

static int64_t countParameters(mlir::ModuleOp module) {
  int64_t count = 0;
  for (auto param : module.getOps<dtc::ParamOp>()) {
    int64_t n = 1;
    for (int64_t length : param.getTensorType().getShape())
      n *= length;
    count += n;
  }
  return count;
}

static Error printActivations(const dtc::CompileOptions &options) {
  for (const auto *option : {&hidden, &heads, &sequence, &microBatch})
    if (!(*option > 0) || !std::isfinite(*option))
      return createStringError("error: --hidden needs --" + option->ArgStr +
                               ", which must be positive and finite");
  dtc::LayerShape layer{sequence,
                        microBatch,
                        hidden,
                        heads,
                        static_cast<double>(getAxis(options, "tp")),
                        options.sequenceParallel,
                        options.gatherAgain};
  outs() << "activations that one layer keeps, in MB (1e6 bytes)\n"
         << format("  %-12s %22s %12s %12s\n", "recompute",
                   "published, 16 bits", "DTC, bf16", "DTC, f32");
  const std::pair<const char *, dtc::Recompute> rows[] = {
      {"none", dtc::Recompute::None},
      {"selective", dtc::Recompute::Selective},
      {"full", dtc::Recompute::Full}};
  for (auto [name, what] : rows)
    outs() << format("  %-12s %22.2f %12.2f %12.2f\n", name,
                     dtc::getPublishedActivationBytes(layer, what) / 1e6,
                     dtc::getActivationBytes(layer, what, 2) / 1e6,
                     dtc::getActivationBytes(layer, what, 4) / 1e6);
  return Error::success();
}

Error dtc::runMemoryCommand(int argc, char **argv) {
  auto options = flags.get(argc, argv);
  if (!options)
    return createStringError("error: " + toString(options.takeError()));
  bool formulas = params.getNumOccurrences() || hidden.getNumOccurrences();
  if (formulas == !options->input.empty())
    return createStringError(
        "error: dtc-plan memory needs a model (MODEL.mlir), or --params or "
        "--hidden instead");
  for (const auto *option : {&heads, &sequence, &microBatch})
    if (option->getNumOccurrences() && !hidden.getNumOccurrences())
      return createStringError("error: --" + option->ArgStr +
                               " is for --hidden");
  if (params.getNumOccurrences()) {
    if (!(params > 0) || !std::isfinite(params))
      return createStringError("error: --params must be positive and finite");
    std::string name;
    raw_string_ostream(name) << format("%g", double(params));
    printState(params, name, *options);
  }
  if (hidden.getNumOccurrences())
    if (Error error = printActivations(*options))
      return error;
  if (formulas)
    return Error::success();

  mlir::DialectRegistry registry;
  registerCompileDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler handler(sources, &context);
  auto module = planProgram(context, *options, outs());
  if (!module) {
    std::string message = toString(module.takeError());
    return createStringError(message.empty() ? "" : "error: " + message);
  }
  int64_t ranks = 1;
  for (const auto &[name, size] : options->mesh)
    ranks *= size;
  outs() << "planned bytes of each of " << ranks << " rank"
         << (ranks == 1 ? "" : "s") << "\n";
  printMemoryReport(**module, largest, outs());
  printTraffic(**module, outs());
  int64_t count = countParameters(**module);
  printState(static_cast<double>(count), std::to_string(count), *options);
  return Error::success();
}
