//===- KernelsTest.cpp - Ops' kernels against their meaning ---------------===//
//
// Files of one-op functions: the kernel of each function's last op is compiled
// and compared with the op's interpretation, on every rank's piece, where
// padding is NaN, with one, two and three threads to the bit, and in place.
// What stands for f64 in the files is f64, f32 or bf16; with bf16 an op's wide
// values are f32, as its rule says.
// Integers need data: see unittests/Algebra/sample-ops.mlir.
//
//===----------------------------------------------------------------------===//
#include "OpKernel.h"
#include "dtc/Interpreter/Pieces.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "gtest/gtest.h"
#include <cmath>
#include <fstream>
#include <random>
#include <sstream>

using namespace mlir;
using namespace dtc;
using namespace dtc::test;

namespace {

/// Numbers for one operand, from what test.data says.
Array drawData(ArrayRef<int64_t> shape, StringRef kind, bool integer,
               std::mt19937 &gen) {
  Array x(shape);
  int64_t last = shape.empty() ? 1 : shape.back();
  auto [word, argument] = kind.split(' ');
  double number = 0;
  if (!argument.empty())
    EXPECT_FALSE(argument.getAsDouble(number)) << kind.str();
  auto below = [&](double n) { return double(gen() % uint64_t(n)); };
  std::normal_distribution<double> normal;
  const double optimizer[] = {0.01, 0.9, 0.95, 1e-8, 0.1, 0.271, 0.142625, 1};
  std::vector<int64_t> order(last);
  for (int64_t i = 0; i < x.count(); ++i) {
    int64_t col = i % last;
    if (col == 0) {
      for (int64_t j = 0; j < last; ++j)
        order[j] = j;
      std::shuffle(order.begin(), order.end(), gen);
    }
    if (word == "below")
      x[i] = below(number);
    else if (word == "labels")
      x[i] = gen() % 4 == 0 ? -100 : below(number);
    else if (word == "permutation")
      x[i] = order[col];
    else if (word == "documents")
      x[i] = col == 0 ? 0 : x[i - 1] + (gen() % 3 == 0);
    else if (word == "iota")
      x[i] = col;
    else if (word == "value")
      x[i] = number;
    else if (word == "positive")
      x[i] = 0.1 + std::fabs(normal(gen));
    else if (word == "optimizer")
      x[i] = optimizer[col];
    else
      x[i] = normal(gen);
  }
  EXPECT_TRUE(!integer || !kind.empty()) << "integers need test.data";
  return x;
}

struct Buffer {
  Type type;
  Guarded<char> bytes;

