//===- AttentionForward.cpp - o and lse of attention ----------------------===//
//
// A task is some tiles of queries of one head. The queries of a tile are the
// lanes of the vectors: scores are kept transposed, [keys][queries], so that
// the softmax needs no sums across lanes, and keys and values are read where
// they lie, element by element, as the broadcast side of both products.
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
  int64_t keyTile = AttentionKernel::chooseRows(
      spec.keys, AttentionKernel::aboutRows, target, scoreRows);
  int64_t keyTiles = (spec.keys + keyTile - 1) / keyTile;
  int64_t queryTiles = (spec.queries + width - 1) / width;
  RegisterTile outTile = chooseRegisterTile(d, vectors, target);
  // Tiles of queries that share one copy of a tile of keys and values: as many
  // as leave tasks for some threads.
  int64_t shared = 4;
  auto groupsOf = [&](int64_t tiles) {
    return (queryTiles + tiles - 1) / tiles;
  };
  while (shared > 1 && spec.batch * kernel.heads * groupsOf(shared) < 16)
    shared /= 2;
  shared = std::min(shared, queryTiles);
  int64_t groups = groupsOf(shared);

  WorkspaceLayout layout;
  int64_t paddedD = (d + lanes - 1) / lanes * lanes;
  int64_t qSize = paddedD * width, sumSize = d * width, statSize = 4 * width;
  int64_t qAt = layout.reserve(shared * qSize, bits);
  int64_t scoreAt = layout.reserve(keyTile * width, bits);
  int64_t sumAt = layout.reserve(shared * sumSize, bits);
  // Rows of keys and values lie far apart, often on few cache sets: the tile is
  // copied to where its rows follow one another.
  int64_t kTileAt = layout.reserve(keyTile * paddedD, bits);
  int64_t vTileAt = layout.reserve(keyTile * paddedD, bits);
  int64_t statAt = layout.reserve(shared * statSize, bits);

  double flops = 4.0 * spec.batch * spec.queries * kernel.heads * spec.keys * d;
  e.tiles(spec.batch * kernel.heads * groups, flops < 2e5, [&](Value index) {
    Value workspace = ws.request(e.b, e.loc, layout.bytes);
    auto view = [&](int64_t at, int64_t count) {
      return WorkspaceLayout::view(e, workspace, at, count, kernel.element);
    };
    Value qT = view(qAt, shared * qSize);
    Value scores = view(scoreAt, keyTile * width);
    Value sums = view(sumAt, shared * sumSize);
    Value kTile = view(kTileAt, keyTile * paddedD);
    Value vTile = view(vTileAt, keyTile * paddedD);
    Value stats = view(statAt, shared * statSize);
    Value zero = e.splat(vec, 0.0), minusInf = e.splat(vec, -INFINITY);

    Value group = e.rem(index, groups);
    Value rest = e.div(index, groups);
    Value head = e.rem(rest, kernel.heads);
    Value row = e.div(rest, kernel.heads);
    Value kvHead = e.div(head, spec.group);
    Value rowQ = e.mul(row, spec.queries), rowK = e.mul(row, spec.keys);
    Value firstTile = e.mul(group, shared);
    Value tiles = e.blockLength(group, shared, queryTiles);

    // The queries of one of the task's tiles.
    struct Tile {
      Value q0, count; // count is null if all tiles are whole
      Value qBase, posAt, docAt;
      Value qAt, sumAt, statAt;
    };
    auto tileOf = [&](Value i) {
      Tile t;
      Value number = e.add(firstTile, i);
      t.q0 = e.mul(number, width);
      if (spec.queries % width)
        t.count = e.blockLength(number, width, spec.queries);
      t.docAt = e.add(rowQ, t.q0);
      t.posAt = kernel.positionsPerRow ? t.docAt : t.q0;
      t.qBase = e.add(e.mul(t.docAt, kernel.qStride), e.mul(head, d));
      t.qAt = e.mul(i, qSize);
      t.sumAt = e.mul(i, sumSize);
      t.statAt = e.mul(i, statSize);
      return t;
    };
    // Rows of `stats`, one element per query.
    enum { kMax = 0, kSum = 1, kTileMax = 2, kDecay = 3 };
    auto stat = [&](Emitter &t, const Tile &tile, int64_t row, int64_t j) {
      return t.vload(vec, stats, t.add(tile.statAt, row * width + j * lanes));
    };
    auto setStat = [&](Emitter &t, const Tile &tile, int64_t row, int64_t j,
                       Value x) {
      t.vstore(x, stats, t.add(tile.statAt, row * width + j * lanes));
    };

    e.loop(e.idx(0), tiles, 1, [&](Value i) {
      Tile tile = tileOf(i);
      emitPackPanels(e, vec, {{kernel.q, tile.qBase}, 1, kernel.qStride},
                     e.idx(d), tile.count ? tile.count : e.idx(width),
                     spec.queries % width, width, {qT, tile.qAt}, qSize);
      for (int64_t j = 0; j < vectors; ++j) {
        setStat(e, tile, kMax, j, minusInf);
        setStat(e, tile, kSum, j, zero);
      }
      e.loop(e.idx(0), e.idx(sumSize), lanes,
             [&](Value at) { e.vstore(zero, sums, e.add(tile.sumAt, at)); });
    });
    // Positions and documents of all queries of the task.
    AttentionKernel::TileIds taskIds;
    if (kernel.masked()) {
      Tile tile = tileOf(e.idx(0));
      int64_t most = shared * width;
      taskIds = kernel.idsOf(
          e, kernel.posQ, kernel.docQ, tile.posAt, tile.docAt,
          spec.queries % most ? e.blockLength(group, most, spec.queries)
                              : Value(),
          most);
    }
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
      Value kvBase =
          e.add(e.mul(e.add(rowK, k0), kernel.kStride), e.mul(kvHead, d));
      AttentionKernel::TileIds keyIds;
      if (kernel.masked())
        keyIds =
            kernel.idsOf(e, kernel.posK, kernel.docK, posKAt, docKAt,
                         spec.keys % keyTile ? keyCount : Value(), keyTile);
      auto unless = [&](Value none, function_ref<void()> body) {
        if (!none)
          return body();
        Value truth = e.op<arith::ConstantIntOp>(1, 1);
        e.when(e.op<arith::XOrIOp>(none, truth), body);
      };

      auto body = [&](const Tile &tile,
                      const AttentionKernel::Visibility &visible) {
        SmallVector<Value> posQ(vectors), docQ(vectors);
        for (int64_t j = 0; j < vectors; ++j) {
          if (kernel.posQ)
            posQ[j] = kernel.loadIds(e, kernel.posQ, tile.posAt, j * lanes,
                                     tile.count);
          if (kernel.docQ)
            docQ[j] = kernel.loadIds(e, kernel.docQ, tile.docAt, j * lanes,
                                     tile.count);
        }
        for (int64_t j = 0; j < vectors; ++j)
          setStat(e, tile, kTileMax, j, minusInf);

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
        product.b = {qT, tile.qAt};
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
                x[i * vectors + j] = kernel.applyMask(t, x[i * vectors + j],
                                                      posQ[j], pk, docQ[j], dk);
            }
            t.op<scf::YieldOp>(x);
            x.assign(choice.getResults().begin(), choice.getResults().end());
          }
          for (int64_t j = 0; j < vectors; ++j) {
            // A tree: the maxima of a chain would wait for one another.
            SmallVector<Value> level{stat(t, tile, kTileMax, j)};
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
            setStat(t, tile, kTileMax, j, level[0]);
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
          Value before = stat(e, tile, kMax, j);
          Value now = greater(e, stat(e, tile, kTileMax, j), before);
          Value none =
              e.op<arith::CmpFOp>(arith::CmpFPredicate::OEQ, now, minusInf);
          shift[j] = e.select(none, zero, now);
          setStat(e, tile, kDecay, j,
                  emitExpBounded(e.b, e.loc, e.subf(before, shift[j])));
          setStat(e, tile, kMax, j, now);
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
          setStat(e, tile, kSum, j,
                  e.fma(stat(e, tile, kSum, j), stat(e, tile, kDecay, j),
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
        auto at = [&](Emitter &t, const TileContext &tc, int64_t i, int64_t j) {
          return t.add(t.add(tile.sumAt, t.mul(t.add(tc.row, i), width)),
                       j * lanes);
        };
        out.init = [&](Emitter &t, const TileContext &tc) {
          SmallVector<Value> r;
          for (int64_t i = 0; i < tc.rows; ++i)
            for (int64_t j = 0; j < vectors; ++j)
              r.push_back(t.mulf(t.vload(vec, sums, at(t, tc, i, j)),
                                 stat(t, tile, kDecay, j)));
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
      unless(kernel.masked() ? kernel.visibility(e, taskIds, keyIds).none
                             : Value(),
             [&] {
               for (auto [from, to] :
                    {std::pair(kernel.k, kTile), {kernel.v, vTile}})
                 emitCopyRows(e, vec, {{from, kvBase}, kernel.kStride, 1},
                              keyCount, e.idx(d), {to, e.idx(0)}, paddedD);
               e.loop(e.idx(0), tiles, 1, [&](Value i) {
                 Tile tile = tileOf(i);
                 AttentionKernel::Visibility visible;
                 if (kernel.masked())
                   visible = kernel.visibility(
                       e,
                       kernel.idsOf(e, kernel.posQ, kernel.docQ, tile.posAt,
                                    tile.docAt, tile.count, width),
                       keyIds);
                 unless(visible.none, [&] { body(tile, visible); });
               });
             });
    });

    // o = sums / sum, lse = max + log sum.
    e.loop(e.idx(0), tiles, 1, [&](Value i) {
      Tile tile = tileOf(i);
      SmallVector<Value> inverse;
      for (int64_t j = 0; j < vectors; ++j) {
        Value sum = stat(e, tile, kSum, j);
        Value none = e.op<arith::CmpFOp>(arith::CmpFPredicate::OEQ, sum, zero);
        Value reciprocal = e.op<arith::DivFOp>(e.splat(vec, 1.0), sum);
        inverse.push_back(e.select(none, zero, reciprocal));
        Value logSum = e.addf(stat(e, tile, kMax, j), emitLog(e.b, e.loc, sum));
        setStat(e, tile, kTileMax, j, e.select(none, minusInf, logSum));
      }
      kernel.storeTransposed(e, {sums, tile.sumAt}, {flatO, tile.qBase},
                             kernel.qStride, tile.count, spec.queries % width,
                             inverse);
      Value lseBase = e.add(e.mul(tile.docAt, kernel.heads), head);
      Value from = e.add(tile.statAt, kTileMax * width);
      e.loop(e.idx(0), tile.count ? tile.count : e.idx(width), 1, [&](Value i) {
        e.store(e.load(stats, e.add(from, i)), flatLse,
                e.add(lseBase, e.mul(i, kernel.heads)));
      });
    });
  });
  return success();
}
