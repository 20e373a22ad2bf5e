//===- AttentionForward.cpp - o and lse of attention ----------------------===//
//
// A task is a tile of queries of one head. Its queries are the lanes of the
// vectors: scores are kept transposed, [keys][queries], so that the softmax
// needs no sums across lanes, and keys and values are read where they lie,
// element by element, as the broadcast side of both products.
//
//===----------------------------------------------------------------------===//
#include "AttentionCommon.h"
#include <cmath>

using namespace mlir;
using namespace dtc::codegen;

static Value greater(Emitter &e, Value x, Value y) {
  return e.select(e.op<arith::CmpFOp>(arith::CmpFPredicate::OGT, x, y), x, y);
}

LogicalResult dtc::codegen::emitAttention(OpBuilder &builder, Location loc,
                                          const AttentionSpec &spec,
                                          const AttentionInputs &in, Value o,
                                          Value lse, Workspace &ws,
                                          const TargetInfo &target) {
  if (failed(
          AttentionKernel::check(loc, spec, in, {in.q, o}, {in.k, in.v}, lse)))
    return failure();
  if (spec.batch == 0 || spec.queries == 0)
    return success();
  OpBuilder::InsertionGuard guard(builder);
  Emitter e(builder, loc);
  AttentionKernel kernel(e, spec, in, target);
  Value flatO = e.flat(o), flatLse = e.flat(lse);

  int64_t d = spec.headDim, width = kernel.width, lanes = kernel.lanes;
  int64_t vectors = width / lanes, bits = kernel.bits;
  VectorType vec = kernel.vec;
  int64_t scoreRows;
  int64_t keyTile =
      AttentionKernel::chooseRows(spec.keys, 64, target, scoreRows);
  int64_t keyTiles = (spec.keys + keyTile - 1) / keyTile;
  int64_t queryTiles = (spec.queries + width - 1) / width;
  RegisterTile outTile = chooseRegisterTile(d, vectors, target);

  WorkspaceLayout layout;
  int64_t paddedD = (d + lanes - 1) / lanes * lanes;
  int64_t qAt = layout.reserve(paddedD * width, bits);
  int64_t scoreAt = layout.reserve(keyTile * width, bits);
  int64_t sumAt = layout.reserve(d * width, bits);
  // Rows of keys and values lie far apart, often on few cache sets: the tile is
  // copied to where its rows follow one another.
  int64_t kTileAt = layout.reserve(keyTile * paddedD, bits);
  int64_t vTileAt = layout.reserve(keyTile * paddedD, bits);
  int64_t statAt = layout.reserve(4 * width, bits);

  double flops = 4.0 * spec.batch * spec.queries * kernel.heads * spec.keys * d;
  e.tiles(
      spec.batch * kernel.heads * queryTiles, flops < 2e5, [&](Value index) {
        Value workspace = ws.request(e.b, e.loc, layout.bytes);
        auto view = [&](int64_t at, int64_t count) {
          return WorkspaceLayout::view(e, workspace, at, count, kernel.element);
        };
        Value qT = view(qAt, paddedD * width);
        Value scores = view(scoreAt, keyTile * width);
        Value sums = view(sumAt, d * width);
        Value kTile = view(kTileAt, keyTile * paddedD);
        Value vTile = view(vTileAt, keyTile * paddedD);
        Value stats = view(statAt, 4 * width);
        // Rows of `stats`, one element per query.
        enum { kMax = 0, kSum = 1, kTileMax = 2, kDecay = 3 };
        auto stat = [&](Emitter &t, int64_t row, int64_t j) {
          return t.vload(vec, stats, t.idx(row * width + j * lanes));
        };
        auto setStat = [&](Emitter &t, int64_t row, int64_t j, Value x) {
          t.vstore(x, stats, t.idx(row * width + j * lanes));
        };

        Value tile = e.rem(index, queryTiles);
        Value rest = e.div(index, queryTiles);
        Value head = e.rem(rest, kernel.heads);
        Value row = e.div(rest, kernel.heads);
        Value kvHead = e.div(head, spec.group);
        Value q0 = e.mul(tile, width);
        bool ragged = spec.queries % width != 0;
        Value count =
            ragged ? e.blockLength(tile, width, spec.queries) : Value();
        Value rowQ = e.mul(row, spec.queries), rowK = e.mul(row, spec.keys);
        Value qBase =
            e.add(e.mul(e.add(rowQ, q0), kernel.qStride), e.mul(head, d));

        emitPackPanels(e, vec, {{kernel.q, qBase}, 1, kernel.qStride}, e.idx(d),
                       count ? count : e.idx(width), spec.queries % width,
                       width, {qT, e.idx(0)}, paddedD * width);
        Value zero = e.splat(vec, 0.0), minusInf = e.splat(vec, -INFINITY);
        for (int64_t j = 0; j < vectors; ++j) {
          setStat(e, kMax, j, minusInf);
          setStat(e, kSum, j, zero);
        }
        e.loop(e.idx(0), e.idx(d * width), lanes,
               [&](Value at) { e.vstore(zero, sums, at); });

        // Positions and documents of the queries.
        Value posQAt = kernel.positionsPerRow ? e.add(rowQ, q0) : q0;
        Value docQAt = e.add(rowQ, q0);
        SmallVector<Value> posQ(vectors), docQ(vectors);
        for (int64_t j = 0; j < vectors; ++j) {
          if (kernel.posQ)
            posQ[j] = kernel.loadIds(e, kernel.posQ, posQAt, j * lanes, count);
          if (kernel.docQ)
            docQ[j] = kernel.loadIds(e, kernel.docQ, docQAt, j * lanes, count);
        }
        AttentionKernel::TileIds queryIds;
        if (kernel.masked())
          queryIds = kernel.idsOf(e, kernel.posQ, kernel.docQ, posQAt, docQAt,
                                  count, width);
        Value globalRow, globalHead;
        if (spec.dropout > 0) {
          globalRow = e.load(kernel.rows, row);
          Value h = kernel.headOffset ? e.add(head, kernel.headOffset) : head;
          globalHead = e.op<arith::IndexCastOp>(e.b.getI32Type(), h);
        }

        e.loop(e.idx(0), e.idx(keyTiles), 1, [&](Value keyIndex) {
          Value k0 = e.mul(keyIndex, keyTile);
          Value keyCount = e.blockLength(keyIndex, keyTile, spec.keys);
          Value posKAt = kernel.positionsPerRow ? e.add(rowK, k0) : k0;
          Value docKAt = e.add(rowK, k0);
          AttentionKernel::Visibility visible;
          if (kernel.masked())
            visible = kernel.visibility(
                e, queryIds,
                kernel.idsOf(e, kernel.posK, kernel.docK, posKAt, docKAt,
                             spec.keys % keyTile ? keyCount : Value(),
                             keyTile));
          Value kvBase =
              e.add(e.mul(e.add(rowK, k0), kernel.kStride), e.mul(kvHead, d));

          auto body = [&] {
            for (int64_t j = 0; j < vectors; ++j)
              setStat(e, kTileMax, j, minusInf);

            for (auto [from, to] :
                 {std::pair(kernel.k, kTile), {kernel.v, vTile}})

              emitCopyRows(e, vec, {{from, kvBase}, kernel.kStride, 1},
                           keyCount,

                           e.idx(d), {to, e.idx(0)}, paddedD);

            // Scores and their maximum for each query.
            TileProduct product;
            product.vec = vec;
            product.tile = {scoreRows, vectors};
            product.rows = keyCount;
            product.rowRemainder = spec.keys % scoreRows;
            product.cols = e.idx(width);
            product.colRemainder = 0;
            product.k = e.idx(d);
            product.a = {kTile, e.idx(0)};
            product.aRow = paddedD;
            product.aCol = 1;
            product.aBlock = scoreRows * paddedD;
            product.b = {qT, e.idx(0)};
            product.bPanel = 0;
            product.bRow = width;
            product.done = [&](Emitter &t, const TileContext &tc,
                               ArrayRef<Value> products) {
              Value factor = t.splat(vec, spec.scale);
              SmallVector<Value> x;
              for (Value p : products)
                x.push_back(t.mulf(p, factor));
              auto idsOfRow = [&](Value mem, Value at, int64_t i) -> Value {
                if (!mem)
                  return {};
                Value id = t.load(mem, t.add(at, t.add(tc.row, i)));
                return t.broadcast(kernel.intVec, id);
              };
              if (visible.all) {
                SmallVector<Type> types(x.size(), vec);
                auto choice = t.op<scf::IfOp>(types, visible.all,
                                              /*withElseRegion=*/true);
                OpBuilder::InsertionGuard g(t.b);
                t.b.setInsertionPointToStart(&choice.getThenRegion().front());
                t.op<scf::YieldOp>(x);
                t.b.setInsertionPointToStart(&choice.getElseRegion().front());
                for (int64_t i = 0; i < tc.rows; ++i) {
                  Value pk =
                      spec.causal ? idsOfRow(kernel.posK, posKAt, i) : Value();
                  Value dk = idsOfRow(kernel.docK, docKAt, i);
                  for (int64_t j = 0; j < vectors; ++j)
                    x[i * vectors + j] = kernel.applyMask(
                        t, x[i * vectors + j], posQ[j], pk, docQ[j], dk);
                }
                t.op<scf::YieldOp>(x);
                x.assign(choice.getResults().begin(),
                         choice.getResults().end());
              }
              for (int64_t j = 0; j < vectors; ++j) {
                // A tree: the maxima of a chain would wait for one another.
                SmallVector<Value> level{stat(t, kTileMax, j)};
                for (int64_t i = 0; i < tc.rows; ++i)
                  level.push_back(x[i * vectors + j]);
                while (level.size() > 1) {
                  SmallVector<Value> next;
                  for (size_t i = 0; i + 1 < level.size(); i += 2)
                    next.push_back(greater(t, level[i], level[i + 1]));
                  if (level.size() % 2)
                    next.push_back(level.back());
                  level = next;
                }
                setStat(t, kTileMax, j, level[0]);
              }
              for (int64_t i = 0; i < tc.rows; ++i)
                for (int64_t j = 0; j < vectors; ++j)
                  t.vstore(x[i * vectors + j], scores,
                           t.add(t.mul(t.add(tc.row, i), width), j * lanes));
            };
            product.emit(e, target);

            // New maxima, and by how much the sums so far shrink. While a query
            // has seen no key its maximum is -inf, which no difference may
            // meet.
            SmallVector<Value> shift(vectors);
            for (int64_t j = 0; j < vectors; ++j) {
              Value before = stat(e, kMax, j);
              Value now = greater(e, stat(e, kTileMax, j), before);
              Value none =
                  e.op<arith::CmpFOp>(arith::CmpFPredicate::OEQ, now, minusInf);
              shift[j] = e.select(none, zero, now);
              setStat(e, kDecay, j,
                      emitExpBounded(e.b, e.loc, e.subf(before, shift[j])));
              setStat(e, kMax, j, now);
            }
            auto sweep = scf::ForOp::create(
                e.b, e.loc, e.idx(0), keyCount, e.idx(1),
                SmallVector<Value>(vectors, zero),
                [&](OpBuilder &inner, Location l, Value r, ValueRange partial) {
                  Emitter t(inner, l);
                  SmallVector<Value> next;
                  Value pk;
                  if (spec.dropout > 0)
                    pk = t.broadcast(kernel.intVec,
                                     t.load(kernel.posK, t.add(posKAt, r)));
                  for (int64_t j = 0; j < vectors; ++j) {
                    Value at = t.add(t.mul(r, width), j * lanes);
                    Value p = emitExpBounded(
                        inner, l, t.subf(t.vload(vec, scores, at), shift[j]));
                    next.push_back(t.addf(partial[j], p));
                    if (spec.dropout > 0)
                      p = kernel.applyDropout(t, p, globalRow, posQ[j], pk,
                                              globalHead);
                    t.vstore(p, scores, at);
                  }
                  scf::YieldOp::create(inner, l, next);
                });
            for (int64_t j = 0; j < vectors; ++j)
              setStat(e, kSum, j,
                      e.fma(stat(e, kSum, j), stat(e, kDecay, j),
                            sweep.getResult(j), target));

            // sums[d][queries] = decay * sums + V^T P^T.
            TileProduct out;
            out.vec = vec;
            out.tile = outTile;
            out.rows = e.idx(d);
            out.rowRemainder = d % outTile.rows;
            out.cols = e.idx(width);
            out.colRemainder = 0;
            out.k = keyCount;
            out.a = {vTile, e.idx(0)};
            out.aRow = 1;
            out.aCol = paddedD;
            out.aBlock = outTile.rows;
            out.b = {scores, e.idx(0)};
            out.bPanel = 0;
            out.bRow = width;
            auto at = [&](Emitter &t, const TileContext &tc, int64_t i,
                          int64_t j) {
              return t.add(t.mul(t.add(tc.row, i), width), j * lanes);
            };
            out.init = [&](Emitter &t, const TileContext &tc) {
              SmallVector<Value> r;
              for (int64_t i = 0; i < tc.rows; ++i)
                for (int64_t j = 0; j < vectors; ++j)
                  r.push_back(t.mulf(t.vload(vec, sums, at(t, tc, i, j)),
                                     stat(t, kDecay, j)));
              return r;
            };
            out.done = [&](Emitter &t, const TileContext &tc,
                           ArrayRef<Value> results) {
              for (int64_t i = 0; i < tc.rows; ++i)
                for (int64_t j = 0; j < vectors; ++j)
                  t.vstore(results[i * vectors + j], sums, at(t, tc, i, j));
            };
            out.emit(e, target);
          };
          if (!visible.none)
            return body();
          Value truth = e.op<arith::ConstantIntOp>(1, 1);
          e.when(e.op<arith::XOrIOp>(visible.none, truth), body);
        });

        // o = sums / sum, lse = max + log sum.
        SmallVector<Value> inverse;
        for (int64_t j = 0; j < vectors; ++j) {
          Value sum = stat(e, kSum, j);
          Value none =
              e.op<arith::CmpFOp>(arith::CmpFPredicate::OEQ, sum, zero);
          Value reciprocal = e.op<arith::DivFOp>(e.splat(vec, 1.0), sum);
          inverse.push_back(e.select(none, zero, reciprocal));
          Value logSum = e.addf(stat(e, kMax, j), emitLog(e.b, e.loc, sum));
          setStat(e, kTileMax, j, e.select(none, minusInf, logSum));
        }
        kernel.storeTransposed(e, sums, {flatO, qBase}, kernel.qStride, count,
                               spec.queries % width, inverse);
        Value lseBase = e.add(e.mul(e.add(rowQ, q0), kernel.heads), head);
        e.loop(e.idx(0), count ? count : e.idx(width), 1, [&](Value i) {
          e.store(e.load(stats, e.add(i, kTileMax * width)), flatLse,
                  e.add(lseBase, e.mul(i, kernel.heads)));
        });
      });
  return success();
}