  Buffer(Type type, int64_t count)
      : type(type), bytes(count * type.getIntOrFloatBitWidth() / 8) {}
  int64_t count() { return bytes.size() * 8 / type.getIntOrFloatBitWidth(); }
  template <typename T> T *as() { return reinterpret_cast<T *>(bytes.data()); }
  void set(const Array &x) {
    for (int64_t i = 0; i < x.count(); ++i) {
      bool poison = std::isnan(x[i]);
      if (type.isF32())
        as<float>()[i] = float(x[i]);
      else if (type.isF64())
        as<double>()[i] = x[i];
      else if (type.isBF16())
        as<uint16_t>()[i] =
            poison ? 0x7fc0 : llvm::bit_cast<uint32_t>(float(x[i])) >> 16;
      else
        as<int32_t>()[i] = poison ? INT32_MIN + 7 : int32_t(x[i]);
    }
  }
  double get(int64_t i) {
    return type.isF32()   ? as<float>()[i]
           : type.isF64() ? as<double>()[i]
           : type.isBF16()
               ? llvm::bit_cast<float>(uint32_t(as<uint16_t>()[i]) << 16)
               : as<int32_t>()[i];
  }
};

double rounded(Type type, double x) {
  return type.isF32() ? float(x) : roundTo(type, x);
}

/// Gives bf16 to all values that the ops' rules do not say are wide.
void narrow(func::FuncOp f) {
  Type bf16 = BFloat16Type::get(f.getContext());
  for (Operation &op : f.front().without_terminator()) {
    FactorRule rule = cast<FactorOpInterface>(op).getFactorRule();
    SmallVector<Value> values(op.getOperands());
    llvm::append_range(values, op.getResults());
    for (auto [i, v] : llvm::enumerate(values)) {
      auto type = cast<DTensorType>(v.getType());
      if (type.isFloat() && !rule.isWide(i) && !rule.isUnrelated(i))
        v.setType(type.withElementType(bf16));
    }
  }
  f.setFunctionType(
      FunctionType::get(f.getContext(), f.front().getArgumentTypes(),
                        f.front().getTerminator()->getOperandTypes()));
}

/// One op on one rank.
struct Case {
  std::string name, symbol;
  Operation *op;
  std::vector<Array> operands;
  FactorRule rule;
  SmallVector<AxisList> factorAxes;
  std::unique_ptr<FactorPiece> piece;
  int64_t scratchBytes = 0;
};

class Runner {
public:
  /// `element`: what stands for f64 in the file: f64, f32 or bf16.
  Runner(std::string path, std::string element, std::string cpu = "native",
         std::string only = "")
      : module(cpu), element(element) {
    MLIRContext *context = module.builder().getContext();
    context->loadDialect<DTCDialect, func::FuncDialect>();
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    std::string source = text.str();
    std::string parsed = element == "bf16" ? "f32" : element;
    for (const char *end : {">", ","})
      for (size_t at = 0; (at = source.find("f64" + std::string(end), at)) !=
                          std::string::npos;
           ++at)
        source.replace(at, 3, parsed);
    ops = parseSourceString<ModuleOp>(source, ParserConfig(context), path);
    if (!ops) {
      ADD_FAILURE() << "cannot parse " << path;
      return;
    }
    mesh = getMesh(*ops);
    if (element == "bf16") {
      ops->walk(narrow);
      if (failed(verify(*ops))) {
        ADD_FAILURE() << "no types of bf16 in " << path;
        return;
      }
    }
    // A function beside a module would be seen in its place.
    EXPECT_TRUE(ops->getOps<ModuleOp>().empty()) << path;
    for (auto f : ops->getOps<func::FuncOp>())
      if (f.getName().contains(only))
        for (int64_t rank = 0; rank < (isCut(f) ? mesh.getNumRanks() : 1);
             ++rank)
          add(f, rank);
  }

  void run() {
    if (cases.empty())
      return;
    module.compile();
    for (std::unique_ptr<Case> &c : cases)
      check(*c);
  }

private:
  static bool isCut(func::FuncOp f) {
    for (Operation &op : f.front().without_terminator())
      for (Type type :
           llvm::concat<const Type>(llvm::to_vector(op.getOperandTypes()),
                                    llvm::to_vector(op.getResultTypes())))
        if (!cast<DTensorType>(type).getNamedAxes().empty())
          return true;
    return false;
  }

