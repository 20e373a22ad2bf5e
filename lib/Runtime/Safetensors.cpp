//===- Safetensors.cpp - Reading and writing safetensors ------------------===//

#include "dtc/Runtime/Safetensors.h"
#include "dtc/Runtime/Error.h"
#include "dtc/Runtime/JsonInput.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>

using namespace dtc::rt;

MappedFile::MappedFile(const std::string &path) : name(path) {
  // A pipe that nobody writes must be refused, not waited for.
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    throw Error(cat("cannot open '", path, "': ", errnoText(errno)));
  struct stat info;
  int error = fstat(fd, &info) != 0 ? errno : 0;
  if (!error && !S_ISREG(info.st_mode)) {
    close(fd);
    throw Error(cat("'", path, "' is not a regular file"));
  }
  if (!error && info.st_size > 0) {
    bytes = info.st_size;
    void *p = mmap(nullptr, size_t(bytes), PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED)
      error = errno;
    else
      base = static_cast<const char *>(p);
  }
  close(fd);
  if (error)
    throw Error(cat("cannot read '", path, "': ", errnoText(error)));
}

MappedFile::~MappedFile() {
  if (base)
    munmap(const_cast<char *>(base), size_t(bytes));
}

int64_t SafetensorsEntry::elements() const {
  int64_t n = 1;
  for (int64_t d : shape)
    n *= d;
  return n;
}

