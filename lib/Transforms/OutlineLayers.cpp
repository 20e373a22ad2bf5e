//===- OutlineLayers.cpp - Repeated runs of ops become functions ----------===//
//
// The function's ops that have operands form a sequence of codes: equal codes
// are ops with equal names, attributes and types. Repeated runs are found on
// the codes alone, with rolling hashes (n log^2 n for n ops), first those that
// follow each other (Main and Lorentz 1984: every repetition of period p shows
// at a multiple of p), then any. Only then is the structure compared, exactly.
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "dtc/Transforms/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <map>

namespace dtc {
#define GEN_PASS_DEF_OUTLINELAYERS
#include "dtc/Transforms/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

/// Hashes of all windows of a sequence, modulo the prime 2^61 - 1.
class RollingHash {
public:
  explicit RollingHash(ArrayRef<unsigned> codes) {
    prefix.push_back(0);
    power.push_back(1);
    for (unsigned c : codes) {
      prefix.push_back(modulo(product(prefix.back(), base) + c + 1));
      power.push_back(product(power.back(), base));
    }
  }
  uint64_t window(size_t start, size_t length) const {
    uint64_t drop = product(prefix[start], power[length]);
    return modulo(prefix[start + length] + prime - drop);
  }
  /// How far the sequences from a and from b on are equal; a < b.
  size_t equalForward(size_t a, size_t b) const {
    return longest(prefix.size() - 1 - b,
                   [&](size_t n) { return window(a, n) == window(b, n); });
  }
  /// How far the sequences that end before a and b are equal, at most `limit`.
  size_t equalBackward(size_t a, size_t b, size_t limit) const {
    return longest(std::min(a, limit), [&](size_t n) {
      return window(a - n, n) == window(b - n, n);
    });
  }

private:
  static constexpr uint64_t prime = (uint64_t(1) << 61) - 1;
  static constexpr uint64_t base = 0x1d2f5a8e3b7c6941;
  static uint64_t modulo(uint64_t x) {
    x = (x & prime) + (x >> 61);
    return x >= prime ? x - prime : x;
  }
  static uint64_t product(uint64_t a, uint64_t b) {
    auto x = static_cast<unsigned __int128>(a) * b;
    return modulo((static_cast<uint64_t>(x) & prime) +
                  static_cast<uint64_t>(x >> 61));
  }
  template <typename Fn> static size_t longest(size_t limit, Fn isEqual) {
    size_t low = 0;
    while (low < limit) {
      size_t mid = low + (limit - low + 1) / 2;
      if (isEqual(mid))
        low = mid;
      else
        limit = mid - 1;
    }
    return low;
  }
  std::vector<uint64_t> prefix, power;
};

/// Codes [start, start + length) have the period `period`.
struct Repetition {
  size_t start, length, period;
  size_t saved() const { return (length / period - 1) * period; }
};

class Outliner {
public:
  Outliner(func::FuncOp func, SymbolTable &symbols, unsigned minOps)
      : func(func), symbols(symbols), minOps(std::max(minOps, 1u)) {}
  void run();

private:
  void number();
  std::vector<Repetition> findRepetitions(const RollingHash &hash) const;
  size_t findLongestRepeat(const RollingHash &hash) const;
  std::vector<unsigned> countCrossing() const;
  size_t bestOffset(const Repetition &r) const;
  std::vector<size_t> findRuns(const RollingHash &hash,
                               std::vector<size_t> runs, size_t length) const;
  bool outline(ArrayRef<size_t> candidates, size_t length);
  SmallVector<int64_t> structure(size_t start, size_t length) const;
  Attribute dimsOf(Value v);
  /// Position of the op that defines a value; -1 where it is none of the
  /// sequence.
  int64_t positionOf(Value v) const {
    Operation *def = v.getDefiningOp();
    auto it = def ? position.find(def) : position.end();
    return it == position.end() ? -1 : it->second;
  }

  func::FuncOp func;
  SymbolTable &symbols;
  unsigned minOps;
  std::vector<Operation *> ops; // null where a call has taken the place
  std::vector<unsigned> codes;
  llvm::DenseMap<Operation *, int64_t> position;
  unsigned nextCode = 0;
};

} // namespace

