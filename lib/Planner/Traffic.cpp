//===- Traffic.cpp - Bytes that a rank sends in a step --------------------===//

#include "dtc/Planner/Traffic.h"
#include "Frame.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace mlir;
using namespace dtc;

namespace {
/// Which of the mesh's axes a group of ranks is along. Parts of an axis count
/// as the axis.
using Group = SmallVector<int64_t, 2>;
using Sums = std::map<Group, int64_t>;

class Counter {
public:
  explicit Counter(ModuleOp module) : mesh(getMesh(module)), symbols(module) {}

  /// The bytes of a block, `times` times. Of loops in `apart` nothing.
  void add(Block &block, int64_t times, Sums &to,
           const llvm::DenseSet<Operation *> &apart = {});
  void addOp(Operation &op, int64_t times, Sums &to);
  std::string getName(const Group &group) const;

private:
  Group getGroup(ArrayRef<Axis> axes) const;
  const Sums &of(func::FuncOp func);

  MeshAttr mesh;
  SymbolTable symbols;
  std::map<Operation *, Sums> known;
};
} // namespace

Group Counter::getGroup(ArrayRef<Axis> axes) const {
  Group group;
  for (auto [i, on] : llvm::enumerate(mesh.getAxes()))
    if (llvm::any_of(axes,
                     [&, on = on](const Axis &a) { return a.name == on.name; }))
      group.push_back(static_cast<int64_t>(i));
  return group;
}

std::string Counter::getName(const Group &group) const {
  std::string name;
  for (int64_t i : group)
    name += (name.empty() ? "" : ", ") + mesh.getAxes()[i].name.str();
  return name;
}

/// Of the first rank of the group: its piece of an all_reduce is the longest.
static int64_t getBytesSent(rt::StartOp start) {
  int64_t n = 0, k = product(start.getAxes().getAxes());
  for (auto block : start.getBlocks().getAsRange<rt::BlockAttr>())
    n += block.getNumElements();
  auto type = cast<MemRefType>(start.getSend()[0].getType());
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  switch (start.getKind()) {
  case rt::CollectiveKind::AllReduce: {
    int64_t mine = llvm::divideCeil(n, k);
    return k == 1 ? 0 : (n - mine + (k - 1) * mine) * bytes;
  }
  case rt::CollectiveKind::Shift:
    return k == 1 ? 0 : n * bytes;
  case rt::CollectiveKind::AllGather:
  case rt::CollectiveKind::ReduceScatter:
  case rt::CollectiveKind::AllToAll:
    return (k - 1) * n * bytes; // blocks are pieces
  }
  llvm_unreachable("unknown kind of collective");
}

const Sums &Counter::of(func::FuncOp func) {
  if (auto it = known.find(func); it != known.end())
    return it->second;
  Sums sums;
  add(func.getBody().front(), 1, sums);
  return known[func] = std::move(sums);
}

/// How often a loop's body runs.
static int64_t getCount(scf::ForOp loop) {
  std::optional<int64_t> from = getConstantIntValue(loop.getLowerBound()),
                         to = getConstantIntValue(loop.getUpperBound()),
                         by = getConstantIntValue(loop.getStep());
  assert(from && to && by && "loops of the runtime level have known bounds");
  return *to > *from ? llvm::divideCeil(*to - *from, *by) : 0;
}

