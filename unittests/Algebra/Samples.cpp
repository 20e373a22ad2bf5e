//===- Samples.cpp - What the generated tests of ops work on --------------===//

#include "Samples.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <map>

using namespace mlir;
using namespace dtc;
using namespace dtc::test;

constexpr double tolerance = 1e-9;

//===----------------------------------------------------------------------===//
// Context and samples
//===----------------------------------------------------------------------===//

namespace {
/// Collects diagnostics instead of printing them.
class Messages {
public:
  Messages()
      : handler(&getContext(), [this](Diagnostic &diag) {
          text += (text.empty() ? "" : "; ") + diag.str();
          return success();
        }) {}
  std::string text;

private:
  ScopedDiagnosticHandler handler;
};

struct SampleFile {
  OwningOpRef<ModuleOp> module;
  std::vector<Sample> samples;
  std::string errors;
};
} // namespace

MLIRContext &dtc::test::getContext() {
  static MLIRContext *context = [] {
    DialectRegistry registry;
    registry.insert<DTCDialect, func::FuncDialect>();
    auto *ctx = new MLIRContext(registry, MLIRContext::Threading::DISABLED);
    ctx->allowUnregisteredDialects(); // for test.data
    ctx->loadAllAvailableDialects();
    return ctx;
  }();
  return *context;
}

static FailureOr<Array> drawData(StringRef kind, DTensorType type,
                                 Random &random) {
  Array x(type.getShape());
  StringRef word = kind.take_until([](char c) { return c == ' '; });
  StringRef rest = kind.drop_front(word.size()).ltrim();
  int64_t n = 0;
  double number = 0;
  int64_t row = x.shape.empty() ? 1 : x.shape.back();
  auto fill = [&](auto fn) {
    for (int64_t i = 0; i < x.count(); ++i)
      x[i] = fn(i);
    return x;
  };
  if (kind.empty() && type.isFloat())
    return fill([&](int64_t) { return random.normal(); });
  if (word == "positive")
    return fill([&](int64_t) { return 0.1 + std::abs(random.normal()); });
  if (word == "iota")
    return fill([&](int64_t i) { return i; });
  if (word == "value" && !rest.getAsDouble(number))
    return fill([&](int64_t) { return number; });
  if ((word == "below" || word == "labels") && !rest.getAsInteger(10, n))
    return fill([&](int64_t) -> double {
      double v = random.below(n);
      return word == "labels" && random.below(10) < 3 ? -100 : v;
    });
  if (word == "documents")
    return fill([&](int64_t i) {
      return i % row == 0 ? 0 : x[i - 1] + (random.below(3) == 0);
    });
  if (word == "permutation") {
    fill([&](int64_t i) { return i % row; });
    for (int64_t i = 0; i < x.count(); ++i)
      std::swap(x[i], x[i / row * row + random.below(i % row + 1)]);
    return x;
  }
  if (word == "optimizer")
    return ProgramData(0).getInput("optimizer", type, nullptr);
  return failure();
}

static LogicalResult loadSample(func::FuncOp func, Sample &sample) {
  sample.name = func.getSymName().str();
  Block &body = func.getBody().front();
  Operation *ret = body.getTerminator();
  sample.op = ret->getPrevNode();
  if (!sample.op || !isa<FactorOpInterface>(sample.op))
    return func.emitError("the last op must have FactorOpInterface");
  sample.rule = cast<FactorOpInterface>(sample.op).getFactorRule();
  MeshAttr mesh = MeshAttr::get(func.getContext(), {});
  Random random(1, sample.name);
  Environment env;
  for (auto [i, arg] : llvm::enumerate(body.getArguments())) {
    auto kind = func.getArgAttrOfType<StringAttr>(i, "test.data");
    FailureOr<Array> x = drawData(kind ? kind.getValue() : "",
                                  cast<DTensorType>(arg.getType()), random);
    if (failed(x))
      return func.emitError("argument ")
             << i << " has no or an unknown test.data";
    env[arg] = Pieces(1, *x);
  }
  for (Operation &op : body.without_terminator()) {
    SmallVector<const Pieces *> operands;
    for (Value v : op.getOperands())
      operands.push_back(&env.find(v)->second);
    FailureOr<SmallVector<Pieces>> results = interpretOp(&op, operands, mesh);
    if (failed(results))
      return failure();
    for (auto [v, x] : llvm::zip_equal(op.getResults(), *results))
      env[v] = x;
  }
  for (Value v : sample.op->getOperands())
    sample.operands.push_back(env.at(v)[0]);
  auto differentiable = dyn_cast<DifferentiableOpInterface>(sample.op);
  for (OpResult r : sample.op->getResults()) {
    sample.results.push_back(env.at(r)[0]);
    auto type = cast<DTensorType>(r.getType());
    bool has = differentiable && type.isFloat() &&
               differentiable.hasCotangent(r.getResultNumber());
    sample.cotangents.push_back(
        has ? std::optional<Array>(*drawData("", type, random)) : std::nullopt);
  }
  return success();
}

