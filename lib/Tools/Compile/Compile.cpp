//===- Compile.cpp - From model IR to an executable -----------------------===//

#include "dtc/Tools/Compile/Compile.h"
#include "ChooseRecompute.h"
#include "dtc/Codegen/CpuPipeline.h"
#include "dtc/Codegen/EmitObject.h"
#include "dtc/Conversion/Passes.h"
#include "dtc/Planner/Planner.h"
#include "dtc/Planner/Traffic.h"
#include "dtc/Schedule/Generate.h"
#include "dtc/Schedule/Text.h"
#include "dtc/Tools/Registry.h"
#include "dtc/Transforms/Pipelines.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace dtc;

namespace {

/// Prints the program after the passes that are asked for.
class PrintAfter : public PassInstrumentation {
public:
  explicit PrintAfter(std::vector<std::string> passes)
      : passes(std::move(passes)) {}

  void runAfterPass(Pass *pass, Operation *op) override {
    if (!isa<ModuleOp>(op) || !llvm::is_contained(passes, pass->getArgument()))
      return;
    llvm::outs() << "// After -" << pass->getArgument() << "\n";
    op->print(llvm::outs());
    llvm::outs() << "\n";
    llvm::outs().flush();
  }

private:
  std::vector<std::string> passes;
};

} // namespace

void dtc::registerCompileDialects(DialectRegistry &registry) {
  registerDialects(registry);
  registry.insert<rt::RTDialect>();
  codegen::registerCpuDialects(registry);
}

/// The stages into which a step is cut, and whether their backwards are split.
struct PipelineShape {
  int64_t stages = 1;
  bool splitBackward = false;
};

static int64_t getSize(const MeshSizes &mesh, StringRef axis) {
  for (const auto &[name, size] : mesh)
    if (name == axis)
      return size;
  return 1;
}

static llvm::Expected<PipelineShape>
getPipelineShape(const CompileOptions &options) {
  int64_t pp = getSize(options.mesh, "pp");
  if (options.isScheduleFile) {
    auto buffer = llvm::MemoryBuffer::getFile(options.schedule);
    if (!buffer)
      return llvm::createStringError("cannot read the schedule '" +
                                     options.schedule +
                                     "': " + buffer.getError().message());
    schedule::Known known;
    known.microBatches = options.microbatches;
    auto lists =
        schedule::parse((*buffer)->getBuffer(), options.schedule, known);
    if (!lists)
      return lists.takeError();
    if (lists->placement.ranks != pp)
      return llvm::createStringError(
          "'" + options.schedule + "' is a schedule for pp=" +
          Twine(lists->placement.ranks) + ", but the mesh has pp=" + Twine(pp));
    PipelineShape shape{lists->getStages()};
    for (const auto &rank : lists->ranks)
      for (const schedule::Action &a : rank)
        shape.splitBackward |= a.kind == schedule::ActionKind::InputBackward;
    return shape;
  }
  if (pp == 1)
    return PipelineShape();
  schedule::Kind kind = *schedule::parseKind(options.schedule);
  auto placement = schedule::getPlacement(kind, pp, options.virtualStages);
  if (!placement)
    return placement.takeError();
  return PipelineShape{placement->getStages(),
                       kind == schedule::Kind::ZeroBubbleH1 ||
                           kind == schedule::Kind::ZeroBubbleV};
}

static void buildTraining(OpPassManager &pm, const CompileOptions &options,
                          PipelineShape shape) {
  TrainingPipelineOptions training;
  training.mesh = toString(options.mesh);
  training.rulesFile = options.rulesFile;
  training.precision = options.precision;
  training.gradType = options.gradType;
  training.sequenceParallel = options.sequenceParallel;
  training.cpLayout = options.cpLayout;
  training.cpAttention = options.cpAttention;
  training.gatherAgain = options.gatherAgain;
  training.recompute = options.recompute;
  training.zero = options.zero;
  training.zero3Reshard = options.zero3Reshard;
  training.microbatches = options.microbatches;
  training.stages = shape.stages;
  training.cuts = options.stages;
  // A rank's stages share what it may have.
  // The estimate knows nothing of recomputation.
  if (shape.stages > 1 && options.recompute == "none")
    training.stageMemory =
        options.memory * getSize(options.mesh, "pp") / shape.stages;
  training.splitBackward = shape.splitBackward;
  (options.isScheduleFile ? training.scheduleFile : training.schedule) =
      options.schedule;
  buildTrainingPipeline(pm, training);
}