void Counter::addOp(Operation &op, int64_t times, Sums &to) {
  if (auto start = dyn_cast<rt::StartOp>(op)) {
    to[getGroup(start.getAxes().getAxes())] += times * getBytesSent(start);
  } else if (auto call = dyn_cast<rt::CallOp>(op)) {
    for (auto &[group, bytes] : of(getCallee(call, symbols)))
      to[group] += times * bytes;
  } else if (auto send = dyn_cast<rt::SendOp>(op)) {
    Axis pp{StringAttr::get(op.getContext(), pipelineAxis), 1, 1};
    to[getGroup(pp)] += times * send.getChannel().getBytes();
  } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
    add(*loop.getBody(), times * getCount(loop), to);
  } else if (auto pipeline = dyn_cast<rt::PipelineOp>(op)) {
    SmallVector<rt::TaskOp> tasks = rt::getTasks(pipeline);
    SmallVector<int64_t> runs(tasks.size());
    Axis pp{StringAttr::get(op.getContext(), pipelineAxis), 1, 1};
    for (ArrayRef<int64_t> words = pipeline.getActions(); !words.empty();) {
      FailureOr<rt::Action> action = rt::takeAction(words);
      assert(succeeded(action) && "the pipeline's verifier has read them");
      if (action->kind == rt::Action::Run)
        ++runs[action->target];
      else if (action->kind == rt::Action::Send)
        to[getGroup(pp)] += times * cast<rt::ChannelAttr>(
                                        pipeline.getChannels()[action->target])
                                        .getBytes();
    }
    for (auto [task, n] : llvm::zip_equal(tasks, runs))
      add(task.getBody().front(), times * n, to);
  }
}

void Counter::add(Block &block, int64_t times, Sums &to,
                  const llvm::DenseSet<Operation *> &apart) {
  for (Operation &op : block)
    if (!apart.contains(&op))
      addOp(op, times, to);
}

int64_t dtc::getMicrobatches(ModuleOp module) {
  auto count = module->getAttrOfType<IntegerAttr>(rt::attrs::microbatches);
  return count ? count.getInt() : 1;
}

SmallVector<Traffic> dtc::getTraffic(func::FuncOp step) {
  auto module = step->getParentOfType<ModuleOp>();
  int64_t microbatches = getMicrobatches(module);
  Counter counter(module);
  // Rings are in the loop over micro-batches, if there is one.
  llvm::DenseSet<Operation *> loops;
  if (microbatches > 1)
    for (Operation &op : step.getBody().front())
      if (isa<scf::ForOp, rt::PipelineOp>(op))
        loops.insert(&op);
  Sums once, each;
  counter.add(step.getBody().front(), 1, once, loops);
  for (Operation *loop : loops)
    counter.addOp(*loop, 1, each);
  std::map<Group, Traffic> byGroup;
  for (auto &[group, bytes] : once)
    byGroup[group].once += bytes;
  for (auto &[group, bytes] : each)
    byGroup[group].each += bytes / microbatches;
  SmallVector<Traffic> traffic;
  for (auto &[group, t] : byGroup) {
    t.axes = counter.getName(group);
    if (t.getTotal(microbatches) > 0)
      traffic.push_back(t);
  }
  return traffic;
}

void dtc::printTraffic(ModuleOp module, raw_ostream &os) {
  SmallVector<func::FuncOp> steps = rt::getSteps(module);
  int64_t microbatches = getMicrobatches(module);
  SmallVector<llvm::StringMap<Traffic>> columns(steps.size());
  SmallVector<std::string> groups;
  for (auto [step, column] : llvm::zip_equal(steps, columns))
    for (const Traffic &t : getTraffic(step)) {
      column[t.axes] = t;
      if (!llvm::is_contained(groups, t.axes))
        groups.push_back(t.axes);
    }
  if (groups.empty())
    return;
  os << "bytes that a rank sends in a step:\n";
  auto print = [&](const std::string &name,
                   llvm::function_ref<int64_t(const Traffic &)> get,
                   const std::string &group) {
    os << llvm::format("  %-18s", name.c_str());
    for (const llvm::StringMap<Traffic> &column : columns)
      os << llvm::format(" %15lld",
                         static_cast<long long>(get(column.lookup(group))));
    os << "\n";
  };
  for (const std::string &group : groups) {
    print(
        "over " + group,
        [&](const Traffic &t) { return t.getTotal(microbatches); }, group);
    if (microbatches > 1)
      print(
          "  each micro-batch", [](const Traffic &t) { return t.each; }, group);
  }
}
