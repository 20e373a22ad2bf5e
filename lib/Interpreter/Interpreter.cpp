//===- Interpreter.cpp - Runs dtc programs on simulated ranks -------------===//

#include "dtc/Interpreter/Interpreter.h"
#include "Scheduled.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace dtc;

//===----------------------------------------------------------------------===//
// One op
//===----------------------------------------------------------------------===//

static LogicalResult finish(Operation *op, MutableArrayRef<Pieces> results,
                            MeshAttr mesh, double tolerance, bool round) {
  for (auto [r, pieces] : llvm::enumerate(results)) {
    auto type = cast<DTensorType>(op->getResult(r).getType());
    auto emitError = [&, r = r] {
      InFlightDiagnostic diag = op->emitOpError();
      diag << "result #" << r << " (" << type << "): ";
      return diag;
    };
    // Poisoning needs pieces of the right shape.
    if (failed(checkShapes(pieces, type, mesh, emitError)))
      return failure();
    if (round)
      roundTo(type.getElementType(), pieces);
    poison(pieces, type, mesh);
    if (failed(checkPieces(pieces, type, mesh, tolerance, emitError)))
      return failure();
  }
  return success();
}

static FailureOr<SmallVector<Pieces>>
runMeaning(MeaningOpInterface op, const FactorRule &rule,
           ArrayRef<const Pieces *> operands, MeshAttr mesh) {
  SmallVector<DTensorType> types = getOperandTensorTypes(op);
  llvm::append_range(types, getResultTensorTypes(op));
  SmallVector<AxisList> factorAxes = getFactorAxes(rule, types);
  auto ranks = static_cast<int64_t>(mesh.getNumRanks());
  std::vector<FactorPiece> pieces;
  std::vector<SmallVector<Array>> values(ranks);
  pieces.reserve(ranks);
  for (int64_t rank = 0; rank < ranks; ++rank) {
    pieces.emplace_back(rule, factorAxes, [&](ArrayRef<Axis> axes) {
      return mesh.getIndex(rank, axes);
    });
    for (const Pieces *operand : operands)
      values[rank].push_back((*operand)[rank]);
  }
  GroupView group;
  group.ranks = ranks;
  group.groups = [&](char factor) {
    std::optional<unsigned> f = rule.find(factor);
    return getGroups(mesh,
                     f ? ArrayRef<Axis>(factorAxes[*f]) : ArrayRef<Axis>());
  };
  SmallVector<SmallVector<Array>> got =
      op.interpretRanks(group, pieces, values);
  SmallVector<Pieces> results(op->getNumResults());
  if (static_cast<int64_t>(got.size()) != ranks)
    return op->emitOpError("meaning gives results of ")
           << got.size() << " ranks, not " << ranks;
  for (SmallVector<Array> &mine : got) {
    if (mine.size() != op->getNumResults())
      return op->emitOpError("meaning gives ")
             << mine.size() << " results, not " << op->getNumResults();
    for (auto [r, x] : llvm::enumerate(mine))
      results[r].push_back(std::move(x));
  }
  return results;
}

FailureOr<SmallVector<Pieces>>
dtc::interpretOp(Operation *op, const FactorRule &rule,
                 ArrayRef<const Pieces *> operands, MeshAttr mesh,
                 double tolerance, bool round) {
  auto meaning = dyn_cast<MeaningOpInterface>(op);
  if (!meaning)
    return op->emitOpError("cannot be interpreted: it has no meaning on "
                           "tensors");
  FailureOr<SmallVector<Pieces>> results =
      runMeaning(meaning, rule, operands, mesh);
  if (failed(results) || failed(finish(op, *results, mesh, tolerance, round)))
    return failure();
  return results;
}

