//===- Rotary.cpp - Kernel of rotary position embeddings ------------------===//

#include "Loops.h"
#include <cmath>

using namespace mlir;
using namespace dtc;

/// Cosine and sine of a vector of f64, of arguments up to about 10^7: positions
/// in the thousands leave f32 no digits of the angle.
static std::pair<Value, Value> cosSin(Loops &k, VectorType vec, Value x) {
  auto c = [&](double v) { return k.splat(vec, v); };
  // x = n pi/2 + r. Adding 1.5 * 2^52 rounds to an integer, whose low bits are
  // then those of the sum.
  Value magic = c(6755399441055744.0);
  Value shifted = k.addf(k.mulf(x, c(2 / M_PI)), magic);
  Value n = k.subf(shifted, magic);
  // pi/2 in three parts; products with the first two are exact for n < 2^20.
  Value r = k.fma(n, c(-0x1.921fb544p+0), x);
  r = k.fma(n, c(-0x1.0b4611a6p-34), r);
  r = k.fma(n, c(-0x1.3198a2e037073p-69), r);
  Value z = k.mulf(r, r);
  auto horner = [&](ArrayRef<double> coefficients) {
    Value p = c(coefficients[0]);
    for (double d : coefficients.drop_front())
      p = k.fma(p, z, c(d));
    return p;
  };
  // Taylor series to beyond the last digit at pi/4.
  Value sine =
      horner({1.0 / 355687428096000, -1.0 / 1307674368000, 1.0 / 6227020800,
              -1.0 / 39916800, 1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6});
  sine = k.fma(k.mulf(sine, z), r, r);
  Value cosine =
      horner({1.0 / 20922789888000, -1.0 / 87178291200, 1.0 / 479001600,
              -1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24, -0.5});
  cosine = k.fma(cosine, z, c(1.0));
  auto ints = VectorType::get(vec.getShape(), k.b.getI64Type());
  Value quadrant = k.op<arith::BitcastOp>(ints, shifted);
  auto bit = [&](Value v, int64_t b) -> Value {
    Value masked = k.op<arith::AndIOp>(v, k.splatInt(ints, b));
    return k.ne(masked, k.splatInt(ints, 0));
  };
  auto negateIf = [&](Value condition, Value v) {
    return k.select(condition, k.op<arith::NegFOp>(v), v);
  };
  Value odd = bit(quadrant, 1);
  Value next = k.op<arith::AddIOp>(quadrant, k.splatInt(ints, 1));
  return {negateIf(bit(next, 2), k.select(odd, sine, cosine)),
          negateIf(bit(quadrant, 2), k.select(odd, cosine, sine))};
}

LogicalResult RotaryOp::emitKernel(KernelBuilder &kb) {
  Loops k(*this, kb);
  if (failed(k.check()))
    return failure();
  ArrayRef<int64_t> shape = k.inShape(0);
  int64_t batch = shape[0], seq = shape[1], heads = shape[2];
  int64_t half = shape[3] / 2, stride = ceilDiv(half, k.lanes) * k.lanes;
  bool perRow = k.inShape(1).size() == 2;
  int64_t places = perRow ? batch * seq : seq;
  Type wide = k.b.getF64Type();
  SmallVector<Value> buffers = k.scratch({{stride, wide},
                                          {places * stride, k.element},
                                          {places * stride, k.element}});
  Value frequencies = buffers[0], cosines = buffers[1], sines = buffers[2];

  double theta = getTheta().convertToDouble();
  for (int64_t i = 0; i < stride; ++i) {
    double f = i < half ? std::pow(theta, -2.0 * i / shape[3]) : 0.0;
    k.store(k.number(f, wide), frequencies, k.idx(i));
  }
  auto wideVec = VectorType::get({k.lanes}, wide);
  // One angle a position and pair, for all heads.
  k.forRows(places, stride * 16, [&](Value place) {
    Value position = k.toFloat(k.load(k.in[1], place), wide);
    position = k.spread(position);
    Value base = k.mul(place, stride);
    k.loop(k.idx(0), k.idx(stride), k.lanes, [&](Value i) {
      Value angle = k.mulf(k.read(frequencies, i), position);
      auto [cosine, sine] = cosSin(k, wideVec, angle);
      if (getInverse())
        sine = k.op<arith::NegFOp>(sine);
      k.write(k.toFloat(cosine, k.vec), cosines, k.add(base, i));
      k.write(k.toFloat(sine, k.vec), sines, k.add(base, i));
    });
  });
  k.forRows(batch * seq, heads * shape[3], [&](Value token) {
    Value angles = k.mul(perRow ? token : k.rem(token, seq), stride);
    Value base = k.mul(token, heads * shape[3]);
    k.loop(k.idx(0), k.idx(heads), 1, [&](Value head) {
      Value low = k.add(base, k.mul(head, shape[3]));
      k.forVectors(k.idx(0), k.idx(half), [&](Value i, Value mask) {
        Value at = k.add(low, i), other = k.add(at, half);
        Value x = k.read(k.in[0], at, mask), y = k.read(k.in[0], other, mask);
        Value c = k.read(cosines, k.add(angles, i));
        Value s = k.read(sines, k.add(angles, i));
        Value minusY = k.op<arith::NegFOp>(y);
        k.write(k.fma(x, c, k.mulf(minusY, s)), k.out[0], at, mask);
        k.write(k.fma(x, s, k.mulf(y, c)), k.out[0], other, mask);
      });
    });
  });
  return success();
}
