//===- Embedding.cpp - Kernels of table lookups ---------------------------===//

#include "Loops.h"

using namespace mlir;
using namespace dtc;

/// The local row of a token's id, and whether this piece of the table has it.
static std::pair<Value, Value> localRow(Loops &k, Value id, Value first,
                                        Value length) {
  Value row = k.sub(k.toIndex(id), first);
  return {row, k.lessUnsigned(row, length)};
}

LogicalResult EmbeddingOp::emitKernel(KernelBuilder &kb) {
  Loops k(*this, kb);
  if (failed(k.check()))
    return failure();
  int64_t cols = k.inShape(0)[1], tokens = numElements(k.inShape(1));
  Value first = k.first(0, 0), length = k.length(0, 0), end = k.idx(cols);
  Value zero = k.constant(0.0);
  k.forRows(tokens, cols, [&](Value token) {
    auto [row, has] = localRow(k, k.load(k.in[1], token), first, length);
    Value source = k.mul(row, cols), target = k.mul(token, cols);
    k.when(
        has,
        [&] {
          k.forVectors(k.idx(0), end, [&](Value col, Value mask) {
            k.write(k.read(k.in[0], k.add(source, col), mask), k.out[0],
                    k.add(target, col), mask);
          });
        },
        [&] {
          k.forVectors(k.idx(0), end, [&](Value col, Value mask) {
            k.write(zero, k.out[0], k.add(target, col), mask);
          });
        });
  });
  return success();
}

LogicalResult EmbeddingGradOp::emitKernel(KernelBuilder &kb) {
  Loops k(*this, kb);
  if (failed(k.check()))
    return failure();
  int64_t rows = k.outShape(0)[0], cols = k.outShape(0)[1];
  int64_t tokens = numElements(k.inShape(0));
  unsigned table = k.rule.getNumOperands();
  Value first = k.first(table, 0), length = k.length(table, 0);
  // Sums that the result would round wait beside it: those of one block of
  // columns in the memory of the thread that adds them.
  bool beside = codegen::isConverted(k.out[0]);
  if (!beside)
    k.fill(rows * cols, k.out[0], k.number(0.0));
  // A block of columns belongs to one iteration, which takes the tokens in
  // their order: equal tokens are added in that order.
  int64_t block = ceilDiv(ceilDiv(cols, 16), k.lanes) * k.lanes;
  int64_t stride = beside ? block : cols;
  k.tiles(
      ceilDiv(cols, block), tokens * cols < Loops::serialBelow, [&](Value j) {
        Value from = k.mul(j, block);
        Value width = k.min(k.idx(block), k.sub(k.idx(cols), from));
        Value sums = k.out[0], base = from;
        if (beside) {
          sums = codegen::WorkspaceLayout::view(
              k, kb.workspace(rows * block * k.bytes()), 0, rows * block,
              k.element);
          base = k.idx(0);
          k.loop(k.idx(0), k.idx(rows * block), k.lanes,
                 [&](Value at) { k.write(k.constant(0.0), sums, at); });
        }
        bool even = cols % k.lanes == 0;
        auto at = [&](Value row, Value col) {
          return k.add(k.add(k.mul(row, stride), base), col);
        };
        k.loop(k.idx(0), k.idx(tokens), 1, [&](Value token) {
          auto [row, has] = localRow(k, k.load(k.in[0], token), first, length);
          if (Value inside = k.inside(0, token, 0))
            has = k.op<arith::AndIOp>(has, inside);
          Value source = k.add(k.mul(token, cols), from);
          k.when(has, [&, row = row] {
            auto add = [&](Value col, Value mask) {
              Value term = k.read(k.in[1], k.add(source, col), mask);
              Value sum = k.read(sums, at(row, col), mask);
              k.write(k.addf(sum, term), sums, at(row, col), mask);
            };
            k.forVectors(k.idx(0), width, add, even);
          });
        });
        if (!beside)
          return;
        k.loop(k.idx(0), k.idx(rows), 1, [&](Value row) {
          Value target = k.add(k.mul(row, cols), from);
          auto round = [&](Value col, Value mask) {
            k.write(k.read(sums, at(row, col), mask), k.out[0],
                    k.add(target, col), mask);
          };
          k.forVectors(k.idx(0), width, round, even);
        });
      });
  return success();
}
