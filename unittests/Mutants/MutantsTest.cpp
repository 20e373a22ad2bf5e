//===- MutantsTest.cpp - Are wrong programs rejected? ---------------------===//
//
// Whole training steps (forward, backward, optimizer) are broken on purpose:
// every collective in turn is deleted, applied twice, or gets another kind,
// axis or dimension, while all types that the program declares stay as they
// are. The verifier must reject each of these mutants, or the program that it
// accepts must compute the same numbers. Mutants that keep all types (another
// operand of the same type) are beyond any verifier of types: the interpreter
// must see them.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/DTC/IR/DTC.h"
#include "dtc/Interpreter/Interpreter.h"
#include "dtc/Transforms/Pipelines.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/Format.h"
#include "gtest/gtest.h"
#include <map>
#include <memory>

using namespace mlir;
using namespace dtc;

namespace {

/// What changes which collectives there are and over what.
struct Case {
  const char *mesh;
  bool sequenceParallel = false;
  int64_t microbatches = 1;
  const char *cpAttention = "ring";
  int64_t zero = 0;
  const char *zero3Reshard = "micro-batch";
  const char *recompute = "none";
  const char *precision = "f32";
  const char *cpLayout = "contiguous";
  bool gatherAgain = false, splitBackward = false;

  Case layout(const char *name) const {
    Case c = *this;
    c.cpLayout = name;
    return c;
  }
  Case again() const {
    Case c = *this;
    c.gatherAgain = true;
    return c;
  }
  Case split() const {
    Case c = *this;
    c.splitBackward = true;
    return c;
  }
};

const Case cases[] = {
    {"dp=2"},
    {"tp=2"},
    {"tp=4"},
    {"dp=2,tp=2"},
    {"tp=2", true},
    {"dp=2,tp=2", true},
    {"dp=2,tp=2", false, 2},
    {"pp=2,dp=2,tp=2", true, 2},
    {"cp=2,tp=2"},
    {"cp=2,tp=2", true, 1, "ulysses"},
    {"dp=2,cp=2", false, 2, "all-gather"},
    // ZeRO: sums after the loop, in it, and in stages;
    // gathers before each layer, before the loop, in stages;
    // pieces that are padded.
    {"dp=2", false, 1, "ring", 1},
    {"dp=4", false, 1, "ring", 2},
    {"dp=2,tp=2", true, 2, "ring", 3},
    {"dp=2,cp=2", false, 1, "all-gather", 3, "step"},
    {"pp=2,dp=2", false, 2, "ring", 3},
    // Collectives that the backward repeats, and those of
    // layers that keep their operands only.
    {"dp=2,tp=2", true, 1, "ring", 3, "micro-batch", "full"},
    {"pp=2,tp=2", false, 2, "ring", 0, "micro-batch", "selective"},
    // Master copies, gradients of another type.
    {"dp=2,tp=2", false, 2, "ring", 2, "micro-batch", "none", "bf16"},
    {"dp=2,tp=2", true, 1, "ring", 3, "micro-batch", "full", "bf16"},
    // Larger axes, and all of them at once.
    {"dp=4"},
    {"dp=4,tp=2"},
    {"dp=2,tp=4", true},
    {"cp=4"},
    {"cp=4", false, 1, "ring", 3},
    Case{"cp=2"}.layout("zigzag"),
    Case{"dp=2,cp=2,tp=2", true}.layout("striped"),
    Case{"tp=2", true}.again(),
    Case{"dp=2,cp=2,tp=2", true, 2, "ring", 3}.layout("zigzag").again(),
    Case{"pp=2,tp=2", true, 2}.split(),
    Case{"pp=2,dp=2,cp=2,tp=2", true, 2, "ring", 3}.layout("zigzag").split(),
    {"pp=2,dp=2", false, 2, "ring", 1},
    {"pp=2,dp=2,tp=2", true, 2, "ring", 2, "micro-batch", "selective"},
    {"pp=2,dp=2,cp=2", false, 2, "ring", 3, "step", "selective"},
    {"dp=2,cp=2", false, 1, "ulysses", 1, "micro-batch", "full"}};

/// Of more mutants in a case a sample of this size is taken.
constexpr size_t maxReroutes = 15, maxPairs = 800;

std::string toString(const Case &c) {
  std::string s = c.mesh;
  if (c.sequenceParallel)
    s += " sequence-parallel";
  if (c.microbatches > 1)
    s += " microbatches=" + std::to_string(c.microbatches);
  if (StringRef(c.cpAttention) != "ring")
    s += std::string(" ") + c.cpAttention;
  if (c.zero)
    s += " zero=" + std::to_string(c.zero);
  if (StringRef(c.zero3Reshard) != "micro-batch")
    s += std::string(" reshard=") + c.zero3Reshard;
  if (StringRef(c.recompute) != "none")
    s += std::string(" recompute=") + c.recompute;
  if (StringRef(c.precision) != "f32")
    s += std::string(" ") + c.precision;
  if (StringRef(c.cpLayout) != "contiguous")
    s += std::string(" ") + c.cpLayout;
  if (c.gatherAgain)
    s += " sp-gather=again";
  if (c.splitBackward)
    s += " split-backward";
  return s;
}

/// Swallows diagnostics: mutants make thousands.
class Quiet {
public:
  explicit Quiet(MLIRContext *context)
      : handler(context, [](Diagnostic &) { return success(); }) {}

private:
  ScopedDiagnosticHandler handler;
};

/// What became of the mutants of one kind.
struct Counts {
  int64_t tried = 0, rejected = 0;
  /// Accepted by the verifier: wrong numbers, and right ones.
  int64_t caught = 0, equal = 0;
};
using Table = std::map<std::string, Counts>;

/// A collective, and what stands in its place.
struct Mutation {
  Operation *op;
  SmallVector<CollectiveSpec, 2> chain;
};

//===----------------------------------------------------------------------===//
// One program
//===----------------------------------------------------------------------===//

class Program {
public:
  static MLIRContext &getContext() {
    static MLIRContext *context = [] {
      DialectRegistry registry;
      registry.insert<DTCDialect, func::FuncDialect>();
      auto *ctx = new MLIRContext(registry, MLIRContext::Threading::DISABLED);
      ctx->loadAllAvailableDialects();
      return ctx;
    }();
    return *context;
  }

