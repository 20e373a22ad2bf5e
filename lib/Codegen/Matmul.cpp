//===- Matmul.cpp - Generator of matrix products --------------------------===//
#include "dtc/Codegen/Matmul.h"
#include "MatmulPacking.h"
#include "TileProduct.h"

using namespace mlir;
using namespace dtc::codegen;

static int64_t ceilDiv(int64_t x, int64_t y) { return (x + y - 1) / y; }
static int64_t roundUp(int64_t x, int64_t y) { return ceilDiv(x, y) * y; }

/// Vectors in a row of the register tile of a matrix product.
static constexpr int64_t kVectors = 2;

static int64_t panelWidth(int64_t bits, const TargetInfo &target) {
  return kVectors * target.lanes(bits);
}

/// Rows of a packed panel: transposing writes whole squares.
static int64_t panelRows(int64_t k, int64_t bits, const TargetInfo &target) {
  return roundUp(k, target.lanes(bits));
}

int64_t dtc::codegen::packedBElements(int64_t k, int64_t n, int64_t bits,
                                      const TargetInfo &target) {
  return roundUp(n, panelWidth(bits, target)) * panelRows(k, bits, target);
}

static LogicalResult checkOperand(Location loc, Value v, Type element,
                                  StringRef name) {
  auto type = dyn_cast<MemRefType>(v.getType());
  if (!type || !type.hasStaticShape() || !type.getLayout().isIdentity())
    return emitError(loc) << "matrix product: " << name
                          << " must be a memref of static shape and identity "
                             "layout, is "
                          << v.getType();
  if (getComputeType(type.getElementType()) != element)
    return emitError(loc) << "matrix product: element types differ: " << name
                          << " has " << type.getElementType() << ", not "
                          << element;
  return success();
}

/// What the product is computed with.
static FailureOr<Type> checkElement(Location loc, Value v) {
  auto type = dyn_cast<MemRefType>(v.getType());
  if (!type)
    return emitError(loc) << "matrix product: operand is not a memref";
  Type element = getComputeType(type.getElementType());
  if (!element.isF32() && !element.isF64())
    return emitError(loc) << "matrix product: element type " << element
                          << " is not supported (f32, f64 and bf16 are)";
  return element;
}

namespace {

/// How a product is cut. Depends on shapes and target only.
struct Plan {
  int64_t bits, lanes, width;
  RegisterTile tile;
  int64_t mt, nt; // a tile of C: what one task computes
  int64_t mTiles, nTiles;
  int64_t mc, kc; // a block of A, which stays in the private cache
  int64_t kBlocks;
  enum { Direct, CopyRows, RowBlocks } aMode;
  enum { BDirect, BPack, BPacked } bMode;
  bool serial;
  /// About what packing takes, in elements that are copied.
  double packing;
};

} // namespace

/// Of an element of B: transposing takes longer.
static double packingCost(const MatrixLayout &b) {
  return b.col == 1 ? 1.0 : 1.5;
}

/// How A and B are read, for a size of tiles, and what that costs.
static void chooseModes(Plan &p, const MatmulSpec &s,
                        const TargetInfo &target) {
  int64_t elementBytes = p.bits / 8;
  if (s.packedB)
    p.bMode = Plan::BPacked;
  else if (s.b.col == 1 && p.mt <= 2 * p.tile.rows)
    p.bMode = Plan::BDirect;
  else
    p.bMode = Plan::BPack;

  // What is converted is converted once, not for each vector of columns.
  bool copiesA = p.nt > 2 * p.width || s.convertsA;
  // Rows whose distance is a multiple of the page fall on one cache set; rows
  // that run along addresses touch a page per term.
  if (s.a.col != 1 && s.a.row == 1 && copiesA)
    p.aMode = Plan::RowBlocks;
  else if (s.a.col == 1 && copiesA &&
           (s.convertsA || s.a.row * elementBytes % 4096 == 0))
    p.aMode = Plan::CopyRows;
  else
    p.aMode = Plan::Direct;

  // What is not packed here is still read from far away.
  double ofA = p.aMode == Plan::Direct ? 0.2 : 1.0;
  double ofB = p.bMode == Plan::BPack     ? packingCost(s.b)
               : p.bMode == Plan::BDirect ? 0.5
                                          : 0.1;
  p.packing = ofA * s.batch * s.m * s.k * p.nTiles +
              ofB * s.batch * s.n * s.k * p.mTiles;
}

