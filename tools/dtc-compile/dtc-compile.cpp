//===- dtc-compile.cpp - From model IR to an executable -------------------===//

#include "dtc/Tools/CommandLine.h"
#include "dtc/Tools/Compile/Flags.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace {
const dtc::ForgetOtherOptions forgetOthers; // before the options below
cl::OptionCategory category("dtc-compile options");
const dtc::CompileFlags flags(cl::SubCommand::getTopLevel(), category);
} // namespace

static int fail(Error error) {
  std::string message = toString(std::move(error));
  if (!message.empty())
    WithColor::error(errs(), "dtc-compile") << message << "\n";
  return 1;
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv,
      "Compiles a model to a program that trains it on the ranks of a mesh.\n");
  auto options = flags.get(argc, argv);
  if (!options)
    return fail(options.takeError());
  if (options->input.empty())
    return fail(createStringError("needs a model: dtc-compile MODEL.mlir"));

  mlir::DialectRegistry registry;
  dtc::registerCompileDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler handler(sources, &context);
  if (Error error = dtc::compile(context, *options))
    return fail(std::move(error));
  return 0;
}
