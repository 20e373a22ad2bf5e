//===- Pipeline.cpp - Schedules at the runtime level ----------------------===//

#include "dtc/Dialect/RT/IR/RT.h"
#include "mlir/IR/OpImplementation.h"
#include <deque>
#include <set>

using namespace mlir;
using namespace dtc;
using namespace dtc::rt;

//===----------------------------------------------------------------------===//
// Actions
//===----------------------------------------------------------------------===//

void rt::appendAction(SmallVectorImpl<int64_t> &to, const Action &action) {
  to.append({static_cast<int64_t>(action.kind), action.target,
             static_cast<int64_t>(action.words.size())});
  to.append(action.words.begin(), action.words.end());
}

FailureOr<Action> rt::takeAction(ArrayRef<int64_t> &words) {
  if (words.size() < 3 || words[0] < Action::Run || words[0] > Action::Sent)
    return failure();
  Action action{static_cast<Action::Kind>(words[0]), words[1], {}};
  int64_t n = words[2];
  words = words.drop_front(3);
  if (n < 0 || static_cast<size_t>(n) > words.size())
    return failure();
  action.words = words.take_front(n);
  words = words.drop_front(n);
  bool takesCopy = action.kind == Action::Post || action.kind == Action::Send;
  if (action.kind == Action::Run ? n < 1 : n != (takesCopy ? 1 : 0))
    return failure();
  return action;
}

static constexpr StringLiteral words[] = {"run", "post", "receive", "send",
                                          "sent"};

void rt::printActions(OpAsmPrinter &p, Operation *, DenseI64ArrayAttr attr) {
  p << "[";
  ArrayRef<int64_t> rest = attr.asArrayRef();
  bool first = true;
  while (!rest.empty()) {
    FailureOr<Action> action = takeAction(rest);
    if (failed(action))
      break;
    if (!std::exchange(first, false))
      p << ",";
    p.printNewline();
    p << "  " << words[action->kind] << " " << action->target;
    if (action->kind == Action::Run) {
      p << " micro_batch " << action->words[0] << " slots [";
      llvm::interleaveComma(action->words.drop_front(), p);
      p << "]";
    } else if (!action->words.empty()) {
      p << " slot " << action->words[0];
    }
  }
  p << "]";
}

ParseResult rt::parseActions(OpAsmParser &parser, DenseI64ArrayAttr &attr) {
  SmallVector<int64_t> out;
  auto one = [&]() -> ParseResult {
    StringRef word;
    SMLoc loc = parser.getCurrentLocation();
    int64_t target, n;
    if (parser.parseKeyword(&word) || parser.parseInteger(target))
      return failure();
    const auto *kind = llvm::find(words, word);
    if (kind == std::end(words))
      return parser.emitError(loc, "unknown action '") << word << "'";
    SmallVector<int64_t> rest;
    if (kind == words) {
      auto slot = [&] { return parser.parseInteger(rest.emplace_back()); };
      if (parser.parseKeyword("micro_batch") ||
          parser.parseInteger(rest.emplace_back()) ||
          parser.parseKeyword("slots") ||
          parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, slot))
        return failure();
    } else if (succeeded(parser.parseOptionalKeyword("slot"))) {
      if (parser.parseInteger(n))
        return failure();
      rest.push_back(n);
    }
    appendAction(out, {static_cast<Action::Kind>(kind - words), target, rest});
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, one))
    return failure();
  attr = DenseI64ArrayAttr::get(parser.getContext(), out);
  return success();
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

static LogicalResult verifyMessage(Operation *op, ChannelAttr channel,
                                   Value buffer) {
  int64_t bytes = getBytes(cast<MemRefType>(buffer.getType()));
  if (bytes == channel.getBytes())
    return success();
  return op->emitOpError("has a buffer of ")
         << bytes << " bytes, but a channel of " << channel.getBytes();
}
LogicalResult PostOp::verify() {
  return verifyMessage(*this, getChannel(), getBuffer());
}
LogicalResult ReceiveOp::verify() {
  return verifyMessage(*this, getChannel(), getBuffer());
}
LogicalResult SendOp::verify() {
  return verifyMessage(*this, getChannel(), getBuffer());
}
LogicalResult SentOp::verify() {
  return verifyMessage(*this, getChannel(), getBuffer());
}

int64_t PipelineOp::getCopyBytes(unsigned group) {
  return getBytes(cast<MemRefType>(getGroups()[group].getType())) /
         getCopies()[group];
}

SmallVector<TaskOp> rt::getTasks(PipelineOp pipeline) {
  return llvm::to_vector(pipeline.getBody().front().getOps<TaskOp>());
}

namespace {
/// One channel while the list of actions is followed.
struct Line {
  std::optional<bool> sends;
  std::deque<int64_t> copies; // posted or sent, oldest first
};
} // namespace

