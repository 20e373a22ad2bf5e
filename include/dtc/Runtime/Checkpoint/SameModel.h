//===- SameModel.h - A checkpoint's config and the program's ----*- C++ -*-===//

#ifndef DTC_RUNTIME_CHECKPOINT_SAMEMODEL_H
#define DTC_RUNTIME_CHECKPOINT_SAMEMODEL_H

#include "dtc/Runtime/JsonInput.h"

#include <string>
#include <vector>

namespace dtc::rt {

/// Compares two configs of Hugging Face, of models whose tensors have equal
/// names and shapes: a line for each key that is not as it was. Throws Error,
/// beginning with `where`, if the number of heads differs: it is the one part
/// of a model's shape that no tensor of a file shows.
std::vector<std::string> compareModels(const Json &before, const Json &now,
                                       const std::string &where);

} // namespace dtc::rt
#endif // DTC_RUNTIME_CHECKPOINT_SAMEMODEL_H
