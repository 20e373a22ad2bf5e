//===- ProgramData.h - What an interpreted program works on -----*- C++ -*-===//
//
// Inputs and parameters, logical. Numbers are drawn by name and by index of
// the stored tensor, so that every program over the same stored tensors gets
// the same ones, whatever its order, placements and views are.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_INTERPRETER_PROGRAMDATA_H
#define DTC_INTERPRETER_PROGRAMDATA_H

#include "dtc/Dialect/DTC/IR/DTC.h"
#include "dtc/Interpreter/Array.h"
#include <map>
#include <string>

namespace dtc {

class ProgramData {
public:
  explicit ProgramData(uint64_t seed) : seed(seed) {}

  /// Ids and labels are drawn below this.
  int64_t vocabulary = 2;
  /// The length of the dimensions named "vocab" in a module's parameters.
  static int64_t getVocabulary(mlir::ModuleOp module);

  /// Takes the place of what is drawn for an input.
  void setInput(llvm::StringRef name, Array value) {
    inputs[name.str()] = std::move(value);
  }
  /// Moments are zero instead of drawn, as before the first step.
  bool zeroMoments = false;

  /// Each parameter is off by about this fraction, at random: how much results
  /// move then says how much rounding may move them.
  double perturbation = 0;

  /// Takes the place of what is drawn for a stored tensor. Once one is given,
  /// all must be.
  void setStored(llvm::StringRef name, Array value) {
    stored[name.str()] = std::move(value);
  }

  /// The value of `dtc.input = name`; failure where one that was given has
  /// another shape.
  mlir::FailureOr<Array> getInput(llvm::StringRef name, DTensorType type,
                                  EmitError emitError) const;
  /// A parameter's view of its stored tensor, or of what is kept of it.
  mlir::FailureOr<Array> getParam(ParamOp param, Slot slot,
                                  EmitError emitError) const;

  /// Moves one parameter by `step` along its direction (for finite
  /// differences); none if the name is empty.
  void move(llvm::StringRef param, double step) {
    moved = param.str();
    movedBy = step;
  }
  /// A random direction, of the parameter's shape.
  Array getDirection(ParamOp param) const;

private:
  uint64_t seed;
  std::map<std::string, Array> inputs, stored;
  std::string moved;
  double movedBy = 0;
};

} // namespace dtc

#endif // DTC_INTERPRETER_PROGRAMDATA_H
