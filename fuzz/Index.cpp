//===- Index.cpp - Any bytes as the index of sharded weights --------------===//

#include "dtc/Runtime/Error.h"
#include "dtc/Runtime/Weights.h"
#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace dtc::rt;

/// A safetensors file of one f32 tensor of two elements.
static void writeShard(const std::string &path, const std::string &name) {
  std::string head = "{\"" + name +
                     "\": {\"dtype\": \"F32\", \"shape\": [2], "
                     "\"data_offsets\": [0, 8]}}";
  uint64_t length = head.size();
  const float values[] = {1, 2};
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char *>(&length), sizeof(length));
  file << head;
  file.write(reinterpret_cast<const char *>(values), sizeof(values));
}

namespace {
struct Folder {
  Folder() {
    if (!mkdtemp(path.data()))
      abort();
    writeShard(path + "/a.safetensors", "a");
    writeShard(path + "/b.safetensors", "b");
  }
  ~Folder() { std::filesystem::remove_all(path); }

  std::string path = "/tmp/fuzz-index-XXXXXX";
};
} // namespace

/// The model's two weights are in two files beside the index.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const Folder folder;
  static const std::string path = folder.path + "/model.safetensors.index.json";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char *>(data), std::streamsize(size));
  Program program;
  for (const char *name : {"a", "b"}) {
    Tensor tensor;
    tensor.stored = name;
    tensor.storedShape = {2};
    program.tensors.push_back(tensor);
  }
  try {
    WeightFiles files(path, program);
    for (const char *name : {"a", "b"})
      if (files.get(name).elements() != 2)
        abort();
  } catch (const Error &) {
  }
  return 0;
}
