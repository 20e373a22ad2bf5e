//===- Flags.cpp - The command line of dtc-compile ------------------------===//

#include "dtc/Tools/Compile/Flags.h"
#include "dtc/Schedule/Generate.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace dtc;

namespace {
/// A flag with a few words of which only some are built.
struct Choice {
  Choice(cl::SubCommand &sub, cl::OptionCategory &category, const char *name,
         const char *first, ArrayRef<StringRef> built,
         ArrayRef<StringRef> unbuilt, const std::string &description)
      : built(built), unbuilt(unbuilt),
        help(description + ": " + join(words(), ", ") + " (default " + first +
             ")" + describeUnbuilt()),
        option(StringRef(name), cl::init(std::string(first)),
               cl::value_desc("WORD"), cl::desc(help), cl::sub(sub),
               cl::cat(category)) {}

  std::vector<StringRef> words() const {
    std::vector<StringRef> all(built);
    all.insert(all.end(), unbuilt.begin(), unbuilt.end());
    return all;
  }
  std::string describeUnbuilt() const {
    return unbuilt.empty() ? "" : "; not built yet: " + join(unbuilt, ", ");
  }
  Error check() const {
    std::string flag = ("--" + option.ArgStr + "=" + option.getValue()).str();
    if (is_contained(built, StringRef(option)))
      return Error::success();
    if (is_contained(unbuilt, StringRef(option)))
      return createStringError(flag + " is not built yet");
    return createStringError(flag + ": must be one of " + join(words(), ", "));
  }

  std::vector<StringRef> built, unbuilt;
  std::string help;
  cl::opt<std::string> option;
};
} // namespace

struct CompileFlags::Options {
  Options(cl::SubCommand &sub, cl::OptionCategory &category)
      : sub(sub), category(category) {}
  Error checkChoices() const;
  Expected<CompileOptions> get(int argc, char **argv) const;

  cl::SubCommand &sub;
  cl::OptionCategory &category;
  cl::opt<std::string> input{cl::Positional, cl::desc("MODEL.mlir"),
                             cl::value_desc("MODEL.mlir"), cl::sub(sub),
                             cl::cat(category)};
  cl::opt<std::string> mesh{
      "mesh", cl::value_desc("dp=2,tp=2"),
      cl::desc("Axes and their sizes, 1 by default: pp (pipeline), dp "
               "(data), cp (context), ep (experts), tp (tensor)"),
      cl::sub(sub), cl::cat(category)};
  cl::opt<bool> automatic{"auto",
                          cl::desc("Choose mesh, shardings and memory "
                                   "(not built yet)"),
                          cl::sub(sub), cl::cat(category)};
  cl::opt<std::string> cluster{"cluster", cl::value_desc("CLUSTER.json"),
                               cl::desc("Machines for --auto (not built yet)"),
                               cl::sub(sub), cl::cat(category)};
  cl::opt<std::string> microbatches{"microbatches",
                                    cl::init("1"),
                                    cl::value_desc("M"),
                                    cl::desc("Micro-batches in a step, of each "
                                             "data-parallel rank (default 1)"),
                                    cl::sub(sub),
                                    cl::cat(category)};
  cl::opt<std::string> rules{"rules", cl::value_desc("FILE"),
                             cl::desc("Which dimensions lie on which axes, "
                                      "instead of the usual table"),
                             cl::sub(sub), cl::cat(category)};
  cl::opt<bool> sequenceParallel{"sequence-parallel",
                                 cl::desc("Cut the residual stream's sequence "
                                          "over tp"),
                                 cl::sub(sub), cl::cat(category)};

