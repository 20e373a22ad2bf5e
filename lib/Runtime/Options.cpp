//===- Options.cpp - The command line of an executable --------------------===//

#include "dtc/Runtime/Options.h"
#include "dtc/Runtime/Error.h"
#include "dtc/Runtime/Platform.h"

#include <algorithm>
#include <charconv>
#include <cmath>

using namespace dtc::rt;

namespace {

struct Flag {
  const char *name, *value, *help;
  void (*set)(Options &, const std::string &name, const std::string &value);
};

int64_t integer(const std::string &name, const std::string &value,
                int64_t least, int64_t most) {
  int64_t x = 0;
  auto [end, error] =
      std::from_chars(value.data(), value.data() + value.size(), x);
  if (error != std::errc() || end != value.data() + value.size() || x < least ||
      x > most)
    throw Error(cat(name, ": '", value, "' is not an integer from ", least,
                    " to ", most));
  return x;
}

double duration(const std::string &name, const std::string &value,
                const char *unit) {
  double x = 0;
  auto [end, error] =
      std::from_chars(value.data(), value.data() + value.size(), x);
  if (error != std::errc() || end != value.data() + value.size() ||
      !(x > 0 && x <= 1e9))
    throw Error(
        cat(name, ": '", value, "' is not a positive number of ", unit));
  return x;
}

template <std::string Options::*field>
void path(Options &options, const std::string &name, const std::string &value) {
  if (value.empty())
    throw Error(name + ": an empty path");
  options.*field = value;
}

/// Names are put behind it.
template <std::string Options::*field>
void folder(Options &options, const std::string &name,
            const std::string &value) {
  path<field>(options, name, value);
  std::string &text = options.*field;
  while (text.size() > 1 && text.back() == '/')
    text.pop_back();
}

template <std::optional<int64_t> Options::*field>
void positive(Options &options, const std::string &name,
              const std::string &value) {
  options.*field = integer(name, value, 1, INT32_MAX);
}

const Flag flags[] = {
    {"--ranks", "N", "ranks; must equal the mesh that was compiled",
     positive<&Options::ranks>},
    {"--threads", "N",
     "OpenMP threads of a rank (allowed cores / ranks on this machine)",
     [](Options &o, const std::string &n, const std::string &v) {
       // Where threads cannot be started OpenMP ends the program itself.
       o.threads = integer(n, v, 1, std::max(64, 4 * onlineCores()));
     }},
    {"--weights", "PATH",
     "initial weights: a safetensors file, a folder, or an index.json\n"
     "(F32, BF16, F16 or F64; Hugging Face names)",
     path<&Options::weights>},
    {"--seed", "N",
     "seed of initial weights, dropout and the order of samples (0)",
     [](Options &o, const std::string &n, const std::string &v) {
       o.seed = uint32_t(integer(n, v, 0, UINT32_MAX));
       o.seedGiven = true;
     }},
    {"--batches", "FILE",
     "safetensors with input_ids and labels (document_ids), [steps, batch,\n"
     "seq]; labels are already shifted, -100 is ignored",
     path<&Options::batches>},
    {"--text", "FILE", "train on the bytes of any file", path<&Options::text>},
    {"--tokens", "FILE",
     "train on raw little-endian tokens: uint16 if the vocabulary has at most\n"
     "65536 entries, otherwise uint32",
     path<&Options::tokens>},
    {"--config", "FILE",
     "train.json: lr, betas, eps, weight_decay, grad_clip, steps, batch, seq,\n"
     "schedule (without: lr 3e-4, betas 0.9 0.95, eps 1e-8, decay 0.1, clip 1)",
     path<&Options::config>},
    {"--steps", "N", "number of steps, in place of train.json's",
     positive<&Options::steps>},
    {"--log", "FILE", "one JSON object a step, after a header",
     path<&Options::log>},
    {"--dump-grads", "FILE",
     "the first step's gradients before clipping, as safetensors",
     path<&Options::dumpGrads>},
    {"--save-weights", "FILE",
     "the weights after the last step, as safetensors",
     path<&Options::saveWeights>},
    {"--trace", "FILE",
     "what each rank did when, as JSON for Perfetto (ui.perfetto.dev)",
     path<&Options::trace>},
    {"--profile", "FILE",
     "rank 0's mean time a step in each kernel and collective, as JSON",
     path<&Options::profile>},
    {"--collectives", "KIND",
     "direct (default: bits do not depend on how it runs) or ring",
     [](Options &o, const std::string &n, const std::string &v) {
       if (v != "direct" && v != "ring")
         throw Error(
             cat(n, ": '", v, "' is unknown; it may be direct or ring"));
       o.ring = v == "ring";
     }},
    {"--max-skipped", "N",
     "stop after N steps in a row whose loss or gradient is not finite (3)",
     [](Options &o, const std::string &n, const std::string &v) {
       o.maxSkipped = integer(n, v, 1, INT32_MAX);
     }},
    {"--timeout", "S",
     "stop when a rank waits longer than S seconds for another (600)",
     [](Options &o, const std::string &n, const std::string &v) {
       o.timeout = duration(n, v, "seconds");
     }},
    {"--save", "DIR",
     "write checkpoints into this folder: at the end, at a stop, and every N "
     "steps\nwith --save-every",
     folder<&Options::save>},
    {"--save-every", "N", "steps between checkpoints",
     positive<&Options::saveEvery>},
    {"--keep", "N", "remove all checkpoints but the newest N",
     positive<&Options::keep>},
    {"--save-sync", nullptr,
     "training waits while a checkpoint is written, which takes no memory",
     [](Options &o, const std::string &, const std::string &) {
       o.saveSync = true;
     }},
    {"--resume", "DIR",
     "go on from the newest complete checkpoint in this folder, or from this "
     "one",
     folder<&Options::resume>},
    {"--resume-weights-only", nullptr,
     "take only the weights from --resume, and begin at step 0",
     [](Options &o, const std::string &, const std::string &) {
       o.resumeWeightsOnly = true;
     }},
    {"--stop-after", "MINUTES",
     "finish the step, save and end after so many minutes",
     [](Options &o, const std::string &n, const std::string &v) {
       o.stopAfter = duration(n, v, "minutes");
     }},
    {"--help", nullptr, "this text",
     [](Options &o, const std::string &, const std::string &) {
       o.help = true;
     }},
};

size_t editDistance(const std::string &a, const std::string &b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t above = row[j];
      row[j] = std::min(
          {above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = above;
    }
  }
  return row[b.size()];
}

[[noreturn]] void unknown(const std::string &name) {
  const Flag *best = nullptr;
  size_t least = ~size_t(0);
  for (const Flag &flag : flags)
    if (size_t d = editDistance(name, flag.name); d < least) {
      best = &flag;
      least = d;
    }
  std::string hint = least <= name.size() / 2
                         ? cat("; did you mean '", best->name, "'?")
                         : "; --help lists the flags";
  throw Error(cat("unknown flag '", name, "'", hint));
}

} // namespace

