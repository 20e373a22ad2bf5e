//===- Activation.cpp - Kernels of activation functions -------------------===//

#include "Loops.h"
#include "dtc/Codegen/VectorMath.h"
#include <cmath>

using namespace mlir;
using namespace dtc;

/// 1 / (1 + exp(-x)).
static Value sigmoid(Loops &k, Value x) {
  Value one = k.constant(1.0);
  Value e = codegen::emitExp(k.b, k.loc, k.op<arith::NegFOp>(x));
  return k.divf(one, k.addf(one, e));
}

/// f64 has no inline error function: a call for each lane.
static Value errorFunction(Loops &k, Value x) {
  if (!k.element.isF64())
    return k.op<math::ErfOp>(x);
  Value result = x;
  for (int64_t i = 0; i < k.lanes; ++i) {
    Value y = k.op<math::ErfOp>(k.op<vector::ExtractOp>(x, i).getResult());
    result = k.op<vector::InsertOp>(y, result, i);
  }
  return result;
}

namespace {
/// f(x) = x * factor, and f'(x) if wanted.
struct Activated {
  Value factor, derivative;
};
} // namespace

static Activated activate(Loops &k, Activation function, Value x,
                          bool derivative) {
  Value one = k.constant(1.0);
  Activated result;
  switch (function) {
  case Activation::Silu: {
    Value s = result.factor = sigmoid(k, x);
    if (derivative) {
      Value rest = k.mulf(x, k.subf(one, s));
      result.derivative = k.fma(s, rest, s);
    }
    break;
  }
  case Activation::GeluTanh: {
    // (1 + tanh u) / 2 = sigmoid(2u), which keeps its digits near zero.
    double c = 2 * std::sqrt(2 / M_PI);
    Value square = k.mulf(x, x);
    Value u = k.mulf(x, k.fma(square, k.constant(0.044715 * c), k.constant(c)));
    Value s = result.factor = sigmoid(k, u);
    if (derivative) {
      Value du = k.fma(square, k.constant(3 * 0.044715 * c), k.constant(c));
      Value slope = k.mulf(s, k.subf(one, s));
      result.derivative = k.fma(k.mulf(x, slope), du, s);
    }
    break;
  }
  case Activation::Gelu: {
    Value half = k.constant(0.5);
    Value erf = errorFunction(k, k.mulf(x, k.constant(std::sqrt(0.5))));
    Value phi = result.factor = k.fma(half, erf, half);
    if (derivative) {
      Value square = k.mulf(k.mulf(x, x), k.constant(-0.5));
      Value bell = k.mulf(codegen::emitExpBounded(k.b, k.loc, square),
                          k.constant(1 / std::sqrt(2 * M_PI)));
      result.derivative = k.fma(x, bell, phi);
    }
    break;
  }
  }
  return result;
}

LogicalResult ActivationOp::emitKernel(KernelBuilder &kb) {
  Loops k(*this, kb);
  if (failed(k.check()))
    return failure();
  k.elementwise(numElements(k.outShape(0)), k.in, k.out,
                [&](ArrayRef<Value> x, Value) {
                  Activated a = activate(k, getFunction(), x[0], false);
                  return SmallVector<Value>{k.mulf(x[0], a.factor)};
                });
  return success();
}

LogicalResult ActivationGradOp::emitKernel(KernelBuilder &kb) {
  Loops k(*this, kb);
  if (failed(k.check()))
    return failure();
  k.elementwise(numElements(k.outShape(0)), k.in, k.out,
                [&](ArrayRef<Value> x, Value) {
                  Activated a = activate(k, getFunction(), x[0], true);
                  return SmallVector<Value>{k.mulf(a.derivative, x[1])};
                });
  return success();
}

LogicalResult GatedProductOp::emitKernel(KernelBuilder &kb) {
  Loops k(*this, kb);
  if (failed(k.check()))
    return failure();
  k.elementwise(
      numElements(k.outShape(0)), k.in, k.out, [&](ArrayRef<Value> x, Value) {
        Activated a = activate(k, getFunction(), x[0], false);
        return SmallVector<Value>{k.mulf(k.mulf(x[0], a.factor), x[1])};
      });
  return success();
}

LogicalResult GatedProductGradOp::emitKernel(KernelBuilder &kb) {
  Loops k(*this, kb);
  if (failed(k.check()))
    return failure();
  k.elementwise(
      numElements(k.outShape(0)), k.in, k.out, [&](ArrayRef<Value> x, Value) {
        Value gate = x[0], up = x[1], dy = x[2];
        Activated a = activate(k, getFunction(), gate, true);
        return SmallVector<Value>{k.mulf(k.mulf(a.derivative, up), dy),
                                  k.mulf(k.mulf(gate, a.factor), dy)};
      });
  return success();
}