  Program(StringRef model, const Case &c)
      : name(model.str() + " " + ::toString(c)), data(7) {
    std::string file = std::string(DTC_MODELS) + "/" + model.str() + ".mlir";
    module = parseSourceFile<ModuleOp>(file, &getContext());
    if (!module)
      return;
    data.vocabulary = ProgramData::getVocabulary(*module);
    TrainingPipelineOptions options;
    options.mesh = c.mesh;
    options.sequenceParallel = c.sequenceParallel;
    options.microbatches = c.microbatches;
    options.cpAttention = c.cpAttention;
    options.zero = c.zero;
    options.zero3Reshard = c.zero3Reshard;
    options.recompute = c.recompute;
    options.precision = c.precision;
    options.cpLayout = c.cpLayout;
    options.gatherAgain = c.gatherAgain;
    options.splitBackward = c.splitBackward;
    PassManager pm(&getContext());
    buildTrainingPipeline(pm, options);
    if (failed(pm.run(*module)) || failed(verify(*module)) ||
        failed(run(reference))) {
      module = nullptr;
      return;
    }
    module->walk([&](CollectiveOpInterface op) { places.push_back(op); });
  }

  explicit operator bool() const { return static_cast<bool>(module); }

  using Numbers = std::map<std::string, Array>;
  LogicalResult run(Numbers &numbers) {
    Interpreter interpreter(*module, &data);
    // Rounding to bf16 would hide what is small, and show the order of sums.
    interpreter.round = false;
    if (failed(interpreter.run()))
      return failure();
    for (const auto *list :
         {&interpreter.getOutputs(), &interpreter.getWrites()})
      for (const Interpreter::Named &x : *list)
        numbers[x.name] = x.value;
    return success();
  }