static Plan makePlan(const MatmulSpec &s, int64_t bits,
                     const TargetInfo &target) {
  Plan p;
  p.bits = bits;
  p.lanes = target.lanes(bits);
  p.width = panelWidth(bits, target);
  p.tile = chooseRegisterTile(s.m, std::min(kVectors, ceilDiv(s.n, p.lanes)),
                              target);
  // A product narrower than a panel has fewer vectors; packed panels keep
  // their width all the same.
  p.tile.vectors = kVectors;
  int64_t elementBytes = bits / 8;

  // Terms of a block: a panel of B stays close to the first-level cache.
  int64_t kcMax = 2048 / elementBytes;
  p.kBlocks = std::max<int64_t>(1, ceilDiv(s.k, kcMax));
  p.kc = p.kBlocks == 1 ? s.k : roundUp(ceilDiv(s.k, p.kBlocks), p.lanes);
  p.kBlocks = std::max<int64_t>(1, p.kc ? ceilDiv(s.k, p.kc) : 1);

  // The more tiles there are, the more threads can share them. Powers of two,
  // because numbers of threads often are.
  double flops = 2.0 * s.batch * s.m * s.n * s.k;
  p.serial = flops < 2e5;
  auto tooFew = [&](int64_t mParts, int64_t nParts) {
    int64_t tiles = s.batch * mParts * nParts;
    return (tiles < 4 && flops > 2e6) || (tiles < 16 && flops / tiles > 8e8);
  };
  constexpr int64_t kLargest = 1024;
  auto partsOf = [](int64_t total) -> int64_t {
    return llvm::PowerOf2Ceil(std::max<int64_t>(1, ceilDiv(total, kLargest)));
  };
  auto divide = [](int64_t total, int64_t parts, int64_t unit) {
    return std::max<int64_t>(unit, roundUp(ceilDiv(total, parts), unit));
  };
  // Of the ways to cut C the one that packs least: A is packed once for each
  // column of tiles, B once for each row of them.
  Plan best = p;
  best.packing = -1;
  bool finest = false;
  for (int64_t mParts = partsOf(s.m); !finest; mParts *= 2) {
    p.mt = divide(s.m, mParts, p.tile.rows);
    finest = p.mt <= std::max(2 * p.tile.rows, s.m / 64);
    for (int64_t nParts = partsOf(s.n);; nParts *= 2) {
      p.nt = divide(s.n, nParts, p.width);
      p.mTiles = ceilDiv(s.m, p.mt);
      p.nTiles = ceilDiv(s.n, p.nt);
      bool narrowest = p.nt <= p.width;
      // What cannot be cut further is as it is.
      bool enough = !tooFew(mParts, nParts) || (finest && narrowest);
      if (enough) {
        chooseModes(p, s, target);
        if (best.packing < 0 || p.packing < best.packing)
          best = p;
      }
      if (enough || narrowest)
        break;
    }
  }
  p = best;
  int64_t mcMax = std::max(p.tile.rows, target.l2Bytes / 2 / elementBytes /
                                            std::max<int64_t>(p.kc, 64));
  p.mc = divide(p.mt, ceilDiv(p.mt, mcMax), p.tile.rows);
  return p;
}

int64_t dtc::codegen::sharedPackedElements(const MatmulSpec &spec, int64_t bits,
                                           const TargetInfo &target) {
  if (spec.packedB || spec.batch == 0 || spec.m == 0 || spec.n == 0 ||
      spec.k == 0)
    return 0;
  constexpr int64_t kLargestBytes = int64_t(16) << 20;
  int64_t elements = spec.batch * packedBElements(spec.k, spec.n, bits, target);
  Plan alone = makePlan(spec, bits, target);
  if (alone.serial || alone.bMode != Plan::BPack ||
      elements * (bits / 8) > kLargestBytes)
    return 0;
  MatmulSpec packed = spec;
  packed.packedB = true;
  double once = packingCost(spec.b) * spec.batch * spec.n * spec.k;
  double shared = once + makePlan(packed, bits, target).packing;
  // Threads meet once more.
  return shared < 0.8 * alone.packing && alone.packing > 1e6 ? elements : 0;
}

