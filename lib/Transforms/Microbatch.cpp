//===- Microbatch.cpp - Run the model once for each micro-batch -----------===//
//
// Three steps. The analysis finds each value's batch dimension, by factors,
// within functions and through calls, and what is a sum over the batch. Then
// the public function's ops are sorted: before the loop, in it, after it. Last
// everything in the loop, and every function that it calls, gets the rows of
// one micro-batch.
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "dtc/Transforms/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace dtc {
#define GEN_PASS_DEF_MICROBATCH
#include "dtc/Transforms/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

/// A dimension for each argument or result; -1 where nothing is the batch.
using BatchDims = SmallVector<int64_t>;

/// What one function's values are, for one set of arguments over the batch.
struct Analysis {
  func::FuncOp func;
  /// Values that have the batch, and which dimension it is.
  llvm::DenseMap<Value, int64_t> dims;
  /// Values that are sums over the batch (and linear in them).
  llvm::DenseSet<Value> sums;
  bool foundSums = false;

  int64_t dim(Value v) const {
    auto it = dims.find(v);
    return it == dims.end() ? -1 : it->second;
  }
  bool isOverBatch(Operation *op) const {
    auto has = [&](Value v) { return dims.count(v); };
    return llvm::any_of(op->getOperands(), has) ||
           llvm::any_of(op->getResults(), has);
  }
  BatchDims argumentDims() {
    BatchDims out;
    for (Value a : func.getArguments())
      out.push_back(dim(a));
    return out;
  }
  Operation *getReturn() { return func.getBody().front().getTerminator(); }
};

using VariantKey = std::pair<Operation *, BatchDims>;

class MicrobatchImpl {
public:
  MicrobatchImpl(ModuleOp module, int64_t count)
      : module(module), symbols(module), count(count) {}
  LogicalResult run();

private:
  // Analysis.
  FailureOr<Analysis *> analyze(func::FuncOp func, BatchDims argDims);
  LogicalResult spread(Analysis &a);
  LogicalResult visit(Analysis &a, Operation *op);
  LogicalResult visitFactors(Analysis &a, FactorOpInterface op);
  LogicalResult visitCall(Analysis &a, func::CallOp call);
  LogicalResult mark(Analysis &a, Value v, int64_t dim, Operation *at);
  LogicalResult findSums(Analysis &a);
  LogicalResult findSums(Analysis &a, Operation *op);
  LogicalResult checkLinear(Analysis &a, FactorOpInterface op);
  LogicalResult checkCount();

  // The public function's ops.
  LogicalResult split();
  LogicalResult findWholeSlice();
  LogicalResult buildLoop();

  // Types.
  LogicalResult collectVariants(Analysis &a);
  void retypeFunctions();
  Type withRows(Type type, int64_t dim) const;
  StringRef variantName(func::CallOp call, const Analysis &a);

  bool isPublic(const Analysis &a) const { return a.func == model; }
  /// Made over the batch from nothing: row numbers. Which number stands where
  /// depends on the logical index, so the whole is made and cut.
  static bool isSource(Operation *op) { return op->getNumOperands() == 0; }

  ModuleOp module;
  SymbolTable symbols;
  int64_t count;
  func::FuncOp model;
  int64_t batch = 0;
  /// Pieces in which inputs hold the batch; all pieces in which any value does.
  int64_t parts = 1;
  std::map<int64_t, AxisList> cuts;

  std::map<VariantKey, std::unique_ptr<Analysis>> analyses;
  SmallVector<Operation *> worklist;
  llvm::DenseSet<Operation *> queued;

  Analysis *top = nullptr;
  llvm::SetVector<Operation *> whole;
  SmallVector<Operation *> inLoop, after;

  struct Variant {
    Analysis *analysis;
    BatchDims dims;
  };
  llvm::MapVector<Operation *, SmallVector<Variant>> variants;
  std::map<VariantKey, std::string> names;
  llvm::DenseMap<Operation *, Operation *> calleeOf;
};

} // namespace

