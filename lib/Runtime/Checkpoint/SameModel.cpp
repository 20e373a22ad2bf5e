//===- SameModel.cpp - A checkpoint's config and the program's ------------===//

#include "dtc/Runtime/Checkpoint/SameModel.h"
#include "dtc/Runtime/Error.h"

using namespace dtc::rt;

/// What decides how many heads there are, and what Hugging Face takes without
/// it.
static std::pair<const char *, int> headsOf(const Json &config) {
  auto type = config.find("model_type");
  if (type != config.end() && *type == "gpt2")
    return {"n_head", 12};
  return {"num_attention_heads", 32};
}

std::vector<std::string> dtc::rt::compareModels(const Json &before,
                                                const Json &now,
                                                const std::string &where) {
  if (!before.is_object() || !now.is_object())
    throw Error(where + ": an object is expected");
  auto [key, otherwise] = headsOf(now);
  auto heads = [&, key = key, otherwise = otherwise](const Json &config) {
    auto it = config.find(key);
    return it == config.end() || it->is_null() ? Json(otherwise) : *it;
  };
  if (Json was = heads(before), is = heads(now); was != is)
    throw Error(cat(where, ": ", key, " is ", was.dump(), ", the program's ",
                    is.dump(), ": the model's shape must be the same"));
  std::vector<std::string> list;
  auto text = [](const Json &config, const std::string &name) {
    auto it = config.find(name);
    return it == config.end()
               ? std::string("absent")
               : it->dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  Json names = before;
  names.update(now);
  for (const auto &[name, value] : names.items())
    if (std::string was = text(before, name), is = text(now, name); was != is)
      list.push_back(cat("config: ", name, " is ", is, ", was ", was));
  return list;
}