FailureOr<SmallVector<Pieces>>
dtc::interpretOp(Operation *op, ArrayRef<const Pieces *> operands,
                 MeshAttr mesh, double tolerance, bool round) {
  if (auto collective = dyn_cast<CollectiveOpInterface>(op)) {
    SmallVector<Pieces> results;
    results.push_back(
        runCollective(collective.getSpec(), *operands[0],
                      cast<DTensorType>(op->getOperand(0).getType()),
                      cast<DTensorType>(op->getResult(0).getType()), mesh));
    if (failed(finish(op, results, mesh, tolerance, round)))
      return failure();
    return results;
  }
  auto factorOp = dyn_cast<FactorOpInterface>(op);
  if (!factorOp)
    return op->emitOpError("cannot be interpreted: it has no meaning on "
                           "tensors");
  return interpretOp(op, factorOp.getFactorRule(), operands, mesh, tolerance,
                     round);
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// Stages are no ranks of their own here: no type names the pipeline's axis,
/// and every stage runs on the ranks of all other axes.
static MeshAttr getSimulatedMesh(ModuleOp module) {
  MeshAttr mesh = getMesh(module);
  AxisList axes;
  for (const Axis &a : mesh.getAxes())
    if (a.name.getValue() != pipelineAxis)
      axes.push_back(a);
  return MeshAttr::get(mesh.getContext(), axes);
}

Interpreter::Interpreter(ModuleOp module, const ProgramData *data)
    : module(module), data(data), mesh(getSimulatedMesh(module)),
      symbols(module) {}

std::string Interpreter::getWriteName(Slot slot, StringRef param) {
  return (stringifySlot(slot) + " of @" + param).str();
}

LogicalResult Interpreter::checkMesh(Operation *op, Type type) {
  auto tensor = dyn_cast<DTensorType>(type);
  if (!tensor)
    return op->emitOpError("cannot be interpreted: type ")
           << type << " is not a dtc tensor";
  for (const Axis &a : tensor.getNamedAxes())
    if (!mesh.contains(a))
      return op->emitOpError("axis ") << toString(ArrayRef<Axis>(a)) << " of "
                                      << type << " is not on the mesh " << mesh;
  return success();
}

LogicalResult Interpreter::runCall(func::CallOp op, Environment &env) {
  auto callee = symbols.lookup<func::FuncOp>(op.getCallee());
  if (!callee)
    return op.emitOpError() << "calls @" << op.getCallee()
                            << ", which is not a function of the module";
  if (llvm::is_contained(stack, callee))
    return op.emitOpError()
           << "calls @" << op.getCallee() << " recursively: a program must end";
  if (callee.getFunctionType() !=
      FunctionType::get(op.getContext(),
                        SmallVector<Type>(op.getOperandTypes()),
                        SmallVector<Type>(op.getResultTypes())))
    return op.emitOpError() << "does not fit the type of @" << op.getCallee();
  std::vector<Pieces> arguments;
  for (Value v : op.getOperands())
    arguments.push_back(env.at(v));
  FailureOr<SmallVector<Pieces>> results = call(callee, arguments);
  if (failed(results))
    return failure();
  for (auto [v, pieces] : llvm::zip_equal(op.getResults(), *results))
    env[v] = std::move(pieces);
  return success();
}

LogicalResult Interpreter::runRead(ReadOp op, Environment &env) {
  DTensorType type = op.getType();
  std::string name = getWriteName(op.getSlot(), op.getParam());
  if (auto it = kept.find(name); it != kept.end()) {
    if (it->second.type != type)
      return op.emitOpError() << "reads " << type << " where "
                              << it->second.type << " was written";
    env[op.getResult()] = it->second.pieces;
    return success();
  }
  auto param = symbols.lookup<ParamOp>(op.getParam());
  if (!param)
    return op.emitOpError() << "@" << op.getParam() << " is not a dtc.param";
  if (!data)
    return op.emitOpError("needs parameters, but none are given");
  FailureOr<Array> x =
      data->getParam(param, op.getSlot(), [&] { return op.emitOpError(); });
  if (failed(x))
    return failure();
  if (ArrayRef<int64_t>(x->shape) != type.getShape())
    return op.emitOpError() << "reads " << type << " of a parameter that is "
                            << param.getTensorType();
  Random random(0); // nothing is drawn: such types have no summands
  Pieces pieces = distribute(*x, type, mesh, random);
  if (round)
    roundTo(type.getElementType(), pieces);
  env[op.getResult()] = std::move(pieces);
  return success();
}

LogicalResult Interpreter::runWrite(WriteOp op, Environment &env) {
  std::string name = getWriteName(op.getSlot(), op.getParam());
  if (!kept.count(name))
    writeOrder.push_back(name);
  kept[name] = {op.getValue().getType(), env.at(op.getValue())};
  return success();
}

LogicalResult Interpreter::runMicroBatches(MicroBatchesOp op,
                                           Environment &env) {
  std::optional<schedule::Schedule> order = schedule;
  if (FlatSymbolRefAttr name = op.getScheduleAttr(); name && !order) {
    auto lists = symbols.lookup<ScheduleOp>(name.getValue()).getSchedule();
    if (!lists)
      return op.emitError(llvm::toString(lists.takeError()));
    order = std::move(*lists);
  }
  if (order)
    return runScheduled(op, *order, env, mesh.getNumRanks(), round,
                        [&](Operation *inner, Environment &values) {
                          return runOp(inner, values);
                        });
  Block &body = op.getBody().front();
  for (int64_t m = 0; m < static_cast<int64_t>(op.getCount()); ++m) {
    Array number(ArrayRef<int64_t>{}, static_cast<double>(m));
    env[body.getArgument(0)] = Pieces(mesh.getNumRanks(), number);
    if (failed(runBlock(body, env)))
      return failure();
    for (auto [yielded, sum] : llvm::zip_equal(
             body.getTerminator()->getOperands(), op.getResults())) {
      const Pieces x = env.at(yielded);
      if (m == 0) {
        env[sum] = x;
        continue;
      }
      addTo(env[sum], x, cast<DTensorType>(sum.getType()).getElementType(),
            round);
    }
  }
  return success();
}

LogicalResult Interpreter::runRing(RingOp op, Environment &env) {
  Block &body = op.getBody().front();
  std::vector<Pieces> carried;
  for (Value v : op.getInits())
    carried.push_back(env.at(v));
  for (uint64_t i = 0; i < op.getBlocks(); ++i) {
    for (auto [arg, pieces] : llvm::zip_equal(body.getArguments(), carried))
      env[arg] = std::move(pieces);
    if (failed(runBlock(body, env)))
      return failure();
    for (auto [v, pieces] :
         llvm::zip_equal(body.getTerminator()->getOperands(), carried))
      pieces = env.at(v);
  }
  for (auto [v, pieces] : llvm::zip_equal(op.getResults(), carried))
    env[v] = std::move(pieces);
  return success();
}

LogicalResult Interpreter::runOp(Operation *op, Environment &env) {
  for (Value v : op->getOperands())
    if (!env.count(v))
      return op->emitOpError("uses a value that has not been computed");
  for (Type t : op->getResultTypes())
    if (failed(checkMesh(op, t)))
      return failure();
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](func::CallOp call) { return runCall(call, env); })
      .Case([&](ReadOp read) { return runRead(read, env); })
      .Case([&](WriteOp write) { return runWrite(write, env); })
      .Case([&](MicroBatchesOp loop) { return runMicroBatches(loop, env); })
      .Case([&](RingOp ring) { return runRing(ring, env); })
      .Default([&](Operation *) -> LogicalResult {
        SmallVector<const Pieces *> operands;
        for (Value v : op->getOperands())
          operands.push_back(&env.find(v)->second);
        FailureOr<SmallVector<Pieces>> results =
            interpretOp(op, operands, mesh, tolerance, round);
        if (failed(results))
          return failure();
        for (auto [v, pieces] : llvm::zip_equal(op->getResults(), *results)) {
          for (const Array &x : pieces)
            largest = std::max(largest, getMagnitude(x));
          env[v] = std::move(pieces);
        }
        return success();
      });
}

