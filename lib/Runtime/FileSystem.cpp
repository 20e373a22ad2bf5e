//===- FileSystem.cpp - Folders, and files at their offsets ---------------===//

#include "dtc/Runtime/FileSystem.h"
#include "dtc/Runtime/Error.h"
#include "dtc/Runtime/Safetensors.h"

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace dtc::rt;

bool dtc::rt::exists(const std::string &path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0;
}

bool dtc::rt::isFolder(const std::string &path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool dtc::rt::isSameFile(const std::string &a, const std::string &b) {
  struct stat x, y;
  return stat(a.c_str(), &x) == 0 && stat(b.c_str(), &y) == 0 &&
         S_ISREG(x.st_mode) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

std::string dtc::rt::folderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  if (slash == std::string::npos)
    return ".";
  return slash ? path.substr(0, slash) : "/";
}

std::vector<std::string> dtc::rt::listNames(const std::string &folder) {
  std::vector<std::string> names;
  if (DIR *open = opendir(folder.c_str())) {
    while (const dirent *entry = readdir(open))
      if (std::string name = entry->d_name; name != "." && name != "..")
        names.push_back(name);
    closedir(open);
  }
  std::sort(names.begin(), names.end());
  return names;
}

void dtc::rt::makeFolder(const std::string &path) {
  if (mkdir(path.c_str(), 0777) == 0)
    return;
  int error = errno;
  if (!isFolder(path))
    throw Error(cat("cannot create '", path, "': ", errnoText(error)));
}

bool dtc::rt::removeFolder(const std::string &path) {
  for (const std::string &name : listNames(path))
    unlink((path + "/" + name).c_str());
  return rmdir(path.c_str()) == 0 || errno == ENOENT;
}

/// Where a file system cannot synchronize a folder (EINVAL), nothing can.
void dtc::rt::syncFolder(const std::string &path) {
  int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int error = fd < 0 ? errno : 0;
  if (fd >= 0) {
    if (fsync(fd) != 0 && errno != EINVAL && errno != EROFS)
      error = errno;
    close(fd);
  }
  if (error)
    throw Error(cat("cannot write '", path, "': ", errnoText(error)));
}

SharedFile::SharedFile(std::string name) : path(std::move(name)) {
  fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0)
    throw Error(cat("cannot create '", path, "': ", errnoText(errno)));
}

SharedFile::~SharedFile() { close(fd); }

void SharedFile::fail(int error) const {
  throw Error(cat("cannot write '", path, "': ", errnoText(error)));
}

void SharedFile::write(const void *data, int64_t bytes, int64_t offset) {
  const char *at = static_cast<const char *>(data);
  while (bytes > 0) {
    ssize_t n = pwrite(fd, at, size_t(std::min(bytes, int64_t(1) << 30)),
                       off_t(offset));
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      fail(n < 0 ? errno : ENOSPC);
    at += n;
    offset += n;
    bytes -= n;
  }
}

void SharedFile::resize(int64_t bytes) {
  // Better now than after all other bytes. Not every file system has this.
  if (fallocate(fd, 0, 0, off_t(bytes)) != 0 && errno != EOPNOTSUPP &&
      errno != ENOSYS && errno != EINVAL)
    fail(errno);
  if (ftruncate(fd, off_t(bytes)) != 0)
    fail(errno);
}

void SharedFile::sync() {
  if (fsync(fd) != 0 && errno != EINVAL && errno != EROFS)
    fail(errno);
}

void dtc::rt::writeText(const std::string &path, const std::string &text) {
  SharedFile file(path);
  file.write(text.data(), int64_t(text.size()), 0);
  file.sync();
}

std::string dtc::rt::readText(const std::string &path) {
  MappedFile file(path);
  return {file.data(), size_t(file.size())};
}
