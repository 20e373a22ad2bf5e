//===- Sharding.cpp - Rules, and choosing factors for an op ---------------===//

#include "dtc/Transforms/Sharding.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace dtc;

//===----------------------------------------------------------------------===//
// Rules and mesh
//===----------------------------------------------------------------------===//

ShardingRules ShardingRules::getDefault(bool sequenceParallel) {
  ShardingRules r;
  r.rules = {
      {"batch", {"dp"}, false, true},    {"seq", {"cp"}, false, true},
      {"norm_seq", {"cp"}, false, true}, {"heads", {"tp"}, false, true},
      {"kv_heads", {"tp"}, true, true},  {"mlp", {"tp"}, false, false},
      {"vocab", {"tp"}, false, false},
  };
  if (sequenceParallel)
    r.rules[2].axes.push_back("tp");
  return r;
}

static bool isName(StringRef s) {
  return !s.empty() &&
         llvm::all_of(s, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

llvm::Expected<ShardingRules> ShardingRules::parse(StringRef text) {
  ShardingRules out;
  SmallVector<StringRef> lines;
  unsigned number = 0;
  auto err = [&](const Twine &message) {
    return llvm::createStringError("rules, line " + Twine(number) + ": " +
                                   message);
  };
  text.split(lines, '\n');
  for (StringRef line : lines) {
    ++number;
    SmallVector<StringRef> parts;
    line.split('#').first.split(parts, ';');
    for (StringRef part : parts) {
      part = part.trim();
      if (part.empty())
        continue;
      auto [name, right] = part.split('=');
      ShardingRule rule;
      rule.dimension = name.trim().str();
      if (!isName(rule.dimension) || !part.contains('='))
        return err("expected NAME = AXIS, AXIS... [major] [even], got '" +
                   part + "'");
      if (out.find(rule.dimension))
        return err("dimension '" + rule.dimension + "' has two rules");
      SmallVector<StringRef> words;
      SmallString<64> spaced;
      for (char c : right)
        spaced.push_back(c == ',' ? ' ' : c);
      StringRef(spaced).split(words, ' ', -1, false);
      for (StringRef word : words) {
        word = word.trim();
        if (word.empty())
          continue;
        if (!isName(word))
          return err("'" + word + "' is not the name of an axis");
        if (word == "major")
          rule.majorPart = true;
        else if (word == "even")
          rule.even = true;
        else
          rule.axes.push_back(word.str());
      }
      out.rules.push_back(std::move(rule));
    }
  }
  return out;
}

const ShardingRule *ShardingRules::find(StringRef dimension) const {
  for (const ShardingRule &r : rules)
    if (r.dimension == dimension)
      return &r;
  return nullptr;
}

void ShardingRules::print(llvm::raw_ostream &os) const {
  for (const ShardingRule &r : rules) {
    os << r.dimension << " = ";
    llvm::interleaveComma(r.axes, os);
    if (r.majorPart)
      os << " major";
    if (r.even)
      os << " even";
    os << "\n";
  }
}

ArrayRef<StringRef> dtc::getStandardAxes() {
  static const StringRef axes[] = {"pp", "dp", "cp", "ep", "tp"};
  return axes;
}

llvm::Expected<MeshAttr> dtc::parseMesh(MLIRContext *context, StringRef text) {
  ArrayRef<StringRef> order = getStandardAxes();
  SmallVector<Axis> known(order.size()), others;
  SmallVector<StringRef> parts;
  text.split(parts, ',', -1, false);
  for (StringRef part : parts) {
    part = part.trim();
    if (part.empty())
      continue;
    size_t at = part.find_first_of("=:");
    int64_t size = 0;
    StringRef name = part.take_front(at).trim();
    if (at == StringRef::npos || !isName(name) ||
        part.drop_front(at + 1).trim().getAsInteger(10, size))
      return llvm::createStringError("mesh: expected AXIS=SIZE, got '" + part +
                                     "'");
    if (size < 1 || size > (int64_t(1) << 24))
      return llvm::createStringError("mesh: the size of " + name +
                                     " must be between 1 and 2^24, but is " +
                                     Twine(size));
    Axis axis{StringAttr::get(context, name), 1, size};
    auto same = [&](const Axis &a) { return a.name == axis.name; };
    if (llvm::any_of(known, same) || llvm::any_of(others, same))
      return llvm::createStringError("mesh: axis " + name + " is given twice");
    const auto *it = llvm::find(order, name);
    if (it != order.end())
      known[it - order.begin()] = axis;
    else
      others.push_back(axis);
  }
  SmallVector<Axis> axes;
  int64_t ranks = 1;
  known.append(others.begin(), others.end());
  for (const Axis &a : known) {
    if (!a.name)
      continue;
    if (ranks > (int64_t(1) << 30) / a.size)
      return llvm::createStringError("mesh: more than 2^30 ranks");
    ranks *= a.size;
    axes.push_back(a);
  }
  return MeshAttr::get(context, axes);
}

//===----------------------------------------------------------------------===//
// Parameters and priorities
//===----------------------------------------------------------------------===//

ParameterValues::ParameterValues(ModuleOp module, ArrayRef<Value> more) {
  for (Value value : more)
    add(value);
  // Functions whose every call passes a parameter; iterated until nothing
  // changes, since a call may stand in a function that is given parameters.
  SymbolTable symbols(module);
  llvm::MapVector<Operation *, SmallVector<func::CallOp>> calls;
  module.walk([&](Operation *op) {
    if (auto read = dyn_cast<ReadOp>(op))
      add(read.getResult());
    if (auto call = dyn_cast<func::CallOp>(op))
      if (Operation *callee = symbols.lookup(call.getCallee()))
        calls[callee].push_back(call);
  });
  for (bool changed = true; changed;) {
    changed = false;
    for (auto &[op, sites] : calls) {
      auto func = dyn_cast<func::FuncOp>(op);
      if (!func || func.isExternal())
        continue;
      for (BlockArgument arg : func.getArguments()) {
        if (values.contains(arg))
          continue;
        unsigned n = arg.getArgNumber();
        if (llvm::all_of(sites, [&](func::CallOp call) {
              return n < call.getNumOperands() &&
                     values.contains(call.getOperand(n));
            })) {
          add(arg);
          changed = true;
        }
      }
    }
  }
}

void ParameterValues::add(Value value) {
  if (!values.insert(value).second)
    return;
  for (Operation *user : value.getUsers())
    if (isa<CollectiveOpInterface>(user))
      add(user->getResult(0));
}

Priority dtc::getPriority(Value value, const ParameterValues &parameters) {
  if (parameters.contains(value))
    return Priority::Parameter;
  auto result = dyn_cast<OpResult>(value);
  if (!result || result.getResultNumber() != 0)
    return Priority::Other;
  if (result.getOwner()->hasAttr(attrs::sharding))
    return Priority::Annotation;
  if (result.getOwner()->hasAttr(attrs::dims))
    return Priority::Residual;
  return Priority::Other;
}

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

/// Whether the rule lets any axis cut the factor by itself.
static bool mayCut(const FactorRule &rule, unsigned f) {
  if (rule.factors[f].whole)
    return false;
  for (unsigned r = 0; r < rule.getNumResults(); ++r)
    if (!rule.factorsOf(rule.getNumOperands() + r)[f] && !rule.summedIn[r][f] &&
        !rule.maximumIn[r][f] && !rule.factors[f].communicates &&
        !rule.pairedOnlySet[f])
      return false;
  return true;
}

SmallVector<AxisList>
dtc::chooseFactors(const FactorRule &rule, ArrayRef<DimAxes> operandDims,
                   ArrayRef<Priority> priorities, ArrayRef<DimAxes> resultDims,
                   bool resultsDecide,
                   SmallVectorImpl<FactorConflict> *conflicts) {
  SmallVector<AxisList> chosen(rule.factors.size());
  auto isPairOf = [&](unsigned f, unsigned g) {
    FactorSet set;
    set.set(f);
    set.set(g);
    return rule.isPair(set);
  };
  // The axes of `wish` that nothing else uses yet: a prefix, since the order
  // of a factor's axes matters.
  auto freePrefix = [&](unsigned f, ArrayRef<Axis> wish) {
    AxisList out;
    int64_t room = rule.factors[f].even ? rule.factors[f].size : 0;
    for (const Axis &a : wish) {
      for (auto [g, axes] : llvm::enumerate(chosen))
        if (g != f && overlap(a, axes) && !isPairOf(f, g))
          return out;
      if (room && room % a.size != 0)
        return out;
      if (room)
        room /= a.size;
      out.push_back(a);
    }
    return out;
  };
  auto offer = [&](unsigned value, const DimAxes &dims, bool isOperand) {
    const ValueFactors &factors = rule.value(value);
    for (unsigned d = 0; d < std::min(dims.size(), factors.size()); ++d) {
      auto parts = splitByFactors(rule, factors[d], dims[d]);
      if (failed(parts))
        continue;
      for (auto [f, wish] : llvm::zip_equal(factors[d], *parts)) {
        if (wish.empty())
          continue;
        if (chosen[f].empty() && mayCut(rule, f))
          chosen[f] = freePrefix(f, wish);
        if (chosen[f] != wish && conflicts && isOperand)
          conflicts->push_back({value, rule.factors[f].name, wish});
      }
    }
  };
  for (Priority p : {Priority::Parameter, Priority::Annotation,
                     Priority::Residual, Priority::Other})
    for (auto [i, dims] : llvm::enumerate(operandDims))
      if (i < priorities.size() && priorities[i] == p)
        offer(i, dims, true);
  FactorSet inOperands;
  for (unsigned i = 0; i < rule.getNumOperands(); ++i)
    inOperands |= rule.factorsOf(i);
  for (auto [r, dims] : llvm::enumerate(resultDims)) {
    const ValueFactors &factors = rule.value(rule.getNumOperands() + r);
    DimAxes only(dims);
    for (unsigned d = 0; d < std::min(only.size(), factors.size()); ++d)
      if (!resultsDecide &&
          llvm::any_of(factors[d], [&](unsigned f) { return inOperands[f]; }))
        only[d].clear();
    offer(rule.getNumOperands() + r, only, false);
  }
  // A factor that may be cut only with its pair follows the pair's list.
  for (unsigned f = 0; f < chosen.size(); ++f)
    if (rule.pairedOnlySet[f])
      for (auto [a, b] : rule.pairs)
        if ((a == f || b == f) && chosen[f] != chosen[a == f ? b : a])
          chosen[f].clear();
  // Minor factors of a product are cut only where the major ones are full.
  for (unsigned v = 0; v < rule.getNumValues(); ++v)
    for (const DimFactors &dim : rule.value(v)) {
      bool full = true;
      for (unsigned f : dim) {
        if (!full)
          chosen[f].clear();
        full = full && product(chosen[f]) == rule.factors[f].size;
      }
    }
  return chosen;
}

bool dtc::hasNoActivation(Operation *op, const ParameterValues &parameters) {
  return llvm::all_of(op->getOperands(), [&](Value v) {
    auto type = dyn_cast<DTensorType>(v.getType());
    return parameters.contains(v) || (type && type.isInteger());
  });
}

DimAxes dtc::getDimAxes(const FactorRule &rule, unsigned value,
                        ArrayRef<AxisList> factors) {
  DimAxes out;
  for (const DimFactors &dim : rule.value(value)) {
    AxisList axes;
    for (unsigned f : dim)
      llvm::append_range(axes, factors[f]);
    out.push_back(mergedList(axes));
  }
  return out;
}

DimAxes dtc::fromAttr(Attribute attr) {
  DimAxes out;
  if (auto array = dyn_cast_or_null<ArrayAttr>(attr))
    for (Attribute a : array)
      out.emplace_back(cast<AxesAttr>(a).getAxes());
  return out;
}

ArrayAttr dtc::toAttr(MLIRContext *context, const DimAxes &dims) {
  SmallVector<Attribute> out;
  for (const AxisList &axes : dims)
    out.push_back(AxesAttr::get(context, mergedList(axes)));
  return ArrayAttr::get(context, out);
}

bool dtc::isUncut(const DimAxes &dims) {
  return llvm::all_of(dims, [](const AxisList &a) { return a.empty(); });
}
