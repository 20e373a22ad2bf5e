//===- dtc-fuzz.cpp - Random models on random meshes ----------------------===//
//
// Draws models, meshes, rules and flags, and holds the partitioned training
// step against the logical one. Also does so for one given model.
//
//===----------------------------------------------------------------------===//

#include "dtc/Tools/CommandLine.h"
#include "dtc/Tools/Compile/Mesh.h"
#include "dtc/Tools/Fuzz/Shrink.h"
#include "dtc/Tools/Fuzz/Workers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <thread>

using namespace llvm;
using namespace dtc::fuzz;

namespace {

const dtc::ForgetOtherOptions forgetOthers; // before the options below

cl::OptionCategory category("dtc-fuzz options");

cl::opt<unsigned long long> seed("seed", cl::init(0), cl::value_desc("N"),
                                 cl::desc("Which cases are drawn (default 0)"),
                                 cl::cat(category));
cl::opt<long long> numCases("cases", cl::init(1000), cl::value_desc("N"),
                            cl::desc("How many (default 1000)"),
                            cl::cat(category));
cl::opt<long long> oneCase("case", cl::init(-1), cl::value_desc("K"),
                           cl::desc("Run case K only, and compile it too"),
                           cl::cat(category));
cl::opt<long long> compileEvery(
    "compile-every", cl::init(50), cl::value_desc("N"),
    cl::desc("Compile and run every N-th case; 0: none (default 50)"),
    cl::cat(category));
cl::opt<unsigned> jobs("jobs", cl::init(0), cl::value_desc("N"),
                       cl::desc("Processes (default: processors)"),
                       cl::cat(category));
cl::opt<unsigned> timeLimit("time-limit", cl::init(120), cl::value_desc("S"),
                            cl::desc("Seconds that one case may take (default "
                                     "120)"),
                            cl::cat(category));
cl::opt<double> tolerance(
    "tolerance", cl::init(1e-9), cl::value_desc("X"),
    cl::desc("What interpreted numbers may be off by, as a part of a tensor's "
             "largest one (default 1e-9)"),
    cl::cat(category));
cl::opt<unsigned>
    maxFailures("max-failures", cl::init(3), cl::value_desc("N"),
                cl::desc("Stop after so many failures (default 3)"),
                cl::cat(category));
cl::opt<unsigned>
    shrinkSteps("shrink", cl::init(600), cl::value_desc("N"),
                cl::desc("Cases to try for making a failing one smaller; 0: "
                         "leave it (default 600)"),
                cl::cat(category));
cl::opt<std::string> outFolder("out", cl::init("."), cl::value_desc("DIR"),
                               cl::desc("Where failing models go (default .)"),
                               cl::cat(category));
cl::opt<bool> printCase("print",
                        cl::desc("With --case: print the model and the flags, "
                                 "and run nothing"),
                        cl::cat(category));
cl::opt<bool> verbose("verbose", cl::desc("One line for each case"),
                      cl::cat(category));

// For one model.
cl::opt<std::string> modelPath(cl::Positional, cl::value_desc("MODEL.mlir"),
                               cl::desc("[MODEL.mlir]"), cl::cat(category));
cl::opt<std::string> mesh("mesh", cl::value_desc("dp=2,tp=2"),
                          cl::desc("For a model: the mesh (pp, dp, cp, tp)"),
                          cl::cat(category));
cl::opt<std::string> rules("rules", cl::value_desc("FILE"),
                           cl::desc("For a model: rules of sharding"),
                           cl::cat(category));
cl::opt<std::string> precision("precision", cl::init("f32"),
                               cl::value_desc("WORD"),
                               cl::desc("For a model: f32 or bf16"),
                               cl::cat(category));
cl::opt<std::string> gradDtype("grad-dtype", cl::value_desc("WORD"),
                               cl::desc("For a model: f32 or bf16"),
                               cl::cat(category));
cl::opt<bool> sequenceParallel("sequence-parallel",
                               cl::desc("For a model, as in dtc-compile"),
                               cl::cat(category));
cl::opt<std::string> spGather("sp-gather", cl::init("keep"),
                              cl::value_desc("WORD"),
                              cl::desc("For a model: keep or again"),
                              cl::cat(category));
cl::opt<std::string>
    cpLayout("cp-layout", cl::init("contiguous"), cl::value_desc("WORD"),
             cl::desc("For a model: contiguous, striped or zigzag"),
             cl::cat(category));
cl::opt<std::string>
    cpAttention("cp-attention", cl::init("ring"), cl::value_desc("WORD"),
                cl::desc("For a model: ring, all-gather or ulysses"),
                cl::cat(category));
cl::opt<std::string> recompute("recompute", cl::init("none"),
                               cl::value_desc("WORD"),
                               cl::desc("For a model: none, selective, full"),
                               cl::cat(category));
cl::opt<std::string> zero("zero", cl::init("0"), cl::value_desc("STAGE"),
                          cl::desc("For a model: ZeRO stage, 0 to 3"),
                          cl::cat(category));
cl::opt<std::string> zero3Reshard("zero3-reshard", cl::init("micro-batch"),
                                  cl::value_desc("WORD"),
                                  cl::desc("For a model: micro-batch or step"),
                                  cl::cat(category));
cl::opt<std::string>
    schedule("schedule", cl::init("1f1b"), cl::value_desc("WORD"),
             cl::desc("For a model: gpipe, 1f1b, interleaved, zb-h1 or zb-v"),
             cl::cat(category));
cl::opt<long long> microbatches("microbatches", cl::init(1),
                                cl::value_desc("M"),
                                cl::desc("For a model: micro-batches"),
                                cl::cat(category));
cl::opt<long long> bucketBytes("bucket-bytes", cl::init(25 << 20),
                               cl::value_desc("N"),
                               cl::desc("For a model: size of buckets"),
                               cl::cat(category));
cl::opt<unsigned long long>
    dataSeed("data-seed", cl::init(1), cl::value_desc("N"),
             cl::desc("For a model: seed of inputs and parameters (default 1)"),
             cl::cat(category));

/// A folder that lives as long as the tool.
class TemporaryFolder {
public:
  TemporaryFolder() {
    SmallString<128> name;
    if (std::error_code code = sys::fs::createUniqueDirectory("dtc-fuzz", name))
      report_fatal_error("cannot make a temporary folder: " +
                         Twine(code.message()));
    path = name.str().str();
  }
  ~TemporaryFolder() { sys::fs::remove_directories(path); }
  std::string path;
};

int fail(const Twine &message) {
  WithColor::error(errs(), "dtc-fuzz") << message << "\n";
  return 2;
}

std::string toolPath;

} // namespace