  void add(func::FuncOp f, int64_t rank) {
    Operation *op = f.front().getTerminator()->getPrevNode();
    if (!isa<KernelOpInterface>(op))
      return;
    SCOPED_TRACE(f.getName().str());
    // In its place from the start: the piece refers to the rule.
    Case &c = *cases.emplace_back(std::make_unique<Case>());
    c.name = (f.getName() + " on rank " + Twine(rank)).str();
    c.symbol = (f.getName() + "_" + Twine(rank)).str();
    c.op = op;
    std::mt19937 gen(std::hash<std::string>()(c.symbol));
    // Values before the op, each at the precision of its type.
    DenseMap<Value, Array> values;
    for (auto [i, argument] : llvm::enumerate(f.getArguments())) {
      auto type = cast<DTensorType>(argument.getType());
      auto kind = f.getArgAttrOfType<StringAttr>(i, "test.data");
      Array x = drawData(type.getLocalShape(), kind ? kind.getValue() : "",
                         type.isInteger(), gen);
      for (double &v : x.data)
        v = rounded(type.getElementType(), v);
      values[argument] = x;
    }
    auto indexOf = [&](ArrayRef<Axis> axes) {
      return mesh.getIndex(rank, axes);
    };
    for (Operation &each : f.front().without_terminator()) {
      FactorRule rule = cast<FactorOpInterface>(each).getFactorRule();
      SmallVector<DTensorType> types = getOperandTensorTypes(&each);
      llvm::append_range(types, getResultTensorTypes(&each));
      SmallVector<AxisList> axes = getFactorAxes(rule, types);
      std::vector<Array> operands;
      for (Value v : each.getOperands())
        operands.push_back(values[v]);
      if (&each == op) {
        c.rule = rule;
        c.factorAxes = axes;
        c.piece = std::make_unique<FactorPiece>(c.rule, axes, indexOf);
        FactorSet all;
        all.set();
        for (unsigned i = 0; i < operands.size(); ++i)
          forEachIndex(operands[i].shape, [&](ArrayRef<int64_t> index) {
            if (!c.piece->inside(i, index, all))
              operands[i](index) = NAN;
          });
        c.operands = std::move(operands);
        break;
      }
      FactorPiece piece(rule, axes, indexOf);
      for (auto [result, array] : llvm::zip_equal(
               each.getResults(),
               cast<MeaningOpInterface>(each).interpret(piece, operands))) {
        Type type = cast<DTensorType>(result.getType()).getElementType();
        for (double &v : array.data)
          v = rounded(type, v);
        values[result] = array;
      }
    }

    std::optional<int64_t> bytes =
        addOpKernel(module, c.symbol, op, c.rule, c.factorAxes);
    if (bytes) {
      c.scratchBytes = *bytes;
      return;
    }
    // Blocks of a ring are made for one rank each.
    EXPECT_TRUE(f.getName().ends_with("_blocks")) << "the op refuses";
    cases.pop_back();
  }

