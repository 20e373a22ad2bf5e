//===- Loops.cpp - What the ops' kernels are written with -----------------===//

#include "Loops.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/TypeUtilities.h"
#include <cmath>

using namespace mlir;
using namespace dtc;

static ArrayRef<int64_t> shapeOf(Value mem) {
  return cast<MemRefType>(mem.getType()).getShape();
}

static Type elementOf(Value mem) {
  return cast<MemRefType>(mem.getType()).getElementType();
}

Loops::Loops(Operation *op, KernelBuilder &kb)
    : Emitter(kb.b(), kb.getLoc()), kb(kb), root(op),
      rule(cast<FactorOpInterface>(op).getFactorRule()) {
  for (Value mem : kb.operands)
    in.push_back(flat(mem));
  for (Value mem : kb.results)
    out.push_back(flat(mem));
  using codegen::getComputeType;
  element = getComputeType(elementOf(kb.results[0]));
  for (Value mem : llvm::concat<Value>(kb.operands, kb.results))
    if (isa<FloatType>(elementOf(mem))) {
      element = getComputeType(elementOf(mem));
      break;
    }
  lanes = kb.getTarget().lanes(element.getIntOrFloatBitWidth());
  vec = VectorType::get({lanes}, element);
}

LogicalResult Loops::check(bool readsPaddedWhole) {
  for (Value mem : llvm::concat<Value>(kb.operands, kb.results)) {
    Type type = elementOf(mem);
    if (!type.isF32() && !type.isF64() && !type.isBF16() &&
        !type.isInteger(32) && !type.isInteger(64))
      return root->emitOpError("has no CPU kernel for elements of type ")
             << type;
  }
  for (const Factor &f : rule.factors)
    if (f.whole && f.padded != f.size && !readsPaddedWhole)
      return root->emitOpError("has no CPU kernel for a dimension of ")
             << f.size << " that is padded to " << f.padded
             << ", because it is cut elsewhere, and used whole here: cut "
                "another dimension, or make it a multiple of the pieces";
  return success();
}

ArrayRef<int64_t> Loops::inShape(unsigned i) const {
  return shapeOf(kb.operand(i));
}
ArrayRef<int64_t> Loops::outShape(unsigned r) const {
  return shapeOf(kb.result(r));
}

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

Value Loops::first(unsigned v, unsigned d) {
  return kb.first(rule.factors[rule.value(v)[d][0]].name);
}

Value Loops::length(unsigned v, unsigned d) {
  const DimFactors &dim = rule.value(v)[d];
  if (dim.size() == 1)
    if (Value valid = kb.valid(rule.factors[dim[0]].name))
      return valid;
  unsigned operands = rule.getNumOperands();
  return idx(v < operands ? inShape(v)[d] : outShape(v - operands)[d]);
}

bool Loops::isPadded(unsigned v, unsigned d) {
  const DimFactors &dim = rule.value(v)[d];
  return dim.size() == 1 && kb.valid(rule.factors[dim[0]].name);
}

Value Loops::inside(unsigned v, Value row, unsigned inner) {
  unsigned operands = rule.getNumOperands();
  ArrayRef<int64_t> shape = v < operands ? inShape(v) : outShape(v - operands);
  Value result;
  for (unsigned d = shape.size() - inner; d-- > 0; row = div(row, shape[d])) {
    if (!isPadded(v, d))
      continue;
    Value ok = lessUnsigned(rem(row, shape[d]), length(v, d));
    result = result ? op<arith::AndIOp>(result, ok) : ok;
  }
  return result;
}

