//===- Check.cpp - A partitioned step against the logical one -------------===//

#include "dtc/Tools/Fuzz/Check.h"
#include "CheckParts.h"
#include "dtc/Conversion/Passes.h"
#include "dtc/Planner/Planner.h"
#include "dtc/Tools/Compile/Compile.h"
#include "dtc/Tools/Registry.h"
#include "dtc/Transforms/Pipelines.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <mutex>

using namespace mlir;
using namespace dtc;
using namespace dtc::fuzz;

const char *dtc::fuzz::toString(Verdict verdict) {
  switch (verdict) {
  case Verdict::Agrees:
    return "agrees";
  case Verdict::Refused:
    return "is refused";
  case Verdict::Invalid:
    return "does not verify";
  case Verdict::Unreadable:
    return "cannot be read again";
  case Verdict::Uncomputed:
    return "cannot be interpreted";
  case Verdict::Differs:
    return "differs";
  case Verdict::Crashed:
    return "crashes";
  case Verdict::TimedOut:
    return "takes too long";
  }
  llvm_unreachable("unknown verdict");
}

void dtc::fuzz::registerForChecks(DialectRegistry &registry) {
  registerCompileDialects(registry);
  static std::once_flag once;
  std::call_once(once, [] {
    registerPasses();
    mlir::registerTransformsPasses();
  });
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

Errors::Errors(MLIRContext &context)
    : handler(&context, [this](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
          all += (all.empty() ? "" : "; ") + diagnostic.str();
        return success();
      }) {}

static Outcome outcome(Verdict verdict, const Twine &message) {
  Outcome o;
  o.verdict = verdict;
  o.message = message.str();
  return o;
}

Maybe dtc::fuzz::runPasses(ModuleOp module, OpPassManager &pipeline) {
  for (Pass &pass : pipeline.getPasses()) {
    std::string text;
    llvm::raw_string_ostream os(text);
    pass.printAsTextualPipeline(os);
    StringRef name = pass.getArgument();
    PassManager one(module.getContext());
    one.enableVerifier(false);
    Errors errors(*module.getContext());
    if (failed(parsePassPipeline(text, one)))
      return outcome(Verdict::Invalid, "cannot parse pass '" + text + "'");
    if (failed(one.run(module))) {
      // An error without a word helps nobody.
      if (errors.text().empty())
        return outcome(Verdict::Invalid, "-" + name + " fails silently");
      return outcome(Verdict::Refused, errors.text());
    }
    if (failed(verify(module)))
      return outcome(Verdict::Invalid, "after -" + name + ": " + errors.text());
  }
  return {};
}

static std::string formatNumber(double x) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.3g", x);
  return text;
}

std::string dtc::fuzz::findDifference(ArrayRef<Interpreter::Named> want,
                                      ArrayRef<Interpreter::Named> got,
                                      double tolerance, double floor,
                                      ArrayRef<Interpreter::Named> moved,
                                      double sensitivity) {
  // What is zero but for rounding has no magnitude of its own.
  double largest = 1e-3;
  for (const Interpreter::Named &w : want)
    if (w.type.isFloat())
      largest = std::max(largest, getMagnitude(w.value));
  std::string text;
  for (const Interpreter::Named &w : want) {
    auto isSame = [&](const Interpreter::Named &n) { return n.name == w.name; };
    const auto *g = llvm::find_if(got, isSame);
    std::string line;
    if (g == got.end()) {
      line = w.name + " is missing";
    } else if (g->value.shape != w.value.shape) {
      line = w.name + " has another shape";
    } else {
      double error = getMaxError(w.value, g->value);
      double magnitude = std::max(getMagnitude(w.value), floor * largest);
      double allowed = tolerance * magnitude;
      if (const auto *m = llvm::find_if(moved, isSame); m != moved.end())
        allowed += sensitivity * getMaxError(w.value, m->value);
      // Counts are exact.
      if (error <= (w.type.isInteger() ? 0 : allowed))
        continue;
      line = w.name + " is off by " + formatNumber(error) + " of " +
             formatNumber(magnitude);
    }
    text += (text.empty() ? "" : ", ") + line;
    if (text.size() > 300)
      return text + ", ...";
  }
  return text;
}

/// One device has none of the axes that annotations name.
static void removeAnnotations(ModuleOp module) {
  module.walk([](Operation *op) {
    op->removeDiscardableAttr(attrs::sharding);
    if (auto func = dyn_cast<func::FuncOp>(op))
      for (unsigned i = 0; i < func.getNumArguments(); ++i)
        func.removeArgAttr(i, attrs::sharding);
  });
}

