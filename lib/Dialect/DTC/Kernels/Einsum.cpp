//===- Einsum.cpp - Kernel of dtc.einsum ----------------------------------===//

#include "Loops.h"
#include "dtc/Codegen/Matmul.h"

using namespace mlir;
using namespace dtc;

namespace {

/// One letter of the equation, on the local pieces.
struct Letter {
  int64_t size = 1;
  Value valid; ///< null where nothing is padded
  /// Distances in lhs, rhs and result; -1 where the value lacks it.
  int64_t strides[3] = {-1, -1, -1};
  bool in(unsigned v) const { return strides[v] >= 0; }
};

/// Letters that walk through the values like one.
struct Merged {
  int64_t size = 1;
  int64_t strides[3] = {0, 0, 0};
  Value valid;
};

} // namespace

static SmallVector<Letter> getLetters(Loops &k) {
  SmallVector<Letter> letters(k.rule.factors.size());
  for (unsigned v = 0; v < 3; ++v) {
    ArrayRef<int64_t> shape = v < 2 ? k.inShape(v) : k.outShape(0);
    int64_t stride = 1;
    for (unsigned d = shape.size(); d-- > 0; stride *= shape[d]) {
      Letter &l = letters[k.rule.value(v)[d][0]];
      l.size = shape[d];
      l.strides[v] = stride;
    }
  }
  for (auto [letter, factor] : llvm::zip_equal(letters, k.rule.factors))
    letter.valid = k.kb.valid(factor.name);
  return letters;
}

/// Merges letters that all stand in the given values. What is summed may end
/// early only at the outermost one.
static std::optional<Merged> merge(Loops &k, SmallVector<Letter> letters,
                                   ArrayRef<unsigned> values, bool summed) {
  llvm::erase_if(letters, [&](const Letter &l) {
    return l.size == 1 && !(summed && l.valid);
  });
  llvm::sort(letters, [&](const Letter &x, const Letter &y) {
    return x.strides[values[0]] > y.strides[values[0]];
  });
  Merged m;
  for (auto [i, l] : llvm::enumerate(letters)) {
    if (summed && l.valid && i > 0)
      return std::nullopt;
    for (unsigned v : values) {
      if (i > 0 && letters[i - 1].strides[v] != l.strides[v] * l.size)
        return std::nullopt;
      m.strides[v] = l.strides[v];
    }
    m.size *= l.size;
  }
  if (summed && !letters.empty() && letters[0].valid)
    m.valid = k.mul(letters[0].valid, m.size / letters[0].size);
  return m;
}

/// One element of the result after the other.
static void emitPlain(Loops &k, ArrayRef<Letter> letters) {
  SmallVector<Letter> kept, summed;
  int64_t terms = 1;
  for (const Letter &l : letters) {
    (l.in(2) ? kept : summed).push_back(l);
    if (!l.in(2))
      terms *= l.size;
  }
  llvm::sort(kept, [](const Letter &x, const Letter &y) {
    return x.strides[2] > y.strides[2];
  });
  auto advance = [&](Value base, const Letter &l, unsigned v, Value i) {
    return l.in(v) ? k.add(base, k.mul(i, l.strides[v])) : base;
  };
  std::function<Value(ArrayRef<Letter>, Value, Value, Value)> walk =
      [&](ArrayRef<Letter> rest, Value x, Value y, Value acc) -> Value {
    if (rest.empty())
      return k.fma(k.load(k.in[0], x), k.load(k.in[1], y), acc);
    const Letter &l = rest[0];
    return k.fold(k.idx(0), l.valid ? l.valid : k.idx(l.size), acc,
                  [&](Value i, Value inner) {
                    return walk(rest.drop_front(), advance(x, l, 0, i),
                                advance(y, l, 1, i), inner);
                  });
  };
  k.forRows(numElements(k.outShape(0)), terms, [&](Value at) {
    Value x = k.idx(0), y = k.idx(0), rest = at;
    for (const Letter &l : llvm::reverse(kept)) {
      Value i = k.rem(rest, l.size);
      rest = k.div(rest, l.size);
      x = advance(x, l, 0, i);
      y = advance(y, l, 1, i);
    }
    k.store(walk(summed, x, y, k.number(0.0)), k.out[0], at);
  });
}

LogicalResult EinsumOp::emitKernel(KernelBuilder &kb) {
  Loops k(*this, kb);
  if (failed(k.check()))
    return failure();
  SmallVector<Letter> letters = getLetters(k);
  SmallVector<Letter> batch, rows[2], sums;
  bool plain = false;
  for (const Letter &l : letters) {
    if (l.in(0) && l.in(1))
      (l.in(2) ? batch : sums).push_back(l);
    else if (l.in(2))
      rows[l.in(0) ? 0 : 1].push_back(l);
    else
      plain = true; // summed in one operand alone
  }
  // Without rows and columns it is no product of matrices.
  plain |= rows[0].empty() && rows[1].empty();
  std::optional<Merged> z, m, n, s;
  if (!plain) {
    z = merge(k, batch, {2, 0, 1}, false);
    m = merge(k, rows[0], {2, 0}, false);
    n = merge(k, rows[1], {2, 1}, false);
    s = merge(k, sums, {0, 1}, true);
  }
  if (!z || !m || !n || !s) {
    emitPlain(k, letters);
    return success();
  }
  // The columns are the letters that are consecutive in the result.
  bool consecutive = n->size == 1 || n->strides[2] == 1;
  bool swapped = n->size == 1 ? m->strides[2] == 1 : n->strides[2] != 1;
  if (swapped)
    consecutive = m->size == 1 || m->strides[2] == 1;
  if (!consecutive) {
    emitPlain(k, letters);
    return success();
  }
  unsigned a = 0, b = 1;
  if (swapped) {
    std::swap(a, b);
    std::swap(m, n);
  }
  codegen::MatmulSpec spec;
  spec.batch = z->size;
  spec.m = m->size;
  spec.n = n->size;
  spec.k = s->size;
  spec.a = {z->strides[a], m->strides[a], s->strides[a]};
  spec.b = {z->strides[b], s->strides[b], n->strides[b]};
  spec.c = {z->strides[2], m->strides[2], 1};
  spec.validK = s->valid;
  codegen::Workspace workspace = workspaceOf(kb);
  Value rhs = kb.operand(b);
  if (int64_t packed = codegen::sharedPackedElements(
          spec, k.element.getIntOrFloatBitWidth(), kb.getTarget())) {
    Value once = k.scratch({{packed, k.element}})[0];
    if (failed(codegen::emitPackB(k.b, k.loc, spec.batch, spec.k, spec.n,
                                  spec.b, rhs, once, kb.getTarget())))
      return failure();
    rhs = once;
    spec.packedB = true;
  }
  return codegen::emitMatmul(k.b, k.loc, spec, kb.operand(a), rhs, kb.result(0),
                             workspace, kb.getTarget());
}