SmallVector<Value> Loops::scratch(ArrayRef<std::pair<int64_t, Type>> buffers) {
  codegen::WorkspaceLayout layout;
  SmallVector<int64_t> offsets;
  for (auto [count, type] : buffers)
    offsets.push_back(layout.reserve(count, type.getIntOrFloatBitWidth()));
  Value memory = kb.scratch(layout.bytes);
  Values views;
  for (auto [buffer, offset] : llvm::zip_equal(buffers, offsets))
    views.push_back(codegen::WorkspaceLayout::view(
        *this, memory, offset, buffer.first, buffer.second));
  return views;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value Loops::number(double v, Type type) {
  if (isa<FloatType>(type))
    return op<arith::ConstantOp>(b.getFloatAttr(type, v));
  return op<arith::ConstantOp>(b.getIntegerAttr(type, static_cast<int64_t>(v)));
}

Value Loops::spread(Value scalar) {
  return op<vector::BroadcastOp>(VectorType::get({lanes}, scalar.getType()),
                                 scalar);
}

Value Loops::toFloat(Value x, Type type) {
  if (x.getType() == type)
    return x;
  if (isa<IntegerType>(x.getType()))
    return op<arith::SIToFPOp>(type, x);
  unsigned from = getElementTypeOrSelf(x).getIntOrFloatBitWidth();
  unsigned to = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  if (from < to)
    return op<arith::ExtFOp>(type, x);
  return op<arith::TruncFOp>(type, x);
}

Value Loops::laneNumbers(Type integer) {
  SmallVector<Attribute> numbers;
  for (int64_t i = 0; i < lanes; ++i)
    numbers.push_back(b.getIntegerAttr(integer, i));
  return op<arith::ConstantOp>(
      DenseElementsAttr::get(VectorType::get({lanes}, integer), numbers));
}

Value Loops::read(Value mem, Value at, Value mask) {
  Type type = codegen::getComputeType(elementOf(mem));
  return vload(VectorType::get({lanes}, type), mem, at, mask);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void Loops::elementwise(int64_t count, ArrayRef<Value> operands,
                        ArrayRef<Value> results, Body body) {
  int64_t whole = count / lanes * lanes;
  auto step = [&](Value at, Value mask) {
    Values x;
    for (Value mem : operands)
      x.push_back(read(mem, at, mask));
    for (auto [y, mem] : llvm::zip_equal(body(x, at), results))
      write(y, mem, at, mask);
  };
  tiles(ceilDiv(whole, tileElements), count < serialBelow, [&](Value tile) {
    Value from = mul(tile, tileElements);
    loop(from, min(add(from, tileElements), idx(whole)), lanes,
         [&](Value at) { step(at, {}); });
  });
  if (whole < count)
    step(idx(whole), firstLanes(count - whole, lanes));
}

void Loops::forBlocks(int64_t rows, int64_t cols,
                      function_ref<void(Value, Value, Value)> body) {
  bool serial = rows * cols < serialBelow;
  if (cols >= 2 * tileElements) {
    int64_t blocks = ceilDiv(cols, tileElements);
    tiles(rows * blocks, serial, [&](Value task) {
      Value from = mul(rem(task, blocks), tileElements);
      body(div(task, blocks), from, min(add(from, tileElements), idx(cols)));
    });
    return;
  }
  int64_t group =
      std::max<int64_t>(1, tileElements / std::max<int64_t>(cols, 1));
  tiles(ceilDiv(rows, group), serial, [&](Value task) {
    Value from = mul(task, group);
    loop(from, min(add(from, group), idx(rows)), 1,
         [&](Value row) { body(row, idx(0), idx(cols)); });
  });
}

void Loops::forVectors(Value from, Value to,
                       function_ref<void(Value, Value)> body, bool even) {
  Value count = sub(to, from);
  if (std::optional<int64_t> n = getConstantIntValue(count)) {
    int64_t whole = *n / lanes * lanes;
    if (whole)
      loop(from, add(from, whole), lanes, [&](Value at) { body(at, Value()); });
    if (whole < *n)
      body(add(from, whole), firstLanes(*n - whole, lanes));
    return;
  }
  if (even)
    return loop(from, to, lanes, [&](Value at) { body(at, Value()); });
  Value whole = sub(to, rem(count, lanes));
  loop(from, whole, lanes, [&](Value at) { body(at, Value()); });
  when(op<arith::CmpIOp>(arith::CmpIPredicate::slt, whole, to), [&] {
    Value mask = op<vector::CreateMaskOp>(
        VectorType::get({lanes}, b.getI1Type()), ValueRange{sub(to, whole)});
    body(whole, mask);
  });
}

Value Loops::combine(Fold kind, Value x, Value y) {
  if (kind == Fold::Sum) {
    if (isa<IntegerType>(getElementTypeOrSelf(x)))
      return op<arith::AddIOp>(x, y);
    return addf(x, y);
  }
  // A NaN is passed over: what is computed from the maximum has it.
  Value greater = op<arith::CmpFOp>(arith::CmpFPredicate::OGT, y, x);
  return select(greater, y, x);
}

Value Loops::foldLanes(Fold kind, Value v) {
  int64_t count = cast<VectorType>(v.getType()).getNumElements();
  for (int64_t s = count / 2; s > 0; s /= 2) {
    SmallVector<int64_t> other;
    for (int64_t i = 0; i < s; ++i)
      other.push_back(s + i);
    SmallVector<int64_t> low = llvm::to_vector(llvm::seq<int64_t>(0, s));
    v = combine(kind, op<vector::ShuffleOp>(v, v, low),
                op<vector::ShuffleOp>(v, v, other));
  }
  return op<vector::ExtractOp>(v, int64_t(0));
}

SmallVector<Value> Loops::reduce(Value from, Value to, ArrayRef<Fold> folds,
                                 function_ref<Values(Value, Value)> terms,
                                 Type type) {
  if (!type)
    type = element;
  auto accType = VectorType::get({lanes}, type);
  Values init;
  for (Fold kind : folds) {
    if (isa<IntegerType>(type))
      init.push_back(splatInt(accType, 0));
    else
      init.push_back(splat(accType, kind == Fold::Sum ? 0.0 : -INFINITY));
  }
  // Several sums at once, because an addition takes several cycles.
  int64_t unroll = folds.size() == 1 ? 4 : 2;
  size_t n = folds.size();
  Values acc;
  for (int64_t u = 0; u < unroll; ++u)
    acc.append(init);
  auto advance = [&](Value begin, Value end, int64_t copies) {
    auto f = op<scf::ForOp>(begin, end, idx(copies * lanes), acc);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(f.getBody());
    Values next(f.getRegionIterArgs());
    for (int64_t u = 0; u < copies; ++u)
      for (auto [i, term] :
           llvm::enumerate(terms(add(f.getInductionVar(), u * lanes), Value())))
        next[u * n + i] = combine(folds[i], next[u * n + i], term);
    op<scf::YieldOp>(next);
    acc.assign(f.result_begin(), f.result_end());
  };
  Value count = sub(to, from);
  Value blocks = add(from, sub(count, rem(count, unroll * lanes)));
  Value whole = add(from, sub(count, rem(count, lanes)));
  std::optional<int64_t> known = getConstantIntValue(count);
  if (!known || *known >= unroll * lanes)
    advance(from, blocks, unroll);
  if (!known || *known % (unroll * lanes) >= lanes)
    advance(blocks, whole, 1);
  if (!known || *known % lanes) {
    Value mask =
        known
            ? firstLanes(*known % lanes, lanes)
            : op<vector::CreateMaskOp>(VectorType::get({lanes}, b.getI1Type()),
                                       ValueRange{sub(to, whole)});
    for (auto [i, term] : llvm::enumerate(terms(whole, mask)))
      acc[i] = select(mask, combine(folds[i], acc[i], term), acc[i]);
  }
  Values result;
  for (size_t i = 0; i < n; ++i) {
    for (int64_t s = unroll / 2; s > 0; s /= 2)
      for (int64_t u = 0; u < s; ++u)
        acc[u * n + i] =
            combine(folds[i], acc[u * n + i], acc[(u + s) * n + i]);
    result.push_back(foldLanes(folds[i], acc[i]));
  }
  return result;
}

Value Loops::sum(Value from, Value to, function_ref<Value(Value, Value)> term,
                 Type type) {
  return reduce(
      from, to, {Fold::Sum},
      [&](Value at, Value mask) { return Values{term(at, mask)}; }, type)[0];
}

Value Loops::fold(Value from, Value to, Value init,
                  function_ref<Value(Value, Value)> body) {
  auto f = op<scf::ForOp>(from, to, idx(1), ValueRange{init});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(f.getBody());
  op<scf::YieldOp>(body(f.getInductionVar(), f.getRegionIterArgs()[0]));
  return f.getResult(0);
}

void Loops::columnSums(int64_t rows, Value end, int64_t cols,
                       ArrayRef<Value> results,
                       function_ref<void(Value, AddTerm)> body) {
  int64_t count = std::clamp<int64_t>(rows * cols / (2 * tileElements), 1, 32);
  int64_t tileRows = ceilDiv(rows, std::min(count, std::max<int64_t>(rows, 1)));
  count = std::max<int64_t>(1, ceilDiv(rows, std::max<int64_t>(tileRows, 1)));
  int64_t stride = ceilDiv(cols, lanes) * lanes,
          block = stride * results.size();
  Value sums = scratch({{count * block, element}})[0];
  Value zero = constant(0.0);

  tiles(count, rows * cols < serialBelow, [&](Value tile) {
    Value base = mul(tile, block);
    loop(base, add(base, block), lanes,
         [&](Value at) { write(zero, sums, at); });
    auto addTerm = [&](unsigned i, Value col, Value term, Value mask) {
      Value at = add(add(base, i * stride), col);
      write(addf(read(sums, at, mask), term), sums, at, mask);
    };
    Value from = mul(tile, tileRows);
    Value to = min(add(from, tileRows), end ? end : idx(rows));
    loop(from, to, 1, [&](Value row) { body(row, addTerm); });
  });

  for (size_t i = 0; i < results.size(); ++i) {
    Value result = results[i];
    auto step = [&](Value col, Value mask) {
      Value at = add(col, i * stride);
      Value total =
          fold(idx(1), idx(count), read(sums, at), [&](Value t, Value acc) {
            return addf(acc, read(sums, add(mul(t, block), at)));
          });
      write(total, result, col, mask);
    };
    int64_t whole = cols / lanes;
    tiles(whole, cols * count < serialBelow,
          [&](Value j) { step(mul(j, lanes), Value()); });
    if (cols % lanes)
      step(idx(whole * lanes), firstLanes(cols % lanes, lanes));
  }
}

void Loops::fill(int64_t count, Value mem, Value scalar) {
  Value v = spread(scalar);
  elementwise(count, {}, {mem},
              [&](ArrayRef<Value>, Value) { return Values{v}; });
}

//===----------------------------------------------------------------------===//
// Spread
//===----------------------------------------------------------------------===//

Spread::Spread(ArrayRef<int64_t> shape, function_ref<bool(unsigned)> has) {
  for (auto [d, n] : llvm::enumerate(shape)) {
    bool present = has(d);
    if (n == 1)
      continue;
    if (!outer.empty() && outer.back().present == present)
      outer.back().size *= n;
    else
      outer.push_back({n, present});
  }
  if (outer.empty())
    return;
  cols = outer.back().size;
  hasCols = outer.back().present;
  outer.pop_back();
  for (const Group &g : outer)
    rows *= g.size;
}

Value Spread::offset(Loops &k, Value row) const {
  Value offset = k.idx(0);
  int64_t stride = hasCols ? cols : 1;
  for (const Group &g : llvm::reverse(outer)) {
    if (g.present) {
      offset = k.add(offset, k.mul(k.rem(row, g.size), stride));
      stride *= g.size;
    }
    row = k.div(row, g.size);
  }
  return offset;
}

codegen::Workspace dtc::workspaceOf(KernelBuilder &kb) {
  return codegen::Workspace([&kb](OpBuilder &b, Location, int64_t bytes) {
    OpBuilder::InsertionGuard guard(kb.b());
    kb.b().setInsertionPoint(b.getInsertionBlock(), b.getInsertionPoint());
    return kb.workspace(bytes);
  });
}
