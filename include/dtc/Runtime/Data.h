//===- Data.h - Training data -----------------------------------*- C++ -*-===//

#ifndef DTC_RUNTIME_DATA_H
#define DTC_RUNTIME_DATA_H

#include "dtc/Runtime/Program.h"
#include "dtc/Runtime/Safetensors.h"

#include <memory>
#include <string>

namespace dtc::rt {

enum class InputKind { Ids, Labels, Documents };

/// Where batches come from. Reading is safe from several threads at once and
/// allocates nothing.
class DataSource {
public:
  virtual ~DataSource() = default;

  /// Number of samples (sequences) that there are; INT64_MAX: no end.
  virtual int64_t samples() const = 0;
  /// Writes columns [column, column + n) of a sample.
  virtual void read(InputKind input, int64_t sample, int64_t column, int64_t n,
                    int32_t *out) const = 0;
  /// Checks samples [begin, end); throws Error.
  virtual void check(int64_t begin, int64_t end) const = 0;
  virtual const MappedFile &file() const = 0;
};

/// safetensors with input_ids, labels and, where the program takes documents,
/// document_ids.
std::unique_ptr<DataSource> openBatches(const std::string &path,
                                        const Program &program);

/// Bytes of any file (tokenBytes 1) or raw tokens of 2 or 4 bytes. Samples are
/// windows of seq + 1 tokens that begin every seq tokens; each epoch visits
/// every window once, in an order that depends on the seed and on the global
/// index of the sample only.
std::unique_ptr<DataSource> openTokens(const std::string &path, int tokenBytes,
                                       uint32_t seed, const Program &program);

/// Writes one rank's pieces of a step's inputs into its arena. The rows of the
/// global batch are the samples from `sample` on.
class InputFiller {
public:
  InputFiller(const Program &program, int64_t rank);
  void fill(const DataSource &source, int64_t sample, char *arena) const;

private:
  struct Run {
    InputKind input;
    int64_t offset, row, column, length;
  };
  std::vector<Run> runs;
};

/// A permutation of [0, n) that a Feistel network over Philox draws:
/// where `index` goes in epoch `epoch`.
uint64_t permuted(uint64_t index, uint64_t n, uint32_t seed, uint32_t epoch);

} // namespace dtc::rt
#endif // DTC_RUNTIME_DATA_H
