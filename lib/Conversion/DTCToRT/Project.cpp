//===- Project.cpp - What one rank of a pipeline runs ---------------------===//

#include "Project.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace dtc;

MicroBatchesOp dtc::getScheduledLoop(func::FuncOp step) {
  for (auto loop : step.getBody().getOps<MicroBatchesOp>())
    if (loop.getScheduleAttr())
      return loop;
  return {};
}

namespace {
class Projection {
public:
  Projection(func::FuncOp step, MicroBatchesOp loop)
      : step(step), loop(loop), module(step->getParentOfType<ModuleOp>()),
        symbols(module) {}

  LogicalResult run(ProjectedPipeline &out);

private:
  struct Rank {
    IRMapping values;
    OpBuilder b;
    explicit Rank(MLIRContext *context) : b(context) {}
  };

  LogicalResult prepare(ProjectedPipeline &out);
  void createFunctions();
  void project(Operation &op);
  void projectLoop(ProjectedStep &to, Rank &rank);
  void addHandovers(ProjectedStep &to, Block &block,
                    DenseMap<int64_t, IRMapping> &arriving);
  void runTask(const StagedBody::Task &task, int64_t number, Rank &rank,
               const IRMapping *arriving);

  func::FuncOp step;
  MicroBatchesOp loop;
  ModuleOp module;
  SymbolTable symbols;
  StagedBody body;
  std::optional<StageRanks> ranks;
  const schedule::Schedule *schedule = nullptr;
  int64_t numChannels = 0;
  std::vector<ProjectedStep> *steps = nullptr;
  std::vector<std::unique_ptr<Rank>> builders;
};
} // namespace

LogicalResult Projection::prepare(ProjectedPipeline &out) {
  FailureOr<StagedBody> staged = StagedBody::get(loop);
  if (failed(staged))
    return failure();
  body = std::move(*staged);
  auto op = symbols.lookup<ScheduleOp>(loop.getScheduleAttr().getAttr());
  llvm::Expected<schedule::Schedule> lists = op.getSchedule();
  if (!lists)
    return op.emitError(llvm::toString(lists.takeError()));
  out.schedule = std::move(*lists);
  schedule = &out.schedule;
  int64_t count = schedule->placement.ranks;
  if (count != getMesh(module).getSize("pp"))
    return op.emitError("is for ")
           << count
           << " ranks, but the mesh has pp=" << getMesh(module).getSize("pp");
  if (schedule->getStages() != body.numStages ||
      schedule->graph != body.getGraph())
    return op.emitError("is for other stages, or other values between them, "
                        "than those of the loop");
  // What arrives may be saved, so it stays as long as what is.
  schedule::SlotOptions options;
  options.shareChunks = false;
  options.keepActivations = options.keepGradients = true;
  auto slots = schedule::assignSlots(*schedule, options);
  if (!slots)
    return op.emitError(llvm::toString(slots.takeError()));
  out.slots = std::move(*slots);

  FailureOr<StageRanks> found =
      StageRanks::get(step, loop, body, schedule->placement);
  if (failed(found))
    return failure();
  ranks = std::move(*found);
  for (OpResult r : loop->getResults())
    if (ranks->homeOf(r.getResultNumber()) < 0)
      return loop.emitError("result #")
             << r.getResultNumber() << " is not made by a stage";
  out.steps.resize(count);
  steps = &out.steps;
  numChannels = schedule->getChannels();
  return success();
}

void Projection::createFunctions() {
  for (auto [r, to] : llvm::enumerate(*steps)) {
    auto rank = std::make_unique<Rank>(module.getContext());
    rank->b.setInsertionPoint(step);
    to.func = func::FuncOp::create(rank->b, step.getLoc(),
                                   (step.getName() + "_" + Twine(r)).str(),
                                   step.getFunctionType());
    to.func->setDiscardableAttrs(step->getDiscardableAttrDictionary());
    if (ArrayAttr attrs = step.getArgAttrsAttr())
      to.func.setArgAttrsAttr(attrs);
    if (ArrayAttr attrs = step.getResAttrsAttr())
      to.func.setResAttrsAttr(attrs);
    to.rank = static_cast<int64_t>(r);
    to.count = static_cast<int64_t>(steps->size());
    Block *block = to.func.addEntryBlock();
    rank->values.map(step.getArguments(), block->getArguments());
    rank->b.setInsertionPointToEnd(block);
    builders.push_back(std::move(rank));
  }
}

/// Clones an op outside of the loop for the ranks that need it.
void Projection::project(Operation &op) {
  auto sum = dyn_cast<SumStagesOp>(op);
  int64_t first = numChannels;
  if (sum)
    numChannels +=
        static_cast<int64_t>(sum.getFrom().size() * sum.getTo().size());
  for (unsigned r : ranks->needs(&op).set_bits()) {
    ProjectedStep &to = (*steps)[r];
    Rank &rank = *builders[r];
    if (&op == loop) {
      projectLoop(to, rank);
      continue;
    }
    if (!sum) {
      rank.b.clone(op, rank.values);
      continue;
    }
    // Of its operands this rank has one, or none.
    OperationState state(op.getLoc(), op.getName());
    for (auto [from, v] : llvm::zip_equal(sum.getFrom(), sum.getValues()))
      if (from == static_cast<int64_t>(r))
        state.addOperands(rank.values.lookup(v));
    state.addTypes(op.getResultTypes());
    state.addAttributes(op.getAttrs());
    Operation *copy = rank.b.create(state);
    rank.values.map(op.getResults(), copy->getResults());
    to.sums[copy] = {llvm::to_vector(sum.getFrom()),
                     llvm::to_vector(sum.getTo()), first};
  }
}