  static bool same(const Numbers &a, const Numbers &b) {
    if (a.size() != b.size())
      return false;
    for (const auto &[what, x] : a) {
      auto it = b.find(what);
      if (it == b.end() ||
          !(getMaxError(x, it->second) < 1e-9 * (1 + getMagnitude(x))))
        return false;
    }
    return true;
  }

  /// Each collective's place among those of its function.
  std::string describe(Operation *op) {
    auto func = op->getParentOfType<func::FuncOp>();
    int64_t n = 0;
    for (Operation *other : places) {
      if (other == op)
        break;
      n += other->getParentOfType<func::FuncOp>() == func;
    }
    return ("@" + func.getSymName() + " " + op->getName().stripDialect() +
            " #" + Twine(n))
        .str();
  }

  void mutateAll(Table &table);
  void mutatePairs(Table &table);
  void reroute(Table &table);
  int64_t bypassRepads();
  void checkUnchanged();

  std::string name;
  ProgramData data;
  OwningOpRef<ModuleOp> module;
  SmallVector<Operation *> places;
  Numbers reference;
  /// Mutants of other types that the verifier accepts and that are wrong.
  int64_t holes = 0;

private:
  struct Applied {
    Operation *op;
    Block::iterator next;
    Block *block;
    SmallVector<OpOperand *> uses;
    SmallVector<Operation *, 2> added;
  };
  Applied apply(const Mutation &m);
  void undo(Applied &a);
  LogicalResult verifyLocally(ArrayRef<Applied> applied);
  LogicalResult verifyOne(Operation *op);
  void tryMutation(ArrayRef<Mutation> mutations, StringRef label, Table &table);
  void tryReroute(Operation *a, Operation *b, bool swap, Table &table);

  SymbolTableCollection symbols;
};

} // namespace

//===----------------------------------------------------------------------===//
// Mutations that keep declared types
//===----------------------------------------------------------------------===//

/// The op with any declared type, legal or not.
static Operation *createUnchecked(OpBuilder &b, Location loc,
                                  const CollectiveSpec &spec, Value operand,
                                  Type type) {
  const CollectiveInfo &info = getInfo(spec.kind);
  OperationState state(loc, ("dtc." + info.mnemonic).str());
  state.addOperands(operand);
  state.addTypes(type);
  state.addAttribute("axes", AxesAttr::get(b.getContext(), spec.axes));
  if (info.from == PlacementKind::Shard || info.to == PlacementKind::Shard)
    state.addAttribute("dim", b.getI64IntegerAttr(spec.dim));
  if (spec.kind == CollectiveKind::AllToAll)
    state.addAttribute("dim2", b.getI64IntegerAttr(spec.dim2));
  return b.create(state);
}

Program::Applied Program::apply(const Mutation &m) {
  Applied a{m.op, std::next(m.op->getIterator()), m.op->getBlock(), {}, {}};
  Value value = m.op->getOperand(0), result = m.op->getResult(0);
  for (OpOperand &use : result.getUses())
    a.uses.push_back(&use);
  m.op->remove();
  OpBuilder b(&getContext());
  b.setInsertionPoint(a.block, a.next);
  for (const CollectiveSpec &spec : m.chain) {
    a.added.push_back(
        createUnchecked(b, m.op->getLoc(), spec, value, result.getType()));
    value = a.added.back()->getResult(0);
  }
  for (OpOperand *use : a.uses)
    use->set(value);
  return a;
}

void Program::undo(Applied &a) {
  for (OpOperand *use : a.uses)
    use->set(a.op->getResult(0));
  for (Operation *op : llvm::reverse(a.added))
    op->erase();
  a.block->getOperations().insert(a.next, a.op);
}

LogicalResult Program::verifyOne(Operation *op) {
  if (failed(verify(op)))
    return failure();
  if (auto user = dyn_cast<SymbolUserOpInterface>(op))
    if (failed(user.verifySymbolUses(symbols)))
      return failure();
  // A terminator's operands are its parent's results.
  Operation *parent = op->getParentOp();
  if (op->hasTrait<OpTrait::IsTerminator>() && !isa<func::FuncOp>(parent))
    return parent->getName().verifyInvariants(parent);
  return success();
}

