//===- AtomicFile.cpp - Files that appear whole or not at all -------------===//

#include "dtc/Runtime/AtomicFile.h"
#include "dtc/Runtime/Error.h"
#include "dtc/Runtime/FileSystem.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <mutex>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

using namespace dtc::rt;

static std::mutex temporariesMutex;
static std::vector<std::string> temporaries;

static bool isSpecial(const std::string &path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
}

int dtc::rt::openForWriting(const std::string &path, int flags) {
  int fd = open(path.c_str(),
                O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | flags, 0666);
  // Once it is open, a slow reader is waited for.
  if (fd >= 0)
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  return fd;
}

AtomicFile::AtomicFile(std::string target) : path(std::move(target)) {
  if (!isSpecial(path)) {
    temporary = path + ".tmp" + std::to_string(getpid());
    std::lock_guard<std::mutex> lock(temporariesMutex);
    temporaries.push_back(temporary);
  }
  const std::string &name = temporary.empty() ? path : temporary;
  fd = openForWriting(name, O_TRUNC);
  if (fd < 0)
    fail("create", errno);
}

AtomicFile::~AtomicFile() {
  if (fd >= 0)
    close(fd);
  if (temporary.empty())
    return;
  unlink(temporary.c_str());
  std::lock_guard<std::mutex> lock(temporariesMutex);
  temporaries.erase(
      std::remove(temporaries.begin(), temporaries.end(), temporary),
      temporaries.end());
}

void AtomicFile::fail(const char *what, int error) {
  // A constructor that throws has no destructor.
  if (fd >= 0)
    close(fd);
  fd = -1;
  if (!temporary.empty())
    unlink(temporary.c_str());
  throw Error(cat("cannot ", what, " '", path, "': ", errnoText(error)));
}

void AtomicFile::write(const void *data, size_t bytes) {
  const char *at = static_cast<const char *>(data);
  while (bytes) {
    ssize_t n = ::write(fd, at, std::min(bytes, size_t(1) << 30));
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      fail("write", n < 0 ? errno : ENOSPC);
    at += n;
    bytes -= size_t(n);
  }
}

void AtomicFile::commit() {
  // Devices and pipes cannot be synchronized (EINVAL); that is no failure.
  if (fsync(fd) != 0 && errno != EINVAL && errno != EROFS)
    fail("write", errno);
  int status = close(fd);
  fd = -1;
  if (status != 0)
    fail("write", errno);
  if (temporary.empty())
    return;
  if (rename(temporary.c_str(), path.c_str()) != 0)
    fail("create", errno);
  // The rename itself must survive a crash of the machine.
  int folder = open(folderOf(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    fsync(folder);
    close(folder);
  }
}

void dtc::rt::checkWritable(const std::string &path, const char *flag) {
  struct stat info;
  if (stat(path.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode))
      throw Error(cat(flag, ": '", path, "' is a folder, not a file"));
    if (access(path.c_str(), W_OK) != 0)
      throw Error(cat(flag, ": cannot write '", path, "': ", errnoText(errno)));
    if (!S_ISREG(info.st_mode))
      return;
  }
  if (access(folderOf(path).c_str(), W_OK | X_OK) != 0)
    throw Error(cat(flag, ": cannot create '", path, "': ", errnoText(errno)));
}

void dtc::rt::removeTemporaryFiles() {
  // Called while the process ends: a lock held by a stopped thread must not
  // keep it from ending.
  std::unique_lock<std::mutex> lock(temporariesMutex, std::try_to_lock);
  if (!lock.owns_lock())
    return;
  for (const std::string &name : temporaries)
    unlink(name.c_str());
}