/// Builds, verifies and runs the op under types; fills results and gradients.
static Outcome runTyped(const Sample &sample, ArrayRef<DTensorType> types,
                        MeshAttr mesh, std::vector<Array> &results,
                        std::vector<std::optional<Array>> &gradients);

static SampleFile loadSamples() {
  SampleFile file;
  Messages messages;
  file.module = parseSourceFile<ModuleOp>(DTC_SAMPLE_OPS, &getContext());
  if (file.module)
    for (auto func : file.module->getOps<func::FuncOp>()) {
      Sample sample;
      if (failed(loadSample(func, sample)))
        continue;
      // The whole op's own numbers, from the same code on one rank.
      std::vector<Array> results;
      Outcome outcome =
          runTyped(sample, sample.logicalTypes(),
                   MeshAttr::get(&getContext(), {}), results, sample.gradients);
      if (outcome.verdict != Verdict::Right)
        emitError(func.getLoc()) << sample.name << ": " << outcome.message;
      file.samples.push_back(std::move(sample));
    }
  file.errors = messages.text;
  return file;
}

static const SampleFile &getSampleFile() {
  static const SampleFile *file = new SampleFile(loadSamples());
  return *file;
}

const std::vector<Sample> &dtc::test::getSamples() {
  return getSampleFile().samples;
}
std::string dtc::test::getSampleErrors() { return getSampleFile().errors; }

const Sample &dtc::test::getSample(StringRef name) {
  for (const Sample &s : getSamples())
    if (s.name == name)
      return s;
  llvm::report_fatal_error("no sample '" + name + "'");
}

bool Sample::isDifferentiable() const {
  return isa<DifferentiableOpInterface>(op);
}

std::vector<DTensorType> Sample::logicalTypes() const {
  std::vector<DTensorType> types;
  for (Type t : op->getOperandTypes())
    types.push_back(cast<DTensorType>(t));
  for (Type t : op->getResultTypes())
    types.push_back(cast<DTensorType>(t));
  return types;
}

//===----------------------------------------------------------------------===//
// Meshes and assignments
//===----------------------------------------------------------------------===//

Axis dtc::test::axis(StringRef name, int64_t size, int64_t pre) {
  return {StringAttr::get(&getContext(), name), pre, size};
}

TestMesh dtc::test::makeMesh(std::string name, ArrayRef<Axis> axes,
                             ArrayRef<Axis> atoms) {
  return {std::move(name), MeshAttr::get(&getContext(), axes),
          AxisList(atoms.empty() ? axes : atoms)};
}

std::vector<TestMesh> dtc::test::getMeshes() {
  return {
      makeMesh("A2", {axis("A", 2)}),
      makeMesh("A3", {axis("A", 3)}),
      makeMesh("A4", {axis("A", 4)}),
      makeMesh("A4 in parts", {axis("A", 4)}, {axis("A", 2), axis("A", 2, 2)}),
      makeMesh("A2 x B2", {axis("A", 2), axis("B", 2)}),
      makeMesh("A2 x B3", {axis("A", 2), axis("B", 3)}),
  };
}

