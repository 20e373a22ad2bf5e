//===- Manifest.cpp - trainer.json of a checkpoint ------------------------===//

#include "dtc/Runtime/Checkpoint/Manifest.h"
#include "dtc/Runtime/Checkpoint/Checksum.h"
#include "dtc/Runtime/Error.h"

using namespace dtc::rt;

static const char *const format = "dtc-checkpoint-1";

static std::string dump(const Json &json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

const FileRecord *Manifest::find(const std::string &name) const {
  for (const FileRecord &file : files)
    if (file.name == name)
      return &file;
  return nullptr;
}

std::string Manifest::text() const {
  Json json;
  json["format"] = format;
  json["step"] = state.step;
  json["updates"] = state.updates;
  json["samples"] = state.samples;
  json["seed"] = seed;
  json["settings"] = settings;
  Json &list = json["files"] = Json::array();
  for (const FileRecord &file : files)
    list.push_back({{"name", file.name},
                    {"bytes", file.bytes},
                    {"checksum", file.checksum}});
  json["checksum"] = checksumOf(dump(json));
  return dump(json) + "\n";
}

/// Names are joined with the folder's: none may lead out of it.
static FileRecord parseFile(const Json &json, const std::string &where) {
  ObjectReader reader(json, where + ": files");
  FileRecord file;
  file.name = reader.text("name");
  file.bytes = reader.integer("bytes", 0, INT64_MAX);
  file.checksum = reader.text("checksum");
  reader.finish("name, bytes, checksum");
  if (file.name.empty() || file.name[0] == '.' ||
      file.name.find('/') != std::string::npos)
    throw Error(cat(where, ": '", file.name, "' is not a file's name"));
  return file;
}

Manifest Manifest::parse(std::string_view text, const std::string &where) {
  Json json = parseJson(text, where);
  ObjectReader reader(json, where);
  Manifest manifest;
  if (std::string name = reader.text("format"); name != format)
    throw Error(cat(where, ": its format is '", name, "', not ", format));
  manifest.state.step = reader.integer("step", 0, INT64_MAX);
  manifest.state.updates = reader.integer("updates", 0, manifest.state.step);
  manifest.state.samples = reader.integer("samples", 0, INT64_MAX);
  manifest.seed = uint32_t(reader.integer("seed", 0, UINT32_MAX));
  manifest.settings = reader.member("settings");
  const Json &files = reader.member("files");
  std::string checksum = reader.text("checksum");
  reader.finish("format, step, updates, samples, seed, settings, files, "
                "checksum");
  if (!manifest.settings.is_object() || !files.is_array())
    throw Error(where + ": 'settings' or 'files' is not as it must be");
  std::set<std::string> names;
  for (const Json &file : files) {
    manifest.files.push_back(parseFile(file, where));
    if (!names.insert(manifest.files.back().name).second)
      throw Error(
          cat(where, ": '", manifest.files.back().name, "' is there twice"));
  }
  json.erase("checksum");
  if (checksumOf(dump(json)) != checksum)
    throw Error(where + ": damaged: it does not have its checksum");
  return manifest;
}

std::vector<std::string> dtc::rt::differences(const Json &before,
                                              const Json &now) {
  std::vector<std::string> list;
  auto text = [](const Json &value) {
    return value.is_string()
               ? value.get<std::string>()
               : value.dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  auto quoted = [&](const Json &value) {
    std::string s = text(value);
    return s.empty() ? std::string("none") : s;
  };
  for (auto &[key, value] : now.items()) {
    auto it = before.find(key);
    if (it == before.end())
      list.push_back(cat(key, " is ", quoted(value), ", was not recorded"));
    else if (*it != value)
      list.push_back(cat(key, " is ", quoted(value), ", was ", quoted(*it)));
  }
  return list;
}
