//===- Folder.cpp - The checkpoints of a folder ---------------------------===//

#include "dtc/Runtime/Checkpoint/Folder.h"
#include "dtc/Runtime/Checkpoint/Checksum.h"
#include "dtc/Runtime/Error.h"
#include "dtc/Runtime/FileSystem.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>

using namespace dtc::rt;

static const std::string prefix = "step-", suffix = ".tmp";

std::string dtc::rt::checkpointName(int64_t step) {
  char text[32];
  snprintf(text, sizeof(text), "step-%08lld", static_cast<long long>(step));
  return text;
}

std::string dtc::rt::unfinishedName(int64_t step) {
  return checkpointName(step) + suffix;
}

int64_t dtc::rt::parseCheckpointName(const std::string &name) {
  if (name.compare(0, prefix.size(), prefix) != 0)
    return -1;
  int64_t step = 0;
  const char *end = name.data() + name.size();
  auto [stop, error] = std::from_chars(name.data() + prefix.size(), end, step);
  // No other spelling of a step is one that is written.
  return error == std::errc() && stop == end && step >= 0 &&
                 checkpointName(step) == name
             ? step
             : -1;
}

bool dtc::rt::isUnfinishedName(const std::string &name) {
  return name.size() > suffix.size() &&
         name.compare(name.size() - suffix.size(), suffix.size(), suffix) ==
             0 &&
         parseCheckpointName(name.substr(0, name.size() - suffix.size())) >= 0;
}

std::vector<int64_t> dtc::rt::listCheckpoints(const std::string &folder) {
  std::vector<int64_t> steps;
  for (const std::string &name : listNames(folder))
    if (int64_t step = parseCheckpointName(name); step >= 0)
      steps.push_back(step);
  std::sort(steps.rbegin(), steps.rend());
  return steps;
}

std::vector<std::string> dtc::rt::listUnfinished(const std::string &folder) {
  std::vector<std::string> paths;
  for (const std::string &name : listNames(folder))
    if (isUnfinishedName(name))
      paths.push_back(folder + "/" + name);
  return paths;
}

static bool isText(const std::string &name) {
  static const std::string end = ".safetensors";
  return name.size() < end.size() ||
         name.compare(name.size() - end.size(), end.size(), end) != 0;
}

Manifest dtc::rt::checkComplete(const std::string &path) {
  std::string manifestPath = path + "/" + Manifest::fileName;
  if (!exists(manifestPath))
    throw Error(cat("'", manifestPath, "' is missing"));
  Manifest manifest = Manifest::parse(readText(manifestPath), manifestPath);
  for (const FileRecord &file : manifest.files) {
    std::string name = path + "/" + file.name;
    struct stat info;
    if (stat(name.c_str(), &info) != 0)
      throw Error(errno == ENOENT
                      ? cat("'", name, "' is missing")
                      : cat("cannot read '", name, "': ", errnoText(errno)));
    if (!S_ISREG(info.st_mode))
      throw Error(cat("'", name, "' is not a regular file"));
    if (info.st_size != file.bytes)
      throw Error(cat("'", name, "' has ", info.st_size, " bytes, ",
                      Manifest::fileName, " says ", file.bytes,
                      info.st_size < file.bytes ? " (truncated?)" : ""));
    if (isText(file.name) && checksumOf(readText(name)) != file.checksum)
      throw Error(cat("'", name,
                      "' is damaged: it does not have the checksum "
                      "that ",
                      Manifest::fileName, " says"));
  }
  return manifest;
}

void dtc::rt::publish(const std::string &folder, int64_t step) {
  std::string from = folder + "/" + unfinishedName(step);
  std::string to = folder + "/" + checkpointName(step);
  syncFolder(from);
  // One that is not complete may have this name: the two change places.
  bool exchanged = exists(to) && renameat2(AT_FDCWD, from.c_str(), AT_FDCWD,
                                           to.c_str(), RENAME_EXCHANGE) == 0;
  if (!exchanged) {
    if (exists(to) && !removeFolder(to))
      throw Error(cat("cannot replace '", to, "': ", errnoText(errno)));
    if (rename(from.c_str(), to.c_str()) != 0)
      throw Error(cat("cannot create '", to, "': ", errnoText(errno)));
  }
  syncFolder(folder);
  if (exchanged)
    removeFolder(from);
}

void dtc::rt::removeOld(const std::string &folder, int64_t keep) {
  for (int64_t step : listCheckpoints(folder)) {
    std::string path = folder + "/" + checkpointName(step);
    try {
      checkComplete(path);
    } catch (const Error &) {
      continue; // somebody may want to look at it
    }
    if (keep-- > 0)
      continue;
    std::string gone = folder + "/" + unfinishedName(step);
    if (rename(path.c_str(), gone.c_str()) == 0)
      removeFolder(gone);
  }
}
