//===- DrawCase.cpp - Cases by chance -------------------------------------===//
//
// The mesh and the flags come first; sizes are then drawn such that most cases
// are legal, and some are not.
//
//===----------------------------------------------------------------------===//

#include "Draw.h"
#include "dtc/Tools/Import/Import.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace dtc::fuzz;

//===----------------------------------------------------------------------===//
// Settings
//===----------------------------------------------------------------------===//

std::string Settings::mesh() const {
  std::string text;
  for (auto [name, size] : {std::pair("pp", pp), std::pair("dp", dp),
                            std::pair("cp", cp), std::pair("tp", tp)})
    if (size > 1)
      text += (text.empty() ? "" : ",") + std::string(name) + "=" +
              std::to_string(size);
  return text.empty() ? "dp=1" : text;
}

std::string Settings::flags(StringRef rulesFile) const {
  const Settings usual;
  std::string text = "--mesh " + mesh();
  if (!rules.empty())
    text += (" --rules " + rulesFile).str();
  if (precision != usual.precision)
    text += " --precision " + precision;
  if (!gradType.empty())
    text += " --grad-dtype " + gradType;
  if (sequenceParallel)
    text += " --sequence-parallel";
  if (gatherAgain)
    text += " --sp-gather again";
  if (recompute != usual.recompute)
    text += " --recompute " + recompute;
  if (zero != usual.zero)
    text += " --zero " + std::to_string(zero);
  if (zero3Reshard != usual.zero3Reshard)
    text += " --zero3-reshard " + zero3Reshard;
  if (cpLayout != usual.cpLayout)
    text += " --cp-layout " + cpLayout;
  if (cpAttention != usual.cpAttention)
    text += " --cp-attention " + cpAttention;
  if (microbatches != usual.microbatches)
    text += " --microbatches " + std::to_string(microbatches);
  if (bucketBytes != usual.bucketBytes)
    text += " --bucket-bytes " + std::to_string(bucketBytes);
  if (schedule != usual.schedule)
    text += " --schedule " + schedule;
  return text;
}

dtc::CompileOptions
Settings::getCompileOptions(const std::string &rulesFile) const {
  CompileOptions options;
  options.mesh = {{"pp", pp}, {"dp", dp}, {"cp", cp}, {"tp", tp}};
  options.rulesFile = rulesFile;
  options.precision = precision;
  options.gradType = gradType;
  options.sequenceParallel = sequenceParallel;
  options.cpLayout = cpLayout;
  options.cpAttention = cpAttention;
  options.gatherAgain = gatherAgain;
  options.recompute = recompute;
  options.zero = zero;
  options.zero3Reshard = zero3Reshard;
  options.microbatches = microbatches;
  options.bucketBytes = bucketBytes;
  options.schedule = schedule;
  return options;
}

/// More stages than some models have ops: these are refused.
static void drawPipeline(Chance &chance, Settings &s) {
  if (!chance.with(0.4))
    return;
  s.pp = chance.of({2, 2, 3, 4});
  s.schedule = chance.of<const char *>(
      {"1f1b", "gpipe", "zb-h1", "zb-h1", "zb-v", "interleaved"});
}

static void drawPrecision(Chance &chance, Settings &s) {
  if (!chance.with(0.25))
    return;
  s.precision = "bf16";
  s.gradType = chance.of<const char *>({"", "f32", "bf16"});
}

/// Some line for each dimension; what is usual is drawn more often.
static std::string drawRules(Chance &chance) {
  auto line = [&](const char *name, const char *usual, const char *tail) {
    std::string axes;
    if (chance.with(0.65)) {
      axes = usual;
    } else {
      SmallVector<StringRef> all = {"dp", "cp", "tp"}, picked;
      for (int64_t n = chance.between(0, 2); n > 0 && !all.empty(); --n) {
        int64_t at = chance.between(0, all.size() - 1);
        picked.push_back(all[at]);
        all.erase(all.begin() + at);
      }
      axes = llvm::join(picked, ", ");
    }
    return std::string(name) + " = " + axes +
           (chance.with(0.85) ? tail : chance.of({"", " major", " even"})) +
           "\n";
  };
  std::string text;
  text += line("batch", "dp", " even");
  text += line("seq", "cp", " even");
  text += line("norm_seq", chance.with(0.5) ? "cp" : "cp, tp", " even");
  text += line("heads", "tp", " even");
  text += line("kv_heads", "tp", " major even");
  text += line("mlp", "tp", "");
  text += line("vocab", "tp", "");
  for (const char *name : {"embed", "head_dim", "position", "experts",
                           "embed_out", "seq_in", "seq_out"})
    if (chance.with(0.15))
      text += line(name, "", "");
  return text;
}

