//===- Einsum.cpp - dtc.einsum --------------------------------------------===//

#include "dtc/Dialect/DTC/IR/DTC.h"
#include <map>

using namespace mlir;
using namespace dtc;

namespace {
struct Equation {
  std::string lhs, rhs, out;
};
} // namespace

static Equation parseEquation(StringRef text) {
  auto [ins, out] = text.split("->");
  auto [lhs, rhs] = ins.split(",");
  return {lhs.str(), rhs.str(), out.str()};
}

static std::string spaced(StringRef letters) {
  std::string s;
  for (char c : letters) {
    s += c;
    s += ' ';
  }
  return s;
}

FactorRule EinsumOp::getFactorRule() {
  Equation e = parseEquation(getEquation());
  return FactorRule::get(*this, {spaced(e.lhs), spaced(e.rhs)}, {spaced(e.out)})
      .summed(0, "*")
      .linear({0})
      .linear({1});
}

double EinsumOp::getFlops() {
  Equation e = parseEquation(getEquation());
  std::map<char, int64_t> lengths;
  auto see = [&](StringRef letters, DTensorType type) {
    for (auto [c, n] : llvm::zip_equal(letters, type.getLocalShape()))
      lengths[c] = n;
  };
  see(e.lhs, getLhs().getType());
  see(e.rhs, getRhs().getType());
  double flops = 2;
  for (auto [c, n] : lengths)
    flops *= static_cast<double>(n);
  return flops;
}

LogicalResult EinsumOp::verify() {
  Equation e = parseEquation(getEquation());
  StringRef all = getEquation();
  if (all.count("->") != 1 || all.count(',') != 1)
    return emitOpError("equation must have the form LHS,RHS->OUT, but is '")
           << all << "'";
  for (const std::string &value : {e.lhs, e.rhs, e.out})
    for (auto [i, c] : llvm::enumerate(value)) {
      if (c < 'a' || c > 'z')
        return emitOpError("equation has letters a to z only, not '")
               << Twine(c) << "'";
      if (value.find(c, i + 1) != std::string::npos)
        return emitOpError("letter '")
               << Twine(c) << "' stands twice in '" << value << "'";
    }
  for (char c : e.out)
    if (e.lhs.find(c) == std::string::npos &&
        e.rhs.find(c) == std::string::npos)
      return emitOpError("letter '")
             << Twine(c) << "' of the result is in no operand";
  Type type = getType().getElementType();
  if (getLhs().getType().getElementType() != type ||
      getRhs().getType().getElementType() != type)
    return emitOpError("element types of operands and result differ");
  return success();
}

SmallVector<Array> EinsumOp::interpret(const FactorPiece &piece,
                                       ArrayRef<Array> operands) {
  const FactorRule &rule = piece.rule;
  Array x = piece.masked(0, operands[0]), y = piece.masked(1, operands[1]);
  Array z(piece.resultShape(0));
  SmallVector<int64_t> lengths;
  for (unsigned f = 0; f < rule.factors.size(); ++f)
    lengths.push_back(piece.lengthOf(f));
  auto at = [&](unsigned value, const Array &a, ArrayRef<int64_t> index) {
    int64_t o = 0;
    for (auto [d, dim] : llvm::enumerate(rule.value(value)))
      o = o * a.shape[d] + index[dim[0]];
    return o;
  };
  forEachIndex(lengths, [&](ArrayRef<int64_t> index) {
    z[at(2, z, index)] += x[at(0, x, index)] * y[at(1, y, index)];
  });
  return {z};
}

/// The cotangent of an operand with the letters `letters`, from a product that
/// may lack some of them: those that stood nowhere else were summed over, so
/// each of their elements has the same share.
static Value productOf(BackwardBuilder &bb, DTensorType type, StringRef letters,
                       StringRef lhs, StringRef rhs, Value x, Value y) {
  TensorSpec spec(type), core = spec;
  std::string kept;
  SmallVector<int64_t> alone;
  core.shape.clear();
  core.padded.clear();
  core.dims.clear();
  for (auto [d, c] : llvm::enumerate(letters)) {
    if (!lhs.contains(c) && !rhs.contains(c)) {
      alone.push_back(d);
      llvm::append_range(core.replicate, spec.dims[d]);
      continue;
    }
    kept += c;
    core.shape.push_back(spec.shape[d]);
    core.padded.push_back(spec.padded[d]);
    core.dims.push_back(spec.dims[d]);
  }
  std::string equation = (lhs + "," + rhs + "->" + kept).str();
  Value product = bb.create<EinsumOp>(DTensorType::get(core), equation, x, y);
  if (alone.empty())
    return product;
  return bb.create<BroadcastOp>(type, product, ArrayRef<int64_t>(alone));
}

void EinsumOp::buildBackward(BackwardBuilder &bb) {
  Value dz = bb.cotangent(getResult());
  if (!dz)
    return;
  Equation e = parseEquation(getEquation());
  auto conjugate = BackwardBuilder::conjugate;
  if (bb.wants(getLhs()))
    bb.add(getLhs(), productOf(bb, conjugate(getLhs()), e.lhs, e.out, e.rhs, dz,
                               bb.saved(getRhs())));
  if (bb.wants(getRhs()))
    bb.add(getRhs(), productOf(bb, conjugate(getRhs()), e.rhs, e.lhs, e.out,
                               bb.saved(getLhs()), dz));
}
