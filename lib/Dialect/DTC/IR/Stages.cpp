//===- Stages.cpp - The stages of a pipeline in a step --------------------===//

#include "dtc/Dialect/DTC/IR/Stages.h"
#include <map>

using namespace mlir;
using namespace dtc;

static constexpr StringLiteral phaseNames[] = {
    "forward", "backward", "input_backward", "weight_backward"};

StringRef dtc::stringifyPhase(Phase phase) {
  return phaseNames[static_cast<unsigned>(phase)];
}

std::optional<std::pair<int64_t, Phase>> dtc::getStageOf(Operation *op) {
  if (!isa<func::CallOp>(op))
    return std::nullopt;
  auto stage = op->getAttrOfType<IntegerAttr>(attrs::stage);
  if (!stage)
    return std::nullopt;
  auto name = op->getAttrOfType<StringAttr>(attrs::phase);
  const auto *it = name ? llvm::find(phaseNames, name.getValue()) : phaseNames;
  if (it == std::end(phaseNames))
    return std::nullopt;
  return std::make_pair(stage.getInt(), static_cast<Phase>(it - phaseNames));
}

//===----------------------------------------------------------------------===//
// The loop's body
//===----------------------------------------------------------------------===//

const StagedBody::Task *StagedBody::find(int64_t stage, Phase phase) const {
  for (const Task &task : tasks)
    if (task.stage == stage && task.phase == phase)
      return &task;
  return nullptr;
}

schedule::StageGraph StagedBody::getGraph() const {
  schedule::StageGraph graph;
  for (const Edge &edge : edges)
    graph.edges.push_back({edge.from, edge.to, !edge.gradients.empty()});
  return graph;
}

/// The ops that make the call's operands, and the stages' results that they
/// use.
static void sliceOperands(func::CallOp call, Block &body,
                          SmallVectorImpl<Operation *> &before,
                          SmallVectorImpl<OpResult> &used) {
  llvm::DenseSet<Operation *> seen;
  llvm::DenseSet<Value> taken;
  SmallVector<Operation *> worklist{call};
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val();
    for (Value v : op->getOperands()) {
      Operation *def = v.getDefiningOp();
      if (!def || def->getBlock() != &body)
        continue;
      if (getStageOf(def)) {
        if (taken.insert(v).second)
          used.push_back(cast<OpResult>(v));
      } else if (seen.insert(def).second) {
        before.push_back(def);
        worklist.push_back(def);
      }
    }
  }
}

FailureOr<StagedBody> StagedBody::get(MicroBatchesOp loop) {
  StagedBody out;
  Block &body = loop.getBody().front();
  llvm::DenseMap<Operation *, unsigned> position;
  std::map<std::pair<int64_t, unsigned>, func::CallOp> calls;
  std::map<std::pair<int64_t, int64_t>, Edge> edges;
  for (auto [i, op] : llvm::enumerate(body)) {
    position[&op] = i;
    auto stage = getStageOf(&op);
    if (!stage)
      continue;
    auto [s, phase] = *stage;
    auto call = cast<func::CallOp>(op);
    if (s < 0)
      return call.emitError("a stage's number may not be negative: ") << s;
    if (!calls.try_emplace({s, static_cast<unsigned>(phase)}, call).second)
      return call.emitError("is the second call of stage ")
             << s << ", " << stringifyPhase(phase);
    out.numStages = std::max(out.numStages, s + 1);
    out.tasks.push_back({s, phase, call, {}});
  }
  for (int64_t s = 0; s < out.numStages; ++s)
    if (!calls.count({s, 0}))
      return loop.emitError("has ")
             << out.numStages << " stages, but no forward of stage " << s;
  auto before = [&](Value a, Value b) {
    Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
    if (x != y)
      return position.lookup(x) < position.lookup(y);
    return cast<OpResult>(a).getResultNumber() <
           cast<OpResult>(b).getResultNumber();
  };
  for (Task &task : out.tasks) {
    SmallVector<OpResult> used;
    sliceOperands(task.call, body, task.before, used);
    llvm::sort(task.before, [&](Operation *a, Operation *b) {
      return position.lookup(a) < position.lookup(b);
    });
    for (OpResult v : used) {
      auto [from, phase] = *getStageOf(v.getOwner());
      if (from == task.stage)
        continue;
      bool forward = phase == Phase::Forward;
      if (forward != (from < task.stage) || phase == Phase::WeightBackward)
        return task.call.emitError("takes a value of stage ")
               << from << ", " << stringifyPhase(phase)
               << ": values go to later stages, gradients to earlier ones";
      auto key = std::minmax(from, task.stage);
      Edge &edge = edges[key];
      edge.from = key.first;
      edge.to = key.second;
      auto &list = forward ? edge.activations : edge.gradients;
      // A stage's tasks follow each other, so a set would be larger than this.
      if (!llvm::is_contained(list, v))
        list.push_back(v);
    }
  }
  for (auto &[key, edge] : edges) {
    llvm::sort(edge.activations, before);
    llvm::sort(edge.gradients, before);
    out.edges.push_back(std::move(edge));
  }
  return out;
}