/// The ops that a mutation touched: no other's types have changed.
LogicalResult Program::verifyLocally(ArrayRef<Applied> applied) {
  llvm::SetVector<Operation *> touched;
  for (const Applied &a : applied) {
    touched.insert_range(a.added);
    for (OpOperand *use : a.uses)
      touched.insert(use->getOwner());
  }
  for (Operation *op : touched)
    if (op->getBlock() && failed(verifyOne(op)))
      return failure();
  return success();
}

void Program::tryMutation(ArrayRef<Mutation> mutations, StringRef label,
                          Table &table) {
  Quiet quiet(&getContext());
  Counts &counts = table[label.str()];
  ++counts.tried;
  std::string what = label.str();
  for (const Mutation &m : mutations) {
    what += "  " + describe(m.op) + " ->";
    for (const CollectiveSpec &spec : m.chain)
      what += " " + getInfo(spec.kind).mnemonic.str() + " over <" +
              dtc::toString(spec.axes) + "> " + std::to_string(spec.dim) + " " +
              std::to_string(spec.dim2);
    if (m.chain.empty())
      what += " nothing";
  }
  SmallVector<Applied, 2> applied;
  for (const Mutation &m : mutations)
    applied.push_back(apply(m));
  if (failed(verifyLocally(applied)) || failed(verify(*module))) {
    ++counts.rejected;
  } else {
    Numbers numbers;
    bool right = succeeded(run(numbers)) && same(reference, numbers);
    ++(right ? counts.equal : counts.caught);
    if (!label.starts_with("("))
      llvm::outs() << "  accepted, " << (right ? "equal" : "WRONG") << ": "
                   << name << ": " << what << "\n";
    holes += !right;
  }
  for (Applied &a : llvm::reverse(applied))
    undo(a);
}

/// Every other collective, and none, and two, with a label each; in
/// parentheses where nothing has changed.
static void
forEachVariant(Operation *op, MeshAttr mesh,
               function_ref<void(StringRef, ArrayRef<CollectiveSpec>)> fn) {
  CollectiveSpec c = cast<CollectiveOpInterface>(op).getSpec();
  auto rank = cast<DTensorType>(op->getOperand(0).getType()).getRank();
  fn("(itself)", c);
  fn("delete", {});
  fn("twice", {c, c});
  auto withAxes = [&](AxisList axes) {
    CollectiveSpec m = c;
    m.axes = std::move(axes);
    if (m.axes.empty() || m == c)
      return;
    // Without a dimension, the axes of a collective are a set.
    bool same = c.dim < 0 && mergedSet(m.axes) == mergedSet(c.axes);
    fn(same ? "(reordered axes)" : "axis", m);
  };
  for (size_t i = 0; i < c.axes.size(); ++i) {
    auto with = [&](ArrayRef<Axis> parts) {
      AxisList axes(ArrayRef<Axis>(c.axes).take_front(i));
      axes.append(parts.begin(), parts.end());
      llvm::append_range(axes, ArrayRef<Axis>(c.axes).drop_front(i + 1));
      withAxes(axes);
    };
    const Axis &old = c.axes[i];
    with({});
    for (const Axis &a : mesh.getAxes())
      with(a);
    for (const Axis &a : mesh.getAxes()) {
      with({old, a});
      with({a, old});
    }
    for (int64_t k = 2; k < old.size; ++k) {
      if (old.size % k != 0)
        continue;
      Axis major{old.name, old.pre, k};
      Axis minor{old.name, old.pre * k, old.size / k};
      with(major);
      with(minor);
      with({minor, major});
    }
    for (size_t j = i + 1; j < c.axes.size(); ++j) {
      AxisList axes(c.axes);
      std::swap(axes[i], axes[j]);
      withAxes(axes);
    }
  }
  using PK = PlacementKind;
  for (unsigned k = 0; k < numCollectiveKinds; ++k) {
    auto kind = static_cast<CollectiveKind>(k);
    const CollectiveInfo &info = getInfo(kind);
    bool hasDim = info.from == PK::Shard || info.to == PK::Shard;
    bool hasTwo = kind == CollectiveKind::AllToAll;
    for (int64_t d = 0; d < (hasDim ? rank : 1); ++d)
      for (int64_t e = 0; e < (hasTwo ? rank : 1); ++e) {
        CollectiveSpec m{kind, c.axes, hasDim ? d : -1, hasTwo ? e : -1};
        if (!(m == c) && !(hasTwo && d == e))
          fn(kind == c.kind ? "dimension" : "kind", m);
      }
  }
}

