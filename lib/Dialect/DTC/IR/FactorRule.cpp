//===- FactorRule.cpp - How an op's dimensions are related ----------------===//

#include "dtc/Dialect/DTC/IR/FactorRule.h"
#include "dtc/Dialect/DTC/IR/DTC.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dtc;

//===----------------------------------------------------------------------===//
// Declaration
//===----------------------------------------------------------------------===//

static ValueFactors parseValue(FactorRule &rule, StringRef text) {
  ValueFactors dims;
  SmallVector<StringRef> words;
  text.split(words, ' ', -1, /*KeepEmpty=*/false);
  FactorSet seen;
  for (StringRef word : words) {
    DimFactors &dim = dims.emplace_back();
    for (char c : word) {
      std::optional<unsigned> f = rule.find(c);
      if (!f && rule.factors.size() == seen.size()) {
        rule.problem = "has more than " + std::to_string(seen.size()) +
                       " different dimensions";
        return dims;
      }
      if (!f) {
        f = rule.factors.size();
        rule.factors.emplace_back().name = c;
      }
      if (seen[*f])
        rule.problem =
            std::string("factor '") + c + "' stands twice in one value";
      seen.set(*f);
      dim.push_back(*f);
    }
  }
  return dims;
}

SmallVector<DTensorType> dtc::getOperandTensorTypes(Operation *op) {
  SmallVector<DTensorType> types;
  for (Type t : op->getOperandTypes())
    types.push_back(dyn_cast<DTensorType>(t));
  return types;
}

SmallVector<DTensorType> dtc::getResultTensorTypes(Operation *op) {
  SmallVector<DTensorType> types;
  for (Type t : op->getResultTypes())
    types.push_back(dyn_cast<DTensorType>(t));
  return types;
}

FactorRule FactorRule::get(Operation *op, ArrayRef<std::string> operandDims,
                           ArrayRef<std::string> resultDims,
                           ArrayRef<std::pair<char, int64_t>> sizes) {
  FactorRule rule;
  for (const std::string &s : operandDims)
    rule.operands.push_back(parseValue(rule, s));
  for (const std::string &s : resultDims)
    rule.results.push_back(parseValue(rule, s));
  rule.summedIn.resize(resultDims.size());
  rule.maximumIn.resize(resultDims.size());
  rule.readsOf.resize(resultDims.size());
  rule.zeroOf.resize(resultDims.size());
  for (auto &reads : rule.readsOf)
    llvm::append_range(reads, llvm::seq<unsigned>(0, operandDims.size()));

  for (auto [name, size] : sizes)
    if (std::optional<unsigned> f = rule.find(name))
      rule.factors[*f].size = rule.factors[*f].padded = size;
  SmallVector<DTensorType> types = getOperandTensorTypes(op);
  llvm::append_range(types, getResultTensorTypes(op));
  auto forEachDim = [&](auto fn) {
    for (unsigned v = 0; v < rule.getNumValues() && v < types.size(); ++v)
      for (auto [d, dim] : llvm::enumerate(rule.value(v)))
        if (types[v] && static_cast<int64_t>(d) < types[v].getRank())
          fn(dim, types[v].getShape()[d], types[v].getPadded()[d]);
  };
  forEachDim([&](const DimFactors &dim, int64_t n, int64_t q) {
    if (dim.size() == 1 && rule.factors[dim[0]].size == 0) {
      rule.factors[dim[0]].size = n;
      rule.factors[dim[0]].padded = q;
    }
  });
  forEachDim([&](const DimFactors &dim, int64_t n, int64_t) {
    if (dim.size() == 1)
      return;
    Factor *unknown = nullptr;
    for (unsigned f : dim) {
      rule.factors[f].even = true;
      if (rule.factors[f].size)
        n = n % rule.factors[f].size == 0 ? n / rule.factors[f].size : 0;
      else
        unknown = &rule.factors[f];
    }
    if (unknown && n > 0)
      unknown->size = unknown->padded = n;
  });
  return rule;
}

std::optional<unsigned> FactorRule::find(char name) const {
  for (auto [i, f] : llvm::enumerate(factors))
    if (f.name == name)
      return i;
  return std::nullopt;
}

template <typename Fn>
static void forNames(FactorRule &rule, StringRef names, Fn fn) {
  for (char c : names)
    if (std::optional<unsigned> f = rule.find(c))
      fn(*f);
}