llvm::Error dtc::addTrainingPasses(OpPassManager &pm,
                                   const CompileOptions &options) {
  auto shape = getPipelineShape(options);
  if (!shape)
    return shape.takeError();
  if (shape->stages == 1 && !options.stages.empty())
    return llvm::createStringError("--stages=" + options.stages +
                                   " cuts a pipeline, but the mesh has pp=1");
  buildTraining(pm, options, *shape);
  return llvm::Error::success();
}

static void addRuntimePasses(OpPassManager &pm, const CompileOptions &options,
                             unsigned vectorBits) {
  LowerToRuntimeOptions lower;
  lower.bucketBytes = options.bucketBytes;
  lower.vectorBits = vectorBits;
  pm.addPass(createLowerToRuntime(lower));
  if (options.overlap)
    pm.addPass(createOverlap());
  pm.addPass(createPlanMemory());
}

std::vector<std::string> dtc::getCompilePassNames() {
  MLIRContext context;
  PassManager pm(&context);
  buildTraining(pm, {}, {1, true});
  addRuntimePasses(pm, {}, 512);
  pm.addPass(createLowerToCpu());
  std::vector<std::string> names;
  for (Pass &pass : pm.getPasses())
    names.push_back(pass.getArgument().str());
  return names;
}

/// The diagnostics have said what is wrong.
static llvm::Error reported() { return llvm::createStringError(""); }

static llvm::Error
runPasses(MLIRContext &context, ModuleOp module, const CompileOptions &options,
          llvm::function_ref<llvm::Error(OpPassManager &)> add) {
  PassManager pm(&context);
  if (!options.printAfter.empty())
    pm.addInstrumentation(std::make_unique<PrintAfter>(options.printAfter));
  if (llvm::Error error = add(pm))
    return error;
  if (failed(pm.run(module)))
    return reported();
  return llvm::Error::success();
}

/// Writes text or an object: aside, then renamed.
static llvm::Error writeFile(StringRef path, StringRef content) {
  llvm::Error error = llvm::writeToOutput(path, [&](raw_ostream &os) {
    os << content;
    return llvm::Error::success();
  });
  if (!error)
    return error;
  return llvm::createStringError("cannot write: " +
                                 llvm::toString(std::move(error)));
}

/// Links beside the output and renames.
static llvm::Error writeExecutable(const CompileOptions &options,
                                   StringRef object) {
  SmallString<128> objectPath, temporary;
  if (std::error_code code =
          llvm::sys::fs::createTemporaryFile("dtc-program", "o", objectPath))
    return llvm::createStringError(code, "cannot make a temporary file");
  llvm::FileRemover removeObject(objectPath);
  if (llvm::Error error = writeFile(objectPath, object))
    return error;
  if (std::error_code code = llvm::sys::fs::createUniqueFile(
          options.output + ".tmp%%%%%%", temporary))
    return llvm::createStringError(code, "cannot write '" + options.output +
                                             "': " + code.message());
  llvm::FileRemover removeTemporary(temporary);
  if (llvm::Error error =
          linkExecutable(objectPath, temporary, options.toolPath))
    return error;
  if (std::error_code code = llvm::sys::fs::rename(temporary, options.output))
    return llvm::createStringError(code, "cannot write '" + options.output +
                                             "': " + code.message());
  removeTemporary.releaseFile();
  return llvm::Error::success();
}

/// The largest arena of any rank, if layers keep what `recompute` says.
static llvm::Expected<int64_t>
getArenaBytes(MLIRContext &context, ModuleOp model, CompileOptions options,
              const std::string &recompute, unsigned vectorBits) {
  OwningOpRef<ModuleOp> module(cast<ModuleOp>(model->clone()));
  options.recompute = recompute;
  options.printAfter.clear();
  llvm::Error error =
      runPasses(context, *module, options, [&](OpPassManager &pm) {
        llvm::Error error = addTrainingPasses(pm, options);
        if (!error)
          addRuntimePasses(pm, options, vectorBits);
        return error;
      });
  if (error)
    return std::move(error);
  int64_t most = 0;
  for (func::FuncOp step : rt::getSteps(*module))
    most = std::max(
        most, step->getAttrOfType<IntegerAttr>(rt::attrs::arenaBytes).getInt());
  return most;
}

/// The cut goes by an estimate; the plan knows.
static llvm::Error checkMemory(ModuleOp module, int64_t limit) {
  for (func::FuncOp step : rt::getSteps(module)) {
    int64_t bytes =
        step->getAttrOfType<IntegerAttr>(rt::attrs::arenaBytes).getInt();
    if (bytes > limit)
      return llvm::createStringError(
          "the arena of a rank" +
          (getMesh(module).getSize("pp") > 1
               ? " at pp=" + std::to_string(rt::getStage(step))
               : "") +
          " has " + Twine(bytes) +
          " bytes, more than --memory=" + Twine(limit));
  }
  return llvm::Error::success();
}