/// Ops that may be moved into a function. Others (calls, writes) have a code
/// of their own, so that no run contains them.
static bool mayBeOutlined(Operation *op) {
  return isPure(op) && op->getNumRegions() == 0;
}

void Outliner::number() {
  std::map<SmallVector<const void *>, unsigned> known;
  for (Operation &op : func.getBody().front().without_terminator()) {
    if (op.getNumOperands() == 0)
      continue;
    position[&op] = ops.size();
    ops.push_back(&op);
    if (!mayBeOutlined(&op)) {
      codes.push_back(nextCode++);
      continue;
    }
    SmallVector<const void *> key{op.getName().getAsOpaquePointer(),
                                  op.getAttrDictionary().getAsOpaquePointer()};
    for (Type t : op.getOperandTypes())
      key.push_back(t.getAsOpaquePointer());
    key.push_back(nullptr);
    for (Type t : op.getResultTypes())
      key.push_back(t.getAsOpaquePointer());
    auto [it, isNew] = known.try_emplace(key, nextCode);
    nextCode += isNew;
    codes.push_back(it->second);
  }
}

/// Repetitions of at least two periods, those that save most first.
std::vector<Repetition>
Outliner::findRepetitions(const RollingHash &hash) const {
  std::vector<Repetition> found;
  size_t n = codes.size();
  for (size_t p = minOps; 2 * p <= n; ++p) {
    size_t end = 0; // of the last repetition of this period
    for (size_t i = 0; i + p < n; i += p) {
      if (i + p < end)
        continue;
      size_t forward = hash.equalForward(i, i + p);
      size_t backward = hash.equalBackward(i, i + p, p - 1);
      if (forward + backward < p)
        continue;
      found.push_back({i - backward, p + forward + backward, p});
      end = i + p + forward;
    }
  }
  llvm::sort(found, [](const Repetition &a, const Repetition &b) {
    return std::make_tuple(b.saved(), a.period, a.start) <
           std::make_tuple(a.saved(), b.period, b.start);
  });
  return found;
}

/// The longest run that stands at two places that do not overlap; 0 if it is
/// below the shortest layer.
size_t Outliner::findLongestRepeat(const RollingHash &hash) const {
  size_t n = codes.size();
  auto repeats = [&](size_t length) {
    llvm::DenseMap<uint64_t, size_t> first;
    for (size_t i = 0; i + length <= n; ++i) {
      auto [it, isNew] = first.try_emplace(hash.window(i, length), i);
      if (!isNew && it->second + length <= i)
        return true;
    }
    return false;
  };
  size_t low = 0, high = n / 2;
  while (low < high) {
    size_t mid = low + (high - low + 1) / 2;
    if (repeats(mid))
      low = mid;
    else
      high = mid - 1;
  }
  return low >= minOps ? low : 0;
}

/// For each place between two ops, how many values cross it.
std::vector<unsigned> Outliner::countCrossing() const {
  size_t n = ops.size();
  std::vector<int> change(n + 2, 0);
  for (size_t i = 0; i < n; ++i) {
    if (!ops[i])
      continue;
    for (Value v : ops[i]->getResults()) {
      int64_t last = i;
      for (Operation *user : v.getUsers()) {
        auto it = position.find(user);
        last = std::max<int64_t>(last, it == position.end() ? n : it->second);
      }
      if (last > static_cast<int64_t>(i)) {
        ++change[i + 1];
        --change[last + 1];
      }
    }
  }
  std::vector<unsigned> count(n + 1, 0);
  int now = 0;
  for (size_t i = 0; i <= n; ++i) {
    now += change[i];
    count[i] = now;
  }
  return count;
}

/// Where the runs of a repetition should begin: where fewest values cross.
size_t Outliner::bestOffset(const Repetition &r) const {
  std::vector<unsigned> crossing = countCrossing();
  size_t copies = r.length / r.period, best = 0;
  unsigned bestCost = ~0u;
  for (size_t o = 0; o <= r.length % r.period; ++o) {
    unsigned cost = 0;
    for (size_t t = 0; t <= copies; ++t)
      cost += crossing[r.start + o + t * r.period];
    if (cost < bestCost) {
      bestCost = cost;
      best = o;
    }
  }
  return best;
}

