//===- MatmulPacking.cpp - Blocks of matrices in the order of use ---------===//
#include "MatmulPacking.h"

using namespace mlir;
using namespace dtc::codegen;

/// The lanes below `count` (an index), for a tail that is known at run time.
static Value tailMask(Emitter &e, int64_t lanes, Value count) {
  return e.op<vector::CreateMaskOp>(VectorType::get({lanes}, e.b.getI1Type()),
                                    ValueRange{count});
}

/// One panel of `count` columns from a B whose columns run along addresses.
static void packPanelByRows(Emitter &e, VectorType vec, const BlockView &b,
                            Value k, int64_t count, int64_t width, Value srcCol,
                            Value dstBase, Value dst) {
  int64_t lanes = vec.getNumElements();
  Value from = e.add(b.at.base, srcCol);
  e.loop(e.idx(0), k, 1, [&](Value r) {
    Value src = e.add(from, e.mul(r, b.row));
    Value to = e.add(dstBase, e.mul(r, width));
    for (int64_t j = 0; j < width; j += lanes) {
      Value v = j >= count
                    ? e.splat(vec, 0.0)
                    : e.vload(vec, b.at.mem, e.add(src, j),
                              e.firstLanes(std::min(lanes, count - j), lanes));
      e.vstore(v, dst, e.add(to, j));
    }
  });
}

/// One panel from a B whose rows run along addresses: squares of lanes x lanes
/// elements are transposed in registers.
static void packPanelTransposed(Emitter &e, VectorType vec, const BlockView &b,
                                Value k, int64_t count, int64_t width,
                                Value srcCol, Value dstBase, Value dst) {
  int64_t lanes = vec.getNumElements();
  Value from = e.add(b.at.base, e.mul(srcCol, b.col));
  // A square of lanes x lanes: columns from j on, of which `have` exist. The
  // loops stay loops: shuffles in a long straight line take the compiler much
  // time.
  auto square = [&](Value r, Value j, int64_t have, Value mask) {
    SmallVector<Value> rows;
    Value at = e.add(e.add(from, r), e.mul(j, b.col));
    for (int64_t i = 0; i < lanes; ++i)
      rows.push_back(i < have
                         ? e.vload(vec, b.at.mem, e.add(at, i * b.col), mask)
                         : e.splat(vec, 0.0));
    e.transpose(rows);
    Value to = e.add(e.add(dstBase, e.mul(r, width)), j);
    for (int64_t i = 0; i < lanes; ++i)
      e.vstore(rows[i], dst, e.add(to, i * width));
  };
  auto squares = [&](Value r, Value mask) {
    int64_t whole = count / lanes * lanes;
    e.loop(e.idx(0), e.idx(whole), lanes,
           [&](Value j) { square(r, j, lanes, mask); });
    for (int64_t j = whole; j < width; j += lanes)
      square(r, e.idx(j), std::max<int64_t>(0, count - j), mask);
  };
  Value whole = e.mul(e.div(k, lanes), lanes);
  e.loop(e.idx(0), whole, lanes, [&](Value r) { squares(r, Value()); });
  e.when(e.ne(whole, k),
         [&] { squares(whole, tailMask(e, lanes, e.sub(k, whole))); });
}

/// One panel from a B of any layout, element by element.
static void packPanelByElements(Emitter &e, VectorType vec, const BlockView &b,
                                Value k, int64_t count, int64_t width,
                                Value srcCol, Value dstBase, Value dst) {
  Value zero = e.op<arith::ConstantOp>(e.b.getZeroAttr(vec.getElementType()));
  e.loop(e.idx(0), k, 1, [&](Value r) {
    Value src = e.add(b.at.base, e.add(e.mul(r, b.row), e.mul(srcCol, b.col)));
    Value to = e.add(dstBase, e.mul(r, width));
    e.loop(e.idx(0), e.idx(count), 1, [&](Value j) {
      e.store(e.load(b.at.mem, e.add(src, e.mul(j, b.col))), dst, e.add(to, j));
    });
    e.loop(e.idx(count), e.idx(width), 1,
           [&](Value j) { e.store(zero, dst, e.add(to, j)); });
  });
}

void dtc::codegen::emitPackPanels(Emitter &e, VectorType vec,
                                  const BlockView &b, Value k, Value n,
                                  int64_t nRemainder, int64_t width, Place dst,
                                  int64_t panelStride) {
  auto panel = [&](Value index, int64_t count) {
    Value srcCol = e.mul(index, width);
    Value dstBase = e.add(dst.base, e.mul(index, panelStride));
    auto *pack = b.col == 1   ? packPanelByRows
                 : b.row == 1 ? packPanelTransposed
                              : packPanelByElements;
    pack(e, vec, b, k, count, width, srcCol, dstBase, dst.mem);
  };
  Value whole = e.div(n, width);
  e.loop(e.idx(0), whole, 1, [&](Value index) { panel(index, width); });
  if (nRemainder)
    e.when(e.ne(e.rem(n, width), e.idx(0)), [&] { panel(whole, nRemainder); });
}

void dtc::codegen::emitPackRowBlocks(Emitter &e, VectorType vec,
                                     const BlockView &a, Value rows,
                                     int64_t rowRemainder, int64_t tileRows,
                                     Value k, Place dst, int64_t blockStride) {
  int64_t lanes = vec.getNumElements();
  Value whole = e.div(rows, tileRows);
  // Term by term: what is read lies in one piece.
  auto term = [&](Value c) {
    Value src = e.add(a.at.base, e.mul(c, a.col));
    Value to = e.add(dst.base, e.mul(c, tileRows));
    auto block = [&](Value index, int64_t count) {
      Value from = e.add(src, e.mul(index, tileRows));
      Value at = e.add(to, e.mul(index, blockStride));
      // A whole vector is stored even where fewer rows exist: what follows is
      // written later, or is the block's slack.
      for (int64_t j = 0; j < count; j += lanes)
        e.vstore(e.vload(vec, a.at.mem, e.add(from, j),
                         e.firstLanes(std::min(lanes, count - j), lanes)),
                 dst.mem, e.add(at, j));
    };
    e.loop(e.idx(0), whole, 1, [&](Value index) { block(index, tileRows); });
    if (rowRemainder)
      e.when(e.ne(e.rem(rows, tileRows), e.idx(0)),
             [&] { block(whole, rowRemainder); });
  };
  e.loop(e.idx(0), k, 1, term);
}

void dtc::codegen::emitCopyRows(Emitter &e, VectorType vec, const BlockView &a,
                                Value rows, Value k, Place dst,
                                int64_t stride) {
  int64_t lanes = vec.getNumElements();
  Value whole = e.mul(e.div(k, lanes), lanes);
  Value hasTail = e.ne(whole, k);
  Value mask = tailMask(e, lanes, e.sub(k, whole));
  e.loop(e.idx(0), rows, 1, [&](Value i) {
    Value src = e.add(a.at.base, e.mul(i, a.row));
    Value to = e.add(dst.base, e.mul(i, stride));
    e.loop(e.idx(0), whole, lanes, [&](Value c) {
      e.vstore(e.vload(vec, a.at.mem, e.add(src, c)), dst.mem, e.add(to, c));
    });
    e.when(hasTail, [&] {
      e.vstore(e.vload(vec, a.at.mem, e.add(src, whole), mask), dst.mem,
               e.add(to, whole));
    });
  });
}
