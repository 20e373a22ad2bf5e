//===- AttentionCommon.cpp - Shared by both directions of attention -------===//
#include "AttentionCommon.h"
#include <cmath>

using namespace mlir;
using namespace dtc::codegen;

static LogicalResult checkShape(Location loc, Value v, ArrayRef<int64_t> shape,
                                Type element, StringRef name) {
  auto type = v ? dyn_cast<MemRefType>(v.getType()) : MemRefType();
  if (!type || !type.hasStaticShape() || !type.getLayout().isIdentity() ||
      type.getShape() != shape || type.getElementType() != element) {
    auto diagnostic = emitError(loc) << "attention: " << name << " must be "
                                     << MemRefType::get(shape, element);
    if (v)
      diagnostic << ", is " << v.getType();
    else
      diagnostic << ", is missing";
    return diagnostic;
  }
  return success();
}

LogicalResult AttentionKernel::check(Location loc, const AttentionSpec &s,
                                     const AttentionInputs &in,
                                     ArrayRef<Value> likeQ,
                                     ArrayRef<Value> likeK, Value lse) {
  auto type = dyn_cast<MemRefType>(in.q.getType());
  if (!type)
    return emitError(loc) << "attention: q is not a memref";
  Type element = type.getElementType();
  if (!element.isF32() && !element.isF64() && !element.isBF16())
    return emitError(loc) << "attention: element type " << element
                          << " is not supported (f32, f64 and bf16 are)";
  if (s.headDim <= 0 || s.kvHeads <= 0 || s.group <= 0)
    return emitError(loc) << "attention: headDim " << s.headDim << ", kvHeads "
                          << s.kvHeads << ", group " << s.group
                          << " must be positive";
  if (!(s.dropout >= 0.0 && s.dropout < 1.0))
    return emitError(loc) << "attention: dropout probability " << s.dropout
                          << " is not in [0, 1)";
  int64_t heads = s.kvHeads * s.group;
  for (Value v : likeQ)
    if (failed(checkShape(loc, v, {s.batch, s.queries, heads, s.headDim},
                          element, "q, o or a gradient of one")))
      return failure();
  for (Value v : likeK)
    if (failed(checkShape(loc, v, {s.batch, s.keys, s.kvHeads, s.headDim},
                          element, "k, v or a gradient of one")))
      return failure();
  if (failed(checkShape(loc, lse, {s.batch, s.queries, heads},
                        getComputeType(element), "lse")))
    return failure();
  Type i32 = IntegerType::get(loc.getContext(), 32);
  if (s.causal || s.dropout > 0 || in.posQ) {
    if (!in.posQ || !in.posK)
      return emitError(loc) << "attention: positions are missing";
    bool perRow = cast<MemRefType>(in.posQ.getType()).getRank() == 2;
    SmallVector<int64_t> q{s.queries}, k{s.keys};
    if (perRow) {
      q.insert(q.begin(), s.batch);
      k.insert(k.begin(), s.batch);
    }
    if (failed(checkShape(loc, in.posQ, q, i32, "posQ")) ||
        failed(checkShape(loc, in.posK, k, i32, "posK")))
      return failure();
  }
  if (in.docQ &&
      (failed(checkShape(loc, in.docQ, {s.batch, s.queries}, i32, "docQ")) ||
       failed(checkShape(loc, in.docK, {s.batch, s.keys}, i32, "docK"))))
    return failure();
  if (s.dropout > 0 &&
      (failed(checkShape(loc, in.rng, {2}, i32, "rng")) ||
       failed(checkShape(loc, in.layer, {}, i32, "layer")) ||
       failed(checkShape(loc, in.rows, {s.batch}, i32, "rows"))))
    return failure();
  return success();
}

