//===- ProgramData.cpp - What an interpreted program works on -------------===//

#include "dtc/Interpreter/ProgramData.h"
#include "dtc/Interpreter/Pieces.h"
#include <cmath>

using namespace mlir;
using namespace dtc;

int64_t ProgramData::getVocabulary(ModuleOp module) {
  int64_t vocabulary = 0;
  for (auto param : module.getOps<ParamOp>())
    for (auto [d, name] : llvm::enumerate(param.getDims()))
      if (cast<StringAttr>(name).getValue() == "vocab")
        vocabulary = std::max(vocabulary, param.getTensorType().getShape()[d]);
  return vocabulary ? vocabulary : 2;
}

static int64_t rowLength(const Array &x) {
  return x.shape.empty() ? 1 : x.shape.back();
}

/// Documents are runs of equal numbers along the last dimension.
static void drawDocuments(Array &x, Random &random) {
  int64_t n = rowLength(x);
  for (int64_t i = 0; i < x.count(); ++i)
    x[i] = i % n == 0 ? 0 : x[i - 1] + (random.below(4) == 0);
}

/// As dtc.clip lists them, for the third step of a training. The norm of random
/// gradients is above the clip, so that clipping shows.
static void setOptimizer(Array &x) {
  const double lr = 0.01, beta1 = 0.9, beta2 = 0.95;
  const double scalars[] = {lr,
                            beta1,
                            beta2,
                            1e-8,
                            0.1,
                            1 - std::pow(beta1, 3),
                            1 - std::pow(beta2, 3),
                            0.5};
  for (int64_t i = 0; i < x.count(); ++i)
    x[i] = i < 8 ? scalars[i] : 0;
}

FailureOr<Array> ProgramData::getInput(StringRef name, DTensorType type,
                                       EmitError emitError) const {
  if (auto it = inputs.find(name.str()); it != inputs.end()) {
    if (ArrayRef<int64_t>(it->second.shape) == type.getShape())
      return it->second;
    if (emitError) {
      auto diag = emitError() << "input '" << name << "' is " << type
                              << " but the given value has shape [";
      llvm::interleaveComma(it->second.shape, diag);
      diag << "]";
    }
    return failure();
  }
  Array x(type.getShape());
  Random random(seed, ("input " + name).str());
  if (name == "document_ids") {
    drawDocuments(x, random);
  } else if (name == "optimizer") {
    setOptimizer(x);
  } else if (name == "rng") {
    for (double &v : x.data)
      v = static_cast<double>(random.below(1000));
  } else {
    for (double &v : x.data)
      v = type.isInteger() ? static_cast<double>(random.below(vocabulary))
                           : random.normal();
    if (name == "labels")
      for (double &v : x.data)
        if (random.below(5) == 0)
          v = -100;
  }
  return x;
}

Array ProgramData::getDirection(ParamOp param) const {
  Array x(param.getTensorType().getShape());
  Random random(seed, ("direction " + param.getSymName()).str());
  for (double &v : x.data)
    v = random.normal();
  return x;
}

FailureOr<Array> ProgramData::getParam(ParamOp param, Slot slot,
                                       EmitError emitError) const {
  // The parameter is its master's rounded copy.
  if (slot == Slot::Master)
    slot = Slot::Param;
  const Array *given = nullptr;
  if (slot == Slot::Param && !stored.empty()) {
    auto it = stored.find(param.getStored().str());
    if (it == stored.end()) {
      if (emitError)
        emitError() << "stored tensor '" << param.getStored()
                    << "' is not among the given ones";
      return failure();
    }
    given = &it->second;
  }
  if (given && ArrayRef<int64_t>(given->shape) != param.getStoredShape()) {
    if (emitError)
      emitError() << "stored tensor '" << param.getStored()
                  << "' was given with another shape than "
                  << param.getSymNameAttr() << " says";
    return failure();
  }
  Random random(seed, (stringifySlot(slot) + " " + param.getStored()).str());
  Random off(seed, ("perturbation " + param.getStored()).str());
  int64_t offset;
  SmallVector<int64_t> strides;
  param.getFlatView(offset, strides);
  double around = param.getInit() == "ones" ? 1 : 0;
  Array x(param.getTensorType().getShape());
  int64_t k = 0;
  forEachIndex(x.shape, [&](ArrayRef<int64_t> index) {
    int64_t at = offset;
    for (auto [i, stride] : llvm::zip_equal(index, strides))
      at += i * stride;
    double z = given ? 0 : random.normalAt(at);
    switch (slot) {
    case Slot::Param:
      // Larger than any initial value, so that wrong terms show.
      x[k] = given ? (*given)[at] : around + 0.3 * z;
      if (perturbation != 0)
        x[k] *= 1 + perturbation * off.normalAt(at);
      ++k;
      break;
    case Slot::Grad:
    case Slot::M:
      x[k++] = zeroMoments && slot == Slot::M ? 0 : 0.1 * z;
      break;
    case Slot::V:
      x[k++] = zeroMoments ? 0 : 0.01 * z * z;
      break;
    case Slot::Master:
      llvm_unreachable("is the parameter");
    }
  });
  if (slot == Slot::Param && !moved.empty() && param.getSymName() == moved) {
    Array direction = getDirection(param);
    for (int64_t i = 0; i < x.count(); ++i)
      x[i] += movedBy * direction[i];
  }
  return x;
}
