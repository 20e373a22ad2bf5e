//===- Check.h - A partitioned step against the logical one -----*- C++ -*-===//

#ifndef DTC_TOOLS_FUZZ_CHECK_H
#define DTC_TOOLS_FUZZ_CHECK_H

#include "dtc/Tools/Fuzz/Case.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include <functional>

namespace dtc::fuzz {

enum class Verdict : uint8_t {
  Agrees,
  Refused,    ///< with an error, as a user would see it
  Invalid,    ///< a pass left a program that does not verify
  Unreadable, ///< the printed program does not parse to the same one
  Uncomputed, ///< the interpreter cannot run the program
  Differs,    ///< other numbers
  Crashed,
  TimedOut,
};
const char *toString(Verdict verdict);
inline bool isFailure(Verdict v) {
  return v != Verdict::Agrees && v != Verdict::Refused;
}

struct Outcome {
  Verdict verdict = Verdict::Agrees;
  std::string message;
  /// Whether the program was compiled and run, too.
  bool compiled = false;
};

struct CheckOptions {
  uint64_t dataSeed = 1;
  /// What interpreted numbers may be off by: a part of a tensor's largest one,
  /// more in a model that amplifies rounding.
  double tolerance = 1e-9;
  /// Folder for rules and programs; exists.
  std::string folder;
  /// Hold one gradient against slopes of the loss.
  bool slopes = false;
  /// Print the last program, and read it again.
  bool reread = false;
  /// Run the passes below the dtc level: buffers, plan, pointers.
  bool lower = false;
  /// Compile, run on all ranks, and hold against the interpreter.
  bool compile = false;
  /// Changes the partitioned program before it is interpreted: for tests of
  /// the fuzzer, which must see it.
  std::function<void(mlir::ModuleOp)> damage;
  /// Path of this tool; the runtime library lies beside it.
  std::string toolPath;
};

/// Dialects and passes that a check needs.
void registerForChecks(mlir::DialectRegistry &registry);

/// Partitions the model, and compares loss, gradients, norm, moments and
/// updated weights with the model's step on one device, and the loss with the
/// model as it stands.
Outcome check(mlir::MLIRContext &context, const std::string &model,
              const Settings &settings, const CheckOptions &options);

} // namespace dtc::fuzz

#endif // DTC_TOOLS_FUZZ_CHECK_H