/// What a case is held against, beyond numbers.
static CheckOptions getCheckOptions(uint64_t data, int64_t number,
                                    const std::string &folder) {
  CheckOptions options;
  options.dataSeed = data;
  options.tolerance = tolerance;
  options.folder = folder;
  options.toolPath = toolPath;
  options.slopes = number % 4 == 0;
  options.reread = number % 8 == 1;
  options.lower = number % 3 == 0;
  // One case alone is the repetition of a failure, which may be of any kind.
  options.compile =
      compileEvery > 0 && (oneCase >= 0 || number % compileEvery == 0);
  return options;
}

/// The same of the checks for every smaller case.
static Outcome runCase(mlir::MLIRContext &context, const Case &c,
                       const std::string &folder) {
  auto model = printModel(c);
  if (!model) {
    Outcome refused;
    refused.verdict = Verdict::Refused;
    refused.message = toString(model.takeError());
    return refused;
  }
  return check(context, *model, c.settings,
               getCheckOptions(c.dataSeed(), c.number, folder));
}

/// A message without its numbers, names and types, to count alike ones as one.
static std::string withoutNumbers(StringRef message) {
  std::string text;
  for (char c : message.split(';').first.take_front(160)) {
    if (isDigit(c)) {
      if (text.empty() || text.back() != 'N')
        text += 'N';
    } else {
      text += c;
    }
  }
  for (const char *list : {"N, N", "N or N", "NxN"})
    for (size_t at; (at = text.find(list)) != std::string::npos;)
      text.replace(at, StringRef(list).size(), "N");
  return text;
}

static bool writeText(const std::string &path, StringRef text) {
  std::error_code code;
  raw_fd_ostream os(path, code);
  os << text;
  os.close();
  return !code && !os.has_error();
}

//===----------------------------------------------------------------------===//
// A failing case
//===----------------------------------------------------------------------===//

static ShrinkResult shrinkCase(const Case &failing, Verdict verdict,
                               const std::string &folder) {
  WorkerOptions options;
  options.folder = folder;
  options.secondsPerCase = timeLimit;
  return shrink(failing, shrinkSteps, [&](const Case &c) {
    bool same = false;
    runCases(
        0, 1, options,
        [&](mlir::MLIRContext &context, int64_t, const std::string &mine) {
          return runCase(context, c, mine);
        },
        [&](int64_t, const Outcome &o) {
          same = o.verdict == verdict;
          return true;
        });
    return same;
  });
}

