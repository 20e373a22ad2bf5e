//===- LowerPipeline.cpp - A scheduled loop to tasks and actions ----------===//
//
// What one task makes and another uses lies in a group: a buffer in as many
// copies as there are micro-batches for which it is needed at once. The
// schedule's slots say which copy; a run of a task names the copies of all
// groups that it touches.
//
//===----------------------------------------------------------------------===//

#include "LowerFunction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace dtc;

namespace {

/// Where a group's copy for a micro-batch is looked up.
enum class GroupKind { Saved, Kept, Gradients, Received, Outgoing };

struct Group {
  GroupKind kind;
  int64_t key; // the stage, or the channel
  int64_t bytes = 0, copies = 1;
  Value buffer;
};

struct Place {
  unsigned group;
  int64_t offset;
};

/// Groups of one rank's loop, and what lies in them.
class Groups {
public:
  Groups(const ProjectedPipeline &pipeline, const ProjectedStep &step,
         const Buffers &values)
      : pipeline(pipeline), step(step), values(values) {}

  void build();

  const ProjectedPipeline &pipeline;
  const ProjectedStep &step;
  const Buffers &values;

  SmallVector<Group> groups;
  llvm::MapVector<Value, Place> places; // of roots
  /// What is copied at the end of a task.
  struct Copy {
    Value value;
    Place to;
  };
  SmallVector<SmallVector<Copy>> copies;       // by task
  SmallVector<llvm::SetVector<unsigned>> used; // by task
  SmallVector<SmallVector<Operation *>> ops;   // by task
  /// By handover.
  SmallVector<unsigned> arriving, leaving;

  int64_t copyOf(unsigned group, int64_t microBatch) const;

private:
  unsigned get(GroupKind kind, int64_t key);
  int64_t countCopies(GroupKind kind, int64_t key) const;
  void findUses();
  void placeKept();
  void placeHandovers();

  std::map<std::pair<GroupKind, int64_t>, unsigned> index;
  llvm::DenseMap<Value, int64_t> definedIn;
  llvm::MapVector<Value, llvm::SetVector<int64_t>> usedIn;
};
} // namespace

int64_t Groups::countCopies(GroupKind kind, int64_t key) const {
  const schedule::SlotAssignment &slots = pipeline.slots;
  switch (kind) {
  case GroupKind::Saved:
    return slots.savedSlots[key];
  case GroupKind::Kept:
    return slots.keptSlots[key];
  case GroupKind::Gradients:
    return slots.gradientSlots[key];
  case GroupKind::Received:
    return slots.receivedSlots[key];
  case GroupKind::Outgoing:
    return slots.outgoingSlots[key];
  }
  llvm_unreachable("all kinds are listed");
}

int64_t Groups::copyOf(unsigned group, int64_t microBatch) const {
  const schedule::SlotAssignment &slots = pipeline.slots;
  const Group &g = groups[group];
  switch (g.kind) {
  case GroupKind::Saved:
    return slots.getSaved(g.key, microBatch);
  case GroupKind::Kept:
    return slots.getKept(g.key, microBatch);
  case GroupKind::Gradients:
    return slots.getGradients(g.key, microBatch);
  case GroupKind::Received:
    return slots.getReceived(g.key, microBatch);
  case GroupKind::Outgoing:
    return slots.getOutgoing(g.key, microBatch);
  }
  llvm_unreachable("all kinds are listed");
}

unsigned Groups::get(GroupKind kind, int64_t key) {
  auto [it, isNew] = index.try_emplace({kind, key}, groups.size());
  if (isNew)
    groups.push_back(
        {kind, key, 0, std::max<int64_t>(1, countCopies(kind, key)), Value()});
  return it->second;
}

/// Which tasks make and use the body's roots.
void Groups::findUses() {
  Block &body = step.loop->getRegion(0).front();
  for (Operation &op : body.without_terminator()) {
    int64_t task = op.getAttrOfType<IntegerAttr>(taskAttr).getInt();
    ops[task].push_back(&op);
    for (Value v : op.getResults())
      if (values.getRoot(v) == v)
        definedIn[v] = task;
    if (getAliasedOperand(&op))
      continue;
    op.walk([&](Operation *inner) {
      for (Value v : inner->getOperands()) {
        Value root = values.getRoot(v);
        if (root.getParentBlock() == &body)
          usedIn[root].insert(task);
      }
    });
  }
}