LogicalResult Interpreter::runBlock(Block &block, Environment &env) {
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      return success();
    if (failed(runOp(&op, env)))
      return failure();
  }
  return success();
}

FailureOr<SmallVector<Pieces>> Interpreter::call(func::FuncOp func,
                                                 ArrayRef<Pieces> arguments) {
  if (func.isExternal())
    return func.emitOpError("has no body to interpret");
  if (!func.getBody().hasOneBlock())
    return func.emitOpError("has several blocks; a program is one");
  Block &body = func.getBody().front();
  auto ret = dyn_cast<func::ReturnOp>(body.getTerminator());
  if (!ret)
    return func.emitOpError("must end in func.return");
  if (arguments.size() != body.getNumArguments())
    return func.emitOpError("has ")
           << body.getNumArguments() << " arguments, but got "
           << arguments.size();
  Environment env;
  for (auto [arg, pieces] : llvm::zip_equal(body.getArguments(), arguments)) {
    if (failed(checkMesh(func, arg.getType())))
      return failure();
    env[arg] = pieces;
  }
  stack.push_back(func);
  LogicalResult ran = runBlock(body, env);
  stack.pop_back();
  if (failed(ran))
    return failure();
  SmallVector<Pieces> results;
  for (Value v : ret.getOperands()) {
    if (!env.count(v))
      return ret.emitOpError("returns a value that has not been computed");
    results.push_back(env.at(v));
  }
  return results;
}