int64_t dtc::rt::sizeOfType(const std::string &dtype) {
  static const std::pair<const char *, int64_t> sizes[] = {
      {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E4M3", 1}, {"F8_E5M2", 1},
      {"I16", 2},  {"U16", 2}, {"F16", 2}, {"BF16", 2},    {"I32", 4},
      {"U32", 4},  {"F32", 4}, {"I64", 8}, {"U64", 8},     {"F64", 8}};
  for (auto &[name, size] : sizes)
    if (dtype == name)
      return size;
  return 0;
}

std::vector<SafetensorsEntry>
dtc::rt::parseSafetensors(const char *data, int64_t size,
                          const std::string &where) {
  constexpr int64_t mostHeader = 100'000'000; // as in the reference reader
  if (size < 8)
    throw Error(cat(where, ": not a safetensors file: it has ", size,
                    " bytes, less than the length of a header"));
  uint64_t headerSize;
  memcpy(&headerSize, data, 8);
  if (headerSize > uint64_t(mostHeader))
    throw Error(cat(where, ": not a safetensors file: its header would have ",
                    headerSize, " bytes"));
  if (int64_t(headerSize) > size - 8)
    throw Error(cat(where, ": truncated: the header has ", headerSize,
                    " bytes, the file ends after ", size - 8));
  int64_t dataSize = size - 8 - int64_t(headerSize);
  const char *body = data + 8 + headerSize;

  struct Placed : SafetensorsEntry {
    int64_t begin, end;
  };
  std::vector<Placed> placed;
  Json header = parseJson({data + 8, size_t(headerSize)}, where + ": header");
  if (!header.is_object())
    throw Error(where + ": header: an object is expected");
  for (auto &[key, value] : header.items()) {
    if (key == "__metadata__") {
      if (!value.is_object())
        throw Error(where + ": __metadata__ is not an object");
      for (auto &[k, v] : value.items())
        if (!v.is_string())
          throw Error(where + ": __metadata__ has a value that is no string");
      continue;
    }
    ObjectReader reader(value, cat(where, ": tensor '", key, "'"));
    Placed entry;
    entry.name = key;
    entry.dtype = reader.text("dtype");
    int64_t elementSize = sizeOfType(entry.dtype);
    if (!elementSize)
      throw Error(
          cat(reader.location(), ": unknown dtype '", entry.dtype, "'"));
    const Json &shape = reader.member("shape");
    const Json &offsets = reader.member("data_offsets");
    reader.finish("dtype, shape, data_offsets");
    if (!shape.is_array() || !offsets.is_array() || offsets.size() != 2)
      throw Error(reader.location() +
                  ": shape or data_offsets is not as it must be");
    auto natural = [&](const Json &n) {
      if (!n.is_number_unsigned() || n.get<uint64_t>() > uint64_t(INT64_MAX))
        throw Error(cat(reader.location(), ": ", n.dump(), " is not a length"));
      return int64_t(n.get<uint64_t>());
    };
    int64_t bytes = elementSize;
    for (const Json &n : shape) {
      entry.shape.push_back(natural(n));
      if (__builtin_mul_overflow(bytes, entry.shape.back(), &bytes))
        throw Error(reader.location() + ": its shape overflows");
    }
    entry.begin = natural(offsets[0]);
    entry.end = natural(offsets[1]);
    if (entry.begin > entry.end || entry.end > dataSize)
      throw Error(cat(reader.location(), ": its data is at bytes ", entry.begin,
                      " to ", entry.end, ", the file has ", dataSize,
                      entry.begin <= entry.end ? " (truncated?)" : ""));
    if (entry.end - entry.begin != bytes)
      throw Error(cat(reader.location(), ": its shape ", shapeText(entry.shape),
                      " of ", entry.dtype, " needs ", bytes,
                      " bytes, its data has ", entry.end - entry.begin));
    entry.data = body + entry.begin;
    placed.push_back(std::move(entry));
  }

  std::sort(placed.begin(), placed.end(), [](const Placed &a, const Placed &b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  int64_t end = 0;
  for (size_t i = 0; i < placed.size(); ++i) {
    if (placed[i].begin < end)
      throw Error(cat(where, ": the data of '", placed[i - 1].name, "' and '",
                      placed[i].name, "' overlap"));
    if (placed[i].begin > end)
      throw Error(cat(where, ": bytes ", end, " to ", placed[i].begin,
                      " belong to no tensor"));
    end = placed[i].end;
  }
  if (end != dataSize)
    throw Error(cat(where, ": ", dataSize - end,
                    " bytes behind the last tensor belong to none"));
  return {placed.begin(), placed.end()};
}

SafetensorsFile::SafetensorsFile(const std::string &path)
    : mapped(path), list(parseSafetensors(mapped.data(), mapped.size(), path)) {
}

const SafetensorsEntry *SafetensorsFile::find(const std::string &name) const {
  for (const SafetensorsEntry &entry : list)
    if (entry.name == name)
      return &entry;
  return nullptr;
}

static double halfToDouble(uint16_t bits) {
  int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  double value;
  if (exponent == 31)
    value = mantissa ? std::nan("") : INFINITY;
  else if (exponent == 0)
    value = std::ldexp(mantissa, -24);
  else
    value = std::ldexp(1024 + mantissa, exponent - 25);
  return bits >> 15 ? -value : value;
}

// The data follows a header of any length: it may be unaligned.
template <typename T> static T load(const char *data, int64_t i) {
  T x;
  memcpy(&x, data + int64_t(sizeof(T)) * i, sizeof(T));
  return x;
}

FloatLoader dtc::rt::floatLoader(const std::string &dtype) {
  if (dtype == "F32")
    return [](const char *data, int64_t i) {
      return double(load<float>(data, i));
    };
  if (dtype == "F64")
    return load<double>;
  if (dtype == "F16")
    return [](const char *data, int64_t i) {
      return halfToDouble(load<uint16_t>(data, i));
    };
  if (dtype == "BF16")
    return [](const char *data, int64_t i) {
      uint32_t wide = uint32_t(load<uint16_t>(data, i)) << 16;
      return double(load<float>(reinterpret_cast<const char *>(&wide), 0));
    };
  return nullptr;
}

std::string
dtc::rt::safetensorsHeader(const std::vector<SafetensorsItem> &items) {
  Json header = Json::object();
  header["__metadata__"]["format"] = "pt";
  int64_t at = 0;
  for (const SafetensorsItem &item : items) {
    int64_t bytes = sizeOfType(item.dtype);
    for (int64_t n : item.shape)
      bytes *= n;
    header[item.name] = {{"dtype", item.dtype},
                         {"shape", item.shape},
                         {"data_offsets", {at, at + bytes}}};
    at += bytes;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  uint64_t size = text.size();
  return std::string(reinterpret_cast<const char *>(&size), 8) + text;
}

SafetensorsWriter::SafetensorsWriter(const std::string &path,
                                     const std::vector<Item> &items)
    : file(path) {
  std::vector<SafetensorsItem> list;
  for (const Item &item : items) {
    int64_t bytes = 4;
    for (int64_t n : item.shape)
      bytes *= n;
    missing += bytes;
    list.push_back({item.name, "F32", item.shape});
  }
  std::string header = safetensorsHeader(list);
  file.write(header.data(), header.size());
}

void SafetensorsWriter::write(const float *data, int64_t elements) {
  file.write(data, size_t(elements) * 4);
  missing -= elements * 4;
}

void SafetensorsWriter::finish() {
  if (missing != 0)
    throw Error("internal error: a safetensors file lacks data");
  file.commit();
}
