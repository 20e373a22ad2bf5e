//===- TileProduct.cpp - Products of cache blocks, by register tiles ------===//
#include "TileProduct.h"

using namespace mlir;
using namespace dtc::codegen;

Value Emitter::flat(Value mem) {
  auto type = cast<MemRefType>(mem.getType());
  if (type.getRank() == 1)
    return mem;
  auto flatType =
      MemRefType::get({type.getNumElements()}, type.getElementType());
  if (type.getRank() == 0)
    return op<memref::ReinterpretCastOp>(
        flatType, mem, int64_t(0), ArrayRef<int64_t>{1}, ArrayRef<int64_t>{1});
  ReassociationIndices all;
  for (int64_t i = 0; i < type.getRank(); ++i)
    all.push_back(i);
  return op<memref::CollapseShapeOp>(flatType, mem,
                                     ArrayRef<ReassociationIndices>{all});
}

Type dtc::codegen::getComputeType(Type element) {
  return element.isBF16() ? Float32Type::get(element.getContext()) : element;
}

static Type elementOf(Value mem) {
  return cast<MemRefType>(mem.getType()).getElementType();
}

bool dtc::codegen::isConverted(Value mem) {
  return getComputeType(elementOf(mem)) != elementOf(mem);
}

Value Emitter::load(Value mem, Value at) {
  Value v = op<memref::LoadOp>(mem, ValueRange{at});
  if (isConverted(mem))
    v = op<arith::ExtFOp>(getComputeType(v.getType()), v);
  return v;
}

void Emitter::store(Value v, Value mem, Value at) {
  if (isConverted(mem))
    v = op<arith::TruncFOp>(elementOf(mem), v);
  op<memref::StoreOp>(v, mem, ValueRange{at});
}

Value Emitter::vload(VectorType type, Value mem, Value at, Value mask) {
  VectorType stored = type.cloneWith(std::nullopt, elementOf(mem));
  Value v;
  if (mask) {
    Value zero = op<arith::ConstantOp>(b.getZeroAttr(stored));
    v = op<vector::MaskedLoadOp>(stored, mem, ValueRange{at}, mask, zero);
  } else {
    v = op<vector::LoadOp>(stored, mem, ValueRange{at});
  }
  if (isConverted(mem))
    v = op<arith::ExtFOp>(type, v);
  return v;
}

void Emitter::vstore(Value v, Value mem, Value at, Value mask) {
  if (isConverted(mem))
    v = op<arith::TruncFOp>(
        cast<VectorType>(v.getType()).cloneWith(std::nullopt, elementOf(mem)),
        v);
  if (!mask)
    op<vector::StoreOp>(v, mem, ValueRange{at});
  else
    op<vector::MaskedStoreOp>(mem, ValueRange{at}, mask, v);
}

Value Emitter::splat(VectorType type, double v) {
  return op<arith::ConstantOp>(DenseElementsAttr::get(
      type, FloatAttr::get(type.getElementType(), v).getValue()));
}

Value Emitter::splatInt(VectorType type, int64_t v) {
  return op<arith::ConstantOp>(DenseElementsAttr::get(
      type, cast<Attribute>(b.getIntegerAttr(type.getElementType(), v))));
}

Value Emitter::firstLanes(int64_t count, int64_t lanes) {
  if (count >= lanes)
    return {};
  SmallVector<bool> bits(lanes, false);
  for (int64_t i = 0; i < count; ++i)
    bits[i] = true;
  return op<arith::ConstantOp>(
      DenseElementsAttr::get(VectorType::get({lanes}, b.getI1Type()), bits));
}

void Emitter::transpose(SmallVectorImpl<Value> &rows) {
  int64_t n = rows.size();
  // Swaps the off-diagonal s x s blocks of each 2s x 2s block.
  for (int64_t s = 1; s < n; s *= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t j = 0; j < n; ++j) {
      low.push_back(j & s ? n + j - s : j);
      high.push_back(j & s ? n + j : j + s);
    }
    for (int64_t i = 0; i < n; ++i) {
      if (i & s)
        continue;
      Value x = rows[i], y = rows[i + s];
      rows[i] = op<vector::ShuffleOp>(x, y, low);
      rows[i + s] = op<vector::ShuffleOp>(x, y, high);
    }
  }
}