static Settings drawSettings(Chance &chance) {
  Settings s;
  do {
    s.dp = chance.of({1, 1, 2, 2, 3, 4});
    s.cp = chance.of({1, 1, 1, 2, 2, 3, 4});
    s.tp = chance.of({1, 1, 2, 2, 3, 4});
  } while (s.numRanks() > (chance.with(0.9) ? 8 : 16) || s.numRanks() == 1);
  if (chance.with(0.25))
    s.rules = drawRules(chance);
  else
    s.sequenceParallel = s.tp > 1 && chance.with(0.45);
  s.gatherAgain = chance.with(s.sequenceParallel ? 0.4 : 0.1);
  if (s.cp > 1) {
    s.cpLayout = chance.of({"contiguous", "striped", "zigzag"});
    s.cpAttention = chance.of({"ring", "ring", "all-gather", "ulysses"});
  }
  s.microbatches = chance.of({1, 1, 2, 2, 3, 4});
  if (chance.with(0.4))
    s.recompute = chance.of({"selective", "full"});
  if (s.dp * s.cp > 1) {
    s.zero = chance.of({0, 0, 1, 2, 3, 3});
    if (s.zero == 3 && chance.with(0.3))
      s.zero3Reshard = "step";
  }
  if (chance.with(0.5))
    s.bucketBytes = chance.of({1, 64, 1000, 4096});
  return s;
}

std::vector<std::string> dtc::fuzz::drawSharding(Chance &chance,
                                                 const Settings &settings,
                                                 unsigned rank) {
  SmallVector<std::string> axes;
  for (auto [name, size] :
       {std::pair("dp", settings.dp), std::pair("cp", settings.cp),
        std::pair("tp", settings.tp)}) {
    if (size == 1)
      continue;
    std::string text(name);
    if (size == 4 && chance.with(0.4)) {
      axes.push_back(text + (chance.with(0.5) ? ":2" : ":(2)2"));
      continue;
    }
    axes.push_back(text + ":" + std::to_string(size));
  }
  std::vector<std::string> dims(rank);
  for (std::string &axis : axes)
    if (chance.with(0.7)) {
      // Mostly where the usual rules put it.
      bool usual = rank == 3 && chance.with(0.6);
      auto d = size_t(usual ? axis[0] != 'd' : chance.between(0, rank - 1));
      dims[d] += (dims[d].empty() ? "" : ", ") + axis;
    }
  return dims;
}

/// A multiple of `unit`, most of the time.
static int64_t drawMultiple(Chance &chance, int64_t unit, int64_t least) {
  int64_t n = unit * chance.between(1, 2);
  while (n < least)
    n += unit;
  return chance.with(0.03) ? n + 1 : n;
}

Sizes dtc::fuzz::drawSizes(Chance &chance, const Settings &s) {
  Sizes sizes;
  sizes.batch = drawMultiple(chance, s.dp * s.microbatches, 2);
  int64_t seqUnit = s.cp * (s.cpLayout == "zigzag" ? 2 : 1);
  if (s.sequenceParallel || !s.rules.empty())
    seqUnit =
        seqUnit % (s.cp * s.tp) ? s.cp * s.tp * (seqUnit / s.cp) : seqUnit;
  sizes.seq = drawMultiple(chance, seqUnit, chance.of({2, 4}));
  sizes.embed = chance.of({2, 4, 5, 6, 8});
  int64_t headUnit = s.tp * (s.cpAttention == "ulysses" ? s.cp : 1);
  sizes.heads = drawMultiple(chance, headUnit, 1);
  if (sizes.heads > 8 && sizes.heads != headUnit)
    sizes.heads = headUnit;
  SmallVector<int64_t> divisors;
  for (int64_t g = 1; g <= sizes.heads; ++g)
    if (sizes.heads % g == 0)
      divisors.push_back(g);
  sizes.kvHeads = chance.with(0.5) ? sizes.heads : chance.in(divisors);
  sizes.headDim = chance.of({2, 4});
  sizes.mlp = chance.between(2, 8);
  sizes.vocab = chance.between(4, 11);
  sizes.experts = chance.between(1, 3);
  return sizes;
}

