//===- Data.cpp - Training data -------------------------------------------===//

#include "dtc/Runtime/Data.h"
#include "dtc/Runtime/Error.h"
#include "dtc/Runtime/Philox.h"

#include <cstring>

using namespace dtc::rt;

constexpr int64_t ignoredLabel = -100;

uint64_t dtc::rt::permuted(uint64_t index, uint64_t n, uint32_t seed,
                           uint32_t epoch) {
  // A Feistel network permutes [0, 4^half); walking along its cycle until a
  // value below n comes permutes [0, n). 4^half < 4 n, so walks are short.
  int half = 1;
  while (half < 32 && (uint64_t(1) << (2 * half)) < n)
    ++half;
  uint64_t mask = (uint64_t(1) << half) - 1;
  do {
    uint64_t left = index >> half, right = index & mask;
    for (uint32_t round = 0; round < 6; ++round) {
      // counter[3] sets these numbers apart from those of initial weights.
      uint32_t f = philox4x32_10({uint32_t(right), round, epoch, 0x53414d50u},
                                 {seed, 0})[0];
      uint64_t next = left ^ (f & mask);
      left = right;
      right = next;
    }
    index = left << half | right;
  } while (index >= n);
  return index;
}

namespace {

class Batches : public DataSource {
public:
  Batches(const std::string &path, const Program &program)
      : program(program), safetensors(path) {
    for (const SafetensorsEntry &entry : safetensors.entries()) {
      Array *array = entry.name == "input_ids"      ? &ids
                     : entry.name == "labels"       ? &labels
                     : entry.name == "document_ids" ? &documents
                                                    : nullptr;
      if (!array)
        throw Error(cat(path, ": unknown tensor '", entry.name,
                        "'; batches have input_ids, labels and document_ids"));
      if (entry.dtype != "I32" && entry.dtype != "I64")
        throw Error(cat(path, ": '", entry.name, "' is ", entry.dtype,
                        "; it must be I32 or I64"));
      if (entry.shape.size() != 3 || entry.shape[1] != program.batch ||
          entry.shape[2] != program.seq)
        throw Error(cat(path, ": '", entry.name, "' has shape ",
                        shapeText(entry.shape), "; it must be [steps, ",
                        program.batch, ", ", program.seq,
                        "] as the program is compiled"));
      *array = {entry.data, entry.dtype == "I64", entry.shape[0]};
    }
    if (!ids.data || !labels.data)
      throw Error(
          cat(path, ": '", ids.data ? "labels" : "input_ids", "' is missing"));
    if (program.documents && !documents.data)
      throw Error(path + ": 'document_ids' is missing; the program is compiled "
                         "with --documents");
    if (!program.documents && documents.data)
      throw Error(path + ": 'document_ids' is there, but the program is "
                         "compiled without --documents");
    for (const Array *array : {&labels, &documents})
      if (array->data && array->steps != ids.steps)
        throw Error(path + ": the tensors differ in their number of steps");
  }

  int64_t samples() const override { return ids.steps * program.batch; }
  const MappedFile &file() const override { return safetensors.file(); }

  void read(InputKind input, int64_t sample, int64_t column, int64_t n,
            int32_t *out) const override {
    const Array &array = arrayOf(input);
    int64_t at = sample * program.seq + column;
    for (int64_t i = 0; i < n; ++i)
      out[i] = int32_t(array.at(at + i));
  }

  void check(int64_t begin, int64_t end) const override {
    begin *= program.seq;
    end *= program.seq;
    checkRange("input_ids", ids, begin, end, INT64_MAX);
    checkRange("labels", labels, begin, end, ignoredLabel);
    if (!documents.data)
      return;
    for (int64_t i = begin; i < end; ++i)
      if (int64_t d = documents.at(i); d < 0 || d > INT32_MAX)
        bad("document_ids", i, d, "document ids lie in [0, 2^31)");
  }

private:
  struct Array {
    const char *data = nullptr;
    bool wide = false;
    int64_t steps = 0;

    int64_t at(int64_t i) const {
      if (wide) {
        int64_t x;
        memcpy(&x, data + 8 * i, 8);
        return x;
      }
      int32_t x;
      memcpy(&x, data + 4 * i, 4);
      return x;
    }
  };

  const Array &arrayOf(InputKind input) const {
    return input == InputKind::Ids      ? ids
           : input == InputKind::Labels ? labels
                                        : documents;
  }

