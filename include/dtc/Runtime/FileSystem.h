//===- FileSystem.h - Folders, and files at their offsets -------*- C++ -*-===//

#ifndef DTC_RUNTIME_FILESYSTEM_H
#define DTC_RUNTIME_FILESYSTEM_H

#include <cstdint>
#include <string>
#include <vector>

namespace dtc::rt {

bool exists(const std::string &path);
bool isFolder(const std::string &path);
/// Whether both are there and are one regular file, by whatever names.
bool isSameFile(const std::string &a, const std::string &b);
/// The folder that a path lies in: "." or "/" where it has none.
std::string folderOf(const std::string &path);
/// Names in a folder, sorted; none where it cannot be read.
std::vector<std::string> listNames(const std::string &folder);
/// Throws Error where it can neither be made nor is there.
void makeFolder(const std::string &path);
/// A folder and the files in it; what cannot be removed stays. Returns whether
/// all is gone.
bool removeFolder(const std::string &path);
/// Makes the names in a folder survive a crash of the machine.
void syncFolder(const std::string &path);

/// A file that several ranks write at offsets of their own: opening it makes it
/// if it is not there. Every member throws Error, with the path.
class SharedFile {
public:
  explicit SharedFile(std::string path);
  ~SharedFile();
  SharedFile(const SharedFile &) = delete;
  SharedFile &operator=(const SharedFile &) = delete;

  void write(const void *data, int64_t bytes, int64_t offset);
  /// Takes the disk space, where the file system can.
  void resize(int64_t bytes);
  /// Waits until what this process wrote is on the disk.
  void sync();

private:
  [[noreturn]] void fail(int error) const;

  std::string path;
  int fd = -1;
};

/// A whole file of text, on the disk when this returns.
void writeText(const std::string &path, const std::string &text);
/// Throws Error.
std::string readText(const std::string &path);

} // namespace dtc::rt
#endif // DTC_RUNTIME_FILESYSTEM_H
