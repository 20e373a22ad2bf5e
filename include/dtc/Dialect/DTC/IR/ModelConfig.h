//===- ModelConfig.h - A model's config.json --------------------*- C++ -*-===//

#ifndef DTC_DIALECT_DTC_IR_MODELCONFIG_H
#define DTC_DIALECT_DTC_IR_MODELCONFIG_H

#include "llvm/ADT/StringRef.h"

namespace dtc::attrs {
/// module: the text of the model's config.json. Nothing depends on it; programs
/// put it beside the weights that they save, where Hugging Face looks for it.
constexpr llvm::StringLiteral config = "dtc.config";
} // namespace dtc::attrs

#endif // DTC_DIALECT_DTC_IR_MODELCONFIG_H
