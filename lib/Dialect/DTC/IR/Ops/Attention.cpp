//===- Attention.cpp - dtc.attention, dtc.attention_grad ------------------===//
//
// Both ops visit every (query, key) pair that the masks let through and use
// the probability exp(score - lse); the derivative takes lse and the output
// from the forward (Dao et al. 2022, algorithms 1 and 4), so that it is a sum
// over keys.
//
//===----------------------------------------------------------------------===//

#include "Common.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace dtc;

//===----------------------------------------------------------------------===//
// What both ops share
//===----------------------------------------------------------------------===//

/// The letters of a dimension of positions: 's' or 't', below the number of
/// the block (p) where there are several.
template <typename OpTy> static std::string sequence(OpTy op, char letter) {
  return (op.getBlocks() > 1 ? "p" : "") + std::string(1, letter);
}

/// Of positions or documents, with or without a batch.
template <typename OpTy>
static std::string places(OpTy op, Value v, char letter) {
  bool perRow = cast<DTensorType>(v.getType()).getRank() == 2;
  return (perRow ? "b " : "") + sequence(op, letter);
}

template <typename OpTy>
static SmallVector<std::pair<char, int64_t>> blockSizes(OpTy op) {
  return {{'p', static_cast<int64_t>(op.getBlocks())}};
}

/// The op's operands after its first ones, in the order of the records:
/// documents and random numbers where present.
template <typename OpTy>
static void appendOptional(OpTy op, SmallVector<std::string> &dims) {
  if (op.getQDocuments())
    dims.push_back(places(op, op.getQDocuments(), 's'));
  if (op.getKDocuments())
    dims.push_back(places(op, op.getKDocuments(), 't'));
  if (op.getRng())
    dims.push_back("z");
  if (op.getLayer())
    dims.push_back("");
  if (op.getRows())
    dims.push_back("b");
}

/// Both of one rank, 1 or 2, and i32.
static LogicalResult verifyPositions(Operation *op, Value q, Value k,
                                     StringRef name) {
  int64_t rank = cast<DTensorType>(q.getType()).getRank();
  int64_t other = cast<DTensorType>(k.getType()).getRank();
  if (rank != other || (rank != 1 && rank != 2))
    return op->emitOpError()
           << name << " of queries and keys must both have rank 1 or both "
           << "rank 2, but have ranks " << rank << " and " << other;
  return failure(failed(verifyI32(op, q, name)) ||
                 failed(verifyI32(op, k, name)));
}

template <typename OpTy> static LogicalResult verifyAttention(OpTy op) {
  // The rule holds ranks and lengths to the letters; it cannot say this.
  DTensorType q = op.getQ().getType(), k = op.getK().getType();
  auto blocks = static_cast<int64_t>(op.getBlocks());
  for (DTensorType t : {q, k})
    if (blocks < 1 || (t.getRank() == 4 && t.getShape()[1] % blocks != 0))
      return op.emitOpError("blocks ")
             << blocks << " must divide the sequence of " << t;
  if (q.getRank() == 4 && k.getRank() == 4 &&
      q.getShape()[2] % k.getShape()[2] != 0)
    return op.emitOpError()
           << k.getShape()[2] << " key/value heads do not divide "
           << q.getShape()[2] << " query heads";
  if (failed(verifyPositions(op, op.getQPositions(), op.getKPositions(),
                             "positions")))
    return failure();
  if (!op.getQDocuments() != !op.getKDocuments())
    return op.emitOpError("documents must be given for queries and keys, or "
                          "for neither");
  if (op.getQDocuments() &&
      failed(verifyPositions(op, op.getQDocuments(), op.getKDocuments(),
                             "documents")))
    return failure();
  if (failed(verifyPositive(op, op.getScale(), "scale")) ||
      failed(verifyFraction(op, op.getDropout(), "dropout")))
    return failure();
  bool random = !op.getDropout().isZero();
  for (Value v :
       {Value(op.getRng()), Value(op.getLayer()), Value(op.getRows())})
    if (!v == random)
      return op.emitOpError("rng, layer and rows must be given exactly when "
                            "dropout is positive");
  if (random && failed(verifyRandom(op, op.getRng(), op.getLayer(),
                                    op.getRows(), op.getSite())))
    return failure();
  return success();
}