//===----------------------------------------------------------------------===//
// Analysis: the batch dimension
//===----------------------------------------------------------------------===//

/// The position of "batch" in dtc.dims.
static int64_t namedBatch(Attribute attr) {
  auto names = dyn_cast_or_null<ArrayAttr>(attr);
  if (!names)
    return -1;
  for (auto [d, name] : llvm::enumerate(names.getAsRange<StringAttr>()))
    if (name.getValue() == "batch")
      return d;
  return -1;
}

/// Marks a value and queues the ops that see it.
LogicalResult MicrobatchImpl::mark(Analysis &a, Value v, int64_t dim,
                                   Operation *at) {
  auto [it, isNew] = a.dims.try_emplace(v, dim);
  if (!isNew) {
    if (it->second == dim)
      return success();
    return at->emitError("the batch would be dimensions ")
           << it->second << " and " << dim << " of one value";
  }
  auto type = dyn_cast<DTensorType>(v.getType());
  if (!type || dim >= type.getRank())
    return at->emitError("has no dimension ") << dim << " for the batch";
  int64_t n = type.getShape()[dim];
  if (batch == 0)
    batch = n;
  if (n != batch)
    return at->emitError("the batch has ")
           << n << " rows here, but " << batch << " elsewhere";
  if (type.getPadded()[dim] != n)
    return at->emitError("the batch may not be padded: ") << type;
  ArrayRef<Axis> axes = type.getDimAxes(dim);
  cuts.try_emplace(product(axes), axes.begin(), axes.end());
  auto queue = [&](Operation *op) {
    if (queued.insert(op).second)
      worklist.push_back(op);
  };
  if (Operation *def = v.getDefiningOp())
    queue(def);
  for (Operation *user : v.getUsers())
    queue(user);
  return success();
}

LogicalResult MicrobatchImpl::visitFactors(Analysis &a, FactorOpInterface op) {
  FactorRule rule = op.getFactorRule();
  SmallVector<Value> values(op->getOperands());
  llvm::append_range(values, op->getResults());
  std::optional<unsigned> factor;
  for (auto [i, v] : llvm::enumerate(values)) {
    int64_t d = a.dim(v);
    if (d < 0)
      continue;
    const DimFactors &dim = rule.value(i)[d];
    if (dim.size() != 1)
      return op->emitError("the batch may not be part of a product of factors");
    if (factor && *factor != dim[0])
      return op->emitError("two dimensions of one op may not both be the "
                           "batch: factors '")
             << Twine(rule.factors[*factor].name) << "' and '"
             << Twine(rule.factors[dim[0]].name) << "'";
    factor = dim[0];
  }
  if (!factor)
    return success();
  for (auto [i, v] : llvm::enumerate(values))
    for (auto [d, dim] : llvm::enumerate(rule.value(i))) {
      if (!llvm::is_contained(dim, *factor))
        continue;
      if (dim.size() != 1)
        return op->emitError(
            "the batch may not be part of a product of factors");
      if (failed(mark(a, v, d, op)))
        return failure();
    }
  return success();
}

LogicalResult MicrobatchImpl::visitCall(Analysis &a, func::CallOp call) {
  FailureOr<func::FuncOp> callee = getCallee(call, symbols);
  if (failed(callee))
    return failure();
  BatchDims dims;
  for (Value v : call.getOperands())
    dims.push_back(a.dim(v));
  // The callee has a worklist of its own.
  SmallVector<Operation *> outer = std::move(worklist);
  llvm::DenseSet<Operation *> outerQueued = std::move(queued);
  worklist.clear();
  queued.clear();
  FailureOr<Analysis *> inner = analyze(*callee, dims);
  worklist = std::move(outer);
  queued = std::move(outerQueued);
  if (failed(inner))
    return failure();
  // What the callee found out about its arguments holds for the operands.
  for (auto [v, d] :
       llvm::zip_equal(call.getOperands(), (*inner)->argumentDims()))
    if (d >= 0 && failed(mark(a, v, d, call)))
      return failure();
  for (auto [v, r] :
       llvm::zip_equal(call.getResults(), (*inner)->getReturn()->getOperands()))
    if (int64_t d = (*inner)->dim(r); d >= 0 && failed(mark(a, v, d, call)))
      return failure();
  return success();
}

