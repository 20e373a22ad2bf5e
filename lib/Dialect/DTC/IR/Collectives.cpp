//===- Collectives.cpp - The closed table of collectives ------------------===//

#include "dtc/Dialect/DTC/IR/Collectives.h"
#include "dtc/Dialect/DTC/IR/DTC.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dtc;

using CK = CollectiveKind;
using PK = PlacementKind;

/// The table of docs/placements.md, in the order of CollectiveKind.
static const CollectiveInfo table[numCollectiveKinds] = {
    {"f", PK::Invariant, PK::Replicate, CK::G, false},
    {"g", PK::Partial, PK::Invariant, CK::F, true},
    {"all_reduce", PK::Partial, PK::Replicate, CK::AllReduce, true},
    {"all_gather", PK::Shard, PK::Replicate, CK::ReduceScatter, true},
    {"reduce_scatter", PK::Partial, PK::Shard, CK::AllGather, true},
    {"all_gather_invariant", PK::Shard, PK::Invariant, CK::Slice, true},
    {"slice", PK::Invariant, PK::Shard, CK::AllGatherInvariant, false},
    {"slice_replicated", PK::Replicate, PK::Shard, CK::Pad, false},
    {"pad", PK::Shard, PK::Partial, CK::SliceReplicated, false},
    {"keep_first", PK::Invariant, PK::Partial, CK::AsOne, false},
    {"as_one", PK::Replicate, PK::Invariant, CK::KeepFirst, false},
    {"keep_first_replicated", PK::Replicate, PK::Partial,
     CK::KeepFirstReplicated, false},
    {"all_to_all", PK::Shard, PK::Shard, CK::AllToAll, true},
    {"reduce_max", PK::Max, PK::Invariant, CK::ReduceMax, true},
};

const CollectiveInfo &dtc::getInfo(CollectiveKind kind) {
  return table[static_cast<unsigned>(kind)];
}

std::optional<CollectiveSpec> dtc::getTranspose(const CollectiveSpec &spec) {
  if (spec.kind == CK::ReduceMax)
    return std::nullopt;
  CollectiveSpec t = spec;
  t.kind = getInfo(spec.kind).transpose;
  if (spec.kind == CK::AllToAll)
    std::swap(t.dim, t.dim2);
  return t;
}

FailureOr<DTensorType>
dtc::inferCollectiveType(const CollectiveSpec &spec, DTensorType operand,
                         function_ref<InFlightDiagnostic()> emitError) {
  auto err = [&](const Twine &message) -> FailureOr<DTensorType> {
    if (emitError)
      emitError() << message;
    return failure();
  };
  const CollectiveInfo &info = getInfo(spec.kind);
  if (spec.axes.empty())
    return err("needs at least one axis");
  int64_t rank = operand.getRank();
  auto checkDim = [&](int64_t d) { return d >= 0 && d < rank; };
  bool usesDim = info.from == PK::Shard || info.to == PK::Shard;
  if (usesDim && !checkDim(spec.dim))
    return err("dim " + Twine(spec.dim) + " is not a dimension of " +
               Twine(rank));
  if (spec.kind == CK::AllToAll &&
      (!checkDim(spec.dim2) || spec.dim2 == spec.dim))
    return err("dim2 " + Twine(spec.dim2) +
               " must be another dimension, below " + Twine(rank));
  Refinement refinement;
  AxisList seen;
  for (const Axis &a : spec.axes) {
    if (overlap(a, seen))
      return err("axis '" + a.name.getValue() + "' is named twice");
    seen.push_back(a);
    refinement.add(a);
  }
  refinement.add(operand.getNamedAxes());
  if (!refinement.valid())
    return err("axes " + toString(spec.axes) +
               " do not nest with the operand's");
  TensorSpec t(operand);
  t.refine(refinement);
  AxisList atoms = refinement.split(spec.axes);
  for (const Axis &a : atoms)
    if (PK have = t.placement(a); have != info.from)
      return err("axis " + toString(ArrayRef<Axis>(a)) + " is " +
                 toString(have) + " but must be " + toString(info.from));
  if (info.from == PK::Shard) {
    ArrayRef<Axis> mine = t.dims[spec.dim];
    if (mine.size() < atoms.size() ||
        mine.take_back(atoms.size()) != ArrayRef<Axis>(atoms))
      return err("axes " + toString(spec.axes) +
                 " are not the minor-most axes of dimension " +
                 Twine(spec.dim) + ", which has " + toString(mine));
  }
  if (spec.kind == CK::ReduceMax && operand.isInteger())
    return err("a maximum is of floats");
  for (const Axis &a : atoms)
    t.erase(a);
  unsigned to = spec.kind == CK::AllToAll ? spec.dim2 : spec.dim;
  for (const Axis &a : atoms)
    t.set(a, info.to, to);
  if (!t.partial.empty() && !t.max.empty())
    return err("the result would be partial and max at once");
  if (!t.divides())
    return err("padded length " + Twine(t.padded[to]) + " of dimension " +
               Twine(to) + " is not divisible by its axes " +
               toString(t.dims[to]) + " (product " +
               Twine(product(t.dims[to])) + ")");
  return DTensorType::get(t);
}