void Program::mutateAll(Table &table) {
  MeshAttr mesh = getMesh(*module);
  for (Operation *op : places)
    forEachVariant(
        op, mesh, [&](StringRef label, ArrayRef<CollectiveSpec> chain) {
          tryMutation(Mutation{op, llvm::to_vector<2>(chain)}, label, table);
        });
}

/// A change of a padded length that is left out is rejected. Returns how many
/// there were.
int64_t Program::bypassRepads() {
  SmallVector<RepadOp> repads;
  module->walk([&](RepadOp op) { repads.push_back(op); });
  for (RepadOp op : repads) {
    Quiet quiet(&getContext());
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : op.getResult().getUses())
      uses.push_back(&use);
    for (OpOperand *use : uses)
      use->set(op.getX());
    EXPECT_TRUE(failed(verify(*module))) << name << ": dtc.repad bypassed";
    for (OpOperand *use : uses)
      use->set(op.getResult());
  }
  return static_cast<int64_t>(repads.size());
}

/// Two mutations at once: one may not hide the other.
void Program::mutatePairs(Table &table) {
  MeshAttr mesh = getMesh(*module);
  SmallVector<SmallVector<Mutation>> variants;
  for (Operation *op : places) {
    SmallVector<Mutation> &mine = variants.emplace_back();
    forEachVariant(op, mesh,
                   [&](StringRef label, ArrayRef<CollectiveSpec> chain) {
                     if (!label.starts_with("("))
                       mine.push_back({op, llvm::to_vector<2>(chain)});
                   });
  }
  Random random(11, name);
  for (size_t n = 0; n < maxPairs && places.size() > 1; ++n) {
    auto i = random.below(places.size()), j = random.below(places.size());
    // Every other pair is one next to another: these could hide each other.
    if (n % 2)
      for (Operation *user : places[i]->getUsers()) {
        auto it = llvm::find(places, user);
        if (it != places.end())
          j = it - places.begin();
      }
    if (i == j)
      continue;
    tryMutation({variants[i][random.below(variants[i].size())],
                 variants[j][random.below(variants[j].size())]},
                "two at once", table);
  }
}

//===----------------------------------------------------------------------===//
// Mutations that keep all types
//===----------------------------------------------------------------------===//

/// Whether two values are the same computation.
static bool isSameValue(Value a, Value b) {
  if (a == b)
    return true;
  auto x = dyn_cast<OpResult>(a), y = dyn_cast<OpResult>(b);
  return x && y && x.getResultNumber() == y.getResultNumber() &&
         x.getOwner()->getNumRegions() == 0 && isPure(x.getOwner()) &&
         OperationEquivalence::isEquivalentTo(
             x.getOwner(), y.getOwner(),
             [](Value l, Value r) { return success(isSameValue(l, r)); },
             nullptr, OperationEquivalence::IgnoreLocations);
}

/// Whether the program means the same where `b` takes `a`'s operand.
static bool isProvablyEqual(Operation *a, Operation *b) {
  if (isSameValue(a->getOperand(0), b->getOperand(0)))
    return true;
  // A bias of all keys adds the same to all scores of a query, which softmax
  // does not see: neither the loss nor any gradient depends on it. The
  // optimizer's slice of it is another use: it becomes the new value.
  auto read = b->getOperand(0).getDefiningOp<ReadOp>();
  return read && read.getSlot() == Slot::Param && !isa<SliceOp>(b) &&
         read.getParam().ends_with("_bk");
}