/// What a stage keeps for its own backward.
void Groups::placeKept() {
  for (auto &[root, tasks] : usedIn) {
    auto it = definedIn.find(root);
    if (it == definedIn.end())
      continue; // it arrives, or is the micro-batch's number
    const ProjectedStep::Task &maker = step.tasks[it->second];
    bool later = false, byWeights = false;
    for (int64_t t : tasks) {
      const ProjectedStep::Task &user = step.tasks[t];
      if (t == it->second || user.stage != maker.stage)
        continue;
      later = true;
      byWeights |= user.phase == Phase::WeightBackward;
    }
    if (!later)
      continue;
    GroupKind kind = maker.phase != Phase::Forward ? GroupKind::Gradients
                     : byWeights                   ? GroupKind::Kept
                                                   : GroupKind::Saved;
    unsigned group = get(kind, maker.stage);
    places[root] = {group, groups[group].bytes};
    groups[group].bytes += rt::getAlignedBytes(
        rt::getLocalBufferType(cast<DTensorType>(root.getType())));
  }
}

/// Messages, and what one stage hands to another of the same rank.
void Groups::placeHandovers() {
  for (const Handover &h : step.handovers) {
    bool local = h.arrives && h.leaves;
    arriving.push_back(h.arrives ? get(GroupKind::Received, h.channel) : 0);
    leaving.push_back(h.leaves ? (local ? arriving.back()
                                        : get(GroupKind::Outgoing, h.channel))
                               : 0);
    unsigned group = h.arrives ? arriving.back() : leaving.back();
    groups[group].bytes = h.bytes;
    // The task that makes them: that of the sending stage.
    int64_t maker = -1;
    if (h.leaves)
      for (auto [t, task] : llvm::enumerate(step.tasks)) {
        bool forward = task.phase == Phase::Forward;
        if (task.stage == pipeline.schedule.getSenderStage(h.channel) &&
            task.phase != Phase::WeightBackward &&
            forward == (h.channel % 2 == 0))
          maker = static_cast<int64_t>(t);
      }
    for (const Handover::Part &part : h.parts) {
      Place place{group, part.offset};
      if (part.taken)
        places[part.taken] = place;
      if (!part.made)
        continue;
      Value root = values.getRoot(part.made);
      auto it = definedIn.find(root);
      bool isHere = it != definedIn.end() && it->second == maker;
      if (isHere && places.insert({root, place}).second)
        continue;
      copies[maker].push_back({part.made, place});
      used[maker].insert(group);
    }
  }
}

void Groups::build() {
  size_t n = step.tasks.size();
  copies.resize(n);
  used.resize(n);
  ops.resize(n);
  findUses();
  placeKept();
  placeHandovers();
  auto touch = [&](Value root, int64_t task) {
    if (auto it = places.find(root); it != places.end())
      used[task].insert(it->second.group);
  };
  for (auto &[root, tasks] : usedIn)
    for (int64_t t : tasks)
      touch(root, t);
  for (auto [root, task] : definedIn)
    touch(root, task);
  for (auto [t, list] : llvm::enumerate(copies))
    for (const Copy &copy : list)
      touch(values.getRoot(copy.value), static_cast<int64_t>(t));
  for (auto &set : used) {
    SmallVector<unsigned> sorted(set.begin(), set.end());
    llvm::sort(sorted);
    set.clear();
    set.insert(sorted.begin(), sorted.end());
  }
}

//===----------------------------------------------------------------------===//
// Actions
//===----------------------------------------------------------------------===//

namespace {
/// The rank's list in the words of rt.pipeline.
class ActionWriter {
public:
  ActionWriter(const Groups &groups, ArrayRef<int64_t> channelOf)
      : groups(groups), channelOf(channelOf),
        underway(groups.step.handovers.size()) {}

  SmallVector<int64_t> write();

private:
  void message(const schedule::Action &a);
  void run(const schedule::Action &a);
  void sent(size_t handover) {
    rt::appendAction(out, {rt::Action::Sent, channelOf[handover], {}});
    underway[handover].erase(underway[handover].begin());
  }
  size_t findHandover(int64_t channel) const {
    for (auto [i, h] : llvm::enumerate(groups.step.handovers))
      if (h.channel == channel)
        return i;
    llvm_unreachable("the schedule has been held against the edges");
  }

  const Groups &groups;
  ArrayRef<int64_t> channelOf;                // by handover: number in the op
  SmallVector<SmallVector<int64_t>> underway; // copies being sent
  SmallVector<int64_t> out;
};
} // namespace

static Phase getPhase(schedule::ActionKind kind) {
  switch (kind) {
  case schedule::ActionKind::Forward:
    return Phase::Forward;
  case schedule::ActionKind::InputBackward:
    return Phase::InputBackward;
  case schedule::ActionKind::WeightBackward:
    return Phase::WeightBackward;
  default:
    return Phase::Backward;
  }
}