FactorRule &FactorRule::whole(StringRef names) {
  forNames(*this, names, [&](unsigned f) { factors[f].whole = true; });
  return *this;
}
FactorRule &FactorRule::communicates(StringRef names) {
  forNames(*this, names, [&](unsigned f) { factors[f].communicates = true; });
  return *this;
}
FactorRule &FactorRule::even(StringRef names) {
  forNames(*this, names, [&](unsigned f) { factors[f].even = true; });
  return *this;
}

static FactorSet parseSet(FactorRule &rule, unsigned r, StringRef names) {
  FactorSet set;
  if (names == "*") {
    FactorSet has = rule.factorsOf(rule.operands.size() + r);
    for (unsigned f = 0; f < rule.factors.size(); ++f)
      set[f] = !has[f];
    return set;
  }
  forNames(rule, names, [&](unsigned f) { set.set(f); });
  return set;
}

FactorRule &FactorRule::summed(unsigned r, StringRef names) {
  summedIn[r] = parseSet(*this, r, names);
  return *this;
}
FactorRule &FactorRule::maximum(unsigned r, StringRef names) {
  maximumIn[r] = parseSet(*this, r, names);
  return *this;
}
FactorRule &FactorRule::pair(char a, char b) {
  pairs.push_back({*find(a), *find(b)});
  return *this;
}
FactorRule &FactorRule::pairedOnly(char name) {
  pairedOnlySet.set(*find(name));
  return *this;
}
FactorRule &FactorRule::linear(ArrayRef<unsigned> set) {
  linearSets.emplace_back(set);
  return *this;
}
FactorRule &FactorRule::reads(unsigned r, ArrayRef<unsigned> set) {
  readsOf[r].assign(set.begin(), set.end());
  return *this;
}

FactorRule &FactorRule::zero(unsigned r) {
  if (llvm::none_of(linearSets, [](auto &set) { return set.empty(); }))
    linearSets.emplace_back();
  zeroOf[r] = true;
  return *this;
}

FactorRule &FactorRule::wide(ArrayRef<unsigned> values) {
  wideValues.assign(values.begin(), values.end());
  return *this;
}
FactorRule &FactorRule::unrelated(ArrayRef<unsigned> values) {
  unrelatedValues.assign(values.begin(), values.end());
  return *this;
}

FactorSet FactorRule::factorsOf(unsigned v) const {
  FactorSet set;
  for (const DimFactors &dim : value(v))
    for (unsigned f : dim)
      set.set(f);
  return set;
}

bool FactorRule::isLinearResult(unsigned k, unsigned result) const {
  if (linearSets[k].empty())
    return zeroOf[result];
  return llvm::any_of(linearSets[k], [&](unsigned i) {
    return llvm::is_contained(readsOf[result], i);
  });
}

bool FactorRule::isPair(FactorSet set) const {
  return llvm::any_of(pairs, [&](auto p) {
    return set.count() == 2 && set[p.first] && set[p.second];
  });
}

char dtc::dimLetter(unsigned d) {
  return static_cast<char>(d < 26 ? 'a' + d : 'A' + d % 26);
}

std::string dtc::dimLetters(unsigned rank) {
  std::string s;
  for (unsigned d = 0; d < rank; ++d) {
    if (d)
      s += ' ';
    s += dimLetter(d);
  }
  return s;
}

//===----------------------------------------------------------------------===//
// The rule
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<AxisList>> dtc::splitByFactors(const FactorRule &rule,
                                                     const DimFactors &dim,
                                                     ArrayRef<Axis> axes) {
  SmallVector<AxisList> out(dim.size());
  AxisList rest(llvm::reverse(axes)); // back() is the major-most
  for (auto [i, f] : llvm::enumerate(dim)) {
    bool last = i + 1 == dim.size();
    int64_t room = rule.factors[f].size;
    while (!rest.empty() && (last || room > 1)) {
      Axis a = rest.pop_back_val();
      if (!last && a.size > room) {
        if (a.size % room != 0)
          return failure();
        rest.push_back({a.name, a.pre * room, a.size / room});
        a.size = room;
      }
      if (dim.size() > 1) {
        if (room % a.size != 0)
          return failure();
        room /= a.size;
      }
      out[i].push_back(a);
    }
  }
  return out;
}

namespace {
/// A typed op seen by the rule: atoms, and per value and factor its axes.
struct View {
  AxisList atoms;
  SmallVector<TensorSpec, 4> specs;
  SmallVector<SmallVector<AxisList>> axesOf; // [value][factor]
  SmallVector<AxisList> factorAxes;          // of the first value that has it
};
} // namespace

static std::string valueName(const FactorRule &rule, unsigned v) {
  unsigned n = rule.getNumOperands();
  return v < n ? ("operand #" + Twine(v)).str()
               : ("result #" + Twine(v - n)).str();
}