LogicalResult dtc::verifyCollectiveOp(Operation *op) {
  auto operand = dyn_cast<DTensorType>(op->getOperand(0).getType());
  if (!operand)
    return op->emitOpError("operand must be a dtc tensor");
  FailureOr<DTensorType> want =
      inferCollectiveType(cast<CollectiveOpInterface>(op).getSpec(), operand,
                          [&] { return op->emitOpError(); });
  if (failed(want))
    return failure();
  if (op->getResult(0).getType() != *want)
    return op->emitOpError("result must be ")
           << *want << " but is " << op->getResult(0).getType();
  return success();
}

double dtc::getBytesSent(const CollectiveSpec &spec, DTensorType operand) {
  if (!getInfo(spec.kind).movesData)
    return 0;
  double k = product(spec.axes), bytes = operand.getLocalBytes();
  switch (spec.kind) {
  case CK::AllGather:
  case CK::AllGatherInvariant:
    return (k - 1) * bytes;
  case CK::ReduceScatter:
  case CK::AllToAll:
    return (k - 1) / k * bytes;
  default:
    return 2 * (k - 1) / k * bytes;
  }
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

Value dtc::createCollective(OpBuilder &b, Location loc,
                            const CollectiveSpec &spec, Value operand) {
  FailureOr<DTensorType> type =
      inferCollectiveType(spec, cast<DTensorType>(operand.getType()), nullptr);
  assert(succeeded(type) && "illegal collective");
  auto axes = AxesAttr::get(b.getContext(), spec.axes);
  switch (spec.kind) {
#define DTC_PLAIN(NAME)                                                        \
  case CK::NAME:                                                               \
    return NAME##Op::create(b, loc, *type, operand, axes);
#define DTC_WITH_DIM(NAME)                                                     \
  case CK::NAME:                                                               \
    return NAME##Op::create(b, loc, *type, operand, axes, spec.dim);
    DTC_PLAIN(F)
    DTC_PLAIN(G)
    DTC_PLAIN(AllReduce)
    DTC_WITH_DIM(AllGather)
    DTC_WITH_DIM(ReduceScatter)
    DTC_WITH_DIM(AllGatherInvariant)
    DTC_WITH_DIM(Slice)
    DTC_WITH_DIM(SliceReplicated)
    DTC_WITH_DIM(Pad)
    DTC_PLAIN(KeepFirst)
    DTC_PLAIN(AsOne)
    DTC_PLAIN(KeepFirstReplicated)
    DTC_PLAIN(ReduceMax)
#undef DTC_PLAIN
#undef DTC_WITH_DIM
  case CK::AllToAll:
    return AllToAllOp::create(b, loc, *type, operand, axes, spec.dim,
                              spec.dim2);
  }
  llvm_unreachable("unknown collective");
}

/// The backward of any collective is its transpose on the cotangent.
template <typename OpTy>
static void transposeInto(OpTy op, BackwardBuilder &bb) {
  Value cotangent = bb.cotangent(op.getResult());
  std::optional<CollectiveSpec> t = getTranspose(op.getSpec());
  if (!cotangent || !t || !bb.wants(op.getInput()))
    return;
  bb.add(op.getInput(),
         createCollective(bb.getBuilder(), bb.getLoc(), *t, cotangent));
}

/// A collective whose result is its operand's type does nothing. (f always
/// changes the type, so it survives.)
template <typename OpTy> static OpFoldResult foldIdentity(OpTy op) {
  if (op.getInput().getType() == op.getType())
    return op.getInput();
  return {};
}

#define DTC_COLLECTIVE(NAME, DIM, DIM2)                                        \
  CollectiveSpec NAME##Op::getSpec() {                                         \
    return {CK::NAME, AxisList(getAxes().getAxes()), DIM, DIM2};               \
  }                                                                            \
  void NAME##Op::buildBackward(BackwardBuilder &bb) {                          \
    transposeInto(*this, bb);                                                  \
  }                                                                            \
  OpFoldResult NAME##Op::fold(FoldAdaptor) { return foldIdentity(*this); }
#define NONE -1
#define GET_DIM static_cast<int64_t>(getDim())
#define GET_DIM2 static_cast<int64_t>(getDim2())
DTC_COLLECTIVE(F, NONE, NONE)
DTC_COLLECTIVE(G, NONE, NONE)
DTC_COLLECTIVE(AllReduce, NONE, NONE)
DTC_COLLECTIVE(AllGather, GET_DIM, NONE)
DTC_COLLECTIVE(ReduceScatter, GET_DIM, NONE)
DTC_COLLECTIVE(AllGatherInvariant, GET_DIM, NONE)
DTC_COLLECTIVE(Slice, GET_DIM, NONE)
DTC_COLLECTIVE(SliceReplicated, GET_DIM, NONE)
DTC_COLLECTIVE(Pad, GET_DIM, NONE)
DTC_COLLECTIVE(KeepFirst, NONE, NONE)
DTC_COLLECTIVE(AsOne, NONE, NONE)
DTC_COLLECTIVE(KeepFirstReplicated, NONE, NONE)
DTC_COLLECTIVE(AllToAll, GET_DIM, GET_DIM2)
DTC_COLLECTIVE(ReduceMax, NONE, NONE)
#undef NONE
#undef GET_DIM
#undef GET_DIM2
#undef DTC_COLLECTIVE
