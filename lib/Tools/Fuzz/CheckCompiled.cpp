//===- CheckCompiled.cpp - A compiled program against the interpreter -----===//

#include "CheckParts.h"
#include "dtc/Dialect/DTC/IR/DTC.h"
#include "dtc/Runtime/Program.h"
#include "dtc/Runtime/Safetensors.h"
#include "dtc/Tools/Compile/Compile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <map>

using namespace mlir;
using namespace dtc;
using namespace dtc::fuzz;

namespace {

/// One step's optimizer. A large epsilon, because without it the first update
/// is the sign of the gradient, which no two roundings agree about.
constexpr double lr = 0.01, beta1 = 0.9, beta2 = 0.95, epsilon = 0.1,
                 decay = 0.1, clip = 0.5;

/// Stored tensors by the names that files have.
using Tensors = std::map<std::string, Array>;

/// What a program computed in its first step.
struct Step {
  double loss = 0, gradNorm = 0;
  Tensors grads, weights;
};

class CompiledCheck {
public:
  CompiledCheck(ModuleOp module, const std::string &model,
                const Settings &settings, const CheckOptions &options,
                const std::string &rulesFile)
      : module(module), model(model), settings(settings), options(options),
        rulesFile(rulesFile), seed(options.dataSeed % 1000) {}

  Maybe run();

private:
  bool isNarrow() const { return settings.precision != "f32"; }
  std::string path(const char *name) const {
    return options.folder + "/" + name;
  }
  Maybe writeText(const char *name, const std::string &text);
  void drawWeights();
  Maybe writeBatch(const ProgramData &data);
  void writeWeights();
  void setData(ProgramData &data, const Tensors &stored) const;
  Maybe interpret(const Tensors &stored, Step &step);
  Maybe compileProgram();
  Maybe runProgram();
  Maybe readResults(Step &step);
  std::string compare(const Step &want, const Step &moved, const Step &got);

  ModuleOp module;
  const std::string &model;
  const Settings &settings;
  const CheckOptions &options;
  const std::string &rulesFile;
  uint64_t seed;
  Tensors weights;
};

} // namespace

static Outcome stop(Verdict verdict, const Twine &message) {
  Outcome o;
  o.verdict = verdict;
  o.message = message.str();
  return o;
}

static func::FuncOp getStep(ModuleOp module) {
  return *llvm::find_if(module.getOps<func::FuncOp>(),
                        [](func::FuncOp f) { return f.isPublic(); });
}