Options Options::parse(const std::vector<std::string> &arguments) {
  Options options;
  std::vector<const Flag *> given;
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string name = arguments[i], value;
    size_t equals = name.find('=');
    bool attached =
        name.compare(0, 2, "--") == 0 && equals != std::string::npos;
    if (attached) {
      value = name.substr(equals + 1);
      name.resize(equals);
    }
    if (name.compare(0, 1, "-") != 0)
      throw Error(cat("unexpected argument '", name, "'; flags begin with --"));
    if (name == "-h")
      name = "--help";
    const Flag *flag = std::find_if(std::begin(flags), std::end(flags),
                                    [&](auto &f) { return name == f.name; });
    if (flag == std::end(flags))
      unknown(name);
    if (!flag->value && attached)
      throw Error(name + " takes no value");
    if (flag->value && !attached) {
      if (i + 1 == arguments.size())
        throw Error(cat(name, " needs a value: ", name, " ", flag->value));
      value = arguments[++i];
    }
    if (std::find(given.begin(), given.end(), flag) != given.end())
      throw Error(name + " is given twice");
    given.push_back(flag);
    flag->set(options, name, value);
  }
  if (options.help)
    return options;
  if (options.save.empty())
    for (auto [name, isGiven] :
         {std::pair("--save-every", options.saveEvery.has_value()),
          std::pair("--keep", options.keep.has_value()),
          std::pair("--save-sync", options.saveSync),
          std::pair("--stop-after", options.stopAfter.has_value())})
      if (isGiven)
        throw Error(cat(name, " needs --save DIR"));
  if (options.resumeWeightsOnly && options.resume.empty())
    throw Error("--resume-weights-only needs --resume DIR");
  if (!options.resume.empty() && !options.weights.empty())
    throw Error("--resume and --weights both give the weights: name one");
  int sources = !options.batches.empty() + !options.text.empty() +
                !options.tokens.empty();
  if (sources != 1)
    throw Error(cat(sources ? "more than one source" : "no source",
                    " of training data: give one of --batches FILE, --text "
                    "FILE, --tokens FILE"));
  return options;
}

std::string dtc::rt::helpText(const std::string &program) {
  std::string text = "usage: " + program +
                     " [flags]\n\nTrains the compiled model. Flags are given "
                     "as --flag value or --flag=value.\n\n";
  for (const Flag &flag : flags) {
    std::string left = cat("  ", flag.name, " ", flag.value ? flag.value : "");
    left.resize(std::max<size_t>(left.size() + 1, 24), ' ');
    text += left;
    for (const char *c = flag.help; *c; ++c)
      text += *c == '\n' ? "\n" + std::string(24, ' ') : std::string(1, *c);
    text += '\n';
  }
  text += "\nRanks are threads of one process, or processes under Open MPI's "
          "mpirun. The exit\nstatus is 0 only when all steps ran, or when a "
          "stop was asked for and is saved.\n";
  return text;
}