std::vector<Assignment> dtc::test::getAssignments(const FactorRule &rule,
                                                  ArrayRef<Axis> atoms) {
  struct Use {
    SmallVector<unsigned, 2> factors;
    int mode = 0;
  };
  std::vector<Use> uses;
  for (unsigned f = 0; f < rule.factors.size(); ++f)
    uses.push_back({{f}});
  for (unsigned f = 0; f < rule.factors.size(); ++f)
    for (unsigned g = 0; g < f; ++g)
      uses.push_back({{g, f}});
  uses.push_back({{}, Assignment::invariant});
  uses.push_back({{}, Assignment::replicate});
  for (unsigned k = 0; k < rule.linearSets.size(); ++k)
    uses.push_back({{}, static_cast<int>(k)});

  std::vector<Assignment> out;
  SmallVector<int64_t> choices(atoms.size(), uses.size());
  forEachIndex(choices, [&](ArrayRef<int64_t> choice) {
    auto build = [&](bool reversed) {
      Assignment a;
      a.factors.resize(rule.factors.size());
      for (size_t k = 0; k < atoms.size(); ++k) {
        size_t i = reversed ? atoms.size() - 1 - k : k;
        const Use &use = uses[choice[i]];
        for (unsigned f : use.factors)
          a.factors[f].push_back(atoms[i]);
        if (use.factors.empty())
          a.others.push_back({atoms[i], use.mode});
      }
      return a;
    };
    Assignment a = build(false);
    bool shared =
        llvm::any_of(a.factors, [](const AxisList &l) { return l.size() > 1; });
    out.push_back(std::move(a));
    if (shared)
      out.push_back(build(true));
  });
  return out;
}

std::optional<std::vector<DTensorType>>
dtc::test::getTypes(const Sample &sample, const FactorRule &rule,
                    const Assignment &assignment, int64_t extra) {
  FactorRule out = rule;
  for (auto [f, axes] : llvm::zip_equal(out.factors, assignment.factors)) {
    int64_t k = product(axes);
    if (!f.even)
      f.padded = (f.size + extra + k - 1) / k * k;
    else if (f.size % k != 0)
      return std::nullopt;
  }
  std::vector<DTensorType> types;
  for (auto [v, like] : llvm::enumerate(sample.logicalTypes())) {
    DTensorType t = typeFor(out, assignment, v, like);
    if (!exists(t))
      return std::nullopt;
    types.push_back(t);
  }
  return types;
}

bool dtc::test::exists(DTensorType t) {
  Messages messages;
  return succeeded(DTensorType::verify(
      [] { return emitError(UnknownLoc::get(&getContext())); }, t.getShape(),
      t.getPadded(), t.getElementType(), t.getDims(), t.getPartial(),
      t.getMax(), t.getReplicate()));
}

//===----------------------------------------------------------------------===//
// Running an op under types
//===----------------------------------------------------------------------===//

namespace {
/// Records what a derivative gives. Forward values are their own saved ones.
class Recorder : public BackwardBuilder {
public:
  Recorder(OpBuilder &builder, Location loc, Operation *op)
      : BackwardBuilder(builder, loc), op(op), gradients(op->getNumOperands()) {
  }
  Value saved(Value forward) override { return forward; }
  Value cotangent(Value result) override { return cotangents.lookup(result); }
  bool wants(Value operand) override {
    return cast<DTensorType>(operand.getType()).isFloat();
  }
  void add(Value operand, Value cotangent) override {
    for (auto [i, v] : llvm::enumerate(op->getOperands()))
      if (v == operand) {
        gradients[i].push_back(cotangent);
        if (cotangent.getType() != conjugate(operand))
          problem = "the cotangent of operand #" + std::to_string(i) +
                    " has another type than the conjugate of the operand's";
        return;
      }
    problem = "a cotangent for a value that is no operand";
  }

  Operation *op;
  DenseMap<Value, Value> cotangents;
  std::vector<SmallVector<Value, 1>> gradients;
  std::string problem;
};

/// A function whose arguments are the op's operands, then cotangents.
struct OneOp {
  OwningOpRef<ModuleOp> module;
  func::FuncOp func;
  Operation *op;
};
} // namespace

