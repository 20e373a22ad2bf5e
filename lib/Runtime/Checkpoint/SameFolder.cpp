//===- SameFolder.cpp - All ranks see one folder --------------------------===//

#include "dtc/Runtime/Checkpoint/SameFolder.h"
#include "dtc/Runtime/Error.h"
#include "dtc/Runtime/FileSystem.h"

#include <cstring>
#include <random>
#include <unistd.h>

using namespace dtc::rt;

/// What a rank writes at its place in the file.
static uint64_t signature(int64_t rank, uint64_t secret) {
  return secret ^ (uint64_t(rank) + 1) * 0x9E3779B97F4A7C15ull;
}

void dtc::rt::proveSameFolder(dtc_rank &rank, const std::string &folder) {
  Unwatched fileWork(rank);
  int32_t numbers[4] = {}; // the maximum over the ranks is rank 0's
  if (rank.id == 0) {
    makeFolder(folder);
    std::random_device random;
    for (int32_t &number : numbers)
      number = int32_t(random() >> 1);
  }
  agree(rank, numbers);
  uint64_t secret[2];
  memcpy(secret, numbers, sizeof(secret));
  std::string name = cat(folder, "/.dtc-", numbers[0], "-", numbers[1]);
  if (rank.id == 0)
    writeText(name, {reinterpret_cast<const char *>(secret), sizeof(secret)});
  barrier(rank);

  std::string problem;
  try {
    std::string text = readText(name);
    if (text.size() < sizeof(secret) ||
        memcmp(text.data(), secret, sizeof(secret)) != 0)
      throw Error(cat("'", name, "' has not what rank 0 wrote"));
    uint64_t mine = signature(rank.id, secret[0]);
    SharedFile file(name);
    file.write(&mine, 8, int64_t(sizeof(secret)) + 8 * rank.id);
    file.sync();
  } catch (const Error &e) {
    problem = e.what();
  }
  barrier(rank);
  int32_t first[4] = {problem.empty() ? 0 : int32_t(rank.count - rank.id), 0, 0,
                      0};
  if (rank.id == 0) {
    std::string text = readText(name);
    unlink(name.c_str());
    for (int64_t i = rank.count; i-- > 0;) {
      uint64_t theirs = 0;
      size_t at = sizeof(secret) + 8 * size_t(i);
      if (at + 8 <= text.size())
        memcpy(&theirs, text.data() + at, 8);
      if (theirs != signature(i, secret[0]))
        first[0] = std::max(first[0], int32_t(rank.count - i));
    }
  }
  agree(rank, first);
  if (!first[0])
    return;
  // The first such rank has something to say; the others wait for the end.
  if (rank.count - rank.id == first[0])
    throw Error(cat("--save: rank ", rank.id, " does not see the folder '",
                    folder, "' of rank 0",
                    problem.empty() ? "" : " (" + problem + ")",
                    "; all ranks must see one folder"));
  barrier(rank);
}
