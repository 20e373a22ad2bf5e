//===- VectorMath.cpp - Functions as inline vector code -------------------===//
#include "dtc/Codegen/VectorMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include <cmath>

using namespace mlir;
using namespace dtc::codegen;

namespace {

/// Element-wise operations on f32 and i32, scalars or vectors of one shape.
struct Lanes {
  OpBuilder &b;
  Location loc;
  Type floatType, intType;

  Lanes(OpBuilder &b, Location loc, Type like) : b(b), loc(loc) {
    auto shaped = [&](Type element) -> Type {
      if (auto v = dyn_cast<VectorType>(like))
        return v.clone(element);
      return element;
    };
    floatType = shaped(b.getF32Type());
    intType = shaped(b.getI32Type());
  }

  Value constant(Type type, Attribute element) {
    auto typed = cast<TypedAttr>(element);
    if (auto v = dyn_cast<VectorType>(type))
      typed = DenseElementsAttr::get(v, element);
    return arith::ConstantOp::create(b, loc, typed);
  }
  Value f(double v) { return constant(floatType, b.getF32FloatAttr(v)); }
  Value i(int32_t v) { return constant(intType, b.getI32IntegerAttr(v)); }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }
  Value div(Value x, Value y) { return arith::DivFOp::create(b, loc, x, y); }
  Value fma(Value x, Value y, Value z) {
    // Contracted where the CPU can: a call of fmaf elsewhere would be slow.
    auto flag = arith::FastMathFlags::contract;
    Value p = arith::MulFOp::create(b, loc, x, y, flag);
    return arith::AddFOp::create(b, loc, p, z, flag);
  }
  Value bits(Value x) { return arith::BitcastOp::create(b, loc, intType, x); }
  Value ofBits(Value x) {
    return arith::BitcastOp::create(b, loc, floatType, x);
  }
  Value addi(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value andi(Value x, Value y) { return arith::AndIOp::create(b, loc, x, y); }
  Value ori(Value x, Value y) { return arith::OrIOp::create(b, loc, x, y); }
  Value xori(Value x, Value y) { return arith::XOrIOp::create(b, loc, x, y); }
  Value shl(Value x, int n) { return arith::ShLIOp::create(b, loc, x, i(n)); }
  Value shr(Value x, int n) { return arith::ShRUIOp::create(b, loc, x, i(n)); }
  Value cmp(arith::CmpFPredicate p, Value x, Value y) {
    return arith::CmpFOp::create(b, loc, p, x, y);
  }
  Value select(Value c, Value x, Value y) {
    return arith::SelectOp::create(b, loc, c, x, y);
  }
  Value horner(Value x, ArrayRef<double> coefficients) {
    Value p = f(coefficients[0]);
    for (double c : coefficients.drop_front())
      p = fma(p, x, f(c));
    return p;
  }
};

} // namespace

static bool isF32(Value x) { return getElementTypeOrSelf(x).isF32(); }

static Value exponential(OpBuilder &b, Location loc, Value x, bool bounded) {
  if (!isF32(x))
    return math::ExpOp::create(b, loc, x);
  Lanes l(b, loc, x.getType());
  // x = n ln 2 + r. Adding 1.5 * 2^23 rounds to an integer, whose low bits are
  // then those of the sum.
  Value magic = l.f(12582912.0);
  Value t = l.fma(x, l.f(1.44269504088896341), magic);
  Value n = l.sub(t, magic);
  Value r = l.fma(n, l.f(-0.693359375), x);
  r = l.fma(n, l.f(2.12194440e-4), r);
  Value p = l.horner(r, {1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3,
                         4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1});
  Value y = l.add(l.fma(p, l.mul(r, r), r), l.f(1.0));
  // A product with 2^n, unlike an addition to the exponent's bits, keeps NaN.
  Value power = l.shl(l.bits(t), 23);
  if (bounded) {
    y = l.mul(y, l.ofBits(l.addi(power, l.i(0x3f800000))));
  } else {
    // n may be 128, which has no float: 2 * 2^(n-1).
    y = l.mul(l.add(y, y), l.ofBits(l.addi(power, l.i(0x3f000000))));
    y = l.select(l.cmp(arith::CmpFPredicate::OGT, x, l.f(88.7228394)),
                 l.f(INFINITY), y);
  }
  return l.select(l.cmp(arith::CmpFPredicate::OLT, x, l.f(-86.9)), l.f(0.0), y);
}