  void checkRange(const char *name, const Array &array, int64_t begin,
                  int64_t end, int64_t allowed) const {
    for (int64_t i = begin; i < end; ++i)
      if (int64_t x = array.at(i);
          (x < 0 || x >= program.vocab) && x != allowed)
        bad(name, i, x,
            cat("the vocabulary has ", program.vocab, " entries, 0 to ",
                program.vocab - 1,
                allowed == ignoredLabel ? " (and -100 is ignored)" : ""));
  }

  [[noreturn]] void bad(const char *name, int64_t i, int64_t value,
                        const std::string &rule) const {
    int64_t seq = program.seq, batch = program.batch;
    throw Error(cat(safetensors.file().path(), ": ", name, " at step ",
                    i / (seq * batch), ", row ", i / seq % batch, ", column ",
                    i % seq, " is ", value, "; ", rule));
  }

  const Program &program;
  SafetensorsFile safetensors;
  Array ids, labels, documents;
};

class Tokens : public DataSource {
public:
  Tokens(const std::string &path, int tokenBytes, uint32_t seed,
         const Program &program)
      : program(program), mapped(path), width(tokenBytes), seed(seed) {
    if (width == 1 && program.vocab < 256)
      throw Error(cat("--text: the vocabulary has ", program.vocab,
                      " entries; bytes need 256"));
    if (mapped.size() % width)
      throw Error(cat(path, ": ", mapped.size(), " bytes are no multiple of ",
                      width, ", the bytes of a token"));
    int64_t tokens = mapped.size() / width;
    const char *unit = width == 1 ? "bytes" : "tokens";
    if (tokens < program.seq + 1)
      throw Error(cat(path, ": ", tokens, " ", unit,
                      ", less than one sample, which has ", program.seq + 1,
                      " (sequence length + 1)"));
    windows = uint64_t(tokens - 1) / uint64_t(program.seq);
  }

  int64_t samples() const override { return INT64_MAX; }
  const MappedFile &file() const override { return mapped; }

  void read(InputKind input, int64_t number, int64_t column, int64_t n,
            int32_t *out) const override {
    if (input == InputKind::Documents) {
      // One document: windows know no borders.
      std::fill(out, out + n, 0);
      return;
    }
    uint64_t sample = uint64_t(number);
    uint64_t window =
        permuted(sample % windows, windows, seed, uint32_t(sample / windows));
    int64_t at =
        int64_t(window) * program.seq + column + (input == InputKind::Labels);
    for (int64_t i = 0; i < n; ++i)
      out[i] = int32_t(token(at + i));
  }

  void check(int64_t, int64_t) const override {
    if (width == 1 || (width == 2 && program.vocab == 65536))
      return;
    int64_t tokens = mapped.size() / width;
    for (int64_t i = 0; i < tokens; ++i)
      if (token(i) >= uint64_t(program.vocab))
        throw Error(cat(mapped.path(), ": token ", i, " is ", token(i),
                        "; the vocabulary has ", program.vocab,
                        " entries, 0 to ", program.vocab - 1));
  }

private:
  uint64_t token(int64_t i) const {
    uint32_t x = 0;
    memcpy(&x, mapped.data() + i * width, size_t(width));
    return x;
  }

  const Program &program;
  MappedFile mapped;
  int width;
  uint32_t seed;
  uint64_t windows = 0;
};

} // namespace

std::unique_ptr<DataSource> dtc::rt::openBatches(const std::string &path,
                                                 const Program &program) {
  return std::make_unique<Batches>(path, program);
}

std::unique_ptr<DataSource> dtc::rt::openTokens(const std::string &path,
                                                int tokenBytes, uint32_t seed,
                                                const Program &program) {
  return std::make_unique<Tokens>(path, tokenBytes, seed, program);
}

InputFiller::InputFiller(const Program &program, int64_t rank) {
  for (const Input &input : program.of(rank).inputs) {
    InputKind kind = input.name == "input_ids" ? InputKind::Ids
                     : input.name == "labels"  ? InputKind::Labels
                                               : InputKind::Documents;
    input.forEachRun(rank, [&](int64_t local, const std::vector<int64_t> &index,
                               int64_t n) {
      // Dimensions before the last are the global batch, major to minor.
      int64_t row = 0;
      for (size_t d = 0; d + 1 < index.size(); ++d)
        row = row * input.shape[d] + index[d];
      runs.push_back({kind, input.offset + 4 * local, row, index.back(), n});
    });
  }
}

void InputFiller::fill(const DataSource &source, int64_t sample,
                       char *arena) const {
  for (const Run &run : runs)
    source.read(run.input, sample + run.row, run.column, run.length,
                reinterpret_cast<int32_t *>(arena + run.offset));
}
