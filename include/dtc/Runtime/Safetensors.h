//===- Safetensors.h - Reading and writing safetensors ----------*- C++ -*-===//

#ifndef DTC_RUNTIME_SAFETENSORS_H
#define DTC_RUNTIME_SAFETENSORS_H

#include "dtc/Runtime/AtomicFile.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace dtc::rt {

/// A file mapped for reading.
class MappedFile {
public:
  explicit MappedFile(const std::string &path);
  ~MappedFile();
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;

  const char *data() const { return base; }
  int64_t size() const { return bytes; }
  const std::string &path() const { return name; }

private:
  std::string name;
  const char *base = nullptr;
  int64_t bytes = 0;
};

struct SafetensorsEntry {
  std::string name, dtype;
  std::vector<int64_t> shape;
  const char *data = nullptr;

  int64_t elements() const;
};

/// The tensors of one file, in the order of their data. The whole header is
/// checked before anything is used; `data` need not be aligned.
class SafetensorsFile {
public:
  explicit SafetensorsFile(const std::string &path);

  const std::vector<SafetensorsEntry> &entries() const { return list; }
  const SafetensorsEntry *find(const std::string &name) const;
  const MappedFile &file() const { return mapped; }

private:
  MappedFile mapped;
  std::vector<SafetensorsEntry> list;
};

/// The header (with its length) and the tensors of a buffer in memory.
std::vector<SafetensorsEntry> parseSafetensors(const char *data, int64_t size,
                                               const std::string &where);

/// Reads element i of floating-point data.
using FloatLoader = double (*)(const char *data, int64_t i);
/// For F64, F32, F16 and BF16; null for every other dtype.
FloatLoader floatLoader(const std::string &dtype);

/// Bytes of an element; 0 for an unknown dtype.
int64_t sizeOfType(const std::string &dtype);

struct SafetensorsItem {
  std::string name, dtype;
  std::vector<int64_t> shape;
};

/// The header of a file, with its length, of tensors that lie in this order.
/// The data begins at a multiple of 8 bytes.
std::string safetensorsHeader(const std::vector<SafetensorsItem> &items);

/// Writes F32 tensors one after the other; the file appears at finish().
class SafetensorsWriter {
public:
  struct Item {
    std::string name;
    std::vector<int64_t> shape;
  };
  SafetensorsWriter(const std::string &path, const std::vector<Item> &items);
  /// The next tensor's elements.
  void write(const float *data, int64_t elements);
  void finish();

private:
  AtomicFile file;
  int64_t missing = 0;
};

} // namespace dtc::rt
#endif // DTC_RUNTIME_SAFETENSORS_H
