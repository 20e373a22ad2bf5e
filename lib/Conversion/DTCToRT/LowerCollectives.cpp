//===- LowerCollectives.cpp - Buckets to start and wait -------------------===//

#include "LowerFunction.h"
#include "Prepare.h"

using namespace mlir;
using namespace dtc;

static int64_t productOf(ArrayRef<int64_t> shape) {
  int64_t n = 1;
  for (int64_t s : shape)
    n *= s;
  return n;
}

/// The nested dimensions of what is exchanged (include/dtc/Runtime/ABI.h).
static rt::BlockAttr getBlock(MLIRContext *context, const CollectiveSpec &spec,
                              DTensorType from, DTensorType to) {
  SmallVector<int64_t> s = from.getLocalShape();
  ArrayRef<int64_t> shape = s;
  auto get = [&](ArrayRef<int64_t> n, bool gatherFirst = false) {
    return rt::BlockAttr::get(context, n, gatherFirst);
  };
  int64_t d = spec.dim, k = product(spec.axes);
  switch (spec.kind) {
  case CollectiveKind::AllGather:
  case CollectiveKind::AllGatherInvariant:
    return get({productOf(shape.take_front(d)), shape[d],
                productOf(shape.drop_front(d + 1)), 1, 1});
  case CollectiveKind::ReduceScatter:
    return get({productOf(shape.take_front(d)), to.getLocalShape()[d],
                productOf(shape.drop_front(d + 1)), 1, 1});
  case CollectiveKind::AllToAll: {
    int64_t cut = spec.dim2;
    int64_t low = std::min(d, cut), high = std::max(d, cut);
    auto length = [&](int64_t dim) {
      return dim == cut ? shape[dim] / k : shape[dim];
    };
    return get({productOf(shape.take_front(low)), length(low),
                productOf(shape.slice(low + 1, high - low - 1)), length(high),
                productOf(shape.drop_front(high + 1))},
               /*gatherFirst=*/d < cut);
  }
  default:
    return get({productOf(shape), 1, 1, 1, 1});
  }
}

static rt::CollectiveKind getKind(CollectiveKind kind) {
  switch (kind) {
  case CollectiveKind::AllGather:
  case CollectiveKind::AllGatherInvariant:
    return rt::CollectiveKind::AllGather;
  case CollectiveKind::ReduceScatter:
    return rt::CollectiveKind::ReduceScatter;
  case CollectiveKind::AllToAll:
    return rt::CollectiveKind::AllToAll;
  default:
    return rt::CollectiveKind::AllReduce;
  }
}

/// For messages and traces: what, where, and the parameters concerned.
std::string FunctionLowering::describe(ArrayRef<Operation *> members) {
  std::string name;
  llvm::raw_string_ostream os(name);
  os << func.getName() << ": " << members.front()->getName().stripDialect();
  SmallVector<StringRef> params;
  for (Operation *op : members)
    for (Operation *user : op->getUsers())
      if (auto write = dyn_cast<WriteOp>(user))
        params.push_back(write.getParam());
  if (!params.empty())
    os << " of " << params.front();
  if (params.size() > 1)
    os << " to " << params.back();
  return name;
}

void FunctionLowering::lowerBucket(ArrayRef<Operation *> members) {
  CollectiveSpec first = cast<CollectiveOpInterface>(members[0]).getSpec();
  SmallVector<Value> send, recv;
  SmallVector<Attribute> blocks;
  for (Operation *op : members) {
    CollectiveSpec spec = cast<CollectiveOpInterface>(op).getSpec();
    send.push_back(bufferOf(op->getOperand(0)));
    std::optional<unsigned> inPlace;
    recv.push_back(destination(op->getResult(0), &inPlace));
    blocks.push_back(getBlock(b.getContext(), spec,
                              cast<DTensorType>(op->getOperand(0).getType()),
                              cast<DTensorType>(op->getResult(0).getType())));
  }
  bool isMax = first.kind == CollectiveKind::ReduceMax;
  MLIRContext *context = b.getContext();
  Value token = rt::StartOp::create(
      b, members[0]->getLoc(), rt::TokenType::get(context),
      rt::CollectiveKindAttr::get(context, getKind(first.kind)),
      rt::ReductionAttr::get(context,
                             isMax ? rt::Reduction::Max : rt::Reduction::Sum),
      AxesAttr::get(context, first.axes), b.getStringAttr(describe(members)),
      b.getArrayAttr(blocks), send, recv, IntegerAttr());
  rt::WaitOp::create(b, members[0]->getLoc(), token);
}