  Choice spGather{sub,
                  category,
                  "sp-gather",
                  "keep",
                  {"keep", "again"},
                  {},
                  "Inputs gathered for sequence parallelism"};
  Choice cpAttention{sub,
                     category,
                     "cp-attention",
                     "ring",
                     {"ring", "all-gather", "ulysses"},
                     {},
                     "Attention under context parallelism"};
  Choice cpLayout{sub,
                  category,
                  "cp-layout",
                  "contiguous",
                  {"contiguous", "striped", "zigzag"},
                  {},
                  "Order of the sequence on cp"};
  cl::opt<std::string> schedule{
      "schedule",
      cl::init("1f1b"),
      cl::value_desc("NAME|FILE"),
      cl::desc("Order in which pipeline ranks work (default 1f1b): "
               "gpipe, 1f1b, interleaved, zb-h1, zb-v, or a file "
               "(docs/schedules.md); all names are one at pp=1"),
      cl::sub(sub),
      cl::cat(category)};
  Choice zero{sub,
              category,
              "zero",
              "0",
              {"0", "1", "2", "3"},
              {},
              "What is cut over dp and cp: 1 optimizer state, 2 gradients too, "
              "3 parameters too"};
  Choice zero3Reshard{
      sub,
      category,
      "zero3-reshard",
      "micro-batch",
      {"micro-batch", "step"},
      {},
      "How long --zero=3 keeps gathered parameters: for one use "
      "in a micro-batch, or for the step"};
  Choice recompute{sub,
                   category,
                   "recompute",
                   "none",
                   {"none", "selective", "full", "auto"},
                   {},
                   "What layers do not keep for their backward: selective what "
                   "is cheap to compute again, full all but their operands, "
                   "auto as little as --memory allows"};
  Choice overlap{sub,
                 category,
                 "overlap",
                 "on",
                 {"on", "off"},
                 {},
                 "Whether communication may overlap computation"};
  Choice precision{sub,
                   category,
                   "precision",
                   "f32",
                   {"f32", "bf16"},
                   {},
                   "Type of weights and activations"};
  Choice gradDtype{sub,
                   category,
                   "grad-dtype",
                   "f32",
                   {"f32", "bf16"},
                   {},
                   "Type of gradients, without the flag bf16 for "
                   "--precision=bf16 with one micro-batch"};
  Choice target{sub,
                category,
                "target",
                "cpu",
                {"cpu"},
                {"cuda"},
                "Machine to compile for"};
  Choice emitLevel{sub,
                   category,
                   "emit",
                   "exe",
                   {"mlir", "llvm", "obj", "exe"},
                   {"ptx"},
                   "What to write: mlir is the last program of the dtc level, "
                   "before buffers; llvm is optimized LLVM IR"};

  cl::opt<std::string> virtualStages{
      "virtual-stages", cl::value_desc("V"),
      cl::desc("Stages of a pipeline rank, for --schedule="
               "interleaved (default 2)"),
      cl::sub(sub), cl::cat(category)};
  cl::opt<std::string> stages{
      "stages", cl::value_desc("CUTS"),
      cl::desc("Layers of each stage, such as 3,4,4,3; with 0 first or "
               "last what stands before or after the layers is a stage "
               "(default: balanced by cost)"),
      cl::sub(sub), cl::cat(category)};
  cl::opt<std::string> memory{"memory", cl::value_desc("BYTES"),
                              cl::desc("Most bytes of a rank's arena: stages "
                                       "are cut so, and a larger plan is "
                                       "refused (default: no limit)"),
                              cl::sub(sub), cl::cat(category)};
  cl::opt<std::string> bucketBytes{
      "bucket-bytes",
      cl::init("26214400"),
      cl::value_desc("N"),
      cl::desc("Most bytes that share one collective (default "
               "26214400)"),
      cl::sub(sub),
      cl::cat(category)};
  cl::opt<std::string> cpu{"cpu",
                           cl::init("native"),
                           cl::value_desc("NAME"),
                           cl::desc("Processor, as LLVM names it (default "
                                    "native)"),
                           cl::sub(sub),
                           cl::cat(category)};
  cl::opt<std::string> gpuArch{
      "gpu-arch", cl::value_desc("ARCH"),
      cl::desc("GPU for --target=cuda (not built yet)"), cl::sub(sub),
      cl::cat(category)};
  cl::list<std::string> printAfter{"print-after", cl::value_desc("PASS"),
                                   cl::desc("Print the program after a pass, "
                                            "such as dtc-plan-memory"),
                                   cl::sub(sub), cl::cat(category)};
  cl::opt<std::string> output{
      "o", cl::value_desc("FILE"),
      cl::desc("Where the result goes (default train, "
               "train.o, or standard output for text; - "
               "is standard output)"),
      cl::sub(sub), cl::cat(category)};
};

static Expected<int64_t> parseCount(const cl::opt<std::string> &option,
                                    int64_t most) {
  int64_t n;
  if (StringRef(option).getAsInteger(10, n) || n < 1 || n > most)
    return createStringError("--" + option.ArgStr +
                             " must be a whole number from 1 to " +
                             Twine(most) + ", not '" + option + "'");
  return n;
}

Error CompileFlags::Options::checkChoices() const {
  for (const Choice *choice :
       {&spGather, &cpAttention, &cpLayout, &zero, &zero3Reshard, &recompute,
        &overlap, &precision, &gradDtype, &target, &emitLevel})
    if (Error error = choice->check())
      return error;
  if (automatic)
    return createStringError("--auto is not built yet");
  for (const cl::opt<std::string> *option : {&cluster, &gpuArch})
    if (option->getNumOccurrences())
      return createStringError("--" + option->ArgStr + " is not built yet");
  return Error::success();
}