LogicalResult MicrobatchImpl::visit(Analysis &a, Operation *op) {
  if (auto call = dyn_cast<func::CallOp>(op))
    return visitCall(a, call);
  if (isa<func::ReturnOp>(op))
    return success();
  if (isa<CollectiveOpInterface>(op)) {
    Value x = op->getOperand(0), y = op->getResult(0);
    if (int64_t d = a.dim(x); d >= 0)
      return mark(a, y, d, op);
    if (int64_t d = a.dim(y); d >= 0)
      return mark(a, x, d, op);
    return success();
  }
  if (auto factorOp = dyn_cast<FactorOpInterface>(op))
    return visitFactors(a, factorOp);
  if (a.isOverBatch(op))
    return op->emitError("may not have the batch as a dimension");
  return success();
}

LogicalResult MicrobatchImpl::spread(Analysis &a) {
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val();
    queued.erase(op);
    if (failed(visit(a, op)))
      return failure();
  }
  return success();
}

FailureOr<Analysis *> MicrobatchImpl::analyze(func::FuncOp func,
                                              BatchDims argDims) {
  std::unique_ptr<Analysis> &slot = analyses[{func, argDims}];
  if (slot)
    return slot.get();
  slot = std::make_unique<Analysis>();
  Analysis &a = *slot;
  a.func = func;
  for (auto [i, arg] : llvm::enumerate(func.getArguments())) {
    int64_t d = argDims[i];
    if (d < 0)
      d = namedBatch(func.getArgAttr(i, attrs::dims));
    if (d >= 0 && failed(mark(a, arg, d, func)))
      return failure();
  }
  for (Operation &op : func.getBody().front()) {
    if (int64_t d = namedBatch(op.getAttr(attrs::dims)); d >= 0)
      if (failed(mark(a, op.getResult(0), d, &op)))
        return failure();
    // Callees may know of the batch by themselves.
    if (isa<func::CallOp>(op) && queued.insert(&op).second)
      worklist.push_back(&op);
  }
  if (failed(spread(a)))
    return failure();
  return &a;
}

//===----------------------------------------------------------------------===//
// Analysis: sums over the batch
//===----------------------------------------------------------------------===//

/// An op on sums must be linear in them: then it may stand after the loop, or
/// be applied to every summand. Inside a function it is applied to summands,
/// so all operands of the linear set must be sums; after the loop a constant
/// may join.
LogicalResult MicrobatchImpl::checkLinear(Analysis &a, FactorOpInterface op) {
  FactorRule rule = op.getFactorRule();
  auto isSum = [&](unsigned i) { return a.sums.contains(op->getOperand(i)); };
  for (auto [k, set] : llvm::enumerate(rule.linearSets)) {
    bool fits = true;
    for (unsigned i = 0; i < rule.getNumOperands(); ++i)
      fits &= !isSum(i) || llvm::is_contained(set, i);
    if (!isPublic(a))
      fits &= llvm::all_of(set, isSum);
    if (!fits)
      continue;
    for (Value v : op->getResults())
      if (rule.isLinearResult(k, cast<OpResult>(v).getResultNumber()))
        a.sums.insert(v);
    return success();
  }
  return op->emitError("uses a sum over the batch, in which it is not linear: "
                       "it cannot be computed for micro-batches");
}