Value dtc::codegen::emitExp(OpBuilder &b, Location loc, Value x) {
  return exponential(b, loc, x, /*bounded=*/false);
}

Value dtc::codegen::emitExpBounded(OpBuilder &b, Location loc, Value x) {
  return exponential(b, loc, x, /*bounded=*/true);
}

Value dtc::codegen::emitLog(OpBuilder &b, Location loc, Value x) {
  if (!isF32(x))
    return math::LogOp::create(b, loc, x);
  Lanes l(b, loc, x.getType());
  // x = m 2^e with m in [sqrt(1/2), sqrt(2)).
  Value bits = l.bits(x);
  Value shifted = l.addi(bits, l.i(0x3f800000 - 0x3f3504f3));
  Value e = l.addi(l.shr(shifted, 23), l.i(-127));
  Value m = l.ofBits(l.addi(l.andi(shifted, l.i(0x007fffff)), l.i(0x3f3504f3)));
  Value f = l.sub(m, l.f(1.0));
  Value ef = arith::SIToFPOp::create(b, loc, l.floatType, e);
  Value z = l.mul(f, f);
  Value p = l.horner(f, {7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1,
                         -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
                         2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1});
  Value y = l.mul(l.mul(p, f), z);
  y = l.fma(ef, l.f(-2.12194440e-4), y);
  y = l.fma(z, l.f(-0.5), y);
  y = l.add(f, y);
  y = l.fma(ef, l.f(0.693359375), y);
  // Zero (and denormals, which count as zero), negative numbers, infinity, NaN.
  y = l.select(
      l.cmp(arith::CmpFPredicate::OLT, x, l.f(1.17549435e-38)),
      l.select(l.cmp(arith::CmpFPredicate::OLE, x, l.f(-1.17549435e-38)),
               l.f(NAN), l.f(-INFINITY)),
      y);
  Value finite = l.cmp(arith::CmpFPredicate::OLT, x, l.f(INFINITY));
  return l.select(finite, y, x);
}

Value dtc::codegen::emitTanh(OpBuilder &b, Location loc, Value x) {
  if (!isF32(x))
    return math::TanhOp::create(b, loc, x);
  Lanes l(b, loc, x.getType());
  Value sign = l.andi(l.bits(x), l.i(INT32_MIN));
  Value a = l.ofBits(l.andi(l.bits(x), l.i(INT32_MAX)));
  // Near zero an odd polynomial, else 1 - 2 / (exp(2 |x|) + 1).
  Value z = l.mul(x, x);
  Value p = l.horner(z, {-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2,
                         1.33314422036e-1, -3.33332819422e-1});
  Value small = l.fma(l.mul(p, z), x, x);
  Value ex = emitExp(b, loc, l.add(a, a));
  Value large = l.sub(l.f(1.0), l.div(l.f(2.0), l.add(ex, l.f(1.0))));
  large = l.ofBits(l.ori(l.bits(large), sign));
  // Ordered: a NaN takes the polynomial, which keeps it.
  Value isLarge = l.cmp(arith::CmpFPredicate::OGT, a, l.f(0.625));
  return l.select(isLarge, large, small);
}

namespace {

template <typename Op, Value (*emit)(OpBuilder &, Location, Value)>
struct InlineMath : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!isF32(op.getOperand()))
      return failure();
    rewriter.replaceOp(op, emit(rewriter, op.getLoc(), op.getOperand()));
    return success();
  }
};

} // namespace

void dtc::codegen::populateInlineMathPatterns(RewritePatternSet &patterns) {
  patterns
      .add<InlineMath<math::ExpOp, emitExp>, InlineMath<math::LogOp, emitLog>,
           InlineMath<math::TanhOp, emitTanh>>(patterns.getContext());
}

