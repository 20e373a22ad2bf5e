//===- Batches.cpp - Any bytes as training data ---------------------------===//

#include "InMemory.h"
#include "dtc/Runtime/Data.h"
#include "dtc/Runtime/Error.h"
#include <vector>

using namespace dtc::rt;

static Program smallProgram(bool documents) {
  Program program;
  program.batch = 2;
  program.seq = 3;
  program.vocab = 300;
  program.documents = documents;
  return program;
}

/// What passes the check can be read, and lies in the vocabulary.
static void readAll(const DataSource &source, const Program &program) {
  int64_t samples = std::min<int64_t>(source.samples(), 4 * program.batch);
  source.check(0, samples);
  std::vector<int32_t> row(size_t(program.seq));
  for (int64_t sample = 0; sample < samples; ++sample)
    for (InputKind kind :
         {InputKind::Ids, InputKind::Labels, InputKind::Documents}) {
      if (kind == InputKind::Documents && !program.documents)
        continue;
      source.read(kind, sample, 0, program.seq, row.data());
      for (int32_t x : row)
        if (kind == InputKind::Documents
                ? x < 0
                : (x < 0 || x >= program.vocab) && x != -100)
          abort();
    }
}

/// The first byte says what kind of file the others are.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  InMemoryFile file(data + 1, size - 1);
  Program program = smallProgram(data[0] & 1);
  try {
    int kind = data[0] >> 1 & 3;
    auto source =
        kind < 2 ? openBatches(file.path(), program)
                 : openTokens(file.path(), kind == 2 ? 1 : 2, data[0], program);
    readAll(*source, program);
  } catch (const Error &) {
  }
  return 0;
}