namespace {
/// One rank's operands, which may hold more keys than its piece: the keys of
/// its group. `fixed` operands stand before the optional ones.
class Pairs {
public:
  template <typename OpTy>
  Pairs(OpTy op, const FactorPiece &piece, ArrayRef<Array> xs, unsigned fixed)
      : q(xs[0]), k(xs[1]), v(xs[2]), scale(op.getScale().convertToDouble()),
        causal(op.getCausal()), qPositions(xs[3]), kPositions(xs[4]) {
    unsigned next = fixed;
    if (op.getQDocuments()) {
      qDocuments = &xs[next];
      kDocuments = &xs[next + 1];
      next += 2;
    }
    members = q.shape[2] / k.shape[2];
    if (op.getBlocks() > 1)
      blocks = piece.length('p');
    firstGroup = piece.first('g');
    firstMember = piece.first('m');
    allMembers = piece.rule.factors[*piece.rule.find('m')].size;
    if (op.getRng()) {
      mask.emplace(xs[next], xs[next + 1], op.getSite(),
                   op.getDropout().convertToDouble());
      rows = &xs[next + 2];
    }
  }

  /// Calls fn(t) for the keys that a query sees.
  template <typename Fn> void forEachKey(int64_t b, int64_t s, Fn fn) const {
    int64_t keys = k.shape[1] / blocks, block = s / (q.shape[1] / blocks);
    for (int64_t t = block * keys; t < (block + 1) * keys; ++t)
      if ((!causal || at(kPositions, b, t) <= at(qPositions, b, s)) &&
          (!qDocuments || at(*kDocuments, b, t) == at(*qDocuments, b, s)))
        fn(t);
  }
  int64_t groupOf(int64_t h) const { return h / members; }
  double score(int64_t b, int64_t s, int64_t h, int64_t t) const {
    return scale * dot(q, {b, s, h, 0}, k, {b, t, groupOf(h), 0});
  }
  /// What dropout multiplies a probability with.
  double kept(int64_t b, int64_t s, int64_t h, int64_t t) const {
    if (!mask)
      return 1;
    int64_t head =
        (firstGroup + groupOf(h)) * allMembers + firstMember + h % members;
    return (*mask)(toInteger((*rows)[b]), toInteger(at(qPositions, b, s)),
                   toInteger(at(kPositions, b, t)), head);
  }

  /// The product of two rows, and y += factor x, over the last dimension.
  static double dot(const Array &x, ArrayRef<int64_t> i, const Array &y,
                    ArrayRef<int64_t> j) {
    double sum = 0;
    int64_t ox = x.offset(i), oy = y.offset(j);
    for (int64_t d = 0; d < x.shape.back(); ++d)
      sum += x[ox + d] * y[oy + d];
    return sum;
  }
  static void addTo(Array &y, ArrayRef<int64_t> i, double factor,
                    const Array &x, ArrayRef<int64_t> j) {
    int64_t oy = y.offset(i), ox = x.offset(j);
    for (int64_t d = 0; d < y.shape.back(); ++d)
      y[oy + d] += factor * x[ox + d];
  }

  const Array &q, &k, &v;
  double scale;

private:
  static double at(const Array &x, int64_t b, int64_t s) {
    return x.rank() == 1 ? x[s] : x({b, s});
  }

  bool causal;
  const Array &qPositions, &kPositions;
  const Array *qDocuments = nullptr, *kDocuments = nullptr, *rows = nullptr;
  /// Of the local piece; a query sees the keys of its own.
  int64_t blocks = 1;
  int64_t members, allMembers, firstGroup, firstMember;
  std::optional<DropoutMask> mask;
};
} // namespace

/// Concatenates arrays along a dimension.
static Array concatenate(ArrayRef<const Array *> xs, unsigned dim) {
  SmallVector<int64_t> shape(xs.front()->shape);
  shape[dim] = 0;
  for (const Array *x : xs)
    shape[dim] += x->shape[dim];
  Array y(shape);
  int64_t start = 0;
  for (const Array *x : xs) {
    forEachIndex(x->shape, [&](ArrayRef<int64_t> index) {
      SmallVector<int64_t> at(index);
      at[dim] += start;
      y(at) = (*x)(index);
    });
    start += x->shape[dim];
  }
  return y;
}

/// Each rank's operands with all keys of its group: every operand that has
/// the key position is gathered over the ranks that share it.
static SmallVector<SmallVector<Array>>
gatherKeys(const GroupView &group, const FactorRule &rule,
           ArrayRef<SmallVector<Array>> operands) {
  unsigned key = *rule.find('t');
  SmallVector<SmallVector<Array>> out(operands);
  for (const std::vector<int64_t> &ranks : group.groups('t'))
    for (unsigned i = 0; i < rule.getNumOperands(); ++i)
      for (auto [d, dim] : llvm::enumerate(rule.value(i))) {
        if (dim.size() != 1 || dim[0] != key)
          continue;
        SmallVector<const Array *> parts;
        for (int64_t r : ranks)
          parts.push_back(&operands[r][i]);
        Array all = concatenate(parts, d);
        for (int64_t r : ranks)
          out[r][i] = all;
      }
  return out;
}