LogicalResult MicrobatchImpl::findSums(Analysis &a, Operation *op) {
  bool usesSum = llvm::any_of(op->getOperands(),
                              [&](Value v) { return a.sums.contains(v); });
  if (!a.isOverBatch(op)) {
    if (!usesSum || isa<func::ReturnOp>(op))
      return success();
    auto collective = dyn_cast<CollectiveOpInterface>(op);
    if (collective && getTranspose(collective.getSpec())) {
      a.sums.insert(op->getResult(0));
      return success();
    }
    if (auto factorOp = dyn_cast<FactorOpInterface>(op))
      return checkLinear(a, factorOp);
    return op->emitError("may not use a sum over the batch");
  }
  if (usesSum && !isa<func::ReturnOp>(op))
    return op->emitError("uses both a sum over the batch and rows of it: it "
                         "cannot be computed for micro-batches");
  if (isa<func::ReturnOp>(op) || isa<CollectiveOpInterface>(op))
    return success();

  bool over =
      llvm::any_of(op->getOperands(), [&](Value v) { return a.dims.count(v); });
  if (!over && isSource(op)) {
    if (isPublic(a))
      return success();
    return op->emitError("numbers the rows of the batch inside a layer: it "
                         "must stand in the model function and be passed");
  }
  if (auto call = dyn_cast<func::CallOp>(op)) {
    BatchDims dims;
    for (Value v : call.getOperands())
      dims.push_back(a.dim(v));
    FailureOr<func::FuncOp> callee = getCallee(call, symbols);
    FailureOr<Analysis *> inner = analyze(*callee, dims);
    if (failed(inner) || failed(findSums(**inner)))
      return failure();
    for (auto [v, r] : llvm::zip_equal(call.getResults(),
                                       (*inner)->getReturn()->getOperands()))
      if ((*inner)->sums.contains(r))
        a.sums.insert(v);
    return success();
  }
  FactorRule rule = cast<FactorOpInterface>(op).getFactorRule();
  FactorSet factor;
  for (unsigned i = 0; i < rule.getNumValues(); ++i) {
    Value v = i < rule.getNumOperands()
                  ? op->getOperand(i)
                  : op->getResult(i - rule.getNumOperands());
    if (int64_t d = a.dim(v); d >= 0)
      factor.set(rule.value(i)[d][0]);
  }
  for (OpResult v : op->getResults()) {
    if (a.dims.count(v))
      continue;
    if ((factor & ~rule.summedIn[v.getResultNumber()]).any())
      return op->emitError("result #")
             << v.getResultNumber()
             << " has no batch but is no sum over it: it cannot be computed "
                "for micro-batches";
    if (cast<DTensorType>(v.getType()).isInteger() && !isPublic(a))
      return op->emitError("sums integers over the batch inside a layer: it "
                           "must stand in the model function, where it is "
                           "computed for all micro-batches at once");
    a.sums.insert(v);
  }
  return success();
}

/// Runs when every value's batch dimension is known.
LogicalResult MicrobatchImpl::findSums(Analysis &a) {
  if (std::exchange(a.foundSums, true))
    return success();
  for (Operation &op : a.func.getBody().front()) {
    // In the model function integer sums are computed before the loop: they
    // are whole, and what uses them is free of the batch.
    if (failed(findSums(a, &op)))
      return failure();
    if (isPublic(a))
      for (Value v : op.getResults())
        if (auto t = dyn_cast<DTensorType>(v.getType()); t && t.isInteger())
          if (a.sums.erase(v) && !a.isOverBatch(&op))
            return op.emitError("an integer may not depend on a sum of floats");
  }
  return success();
}

/// Wherever the batch is cut, it must be a multiple of its pieces times the
/// micro-batches.
LogicalResult MicrobatchImpl::checkCount() {
  auto fits = [&](int64_t pieces, int64_t m) {
    return m > 0 && m <= batch && batch % (pieces * m) == 0;
  };
  SmallVector<int64_t> choices;
  for (int64_t m = 1; m <= batch; ++m)
    if (llvm::all_of(cuts, [&](auto &cut) { return fits(cut.first, m); }))
      choices.push_back(m);
  for (auto &[pieces, axes] : llvm::reverse(cuts)) {
    if (fits(pieces, count))
      continue;
    std::string what, numbers;
    for (const Axis &axis : axes) {
      what += axis.name.str() + " x ";
      numbers += std::to_string(axis.size) + " x ";
    }
    return emitError(model.getLoc(), "batch ")
           << batch << " is not a multiple of " << what
           << "microbatches = " << numbers << count << "; microbatches may be "
           << listOfChoices(choices);
  }
  // Rows are taken from the pieces that inputs and row numbers have.
  auto see = [&](Value v) {
    if (int64_t d = top->dim(v); d >= 0)
      parts = std::max(parts,
                       product(cast<DTensorType>(v.getType()).getDimAxes(d)));
  };
  llvm::for_each(model.getArguments(), see);
  for (Operation &op : model.getBody().front())
    if (isSource(&op))
      llvm::for_each(op.getResults(), see);
  return success();
}

