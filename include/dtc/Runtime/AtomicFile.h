//===- AtomicFile.h - Files that appear whole or not at all -----*- C++ -*-===//

#ifndef DTC_RUNTIME_ATOMICFILE_H
#define DTC_RUNTIME_ATOMICFILE_H

#include <cstddef>
#include <string>

namespace dtc::rt {

/// A file that is written under a temporary name beside its own and renamed by
/// commit(). Without commit() nothing is left behind. What is not a regular
/// file (a device, a pipe) is written directly.
class AtomicFile {
public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile &) = delete;
  AtomicFile &operator=(const AtomicFile &) = delete;

  void write(const void *data, size_t bytes);
  void commit();

private:
  [[noreturn]] void fail(const char *what, int error);

  std::string path, temporary;
  int fd = -1;
};

/// Opens for writing, and makes the file; -1 and errno where that fails. A pipe
/// that nobody reads fails (ENXIO) instead of waiting for a reader.
int openForWriting(const std::string &path, int flags);

/// Throws unless a file can be created at `path`; creates nothing.
void checkWritable(const std::string &path, const char *flag);

/// Removes the temporary files of writers that are still open.
void removeTemporaryFiles();

} // namespace dtc::rt
#endif // DTC_RUNTIME_ATOMICFILE_H