Expected<CompileOptions> CompileFlags::Options::get(int argc,
                                                    char **argv) const {
  if (Error error = checkChoices())
    return error;
  CompileOptions options;
  auto sizes = parseMesh(mesh);
  if (!sizes)
    return sizes.takeError();
  options.mesh = *sizes;
  auto m = parseCount(microbatches, int64_t(1) << 31);
  if (!m)
    return m.takeError();
  options.microbatches = *m;
  auto bytes = parseCount(bucketBytes, int64_t(1) << 50);
  if (!bytes)
    return bytes.takeError();
  options.bucketBytes = *bytes;
  if (memory.getNumOccurrences()) {
    auto limit = parseCount(memory, int64_t(1) << 50);
    if (!limit)
      return limit.takeError();
    options.memory = *limit;
  }
  options.schedule = schedule;
  options.isScheduleFile = !schedule::parseKind(schedule);
  if (options.isScheduleFile && !sys::fs::exists(schedule))
    return createStringError("--schedule=" + schedule +
                             ": is neither a file nor one of " +
                             schedule::getKindNames());
  if (virtualStages.getNumOccurrences()) {
    auto v = parseCount(virtualStages, 1 << 10);
    if (!v)
      return v.takeError();
    if (*v > 1 && schedule != "interleaved" && schedule != "zb-v")
      return createStringError("--virtual-stages=" + Twine(*v) +
                               " is for --schedule=interleaved, not " +
                               schedule);
    options.virtualStages = *v;
  }
  options.stages = stages;
  options.precision = precision.option;
  if (gradDtype.option.getNumOccurrences()) {
    if (gradDtype.option == "bf16" && precision.option == "f32")
      return createStringError("--grad-dtype=bf16 is for --precision=bf16; "
                               "with --precision=f32 it may be f32");
    options.gradType = gradDtype.option;
  }
  options.input = input;
  options.rulesFile = rules;
  options.sequenceParallel = sequenceParallel;
  options.cpLayout = cpLayout.option;
  options.cpAttention = cpAttention.option;
  options.gatherAgain = spGather.option == "again";
  options.recompute = recompute.option;
  options.overlap = overlap.option == "on";
  options.zero = zero.option.getValue()[0] - '0';
  options.zero3Reshard = zero3Reshard.option;
  if (options.zero3Reshard == "step" && options.zero != 3)
    return createStringError("--zero3-reshard=step is for --zero=3, not " +
                             zero.option.getValue());
  options.cpu = cpu;
  options.emit = StringSwitch<CompileLevel>(emitLevel.option)
                     .Case("mlir", CompileLevel::Mlir)
                     .Case("llvm", CompileLevel::Llvm)
                     .Case("obj", CompileLevel::Object)
                     .Default(CompileLevel::Exe);
  bool isText =
      options.emit == CompileLevel::Mlir || options.emit == CompileLevel::Llvm;
  options.output = output;
  if (options.output.empty())
    options.output = isText                                 ? "-"
                     : options.emit == CompileLevel::Object ? "train.o"
                                                            : "train";
  if (options.output == "-" && options.emit == CompileLevel::Exe)
    return createStringError("-o - is for --emit=mlir, llvm and obj; an "
                             "executable needs a file");
  options.printAfter.assign(printAfter.begin(), printAfter.end());
  std::vector<std::string> passes = getCompilePassNames();
  for (const std::string &name : options.printAfter)
    if (!is_contained(passes, name))
      return createStringError("--print-after: unknown pass '" + name +
                               "'; passes are " + join(passes, ", "));
  // Paths are no part of the program.
  std::vector<std::string> flags;
  for (int i = 1; i < argc; ++i) {
    StringRef arg = argv[i];
    if (arg == "-o")
      ++i;
    else if (arg != input)
      flags.push_back(arg.str());
  }
  options.flags = join(flags, " ");
  options.toolPath = sys::fs::getMainExecutable(
      argv[0], reinterpret_cast<void *>(&parseCount));
  return options;
}

CompileFlags::CompileFlags(cl::SubCommand &sub, cl::OptionCategory &category)
    : options(std::make_unique<Options>(sub, category)) {}
CompileFlags::~CompileFlags() = default;

Expected<CompileOptions> CompileFlags::get(int argc, char **argv) const {
  return options->get(argc, argv);
}