void Program::tryReroute(Operation *a, Operation *b, bool swap, Table &table) {
  Quiet quiet(&getContext());
  Counts &counts = table[swap ? "swap operands" : "take other operand"];
  ++counts.tried;
  bool equalByConstruction =
      isProvablyEqual(a, b) && (!swap || isProvablyEqual(b, a));
  Value x = a->getOperand(0), y = b->getOperand(0);
  b->setOperand(0, x);
  if (swap)
    a->setOperand(0, y);
  std::string verdict;
  if (failed(verify(*module))) {
    ++counts.rejected;
    verdict = "rejected";
  } else {
    Numbers numbers;
    bool right = succeeded(run(numbers)) && same(reference, numbers);
    ++(right ? counts.equal : counts.caught);
    verdict = right ? (equalByConstruction ? "equal" : "NOT SEEN") : "numbers";
    EXPECT_EQ(right, equalByConstruction)
        << name << ": " << describe(a) << ", " << describe(b);
  }
  llvm::outs() << "  " << llvm::left_justify(verdict, 9) << name << ": "
               << (swap ? "swap " : "operand of ") << describe(a)
               << (swap ? " with " : " for ") << describe(b) << "\n";
  a->setOperand(0, x);
  b->setOperand(0, y);
}

void Program::reroute(Table &table) {
  struct Pair {
    Operation *a, *b;
    bool swap;
  };
  SmallVector<Pair> swaps, others;
  for (auto [i, a] : llvm::enumerate(places))
    for (Operation *b : ArrayRef<Operation *>(places).drop_front(i + 1)) {
      Value x = a->getOperand(0), y = b->getOperand(0);
      if (a->getBlock() != b->getBlock() || x == y ||
          x.getType() != y.getType())
        continue;
      Operation *def = y.getDefiningOp();
      bool early =
          !def || def->getBlock() != a->getBlock() || def->isBeforeInBlock(a);
      (early ? swaps : others).push_back({a, b, early});
    }
  Random random(12, name);
  for (SmallVector<Pair> *list : {&swaps, &others}) {
    for (size_t i = 1; i < list->size(); ++i)
      std::swap((*list)[i], (*list)[random.below(static_cast<int64_t>(i) + 1)]);
    if (list->size() > maxReroutes)
      list->resize(maxReroutes);
  }
  for (const Pair &p : llvm::concat<Pair>(swaps, others))
    tryReroute(p.a, p.b, p.swap, table);
}

/// Everything was undone.
void Program::checkUnchanged() {
  EXPECT_TRUE(succeeded(verify(*module))) << name;
  Numbers numbers;
  EXPECT_TRUE(succeeded(run(numbers)) && same(reference, numbers)) << name;
}

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

static void testModel(StringRef model) {
  Case one{"dp=1"};
  Program whole(model, one);
  one.precision = "bf16";
  Program wholeBF16(model, one);
  ASSERT_TRUE(whole && wholeBF16) << model.str();
  Table table;
  int64_t holes = 0;
  for (const Case &c : cases) {
    Program program(model, c);
    ASSERT_TRUE(program) << model.str() << " " << toString(c);
    EXPECT_FALSE(program.places.empty()) << program.name;
    // What mutants are compared with is right.
    bool bf16 = StringRef(c.precision) == "bf16";
    EXPECT_TRUE(
        Program::same((bf16 ? wholeBF16 : whole).reference, program.reference))
        << program.name;
    program.mutateAll(table);
    program.mutatePairs(table);
    program.reroute(table);
    program.checkUnchanged();
    holes += program.holes;
  }
  auto &os = llvm::outs();
  os << llvm::format("%-20s %8s %9s %8s %8s\n", "mutation", "tried", "rejected",
                     "numbers", "equal");
  int64_t tried = 0;
  for (const auto &[label, n] : table) {
    os << llvm::format(
        "%-20s %8lld %9lld %8lld %8lld\n", label.c_str(),
        static_cast<long long>(n.tried), static_cast<long long>(n.rejected),
        static_cast<long long>(n.caught), static_cast<long long>(n.equal));
    tried += n.tried;
  }
  os.flush();
  // The program itself, put together anew, is accepted and right.
  for (StringRef label : {"(itself)", "(reordered axes)"})
    EXPECT_EQ(table[label.str()].equal, table[label.str()].tried);
  EXPECT_EQ(holes, 0) << "wrong programs that the verifier accepts";
  EXPECT_GT(tried, 10000);
  EXPECT_GT(table["swap operands"].caught, 0);
}