/// Builds the view; failure (with a message) where an axis straddles factors.
static LogicalResult buildView(const FactorRule &rule,
                               ArrayRef<DTensorType> types, View &view,
                               function_ref<LogicalResult(const Twine &)> err) {
  Refinement refinement;
  for (DTensorType t : types) {
    for (const Axis &a : t.getNamedAxes())
      refinement.add(a);
  }
  for (unsigned v = 0; v < types.size(); ++v)
    for (auto [d, dim] : llvm::enumerate(rule.value(v))) {
      auto parts = splitByFactors(rule, dim, types[v].getDimAxes(d));
      if (failed(parts)) {
        std::string sizes;
        for (unsigned f : dim)
          sizes += (sizes.empty() ? "" : " x ") +
                   std::to_string(rule.factors[f].size);
        return err("axes " + toString(types[v].getDimAxes(d)) +
                   " of dimension " + Twine(d) + " of " + valueName(rule, v) +
                   " do not divide its factors " + sizes);
      }
      for (const AxisList &part : *parts)
        refinement.add(part);
    }
  if (!refinement.valid())
    return err("parts of one mesh axis do not nest");
  view.atoms = refinement.atoms();
  view.factorAxes.resize(rule.factors.size());
  FactorSet seen;
  for (unsigned v = 0; v < types.size(); ++v) {
    TensorSpec &spec = view.specs.emplace_back(types[v]);
    spec.refine(refinement);
    auto &mine = view.axesOf.emplace_back(rule.factors.size());
    for (auto [d, dim] : llvm::enumerate(rule.value(v))) {
      auto parts = splitByFactors(rule, dim, spec.dims[d]);
      if (failed(parts))
        return err("axes of " + valueName(rule, v) + " straddle factors");
      for (auto [f, axes] : llvm::zip_equal(dim, *parts)) {
        mine[f] = axes;
        if (!seen[f])
          view.factorAxes[f] = axes;
        seen.set(f);
      }
    }
  }
  return success();
}

static LogicalResult
checkShapes(const FactorRule &rule, ArrayRef<DTensorType> types,
            function_ref<LogicalResult(const Twine &)> err) {
  for (unsigned v = 0; v < types.size(); ++v) {
    DTensorType t = types[v];
    if (!t)
      return err(valueName(rule, v) + " must be a dtc tensor");
    size_t rank = rule.value(v).size();
    if (t.getRank() != static_cast<int64_t>(rank))
      return err(valueName(rule, v) + " must have rank " + Twine(rank) +
                 " but has rank " + Twine(t.getRank()));
  }
  for (unsigned v = 0; v < types.size(); ++v) {
    DTensorType t = types[v];
    const ValueFactors &dims = rule.value(v);
    for (auto [d, dim] : llvm::enumerate(dims)) {
      int64_t n = 1;
      std::string name;
      for (unsigned f : dim) {
        n *= rule.factors[f].size;
        name += rule.factors[f].name;
      }
      if (t.getShape()[d] != n || n == 0)
        return err("dimension " + Twine(d) + " of " + valueName(rule, v) +
                   " is " + Twine(t.getShape()[d]) + " but '" + name + "' is " +
                   Twine(n) + " elsewhere");
      bool even = dim.size() > 1 || rule.factors[dim[0]].even;
      int64_t q = even ? n : rule.factors[dim[0]].padded;
      if (t.getPadded()[d] != q)
        return err("dimension " + Twine(d) + " of " + valueName(rule, v) +
                   " is padded to " + Twine(t.getPadded()[d]) + " but '" +
                   name + "' " +
                   (even ? "may not be padded"
                         : "is padded to " + std::to_string(q) + " elsewhere"));
    }
  }
  return success();
}