namespace {

/// One check from begin to end.
class Checker {
public:
  Checker(MLIRContext &context, const std::string &model,
          const Settings &settings, const CheckOptions &options)
      : context(context), model(model), settings(settings), options(options),
        data(options.dataSeed) {}

  Outcome run();

private:
  Maybe prepare();
  Maybe makeOneDevice(const Settings &s, OwningOpRef<ModuleOp> &module);
  Maybe interpret(Interpreter &interpreter, const Twine &what);
  Maybe checkSlope();
  Maybe reread();
  Maybe lower();

  MLIRContext &context;
  const std::string &model;
  const Settings &settings;
  const CheckOptions &options;
  ProgramData data;
  std::string rulesFile;
  OwningOpRef<ModuleOp> logical, one, many;
  /// The one-device step's outputs and writes.
  std::vector<Interpreter::Named> outputs, writes;
};

} // namespace

/// The step of one device.
Maybe Checker::makeOneDevice(const Settings &s, OwningOpRef<ModuleOp> &module) {
  module = logical->clone();
  removeAnnotations(*module);
  PassManager pm(&context);
  // One device has no schedule to be refused.
  llvm::cantFail(addTrainingPasses(pm, s.getCompileOptions("")));
  Maybe stop = runPasses(*module, pm);
  if (stop)
    stop->message = "on one device: " + stop->message;
  return stop;
}

/// Parses the model, and makes the step of one device and that of the mesh.
Maybe Checker::prepare() {
  if (!settings.rules.empty()) {
    rulesFile = options.folder + "/rules";
    std::error_code code;
    llvm::raw_fd_ostream os(rulesFile, code);
    os << settings.rules;
    os.close();
    if (code || os.has_error())
      return outcome(Verdict::Uncomputed, "cannot write " + rulesFile);
  }
  Errors errors(context);
  logical = parseSourceString<ModuleOp>(model, &context);
  if (!logical)
    return outcome(Verdict::Invalid, "the model: " + errors.text());
  many = logical->clone();
  if (Maybe stop = makeOneDevice(Settings(), one))
    return stop;
  PassManager pm(&context);
  if (llvm::Error error =
          addTrainingPasses(pm, settings.getCompileOptions(rulesFile)))
    return outcome(Verdict::Refused, llvm::toString(std::move(error)));
  Maybe stop = runPasses(*many, pm);
  if (!stop && options.damage)
    options.damage(*many);
  return stop;
}

Maybe Checker::interpret(Interpreter &interpreter, const Twine &what) {
  Errors errors(context);
  if (failed(interpreter.run()))
    return outcome(Verdict::Uncomputed, what + ": " + errors.text());
  return {};
}

/// One parameter's gradient along a random direction, by the formula on four
/// points: its error is of order h^4, and rounding over h.
Maybe Checker::checkSlope() {
  SmallVector<ParamOp> params(logical->getOps<ParamOp>());
  if (params.empty())
    return {};
  ParamOp param = params[options.dataSeed % params.size()];
  std::string name = Interpreter::getWriteName(Slot::Grad, param.getSymName());
  auto grad = llvm::find_if(
      writes, [&](const Interpreter::Named &n) { return n.name == name; });
  if (grad == writes.end())
    return outcome(Verdict::Differs, "no " + name);
  // Two step sizes: their difference says how far the slope can be trusted.
  double slopes[2];
  const double widths[2] = {2e-4, 1e-4};
  for (auto [k, h] : llvm::enumerate(widths)) {
    double slope = 0;
    for (auto [steps, weight] : {std::pair(1, 8.0), std::pair(2, -1.0)})
      for (int side : {-1, 1}) {
        data.move(param.getSymName(), side * steps * h);
        Interpreter interpreter(*logical, &data);
        if (Maybe stop = interpret(interpreter, "the model"))
          return stop;
        slope +=
            side * weight * interpreter.getOutputs()[0].value[0] / (12 * h);
      }
    slopes[k] = slope;
  }
  data.move("", 0);
  Array direction = data.getDirection(param);
  double along = 0, size = 0;
  for (int64_t i = 0; i < direction.count(); ++i) {
    along += direction[i] * grad->value[i];
    size += std::abs(direction[i] * grad->value[i]);
  }
  double limit = 1e-6 * (1 + size + std::abs(outputs[0].value[0])) +
                 20 * std::abs(slopes[0] - slopes[1]);
  if (std::abs(slopes[1] - along) <= limit)
    return {};
  return outcome(Verdict::Differs,
                 name + " along a direction is " + formatNumber(along) +
                     ", the loss's slope " + formatNumber(slopes[1]));
}