AttentionKernel::AttentionKernel(Emitter &e, const AttentionSpec &spec,
                                 const AttentionInputs &in,
                                 const TargetInfo &target)
    : spec(spec), target(target) {
  element = getComputeType(cast<MemRefType>(in.q.getType()).getElementType());
  bits = element.getIntOrFloatBitWidth();
  lanes = target.lanes(bits);
  vec = VectorType::get({lanes}, element);
  intVec = VectorType::get({lanes}, e.b.getI32Type());
  width = getWidth(bits, target);
  heads = spec.kvHeads * spec.group;
  qStride = heads * spec.headDim;
  kStride = spec.kvHeads * spec.headDim;
  q = e.flat(in.q);
  k = e.flat(in.k);
  v = e.flat(in.v);
  positionsPerRow =
      in.posQ && cast<MemRefType>(in.posQ.getType()).getRank() == 2;
  if (spec.causal || spec.dropout > 0) {
    posQ = e.flat(in.posQ);
    posK = e.flat(in.posK);
  }
  if (in.docQ) {
    docQ = e.flat(in.docQ);
    docK = e.flat(in.docK);
  }
  if (spec.dropout > 0) {
    rows = in.rows;
    key = emitDropoutKey(e.b, e.loc, in.rng, in.layer, spec.site);
    headOffset = in.headOffset;
  }
}

Value AttentionKernel::loadIds(Emitter &e, Value mem, Value at, int64_t first,
                               Value count) const {
  Value from = e.add(at, first);
  if (!count)
    return e.vload(intVec, mem, from);
  Value rest = e.max(e.idx(0), e.sub(count, e.idx(first)));
  Value mask = e.op<vector::CreateMaskOp>(
      VectorType::get({lanes}, e.b.getI1Type()), ValueRange{rest});
  Value fill = e.broadcast(intVec, e.load(mem, at));
  return e.op<vector::MaskedLoadOp>(intVec, mem, ValueRange{from}, mask, fill);
}

AttentionKernel::TileIds AttentionKernel::idsOf(Emitter &e, Value pos,
                                                Value doc, Value posAt,
                                                Value docAt, Value count,
                                                int64_t most) const {
  auto rangeOf = [&](Value mem, Value at) {
    Range r;
    for (int64_t first = 0; first < most; first += lanes) {
      // The last vector of a tile may be shorter.
      Value limit = count;
      if (!limit && first + lanes > most)
        limit = e.idx(most);
      Value ids = loadIds(e, mem, at, first, limit);
      r.low = r.low ? e.op<arith::MinSIOp>(r.low, ids).getResult() : ids;
      r.high = r.high ? e.op<arith::MaxSIOp>(r.high, ids).getResult() : ids;
    }
    r.low = e.op<vector::ReductionOp>(vector::CombiningKind::MINSI, r.low);
    r.high = e.op<vector::ReductionOp>(vector::CombiningKind::MAXSI, r.high);
    return r;
  };
  TileIds ids;
  if (spec.causal)
    ids.pos = rangeOf(pos, posAt);
  if (docQ)
    ids.doc = rangeOf(doc, docAt);
  return ids;
}

AttentionKernel::Visibility
AttentionKernel::visibility(Emitter &e, const TileIds &queries,
                            const TileIds &keys) const {
  Visibility r;
  auto cmp = [&](arith::CmpIPredicate p, Value x, Value y) -> Value {
    return e.op<arith::CmpIOp>(p, x, y);
  };
  auto either = [&](Value x, Value y) -> Value {
    return x ? e.op<arith::OrIOp>(x, y).getResult() : y;
  };
  auto both = [&](Value x, Value y) -> Value {
    return x ? e.op<arith::AndIOp>(x, y).getResult() : y;
  };
  using P = arith::CmpIPredicate;
  if (spec.causal) {
    r.none = cmp(P::sgt, keys.pos.low, queries.pos.high);
    r.all = cmp(P::sle, keys.pos.high, queries.pos.low);
  }
  if (docQ) {
    r.none = either(r.none, cmp(P::slt, keys.doc.high, queries.doc.low));
    r.none = either(r.none, cmp(P::sgt, keys.doc.low, queries.doc.high));
    r.all = both(r.all, cmp(P::eq, keys.doc.low, queries.doc.high));
    r.all = both(r.all, cmp(P::eq, keys.doc.high, queries.doc.low));
  }
  return r;
}

Value AttentionKernel::applyMask(Emitter &e, Value x, Value pq, Value pk,
                                 Value dq, Value dk) const {
  Value visible;
  if (spec.causal)
    visible = e.op<arith::CmpIOp>(arith::CmpIPredicate::sle, pk, pq);
  if (docQ) {
    Value same = e.op<arith::CmpIOp>(arith::CmpIPredicate::eq, dk, dq);
    visible = visible ? e.op<arith::AndIOp>(visible, same).getResult() : same;
  }
  return e.select(visible, x, e.splat(vec, -INFINITY));
}