/// All runs equal to the given ones, which do not overlap.
std::vector<size_t> Outliner::findRuns(const RollingHash &hash,
                                       std::vector<size_t> runs,
                                       size_t length) const {
  uint64_t want = hash.window(runs.front(), length);
  std::vector<size_t> out;
  size_t next = 0, i = 0;
  while (i + length <= codes.size()) {
    // Never at the expense of a given one.
    while (next < runs.size() && runs[next] < i)
      ++next;
    bool fits =
        next == runs.size() || i == runs[next] || i + length <= runs[next];
    if (fits && hash.window(i, length) == want) {
      out.push_back(i);
      i += length;
    } else {
      ++i;
    }
  }
  return out;
}

/// For each operand in the run: which op of the run makes it, or -1.
SmallVector<int64_t> Outliner::structure(size_t start, size_t length) const {
  SmallVector<int64_t> out;
  for (size_t q = start; q < start + length; ++q)
    for (Value v : ops[q]->getOperands()) {
      int64_t p = positionOf(v);
      if (p < static_cast<int64_t>(start)) {
        out.push_back(-1);
        continue;
      }
      out.push_back(p - static_cast<int64_t>(start));
      out.push_back(cast<OpResult>(v).getResultNumber());
    }
  return out;
}

/// The names of a value's dimensions, where they are written.
Attribute Outliner::dimsOf(Value v) {
  if (auto argument = dyn_cast<BlockArgument>(v))
    return func::FuncOp(func).getArgAttr(argument.getArgNumber(), attrs::dims);
  auto result = cast<OpResult>(v);
  return result.getResultNumber() == 0
             ? result.getOwner()->getDiscardableAttr(attrs::dims)
             : Attribute();
}

/// Makes a function of the largest set of runs that are equal in structure
/// too. False if there are no two.
bool Outliner::outline(ArrayRef<size_t> candidates, size_t length) {
  std::map<SmallVector<int64_t>, SmallVector<size_t>> groups;
  for (size_t s : candidates)
    groups[structure(s, length)].push_back(s);
  SmallVector<size_t> runs;
  for (auto &group : groups)
    if (group.second.size() > runs.size() ||
        (group.second.size() == runs.size() &&
         group.second.front() < runs.front()))
      runs = group.second;
  if (runs.size() < 2)
    return false;

  // Arguments: operands from outside. Two are one argument if they are one
  // value in every run.
  std::map<SmallVector<const void *>, unsigned> argumentOf;
  SmallVector<SmallVector<Value>> arguments;        // [argument][run]
  SmallVector<std::pair<size_t, unsigned>> results; // op in the run, result
  llvm::DenseMap<std::pair<size_t, unsigned>, unsigned> argumentAt;
  for (size_t q = 0; q < length; ++q) {
    Operation *model = ops[runs.front() + q];
    for (unsigned j = 0; j < model->getNumOperands(); ++j) {
      if (positionOf(model->getOperand(j)) >=
          static_cast<int64_t>(runs.front()))
        continue;
      SmallVector<Value> values;
      SmallVector<const void *> key;
      for (size_t s : runs) {
        values.push_back(ops[s + q]->getOperand(j));
        key.push_back(values.back().getAsOpaquePointer());
      }
      auto [it, isNew] = argumentOf.try_emplace(key, arguments.size());
      if (isNew)
        arguments.push_back(values);
      argumentAt[{q, j}] = it->second;
    }
    for (unsigned r = 0; r < model->getNumResults(); ++r) {
      bool used = llvm::any_of(runs, [&](size_t s) {
        return llvm::any_of(
            ops[s + q]->getResult(r).getUsers(), [&](Operation *user) {
              auto it = position.find(user);
              return it == position.end() ||
                     it->second >= static_cast<int64_t>(s + length);
            });
      });
      if (used)
        results.push_back({q, r});
    }
  }

  // The function.
  OpBuilder b(func);
  SmallVector<Type> inputs, outputs;
  for (auto &values : arguments)
    inputs.push_back(values.front().getType());
  for (auto [q, r] : results)
    outputs.push_back(ops[runs.front() + q]->getResult(r).getType());
  auto layer = func::FuncOp::create(b, ops[runs.front()]->getLoc(), "layer",
                                    b.getFunctionType(inputs, outputs));
  layer.setPrivate();
  symbols.insert(layer);
  Block *body = layer.addEntryBlock();
  IRMapping map;
  for (auto [i, values] : llvm::enumerate(arguments)) {
    Attribute dims = dimsOf(values.front());
    if (dims &&
        llvm::all_of(values, [&](Value v) { return dimsOf(v) == dims; }))
      layer.setArgAttr(i, attrs::dims, dims);
  }
  b.setInsertionPointToEnd(body);
  for (size_t q = 0; q < length; ++q) {
    Operation *model = ops[runs.front() + q];
    Operation *copy = b.clone(*model, map);
    for (unsigned j = 0; j < model->getNumOperands(); ++j)
      if (auto it = argumentAt.find({q, j}); it != argumentAt.end())
        copy->setOperand(j, body->getArgument(it->second));
  }
  SmallVector<Value> returned;
  for (auto [q, r] : results)
    returned.push_back(map.lookup(ops[runs.front() + q]->getResult(r)));
  func::ReturnOp::create(b, ops[runs.front() + length - 1]->getLoc(), returned);

  // The calls. In program order, so that a call's operands exist; arguments
  // were collected before any run was replaced, so look them up anew.
  llvm::DenseMap<Value, Value> replaced;
  for (auto [k, s] : llvm::enumerate(runs)) {
    Operation *last = ops[s + length - 1];
    b.setInsertionPoint(last);
    SmallVector<Value> operands;
    for (auto &values : arguments) {
      Value now = replaced.lookup(values[k]);
      operands.push_back(now ? now : values[k]);
    }
    auto call = func::CallOp::create(b, ops[s]->getLoc(), layer, operands);
    for (auto [i, at] : llvm::enumerate(results)) {
      Value old = ops[s + at.first]->getResult(at.second);
      replaced[old] = call.getResult(i);
      old.replaceAllUsesWith(call.getResult(i));
    }
  }
  for (size_t s : runs) {
    Operation *call = ops[s + length - 1]->getPrevNode();
    for (size_t q = length; q-- > 0;) {
      Operation *op = ops[s + q];
      position.erase(op);
      op->erase();
      ops[s + q] = nullptr;
      codes[s + q] = nextCode++;
    }
    ops[s + length - 1] = call;
    position[call] = s + length - 1;
  }
  return true;
}