/// Puts a parameter's elements where they lie in the stored tensor.
static void scatter(ParamOp param, const Array &view, Tensors &stored) {
  std::string name = rt::canonicalName(param.getStored().str());
  Array &whole =
      stored.try_emplace(name, Array(param.getStoredShape())).first->second;
  int64_t offset, k = 0;
  SmallVector<int64_t> strides;
  param.getFlatView(offset, strides);
  forEachIndex(view.shape, [&](ArrayRef<int64_t> index) {
    int64_t at = offset;
    for (auto [i, stride] : llvm::zip_equal(index, strides))
      at += i * stride;
    whole[at] = view[k++];
  });
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

Maybe CompiledCheck::writeText(const char *name, const std::string &text) {
  std::error_code code;
  llvm::raw_fd_ostream os(path(name), code);
  os << text;
  os.close();
  if (code || os.has_error())
    return stop(Verdict::Uncomputed, "cannot write " + path(name));
  return {};
}

/// Numbers that f32 holds exactly.
void CompiledCheck::drawWeights() {
  ProgramData data(options.dataSeed);
  for (auto param : module.getOps<ParamOp>()) {
    Array view = *data.getParam(param, Slot::Param, {});
    for (double &x : view.data)
      x = static_cast<float>(x);
    scatter(param, view, weights);
  }
}

void CompiledCheck::writeWeights() {
  std::vector<rt::SafetensorsWriter::Item> items;
  for (auto &[name, x] : weights)
    items.push_back({name, {x.shape.begin(), x.shape.end()}});
  rt::SafetensorsWriter file(path("weights.safetensors"), items);
  for (auto &[name, x] : weights) {
    std::vector<float> floats(x.data.begin(), x.data.end());
    file.write(floats.data(), x.count());
  }
  file.finish();
}

/// The inputs of the interpreter's step, as a batches file of one step.
Maybe CompiledCheck::writeBatch(const ProgramData &data) {
  std::string header, body;
  func::FuncOp func = getStep(module);
  for (BlockArgument arg : func.getArguments()) {
    auto name =
        func.getArgAttrOfType<StringAttr>(arg.getArgNumber(), attrs::input);
    auto type = cast<DTensorType>(arg.getType());
    if (!name || type.getRank() != 2)
      continue;
    Array x = *data.getInput(name, type, {});
    size_t begin = body.size();
    for (double v : x.data) {
      auto n = static_cast<int32_t>(v);
      body.append(reinterpret_cast<const char *>(&n), sizeof(n));
    }
    header += (header.empty() ? "{\"" : ", \"") + name.getValue().str() +
              "\": {\"dtype\": \"I32\", \"shape\": [1, " +
              std::to_string(x.shape[0]) + ", " + std::to_string(x.shape[1]) +
              "], \"data_offsets\": [" + std::to_string(begin) + ", " +
              std::to_string(body.size()) + "]}";
  }
  header += "}";
  uint64_t size = header.size();
  std::string file(reinterpret_cast<const char *>(&size), sizeof(size));
  return writeText("batches.safetensors", file + header + body);
}

/// As the program has them in its first step.
void CompiledCheck::setData(ProgramData &data, const Tensors &stored) const {
  data.vocabulary = ProgramData::getVocabulary(module);
  data.zeroMoments = true;
  Array rng({2}), optimizer({8});
  rng[0] = static_cast<double>(seed);
  data.setInput("rng", rng);
  optimizer.data = {lr,    beta1,     beta2,     epsilon,
                    decay, 1 - beta1, 1 - beta2, clip};
  data.setInput("optimizer", optimizer);
  for (auto &[name, x] : stored)
    for (const char *prefix : {"", "transformer."})
      data.setStored(prefix + name, x);
}

//===----------------------------------------------------------------------===//
// Both programs
//===----------------------------------------------------------------------===//

Maybe CompiledCheck::interpret(const Tensors &stored, Step &step) {
  ProgramData data(options.dataSeed);
  setData(data, stored);
  Errors errors(*module.getContext());
  Interpreter interpreter(module, &data);
  if (failed(interpreter.run()))
    return stop(Verdict::Uncomputed, errors.text());
  for (const Interpreter::Named &n : interpreter.getOutputs()) {
    if (n.name == "loss")
      step.loss = n.value[0];
    if (n.name == "grad_norm")
      step.gradNorm = n.value[0];
  }
  std::map<std::string, const Array *> writes;
  for (const Interpreter::Named &n : interpreter.getWrites())
    writes[n.name] = &n.value;
  for (auto param : module.getOps<ParamOp>())
    for (auto [slot, into] :
         {std::pair(Slot::Grad, &step.grads),
          std::pair(param.hasMaster() ? Slot::Master : Slot::Param,
                    &step.weights)})
      scatter(param,
              *writes.at(Interpreter::getWriteName(slot, param.getSymName())),
              *into);
  return {};
}

Maybe CompiledCheck::compileProgram() {
  CompileOptions compileOptions = settings.getCompileOptions(rulesFile);
  compileOptions.input = path("model.mlir");
  compileOptions.output = path("program");
  compileOptions.toolPath = options.toolPath;
  Errors errors(*module.getContext());
  if (llvm::Error error = compile(*module.getContext(), compileOptions)) {
    std::string text = llvm::toString(std::move(error));
    return stop(Verdict::Refused,
                "dtc-compile: " + (text.empty() ? errors.text() : text));
  }
  return {};
}

Maybe CompiledCheck::runProgram() {
  std::string program = path("program"), errorFile = path("errors"),
              seedText = std::to_string(seed),
              weightFile = path("weights.safetensors"),
              batches = path("batches.safetensors"),
              config = path("train.json"), log = path("log.jsonl"),
              grads = path("grads.safetensors"),
              updated = path("updated.safetensors");
  StringRef arguments[] = {
      program,  "--threads",      "1",        "--seed",
      seedText, "--weights",      weightFile, "--batches",
      batches,  "--config",       config,     "--log",
      log,      "--timeout",      "60",       "--dump-grads",
      grads,    "--save-weights", updated};
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(""),
                                          StringRef(errorFile)};
  std::string message;
  int status = llvm::sys::ExecuteAndWait(program, arguments, std::nullopt,
                                         redirects, /*SecondsToWait=*/120,
                                         /*MemoryLimit=*/0, &message);
  if (status == 0)
    return {};
  if (auto buffer = llvm::MemoryBuffer::getFile(errorFile))
    message += (*buffer)->getBuffer().trim().str();
  return stop(status < 0 ? Verdict::Crashed : Verdict::Uncomputed,
              "the compiled program ends with status " + Twine(status) + ": " +
                  message);
}

static Tensors readTensors(const std::string &file) {
  Tensors tensors;
  rt::SafetensorsFile source(file);
  for (const rt::SafetensorsEntry &entry : source.entries()) {
    Array x(entry.shape);
    rt::FloatLoader load = rt::floatLoader(entry.dtype);
    for (int64_t i = 0; load && i < x.count(); ++i)
      x[i] = load(entry.data, i);
    tensors[entry.name] = std::move(x);
  }
  return tensors;
}

