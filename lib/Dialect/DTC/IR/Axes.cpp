//===- Axes.cpp - Mesh axes, sub-axes and lists of them -------------------===//

#include "dtc/Dialect/DTC/IR/Axes.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace dtc;

int64_t dtc::product(ArrayRef<Axis> axes) {
  // Saturates: written sizes are not on any mesh yet, and no tensor is as long.
  constexpr int64_t limit = int64_t(1) << 60;
  int64_t n = 1;
  for (const Axis &a : axes)
    n = n > limit / a.size ? limit : n * a.size;
  return n;
}

AxisList dtc::mergedList(ArrayRef<Axis> axes) {
  AxisList out;
  for (const Axis &a : axes) {
    if (a.size == 1)
      continue;
    if (!out.empty() && out.back().name == a.name && out.back().end() == a.pre)
      out.back().size *= a.size;
    else
      out.push_back(a);
  }
  return out;
}

AxisList dtc::mergedSet(ArrayRef<Axis> axes) {
  AxisList sorted(axes);
  llvm::sort(sorted);
  return mergedList(sorted);
}

bool dtc::overlap(ArrayRef<Axis> a, ArrayRef<Axis> b) {
  return llvm::any_of(a, [&](const Axis &x) {
    return llvm::any_of(b, [&](const Axis &y) { return x.overlaps(y); });
  });
}

Refinement::Entry &Refinement::entry(StringAttr name) {
  for (Entry &e : entries)
    if (e.name == name)
      return e;
  entries.push_back({name, {}, 0, 0, {}});
  return entries.back();
}

static void insertSorted(SmallVectorImpl<int64_t> &v, int64_t x) {
  auto *it = llvm::lower_bound(v, x);
  if (it == v.end() || *it != x)
    v.insert(it, x);
}

void Refinement::add(const Axis &axis) {
  if (axis.size == 1)
    return;
  Entry &e = entry(axis.name);
  insertSorted(e.bounds, axis.pre);
  insertSorted(e.bounds, axis.end());
  e.covered.push_back({axis.pre, axis.end()});
}

bool Refinement::valid() const {
  for (const Entry &e : entries)
    for (size_t i = 1; i < e.bounds.size(); ++i)
      if (e.bounds[i] % e.bounds[i - 1] != 0)
        return false;
  return true;
}

AxisList Refinement::split(ArrayRef<Axis> axes) const {
  AxisList out;
  for (const Axis &a : axes) {
    int64_t low = a.pre;
    for (const Entry &e : entries) {
      if (e.name != a.name)
        continue;
      for (int64_t b : e.bounds)
        if (b > low && b < a.end()) {
          out.push_back({a.name, low, b / low});
          low = b;
        }
    }
    if (low != a.end())
      out.push_back({a.name, low, a.end() / low});
  }
  return out;
}

AxisList Refinement::atoms() const {
  AxisList out;
  for (const Entry &e : entries)
    for (size_t i = 1; i < e.bounds.size(); ++i) {
      Axis atom{e.name, e.bounds[i - 1], e.bounds[i] / e.bounds[i - 1]};
      bool used = llvm::any_of(e.covered, [&](auto range) {
        return range.first <= atom.pre && atom.end() <= range.second;
      });
      if (used)
        out.push_back(atom);
    }
  llvm::sort(out);
  return out;
}

void dtc::printAxes(llvm::raw_ostream &os, ArrayRef<Axis> axes) {
  llvm::interleave(
      axes, os,
      [&](const Axis &a) {
        os << a.name.getValue() << ":";
        if (a.pre != 1)
          os << "(" << a.pre << ")";
        os << a.size;
      },
      ", ");
}

std::string dtc::toString(ArrayRef<Axis> axes) {
  std::string s;
  llvm::raw_string_ostream os(s);
  printAxes(os << "{", axes);
  os << "}";
  return s;
}

ParseResult dtc::parseAxes(AsmParser &parser, AxisList &axes) {
  StringRef name;
  SMLoc loc = parser.getCurrentLocation();
  if (failed(parser.parseOptionalKeyword(&name)))
    return success(); // an empty list
  while (true) {
    Axis a;
    a.name = StringAttr::get(parser.getContext(), name);
    if (parser.parseColon())
      return failure();
    if (succeeded(parser.parseOptionalLParen()))
      if (parser.parseInteger(a.pre) || parser.parseRParen())
        return failure();
    if (parser.parseInteger(a.size))
      return failure();
    constexpr int64_t limit = int64_t(1) << 30;
    // A part and what comes before it may merge to one.
    if (a.pre < 1 || a.size < 1 || a.size > limit || a.pre > limit / a.size)
      return parser.emitError(loc)
             << "axis '" << name
             << "' must have a positive size, of at most 2^30";
    axes.push_back(a);
    if (failed(parser.parseOptionalComma()))
      return success();
    loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&name))
      return failure();
  }
}
