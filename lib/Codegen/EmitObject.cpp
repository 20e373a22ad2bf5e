//===- EmitObject.cpp - From the LLVM dialect to machine code -------------===//
#include "dtc/Codegen/EmitObject.h"

#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include <map>
#include <mutex>

using namespace llvm;
using namespace dtc::codegen;

namespace {

struct ResolvedCpu {
  std::string name;
  std::string features; // for createTargetMachine
  Triple triple;
  const Target *target = nullptr;
};

} // namespace

static Error makeError(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

static Expected<ResolvedCpu> resolveCpu(StringRef cpu) {
  static std::once_flag once;
  std::call_once(once, [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    InitializeNativeTargetAsmParser();
  });
  ResolvedCpu result;
  result.triple = Triple(sys::getDefaultTargetTriple());
  std::string message;
  result.target = TargetRegistry::lookupTarget(result.triple, message);
  if (!result.target)
    return makeError("no code generator for " + result.triple.str() + ": " +
                     message);
  if (cpu == "native") {
    result.name = sys::getHostCPUName().str();
    // The features count, not only the name: a virtual machine may hide some.
    std::map<std::string, bool> sorted;
    for (auto &f : sys::getHostCPUFeatures())
      sorted[f.first().str()] = f.second;
    for (auto &[feature, on] : sorted) {
      if (!result.features.empty())
        result.features += ',';
      result.features += (on ? "+" : "-") + feature;
    }
    return result;
  }
  std::unique_ptr<MCSubtargetInfo> info(
      result.target->createMCSubtargetInfo(result.triple, "", ""));
  bool known = false;
  std::vector<std::pair<unsigned, StringRef>> near;
  for (const SubtargetSubTypeKV &entry : info->getAllProcessorDescriptions()) {
    StringRef key = entry.Key;
    known |= key == cpu;
    near.push_back({cpu.edit_distance(key), key});
  }
  if (!known || cpu.empty()) {
    llvm::sort(near);
    std::vector<std::string> names;
    for (auto &[distance, key] : near)
      if (names.size() < 5)
        names.push_back(key.str());
    return makeError("unknown CPU '" + cpu + "' for " + result.triple.str() +
                     "; near names: " + join(names, ", ") + ", or 'native'");
  }
  result.name = cpu.str();
  return result;
}

static bool hasFeature(const MCSubtargetInfo &info, StringRef name) {
  return info.checkFeatures(("+" + name).str());
}

Expected<TargetInfo> dtc::codegen::targetInfo(const std::string &cpu) {
  auto resolved = resolveCpu(cpu);
  if (!resolved)
    return resolved.takeError();
  TargetInfo info{128, 16, false, 1 << 18};
  if (!resolved->triple.isX86()) {
    info.vectorRegisters = 32;
    info.fma = true;
    return info;
  }
  std::unique_ptr<MCSubtargetInfo> sub(resolved->target->createMCSubtargetInfo(
      resolved->triple, resolved->name, resolved->features));
  if (hasFeature(*sub, "fma"))
    info.fma = true;
  if (hasFeature(*sub, "avx512f") && hasFeature(*sub, "avx512vl") &&
      hasFeature(*sub, "avx512dq") && hasFeature(*sub, "avx512bw")) {
    info.vectorBits = 512;
    info.vectorRegisters = 32;
    info.l2Bytes = 1 << 20;
  } else if (hasFeature(*sub, "avx")) {
    info.vectorBits = 256;
  }
  return info;
}

Expected<std::vector<std::string>>
dtc::codegen::requiredCpuFeatures(const std::string &cpu) {
  // LLVM's name, the kernel's name. Only what compiled code may contain: not
  // what changes how system software behaves.
  static const std::pair<const char *, const char *> table[] = {
      {"sse3", "pni"},
      {"ssse3", "ssse3"},
      {"sse4.1", "sse4_1"},
      {"sse4.2", "sse4_2"},
      {"popcnt", "popcnt"},
      {"avx", "avx"},
      {"avx2", "avx2"},
      {"fma", "fma"},
      {"f16c", "f16c"},
      {"bmi", "bmi1"},
      {"bmi2", "bmi2"},
      {"lzcnt", "abm"},
      {"movbe", "movbe"},
      {"aes", "aes"},
      {"pclmul", "pclmulqdq"},
      {"gfni", "gfni"},
      {"vaes", "vaes"},
      {"vpclmulqdq", "vpclmulqdq"},
      {"avxvnni", "avx_vnni"},
      {"avx512f", "avx512f"},
      {"avx512cd", "avx512cd"},
      {"avx512dq", "avx512dq"},
      {"avx512bw", "avx512bw"},
      {"avx512vl", "avx512vl"},
      {"avx512ifma", "avx512ifma"},
      {"avx512vbmi", "avx512vbmi"},
      {"avx512vbmi2", "avx512_vbmi2"},
      {"avx512vnni", "avx512_vnni"},
      {"avx512bitalg", "avx512_bitalg"},
      {"avx512vpopcntdq", "avx512_vpopcntdq"},
      {"avx512bf16", "avx512_bf16"},
      {"avx512fp16", "avx512_fp16"},
  };
  auto resolved = resolveCpu(cpu);
  if (!resolved)
    return resolved.takeError();
  std::vector<std::string> names;
  if (!resolved->triple.isX86())
    return names;
  std::unique_ptr<MCSubtargetInfo> sub(resolved->target->createMCSubtargetInfo(
      resolved->triple, resolved->name, resolved->features));
  for (auto &[llvmName, kernelName] : table)
    if (hasFeature(*sub, llvmName))
      names.push_back(kernelName);
  llvm::sort(names);
  return names;
}

static void setFunctionAttributes(Module &module, const ResolvedCpu &cpu) {
  for (Function &f : module) {
    if (f.isDeclaration())
      continue;
    f.addFnAttr("target-cpu", cpu.name);
    if (!cpu.features.empty())
      f.addFnAttr("target-features", cpu.features);
    // LLVM splits 512-bit vectors on some CPUs by default; the kernels' tiles
    // are made for whole registers.
    if (cpu.triple.isX86()) {
      f.addFnAttr("prefer-vector-width", "512");
      f.addFnAttr("min-legal-vector-width", "512");
    }
    // Every thread of the runtime flushes denormals; code and constant folding
    // agree with it.
    f.addFnAttr("denormal-fp-math", "preserve-sign,preserve-sign");
    f.addFnAttr(Attribute::NoUnwind);
  }
}

static void optimize(Module &module, TargetMachine &machine, int level) {
  PipelineTuningOptions tuning;
  // The generators place vectors themselves; SLP would gather the broadcasts
  // of a register tile into shuffles.
  tuning.SLPVectorization = false;
  // What is to be unrolled is unrolled already; more costs only time here.
  tuning.LoopUnrolling = false;
  LoopAnalysisManager lam;
  FunctionAnalysisManager fam;
  CGSCCAnalysisManager cgam;
  ModuleAnalysisManager mam;
  PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(mam);
  builder.registerCGSCCAnalyses(cgam);
  builder.registerFunctionAnalyses(fam);
  builder.registerLoopAnalyses(lam);
  builder.crossRegisterProxies(lam, fam, cgam, mam);
  static const OptimizationLevel levels[] = {
      OptimizationLevel::O0, OptimizationLevel::O1, OptimizationLevel::O2,
      OptimizationLevel::O3};
  OptimizationLevel chosen = levels[std::clamp(level, 0, 3)];
  ModulePassManager passes =
      level <= 0 ? builder.buildO0DefaultPipeline(chosen)
                 : builder.buildPerModuleDefaultPipeline(chosen);
  passes.run(module, mam);
}

Expected<std::string> dtc::codegen::emitObject(mlir::ModuleOp module,
                                               const EmitOptions &options) {
  auto cpu = resolveCpu(options.cpu);
  if (!cpu)
    return cpu.takeError();
  static const CodeGenOptLevel levels[] = {
      CodeGenOptLevel::None, CodeGenOptLevel::Less, CodeGenOptLevel::Default,
      CodeGenOptLevel::Aggressive};
  TargetOptions targetOptions;
  // Only operations that carry the contract flag may be fused.
  targetOptions.AllowFPOpFusion = FPOpFusion::Standard;
  std::unique_ptr<TargetMachine> machine(cpu->target->createTargetMachine(
      cpu->triple, cpu->name, cpu->features, targetOptions, Reloc::PIC_,
      std::nullopt, levels[std::clamp(options.optLevel, 0, 3)]));
  if (!machine)
    return makeError("cannot create a target machine for " + cpu->name);

  LLVMContext context;
  std::unique_ptr<Module> llvmModule =
      mlir::translateModuleToLLVMIR(module, context, "dtc");
  if (!llvmModule)
    return makeError("the module cannot be translated to LLVM IR (operations "
                     "other than the LLVM and omp dialects' remain?)");
  llvmModule->setTargetTriple(cpu->triple);
  llvmModule->setDataLayout(machine->createDataLayout());
  setFunctionAttributes(*llvmModule, *cpu);

  std::string message;
  raw_string_ostream messageStream(message);
  if (verifyModule(*llvmModule, &messageStream))
    return makeError("invalid LLVM IR: " + message);
  optimize(*llvmModule, *machine, options.optLevel);

  if (options.kind == EmitKind::LlvmIr) {
    std::string text;
    raw_string_ostream stream(text);
    llvmModule->print(stream, nullptr);
    return text;
  }
  SmallString<0> buffer;
  raw_svector_ostream stream(buffer);
  legacy::PassManager passes;
  CodeGenFileType type = options.kind == EmitKind::Object
                             ? CodeGenFileType::ObjectFile
                             : CodeGenFileType::AssemblyFile;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, type))
    return makeError("the target cannot emit this kind of file");
  passes.run(*llvmModule);
  return std::string(buffer);
}
