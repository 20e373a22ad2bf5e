//===- Attention.cpp - Kernels of attention -------------------------------===//

#include "dtc/Codegen/Attention.h"
#include "Loops.h"

using namespace mlir;
using namespace dtc;

/// Documents without a batch, repeated for each of its rows.
static Value repeatRows(Loops &k, Value memory, int64_t byte, Value documents,
                        int64_t batch) {
  auto type = cast<MemRefType>(documents.getType());
  int64_t length = type.getNumElements();
  Value target = k.op<memref::ViewOp>(
      MemRefType::get({batch, length}, type.getElementType()), memory,
      k.idx(byte), ValueRange{});
  k.loop(k.idx(0), k.idx(batch), 1, [&](Value row) {
    k.loop(k.idx(0), k.idx(length), 1, [&](Value i) {
      k.op<memref::StoreOp>(k.load(documents, i), target, ValueRange{row, i});
    });
  });
  return target;
}

/// A rank computes one block of a ring; several would be a batch of their own.
template <typename Op> static LogicalResult checkBlocks(Op op) {
  int64_t pieces = op.getQ().getType().getDims()[1].getProduct();
  if (static_cast<int64_t>(op.getBlocks()) <= std::max<int64_t>(pieces, 1))
    return success();
  return op.emitOpError("has no CPU kernel for ")
         << op.getBlocks() << " blocks on " << pieces << " ranks";
}

/// What both directions read. `firstOptional` is the position of q_documents
/// among the op's declared operands.
template <typename Op>
static std::pair<codegen::AttentionSpec, codegen::AttentionInputs>
getInputs(Op op, Loops &k, unsigned firstOptional) {
  KernelBuilder &kb = k.kb;
  codegen::AttentionSpec spec;
  ArrayRef<int64_t> q = k.inShape(0), keys = k.inShape(1);
  spec.batch = q[0];
  spec.queries = q[1];
  spec.keys = keys[1];
  spec.kvHeads = keys[2];
  spec.group = q[2] / keys[2];
  spec.headDim = q[3];
  spec.causal = op.getCausal();
  spec.scale = op.getScale().convertToDouble();
  spec.dropout = op.getDropout().convertToDouble();
  spec.site = op.getSite();

  codegen::AttentionInputs in;
  in.q = kb.operand(0);
  in.k = kb.operand(1);
  in.v = kb.operand(2);
  in.posQ = kb.operand(3);
  in.posK = kb.operand(4);
  auto optional = [&](unsigned i) -> Value {
    auto [start, count] = op.getODSOperandIndexAndLength(firstOptional + i);
    return count ? kb.operand(start) : Value();
  };
  in.docQ = optional(0);
  in.docK = optional(1);
  if (in.docQ && cast<MemRefType>(in.docQ.getType()).getRank() == 1) {
    codegen::WorkspaceLayout layout;
    int64_t first = layout.reserve(spec.batch * spec.queries, 32);
    int64_t second = layout.reserve(spec.batch * spec.keys, 32);
    Value memory = kb.scratch(layout.bytes);
    in.docQ = repeatRows(k, memory, first, in.docQ, spec.batch);
    in.docK = repeatRows(k, memory, second, in.docK, spec.batch);
  }
  if (spec.dropout > 0) {
    in.rng = optional(2);
    in.layer = optional(3);
    in.rows = optional(4);
    // Heads are groups times members; a piece of them is consecutive.
    const DimFactors &heads = k.rule.value(0)[2];
    const Factor &group = k.rule.factors[heads[0]];
    const Factor &member = k.rule.factors[heads[1]];
    in.headOffset =
        k.add(k.mul(kb.first(group.name), member.size), kb.first(member.name));
  }
  return {spec, in};
}

LogicalResult AttentionOp::emitKernel(KernelBuilder &kb) {
  Loops k(*this, kb);
  if (failed(k.check()) || failed(checkBlocks(*this)))
    return failure();
  auto [spec, in] = getInputs(*this, k, 5);
  codegen::Workspace workspace = workspaceOf(kb);
  return codegen::emitAttention(k.b, k.loc, spec, in, kb.result(0),
                                kb.result(1), workspace, kb.getTarget());
}

LogicalResult AttentionGradOp::emitKernel(KernelBuilder &kb) {
  Loops k(*this, kb);
  if (failed(k.check()) || failed(checkBlocks(*this)))
    return failure();
  auto [spec, in] = getInputs(*this, k, 8);
  codegen::Workspace workspace = workspaceOf(kb);
  return codegen::emitAttentionBackward(
      k.b, k.loc, spec, in, kb.operand(5), kb.operand(6), kb.operand(7),
      kb.result(0), kb.result(1), kb.result(2), workspace, kb.getTarget());
}