Maybe CompiledCheck::readResults(Step &step) {
  step.grads = readTensors(path("grads.safetensors"));
  step.weights = readTensors(path("updated.safetensors"));
  auto buffer = llvm::MemoryBuffer::getFile(path("log.jsonl"));
  if (!buffer)
    return stop(Verdict::Uncomputed, "the compiled program wrote no log");
  SmallVector<StringRef> lines;
  (*buffer)->getBuffer().split(lines, '\n');
  for (StringRef line : lines) {
    auto json = llvm::json::parse(line);
    if (!json) {
      llvm::consumeError(json.takeError());
      continue;
    }
    const llvm::json::Object *row = json->getAsObject();
    if (!row || !row->get("loss"))
      continue;
    step.loss = row->getNumber("loss").value_or(NAN);
    step.gradNorm = row->getNumber("grad_norm").value_or(NAN);
    return {};
  }
  return stop(Verdict::Uncomputed, "the compiled program logged no step");
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

/// A value may be off by rounding, times how much it moves when the weights
/// move by a little more than rounding: `moved` is that step.
std::string CompiledCheck::compare(const Step &want, const Step &moved,
                                   const Step &got) {
  // The smallest: what cancelling f32 terms of a tenth leave, and denormals
  // that the program flushes.
  const double sensitivity = 20;
  const double tolerance = isNarrow() ? 2e-2 : 1e-4;
  const double smallest = isNarrow() ? 1e-4 : 1e-8;
  std::string text;
  auto hold = [&](const std::string &name, double error, double movement,
                  double magnitude) {
    if (error <= tolerance * magnitude + sensitivity * movement + smallest)
      return;
    llvm::raw_string_ostream(text)
        << (text.empty() ? "" : ", ") << name << " is off by "
        << llvm::format("%.3g of %.3g", error, magnitude);
  };
  hold("compiled: loss", std::abs(got.loss - want.loss),
       std::abs(moved.loss - want.loss), std::max(1.0, std::abs(want.loss)));
  hold("grad_norm", std::abs(got.gradNorm - want.gradNorm),
       std::abs(moved.gradNorm - want.gradNorm), want.gradNorm);
  for (auto [what, a, m, b] :
       {std::tuple("grad of ", &want.grads, &moved.grads, &got.grads),
        std::tuple("updated ", &want.weights, &moved.weights, &got.weights)}) {
    // Movements are compared with the largest of all tensors: one direction
    // may not move a tensor that rounding does.
    double largest = 0, movement = 0;
    for (auto &[name, x] : *a) {
      largest = std::max(largest, getMagnitude(x));
      movement = std::max(movement, getMaxError(x, m->at(name)));
    }
    for (auto &[name, x] : *a) {
      auto it = b->find(name);
      if (it == b->end() || it->second.shape != x.shape)
        text += (text.empty() ? "" : ", ") + (what + name) + " is missing";
      else
        hold(what + name, getMaxError(x, it->second), movement,
             std::max(getMagnitude(x), 0.01 * largest));
    }
    if (a->size() != b->size())
      text += (text.empty() ? "" : ", ") + std::string("a file has ") +
              std::to_string(b->size()) + " tensors, not " +
              std::to_string(a->size());
  }
  return StringRef(text).take_front(400).str();
}

Maybe CompiledCheck::run() {
  drawWeights();
  ProgramData data(options.dataSeed);
  setData(data, weights);
  Step want, moved, got;
  if (Maybe end = interpret(weights, want))
    return end;
  Tensors close = weights;
  Random random(options.dataSeed, "rounding");
  const double unit = isNarrow() ? 1e-3 : 1e-6;
  for (auto &[name, x] : close)
    for (double &v : x.data)
      v *= 1 + unit * random.normal();
  if (Maybe end = interpret(close, moved))
    return end;

  // The runtime's files report errors by exceptions; they end here.
  try {
    writeWeights();
    llvm::json::Object train{{"lr", lr},          {"betas", {beta1, beta2}},
                             {"eps", epsilon},    {"weight_decay", decay},
                             {"grad_clip", clip}, {"steps", 1}};
    auto ids = cast<DTensorType>(getStep(module).getArgument(0).getType());
    train["batch"] = ids.getShape()[0];
    train["seq"] = ids.getShape()[1];
    std::string text;
    llvm::raw_string_ostream(text) << llvm::json::Value(std::move(train));
    for (Maybe end : {writeText("train.json", text),
                      writeText("model.mlir", model), writeBatch(data)})
      if (end)
        return end;
    for (auto step :
         {&CompiledCheck::compileProgram, &CompiledCheck::runProgram})
      if (Maybe end = (this->*step)())
        return end;
    if (Maybe end = readResults(got))
      return end;
  } catch (const std::exception &e) {
    return stop(Verdict::Uncomputed, e.what());
  }
  std::string wrong = compare(want, moved, got);
  if (!wrong.empty())
    return stop(Verdict::Differs, wrong);
  return {};
}

Maybe dtc::fuzz::checkCompiled(ModuleOp oneDevice, const std::string &model,
                               const Settings &settings,
                               const CheckOptions &options,
                               const std::string &rulesFile) {
  return CompiledCheck(oneDevice, model, settings, options, rulesFile).run();
}