/// Rules 2, 3 and 4 on one atom.
static LogicalResult checkAtom(const FactorRule &rule, const View &view,
                               const Axis &atom,
                               function_ref<LogicalResult(const Twine &)> err) {
  using PK = PlacementKind;
  unsigned numValues = view.specs.size(), numOperands = rule.getNumOperands();
  FactorSet on;
  SmallVector<PK> place;
  for (unsigned v = 0; v < numValues; ++v) {
    for (unsigned f = 0; f < rule.factors.size(); ++f)
      if (llvm::is_contained(view.axesOf[v][f], atom))
        on.set(f);
    place.push_back(view.specs[v].placement(atom));
  }
  std::string axis = toString(ArrayRef<Axis>(atom));

  if (on.any()) {
    std::string names;
    for (unsigned f = 0; f < rule.factors.size(); ++f)
      if (on[f])
        names += rule.factors[f].name;
    bool pair = rule.isPair(on);
    if (on.count() > 1 && !pair)
      return err("axis " + axis + " cuts several factors: '" + names + "'");
    if (!pair && (on & rule.pairedOnlySet).any())
      return err("axis " + axis + " cuts factor '" + names +
                 "', which may be cut only together with its pair");
    for (unsigned v = 0; v < numValues; ++v) {
      std::optional<PK> want;
      if ((on & rule.factorsOf(v)).any())
        want = PK::Shard;
      else if (v < numOperands)
        want = PK::Replicate;
      else if (!pair && (on & ~rule.summedIn[v - numOperands]).none())
        want = PK::Partial;
      else if (!pair && (on & ~rule.maximumIn[v - numOperands]).none())
        want = PK::Max;
      else if (pair || llvm::all_of(llvm::enumerate(rule.factors), [&](auto f) {
                 return !on[f.index()] || f.value().communicates;
               }))
        want = PK::Invariant;
      if (!want)
        return err("axis " + axis + " may not cut factor '" + names + "': " +
                   valueName(rule, v) + " lacks it and is no sum over it");
      if (place[v] != *want)
        return err("on axis " + axis + ", which cuts factor '" + names + "', " +
                   valueName(rule, v) + " is " + toString(place[v]) +
                   " but must be " + toString(*want));
    }
    return success();
  }

  auto all = [&](PK kind) {
    return llvm::all_of(place, [&](PK p) { return p == kind; });
  };
  if (all(PK::Invariant) || all(PK::Replicate))
    return success();
  for (auto [k, set] : llvm::enumerate(rule.linearSets)) {
    bool fits = true;
    for (unsigned v = 0; v < numValues; ++v) {
      bool partial = v < numOperands ? llvm::is_contained(set, v)
                                     : rule.isLinearResult(k, v - numOperands);
      fits &= place[v] == (partial ? PK::Partial : PK::Replicate);
    }
    if (fits)
      return success();
  }
  std::string have;
  for (unsigned v = 0; v < numValues; ++v)
    have += (v == 0             ? ""
             : v == numOperands ? " -> "
                                : ", ") +
            toString(place[v]).str();
  std::string legal = "all invariant; all replicate";
  for (auto [k, set] : llvm::enumerate(rule.linearSets)) {
    if (set.empty()) {
      legal += "; a zero partial";
      continue;
    }
    legal += "; partial in operand";
    legal += set.size() > 1 ? "s " : " ";
    for (auto [i, v] : llvm::enumerate(set))
      legal += (i ? ", #" : "#") + std::to_string(v);
    legal += " with every other operand replicate";
  }
  return err("on axis " + axis + ", which cuts no factor, the placements (" +
             have + ") are illegal; legal are: " + legal);
}

LogicalResult dtc::checkRule(const FactorRule &rule,
                             ArrayRef<DTensorType> operandTypes,
                             ArrayRef<DTensorType> resultTypes,
                             EmitError emitError) {
  auto err = [&](const Twine &message) -> LogicalResult {
    if (emitError)
      emitError() << message;
    return failure();
  };
  if (!rule.problem.empty())
    return err(rule.problem);
  if (operandTypes.size() != rule.getNumOperands() ||
      resultTypes.size() != rule.getNumResults())
    return err("expected " + Twine(rule.getNumOperands()) + " operands and " +
               Twine(rule.getNumResults()) + " results");
  SmallVector<DTensorType> types(operandTypes);
  llvm::append_range(types, resultTypes);
  View view;
  if (failed(checkShapes(rule, types, err)) ||
      failed(buildView(rule, types, view, err)))
    return failure();
  // Rule 1: one list of axes for each factor.
  for (auto [f, factor] : llvm::enumerate(rule.factors)) {
    for (unsigned v = 0; v < types.size(); ++v)
      if (rule.factorsOf(v)[f] && view.axesOf[v][f] != view.factorAxes[f])
        return err(Twine("factor '") + Twine(factor.name) + "' is cut by " +
                   toString(view.factorAxes[f]) + " in one value and by " +
                   toString(view.axesOf[v][f]) + " in " + valueName(rule, v));
    if (factor.whole && !view.factorAxes[f].empty())
      return err(Twine("factor '") + Twine(factor.name) +
                 "' is whole, but axes " + toString(view.factorAxes[f]) +
                 " cut it");
  }
  for (const Axis &atom : view.atoms)
    if (failed(checkAtom(rule, view, atom, err)))
      return failure();
  // Rule 2: one list for both of a pair. A ring's blocks are those of the list.
  for (auto [a, b] : rule.pairs)
    if (const AxisList &x = view.factorAxes[a], &y = view.factorAxes[b];
        x != y && overlap(x, y))
      return err(Twine("factors '") + Twine(rule.factors[a].name) + "' and '" +
                 Twine(rule.factors[b].name) + "' are a pair, but are cut by " +
                 toString(x) + " and by " + toString(y));
  return success();
}