static OneOp buildOneOp(const Sample &sample, ArrayRef<DTensorType> types,
                        MeshAttr mesh) {
  MLIRContext *ctx = &getContext();
  OpBuilder b(ctx);
  Location loc = b.getUnknownLoc();
  OneOp one;
  one.module = ModuleOp::create(b, loc);
  one.module->getOperation()->setAttr(attrs::mesh, mesh);
  unsigned n = sample.op->getNumOperands();
  SmallVector<Type> arguments(types.begin(), types.begin() + n);
  for (auto [r, cotangent] : llvm::enumerate(sample.cotangents))
    if (cotangent)
      arguments.push_back(types[n + r].getConjugate());
  b.setInsertionPointToEnd(one.module->getBody());
  one.func =
      func::FuncOp::create(b, loc, "f", FunctionType::get(ctx, arguments, {}));
  Block *body = one.func.addEntryBlock();
  b.setInsertionPointToEnd(body);
  one.op = b.clone(*sample.op);
  for (unsigned i = 0; i < n; ++i)
    one.op->setOperand(i, body->getArgument(i));
  for (OpResult r : one.op->getResults())
    r.setType(types[n + r.getResultNumber()]);
  return one;
}

static Outcome runTyped(const Sample &sample, ArrayRef<DTensorType> types,
                        MeshAttr mesh, std::vector<Array> &results,
                        std::vector<std::optional<Array>> &gradients) {
  Messages messages;
  unsigned n = sample.op->getNumOperands();
  OneOp one = buildOneOp(sample, types, mesh);
  if (failed(verify(one.op)))
    return {Verdict::Rejected, messages.text};

  Block &body = one.func.getBody().front();
  OpBuilder b = OpBuilder::atBlockEnd(&body);
  Location loc = b.getUnknownLoc();
  Recorder recorder(b, loc, one.op);
  unsigned next = n;
  for (auto [r, cotangent] : llvm::enumerate(sample.cotangents))
    if (cotangent)
      recorder.cotangents[one.op->getResult(r)] = body.getArgument(next++);
  if (auto differentiable = dyn_cast<DifferentiableOpInterface>(one.op))
    differentiable.buildBackward(recorder);
  if (!recorder.problem.empty())
    return {Verdict::IllBackward, recorder.problem};
  SmallVector<Value> returned(one.op->getResults());
  for (const auto &values : recorder.gradients)
    llvm::append_range(returned, values);
  func::ReturnOp::create(b, loc, returned);
  one.func.setFunctionType(
      FunctionType::get(&getContext(), one.func.getArgumentTypes(),
                        SmallVector<Type>(ValueRange(returned).getTypes())));
  if (failed(verify(*one.module)))
    return {Verdict::IllBackward, messages.text};

  Random random(2, sample.name);
  std::vector<Pieces> arguments;
  for (unsigned i = 0; i < n; ++i)
    arguments.push_back(distribute(sample.operands[i], types[i], mesh, random));
  for (auto [r, cotangent] : llvm::enumerate(sample.cotangents))
    if (cotangent)
      arguments.push_back(
          distribute(*cotangent, types[n + r].getConjugate(), mesh, random));
  Interpreter interpreter(*one.module);
  interpreter.tolerance = tolerance;
  FailureOr<SmallVector<Pieces>> got = interpreter.call(one.func, arguments);
  if (failed(got))
    return {Verdict::Wrong, messages.text};
  SmallVector<Array> whole;
  for (auto [v, pieces] : llvm::zip_equal(returned, *got)) {
    FailureOr<Array> x = assemble(pieces, cast<DTensorType>(v.getType()), mesh,
                                  tolerance, [&] { return emitError(loc); });
    if (failed(x))
      return {Verdict::Wrong, messages.text};
    whole.push_back(std::move(*x));
  }
  results.assign(whole.begin(), whole.begin() + one.op->getNumResults());
  gradients.assign(n, std::nullopt);
  size_t at = one.op->getNumResults();
  for (auto [i, values] : llvm::enumerate(recorder.gradients))
    for (size_t k = 0; k < values.size(); ++k, ++at) {
      if (k == 0) {
        gradients[i] = whole[at];
        continue;
      }
      for (int64_t j = 0; j < whole[at].count(); ++j)
        (*gradients[i])[j] += whole[at][j];
    }
  return {Verdict::Right, ""};
}