/// Of `products` products of the local queries with all keys: where the
/// sequence is cut, every rank's queries see every block in the end. A causal
/// mask leaves half of the pairs.
template <typename OpTy> static double productFlops(OpTy op, double products) {
  auto queries = static_cast<double>(op.getQ().getType().getNumLocalElements());
  auto keys = static_cast<double>(op.getK().getType().getShape()[1]) /
              static_cast<double>(op.getBlocks());
  return 2 * products * queries * keys * (op.getCausal() ? 0.5 : 1);
}

//===----------------------------------------------------------------------===//
// AttentionOp
//===----------------------------------------------------------------------===//

FactorRule AttentionOp::getFactorRule() {
  std::string s = sequence(*this, 's'), t = sequence(*this, 't');
  SmallVector<std::string> dims = {
      "b " + s + " gm d", "b " + t + " g d", "b " + t + " g d",
      places(*this, getQPositions(), 's'), places(*this, getKPositions(), 't')};
  appendOptional(*this, dims);
  SmallVector<unsigned> others; // than v
  for (unsigned i = 0; i < dims.size(); ++i)
    if (i != 2)
      others.push_back(i);
  FactorRule rule =
      FactorRule::get(*this, dims, {"b " + s + " gm d", "b " + s + " gm"},
                      blockSizes(*this))
          .whole("dz")
          .even("bsgmtdz")
          .linear({2})
          .reads(1, others)
          .wide({static_cast<unsigned>(dims.size()) + 1});
  return getBlocks() > 1 ? rule.whole("t")
                         : rule.pair('s', 't').pairedOnly('t');
}

/// Scores, and the sum of values.
double AttentionOp::getFlops() { return productFlops(*this, 2); }

LogicalResult AttentionOp::verify() { return verifyAttention(*this); }

bool AttentionOp::hasCotangent(unsigned result) { return result == 0; }

SmallVector<Array> AttentionOp::interpret(const FactorPiece &piece,
                                          ArrayRef<Array> operands) {
  Pairs pairs(*this, piece, operands, 5);
  Array o(piece.resultShape(0)), lse(piece.resultShape(1));
  forEachIndex(lse.shape, [&](ArrayRef<int64_t> index) {
    int64_t b = index[0], s = index[1], h = index[2];
    double top = -std::numeric_limits<double>::infinity(), sum = 0;
    pairs.forEachKey(
        b, s, [&](int64_t t) { top = std::max(top, pairs.score(b, s, h, t)); });
    lse(index) = top;
    if (std::isinf(top) && top < 0)
      return; // no key is visible
    pairs.forEachKey(b, s, [&](int64_t t) {
      sum += std::exp(pairs.score(b, s, h, t) - top);
    });
    lse(index) += std::log(sum);
    pairs.forEachKey(b, s, [&](int64_t t) {
      double p = std::exp(pairs.score(b, s, h, t) - lse(index));
      Pairs::addTo(o, {b, s, h, 0}, p * pairs.kept(b, s, h, t), pairs.v,
                   {b, t, pairs.groupOf(h), 0});
    });
  });
  return {o, lse};
}

SmallVector<SmallVector<Array>>
AttentionOp::interpretRanks(const GroupView &group,
                            ArrayRef<FactorPiece> pieces,
                            ArrayRef<SmallVector<Array>> operands) {
  SmallVector<SmallVector<Array>> out;
  // Blocks are never cut, so nothing is gathered for them.
  auto gathered = gatherKeys(group, pieces.front().rule, operands);
  for (auto [piece, xs] : llvm::zip_equal(pieces, gathered))
    out.push_back(interpret(piece, xs));
  return out;
}

void AttentionOp::buildBackward(BackwardBuilder &bb) {
  Value dout = bb.cotangent(getResult());
  if (!dout || !(bb.wants(getQ()) || bb.wants(getK()) || bb.wants(getV())))
    return;
  auto saved = [&](Value v) { return v ? bb.saved(v) : Value(); };
  auto grad = bb.create<AttentionGradOp>(
      BackwardBuilder::conjugate(getQ()), BackwardBuilder::conjugate(getK()),
      BackwardBuilder::conjugate(getV()), saved(getQ()), saved(getK()),
      saved(getV()), saved(getQPositions()), saved(getKPositions()),
      saved(getResult()), saved(getLse()), dout, saved(getQDocuments()),
      saved(getKDocuments()), saved(getRng()), saved(getLayer()),
      saved(getRows()), getCausal(), getScale(), getDropout(), getSite(),
      /*local=*/getBlocks() > 1, getBlocks());
  if (bb.wants(getQ()))
    bb.add(getQ(), grad.getDq());
  if (bb.wants(getK()))
    bb.add(getK(), grad.getDk());
  if (bb.wants(getV()))
    bb.add(getV(), grad.getDv());
}