//===----------------------------------------------------------------------===//
// The public function
//===----------------------------------------------------------------------===//

/// Ops that make integers which sum the batch away, and what they come from.
/// They are computed for the whole step, before the loop, so that (say) every
/// micro-batch's loss is divided by the step's number of labels.
LogicalResult MicrobatchImpl::findWholeSlice() {
  SmallVector<Operation *> todo;
  auto add = [&](Operation *op) {
    if (op && whole.insert(op))
      todo.push_back(op);
  };
  for (Operation &op : model.getBody().front()) {
    bool over = llvm::any_of(op.getOperands(),
                             [&](Value v) { return top->dims.count(v); });
    if (over && llvm::any_of(op.getResults(), [&](Value v) {
          auto t = dyn_cast<DTensorType>(v.getType());
          return t && t.isInteger() && !top->dims.count(v);
        }))
      add(&op);
  }
  while (!todo.empty()) {
    Operation *op = todo.pop_back_val();
    for (Value v : op->getResults())
      if (auto t = dyn_cast<DTensorType>(v.getType());
          isa<func::CallOp>(op) || !t || !t.isInteger())
        return op->emitError("an integer sum over the batch is computed for "
                             "the whole step, but depends on this op, which "
                             "is not on integers alone");
    for (Value v : op->getOperands())
      if (Operation *def = v.getDefiningOp();
          def && top->dims.count(v) && !isSource(def))
        add(def);
  }
  return success();
}

LogicalResult MicrobatchImpl::split() {
  if (failed(findWholeSlice()))
    return failure();
  for (Operation &op : model.getBody().front().without_terminator()) {
    bool isAfter = llvm::any_of(op.getOperands(),
                                [&](Value v) { return top->sums.contains(v); });
    if (isAfter)
      after.push_back(&op);
    else if (top->isOverBatch(&op) && !isSource(&op))
      inLoop.push_back(&op);
  }
  for (OpOperand &r : top->getReturn()->getOpOperands())
    if (top->dims.count(r.get()))
      return emitError(model.getLoc(), "result #")
             << r.getOperandNumber()
             << " has a row for each row of the batch; a step may return only "
                "sums over the batch";
  if (inLoop.empty())
    return emitError(model.getLoc(),
                     "nothing that is returned depends on a dimension named "
                     "\"batch\" in dtc.dims");
  return success();
}

Type MicrobatchImpl::withRows(Type type, int64_t dim) const {
  TensorSpec spec(cast<DTensorType>(type));
  spec.shape[dim] = spec.padded[dim] = batch / count;
  return DTensorType::get(spec);
}

