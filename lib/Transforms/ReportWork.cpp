//===- ReportWork.cpp - Bytes sent and pairs computed ---------------------===//
//
// What a step costs apart from its matrix products: the bytes that one rank
// sends, by collective, and for each piece of the sequence the pairs of query
// and key that causal attention visits.
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "dtc/Codegen/Attention.h"
#include "dtc/Codegen/EmitObject.h"
#include "dtc/Transforms/Passes.h"
#include "llvm/Support/Format.h"
#include <map>

namespace dtc {
#define GEN_PASS_DEF_REPORTWORK
#include "dtc/Transforms/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {
struct Traffic {
  int64_t calls = 0;
  double bytes = 0;
  void add(const Traffic &o, int64_t times) {
    calls += o.calls * times;
    bytes += o.bytes * static_cast<double>(times);
  }
};
using TrafficMap = std::map<std::string, Traffic>;

struct ReportWorkPass : dtc::impl::ReportWorkBase<ReportWorkPass> {
  using ReportWorkBase::ReportWorkBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> model = getPublicFunction(getOperation());
    if (failed(model))
      return signalPassFailure();
    SymbolTable symbols(getOperation());
    if (failed(getCallOrder(*model, symbols)))
      return signalPassFailure();
    llvm::raw_ostream &os = llvm::outs();
    os << "bytes sent by one rank in one step\n";
    TrafficMap all;
    collect(model->getBody().front(), 1, symbols, all);
    Traffic total;
    auto print = [&](StringRef name, const Traffic &t) {
      os << "  " << name << ": " << t.calls << " calls, "
         << llvm::format("%.0f", t.bytes) << " bytes\n";
    };
    for (auto &[name, t] : all) {
      print(name, t);
      total.add(t, 1);
    }
    print("total", total);
    auto target = codegen::targetInfo(cpu);
    if (!target) {
      model->emitError() << llvm::toString(target.takeError());
      return signalPassFailure();
    }
    printPairs(*model, *target, os);
  }

  void collect(Block &block, int64_t times, SymbolTable &symbols,
               TrafficMap &all);
  void printPairs(func::FuncOp model, const codegen::TargetInfo &target,
                  llvm::raw_ostream &os);
};
} // namespace

void ReportWorkPass::collect(Block &block, int64_t times, SymbolTable &symbols,
                             TrafficMap &all) {
  auto add = [&](Operation &op, ArrayRef<Axis> axes, double bytes,
                 int64_t count) {
    std::string name =
        op.getName().stripDialect().str() + " over " + toString(axes);
    all[name].add({1, bytes}, count);
  };
  for (Operation &op : block) {
    if (auto call = dyn_cast<func::CallOp>(op)) {
      auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
      collect(callee.getBody().front(), times, symbols, all);
    } else if (auto loop = dyn_cast<MicroBatchesOp>(op)) {
      collect(loop.getBody().front(),
              times * static_cast<int64_t>(loop.getCount()), symbols, all);
    } else if (auto ring = dyn_cast<RingOp>(op)) {
      // Shifts that are made and not used do not happen.
      Block &body = ring.getBody().front();
      auto blocks = static_cast<int64_t>(ring.getBlocks());
      for (auto [i, v] : llvm::enumerate(body.getTerminator()->getOperands()))
        if (auto shift = v.getDefiningOp<ShiftOp>()) {
          int64_t n = ring.needsLastShift(i) ? blocks : blocks - 1;
          DTensorType type = shift.getX().getType();
          add(*shift, type.getDimAxes(shift.getDim()),
              static_cast<double>(type.getLocalBytes()), times * n);
        }
    } else if (auto collective = dyn_cast<CollectiveOpInterface>(op)) {
      CollectiveSpec spec = collective.getSpec();
      if (!getInfo(spec.kind).movesData)
        continue;
      auto type = cast<DTensorType>(op.getOperand(0).getType());
      add(op, spec.axes, getBytesSent(spec, type), times);
    }
  }
}

/// Bits of an element of the program's attention.
static int64_t getAttentionBits(Operation *module) {
  int64_t bits = 32;
  module->walk([&](AttentionOp op) {
    // Kernels compute with f32 for bf16.
    bits = getWideType(op.getQ().getType().getElementType())
               .getIntOrFloatBitWidth();
  });
  return bits;
}

void ReportWorkPass::printPairs(func::FuncOp model,
                                const codegen::TargetInfo &target,
                                llvm::raw_ostream &os) {
  // The positions' order says the layout.
  std::optional<SequenceLayout> layout;
  int64_t parts = getMesh(model).getSize("cp"), length = 0;
  model.walk([&](Operation *op) {
    auto names = op->getAttrOfType<ArrayAttr>(attrs::dims);
    if (!names || names.size() != 1 || op->getNumResults() != 1)
      return;
    StringRef name = cast<StringAttr>(names[0]).getValue();
    auto type = cast<DTensorType>(op->getResult(0).getType());
    if (name == "seq" || name == "input_seq")
      length = type.getShape()[0];
    if (auto permute = dyn_cast<PermuteOp>(op)) {
      layout = permute.getLayout();
      parts = static_cast<int64_t>(permute.getParts());
    }
  });
  if (length == 0 || length % parts != 0)
    return;
  int64_t piece = length / parts;
  auto position = [&](int64_t index) {
    return layout ? getLayoutSource(*layout, index, length, parts) : index;
  };
  // Smallest and largest position of a tile of `size` tokens of one piece.
  auto tiles = [&](int64_t part, int64_t size) {
    SmallVector<std::pair<int64_t, int64_t>> out;
    for (int64_t i = 0; i < piece; i += size) {
      int64_t low = length, high = -1;
      for (int64_t j = i; j < std::min(piece, i + size); ++j) {
        low = std::min(low, position(part * piece + j));
        high = std::max(high, position(part * piece + j));
      }
      out.push_back({low, high});
    }
    return out;
  };
  os << "causal attention on each of " << parts << " pieces of " << piece
     << " tokens ("
     << (layout ? stringifySequenceLayout(*layout) : "contiguous")
     << ")\n  pairs:";
  int64_t least = INT64_MAX, most = 0;
  for (int64_t r = 0; r < parts; ++r) {
    int64_t pairs = 0;
    for (int64_t i = 0; i < piece; ++i)
      pairs += position(r * piece + i) + 1;
    least = std::min(least, pairs);
    most = std::max(most, pairs);
    os << " " << pairs;
  }
  os << llvm::format("\n  most over least: %.2f\n",
                     static_cast<double>(most) / static_cast<double>(least));
  for (bool backward : {false, true}) {
    codegen::AttentionTiles size = codegen::getAttentionTiles(
        piece, piece, getAttentionBits(getOperation()), backward, target);
    if (queryTile > 0)
      size.queries = queryTile;
    if (keyTile > 0)
      size.keys = keyTile;
    os << "  " << (backward ? "backward" : "forward") << " tiles of "
       << size.queries << " x " << size.keys << " executed:";
    for (int64_t r = 0; r < parts; ++r) {
      int64_t executed = 0;
      for (auto [queryLow, queryHigh] : tiles(r, size.queries))
        for (int64_t other = 0; other < parts; ++other)
          for (auto [keyLow, keyHigh] : tiles(other, size.keys))
            executed += keyLow <= queryHigh;
      os << " " << executed;
    }
    int64_t all = llvm::divideCeil(piece, size.queries) * parts *
                  llvm::divideCeil(piece, size.keys);
    os << " of " << all << " each\n";
  }
}
