//===- Config.h - A Hugging Face model config, understood -------*- C++ -*-===//
//
// Reading a config is strict: what changes the mathematics is either supported
// or refused by name. The builder (Import.h) never sees JSON.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_TOOLS_IMPORT_CONFIG_H
#define DTC_TOOLS_IMPORT_CONFIG_H

#include "dtc/Dialect/DTC/IR/DTC.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>

namespace dtc {

enum class ModelType { GPT2, Llama };

llvm::StringRef toString(ModelType type);

/// A model, whatever its config called things. Sizes are positive; `hidden`
/// need not be `heads * headDim` (llama may say otherwise).
struct ModelConfig {
  ModelType type = ModelType::GPT2;
  int64_t vocab = 0;
  /// Rows of gpt2's position table. Llama's limit binds nothing.
  int64_t positions = 0;
  int64_t hidden = 0;
  int64_t layers = 0;
  int64_t heads = 0;
  int64_t kvHeads = 0;
  int64_t headDim = 0;
  int64_t mlp = 0;
  Activation activation = Activation::GeluTanh;
  double normEps = 0;
  double initializerRange = 0;
  double embeddingDropout = 0;
  double attentionDropout = 0;
  double residualDropout = 0;
  double ropeTheta = 0;
  bool tied = false;
  bool attentionBias = false;
  bool mlpBias = false;

  /// Elements of all stored parameters.
  int64_t countParameters() const;
};

/// What the user says beside the config.
struct ImportOptions {
  /// Sequences in a step over all ranks, and tokens in each.
  int64_t batch = 0;
  int64_t seq = 0;
  /// Tokens attend inside their own document only.
  bool documents = false;
  double labelSmoothing = 0;
};

/// Reads the text of a config.json. Errors begin with `path:line:`; warnings
/// about keys that DTC does not know go to `warnings`, in the same form.
llvm::Expected<ModelConfig> parseConfig(llvm::StringRef text,
                                        llvm::StringRef path,
                                        llvm::raw_ostream &warnings);

/// Checks the options against the model. Errors name the flag.
llvm::Error checkOptions(const ModelConfig &config,
                         const ImportOptions &options);

} // namespace dtc

#endif // DTC_TOOLS_IMPORT_CONFIG_H
