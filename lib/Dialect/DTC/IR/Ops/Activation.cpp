//===- Activation.cpp - dtc.activation, dtc.activation_grad ---------------===//

#include "Common.h"
#include <cmath>

using namespace mlir;
using namespace dtc;

static constexpr double sqrt2OverPi = 0.79788456080286535588;
static constexpr double sqrt1Over2 = 0.70710678118654752440;
static constexpr double sqrt1Over2Pi = 0.39894228040143267794;

double dtc::activate(Activation function, double x) {
  switch (function) {
  case Activation::GeluTanh:
    return 0.5 * x * (1 + std::tanh(sqrt2OverPi * (x + 0.044715 * x * x * x)));
  case Activation::Gelu:
    return 0.5 * x * (1 + std::erf(x * sqrt1Over2));
  case Activation::Silu:
    return x / (1 + std::exp(-x));
  }
  llvm_unreachable("unknown activation");
}

double dtc::activateGrad(Activation function, double x) {
  switch (function) {
  case Activation::GeluTanh: {
    double t = std::tanh(sqrt2OverPi * (x + 0.044715 * x * x * x));
    return 0.5 * (1 + t) +
           0.5 * x * (1 - t * t) * sqrt2OverPi * (1 + 3 * 0.044715 * x * x);
  }
  case Activation::Gelu:
    return 0.5 * (1 + std::erf(x * sqrt1Over2)) +
           x * sqrt1Over2Pi * std::exp(-0.5 * x * x);
  case Activation::Silu: {
    double s = 1 / (1 + std::exp(-x));
    return s * (1 + x * (1 - s));
  }
  }
  llvm_unreachable("unknown activation");
}

//===----------------------------------------------------------------------===//
// ActivationOp
//===----------------------------------------------------------------------===//

FactorRule ActivationOp::getFactorRule() { return elementwiseRule(*this); }

SmallVector<Array> ActivationOp::interpret(const FactorPiece &piece,
                                           ArrayRef<Array> operands) {
  Array y = operands[0];
  for (double &x : y.data)
    x = activate(getFunction(), x);
  return {y};
}

std::optional<unsigned> ActivationOp::getInPlaceOperand(unsigned) { return 0; }

void ActivationOp::buildBackward(BackwardBuilder &bb) {
  Value dy = bb.cotangent(getResult());
  if (dy && bb.wants(getX()))
    bb.add(getX(), bb.create<ActivationGradOp>(
                       BackwardBuilder::conjugate(getX()), getFunctionAttr(),
                       bb.saved(getX()), dy));
}

//===----------------------------------------------------------------------===//
// ActivationGradOp
//===----------------------------------------------------------------------===//

FactorRule ActivationGradOp::getFactorRule() {
  return elementwiseRule(*this).linear({1});
}

SmallVector<Array> ActivationGradOp::interpret(const FactorPiece &piece,
                                               ArrayRef<Array> operands) {
  Array dx = operands[1];
  for (int64_t i = 0; i < dx.count(); ++i)
    dx[i] *= activateGrad(getFunction(), operands[0][i]);
  return {dx};
}

std::optional<unsigned> ActivationGradOp::getInPlaceOperand(unsigned) {
  return 1;
}