Maybe Checker::reread() {
  auto print = [](ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream os(text);
    module.print(os);
    return text;
  };
  std::string text = print(*many);
  Errors errors(context);
  auto again = parseSourceString<ModuleOp>(text, &context);
  if (!again)
    return outcome(Verdict::Unreadable, errors.text());
  if (print(*again) != text)
    return outcome(Verdict::Unreadable, "it prints otherwise the second time");
  return {};
}

Maybe Checker::lower() {
  PassManager pm(&context);
  LowerToRuntimeOptions runtime;
  runtime.bucketBytes = settings.bucketBytes;
  pm.addPass(createLowerToRuntime(runtime));
  pm.addPass(createOverlap());
  PlanMemoryOptions plan;
  plan.check = true;
  pm.addPass(createPlanMemory(plan));
  pm.addPass(createLowerToCpu());
  return runPasses(*many, pm);
}

Outcome Checker::run() {
  if (Maybe stop = prepare())
    return *stop;
  data.vocabulary = ProgramData::getVocabulary(*logical);

  Interpreter plain(*logical, &data), single(*one, &data), ranks(*many, &data);
  // Without rounding bf16 is only a type, and the numbers are those of f32.
  ranks.round = false;
  if (Maybe stop = interpret(plain, "the model"))
    return *stop;
  if (Maybe stop = interpret(single, "the step of one device"))
    return *stop;
  if (Maybe stop = interpret(ranks, "the partitioned step"))
    return *stop;
  outputs = single.getOutputs();
  writes = single.getWrites();
  for (const auto *list : {&outputs, &writes})
    for (const Interpreter::Named &n : *list)
      if (!llvm::all_of(n.value.data,
                        [](double x) { return std::isfinite(x); }))
        return outcome(Verdict::Refused, "the model's numbers overflow");

  // Squares of these overflow in f32, which programs compute in.
  if (single.getLargest() > 1e18)
    return outcome(Verdict::Refused, "the model's numbers overflow");

  const double tolerance = options.tolerance, floor = 1e-3;
  // Where a model amplifies rounding (saturated softmaxes, one after the
  // other), more than the tolerance is not wrong: 20 times what a perturbation
  // of 1e-13 moves, for the usual tolerance.
  const double sensitivity = 20 * (tolerance / 1e-9);
  std::optional<Interpreter> perturbed;
  using List = ArrayRef<Interpreter::Named>;
  auto compare = [&](List want, List got, auto getMoved) -> Maybe {
    if (findDifference(want, got, tolerance, floor).empty())
      return {};
    if (!perturbed) {
      data.perturbation = 1e-13;
      perturbed.emplace(*one, &data);
      if (Maybe stop = interpret(*perturbed, "the step of one device"))
        return stop;
      data.perturbation = 0;
    }
    std::string wrong = findDifference(want, got, tolerance, floor,
                                       getMoved(*perturbed), sensitivity);
    if (wrong.empty())
      return {};
    return outcome(Verdict::Differs, wrong);
  };
  auto getOutputs = [](const Interpreter &i) -> List { return i.getOutputs(); };
  auto getWrites = [](const Interpreter &i) -> List { return i.getWrites(); };
  if (Maybe stop = compare(plain.getOutputs(), outputs, getOutputs)) {
    stop->message = "model and one-device step: " + stop->message;
    return *stop;
  }
  if (Maybe stop = compare(outputs, ranks.getOutputs(), getOutputs))
    return *stop;
  if (Maybe stop = compare(writes, ranks.getWrites(), getWrites))
    return *stop;
  if (options.slopes)
    if (Maybe stop = checkSlope())
      return *stop;
  if (options.reread)
    if (Maybe stop = reread())
      return *stop;
  if (options.lower)
    if (Maybe stop = lower())
      return *stop;
  Outcome good;
  // In f32 nothing would be left of what rounding shows in already in f64.
  if (options.compile && !perturbed) {
    // That program does round, as one device would.
    Settings s;
    s.precision = settings.precision;
    s.gradType = settings.gradType;
    if (s.precision != "f32" && s.gradType.empty())
      s.gradType = getDefaultGradType(s.precision, settings.microbatches).str();
    OwningOpRef<ModuleOp> reference;
    if (Maybe stop = makeOneDevice(s, reference))
      return *stop;
    if (Maybe stop =
            checkCompiled(*reference, model, settings, options, rulesFile))
      return *stop;
    good.compiled = true;
  }
  return good;
}

Outcome dtc::fuzz::check(MLIRContext &context, const std::string &model,
                         const Settings &settings,
                         const CheckOptions &options) {
  return Checker(context, model, settings, options).run();
}