static std::string compare(const std::string &what, const Array &got,
                           const Array &want) {
  double error = getMaxError(got, want);
  if (error <= tolerance * std::max(1.0, getMagnitude(want)))
    return "";
  return what + " is off by " + std::to_string(error);
}

Outcome dtc::test::tryTypes(const Sample &sample, ArrayRef<DTensorType> types,
                            MeshAttr mesh) {
  std::vector<Array> results;
  std::vector<std::optional<Array>> gradients;
  Outcome outcome = runTyped(sample, types, mesh, results, gradients);
  if (outcome.verdict != Verdict::Right)
    return outcome;
  for (auto [r, x] : llvm::enumerate(results)) {
    std::string off =
        compare("result #" + std::to_string(r), x, sample.results[r]);
    if (!off.empty())
      return {Verdict::Wrong, off};
  }
  for (auto [i, x] : llvm::enumerate(gradients)) {
    if (x.has_value() != sample.gradients[i].has_value())
      return {Verdict::Wrong, "operand #" + std::to_string(i) +
                                  " has a cotangent under some types only"};
    std::string off = x ? compare("cotangent of operand #" + std::to_string(i),
                                  *x, *sample.gradients[i])
                        : "";
    if (!off.empty())
      return {Verdict::Wrong, off};
  }
  return outcome;
}

Outcome dtc::test::tryRule(const Sample &sample, const FactorRule &declared,
                           ArrayRef<DTensorType> types, MeshAttr mesh) {
  Messages messages;
  unsigned n = sample.op->getNumOperands();
  FactorRule rule = declared; // with the types' padding
  for (auto [v, type] : llvm::enumerate(types))
    for (auto [d, dim] : llvm::enumerate(rule.value(v)))
      if (dim.size() == 1)
        rule.factors[dim[0]].padded = type.getPadded()[d];
  if (failed(checkRule(rule, types.take_front(n), types.drop_front(n),
                       [&] { return emitError(sample.op->getLoc()); })))
    return {Verdict::Rejected, messages.text};
  OneOp one = buildOneOp(sample, types, mesh);
  Random random(3, sample.name);
  std::vector<Pieces> arguments;
  SmallVector<const Pieces *> operands;
  for (unsigned i = 0; i < n; ++i)
    arguments.push_back(distribute(sample.operands[i], types[i], mesh, random));
  for (const Pieces &p : arguments)
    operands.push_back(&p);
  FailureOr<SmallVector<Pieces>> got =
      interpretOp(one.op, rule, operands, mesh, tolerance);
  if (failed(got))
    return {Verdict::Wrong, messages.text};
  for (auto [r, pieces] : llvm::enumerate(*got)) {
    FailureOr<Array> x = assemble(pieces, types[n + r], mesh, tolerance, [&] {
      return emitError(sample.op->getLoc());
    });
    std::string off = failed(x) ? messages.text
                                : compare("result #" + std::to_string(r), *x,
                                          sample.results[r]);
    if (!off.empty())
      return {Verdict::Wrong, off};
  }
  return {Verdict::Right, ""};
}

std::vector<Array> dtc::test::runLogical(const Sample &sample,
                                         ArrayRef<Array> operands) {
  std::vector<Pieces> pieces;
  SmallVector<const Pieces *> pointers;
  for (const Array &x : operands)
    pieces.emplace_back(1, x);
  for (const Pieces &p : pieces)
    pointers.push_back(&p);
  FailureOr<SmallVector<Pieces>> got = interpretOp(
      sample.op, pointers, MeshAttr::get(&getContext(), {}), tolerance);
  if (failed(got))
    llvm::report_fatal_error(StringRef(sample.name + " does not run"));
  std::vector<Array> results;
  for (const Pieces &p : *got)
    results.push_back(p[0]);
  return results;
}

std::string dtc::test::toString(ArrayRef<DTensorType> types,
                                unsigned numOperands) {
  std::string s;
  llvm::raw_string_ostream os(s);
  os << "(";
  llvm::interleaveComma(types.take_front(numOperands), os);
  os << ") -> (";
  llvm::interleaveComma(types.drop_front(numOperands), os);
  os << ")";
  return s;
}