namespace {
/// Makes one change to a shift, and takes it back.
class ShiftMutant {
public:
  enum Kind { Drop, Double, Reverse };
  ShiftMutant(ShiftOp shift, Kind kind) : shift(shift) {
    if (kind == Reverse) {
      shift.setInverse(!shift.getInverse());
      return;
    }
    for (OpOperand &use : shift.getResult().getUses())
      uses.push_back(&use);
    Value instead = shift.getX();
    if (kind == Double) {
      OpBuilder b(shift->getContext());
      b.setInsertionPointAfter(shift);
      second = cast<ShiftOp>(b.clone(*shift));
      second.getXMutable().assign(shift.getResult());
      instead = second.getResult();
    }
    for (OpOperand *use : uses)
      use->set(instead);
  }
  ~ShiftMutant() {
    if (uses.empty())
      shift.setInverse(!shift.getInverse());
    for (OpOperand *use : uses)
      use->set(shift.getResult());
    if (second)
      second.erase();
  }

private:
  ShiftOp shift, second;
  SmallVector<OpOperand *> uses;
};
} // namespace

/// A ring with one shift, or any set of its shifts, dropped, doubled or
/// reversed, or with two shifts exchanged, is rejected by its verifier.
TEST(Mutants, RingShifts) {
  int64_t tried = 0;
  for (const char *mesh : {"cp=2", "cp=4"}) {
    Program program("llama", {mesh});
    ASSERT_TRUE(program) << mesh;
    Quiet quiet(&Program::getContext());
    program.module->walk([&](RingOp ring) {
      SmallVector<ShiftOp> shifts(ring.getBody().front().getOps<ShiftOp>());
      EXPECT_GE(shifts.size(), 3u);
      auto expectRejected = [&](const std::string &what) {
        ++tried;
        EXPECT_TRUE(failed(verify(ring))) << mesh << ": " << what;
      };
      for (auto kind :
           {ShiftMutant::Drop, ShiftMutant::Double, ShiftMutant::Reverse})
        for (uint64_t bits = 1; bits < uint64_t(1) << shifts.size(); ++bits) {
          std::vector<std::unique_ptr<ShiftMutant>> mutants;
          for (auto [i, shift] : llvm::enumerate(shifts))
            if (bits >> i & 1)
              mutants.push_back(std::make_unique<ShiftMutant>(shift, kind));
          expectRejected("change " + std::to_string(kind) + " of shifts " +
                         std::to_string(bits));
          while (!mutants.empty())
            mutants.pop_back();
        }
      for (ShiftOp a : shifts)
        for (ShiftOp b : shifts) {
          Value x = a.getX(), y = b.getX();
          if (a == b || x.getType() != y.getType() || x.getDefiningOp() ||
              y.getDefiningOp())
            continue;
          a.getXMutable().assign(y);
          b.getXMutable().assign(x);
          expectRejected("exchanged operands");
          a.getXMutable().assign(x);
          b.getXMutable().assign(y);
        }
      EXPECT_TRUE(succeeded(verify(ring))) << "undone";
    });
    program.checkUnchanged();
  }
  EXPECT_GT(tried, 100);
}

/// A vector of 10 elements has pieces on 4 ranks.
TEST(Mutants, Repads) {
  for (int64_t zero : {1, 2, 3}) {
    Program program("gpt2", {"dp=4", false, 1, "ring", zero});
    ASSERT_TRUE(program) << zero;
    EXPECT_GT(program.bypassRepads(), 0) << zero;
    program.checkUnchanged();
  }
}

TEST(Mutants, Gpt2) { testModel("gpt2"); }

TEST(Mutants, Llama) { testModel("llama"); }
