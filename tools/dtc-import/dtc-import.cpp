//===- dtc-import.cpp - From a Hugging Face config to model IR ------------===//

#include "dtc/Dialect/DTC/IR/ModelConfig.h"
#include "dtc/Tools/Import/Import.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace {

cl::OptionCategory category("dtc-import options");

/// The library's message would speak of C++ types.
struct SizeParser : cl::parser<long long> {
  using cl::parser<long long>::parser;
  bool parse(cl::Option &option, StringRef, StringRef text, long long &value) {
    if (text.getAsInteger(10, value))
      return option.error("'" + text +
                          "' must be a whole number from 1 to 2147483647");
    return false;
  }
};

cl::opt<std::string> configPath(cl::Positional, cl::Required,
                                cl::desc("CONFIG.json"),
                                cl::value_desc("CONFIG.json"),
                                cl::cat(category));
cl::opt<long long, false, SizeParser>
    batch("batch", cl::Required, cl::value_desc("B"),
          cl::desc("Sequences in a step, over all ranks"), cl::cat(category));
cl::opt<long long, false, SizeParser>
    seqLength("seq", cl::Required, cl::value_desc("S"),
              cl::desc("Tokens in a sequence"), cl::cat(category));
cl::opt<bool> documents(
    "documents",
    cl::desc("Tokens attend only inside their own document, and positions "
             "restart with each; batches then carry document_ids"),
    cl::cat(category));
cl::opt<double>
    labelSmoothing("label-smoothing", cl::init(0), cl::value_desc("X"),
                   cl::desc("Label smoothing, at least 0 (default) and below "
                            "1, as in PyTorch's cross_entropy"),
                   cl::cat(category));
cl::opt<std::string> outputPath("o", cl::init("model.mlir"),
                                cl::value_desc("FILE"),
                                cl::desc("Where the model goes (default "
                                         "model.mlir; - is standard output)"),
                                cl::cat(category));

} // namespace

/// A config is a page of text; what is larger is something else.
static constexpr uint64_t maxConfigBytes = 16 << 20;

static Expected<std::string> readConfig(StringRef path) {
  sys::fs::file_status status;
  std::error_code code = sys::fs::status(path, status);
  if (!code && status.type() == sys::fs::file_type::directory_file)
    code = std::make_error_code(std::errc::is_a_directory);
  if (code)
    return createStringError(path + ": error: " + code.message());
  if (status.getSize() > maxConfigBytes)
    return createStringError(path + ": error: " + Twine(status.getSize()) +
                             " bytes are too many for a model config");
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return createStringError(path + ": error: " + buffer.getError().message());
  return (*buffer)->getBuffer().str();
}

static Error run() {
  auto text = readConfig(configPath);
  if (!text)
    return text.takeError();
  auto config = dtc::parseConfig(*text, configPath, errs());
  if (!config)
    return config.takeError();
  dtc::ImportOptions options;
  options.batch = batch;
  options.seq = seqLength;
  options.documents = documents;
  options.labelSmoothing = labelSmoothing;
  if (Error error = dtc::checkOptions(*config, options))
    return error;

  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto module = dtc::buildModel(context, *config, options);
  (*module)->setAttr(dtc::attrs::config,
                     mlir::StringAttr::get(&context, *text));
  // The verifier has said what is wrong.
  if (failed(mlir::verify(*module)))
    return createStringError("error: the imported model is not valid");

  // Written aside and renamed: a file of this name is complete.
  Error error = writeToOutput(outputPath, [&](raw_ostream &os) {
    module->print(os);
    return Error::success();
  });
  if (error) {
    std::string message = toString(std::move(error));
    StringRef reason = message;
    reason.consume_front("'" + outputPath + "': ");
    return createStringError(outputPath + ": error: " + reason);
  }
  return Error::success();
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::SetVersionPrinter([](raw_ostream &os) { os << "dtc 0.1.0\n"; });
  cl::ParseCommandLineOptions(
      argc, argv,
      "Reads a Hugging Face model config (gpt2 or llama) and writes the model "
      "as DTC's IR\n");
  if (Error error = run()) {
    errs() << toString(std::move(error)) << "\n";
    return 1;
  }
  return 0;
}