LogicalResult dtc::codegen::emitMatmul(OpBuilder &builder, Location loc,
                                       const MatmulSpec &product, Value a,
                                       Value bMat, Value c, Workspace &ws,
                                       const TargetInfo &target) {
  FailureOr<Type> element = checkElement(loc, c);
  if (failed(element) || failed(checkOperand(loc, a, *element, "A")) ||
      failed(checkOperand(loc, bMat, *element, "B")) ||
      failed(checkOperand(loc, c, *element, "C")))
    return failure();
  MatmulSpec spec = product;
  spec.convertsA = isConverted(a);
  if (spec.c.col != 1)
    return emitError(loc) << "matrix product: the columns of C must be "
                             "consecutive, their distance is "
                          << spec.c.col;
  if (spec.batch == 0 || spec.m == 0 || spec.n == 0)
    return success();

  OpBuilder::InsertionGuard guard(builder);
  Emitter e(builder, loc);
  int64_t bits = element->getIntOrFloatBitWidth();
  int64_t elementBytes = bits / 8;
  Plan p = makePlan(spec, bits, target);
  auto vec = VectorType::get({p.lanes}, *element);

  Value flatA = e.flat(a), flatB = e.flat(bMat), flatC = e.flat(c);
  Value kEnd = e.idx(spec.k);
  if (spec.validK)
    kEnd = e.max(e.idx(0), e.min(spec.validK, kEnd));

  WorkspaceLayout layout;
  int64_t panelStride = p.width * panelRows(p.kc, bits, target);
  int64_t bCount = p.bMode == Plan::BPack ? p.nt / p.width * panelStride : 0;
  int64_t bOffset = layout.reserve(bCount, bits);
  int64_t aRowStride = roundUp(p.kc, p.lanes) + p.lanes;
  int64_t aBlockStride = p.tile.rows * p.kc + p.lanes;
  int64_t aCount = p.aMode == Plan::CopyRows ? p.mc * aRowStride
                   : p.aMode == Plan::RowBlocks
                       ? p.mc / p.tile.rows * aBlockStride
                       : 0;
  int64_t aOffset = layout.reserve(aCount, bits);
  // Sums over several blocks of terms wait in C, unless C is to be added to, or
  // would round them.
  bool partialInC = !spec.accumulate && !isConverted(flatC);
  int64_t partialCount = p.kBlocks > 1 && !partialInC ? p.mt * p.nt : 0;
  int64_t partialOffset = layout.reserve(partialCount, bits);

  e.tiles(spec.batch * p.mTiles * p.nTiles, p.serial, [&](Value index) {
    Value workspace, packB, packA, partial;
    if (layout.bytes)
      workspace = ws.request(e.b, e.loc, layout.bytes);
    if (bCount)
      packB = WorkspaceLayout::view(e, workspace, bOffset, bCount, *element);
    if (aCount)
      packA = WorkspaceLayout::view(e, workspace, aOffset, aCount, *element);
    if (partialCount)
      partial = WorkspaceLayout::view(e, workspace, partialOffset, partialCount,
                                      *element);

    Value mIndex = e.rem(index, p.mTiles);
    Value rest = e.div(index, p.mTiles);
    Value nIndex = e.rem(rest, p.nTiles);
    Value z = e.div(rest, p.nTiles);
    Value tileRow0 = e.mul(mIndex, p.mt), col0 = e.mul(nIndex, p.nt);
    Value tileRows = e.blockLength(mIndex, p.mt, spec.m);
    Value cols = e.blockLength(nIndex, p.nt, spec.n);
    int64_t rowRemainder = spec.m % p.tile.rows;
    int64_t colRemainder = spec.n % p.width;

    e.loop(e.idx(0), e.idx(p.kBlocks), 1, [&](Value kIndex) {
      Value k0 = e.mul(kIndex, p.kc);
      Value kLength = e.max(e.idx(0), e.min(e.idx(p.kc), e.sub(kEnd, k0)));
      if (p.kBlocks == 1)
        kLength = kEnd;

      TileProduct product;
      product.vec = vec;
      product.tile = p.tile;
      product.rowRemainder = rowRemainder;
      product.cols = cols;
      product.colRemainder = colRemainder;
      product.k = kLength;

      // B.
      Value bBase =
          e.add(e.mul(z, spec.b.batch),
                e.add(e.mul(k0, spec.b.row), e.mul(col0, spec.b.col)));
      if (p.bMode == Plan::BPacked) {
        int64_t stride = p.width * panelRows(spec.k, bits, target);
        int64_t block = packedBElements(spec.k, spec.n, bits, target);
        product.b = {flatB, e.add(e.mul(z, block),
                                  e.add(e.mul(e.div(col0, p.width), stride),
                                        e.mul(k0, p.width)))};
        product.bPanel = stride;
        product.bRow = p.width;
      } else if (p.bMode == Plan::BDirect) {
        product.b = {flatB, bBase};
        product.bPanel = p.width;
        product.bRow = spec.b.row;
        product.maskB = true;
      } else {
        product.b = {packB, e.idx(0)};
        product.bPanel = panelStride;
        product.bRow = p.width;
        emitPackPanels(e, vec, {{flatB, bBase}, spec.b.row, spec.b.col},
                       kLength, cols, colRemainder, p.width, product.b,
                       panelStride);
      }

      e.loop(e.idx(0), tileRows, p.mc, [&](Value block) {
        Value row0 = e.add(tileRow0, block);
        Value rows = e.min(e.idx(p.mc), e.sub(tileRows, block));
        product.rows = rows;

        // A.
        Value aBase =
            e.add(e.mul(z, spec.a.batch),
                  e.add(e.mul(row0, spec.a.row), e.mul(k0, spec.a.col)));
        BlockView aView{{flatA, aBase}, spec.a.row, spec.a.col};
        if (p.aMode == Plan::Direct) {
          product.a = {flatA, aBase};
          product.aRow = spec.a.row;
          product.aCol = spec.a.col;
          product.aBlock = p.tile.rows * spec.a.row;
        } else if (p.aMode == Plan::CopyRows) {
          product.a = {packA, e.idx(0)};
          product.aRow = aRowStride;
          product.aCol = 1;
          product.aBlock = p.tile.rows * aRowStride;
          emitCopyRows(e, vec, aView, rows, kLength, product.a, aRowStride);
        } else {
          product.a = {packA, e.idx(0)};
          product.aRow = 1;
          product.aCol = p.tile.rows;
          product.aBlock = aBlockStride;
          emitPackRowBlocks(e, vec, aView, rows, rowRemainder, p.tile.rows,
                            kLength, product.a, aBlockStride);
        }

        // C.
        Value cBase =
            e.add(e.mul(z, spec.c.batch), e.add(e.mul(row0, spec.c.row), col0));
        auto cAt = [&](Emitter &t, const TileContext &tc, int64_t i,
                       int64_t j) {
          Value row = t.add(cBase, t.mul(tc.row, spec.c.row));
          return t.add(t.add(row, tc.col), i * spec.c.row + j * p.lanes);
        };
        auto partialAt = [&](Emitter &t, const TileContext &tc, int64_t i,
                             int64_t j) {
          if (partialInC)
            return cAt(t, tc, i, j);
          Value row = t.mul(t.add(block, tc.row), p.nt);
          return t.add(t.add(row, tc.col), i * p.nt + j * p.lanes);
        };
        Value partialMem = partialInC ? flatC : partial;
        auto finish = [&](Emitter &t, const TileContext &tc,
                          ArrayRef<Value> sums) {
          for (int64_t i = 0; i < tc.rows; ++i)
            for (int64_t j = 0; j < tc.vectors; ++j) {
              Value v = sums[i * tc.vectors + j];
              Value at = cAt(t, tc, i, j), mask = tc.maskOf(j);
              if (spec.epilogue)
                v = spec.epilogue(t.b, t.loc, z, t.add(t.add(row0, tc.row), i),
                                  t.add(t.add(col0, tc.col), j * p.lanes), v,
                                  mask);
              if (spec.accumulate)
                v = t.addf(t.vload(vec, flatC, at, mask), v);
              t.vstore(v, flatC, at, mask);
            }
        };
        // What is stored at the end comes to the cache while the terms are
        // added.
        product.start = [&](Emitter &t, const TileContext &tc) {
          for (int64_t i = 0; i < tc.rows; ++i)
            for (int64_t j = 0; j < tc.vectors * p.lanes;
                 j += 64 / elementBytes)
              t.op<memref::PrefetchOp>(
                  flatC, ValueRange{t.add(cAt(t, tc, i, 0), j)},
                  /*isWrite=*/true, /*localityHint=*/3, /*isDataCache=*/true);
        };
        if (p.kBlocks == 1) {
          product.done = finish;
          product.emit(e, target);
          return;
        }
        product.done = [&](Emitter &t, const TileContext &tc,
                           ArrayRef<Value> sums) {
          auto partialMask = [&](int64_t j) {
            return partialInC ? tc.maskOf(j) : Value();
          };
          // Sums of a block of terms are added to those of the blocks before
          // it.
          SmallVector<Type> types(sums.size(), vec);
          auto choice = t.op<scf::IfOp>(types, t.eq(kIndex, t.idx(0)),
                                        /*withElseRegion=*/true);
          {
            OpBuilder::InsertionGuard g(t.b);
            t.b.setInsertionPointToStart(&choice.getThenRegion().front());
            t.op<scf::YieldOp>(sums);
            t.b.setInsertionPointToStart(&choice.getElseRegion().front());
            SmallVector<Value> added;
            for (int64_t i = 0; i < tc.rows; ++i)
              for (int64_t j = 0; j < tc.vectors; ++j)
                added.push_back(
                    t.addf(t.vload(vec, partialMem, partialAt(t, tc, i, j),
                                   partialMask(j)),
                           sums[i * tc.vectors + j]));
            t.op<scf::YieldOp>(added);
          }
          SmallVector<Value> total(choice.getResults());
          auto keep = [&] {
            for (int64_t i = 0; i < tc.rows; ++i)
              for (int64_t j = 0; j < tc.vectors; ++j)
                t.vstore(total[i * tc.vectors + j], partialMem,
                         partialAt(t, tc, i, j), partialMask(j));
          };
          if (partialInC && !spec.epilogue)
            return keep();
          t.when(
              t.eq(kIndex, t.idx(p.kBlocks - 1)), [&] { finish(t, tc, total); },
              keep);
        };
        product.emit(e, target);
      });
    });
  });
  return success();
}