/// The flags that a repetition of a failure needs beside its own.
static std::string getCommonFlags() {
  std::string text;
  if (tolerance.getNumOccurrences())
    raw_string_ostream(text)
        << " --tolerance " << format("%.17g", tolerance.getValue());
  return text;
}

/// Says what failed, in the smallest form, and how to see it again.
static void reportFailure(const Case &failing, const Outcome &outcome,
                          const std::string &folder) {
  outs() << "case " << failing.number << " of seed " << failing.seed << " "
         << toString(outcome.verdict) << ": " << outcome.message << "\n"
         << "  again:    dtc-fuzz --seed " << failing.seed << " --case "
         << failing.number << getCommonFlags() << "\n";
  outs().flush();
  ShrinkResult shrunk = shrinkCase(failing, outcome.verdict, folder);
  const Case &c = shrunk.smallest;
  auto model = printModel(c);
  if (!model) {
    outs() << "  its model cannot be printed: " << toString(model.takeError())
           << "\n";
    return;
  }
  std::string base = outFolder + "/fuzz-" + std::to_string(c.seed) + "-" +
                     std::to_string(c.number);
  std::string flags = c.settings.flags(base + ".rules");
  outs() << "  smallest: dtc-fuzz " << base << ".mlir " << flags
         << " --data-seed " << c.dataSeed() << getCommonFlags() << "\n"
         << "  (" << shrunk.accepted << " of " << shrunk.tried
         << " steps made it smaller)\n"
         << *model;
  if (!c.settings.rules.empty())
    outs() << "rules:\n" << c.settings.rules;
  if (sys::fs::create_directories(outFolder.getValue()) ||
      !writeText(base + ".mlir", *model) ||
      (!c.settings.rules.empty() &&
       !writeText(base + ".rules", c.settings.rules)))
    outs() << "  cannot write " << base << ".mlir\n";
  outs().flush();
}

//===----------------------------------------------------------------------===//
// Many cases, one case, one model
//===----------------------------------------------------------------------===//

namespace {
struct Tally {
  int64_t agree = 0, compiled = 0, refused = 0, failed = 0;
  std::map<std::string, int64_t> reasons;

  void print() const;
};
} // namespace

void Tally::print() const {
  outs() << agree + refused + failed << " cases: " << agree << " agree ("
         << compiled << " of them compiled and run), " << refused
         << " are refused, " << failed << " fail\n";
  std::vector<std::pair<int64_t, std::string>> sorted;
  for (auto &[reason, count] : reasons)
    sorted.push_back({count, reason});
  llvm::sort(sorted, std::greater<>());
  size_t shown = verbose ? sorted.size() : std::min<size_t>(sorted.size(), 8);
  for (size_t i = 0; i < shown; ++i)
    outs() << format("%7lld  ", (long long)sorted[i].first) << sorted[i].second
           << "\n";
  if (shown < sorted.size())
    outs() << "         and " << sorted.size() - shown << " other reasons\n";
}

static int runMany(int64_t begin, int64_t end) {
  TemporaryFolder folder;
  WorkerOptions options;
  options.folder = folder.path;
  options.jobs =
      jobs ? jobs : std::max(1u, std::thread::hardware_concurrency());
  options.secondsPerCase = timeLimit;
  Tally tally;
  std::vector<std::pair<Case, Outcome>> failures;
  runCases(
      begin, end, options,
      [](mlir::MLIRContext &context, int64_t i, const std::string &mine) {
        return runCase(context, drawCase(seed, i), mine);
      },
      [&](int64_t i, const Outcome &o) {
        if (verbose) {
          outs() << i << " " << toString(o.verdict)
                 << (o.message.empty() ? "" : ": ") << o.message << "\n";
          outs().flush();
        }
        if (o.verdict == Verdict::Agrees) {
          ++tally.agree;
          tally.compiled += o.compiled;
        } else if (o.verdict == Verdict::Refused) {
          ++tally.refused;
          ++tally.reasons[withoutNumbers(o.message)];
        } else {
          ++tally.failed;
          failures.push_back({drawCase(seed, i), o});
        }
        return failures.size() < maxFailures;
      });
  for (auto &[c, outcome] : failures)
    reportFailure(c, outcome, folder.path);
  tally.print();
  if (end - begin >= 20 && tally.refused > tally.agree)
    return fail("more cases are refused than run: this tests little");
  return tally.failed ? 1 : 0;
}