  void check(Case &c) {
    SCOPED_TRACE(c.name + " in " + element);
    auto elementOf = [](Value v) {
      return cast<DTensorType>(v.getType()).getElementType();
    };
    std::vector<Array> expected;
    for (Array &x : cast<MeaningOpInterface>(c.op).interpret(
             *c.piece, ArrayRef<Array>(c.operands)))
      expected.push_back(x);
    std::vector<int64_t> table;
    for (const Factor &f : c.rule.factors) {
      table.push_back(c.piece->first(f.name));
      table.push_back(c.piece->valid(f.name));
    }
    table.resize(std::max<size_t>(1, table.size()));
    FactorSet all;
    all.set();

    std::vector<std::vector<char>> reference;
    for (bool inPlace : {false, true})
      for (int threads : {1, 2, 3}) {
        std::vector<std::unique_ptr<Buffer>> buffers;
        SmallVector<void *> pointers;
        for (auto [v, x] : llvm::zip_equal(c.op->getOperands(), c.operands)) {
          buffers.push_back(std::make_unique<Buffer>(elementOf(v), x.count()));
          buffers.back()->set(x);
          pointers.push_back(buffers.back()->bytes.data());
        }
        SmallVector<Buffer *> results;
        bool shared = false;
        for (auto [r, v] : llvm::enumerate(c.op->getResults())) {
          auto operand = cast<KernelOpInterface>(c.op).getInPlaceOperand(r);
          if (inPlace && operand) {
            results.push_back(buffers[*operand].get());
            shared = true;
          } else {
            buffers.push_back(
                std::make_unique<Buffer>(elementOf(v), expected[r].count()));
            memset(buffers.back()->bytes.data(), 0xff,
                   buffers.back()->bytes.size());
            results.push_back(buffers.back().get());
          }
          pointers.push_back(results.back()->bytes.data());
        }
        if (inPlace && !shared)
          continue;
        Guarded<char> scratch(c.scratchBytes);
        memset(scratch.data(), 0xff, c.scratchBytes);
        pointers.push_back(table.data());
        pointers.push_back(scratch.data());
        setThreads(threads);
        callOpKernel(module.symbol(c.symbol), pointers);

        bool isFirst = reference.empty();
        unsigned operands = c.op->getNumOperands();
        for (unsigned r = 0; r < results.size(); ++r) {
          Buffer *result = results[r];
          const Array &want = expected[r];
          ASSERT_EQ(result->count(), want.count()) << "result " << r;
          double tolerance = result->type.isF64() ? 2e-13 : 5e-6;
          // Rounded once: half a unit of the exact number's.
          double unit = result->type.isBF16() ? 0x1p-8 : 0;
          double worst = 0, magnitude = 1;
          for (double x : want.data)
            if (std::isfinite(x))
              magnitude = std::max(magnitude, std::fabs(x));
          SmallVector<int64_t> where;
          std::vector<char> bits;
          size_t bytes = result->type.getIntOrFloatBitWidth() / 8;
          forEachIndex(want.shape, [&](ArrayRef<int64_t> index) {
            if (!c.piece->inside(operands + r, index, all))
              return;
            int64_t i = want.offset(index);
            bits.insert(bits.end(), result->as<char>() + i * bytes,
                        result->as<char>() + (i + 1) * bytes);
            double got = result->get(i), x = want[i];
            double error =
                std::fdim(std::fabs(got - x), unit * std::fabs(x)) / magnitude;
            if (got == x || (std::isnan(got) && std::isnan(x)))
              error = 0;
            if (!(error <= worst)) {
              worst = std::isnan(error) ? INFINITY : error;
              where.assign(index.begin(), index.end());
            }
          });
          if (isFirst) {
            EXPECT_LE(worst, tolerance)
                << "result " << r << " at ["
                << llvm::join(
                       llvm::map_range(
                           where, [](int64_t i) { return std::to_string(i); }),
                       ", ")
                << "] is " << result->get(want.offset(where)) << ", not "
                << want(where);
            reference.push_back(bits);
          } else {
            EXPECT_TRUE(bits == reference[r])
                << "result " << r << " has other bits with " << threads
                << " threads" << (inPlace ? ", in place" : "");
          }
        }
      }
  }

  KernelModule module;
  std::string element;
  OwningOpRef<ModuleOp> ops;
  MeshAttr mesh;
  std::vector<std::unique_ptr<Case>> cases;
};

/// DTC_ONLY: a part of the names of the functions to run.
void runFile(std::string path, std::string element,
             std::string cpu = "native") {
  const char *only = getenv("DTC_ONLY");
  Runner(path, element, cpu, only ? only : "").run();
}

TEST(Kernels, SampleOpsF64) { runFile(DTC_SAMPLE_OPS, "f64"); }
TEST(Kernels, SampleOpsF32) { runFile(DTC_SAMPLE_OPS, "f32"); }
TEST(Kernels, SampleOpsBF16) { runFile(DTC_SAMPLE_OPS, "bf16"); }
TEST(Kernels, LargeF32) { runFile(DTC_KERNEL_OPS, "f32"); }
TEST(Kernels, LargeF64) { runFile(DTC_KERNEL_OPS, "f64"); }
TEST(Kernels, LargeBF16) { runFile(DTC_KERNEL_OPS, "bf16"); }
TEST(Kernels, LargeBF16Avx2) { runFile(DTC_KERNEL_OPS, "bf16", "haswell"); }
TEST(Kernels, LargeAvx2) { runFile(DTC_KERNEL_OPS, "f32", "haswell"); }

} // namespace