void ActionWriter::message(const schedule::Action &a) {
  size_t i = findHandover(schedule::Schedule::getChannel(a));
  if (a.kind == schedule::ActionKind::Wait) {
    rt::appendAction(out, {rt::Action::Receive, channelOf[i], {}});
    return;
  }
  bool sends = a.kind == schedule::ActionKind::Send;
  unsigned group = sends ? groups.leaving[i] : groups.arriving[i];
  int64_t copy = groups.copyOf(group, a.microBatch);
  rt::appendAction(
      out, {sends ? rt::Action::Send : rt::Action::Post, channelOf[i], copy});
  if (sends)
    underway[i].push_back(copy);
}

void ActionWriter::run(const schedule::Action &a) {
  int64_t stage = groups.pipeline.schedule.getStage(groups.step.rank, a);
  Phase phase = getPhase(a.kind);
  const auto *task = llvm::find_if(groups.step.tasks, [&](const auto &t) {
    return t.stage == stage && t.phase == phase;
  });
  // The first stage may have nothing to hand on.
  if (task == groups.step.tasks.end())
    return;
  int64_t number = task - groups.step.tasks.begin();
  SmallVector<int64_t> words{a.microBatch};
  for (unsigned group : groups.used[number]) {
    int64_t copy = std::max<int64_t>(0, groups.copyOf(group, a.microBatch));
    words.push_back(copy);
    if (groups.groups[group].kind != GroupKind::Outgoing)
      continue;
    // What was sent from this copy must have left.
    for (auto [i, leaving] : llvm::enumerate(groups.leaving))
      if (leaving == group && groups.step.handovers[i].leaves)
        while (llvm::is_contained(underway[i], copy))
          sent(i);
  }
  rt::appendAction(out, {rt::Action::Run, number, words});
}

SmallVector<int64_t> ActionWriter::write() {
  for (const schedule::Action &a :
       groups.pipeline.schedule.ranks[groups.step.rank]) {
    if (schedule::isMessage(a.kind))
      message(a);
    else if (schedule::isCompute(a.kind))
      run(a);
    // What reduces and updates stands after the loop.
  }
  for (size_t i = 0; i < underway.size(); ++i)
    while (!underway[i].empty())
      sent(i);
  return std::move(out);
}

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

LogicalResult FunctionLowering::lowerTask(rt::TaskOp task, int64_t number,
                                          ArrayRef<Operation *> ops,
                                          BlockArgument microBatch) {
  Location loc = task.getLoc();
  bool usesNumber = llvm::any_of(ops, [&](Operation *op) {
    return llvm::is_contained(op->getOperands(), microBatch) ||
           llvm::any_of(op->getOperands(), [&](Value v) {
             return values.getRoot(v) == microBatch;
           });
  });
  if (usesNumber) {
    Value at = rt::AllocOp::create(
        b, loc, rt::getLocalBufferType(cast<DTensorType>(microBatch.getType())),
        IntegerAttr());
    rt::SetIndexOp::create(b, loc, task.getBody().getArgument(0), at);
    buffers[microBatch] = at;
  }
  return ops.empty() ? success()
                     : lowerRange(ops.front()->getIterator(),
                                  std::next(ops.back()->getIterator()));
}

LogicalResult FunctionLowering::lowerPipeline(MicroBatchesOp loop) {
  Location loc = loop.getLoc();
  MLIRContext *context = b.getContext();
  Block &body = loop.getBody().front();
  createSums(loop);

  Groups groups(*pipeline, *projected, values);
  groups.build();
  SmallVector<Value> buffersOfGroups;
  SmallVector<int64_t> copies;
  for (Group &group : groups.groups) {
    auto type =
        MemRefType::get({group.bytes * group.copies}, b.getIntegerType(8));
    group.buffer = rt::AllocOp::create(b, loc, type, IntegerAttr());
    buffersOfGroups.push_back(group.buffer);
    copies.push_back(group.copies);
  }
  SmallVector<Attribute> channels;
  SmallVector<int64_t> channelGroups, channelOf;
  for (auto [i, h] : llvm::enumerate(projected->handovers)) {
    channelOf.push_back(static_cast<int64_t>(channels.size()));
    if (h.arrives && h.leaves)
      continue;
    const schedule::Schedule &s = pipeline->schedule;
    std::string name = ("stage " + Twine(s.getSenderStage(h.channel)) + " to " +
                        Twine(s.getReceiverStage(h.channel)) + ": " +
                        (h.channel % 2 ? "gradients" : "activations"))
                           .str();
    channels.push_back(
        rt::ChannelAttr::get(context, name, h.channel, h.peer, h.bytes));
    channelGroups.push_back(h.arrives ? groups.arriving[i] : groups.leaving[i]);
  }
  auto op = rt::PipelineOp::create(b, loc, buffersOfGroups, copies,
                                   b.getArrayAttr(channels), channelGroups,
                                   ActionWriter(groups, channelOf).write());
  OpBuilder::InsertionGuard guard(b);
  Block *tasks = b.createBlock(&op.getBody());
  for (auto [t, task] : llvm::enumerate(projected->tasks)) {
    b.setInsertionPointToEnd(tasks);
    const auto &used = groups.used[t];
    SmallVector<int64_t> numbers(used.begin(), used.end());
    auto to = rt::TaskOp::create(b, loc, stringifyPhase(task.phase),
                                 static_cast<uint64_t>(task.stage), numbers);
    Block *inside = b.createBlock(&to.getBody());
    inside->addArgument(b.getIndexType(), loc);
    b.setInsertionPointToEnd(inside);
    auto slot = [&](Value v, Place place) -> Value {
      const auto *at = llvm::find(numbers, static_cast<int64_t>(place.group));
      return rt::SlotOp::create(
          b, loc, rt::getLocalBufferType(cast<DTensorType>(v.getType())),
          static_cast<uint64_t>(at - numbers.begin()),
          static_cast<uint64_t>(place.offset));
    };
    fixedBuffers.clear();
    for (auto [root, place] : groups.places)
      if (used.contains(place.group))
        buffers[root] = fixedBuffers[root] = slot(root, place);
    if (failed(lowerTask(to, static_cast<int64_t>(t), groups.ops[t],
                         body.getArgument(0))))
      return failure();
    for (const Groups::Copy &copy : groups.copies[t])
      kernels.copy(b, loc, bufferOf(copy.value), slot(copy.value, copy.to));
  }
  fixedBuffers.clear();
  return success();
}

