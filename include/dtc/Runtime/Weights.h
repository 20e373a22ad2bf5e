//===- Weights.h - Parameters in and out of the arenas ----------*- C++ -*-===//

#ifndef DTC_RUNTIME_WEIGHTS_H
#define DTC_RUNTIME_WEIGHTS_H

#include "dtc/Runtime/Program.h"
#include "dtc/Runtime/Safetensors.h"
#include "dtc/Runtime/Transport.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dtc::rt {

/// The tensors of a weights file, a folder, or the shards of an index, checked
/// against the program: none missing, none superfluous, all of their shape.
class WeightFiles {
public:
  WeightFiles(const std::string &path, const Program &program);

  /// By canonical name; the program's are all there.
  const SafetensorsEntry &get(const std::string &stored) const;
  const std::vector<std::unique_ptr<SafetensorsFile>> &files() const {
    return list;
  }

private:
  void open(const std::string &path);
  void openIndex(const std::string &path);
  void add(std::unique_ptr<SafetensorsFile> file);
  void check(const std::string &path, const Program &program) const;

  std::vector<std::unique_ptr<SafetensorsFile>> list;
  std::map<std::string, const SafetensorsEntry *> byName;
};

/// Writes a rank's pieces of the parameters and of their master copies, and
/// zeros into the moments.
/// `files` null: random initial weights.
void initializeParameters(const Program &program, int64_t rank, char *arena,
                          const WeightFiles *files, uint32_t seed);

/// Writes whole stored tensors, as f32, from the pieces that the ranks have in
/// `slot` (for a parameter: in its master copy, if there is one), each from the
/// first pipeline coordinate that has it. Called by all ranks; rank 0 writes.
/// Throws Error where copies differ (checkReplicas).
void writeTensors(const Program &program, dtc_rank &rank, const char *arena,
                  Slot slot, const std::string &path);

/// Compares, by hash, all copies of each piece in `slot`: those of ranks that
/// differ on axes that do not cut it, and those of a tied weight on several
/// pipeline coordinates. Called by all ranks; rank 0 throws Error, which names
/// ranks and tensor, where their bits differ.
void checkReplicas(const Program &program, dtc_rank &rank, const char *arena,
                   Slot slot);

/// Index of the first tensor whose gradient on this rank is not finite; the
/// number of tensors where there is none.
int64_t firstBadGradient(const Program &program, int64_t rank,
                         const char *arena);

} // namespace dtc::rt
#endif // DTC_RUNTIME_WEIGHTS_H