SmallVector<AxisList> dtc::getFactorAxes(const FactorRule &rule,
                                         ArrayRef<DTensorType> types) {
  View view;
  auto ignore = [](const Twine &) { return failure(); };
  if (failed(buildView(rule, types, view, ignore)))
    return SmallVector<AxisList>(rule.factors.size());
  return view.factorAxes;
}

DTensorType dtc::typeFor(const FactorRule &rule, const Assignment &assignment,
                         unsigned value, DTensorType like) {
  TensorSpec spec(like.getShape(), like.getElementType());
  FactorSet mine = rule.factorsOf(value);
  bool operand = value < rule.getNumOperands();
  unsigned r = value - rule.getNumOperands();
  for (auto [d, dim] : llvm::enumerate(rule.value(value))) {
    for (unsigned f : dim)
      llvm::append_range(spec.dims[d], assignment.factors[f]);
    spec.padded[d] =
        dim.size() == 1 ? rule.factors[dim[0]].padded : like.getShape()[d];
  }
  // Atoms that cut factors which this value lacks.
  SmallVector<std::pair<Axis, FactorSet>> cut;
  for (auto [f, axes] : llvm::enumerate(assignment.factors))
    for (const Axis &a : axes) {
      auto *it = llvm::find_if(cut, [&](auto &c) { return c.first == a; });
      if (it == cut.end())
        it = &cut.emplace_back(a, FactorSet());
      it->second.set(f);
    }
  for (auto &[axis, on] : cut) {
    if ((on & mine).any())
      continue;
    if (operand)
      spec.replicate.push_back(axis);
    else if (on.count() == 1 && (on & ~rule.summedIn[r]).none())
      spec.partial.push_back(axis);
    else if (on.count() == 1 && (on & ~rule.maximumIn[r]).none())
      spec.max.push_back(axis);
  }
  for (auto &[axis, mode] : assignment.others) {
    if (mode == Assignment::replicate)
      spec.replicate.push_back(axis);
    else if (mode >= 0) {
      bool partial = operand ? llvm::is_contained(rule.linearSets[mode], value)
                             : rule.isLinearResult(mode, r);
      (partial ? spec.partial : spec.replicate).push_back(axis);
    }
  }
  return DTensorType::get(spec);
}

Type dtc::getWideType(Type element) {
  return element.isBF16() ? Float32Type::get(element.getContext()) : element;
}

LogicalResult dtc::checkElements(const FactorRule &rule,
                                 ArrayRef<DTensorType> types,
                                 EmitError emitError) {
  // Of the op's values, and of the wide ones among them.
  Type narrow, wide;
  for (auto [v, type] : llvm::enumerate(types)) {
    if (!type || type.isInteger() || rule.isUnrelated(v))
      continue;
    Type element = type.getElementType();
    Type &first = rule.isWide(v) ? wide : narrow;
    if (first && element != first) {
      if (emitError)
        emitError() << "float element types differ: " << first << " and "
                    << element;
      return failure();
    }
    first = element;
  }
  if (!wide || wide == getWideType(narrow ? narrow : wide))
    return success();
  if (!emitError)
    return failure();
  auto *it = llvm::find_if(rule.wideValues, [&](unsigned v) {
    return v < types.size() && types[v] && types[v].isFloat();
  });
  InFlightDiagnostic diag = emitError();
  diag << valueName(rule, *it) << " must have elements of type "
       << getWideType(narrow ? narrow : wide);
  if (narrow)
    diag << " beside " << narrow;
  diag << ", but has " << wide;
  return failure();
}

LogicalResult dtc::verifyFactorOp(Operation *op) {
  FactorRule rule = cast<FactorOpInterface>(op).getFactorRule();
  auto emitError = [&] { return op->emitOpError(); };
  SmallVector<DTensorType> operands = getOperandTensorTypes(op),
                           results = getResultTensorTypes(op);
  SmallVector<DTensorType> types(operands);
  llvm::append_range(types, results);
  if (failed(checkElements(rule, types, emitError)))
    return failure();
  return checkRule(rule, operands, results, emitError);
}