//===----------------------------------------------------------------------===//
// Sums over stages
//===----------------------------------------------------------------------===//

LogicalResult FunctionLowering::lowerStageSum(SumStagesOp op) {
  Location loc = op.getLoc();
  MLIRContext *context = b.getContext();
  if (!projected)
    return op.emitError("adds over the stages of a pipeline, but the loop over "
                        "micro-batches has no schedule");
  const StageSum &sum = projected->sums.find(op)->second;
  int64_t rank = projected->rank;
  bool isWanted = llvm::is_contained(sum.to, rank);
  Value own = op.getValues().empty() ? Value() : bufferOf(op.getValues()[0]);
  auto type = rt::getLocalBufferType(op.getType());

  // On all ranks it is a collective, to which a rank without a summand gives
  // zeros; ranks are in the order of the operands.
  if (static_cast<int64_t>(sum.to.size()) == projected->count &&
      llvm::is_sorted(sum.from)) {
    Value to = destination(op->getResult(0));
    if (own)
      kernels.copy(b, loc, own, to);
    else
      rt::FillOp::create(b, loc, to, b.getF64FloatAttr(0));
    Axis axis{b.getStringAttr("pp"), 1, projected->count};
    Value token = rt::StartOp::create(
        b, loc, rt::TokenType::get(context),
        rt::CollectiveKindAttr::get(context, rt::CollectiveKind::AllReduce),
        rt::ReductionAttr::get(context, rt::Reduction::Sum),
        AxesAttr::get(context, axis), b.getStringAttr("step: sum over stages"),
        b.getArrayAttr({rt::BlockAttr::get(
            context, {type.getNumElements(), 1, 1, 1, 1}, false)}),
        to, to, IntegerAttr());
    rt::WaitOp::create(b, loc, token);
    return success();
  }

  auto channel = [&](size_t operand, size_t target, int64_t peer) {
    return rt::ChannelAttr::get(
        context, "sum over stages",
        sum.firstChannel +
            static_cast<int64_t>(operand * sum.to.size() + target),
        peer, rt::getBytes(type));
  };
  SmallVector<Value> summands(sum.from.size());
  SmallVector<std::pair<rt::ChannelAttr, Value>> receives, sends;
  for (auto [i, from] : llvm::enumerate(sum.from))
    for (auto [k, to] : llvm::enumerate(sum.to)) {
      if (from == to && from == rank)
        summands[i] = own;
      else if (from != to && to == rank) {
        summands[i] = rt::AllocOp::create(b, loc, type, IntegerAttr());
        receives.push_back({channel(i, k, from), summands[i]});
      } else if (from != to && from == rank) {
        sends.push_back({channel(i, k, to), own});
      }
    }
  for (auto [c, buffer] : receives)
    rt::PostOp::create(b, loc, c, buffer);
  for (auto [c, buffer] : sends)
    rt::SendOp::create(b, loc, c, buffer);
  for (auto [c, buffer] : receives)
    rt::ReceiveOp::create(b, loc, c, buffer);
  if (isWanted) {
    Value to = destination(op->getResult(0));
    kernels.copy(b, loc, summands[0], to);
    for (Value v : ArrayRef(summands).drop_front())
      if (failed(addInto(op->getBlock()->getTerminator(), op.getType(), to, v)))
        return failure();
  }
  for (auto [c, buffer] : sends)
    rt::SentOp::create(b, loc, c, buffer);
  return success();
}