LogicalResult MicrobatchImpl::buildLoop() {
  Block &body = model.getBody().front();
  Operation *terminator = body.getTerminator();
  OpBuilder b(terminator);

  llvm::SmallPtrSet<Operation *, 32> insideSet(inLoop.begin(), inLoop.end());
  SmallVector<Value> yielded;
  for (Operation *op : inLoop)
    for (Value v : op->getResults())
      if (top->sums.contains(v) &&
          llvm::any_of(v.getUsers(), [&](Operation *user) {
            return !insideSet.contains(user);
          }))
        yielded.push_back(v);
  if (yielded.empty())
    return emitError(model.getLoc(), "no result is a sum over the batch");

  // The loop stands after everything that does not need it.
  Location loc = inLoop.front()->getLoc();
  auto loop =
      MicroBatchesOp::create(b, loc, ValueRange(yielded).getTypes(),
                             static_cast<uint64_t>(count), FlatSymbolRefAttr());
  Block *inside = b.createBlock(&loop.getBody());
  auto scalar = DTensorType::get({}, b.getI32Type());
  Value m = inside->addArgument(scalar, loc);
  for (Operation *op : after)
    op->moveBefore(terminator);

  // Ops on whole-batch integers stay, and have a copy inside.
  b.setInsertionPointToEnd(inside);
  IRMapping map;
  SmallVector<Operation *> moved;
  for (Operation *op : inLoop) {
    if (!whole.contains(op)) {
      op->moveBefore(inside, inside->end());
      moved.push_back(op);
      continue;
    }
    Operation *copy = b.clone(*op);
    for (auto [from, to] :
         llvm::zip_equal(op->getResults(), copy->getResults())) {
      map.map(from, to);
      if (int64_t d = top->dim(from); d >= 0)
        top->dims[to] = d;
    }
    moved.push_back(copy);
  }

  // Everything from outside that has the batch is cut.
  b.setInsertionPointToStart(inside);
  llvm::DenseMap<Attribute, Value> index;
  auto cut = [&](Value x, Location at) -> FailureOr<Value> {
    auto type = cast<DTensorType>(x.getType());
    int64_t dim = top->dim(x);
    if (dim != 0)
      return emitError(at, "an input must have the batch as its first "
                           "dimension, but has it as dimension ")
             << dim;
    int64_t k = product(type.getDimAxes(0));
    if (k != 1 && k != parts)
      return emitError(at, "the batch is cut in ")
             << k << " pieces here, but in " << parts << " elsewhere";
    AxisList axes;
    for (AxesAttr d : type.getDims())
      llvm::append_range(axes, d.getAxes());
    llvm::append_range(axes, type.getReplicate().getAxes());
    auto key = AxesAttr::get(b.getContext(), mergedSet(axes));
    Value &i = index[key];
    if (!i)
      i = key.empty()
              ? m
              : createCollective(
                    b, loc, {CollectiveKind::F, AxisList(key.getAxes())}, m);
    return MicroBatchOp::create(b, at, withRows(type, 0), x, i,
                                static_cast<uint64_t>(parts),
                                static_cast<uint64_t>(count))
        .getResult();
  };
  for (Operation *op : moved)
    for (OpOperand &operand : op->getOpOperands()) {
      Value v = operand.get();
      if (!top->dims.count(v))
        continue;
      if (Value copy = map.lookupOrNull(v)) {
        operand.set(copy);
        continue;
      }
      if (v.getParentBlock() == inside)
        continue;
      FailureOr<Value> row = cut(v, v.getLoc());
      if (failed(row))
        return failure();
      map.map(v, *row);
      top->dims[*row] = 0;
      operand.set(*row);
    }

  for (Operation *op : moved)
    for (Value v : op->getResults())
      if (int64_t d = top->dim(v); d >= 0)
        v.setType(withRows(v.getType(), d));
  for (Operation *op : moved)
    if (auto call = dyn_cast<func::CallOp>(op))
      if (StringRef name = variantName(call, *top); !name.empty())
        call.setCallee(name);

  b.setInsertionPointToEnd(inside);
  YieldOp::create(b, loc, yielded);
  for (auto [v, sum] : llvm::zip_equal(yielded, loop.getSums()))
    v.replaceUsesWithIf(sum, [&](OpOperand &use) {
      return use.getOwner()->getBlock() == &body;
    });
  // Copies of integer ops that only the whole batch's sum needed.
  for (Operation *op : llvm::reverse(moved))
    if (isOpTriviallyDead(op))
      op->erase();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*inside)))
    if (isOpTriviallyDead(&op))
      op.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Types of the functions
//===----------------------------------------------------------------------===//

static BatchDims operandDims(func::CallOp call, const Analysis &a) {
  BatchDims dims;
  for (Value v : call.getOperands())
    dims.push_back(a.dim(v));
  return dims;
}

