//===- AttentionBackward.cpp - Gradients of attention ---------------------===//
//
// A task is one key/value head of one row of the batch, with the query heads
// of its group: every element of dq, dk and dv belongs to one task, so that
// five products do, without a second pass and without atomic additions.
//
// In a tile the keys are the lanes of the vectors, and queries are rows:
//   P = exp(scale * Q K^T - lse), dP = dO V^T, dS = P * (dP - D) * scale,
//   dV += P^T dO, dK += dS^T Q, dQ += dS K,   D = sum over headDim of dO * o.
// dK and dV of a tile of keys are kept transposed, [headDim][keys].
//
//===----------------------------------------------------------------------===//
#include "AttentionCommon.h"
#include <cmath>

using namespace mlir;
using namespace dtc::codegen;

LogicalResult dtc::codegen::emitAttentionBackward(
    OpBuilder &builder, Location loc, const AttentionSpec &spec,
    const AttentionInputs &in, Value o, Value lse, Value dO, Value dq, Value dk,
    Value dv, Workspace &ws, const TargetInfo &target) {
  if (failed(AttentionKernel::check(loc, spec, in, {in.q, o, dO, dq},
                                    {in.k, in.v, dk, dv}, lse)))
    return failure();
  if (spec.batch == 0)
    return success();
  OpBuilder::InsertionGuard guard(builder);
  Emitter e(builder, loc);
  AttentionKernel kernel(e, spec, in, target);
  Value flatO = e.flat(o), flatLse = e.flat(lse), flatDO = e.flat(dO);
  Value flatDq = e.flat(dq), flatDk = e.flat(dk), flatDv = e.flat(dv);

  int64_t d = spec.headDim, width = kernel.width, lanes = kernel.lanes;
  int64_t vectors = width / lanes, bits = kernel.bits;
  VectorType vec = kernel.vec;
  int64_t scoreRows;
  int64_t queryTile = AttentionKernel::chooseRows(
      spec.queries, AttentionKernel::aboutRows, target, scoreRows);
  int64_t queryTiles = (spec.queries + queryTile - 1) / queryTile;
  int64_t keyTiles = (spec.keys + width - 1) / width;
  RegisterTile outTile = chooseRegisterTile(d, vectors, target);
  bool dropout = spec.dropout > 0;

  WorkspaceLayout layout;
  int64_t paddedD = (d + lanes - 1) / lanes * lanes;
  int64_t kAt = layout.reserve(paddedD * width, bits);
  int64_t vAt = layout.reserve(paddedD * width, bits);
  int64_t dkAt = layout.reserve(d * width, bits);
  int64_t dvAt = layout.reserve(d * width, bits);
  int64_t pAt = layout.reserve(queryTile * width, bits);
  int64_t keptAt = layout.reserve(dropout ? queryTile * width : 0, bits);
  int64_t dsAt = layout.reserve(queryTile * width, bits);
  int64_t dotCount = spec.group * spec.queries;
  int64_t dotAt = layout.reserve(dotCount, bits);
  int64_t lseAt = layout.reserve(dotCount, bits);
  // Of bf16 the tile's queries and output cotangents are converted once for
  // both products that read them, and dq waits beside the result that would
  // round it.
  bool converts = isConverted(flatDq);
  int64_t rowCount = converts ? queryTile * paddedD : 0;
  int64_t qRowsAt = layout.reserve(rowCount, bits);
  int64_t doRowsAt = layout.reserve(rowCount, bits);
  int64_t dqAt = layout.reserve(converts ? dotCount * paddedD : 0, bits);

  double flops =
      10.0 * spec.batch * spec.queries * kernel.heads * spec.keys * d;
  e.tiles(spec.batch * spec.kvHeads, flops < 2e5, [&](Value index) {
    Value workspace = ws.request(e.b, e.loc, layout.bytes);
    auto view = [&](int64_t at, int64_t count) {
      return WorkspaceLayout::view(e, workspace, at, count, kernel.element);
    };
    Value kT = view(kAt, paddedD * width), vT = view(vAt, paddedD * width);
    Value dkT = view(dkAt, d * width), dvT = view(dvAt, d * width);
    Value probs = view(pAt, queryTile * width);
    Value kept = dropout ? view(keptAt, queryTile * width) : probs;
    Value ds = view(dsAt, queryTile * width);
    Value dots = view(dotAt, dotCount), lses = view(lseAt, dotCount);
    Value qRows = kernel.q, doRows = flatDO, dqSums = flatDq;
    int64_t rowStride = kernel.qStride, dqStride = kernel.qStride;
    if (converts) {
      qRows = view(qRowsAt, rowCount);
      doRows = view(doRowsAt, rowCount);
      dqSums = view(dqAt, dotCount * paddedD);
      rowStride = dqStride = paddedD;
      e.loop(e.idx(0), e.idx(dotCount * paddedD), lanes,
             [&](Value at) { e.vstore(e.splat(vec, 0.0), dqSums, at); });
    }

    Value kvHead = e.rem(index, spec.kvHeads);
    Value row = e.div(index, spec.kvHeads);
    Value rowQ = e.mul(row, spec.queries), rowK = e.mul(row, spec.keys);
    Value head0 = e.mul(kvHead, spec.group);
    Value zero = e.splat(vec, 0.0);
    Value globalRow;
    if (dropout)
      globalRow = e.load(kernel.rows, row);

    // D and lse of every query, [member][query]; dq starts at zero.
    e.loop(e.idx(0), e.idx(spec.group), 1, [&](Value member) {
      Value head = e.add(head0, member);
      e.loop(e.idx(0), e.idx(spec.queries), 1, [&](Value i) {
        Value query = e.add(rowQ, i);
        Value base = e.add(e.mul(query, kernel.qStride), e.mul(head, d));
        Value sum = zero;
        for (int64_t at = 0; at < d; at += lanes) {
          Value mask = e.firstLanes(std::min(lanes, d - at), lanes);
          Value place = e.add(base, at);
          sum = e.fma(e.vload(vec, flatO, place, mask),
                      e.vload(vec, flatDO, place, mask), sum, target);
          if (!converts)
            e.vstore(zero, flatDq, place, mask);
        }
        Value slot = e.add(e.mul(member, spec.queries), i);
        e.store(kernel.sumLanes(e, sum), dots, slot);
        // exp(x - inf) = 0: a query that sees no key takes no part.
        Value x = e.load(flatLse, e.add(e.mul(query, kernel.heads), head));
        auto constant = [&](double c) {
          return e.op<arith::ConstantOp>(e.b.getFloatAttr(kernel.element, c));
        };
        Value none = e.op<arith::CmpFOp>(arith::CmpFPredicate::OEQ, x,
                                         constant(-INFINITY));
        e.store(e.select(none, constant(INFINITY), x), lses, slot);
      });
    });

    e.loop(e.idx(0), e.idx(keyTiles), 1, [&](Value keyIndex) {
      Value k0 = e.mul(keyIndex, width);
      bool ragged = spec.keys % width != 0;
      Value count =
          ragged ? e.blockLength(keyIndex, width, spec.keys) : Value();
      Value kvBase =
          e.add(e.mul(e.add(rowK, k0), kernel.kStride), e.mul(kvHead, d));
      for (auto [from, to] : {std::pair(kernel.k, kT), {kernel.v, vT}})
        emitPackPanels(e, vec, {{from, kvBase}, 1, kernel.kStride}, e.idx(d),
                       count ? count : e.idx(width), spec.keys % width, width,
                       {to, e.idx(0)}, paddedD * width);
      e.loop(e.idx(0), e.idx(d * width), lanes, [&](Value at) {
        e.vstore(zero, dkT, at);
        e.vstore(zero, dvT, at);
      });

      Value posKAt = kernel.positionsPerRow ? e.add(rowK, k0) : k0;
      Value docKAt = e.add(rowK, k0);
      SmallVector<Value> posK(vectors), docK(vectors);
      for (int64_t j = 0; j < vectors; ++j) {
        if (kernel.posK)
          posK[j] = kernel.loadIds(e, kernel.posK, posKAt, j * lanes, count);
        if (kernel.docK)
          docK[j] = kernel.loadIds(e, kernel.docK, docKAt, j * lanes, count);
      }
      AttentionKernel::TileIds keyIds;
      if (kernel.masked())
        keyIds = kernel.idsOf(e, kernel.posK, kernel.docK, posKAt, docKAt,
                              count, width);

      e.loop(e.idx(0), e.idx(spec.group), 1, [&](Value member) {
        Value head = e.add(head0, member);
        Value globalHead;
        if (dropout) {
          Value h = kernel.headOffset ? e.add(head, kernel.headOffset) : head;
          globalHead = e.op<arith::IndexCastOp>(e.b.getI32Type(), h);
        }
        e.loop(e.idx(0), e.idx(queryTiles), 1, [&](Value tileIndex) {
          Value q0 = e.mul(tileIndex, queryTile);
          Value queryCount = e.blockLength(tileIndex, queryTile, spec.queries);
          Value posQAt = kernel.positionsPerRow ? e.add(rowQ, q0) : q0;
          Value docQAt = e.add(rowQ, q0);
          Value qBase =
              e.add(e.mul(e.add(rowQ, q0), kernel.qStride), e.mul(head, d));
          Value slot0 = e.add(e.mul(member, spec.queries), q0);
          Value rowBase = converts ? e.idx(0) : qBase;
          Value dqBase = converts ? e.mul(slot0, paddedD) : qBase;
          AttentionKernel::Visibility visible;
          if (kernel.masked())
            visible = kernel.visibility(
                e,
                kernel.idsOf(e, kernel.posQ, kernel.docQ, posQAt, docQAt,
                             spec.queries % queryTile ? queryCount : Value(),
                             queryTile),
                keyIds);

          auto scoreAt = [&](Emitter &t, const TileContext &tc, int64_t i,
                             int64_t j) {
            return t.add(t.mul(t.add(tc.row, i), width), j * lanes);
          };
          auto broadcastRow = [&](Emitter &t, VectorType type, Value mem,
                                  Value at, const TileContext &tc, int64_t i) {
            return t.broadcast(type, t.load(mem, t.add(at, t.add(tc.row, i))));
          };
          // [queries][keys] = rows of `a` times the packed keys or values.
          auto rowProduct = [&](Value a, Value panel) {
            TileProduct p;
            p.vec = vec;
            p.tile = {scoreRows, vectors};
            p.rows = queryCount;
            p.rowRemainder = spec.queries % scoreRows;
            p.cols = e.idx(width);
            p.colRemainder = 0;
            p.k = e.idx(d);
            p.a = {a, rowBase};
            p.aRow = rowStride;
            p.aCol = 1;
            p.aBlock = scoreRows * rowStride;
            p.b = {panel, e.idx(0)};
            p.bPanel = 0;
            p.bRow = width;
            return p;
          };
          // [headDim][keys] += rows of `a`, transposed, times a score matrix.
          auto columnProduct = [&](Value a, Value matrix, Value sums) {
            TileProduct p;
            p.vec = vec;
            p.tile = outTile;
            p.rows = e.idx(d);
            p.rowRemainder = d % outTile.rows;
            p.cols = e.idx(width);
            p.colRemainder = 0;
            p.k = queryCount;
            p.a = {a, rowBase};
            p.aRow = 1;
            p.aCol = rowStride;
            p.aBlock = outTile.rows;
            p.b = {matrix, e.idx(0)};
            p.bPanel = 0;
            p.bRow = width;
            p.init = [&, sums](Emitter &t, const TileContext &tc) {
              SmallVector<Value> r;
              for (int64_t i = 0; i < tc.rows; ++i)
                for (int64_t j = 0; j < vectors; ++j)
                  r.push_back(t.vload(vec, sums, scoreAt(t, tc, i, j)));
              return r;
            };
            p.done = [&, sums](Emitter &t, const TileContext &tc,
                               ArrayRef<Value> results) {
              for (int64_t i = 0; i < tc.rows; ++i)
                for (int64_t j = 0; j < vectors; ++j)
                  t.vstore(results[i * vectors + j], sums,
                           scoreAt(t, tc, i, j));
            };
            p.emit(e, target);
          };

          auto body = [&] {
            if (converts)
              for (auto [from, to] :
                   {std::pair(kernel.q, qRows), {flatDO, doRows}})
                emitCopyRows(e, vec, {{from, qBase}, kernel.qStride, 1},
                             queryCount, e.idx(d), {to, e.idx(0)}, paddedD);
            TileProduct s = rowProduct(qRows, kT);
            s.done = [&](Emitter &t, const TileContext &tc,
                         ArrayRef<Value> products) {
              Value factor = t.splat(vec, spec.scale);
              SmallVector<Value> x;
              for (Value p : products)
                x.push_back(t.mulf(p, factor));
              if (visible.all) {
                SmallVector<Type> types(x.size(), vec);
                auto choice = t.op<scf::IfOp>(types, visible.all,
                                              /*withElseRegion=*/true);
                OpBuilder::InsertionGuard g(t.b);
                t.b.setInsertionPointToStart(&choice.getThenRegion().front());
                t.op<scf::YieldOp>(x);
                t.b.setInsertionPointToStart(&choice.getElseRegion().front());
                for (int64_t i = 0; i < tc.rows; ++i) {
                  Value pq, dq;
                  if (spec.causal)
                    pq = broadcastRow(t, kernel.intVec, kernel.posQ, posQAt, tc,
                                      i);
                  if (kernel.docQ)
                    dq = broadcastRow(t, kernel.intVec, kernel.docQ, docQAt, tc,
                                      i);
                  for (int64_t j = 0; j < vectors; ++j)
                    x[i * vectors + j] = kernel.applyMask(
                        t, x[i * vectors + j], pq, posK[j], dq, docK[j]);
                }
                t.op<scf::YieldOp>(x);
                x.assign(choice.getResults().begin(),
                         choice.getResults().end());
              }
              for (int64_t i = 0; i < tc.rows; ++i) {
                Value l = broadcastRow(t, vec, lses, slot0, tc, i);
                for (int64_t j = 0; j < vectors; ++j) {
                  Value p =
                      emitExpBounded(t.b, t.loc, t.subf(x[i * vectors + j], l));
                  t.vstore(p, probs, scoreAt(t, tc, i, j));
                }
              }
            };
            s.emit(e, target);
            if (dropout) {
              e.loop(e.idx(0), queryCount, 1, [&](Value r) {
                Value pq = e.broadcast(kernel.intVec,
                                       e.load(kernel.posQ, e.add(posQAt, r)));
                for (int64_t j = 0; j < vectors; ++j) {
                  Value at = e.add(e.mul(r, width), j * lanes);
                  Value p =
                      kernel.applyDropout(e, e.vload(vec, probs, at), globalRow,
                                          pq, posK[j], globalHead);
                  e.vstore(p, kept, at);
                }
              });
            }

            TileProduct dp = rowProduct(doRows, vT);
            dp.done = [&](Emitter &t, const TileContext &tc,
                          ArrayRef<Value> products) {
              Value factor = t.splat(vec, spec.scale);
              for (int64_t i = 0; i < tc.rows; ++i) {
                Value dot = broadcastRow(t, vec, dots, slot0, tc, i);
                for (int64_t j = 0; j < vectors; ++j) {
                  Value at = scoreAt(t, tc, i, j);
                  Value p = t.vload(vec, probs, at);
                  Value x = products[i * vectors + j];
                  if (dropout)
                    x = t.subf(t.mulf(t.vload(vec, kept, at), x),
                               t.mulf(p, dot));
                  else
                    x = t.mulf(p, t.subf(x, dot));
                  t.vstore(t.mulf(x, factor), ds, at);
                }
              }
            };
            dp.emit(e, target);

            columnProduct(doRows, kept, dvT);
            columnProduct(qRows, ds, dkT);

            // dq[queries][d] += dS K.
            TileProduct g;
            g.vec = vec;
            g.tile = {scoreRows, vectors};
            g.rows = queryCount;
            g.rowRemainder = spec.queries % scoreRows;
            g.cols = e.idx(d);
            g.colRemainder = d % width;
            g.k = count ? count : e.idx(width);
            g.a = {ds, e.idx(0)};
            g.aRow = width;
            g.aCol = 1;
            g.aBlock = scoreRows * width;
            g.b = {kernel.k, kvBase};
            g.bPanel = width;
            g.bRow = kernel.kStride;
            g.maskB = true;
            auto gradAt = [&](Emitter &t, const TileContext &tc, int64_t i,
                              int64_t j) {
              Value r = t.mul(t.add(tc.row, i), dqStride);
              return t.add(t.add(dqBase, r), t.add(tc.col, j * lanes));
            };
            g.init = [&](Emitter &t, const TileContext &tc) {
              SmallVector<Value> r;
              for (int64_t i = 0; i < tc.rows; ++i)
                for (int64_t j = 0; j < tc.vectors; ++j)
                  r.push_back(
                      t.vload(vec, dqSums, gradAt(t, tc, i, j), tc.maskOf(j)));
              return r;
            };
            g.done = [&](Emitter &t, const TileContext &tc,
                         ArrayRef<Value> results) {
              for (int64_t i = 0; i < tc.rows; ++i)
                for (int64_t j = 0; j < tc.vectors; ++j)
                  t.vstore(results[i * tc.vectors + j], dqSums,
                           gradAt(t, tc, i, j), tc.maskOf(j));
            };
            g.emit(e, target);
          };
          if (!visible.none)
            return body();
          Value truth = e.op<arith::ConstantIntOp>(1, 1);
          e.when(e.op<arith::XOrIOp>(visible.none, truth), body);
        });
      });
      for (auto [from, to] : {std::pair(dkT, flatDk), {dvT, flatDv}})
        kernel.storeTransposed(e, {from, e.idx(0)}, {to, kvBase},
                               kernel.kStride, count, spec.keys % width, {});
    });

    if (!converts)
      return;
    e.loop(e.idx(0), e.idx(spec.group), 1, [&](Value member) {
      Value head = e.add(head0, member);
      e.loop(e.idx(0), e.idx(spec.queries), 1, [&](Value i) {
        Value slot = e.add(e.mul(member, spec.queries), i);
        Value from = e.mul(slot, paddedD);
        Value to = e.add(e.mul(e.add(rowQ, i), kernel.qStride), e.mul(head, d));
        for (int64_t at = 0; at < d; at += lanes) {
          Value mask = e.firstLanes(std::min(lanes, d - at), lanes);
          e.vstore(e.vload(vec, dqSums, e.add(from, at)), flatDq, e.add(to, at),
                   mask);
        }
      });
    });
  });
  return success();
}