RegisterTile dtc::codegen::chooseRegisterTile(int64_t rows, int64_t vectors,
                                              const TargetInfo &target) {
  // Accumulators, the vectors of B and one broadcast of A fill the registers.
  int64_t most = (target.vectorRegisters - 1 - vectors) / vectors;
  most = std::max<int64_t>(1, std::min<int64_t>(most, 14));
  if (rows <= 0)
    return {1, vectors};
  int64_t blocks = (rows + most - 1) / most;
  return {(rows + blocks - 1) / blocks, vectors};
}

void TileProduct::emit(Emitter &e, const TargetInfo &target) const {
  int64_t lanes = vec.getNumElements();
  int64_t width = tile.vectors * lanes;
  int64_t edgeVectors = (colRemainder + lanes - 1) / lanes;
  Value edgeMask;
  if (colRemainder)
    edgeMask = e.firstLanes(colRemainder - (edgeVectors - 1) * lanes, lanes);
  Value rowBlocks = e.div(rows, tile.rows);
  Value panels = e.div(cols, width);

  auto column = [&](Value panel, int64_t vectors, Value mask) {
    e.loop(e.idx(0), rowBlocks, 1, [&](Value block) {
      emitTile(e, target, block, panel, tile.rows, vectors, mask);
    });
    if (rowRemainder)
      e.when(e.ne(e.rem(rows, tile.rows), e.idx(0)), [&] {
        emitTile(e, target, rowBlocks, panel, rowRemainder, vectors, mask);
      });
  };
  e.loop(e.idx(0), panels, 1,
         [&](Value panel) { column(panel, tile.vectors, Value()); });
  if (colRemainder)
    e.when(e.ne(e.rem(cols, width), e.idx(0)),
           [&] { column(panels, edgeVectors, edgeMask); });
}

void TileProduct::emitTile(Emitter &e, const TargetInfo &target, Value rowBlock,
                           Value panel, int64_t tileRows, int64_t tileVectors,
                           Value mask) const {
  int64_t lanes = vec.getNumElements();
  TileContext context{e.mul(rowBlock, tile.rows),
                      e.mul(panel, tile.vectors * lanes), tileRows, tileVectors,
                      mask};
  if (start)
    start(e, context);
  SmallVector<Value> first;
  if (init)
    first = init(e, context);
  else
    first.assign(tileRows * tileVectors, e.splat(vec, 0.0));

  Value aBase = e.add(a.base, e.mul(rowBlock, aBlock));
  Value bBase = e.add(b.base, e.mul(panel, bPanel));
  auto loop = scf::ForOp::create(
      e.b, e.loc, e.idx(0), k, e.idx(1), first,
      [&](OpBuilder &inner, Location loc, Value step, ValueRange sums) {
        Emitter t(inner, loc);
        Value bAt = t.add(bBase, t.mul(step, bRow));
        Value aAt = t.add(aBase, t.mul(step, aCol));
        SmallVector<Value> bVectors, next;
        for (int64_t j = 0; j < tileVectors; ++j)
          bVectors.push_back(t.vload(vec, b.mem, t.add(bAt, j * lanes),
                                     maskB ? context.maskOf(j) : Value()));
        for (int64_t i = 0; i < tileRows; ++i) {
          Value x = t.broadcast(vec, t.load(a.mem, t.add(aAt, i * aRow)));
          for (int64_t j = 0; j < tileVectors; ++j)
            next.push_back(
                t.fma(x, bVectors[j], sums[i * tileVectors + j], target));
        }
        scf::YieldOp::create(inner, loc, next);
      });
  SmallVector<Value> sums(loop.getResults());
  done(e, context, sums);
}