FailureOr<func::FuncOp> Interpreter::getEntry() {
  func::FuncOp entry;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (!func.isPublic())
      continue;
    if (entry) {
      InFlightDiagnostic diag =
          func.emitOpError("is a second public function; the program is the "
                           "one that there is");
      diag.attachNote(entry.getLoc()) << "the first one is here";
      return diag;
    }
    entry = func;
  }
  if (!entry)
    return module.emitError("has no public function to interpret");
  return entry;
}

LogicalResult Interpreter::run() {
  FailureOr<func::FuncOp> entry = getEntry();
  if (failed(entry))
    return failure();
  std::vector<Pieces> arguments;
  for (auto [i, type] : llvm::enumerate(entry->getArgumentTypes())) {
    if (failed(checkMesh(*entry, type)))
      return failure();
    auto tensor = cast<DTensorType>(type);
    auto name = entry->getArgAttrOfType<StringAttr>(i, attrs::input);
    std::string what = name ? name.str() : "argument " + std::to_string(i);
    if (!data)
      return entry->emitOpError("needs inputs, but none are given");
    FailureOr<Array> x =
        data->getInput(what, tensor, [&] { return entry->emitOpError(); });
    if (failed(x))
      return failure();
    Random random(0, what);
    Pieces pieces = distribute(*x, tensor, mesh, random);
    if (round)
      roundTo(tensor.getElementType(), pieces);
    arguments.push_back(std::move(pieces));
  }
  kept.clear();
  writeOrder.clear();
  outputs.clear();
  writes.clear();
  FailureOr<SmallVector<Pieces>> results = call(*entry, arguments);
  if (failed(results))
    return failure();
  for (auto [i, pieces] : llvm::enumerate(*results)) {
    auto name = entry->getResultAttrOfType<StringAttr>(i, attrs::output);
    std::string what = name ? name.str() : "result " + std::to_string(i);
    auto type = cast<DTensorType>(entry->getResultTypes()[i]);
    FailureOr<Array> x = assemble(pieces, type, mesh, tolerance, [&] {
      return entry->emitOpError() << "'" << what << "': ";
    });
    if (failed(x))
      return failure();
    outputs.push_back({what, type, std::move(*x)});
  }
  for (const std::string &name : writeOrder) {
    const Kept &k = kept[name];
    FailureOr<Array> x = assemble(k.pieces, k.type, mesh, tolerance, [&] {
      return entry->emitOpError() << name << ": ";
    });
    if (failed(x))
      return failure();
    writes.push_back({name, k.type, std::move(*x)});
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

double dtc::getMaxError(const Array &a, const Array &b) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (a.shape != b.shape)
    return infinity;
  double error = 0;
  for (int64_t i = 0; i < a.count(); ++i) {
    if (a[i] == b[i]) // infinities too
      continue;
    double e = std::abs(a[i] - b[i]);
    error = std::isnan(e) ? infinity : std::max(error, e);
  }
  return error;
}

double dtc::getMagnitude(const Array &a) {
  double m = 0;
  for (double x : a.data)
    if (std::isfinite(x))
      m = std::max(m, std::abs(x));
  return m;
}
