//===- InMemory.h - Bytes that have a path ----------------------*- C++ -*-===//

#ifndef DTC_FUZZ_INMEMORY_H
#define DTC_FUZZ_INMEMORY_H

#include <cstdint>
#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

/// A file without a place on a disk, for readers that want a path.
class InMemoryFile {
public:
  InMemoryFile(const uint8_t *data, size_t size)
      : fd(memfd_create("fuzz", MFD_CLOEXEC)) {
    if (fd < 0 || write(fd, data, size) != ssize_t(size))
      abort();
  }
  ~InMemoryFile() { close(fd); }
  InMemoryFile(const InMemoryFile &) = delete;
  InMemoryFile &operator=(const InMemoryFile &) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd); }

private:
  int fd;
};

#endif // DTC_FUZZ_INMEMORY_H