static void printPlan(ModuleOp module, const CompileOptions &options,
                      raw_ostream &os) {
  int64_t ranks = 1;
  for (const auto &[name, size] : options.mesh)
    ranks *= size;
  os << "planned bytes of each of " << ranks << " rank"
     << (ranks == 1 ? "" : "s") << ":\n";
  printMemory(module, os);
  printTraffic(module, os);
}

/// The model after the last pass of the dtc level. `auto` becomes what fits.
static llvm::Expected<OwningOpRef<ModuleOp>> buildStep(MLIRContext &context,
                                                       CompileOptions &options,
                                                       unsigned vectorBits,
                                                       raw_ostream &report) {
  // The parser does not say why it cannot read.
  std::string message;
  if (options.input != "-" && !openInputFile(options.input, &message))
    return llvm::createStringError(message);
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(options.input, &context);
  if (!module)
    return reported();
  if (options.recompute == "auto") {
    if (options.memory <= 0)
      return llvm::createStringError(
          "--recompute=auto needs --memory=BYTES to fit into");
    auto chosen =
        chooseRecompute(options.memory, [&](const std::string &value) {
          return getArenaBytes(context, *module, options, value, vectorBits);
        });
    if (!chosen)
      return chosen.takeError();
    options.recompute = *chosen;
    bool isLimit = llvm::isDigit(chosen->front());
    report << "recompute: " << (isLimit ? "up to " : "") << *chosen
           << (isLimit ? " operations a byte" : "")
           << ", which fits into --memory=" << options.memory << "\n";
  }
  llvm::Error error =
      runPasses(context, *module, options, [&](OpPassManager &pm) {
        return addTrainingPasses(pm, options);
      });
  if (error)
    return std::move(error);
  return std::move(module);
}

static llvm::Error planStep(MLIRContext &context, ModuleOp module,
                            const CompileOptions &options,
                            unsigned vectorBits) {
  return runPasses(context, module, options, [&](OpPassManager &pm) {
    addRuntimePasses(pm, options, vectorBits);
    return llvm::Error::success();
  });
}

llvm::Expected<OwningOpRef<ModuleOp>>
dtc::planProgram(MLIRContext &context, const CompileOptions &given,
                 raw_ostream &report) {
  CompileOptions options = given;
  auto target = codegen::targetInfo(options.cpu);
  if (!target)
    return target.takeError();
  auto module = buildStep(context, options, target->vectorBits, report);
  if (!module)
    return module.takeError();
  if (llvm::Error error =
          planStep(context, **module, options, target->vectorBits))
    return std::move(error);
  return module;
}

llvm::Error dtc::compile(MLIRContext &context, const CompileOptions &given) {
  CompileOptions options = given;
  auto target = codegen::targetInfo(options.cpu);
  if (!target)
    return target.takeError();
  // Standard output may be where the program goes.
  raw_ostream &report = options.output == "-" ? llvm::errs() : llvm::outs();
  auto built = buildStep(context, options, target->vectorBits, report);
  if (!built)
    return built.takeError();
  ModuleOp module = **built;
  if (options.emit == CompileLevel::Mlir) {
    std::string text;
    llvm::raw_string_ostream os(text);
    module.print(os);
    return writeFile(options.output, text + "\n");
  }
  if (llvm::Error error =
          planStep(context, module, options, target->vectorBits))
    return error;
  printPlan(module, options, report);
  if (options.memory > 0)
    if (llvm::Error error = checkMemory(module, options.memory))
      return error;
  if (llvm::Error error =
          runPasses(context, module, options, [&](OpPassManager &pm) {
            LowerToCpuOptions lower;
            lower.cpu = options.cpu;
            lower.flags = options.flags;
            pm.addPass(createLowerToCpu(lower));
            codegen::buildCpuLoweringPipeline(pm);
            return llvm::Error::success();
          }))
    return error;

  codegen::EmitOptions emit;
  emit.cpu = options.cpu;
  if (options.emit == CompileLevel::Llvm)
    emit.kind = codegen::EmitKind::LlvmIr;
  auto code = codegen::emitObject(module, emit);
  if (!code)
    return code.takeError();
  if (options.emit == CompileLevel::Exe)
    return writeExecutable(options, *code);
  return writeFile(options.output, *code);
}
