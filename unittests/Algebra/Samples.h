//===- Samples.h - What the generated tests of ops work on ------*- C++ -*-===//
//
// Everything here knows ops through their interfaces only: the samples of
// sample-ops.mlir are all that names them.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_UNITTESTS_ALGEBRA_SAMPLES_H
#define DTC_UNITTESTS_ALGEBRA_SAMPLES_H

#include "dtc/Interpreter/Interpreter.h"
#include <functional>
#include <string>

namespace dtc::test {

/// The context of all tests, with the dialects and the parsed samples.
mlir::MLIRContext &getContext();

/// One op, and logical values for its operands.
struct Sample {
  std::string name;
  mlir::Operation *op;
  FactorRule rule; // on logical types
  std::vector<Array> operands;
  /// One for each float result that has a cotangent.
  std::vector<std::optional<Array>> cotangents;
  /// What the op itself gives on one device. Gradients: by operand, where its
  /// derivative gives one.
  std::vector<Array> results;
  std::vector<std::optional<Array>> gradients;

  bool isDifferentiable() const;
  std::vector<DTensorType> logicalTypes() const; // operands, then results
};

/// Every sample; parsed once. A failure to parse is reported by
/// getSampleErrors().
const std::vector<Sample> &getSamples();
std::string getSampleErrors();
const Sample &getSample(llvm::StringRef name);

/// A mesh, and the parts of its axes that a test assigns.
struct TestMesh {
  std::string name;
  MeshAttr mesh;
  AxisList atoms;
};
Axis axis(llvm::StringRef name, int64_t size, int64_t pre = 1);
TestMesh makeMesh(std::string name, llvm::ArrayRef<Axis> axes,
                  llvm::ArrayRef<Axis> atoms = {});
/// A:2, A:3, A:4 whole and in parts, A:2 x B:2, A:2 x B:3.
std::vector<TestMesh> getMeshes();

/// Every way to use every atom: on a factor, on two at once, or on none; and,
/// where two atoms share a factor, in either order.
std::vector<Assignment> getAssignments(const FactorRule &rule,
                                       llvm::ArrayRef<Axis> atoms);

/// Whether the type's own constraints hold.
bool exists(DTensorType type);

/// The types of the op's values under an assignment, lengths padded to what its
/// axes need and by `extra` where a factor may be padded. None where such types
/// do not exist: a factor whose pieces must be equal is not divisible, or an
/// axis would cut one value twice.
std::optional<std::vector<DTensorType>> getTypes(const Sample &sample,
                                                 const FactorRule &rule,
                                                 const Assignment &assignment,
                                                 int64_t extra = 0);

/// The outcome of running an op under some types.
enum class Verdict {
  Rejected,    // the verifier refuses the op
  IllBackward, // the op is accepted, its derivative is refused
  Wrong,       // accepted, and not the whole op's numbers
  Right,
};
struct Outcome {
  Verdict verdict;
  std::string message;
};

/// Runs the op of a sample under types (operands, then results), forward and,
/// where it has a derivative, backward, and compares with one device.
Outcome tryTypes(const Sample &sample, llvm::ArrayRef<DTensorType> types,
                 MeshAttr mesh);

/// The forward alone, with another declaration than the op's own and without
/// its verifier: for testing that wrong declarations are seen.
Outcome tryRule(const Sample &sample, const FactorRule &declared,
                llvm::ArrayRef<DTensorType> types, MeshAttr mesh);

/// Runs the op on one device on other operands.
std::vector<Array> runLogical(const Sample &sample,
                              llvm::ArrayRef<Array> operands);

std::string toString(llvm::ArrayRef<DTensorType> types, unsigned numOperands);

} // namespace dtc::test

#endif // DTC_UNITTESTS_ALGEBRA_SAMPLES_H