void Outliner::run() {
  number();
  // Each round makes one function. A model has few distinct layers; the limits
  // keep a program that has many from costing their number times its length.
  constexpr unsigned maxLayers = 32, maxTries = 16;
  for (unsigned round = 0; round < maxLayers; ++round) {
    RollingHash hash(codes);
    bool found = false;
    unsigned tries = 0;
    for (const Repetition &r : findRepetitions(hash)) {
      if (++tries > maxTries)
        break;
      size_t start = r.start + bestOffset(r);
      std::vector<size_t> runs;
      for (size_t t = 0; t < r.length / r.period; ++t)
        runs.push_back(start + t * r.period);
      if ((found = outline(findRuns(hash, runs, r.period), r.period)))
        break;
    }
    if (found)
      continue;
    size_t length = findLongestRepeat(hash);
    if (length == 0)
      return;
    llvm::DenseMap<uint64_t, size_t> first;
    std::vector<size_t> runs;
    for (size_t i = 0; i + length <= codes.size() && runs.empty(); ++i) {
      auto [it, isNew] = first.try_emplace(hash.window(i, length), i);
      if (!isNew && it->second + length <= i)
        runs = {it->second, i};
    }
    if (runs.empty() || !outline(findRuns(hash, runs, length), length))
      return;
  }
}

namespace {
struct OutlineLayersPass : dtc::impl::OutlineLayersBase<OutlineLayersPass> {
  using OutlineLayersBase::OutlineLayersBase;
  void runOnOperation() override {
    FailureOr<func::FuncOp> func = getPublicFunction(getOperation());
    if (failed(func))
      return signalPassFailure();
    if (!func->getBody().hasOneBlock()) {
      emitError(func->getLoc(), "functions must be one block");
      return signalPassFailure();
    }
    SymbolTable symbols(getOperation());
    Outliner(*func, symbols, minOps).run();
  }
};
} // namespace