//===----------------------------------------------------------------------===//
// Imported models
//===----------------------------------------------------------------------===//

static Imported drawImported(Chance &chance, const Settings &settings) {
  Imported model;
  model.sizes = drawSizes(chance, settings);
  model.llama = chance.with(0.5);
  model.layers = chance.between(1, 3);
  model.tied = chance.with(0.5);
  model.bias = chance.with(0.3);
  model.documents = chance.with(0.3);
  model.dropout = chance.with(0.4);
  model.activation = int(chance.between(0, 1));
  if (chance.with(0.25))
    model.labelSmoothing = 0.125;
  // gpt2 knows one kind of heads, and a width that they divide.
  if (!model.llama) {
    model.sizes.kvHeads = model.sizes.heads;
    model.sizes.embed = model.sizes.heads * model.sizes.headDim;
  }
  return model;
}

std::string Imported::config() const {
  std::string text = "{";
  auto add = [&](const char *key, const std::string &value) {
    text +=
        (text.size() > 1 ? ",\n \"" : "\"") + std::string(key) + "\": " + value;
  };
  auto number = [&](const char *key, int64_t n) {
    add(key, std::to_string(n));
  };
  auto flag = [&](const char *key, bool on) {
    add(key, on ? "true" : "false");
  };
  std::string rate = dropout ? "0.2" : "0.0";
  number("vocab_size", sizes.vocab);
  flag("tie_word_embeddings", tied);
  if (llama) {
    add("model_type", "\"llama\"");
    number("hidden_size", sizes.embed);
    number("num_hidden_layers", layers);
    number("num_attention_heads", sizes.heads);
    number("num_key_value_heads", sizes.kvHeads);
    number("head_dim", sizes.headDim);
    number("intermediate_size", sizes.mlp);
    number("max_position_embeddings", sizes.seq);
    flag("attention_bias", bias);
    flag("mlp_bias", bias);
    add("attention_dropout", rate);
  } else {
    add("model_type", "\"gpt2\"");
    number("n_embd", sizes.embed);
    number("n_layer", layers);
    number("n_head", sizes.heads);
    number("n_inner", sizes.mlp);
    number("n_positions", sizes.seq);
    add("activation_function", activation ? "\"gelu\"" : "\"gelu_new\"");
    for (const char *key : {"attn_pdrop", "embd_pdrop", "resid_pdrop"})
      add(key, rate);
  }
  return text + "}\n";
}

//===----------------------------------------------------------------------===//
// Cases
//===----------------------------------------------------------------------===//

uint64_t Case::dataSeed() const {
  return seed * 1000003 + uint64_t(number) + 1;
}

Case dtc::fuzz::drawCase(uint64_t seed, int64_t number) {
  Chance chance(seed, "case " + std::to_string(number));
  Case c;
  c.seed = seed;
  c.number = number;
  c.settings = drawSettings(chance);
  if (chance.with(0.25))
    c.imported = drawImported(chance, c.settings);
  else
    c.graph = drawGraph(chance, c.settings);
  drawPipeline(chance, c.settings);
  drawPrecision(chance, c.settings);
  return c;
}

Expected<std::string> dtc::fuzz::printModel(const Case &c) {
  if (c.graph)
    return printGraph(*c.graph);
  std::string warnings;
  raw_string_ostream os(warnings);
  auto config = parseConfig(c.imported->config(), "config.json", os);
  if (!config)
    return config.takeError();
  ImportOptions options;
  options.batch = c.imported->sizes.batch;
  options.seq = c.imported->sizes.seq;
  options.documents = c.imported->documents;
  options.labelSmoothing = c.imported->labelSmoothing;
  if (Error error = checkOptions(*config, options))
    return std::move(error);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::string text;
  raw_string_ostream out(text);
  buildModel(context, *config, options)->print(out);
  return text + "\n";
}