//===----------------------------------------------------------------------===//
// AttentionGradOp
//===----------------------------------------------------------------------===//

FactorRule AttentionGradOp::getFactorRule() {
  std::string s = sequence(*this, 's'), t = sequence(*this, 't');
  std::string queries = "b " + s + " gm d", keys = "b " + t + " g d";
  SmallVector<std::string> dims = {queries,
                                   keys,
                                   keys,
                                   places(*this, getQPositions(), 's'),
                                   places(*this, getKPositions(), 't'),
                                   queries,
                                   "b " + s + " gm",
                                   queries};
  appendOptional(*this, dims);
  SmallVector<unsigned> others; // than v and out
  for (unsigned i = 0; i < dims.size(); ++i)
    if (i != 2 && i != 5)
      others.push_back(i);
  FactorRule rule =
      FactorRule::get(*this, dims, {queries, keys, keys}, blockSizes(*this))
          .whole("dz")
          .even("bsgmtdz")
          .summed(1, "sm")
          .summed(2, "sm")
          .linear({7})
          .linear({2, 5})
          .reads(2, others)
          .wide({6});
  if (getBlocks() > 1)
    rule.whole("t");
  return getLocal() ? rule.summed(0, "t") : rule.pair('s', 't').pairedOnly('t');
}

/// Scores again, their cotangent, and three results.
double AttentionGradOp::getFlops() { return productFlops(*this, 5); }

LogicalResult AttentionGradOp::verify() {
  if (getBlocks() > 1 && !getLocal())
    return emitOpError("with several blocks is always local");
  return verifyAttention(*this);
}

SmallVector<Array> AttentionGradOp::interpret(const FactorPiece &piece,
                                              ArrayRef<Array> operands) {
  Pairs pairs(*this, piece, operands, 8);
  const Array &out = operands[5], &lse = operands[6], &dout = operands[7];
  Array dq(pairs.q.shape), dk(pairs.k.shape), dv(pairs.v.shape);
  forEachIndex(lse.shape, [&](ArrayRef<int64_t> index) {
    int64_t b = index[0], s = index[1], h = index[2], g = pairs.groupOf(h);
    SmallVector<int64_t> row = {b, s, h, 0};
    // The sum over all keys of p dp: the derivative of the normalization.
    double delta = Pairs::dot(dout, row, out, row);
    pairs.forEachKey(b, s, [&](int64_t t) {
      SmallVector<int64_t> key = {b, t, g, 0};
      double p = std::exp(pairs.score(b, s, h, t) - lse(index));
      double kept = pairs.kept(b, s, h, t);
      Pairs::addTo(dv, key, p * kept, dout, row);
      double dp = kept * Pairs::dot(dout, row, pairs.v, key);
      double dz = p * (dp - delta) * pairs.scale;
      Pairs::addTo(dq, row, dz, pairs.k, key);
      Pairs::addTo(dk, key, dz, pairs.q, row);
    });
  });
  return {dq, dk, dv};
}

SmallVector<SmallVector<Array>>
AttentionGradOp::interpretRanks(const GroupView &group,
                                ArrayRef<FactorPiece> pieces,
                                ArrayRef<SmallVector<Array>> operands) {
  SmallVector<SmallVector<Array>> out;
  if (getLocal()) {
    for (auto [piece, xs] : llvm::zip_equal(pieces, operands))
      out.push_back(interpret(piece, xs));
    return out;
  }
  auto gathered = gatherKeys(group, pieces.front().rule, operands);
  for (auto [piece, xs] : llvm::zip_equal(pieces, gathered))
    out.push_back(interpret(piece, xs));
  // dk and dv hold the keys of the group: sum them and keep the own ones.
  for (const std::vector<int64_t> &ranks : group.groups('t'))
    for (unsigned result : {1, 2}) {
      Array total = out[ranks.front()][result];
      for (int64_t r : llvm::drop_begin(ranks))
        for (int64_t i = 0; i < total.count(); ++i)
          total[i] += out[r][result][i];
      int64_t first = 0;
      for (int64_t r : ranks) {
        Array own(pieces[r].resultShape(result));
        forEachIndex(own.shape, [&](ArrayRef<int64_t> index) {
          SmallVector<int64_t> at(index);
          at[1] += first;
          own(index) = total(at);
        });
        first += own.shape[1];
        out[r][result] = own;
      }
    }
  return out;
}