/// Which functions are called with which arguments over the batch, in the end
/// (the analysis saw intermediate states too).
LogicalResult MicrobatchImpl::collectVariants(Analysis &a) {
  for (auto call : a.func.getBody().front().getOps<func::CallOp>()) {
    FailureOr<func::FuncOp> callee = getCallee(call, symbols);
    calleeOf[call] = *callee;
    VariantKey key{*callee, operandDims(call, a)};
    if (!names.emplace(key, "").second)
      continue;
    FailureOr<Analysis *> inner = analyze(*callee, key.second);
    if (failed(inner))
      return failure();
    variants[*callee].push_back({*inner, key.second});
    if (failed(collectVariants(**inner)))
      return failure();
  }
  return success();
}

StringRef MicrobatchImpl::variantName(func::CallOp call, const Analysis &a) {
  auto it = names.find({calleeOf.lookup(call), operandDims(call, a)});
  return it == names.end() ? StringRef() : StringRef(it->second);
}

/// One function keeps its body; others that are called otherwise get copies.
void MicrobatchImpl::retypeFunctions() {
  struct Work {
    func::FuncOp func;
    Analysis *analysis;
    IRMapping map;
    bool isCopy;
  };
  SmallVector<Work> work;
  for (auto &[op, list] : variants) {
    auto func = cast<func::FuncOp>(op);
    // A variant without the batch stays as it is.
    auto *plain = llvm::find_if(
        list, [](const Variant &v) { return v.analysis->dims.empty(); });
    if (plain != list.end())
      std::swap(*plain, list.front());
    for (auto [i, variant] : llvm::enumerate(list)) {
      Work w{func, variant.analysis, {}, i > 0};
      if (i > 0) {
        w.func = cast<func::FuncOp>(func->clone(w.map));
        symbols.insert(w.func, std::next(Block::iterator(func)));
      }
      names[{op, variant.dims}] = w.func.getSymName().str();
      work.push_back(std::move(w));
    }
  }
  for (Work &w : work) {
    if (w.analysis->dims.empty())
      continue;
    auto mapped = [&](Value v) { return w.isCopy ? w.map.lookup(v) : v; };
    for (auto call :
         w.analysis->func.getBody().front().getOps<func::CallOp>()) {
      auto target = call;
      if (w.isCopy)
        target = cast<func::CallOp>(w.map.lookup(call.getOperation()));
      if (StringRef name = variantName(call, *w.analysis); !name.empty())
        target.setCallee(name);
    }
    for (auto [v, d] : w.analysis->dims)
      mapped(v).setType(withRows(v.getType(), d));
  }
  for (Work &w : work)
    w.func.setFunctionType(FunctionType::get(
        w.func.getContext(), w.func.getBody().front().getArgumentTypes(),
        w.func.getBody().front().getTerminator()->getOperandTypes()));
}

LogicalResult MicrobatchImpl::run() {
  auto order = keepReachable(module, symbols);
  if (failed(order))
    return failure();
  model = order->back();
  FailureOr<Analysis *> analysis =
      analyze(model, BatchDims(model.getNumArguments(), -1));
  if (failed(analysis))
    return failure();
  top = *analysis;
  if (failed(findSums(*top)) || failed(split()) || failed(checkCount()) ||
      failed(collectVariants(*top)))
    return failure();
  retypeFunctions();
  if (failed(buildLoop()))
    return failure();
  if (model.getSymName() != "step") {
    // A layer function may have that name; it gives way.
    if (Operation *other = symbols.lookup("step"))
      if (failed(symbols.renameToUnique(other, {})))
        return failure();
    if (failed(symbols.rename(model, "step")))
      return failure();
  }
  return success();
}

namespace {
struct MicrobatchPass : dtc::impl::MicrobatchBase<MicrobatchPass> {
  using MicrobatchBase::MicrobatchBase;
  void runOnOperation() override {
    if (failed(MicrobatchImpl(getOperation(), count).run()))
      signalPassFailure();
  }
};
} // namespace