LogicalResult dtc::codegen::emitPackB(OpBuilder &builder, Location loc,
                                      int64_t batch, int64_t k, int64_t n,
                                      const MatrixLayout &layout, Value bMat,
                                      Value packed, const TargetInfo &target) {
  FailureOr<Type> element = checkElement(loc, bMat);
  if (failed(element) || failed(checkOperand(loc, bMat, *element, "B")) ||
      failed(checkOperand(loc, packed, *element, "packed B")))
    return failure();
  int64_t bits = element->getIntOrFloatBitWidth();
  int64_t block = packedBElements(k, n, bits, target);
  int64_t have = cast<MemRefType>(packed.getType()).getNumElements();
  if (have < batch * block)
    return emitError(loc) << "packed B has " << have << " elements, needs "
                          << batch * block;
  if (batch == 0 || k == 0 || n == 0)
    return success();
  OpBuilder::InsertionGuard guard(builder);
  Emitter e(builder, loc);
  auto vec = VectorType::get({target.lanes(bits)}, *element);
  int64_t width = panelWidth(bits, target);
  int64_t panels = ceilDiv(n, width);
  int64_t stride = width * panelRows(k, bits, target);
  Value from = e.flat(bMat), to = e.flat(packed);
  e.tiles(batch * panels, batch * k * n < 16384, [&](Value index) {
    Value z = e.div(index, panels), panel = e.rem(index, panels);
    Value col0 = e.mul(panel, width);
    Value base = e.add(e.mul(z, layout.batch), e.mul(col0, layout.col));
    emitPackPanels(e, vec, {{from, base}, layout.row, layout.col}, e.idx(k),
                   e.blockLength(panel, width, n), n % width, width,
                   {to, e.add(e.mul(z, block), e.mul(panel, stride))}, stride);
  });
  return success();
}