/// The halves of x * m, 32-bit unsigned.
static std::pair<Value, Value> wideProduct(Lanes &l, Value x, uint32_t m) {
  OpBuilder &b = l.b;
  Location loc = l.loc;
  auto vec = dyn_cast<VectorType>(l.intType);
  if (!vec || vec.getNumElements() % 2) {
    auto product = arith::MulUIExtendedOp::create(b, loc, x, l.i(m));
    return {product.getHigh(), product.getLow()};
  }
  // Even and odd lanes apart, each as one product of 64 bits, which is what
  // the processor has. (Lane 2i is the low half of 64-bit lane i.)
  auto wide = VectorType::get({vec.getNumElements() / 2}, b.getI64Type());
  auto splat = [&](uint64_t v) -> Value {
    return arith::ConstantOp::create(
        b, loc,
        DenseElementsAttr::get(
            wide, Attribute(b.getI64IntegerAttr(static_cast<int64_t>(v)))));
  };
  Value low = splat(0xffffffffu), high = splat(0xffffffff00000000u);
  Value shift = splat(32), factor = splat(m);
  Value both = vector::BitCastOp::create(b, loc, wide, x);
  auto andi = [&](Value p, Value q) -> Value {
    return arith::AndIOp::create(b, loc, p, q);
  };
  Value even = arith::MulIOp::create(b, loc, andi(both, low), factor);
  Value odd = arith::MulIOp::create(
      b, loc, arith::ShRUIOp::create(b, loc, both, shift), factor);
  Value hi = arith::OrIOp::create(
      b, loc, arith::ShRUIOp::create(b, loc, even, shift), andi(odd, high));
  Value lo = arith::OrIOp::create(b, loc, andi(even, low),
                                  arith::ShLIOp::create(b, loc, odd, shift));
  return {vector::BitCastOp::create(b, loc, vec, hi),
          vector::BitCastOp::create(b, loc, vec, lo)};
}

std::array<Value, 4> dtc::codegen::emitPhilox(OpBuilder &b, Location loc,
                                              std::array<Value, 4> c,
                                              std::array<Value, 2> k) {
  Lanes l(b, loc, c[0].getType());
  for (int round = 0; round < 10; ++round) {
    auto [hi0, lo0] = wideProduct(l, c[0], 0xD2511F53u);
    auto [hi1, lo1] = wideProduct(l, c[2], 0xCD9E8D57u);
    c = {l.xori(l.xori(hi1, c[1]), k[0]), lo1, l.xori(l.xori(hi0, c[3]), k[1]),
         lo0};
    if (round == 9)
      break;
    k[0] = l.addi(k[0], l.i(static_cast<int32_t>(0x9E3779B9u)));
    k[1] = l.addi(k[1], l.i(static_cast<int32_t>(0xBB67AE85u)));
  }
  return c;
}

std::array<Value, 2> dtc::codegen::emitDropoutKey(OpBuilder &b, Location loc,
                                                  Value rng, Value layer,
                                                  int64_t site) {
  Lanes l(b, loc, b.getI32Type());
  auto at = [&](int64_t i) -> Value {
    Value index = arith::ConstantIndexOp::create(b, loc, i);
    return memref::LoadOp::create(b, loc, rng, ValueRange{index});
  };
  Value mixed = arith::MulIOp::create(b, loc, at(1),
                                      l.i(static_cast<int32_t>(0x9E3779B9u)));
  Value number = memref::LoadOp::create(b, loc, layer, ValueRange{});
  Value stream =
      l.addi(arith::MulIOp::create(b, loc, number, l.i(16)), l.i(site));
  return {l.xori(at(0), mixed), stream};
}

Value dtc::codegen::emitDropoutKeep(OpBuilder &b, Location loc,
                                    std::array<Value, 4> counter,
                                    std::array<Value, 2> key, double p) {
  Lanes l(b, loc, counter[0].getType());
  auto threshold = static_cast<uint32_t>(std::floor(p * 4294967296.0));
  Value word = emitPhilox(b, loc, counter, key)[0];
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, word,
                               l.i(static_cast<int32_t>(threshold)));
}
