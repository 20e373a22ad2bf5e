//===- Prepare.cpp - Rewrites before buffers exist ------------------------===//

#include "Prepare.h"
#include "Project.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace dtc;

int64_t dtc::inlineSingleMicroBatches(func::FuncOp func) {
  int64_t count = 1;
  SmallVector<MicroBatchesOp> loops;
  func.walk([&](MicroBatchesOp op) { loops.push_back(op); });
  for (MicroBatchesOp loop : loops) {
    if (loop.getCount() != 1 || loop.getScheduleAttr()) {
      count = loop.getCount();
      continue;
    }
    Block &body = loop.getBody().front();
    OpBuilder b(loop);
    Value m = ConstantOp::create(
        b, loop.getLoc(), body.getArgument(0).getType(), b.getF64FloatAttr(0));
    body.getArgument(0).replaceAllUsesWith(m);
    auto yield = cast<YieldOp>(body.getTerminator());
    loop.replaceAllUsesWith(yield.getValues());
    yield.erase();
    loop->getBlock()->getOperations().splice(loop->getIterator(),
                                             body.getOperations());
    loop.erase();
  }
  return count;
}

bool dtc::movesData(Operation *op) {
  auto collective = dyn_cast<CollectiveOpInterface>(op);
  return collective && getInfo(collective.getSpec().kind).movesData;
}

bool dtc::mayShareBucket(Operation *a, Operation *b) {
  if (!movesData(a) || !movesData(b))
    return false;
  CollectiveSpec x = cast<CollectiveOpInterface>(a).getSpec();
  CollectiveSpec y = cast<CollectiveOpInterface>(b).getSpec();
  auto kind = [](CollectiveKind k) {
    // To ranks these are the same; they differ in what types say.
    if (k == CollectiveKind::G)
      return CollectiveKind::AllReduce;
    if (k == CollectiveKind::AllGatherInvariant)
      return CollectiveKind::AllGather;
    return k;
  };
  return kind(x.kind) == kind(y.kind) && x.axes == y.axes &&
         cast<DTensorType>(a->getOperand(0).getType()).getElementType() ==
             cast<DTensorType>(b->getOperand(0).getType()).getElementType();
}

static int64_t bytesOf(Operation *collective) {
  return cast<DTensorType>(collective->getOperand(0).getType()).getLocalBytes();
}

namespace {
/// A bucket that may still grow.
struct OpenBucket {
  llvm::SetVector<Operation *> members;
  SmallVector<Operation *> writes;   // of members' results
  llvm::DenseSet<Attribute> written; // their parameters
  int64_t bytes = 0;

  bool owns(Value v) const {
    Operation *def = v.getDefiningOp();
    return def && members.contains(def);
  }
  /// Whether `op` must stand after the bucket.
  bool isUsedBy(Operation *op) const {
    return op
        ->walk([&](Operation *inner) {
          auto read = dyn_cast<ReadOp>(inner);
          bool uses = (read && written.contains(read.getParamAttr())) ||
                      llvm::any_of(inner->getOperands(),
                                   [&](Value v) { return owns(v); });
          return uses ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }
  /// Moves everything to where the last member stands.
  void close() {
    Operation *last = members.back();
    for (Operation *m : members)
      if (m != last)
        m->moveBefore(last);
    for (Operation *w : writes) {
      w->moveAfter(last);
      last = w;
    }
  }
};
} // namespace

void dtc::groupCollectives(Block &block, int64_t bucketBytes) {
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    ops.push_back(&op);
  SmallVector<OpenBucket> open;
  Attribute task;
  for (Operation *op : ops) {
    // A bucket is of one task of a schedule.
    if (Attribute now = op->getAttr(taskAttr); now != task) {
      for (OpenBucket &bucket : open)
        bucket.close();
      open.clear();
      task = now;
    }
    for (Region &region : op->getRegions())
      for (Block &inner : region)
        groupCollectives(inner, bucketBytes);
    if (auto write = dyn_cast<WriteOp>(op)) {
      auto owner = llvm::find_if(open, [&](const OpenBucket &bucket) {
        return bucket.owns(write.getValue());
      });
      if (owner != open.end()) {
        owner->writes.push_back(op);
        owner->written.insert(write.getParamAttr());
        continue;
      }
    }
    for (OpenBucket *bucket = open.begin(); bucket != open.end();) {
      if (bucket->isUsedBy(op)) {
        bucket->close();
        bucket = open.erase(bucket);
      } else {
        ++bucket;
      }
    }
    if (!movesData(op))
      continue;
    int64_t bytes = bytesOf(op);
    auto it = llvm::find_if(open, [&](const OpenBucket &bucket) {
      return mayShareBucket(bucket.members.front(), op);
    });
    if (it != open.end() && it->bytes + bytes > bucketBytes) {
      it->close();
      open.erase(it);
      it = open.end();
    }
    if (it == open.end()) {
      open.emplace_back();
      it = open.end() - 1;
    }
    it->members.insert(op);
    it->bytes += bytes;
  }
  for (OpenBucket &bucket : open)
    bucket.close();
}

SmallVector<Operation *> dtc::getBucket(Operation *first, int64_t bucketBytes) {
  SmallVector<Operation *> members{first};
  int64_t bytes = bytesOf(first);
  for (Operation *op = first->getNextNode(); op; op = op->getNextNode()) {
    if (!mayShareBucket(first, op) ||
        op->getAttr(taskAttr) != first->getAttr(taskAttr))
      break;
    bytes += bytesOf(op);
    bool independent = llvm::none_of(members, [&](Operation *m) {
      return op->getOperand(0).getDefiningOp() == m ||
             op->getOperand(0) == m->getOperand(0);
    });
    if (bytes > bucketBytes || !independent)
      break;
    members.push_back(op);
  }
  return members;
}