static LogicalResult verifyGroups(PipelineOp op) {
  if (op.getCopies().size() != op.getGroups().size())
    return op.emitOpError("has ")
           << op.getGroups().size() << " groups, but copies for "
           << op.getCopies().size();
  for (auto [group, copies] : llvm::zip_equal(op.getGroups(), op.getCopies())) {
    auto type = cast<MemRefType>(group.getType());
    if (type.getRank() != 1 || !type.getElementType().isInteger(8) ||
        copies < 1 || copies > type.getNumElements() / bufferAlignment ||
        type.getNumElements() % (copies * bufferAlignment) != 0)
      return op.emitOpError("has a group of ")
             << copies << " copies in " << type
             << "; it must be memref<N x i8> with copies of a multiple of "
             << bufferAlignment << " bytes";
  }
  if (op.getChannels().size() != op.getChannelGroups().size())
    return op.emitOpError("has ")
           << op.getChannels().size() << " channels, but groups for "
           << op.getChannelGroups().size();
  for (auto [channel, group] : llvm::zip_equal(
           op.getChannels().getAsRange<ChannelAttr>(), op.getChannelGroups())) {
    if (group < 0 || static_cast<size_t>(group) >= op.getGroups().size())
      return op.emitOpError("channel ") << channel << " has no group " << group;
    if (channel.getBytes() > op.getCopyBytes(group))
      return op.emitOpError("channel ")
             << channel << " does not fit into copies of "
             << op.getCopyBytes(group) << " bytes";
  }
  return success();
}

LogicalResult PipelineOp::verify() {
  for (Operation &op : getBody().front())
    if (!isa<TaskOp>(op))
      return emitOpError("may contain tasks only, not '")
             << op.getName() << "'";
  return verifyGroups(*this);
}

/// Of actions, which rely on tasks that verify.
LogicalResult PipelineOp::verifyRegions() {
  SmallVector<TaskOp> tasks = getTasks(*this);
  SmallVector<Line> lines(getChannels().size());
  ArrayRef<int64_t> rest = getActions();
  for (int64_t number = 0; !rest.empty(); ++number) {
    FailureOr<Action> action = takeAction(rest);
    if (failed(action))
      return emitOpError("action ") << number << " is malformed";
    auto wrong = [&](const Twine &what) {
      return emitOpError("action ") << number << " (" << words[action->kind]
                                    << " " << action->target << ") " << what;
    };
    bool isRun = action->kind == Action::Run;
    size_t targets = isRun ? tasks.size() : lines.size();
    if (action->target < 0 || static_cast<size_t>(action->target) >= targets)
      return wrong("names none of the " + Twine(targets) +
                   (isRun ? " tasks" : " channels"));
    if (isRun) {
      ArrayRef<int64_t> groups = tasks[action->target].getGroups();
      ArrayRef<int64_t> slots = action->words.drop_front();
      if (slots.size() != groups.size())
        return wrong("has " + Twine(slots.size()) + " slots for " +
                     Twine(groups.size()) + " groups");
      for (auto [slot, group] : llvm::zip_equal(slots, groups))
        if (slot < 0 || slot >= getCopies()[group])
          return wrong("uses copy " + Twine(slot) + " of group " +
                       Twine(group) + ", which has " +
                       Twine(getCopies()[group]));
      continue;
    }
    Line &line = lines[action->target];
    bool sends = action->kind == Action::Send || action->kind == Action::Sent;
    if (line.sends && *line.sends != sends)
      return wrong("is of a channel that goes the other way");
    line.sends = sends;
    if (action->words.empty()) {
      if (line.copies.empty())
        return wrong("waits for what is not under way");
      line.copies.pop_front();
      continue;
    }
    int64_t copy = action->words[0];
    if (copy < 0 || copy >= getCopies()[getChannelGroups()[action->target]])
      return wrong("uses copy " + Twine(copy) + ", which does not exist");
    if (llvm::is_contained(line.copies, copy))
      return wrong("uses copy " + Twine(copy) + ", which is under way");
    line.copies.push_back(copy);
  }
  for (auto [channel, line] : llvm::enumerate(lines))
    if (!line.copies.empty())
      return emitOpError("channel ") << channel << " has " << line.copies.size()
                                     << " messages that nobody waits for";
  return success();
}

LogicalResult TaskOp::verify() {
  Block &body = getBody().front();
  if (body.getNumArguments() != 1 || !body.getArgument(0).getType().isIndex())
    return emitOpError("needs one argument, the number of the micro-batch");
  auto pipeline = cast<PipelineOp>((*this)->getParentOp());
  std::set<int64_t> seen;
  for (int64_t group : getGroups())
    if (group < 0 ||
        static_cast<size_t>(group) >= pipeline.getGroups().size() ||
        !seen.insert(group).second)
      return emitOpError("names group ")
             << group << ", which "
             << (seen.count(group) ? "it names twice" : "does not exist");
  return success();
}

LogicalResult SlotOp::verify() {
  auto task = (*this)->getParentOfType<TaskOp>();
  if (!task)
    return emitOpError("must stand in a task");
  int64_t index = getIndex();
  if (index < 0 || static_cast<size_t>(index) >= task.getGroups().size())
    return emitOpError("names the task's group ")
           << index << " of " << task.getGroups().size();
  auto pipeline = cast<PipelineOp>(task->getParentOp());
  int64_t group = task.getGroups()[index];
  int64_t offset = getOffset(), bytes = getBytes(getBuffer().getType());
  if (offset < 0 || offset % bufferAlignment != 0 ||
      offset > pipeline.getCopyBytes(group) - bytes)
    return emitOpError("lies at ")
           << offset << " with " << bytes << " bytes, in copies of "
           << pipeline.getCopyBytes(group);
  return success();
}
