//===- Dropout.cpp - Kernel of dropout ------------------------------------===//

#include "Loops.h"
#include "dtc/Codegen/VectorMath.h"

using namespace mlir;
using namespace dtc;

LogicalResult DropoutOp::emitKernel(KernelBuilder &kb) {
  Loops k(*this, kb);
  if (failed(k.check()))
    return failure();
  Value x = k.in[0], rows = k.in[3], positions = k.in[4];
  ArrayRef<int64_t> shape = k.inShape(0);
  int64_t seq = shape[1], cols = shape[2];
  bool perRow = k.inShape(4).size() == 2;
  double p = getP().convertToDouble();

  // The draw is that of VectorMath.h, with counter = (global row, position,
  // logical feature, 0xD0D0).
  std::array<Value, 2> key = codegen::emitDropoutKey(k.b, k.loc, kb.operand(1),
                                                     kb.operand(2), getSite());
  auto ints = VectorType::get({k.lanes}, k.b.getI32Type());
  for (Value &word : key)
    word = k.spread(word);
  Value steps = k.laneNumbers(k.b.getI32Type());
  Value tag = k.splatInt(ints, 0xD0D0), first = k.first(0, 2);
  Value scale = k.constant(1 / (1 - p)), zero = k.constant(0.0);

  k.forRows(shape[0] * seq, cols, [&](Value token) {
    Value row = k.spread(k.load(rows, k.div(token, seq)));
    Value position =
        k.spread(k.load(positions, perRow ? token : k.rem(token, seq)));
    Value base = k.mul(token, cols);
    k.forVectors(k.idx(0), k.idx(cols), [&](Value col, Value mask) {
      Value at = k.add(base, col);
      Value feature =
          k.op<arith::IndexCastOp>(k.b.getI32Type(), k.add(first, col));
      feature = k.op<arith::AddIOp>(k.spread(feature), steps);
      Value keep = codegen::emitDropoutKeep(
          k.b, k.loc, {row, position, feature, tag}, key, p);
      Value y = k.mulf(k.read(x, at, mask), scale);
      k.write(k.select(keep, y, zero), k.out[0], at, mask);
    });
  });
  return success();
}
