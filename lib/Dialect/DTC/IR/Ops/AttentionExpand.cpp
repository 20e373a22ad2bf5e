//===- AttentionExpand.cpp - Attention over a cut sequence ----------------===//
//
// Three ways to say attention whose queries and keys are cut by one list of
// axes in local ops and communication; `dtc.attention_exchange` on the module
// chooses. Forward and derivative have each their own: no loop over blocks is
// differentiated.
//
// * ring (Liu et al. 2023): blocks of keys go around, queries stay; outputs of
//   the blocks are merged by their log-sum-exps. In the derivative the
//   gradients of a block's keys and values go around with it.
// * all-gather (Llama team 2024, section 3.3.2): every rank gathers all keys.
// * ulysses (Jacobs et al. 2023): heads are exchanged for the sequence.
//
// The last two only regroup the op's factors: the op under other placements,
// and its values brought there and back.
//
//===----------------------------------------------------------------------===//

#include "Common.h"
#include <limits>

using namespace mlir;
using namespace dtc;

namespace {
enum class Exchange { Ring, AllGather, Ulysses };
} // namespace

static FailureOr<Exchange> getExchange(Operation *op) {
  auto module = op->getParentOfType<ModuleOp>();
  auto name = module
                  ? module->getAttrOfType<StringAttr>(attrs::attentionExchange)
                  : StringAttr();
  if (!name || name == "ring")
    return Exchange::Ring;
  if (name == "all-gather")
    return Exchange::AllGather;
  if (name == "ulysses")
    return Exchange::Ulysses;
  return op->emitOpError("attention exchanges by ring, all-gather or ulysses, "
                         "but not by '")
         << name.getValue() << "'";
}

/// "1, 2 or 4": the products with `tp` that divide the heads.
static std::string legalSizes(int64_t heads, int64_t tp) {
  SmallVector<int64_t> sizes;
  for (int64_t n = 1; n * tp <= heads; ++n)
    if (heads % (n * tp) == 0)
      sizes.push_back(n);
  std::string s;
  for (auto [i, n] : llvm::enumerate(sizes)) {
    if (i)
      s += i + 1 == sizes.size() ? " or " : ", ";
    s += std::to_string(n);
  }
  return s;
}

//===----------------------------------------------------------------------===//
// All-gather and Ulysses: other placements of the same op
//===----------------------------------------------------------------------===//

/// The op with its factors cut otherwise: operands are brought there, results
/// back.
static FailureOr<SmallVector<Value>>
expandByResharding(OpBuilder &b, Operation *op, Exchange exchange) {
  FactorRule rule = cast<FactorOpInterface>(op).getFactorRule();
  SmallVector<DTensorType> types = getOperandTensorTypes(op);
  llvm::append_range(types, getResultTensorTypes(op));
  Assignment assignment;
  assignment.factors = getFactorAxes(rule, types);
  auto axesOf = [&](char f) -> AxisList & {
    return assignment.factors[*rule.find(f)];
  };
  AxisList ring = axesOf('t');
  axesOf('t').clear();
  if (exchange == Exchange::Ulysses) {
    // Heads are cut by what cuts them, then by the sequence's axes.
    axesOf('s').clear();
    AxisList heads = axesOf('g');
    llvm::append_range(heads, axesOf('m'));
    int64_t tp = product(heads), cp = product(ring);
    llvm::append_range(heads, ring);
    DimFactors dim = {*rule.find('g'), *rule.find('m')};
    int64_t all = rule.factors[dim[0]].size * rule.factors[dim[1]].size;
    auto parts = splitByFactors(rule, dim, heads);
    if (all % (tp * cp) != 0 || failed(parts))
      return op->emitOpError("ulysses: ")
             << toString(ring) << " times " << tp << " does not divide " << all
             << " attention heads; the sequence may be cut by "
             << legalSizes(all, tp);
    axesOf('g') = (*parts)[0];
    axesOf('m') = (*parts)[1];
    // A part of an axis on the groups, the rest on their members.
    Refinement refinement;
    for (const AxisList &axes : assignment.factors)
      refinement.add(axes);
    for (AxisList &axes : assignment.factors)
      axes = refinement.split(axes);
  }

  // Axes that cut nothing keep their placements, but for those that cut the
  // sequence before.
  for (DTensorType type : types)
    for (const Axis &a : type.getReplicate().getAxes())
      if (!overlap(a, ring) &&
          llvm::none_of(
              assignment.factors,
              [&](const AxisList &axes) { return overlap(a, axes); }) &&
          llvm::none_of(assignment.others,
                        [&](auto &other) { return other.first == a; }))
        assignment.others.push_back({a, Assignment::replicate});

  SmallVector<Value> operands;
  for (auto [i, v] : llvm::enumerate(op->getOperands())) {
    DTensorType want = typeFor(rule, assignment, i, types[i]);
    FailureOr<Value> there = reshard(b, op->getLoc(), v, want);
    if (failed(there))
      return op->emitOpError("operand #")
             << i << " cannot be brought to " << want;
    operands.push_back(*there);
  }
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(operands);
  state.addAttributes(op->getAttrs());
  if (op->getPropertiesStorage())
    state.propertiesAttr = op->getPropertiesAsAttribute();
  for (unsigned r = 0; r < op->getNumResults(); ++r) {
    unsigned v = rule.getNumOperands() + r;
    state.addTypes(typeFor(rule, assignment, v, types[v]));
  }
  Operation *local = b.create(state);
  SmallVector<Value> results;
  for (auto [r, v] : llvm::enumerate(local->getResults())) {
    DTensorType want = types[rule.getNumOperands() + r];
    FailureOr<Value> back = reshard(b, op->getLoc(), v, want);
    if (failed(back))
      return op->emitOpError("result #")
             << r << " cannot be brought to " << want;
    results.push_back(*back);
  }
  return results;
}