/// What the stages of one rank take and hand on. `arriving` has the arguments
/// by the stage that takes them.
void Projection::addHandovers(ProjectedStep &to, Block &block,
                              DenseMap<int64_t, IRMapping> &arriving) {
  for (auto [i, edge] : llvm::enumerate(body.edges))
    for (auto direction :
         {schedule::Direction::Activation, schedule::Direction::Gradient}) {
      bool forward = direction == schedule::Direction::Activation;
      int64_t channel = schedule::Schedule::getChannel(i, direction);
      if (!schedule->isUsed(channel))
        continue;
      int64_t sender = schedule->getSender(channel),
              receiver = schedule->getReceiver(channel);
      if (sender != to.rank && receiver != to.rank)
        continue;
      Handover h;
      h.channel = channel;
      h.arrives = receiver == to.rank;
      h.leaves = sender == to.rank;
      h.peer = h.arrives ? sender : receiver;
      for (Value v : forward ? edge.activations : edge.gradients) {
        Handover::Part part{v, Value(), h.bytes}; // `made` is found later
        if (h.arrives) {
          part.taken = block.addArgument(v.getType(), v.getLoc());
          arriving[schedule->getReceiverStage(channel)].map(v, part.taken);
        }
        h.parts.push_back(part);
        h.bytes += rt::getAlignedBytes(
            rt::getLocalBufferType(cast<DTensorType>(v.getType())));
      }
      to.handovers.push_back(std::move(h));
    }
}

/// The ops before a call, and the callee's.
void Projection::runTask(const StagedBody::Task &task, int64_t number,
                         Rank &rank, const IRMapping *arriving) {
  // What other tasks computed for themselves is not seen.
  IRMapping local;
  auto lookup = [&](Value v) {
    if (Value known = local.lookupOrNull(v))
      return known;
    if (Value arrived = arriving ? arriving->lookupOrNull(v) : Value())
      return arrived;
    return rank.values.lookup(v);
  };
  auto attr = rank.b.getI64IntegerAttr(number);
  auto clone = [&](Operation &op, auto &&get) {
    IRMapping map;
    for (Value v : op.getOperands())
      map.map(v, get(v));
    // What regions use from outside.
    op.walk([&](Operation *inner) {
      for (Value v : inner->getOperands())
        if (!map.contains(v) &&
            !op.isAncestor(v.getParentBlock()->getParentOp()))
          map.map(v, get(v));
    });
    Operation *copy = rank.b.clone(op, map);
    copy->setAttr(taskAttr, attr);
    return copy;
  };
  for (Operation *op : task.before)
    local.map(op->getResults(), clone(*op, lookup)->getResults());

  func::CallOp call = task.call;
  auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
  Block &inside = callee.getBody().front();
  IRMapping inlined;
  for (auto [arg, v] :
       llvm::zip_equal(inside.getArguments(), call.getOperands()))
    inlined.map(arg, lookup(v));
  for (Operation &op : inside.without_terminator()) {
    Operation *copy = clone(op, [&](Value v) { return inlined.lookup(v); });
    inlined.map(op.getResults(), copy->getResults());
  }
  for (auto [result, v] : llvm::zip_equal(
           call.getResults(), inside.getTerminator()->getOperands()))
    rank.values.map(result, inlined.lookup(v));
}

void Projection::projectLoop(ProjectedStep &to, Rank &rank) {
  Block &from = loop.getBody().front();
  SmallVector<Type> types;
  for (OpResult r : loop->getResults())
    if (ranks->homeOf(r.getResultNumber()) == to.rank)
      types.push_back(r.getType());
  to.loop = MicroBatchesOp::create(rank.b, loop.getLoc(), types,
                                   loop.getCount(), loop.getScheduleAttr());
  OpBuilder::InsertionGuard guard(rank.b);
  Block *block = rank.b.createBlock(&to.loop.getBody());
  rank.values.map(
      from.getArgument(0),
      block->addArgument(from.getArgument(0).getType(), loop.getLoc()));
  DenseMap<int64_t, IRMapping> arriving;
  addHandovers(to, *block, arriving);
  rank.b.setInsertionPointToEnd(block);
  for (const StagedBody::Task &task : body.tasks) {
    if (schedule->placement.getRank(task.stage) != to.rank)
      continue;
    auto it = arriving.find(task.stage);
    runTask(task, static_cast<int64_t>(to.tasks.size()), rank,
            it == arriving.end() ? nullptr : &it->second);
    to.tasks.push_back({task.stage, task.phase});
  }
  SmallVector<Value> yielded;
  unsigned next = 0;
  for (auto [r, v] : llvm::zip_equal(loop->getResults(),
                                     from.getTerminator()->getOperands())) {
    if (ranks->homeOf(r.getResultNumber()) != to.rank)
      continue;
    yielded.push_back(rank.values.lookup(v));
    rank.values.map(r, to.loop->getResult(next++));
  }
  for (Handover &h : to.handovers) {
    for (Handover::Part &part : h.parts) {
      part.made = h.leaves ? rank.values.lookup(part.made) : Value();
      if (part.made)
        yielded.push_back(part.made);
    }
  }
  YieldOp::create(rank.b, loop.getLoc(), yielded);
}

LogicalResult Projection::run(ProjectedPipeline &out) {
  if (failed(prepare(out)))
    return failure();
  createFunctions();
  for (Operation &op : step.getBody().front())
    project(op);
  return success();
}

FailureOr<ProjectedPipeline> dtc::projectPipeline(func::FuncOp step,
                                                  MicroBatchesOp loop) {
  ProjectedPipeline out;
  if (failed(Projection(step, loop).run(out)))
    return failure();
  return out;
}