Value AttentionKernel::applyDropout(Emitter &e, Value p, Value row, Value pq,
                                    Value pk, Value head) const {
  std::array<Value, 2> keys = {e.broadcast(intVec, key[0]),
                               e.broadcast(intVec, key[1])};
  Value keep = emitDropoutKeep(
      e.b, e.loc, {e.broadcast(intVec, row), pq, pk, e.broadcast(intVec, head)},
      keys, spec.dropout);
  Value scaled = e.mulf(p, e.splat(vec, 1.0 / (1.0 - spec.dropout)));
  return e.select(keep, scaled, e.splat(vec, 0.0));
}

Value AttentionKernel::sumLanes(Emitter &e, Value v) const {
  for (int64_t s = lanes / 2; s > 0; s /= 2) {
    SmallVector<int64_t> other;
    for (int64_t i = 0; i < lanes; ++i)
      other.push_back(i ^ s);
    v = e.addf(v, e.op<vector::ShuffleOp>(v, v, other));
  }
  return e.op<vector::ExtractOp>(v, int64_t(0));
}

int64_t AttentionKernel::getWidth(int64_t elementBits,
                                  const TargetInfo &target) {
  return 2 * target.lanes(elementBits);
}

AttentionTiles dtc::codegen::getAttentionTiles(int64_t queries, int64_t keys,
                                               int64_t elementBits,
                                               bool backward,
                                               const TargetInfo &target) {
  int64_t registerRows, width = AttentionKernel::getWidth(elementBits, target);
  int64_t rows = AttentionKernel::chooseRows(backward ? queries : keys,
                                             AttentionKernel::aboutRows, target,
                                             registerRows);
  return backward ? AttentionTiles{rows, width} : AttentionTiles{width, rows};
}

int64_t AttentionKernel::chooseRows(int64_t total, int64_t about,
                                    const TargetInfo &target,
                                    int64_t &registerRows) {
  int64_t most = chooseRegisterTile(1 << 20, 2, target).rows;
  registerRows = std::min(most, std::max<int64_t>(total, 1));
  for (int64_t r = most; r > most / 2; --r)
    if (total >= r && total % r == 0) {
      registerRows = r;
      break;
    }
  return std::max<int64_t>(1, about / registerRows) * registerRows;
}

void AttentionKernel::storeTransposed(Emitter &e, Place src, Place dst,
                                      int64_t stride, Value count,
                                      int64_t remainder,
                                      ArrayRef<Value> scale) const {
  // A square of lanes x lanes, from row i on. The loops stay loops: shuffles
  // in a long straight line take the compiler much time.
  auto square = [&](Value i, int64_t j, int64_t rows, int64_t limit) {
    SmallVector<Value> block;
    Value from = e.add(e.add(src.base, e.mul(i, width)), j);
    for (int64_t r = 0; r < lanes; ++r) {
      if (r >= rows) {
        block.push_back(e.splat(vec, 0.0));
        continue;
      }
      Value x = e.vload(vec, src.mem, e.add(from, r * width));
      block.push_back(scale.empty() ? x : e.mulf(x, scale[j / lanes]));
    }
    e.transpose(block);
    Value mask = e.firstLanes(rows, lanes);
    Value to = e.add(e.add(dst.base, i), j * stride);
    for (int64_t r = 0; r < lanes && j + r < limit; ++r)
      e.vstore(block[r], dst.mem, e.add(to, r * stride), mask);
  };
  auto columns = [&](int64_t limit) {
    int64_t whole = spec.headDim / lanes * lanes;
    for (int64_t j = 0; j < limit; j += lanes) {
      e.loop(e.idx(0), e.idx(whole), lanes,
             [&](Value i) { square(i, j, lanes, limit); });
      if (whole < spec.headDim)
        square(e.idx(whole), j, spec.headDim - whole, limit);
    }
  };
  if (!count)
    return columns(width);
  e.when(
      e.eq(count, e.idx(width)), [&] { columns(width); },
      [&] { columns(remainder); });
}