//===----------------------------------------------------------------------===//
// The ring
//===----------------------------------------------------------------------===//

namespace {
/// What both rings carry and share. `OpTy` is attention or its derivative.
template <typename OpTy> class RingBuilder {
public:
  RingBuilder(OpBuilder &b, OpTy op)
      : b(b), op(op), loc(op.getLoc()),
        blocks(op.getK().getType().getDims()[1].getProduct()) {
    for (Value v : {Value(op.getK()), Value(op.getV()),
                    Value(op.getKPositions()), Value(op.getKDocuments())})
      if (v)
        inits.push_back(v);
    keys = inits.size();
  }

  LogicalResult check() {
    FactorRule rule = op.getFactorRule();
    SmallVector<DTensorType> types = getOperandTensorTypes(op);
    llvm::append_range(types, getResultTensorTypes(op));
    SmallVector<AxisList> axes = getFactorAxes(rule, types);
    const AxisList &s = axes[*rule.find('s')], &t = axes[*rule.find('t')];
    if (s == t)
      return success();
    return op.emitOpError("a ring needs queries and keys cut alike, but they "
                          "are cut by ")
           << toString(s) << " and " << toString(t);
  }

  /// A carried value that starts as one number everywhere.
  void addConstant(Type type, double value) {
    inits.push_back(ConstantOp::create(b, loc, type, b.getF64FloatAttr(value)));
  }

  /// Builds the loop. `body` gets the key block's values (documents may be
  /// null) and the other carried values, and returns those for the next
  /// iteration; the keys' shifts are added here.
  template <typename Body> RingOp build(Body body) {
    auto ring = RingOp::create(b, loc, ValueRange(inits).getTypes(),
                               static_cast<uint64_t>(blocks), inits);
    OpBuilder::InsertionGuard guard(b);
    Block *block = b.createBlock(&ring.getBody());
    for (Value v : inits)
      block->addArgument(v.getType(), loc);
    auto args = block->getArguments();
    // The next block's shift does not need this one's work: it comes first,
    // so that it may run beside it.
    SmallVector<Value> next;
    for (Value v : args.take_front(keys))
      next.push_back(shift(v));
    KeyBlock in{args[0], args[1], args[2],
                keys == 4 ? Value(args[3]) : Value()};
    llvm::append_range(next, body(in, args.drop_front(keys)));
    YieldOp::create(b, loc, next);
    return ring;
  }

  Value shift(Value v) {
    int64_t dim = cast<DTensorType>(v.getType()).getRank() == 1 ? 0 : 1;
    return ShiftOp::create(b, loc, v.getType(), v, dim, blocks,
                           /*inverse=*/false);
  }

  /// One block of keys.
  struct KeyBlock {
    Value k, v, positions, documents;
  };

  OpBuilder &b;
  OpTy op;
  Location loc;
  int64_t blocks;
  SmallVector<Value> inits;
  unsigned keys;
};
} // namespace

FailureOr<SmallVector<Value>> AttentionOp::expand(OpBuilder &b) {
  FailureOr<Exchange> exchange = getExchange(*this);
  if (failed(exchange))
    return failure();
  if (*exchange != Exchange::Ring)
    return expandByResharding(b, *this, *exchange);
  RingBuilder<AttentionOp> ring(b, *this);
  if (failed(ring.check()))
    return failure();
  Type out = getResult().getType(), lse = getLse().getType();
  ring.addConstant(out, 0);
  ring.addConstant(lse, -std::numeric_limits<double>::infinity());
  auto loop = ring.build([&](auto in, ValueRange carried) {
    auto part = AttentionOp::create(
        b, getLoc(), out, lse, getQ(), in.k, in.v, getQPositions(),
        in.positions, getQDocuments(), in.documents, getRng(), getLayer(),
        getRows(), getCausal(), getScale(), getDropout(), getSite(),
        ring.blocks);
    auto merged =
        MergeAttentionOp::create(b, getLoc(), out, lse, carried[0], carried[1],
                                 part.getResult(), part.getLse());
    return SmallVector<Value>{merged.getResult(), merged.getLse()};
  });
  return SmallVector<Value>(loop.getResults().take_back(2));
}

FailureOr<SmallVector<Value>> AttentionGradOp::expand(OpBuilder &b) {
  FailureOr<Exchange> exchange = getExchange(*this);
  if (failed(exchange))
    return failure();
  if (*exchange != Exchange::Ring)
    return expandByResharding(b, *this, *exchange);
  RingBuilder<AttentionGradOp> ring(b, *this);
  if (failed(ring.check()))
    return failure();
  for (Value v : getResults())
    ring.addConstant(v.getType(), 0);
  auto loop = ring.build([&](auto in, ValueRange carried) {
    auto part = AttentionGradOp::create(
        b, getLoc(), getDq().getType(), getDk().getType(), getDv().getType(),
        getQ(), in.k, in.v, getQPositions(), in.positions, getOut(), getLse(),
        getDout(), getQDocuments(), in.documents, getRng(), getLayer(),
        getRows(), getCausal(), getScale(), getDropout(), getSite(),
        /*local=*/true, ring.blocks);
    auto add = [&](Value sum, Value v) -> Value {
      return AddOp::create(b, getLoc(), v.getType(), sum, v,
                           DenseI64ArrayAttr());
    };
    // Gradients of the block's keys go on with it.
    return SmallVector<Value>{add(carried[0], part.getDq()),
                              ring.shift(add(carried[1], part.getDk())),
                              ring.shift(add(carried[2], part.getDv()))};
  });
  return SmallVector<Value>(loop.getResults().take_back(3));
}