//===----------------------------------------------------------------------===//
// Outside of the loop
//===----------------------------------------------------------------------===//

const llvm::BitVector &StageRanks::needs(Operation *op) const {
  auto it = need.find(op);
  return it == need.end() ? none : it->second;
}

const llvm::BitVector &StageRanks::ownersOf(StringRef param) const {
  auto it = owners.find(param);
  return it == owners.end() ? none : it->second;
}

FailureOr<StageRanks> StageRanks::get(func::FuncOp step, MicroBatchesOp loop,
                                      const StagedBody &body,
                                      const schedule::Placement &placement) {
  int64_t count = placement.ranks;
  StageRanks out;
  out.none.resize(count);
  Block &block = step.getBody().front();

  // What the stages use from outside of the loop.
  llvm::DenseMap<Value, llvm::BitVector> byLoop;
  for (const StagedBody::Task &task : body.tasks) {
    auto use = [&](Operation *op) {
      for (Value v : op->getOperands())
        if (v.getParentBlock() == &block)
          byLoop.try_emplace(v, count).first->second.set(
              placement.getRank(task.stage));
    };
    use(task.call);
    llvm::for_each(task.before, use);
  }

  // Owners: what the loop needs decides.
  auto needOfUsers = [&](Operation *op) {
    llvm::BitVector bits(count);
    for (Value v : op->getResults()) {
      if (auto it = byLoop.find(v); it != byLoop.end())
        bits |= it->second;
      for (OpOperand &use : v.getUses()) {
        Operation *user = use.getOwner();
        if (user->getBlock() != &block || user == loop)
          continue;
        if (auto sum = dyn_cast<SumStagesOp>(user)) {
          if (int64_t rank = sum.getFrom()[use.getOperandNumber()];
              rank < count)
            bits.set(rank);
          continue;
        }
        if (auto it = out.need.find(user); it != out.need.end())
          bits |= it->second;
      }
    }
    return bits;
  };
  for (auto it = Block::reverse_iterator(loop->getIterator());
       it != block.rend(); ++it) {
    out.need[&*it] = needOfUsers(&*it);
    if (auto read = dyn_cast<ReadOp>(*it))
      out.owners.try_emplace(read.getParam(), count).first->second |=
          out.need[&*it];
  }
  step->getParentOfType<ModuleOp>().walk([&](ParamOp param) {
    llvm::BitVector &bits =
        out.owners.try_emplace(param.getSymName(), count).first->second;
    if (bits.none())
      bits.set(0);
  });

  out.need.clear();
  for (Operation &op : llvm::reverse(block)) {
    llvm::BitVector bits(count);
    if (&op == loop || op.hasTrait<OpTrait::IsTerminator>())
      bits.set();
    else if (auto write = dyn_cast<WriteOp>(op))
      bits = out.owners.lookup(write.getParam());
    else if (auto sum = dyn_cast<SumStagesOp>(op))
      for (ArrayRef<int64_t> list : {sum.getFrom(), sum.getTo()})
        for (int64_t rank : list) {
          if (rank >= count)
            return sum.emitError("names rank ")
                   << rank << " of a pipeline of " << count;
          bits.set(rank);
        }
    else
      bits = needOfUsers(&op);
    out.need[&op] = std::move(bits);
  }
  for (Value v : loop.getBody().front().getTerminator()->getOperands()) {
    Operation *def = v.getDefiningOp();
    auto stage = def ? getStageOf(def) : std::nullopt;
    out.homes.push_back(stage ? placement.getRank(stage->first) : -1);
  }
  return out;
}