static int printOne() {
  Case c = drawCase(seed, oneCase);
  auto model = printModel(c);
  if (!model)
    return fail(toString(model.takeError()));
  outs() << "// " << c.settings.flags("RULES") << "\n" << *model;
  if (!c.settings.rules.empty())
    outs() << "// RULES:\n" << c.settings.rules;
  return 0;
}

static Expected<Settings> getSettings() {
  Settings s;
  auto sizes = dtc::parseMesh(mesh);
  if (!sizes)
    return sizes.takeError();
  for (auto &[name, size] : *sizes)
    (name == "pp"   ? s.pp
     : name == "dp" ? s.dp
     : name == "cp" ? s.cp
                    : s.tp) *= size;
  if (!rules.empty()) {
    auto buffer = MemoryBuffer::getFile(rules, /*IsText=*/true);
    if (!buffer)
      return createStringError(rules + ": " + buffer.getError().message());
    s.rules = (*buffer)->getBuffer().str();
  }
  for (auto &[flag, value, legal] :
       {std::tuple("--precision", &precision, "f32 bf16"),
        std::tuple("--grad-dtype", &gradDtype, "f32 bf16"),
        std::tuple("--sp-gather", &spGather, "keep again"),
        std::tuple("--cp-layout", &cpLayout, "contiguous striped zigzag"),
        std::tuple("--cp-attention", &cpAttention, "ring all-gather ulysses"),
        std::tuple("--recompute", &recompute, "none selective full"),
        std::tuple("--zero", &zero, "0 1 2 3"),
        std::tuple("--zero3-reshard", &zero3Reshard, "micro-batch step"),
        std::tuple("--schedule", &schedule,
                   "gpipe 1f1b interleaved zb-h1 zb-v")}) {
    SmallVector<StringRef> words;
    StringRef(legal).split(words, ' ');
    if (value->getNumOccurrences() && !is_contained(words, value->getValue()))
      return createStringError(Twine(flag) + "=" + *value +
                               ": must be one of " + join(words, ", "));
  }
  s.precision = precision;
  s.gradType = gradDtype;
  s.sequenceParallel = sequenceParallel;
  s.gatherAgain = spGather == "again";
  s.recompute = recompute;
  s.zero = zero[0] - '0';
  s.zero3Reshard = zero3Reshard;
  s.cpLayout = cpLayout;
  s.cpAttention = cpAttention;
  s.schedule = schedule;
  s.microbatches = microbatches;
  s.bucketBytes = bucketBytes;
  return s;
}

/// All checks on one model; what a failing case was reported as.
static int runModel() {
  auto buffer = MemoryBuffer::getFileOrSTDIN(modelPath, /*IsText=*/true);
  if (!buffer)
    return fail(modelPath + ": " + buffer.getError().message());
  auto settings = getSettings();
  if (!settings)
    return fail(toString(settings.takeError()));
  TemporaryFolder folder;
  WorkerOptions options;
  options.folder = folder.path;
  options.secondsPerCase = timeLimit;
  Outcome outcome;
  runCases(
      0, 1, options,
      [&](mlir::MLIRContext &context, int64_t, const std::string &mine) {
        CheckOptions all = getCheckOptions(dataSeed, 0, mine);
        all.slopes = all.reread = all.lower = true;
        all.compile = compileEvery > 0;
        return check(context, (*buffer)->getBuffer().str(), *settings, all);
      },
      [&](int64_t, const Outcome &o) {
        outcome = o;
        return true;
      });
  outs() << modelPath << " " << toString(outcome.verdict)
         << (outcome.message.empty() ? "" : ": ") << outcome.message << "\n";
  return outcome.verdict == Verdict::Agrees ? 0 : 1;
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::SetVersionPrinter([](raw_ostream &os) { os << "dtc 0.1.0\n"; });
  cl::ParseCommandLineOptions(
      argc, argv,
      "Draws random models, meshes, rules and flags, and holds each "
      "partitioned training step against the step of one device. Given a "
      "model, checks that one.\n");
  toolPath =
      sys::fs::getMainExecutable(argv[0], reinterpret_cast<void *>(&runMany));
  if (!(tolerance >= 0))
    return fail("--tolerance must be at least 0");
  if (!modelPath.empty())
    return runModel();
  if (oneCase >= 0)
    return printCase ? printOne() : runMany(oneCase, oneCase + 1);
  if (numCases < 1)
    return fail("--cases must be at least 1, not " + Twine(numCases));
  return runMany(0, numCases);
}
