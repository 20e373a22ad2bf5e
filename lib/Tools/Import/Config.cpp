//===- Config.cpp - A Hugging Face model config, understood ---------------===//

#include "dtc/Tools/Import/Config.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <map>
#include <optional>

using namespace llvm;

namespace dtc {

/// Ids and positions are i32.
static constexpr int64_t maxSize = (int64_t(1) << 31) - 1;
/// A module holds a call per layer.
static constexpr int64_t maxLayers = 10000;
/// So that byte counts of everything that is made of them fit 64 bits.
static constexpr uint64_t maxElements = uint64_t(1) << 48;
/// The JSON parser recurses.
static constexpr unsigned maxNesting = 64;

static std::string atLine(StringRef path, unsigned line) {
  return (path + ":" + Twine(line) + ": ").str();
}

static Error makeError(const Twine &message) {
  return createStringError(message);
}

/// `value` as it would stand in the file, cut when long.
static std::string show(const json::Value &value) {
  std::string text;
  raw_string_ostream(text) << value;
  if (text.size() > 60)
    text = text.substr(0, 57) + "...";
  return text;
}

static std::string listDivisors(int64_t n) {
  SmallVector<int64_t> low, high;
  for (int64_t d = 1; d * d <= n; ++d) {
    if (n % d)
      continue;
    low.push_back(d);
    if (d != n / d)
      high.push_back(n / d);
  }
  llvm::append_range(low, llvm::reverse(high));
  std::string text;
  for (auto [i, d] : llvm::enumerate(low)) {
    if (i)
      text += i + 1 == low.size() ? " or " : ", ";
    text += std::to_string(d);
  }
  return text;
}

namespace {
/// Lines on which the keys of an object stand, and those of the objects in it
/// as `outer.inner`; and how deep the text nests. The text need not be valid.
struct KeyLines {
  explicit KeyLines(StringRef text);

  unsigned lookup(StringRef key) const {
    auto it = lines.find(key);
    return it == lines.end() ? 1 : it->second;
  }

  StringMap<unsigned> lines;
  unsigned nesting = 0;
  unsigned nestingLine = 1;
};
} // namespace

KeyLines::KeyLines(StringRef text) {
  unsigned line = 1, depth = 0;
  std::string outer;
  for (size_t i = 0, e = text.size(); i < e; ++i) {
    char c = text[i];
    if (c == '\n') {
      ++line;
    } else if (c == '{' || c == '[') {
      if (++depth > nesting) {
        nesting = depth;
        nestingLine = line;
      }
    } else if ((c == '}' || c == ']') && depth) {
      --depth;
    } else if (c == '"') {
      size_t begin = i + 1;
      for (++i; i < e && text[i] != '"'; ++i) {
        if (text[i] == '\n')
          ++line;
        else if (text[i] == '\\')
          ++i;
      }
      StringRef string = text.slice(begin, std::min(i, e));
      StringRef rest = text.substr(std::min(i + 1, e)).ltrim();
      if (!rest.starts_with(":"))
        continue;
      if (depth == 1) {
        outer = string.str();
        lines[string] = line;
      } else if (depth == 2) {
        lines[outer + "." + string.str()] = line;
      }
    }
  }
}

/// Keys that say nothing about the mathematics of training.
static bool isHarmless(StringRef key) {
  static const StringSet<> keys = {
      // What the file is about.
      "model_type", "architectures", "transformers_version", "_name_or_path",
      "name_or_path", "_commit_hash", "auto_map", "tokenizer_class", "prefix",
      // Storage and execution.
      "torch_dtype", "dtype", "use_cache", "torchscript", "use_bfloat16",
      "tf_legacy_loss", "gradient_checkpointing", "pretraining_tp",
      "attn_implementation", "_attn_implementation",
      "_attn_implementation_autoset", "_attn_implementation_internal",
      "chunk_size_feed_forward", "keys_to_ignore_at_inference",
      "base_model_tp_plan", "base_model_pp_plan", "return_dict",
      "output_attentions", "output_hidden_states", "return_dict_in_generate",
      "output_scores",
      // Tokens, and heads of other tasks.
      "bos_token_id", "eos_token_id", "pad_token_id", "sep_token_id",
      "unk_token_id", "cls_token_id", "mask_token_id", "decoder_start_token_id",
      "task_specific_params", "finetuning_task", "id2label", "label2id",
      "num_labels", "problem_type", "summary_type", "summary_use_proj",
      "summary_activation", "summary_proj_to_labels", "summary_first_dropout",
      "classifier_dropout", "n_ctx", "is_decoder",
      // Text generation.
      "max_length", "min_length", "do_sample", "early_stopping", "num_beams",
      "num_beam_groups", "diversity_penalty", "temperature", "top_k", "top_p",
      "typical_p", "repetition_penalty", "length_penalty",
      "no_repeat_ngram_size", "encoder_no_repeat_ngram_size", "bad_words_ids",
      "num_return_sequences", "forced_bos_token_id", "forced_eos_token_id",
      "remove_invalid_values", "exponential_decay_length_penalty",
      "suppress_tokens", "begin_suppress_tokens", "generation_config"};
  return keys.contains(key);
}

namespace {
/// Reads keys with their types and remembers the first error and what was read.
class Reader {
public:
  Reader(const json::Object &object, StringRef path, const KeyLines &lines)
      : object(object), path(path), lines(lines) {}

  bool failed() const { return !message.empty(); }
  Error takeError() { return makeError(message); }

  void fail(StringRef key, const Twine &what) {
    if (!failed())
      message = atLine(path, lines.lookup(key)) + "error: " + what.str();
  }

  /// The value of `key`, or of its alias in Hugging Face's attribute maps.
  const json::Value *find(StringRef &key, StringRef alias = {}) {
    const json::Value *value = object.get(key);
    known.insert(key);
    if (alias.empty())
      return value;
    known.insert(alias);
    const json::Value *other = object.get(alias);
    if (value && other && *value != *other)
      fail(alias, key + "=" + show(*value) + " and " + alias + "=" +
                      show(*other) + " are two names of one thing; give one");
    if (!value && other) {
      key = alias;
      value = other;
    }
    return value;
  }

  /// A size in [1, limit].
  int64_t size(StringRef key, int64_t absent, StringRef alias = {},
               int64_t limit = maxSize, bool nullable = false) {
    const json::Value *value = find(key, alias);
    if (!value || (nullable && value->kind() == json::Value::Null))
      return absent;
    std::optional<int64_t> number;
    if (value->kind() == json::Value::Number)
      number = value->getAsInteger();
    if (!number || *number < 1 || *number > limit) {
      fail(key, key + "=" + show(*value) +
                    " must be a whole number from 1 to " + Twine(limit));
      return absent;
    }
    return *number;
  }

  /// A finite number for which `legal` holds; `range` says so in words.
  double number(StringRef key, double absent, StringRef range,
                function_ref<bool(double)> legal) {
    const json::Value *value = find(key);
    if (!value)
      return absent;
    std::optional<double> number = value->getAsNumber();
    if (!number || !std::isfinite(*number) || !legal(*number)) {
      fail(key, key + "=" + show(*value) + " must be a number " + range);
      return absent;
    }
    return *number;
  }

  double probability(StringRef key, double absent) {
    return number(key, absent, "at least 0 and below 1",
                  [](double x) { return x >= 0 && x < 1; });
  }
  double positive(StringRef key, double absent) {
    return number(key, absent, "above 0", [](double x) { return x > 0; });
  }

  bool flag(StringRef key, bool absent) {
    const json::Value *value = find(key);
    if (!value)
      return absent;
    std::optional<bool> boolean = value->getAsBoolean();
    if (!boolean)
      fail(key, key + "=" + show(*value) + " must be true or false");
    return boolean.value_or(absent);
  }

  /// A key that only one value of is supported: the one that it has when it is
  /// absent.
  void require(StringRef key, const json::Value &only) {
    const json::Value *value = find(key);
    if (value && *value != only && value->kind() != json::Value::Null)
      fail(key, key + "=" + show(*value) + " is not supported; it may be " +
                    show(only));
  }

  void warnUnknown(ModelType type, raw_ostream &warnings) const {
    std::map<std::pair<unsigned, std::string>, StringRef> unknown;
    for (const auto &entry : object) {
      StringRef key = entry.first;
      if (!known.contains(key) && !isHarmless(key))
        unknown[{lines.lookup(key), key.str()}] = key;
    }
    for (const auto &[where, key] : unknown) {
      warnings << atLine(path, where.first) << "warning: ";
      printEscapedString(key, warnings);
      warnings << " is no key of a " << toString(type)
               << " config that DTC knows; it is ignored\n";
    }
  }

  const json::Object &object;
  StringRef path;
  const KeyLines &lines;

private:
  StringSet<> known;
  std::string message;
};
} // namespace

static Activation readActivation(Reader &reader, StringRef key,
                                 Activation absent) {
  const json::Value *value = reader.find(key);
  if (!value)
    return absent;
  auto activation =
      StringSwitch<std::optional<Activation>>(value->getAsString().value_or(""))
          .Cases({"gelu_new", "gelu_pytorch_tanh"}, Activation::GeluTanh)
          .Case("gelu", Activation::Gelu)
          .Cases({"silu", "swish"}, Activation::Silu)
          .Default(std::nullopt);
  if (!activation)
    reader.fail(key, key + "=" + show(*value) +
                         " is not supported; it may be gelu_new, "
                         "gelu_pytorch_tanh, gelu, silu or swish");
  return activation.value_or(absent);
}

/// The default rope type alone is supported, spelled in any of three ways.
static double readRope(Reader &reader) {
  constexpr double absent = 10000;
  double theta = reader.positive("rope_theta", absent);
  bool given = reader.object.get("rope_theta");
  for (StringRef outer : {"rope_scaling", "rope_parameters"}) {
    const json::Value *value = reader.find(outer);
    if (!value || value->kind() == json::Value::Null)
      continue;
    const json::Object *object = value->getAsObject();
    if (!object) {
      reader.fail(outer,
                  outer + "=" + show(*value) + " must be an object or null");
      continue;
    }
    for (const auto &entry : *object) {
      StringRef key = entry.first;
      const json::Value &inner = entry.second;
      std::string name = (outer + "." + key).str();
      auto refuse = [&](const Twine &legal) {
        reader.fail(name, name + "=" + show(inner) +
                              " is not supported; it may be " + legal);
      };
      if (key == "type" || key == "rope_type") {
        if (inner.getAsString() != StringRef("default"))
          refuse("\"default\"");
      } else if (key == "rope_theta") {
        std::optional<double> number = inner.getAsNumber();
        if (!number || !std::isfinite(*number) || *number <= 0) {
          reader.fail(name,
                      name + "=" + show(inner) + " must be a number above 0");
        } else if (given && *number != theta) {
          reader.fail(name, name + "=" + show(inner) +
                                " contradicts another rope_theta in this file");
        } else {
          theta = *number;
          given = true;
        }
      } else if (key == "partial_rotary_factor") {
        if (inner.getAsNumber() != 1.0)
          refuse("1");
      } else if (key != "original_max_position_embeddings" &&
                 inner.kind() != json::Value::Null) {
        reader.fail(name, name + "=" + show(inner) +
                              " is not supported with the default rope type");
      }
    }
  }
  return theta;
}

static void readCommon(Reader &reader, ModelConfig &config) {
  config.initializerRange =
      reader.number("initializer_range", 0.02, "of at least 0",
                    [](double x) { return x >= 0; });
  reader.require("add_cross_attention", false);
  reader.require("is_encoder_decoder", false);
  reader.require("tie_encoder_decoder", false);
  reader.require("pruned_heads", json::Object{});
  reader.require("quantization_config", nullptr);
}

static ModelConfig readGPT2(Reader &reader) {
  ModelConfig config;
  config.type = ModelType::GPT2;
  config.vocab = reader.size("vocab_size", 50257);
  config.positions =
      reader.size("n_positions", 1024, "max_position_embeddings");
  config.hidden = reader.size("n_embd", 768, "hidden_size");
  config.layers = reader.size("n_layer", 12, "num_hidden_layers", maxLayers);
  config.heads = reader.size("n_head", 12, "num_attention_heads");
  config.mlp = reader.size("n_inner", 4 * config.hidden, {}, maxSize,
                           /*nullable=*/true);
  config.activation =
      readActivation(reader, "activation_function", Activation::GeluTanh);
  config.residualDropout = reader.probability("resid_pdrop", 0.1);
  config.embeddingDropout = reader.probability("embd_pdrop", 0.1);
  config.attentionDropout = reader.probability("attn_pdrop", 0.1);
  config.normEps = reader.positive("layer_norm_epsilon", 1e-5);
  config.tied = reader.flag("tie_word_embeddings", true);
  config.attentionBias = config.mlpBias = true;
  reader.require("scale_attn_weights", true);
  reader.require("scale_attn_by_inverse_layer_idx", false);
  reader.require("reorder_and_upcast_attn", false);
  readCommon(reader, config);

  if (config.hidden % config.heads)
    reader.fail("n_head",
                "n_head=" + Twine(config.heads) +
                    " does not divide n_embd=" + Twine(config.hidden) +
                    "; it may be " + listDivisors(config.hidden));
  config.kvHeads = config.heads;
  config.headDim = config.hidden / config.heads;
  return config;
}

static ModelConfig readLlama(Reader &reader) {
  ModelConfig config;
  config.type = ModelType::Llama;
  config.vocab = reader.size("vocab_size", 32000);
  config.positions = reader.size("max_position_embeddings", 2048);
  config.hidden = reader.size("hidden_size", 4096);
  config.layers = reader.size("num_hidden_layers", 32, {}, maxLayers);
  config.heads = reader.size("num_attention_heads", 32);
  config.kvHeads = reader.size("num_key_value_heads", config.heads, {}, maxSize,
                               /*nullable=*/true);
  int64_t absent = 0;
  config.headDim =
      reader.size("head_dim", absent, {}, maxSize, /*nullable=*/true);
  config.mlp = reader.size("intermediate_size", 11008);
  config.activation = readActivation(reader, "hidden_act", Activation::Silu);
  config.attentionDropout = reader.probability("attention_dropout", 0.0);
  config.normEps = reader.positive("rms_norm_eps", 1e-6);
  config.ropeTheta = readRope(reader);
  config.tied = reader.flag("tie_word_embeddings", false);
  config.attentionBias = reader.flag("attention_bias", false);
  config.mlpBias = reader.flag("mlp_bias", false);
  // Keys of Llama's relatives, which share its code elsewhere.
  reader.require("partial_rotary_factor", 1.0);
  reader.require("rope_interleaved", false);
  for (StringRef key :
       {"sliding_window", "attn_logit_softcapping", "final_logit_softcapping",
        "embedding_multiplier", "residual_multiplier", "attention_multiplier",
        "logits_scaling", "clip_qkv", "num_local_experts", "num_experts"})
    reader.require(key, nullptr);
  readCommon(reader, config);

  if (config.heads % config.kvHeads)
    reader.fail(
        "num_key_value_heads",
        "num_key_value_heads=" + Twine(config.kvHeads) +
            " does not divide num_attention_heads=" + Twine(config.heads) +
            "; it may be " + listDivisors(config.heads));
  if (config.headDim == absent) {
    if (config.hidden % config.heads)
      reader.fail("num_attention_heads",
                  "num_attention_heads=" + Twine(config.heads) +
                      " does not divide hidden_size=" + Twine(config.hidden) +
                      ", and there is no head_dim; it may be " +
                      listDivisors(config.hidden));
    config.headDim = std::max<int64_t>(config.hidden / config.heads, 1);
    if (config.headDim % 2)
      reader.fail("num_attention_heads",
                  "hidden_size=" + Twine(config.hidden) +
                      " over num_attention_heads=" + Twine(config.heads) +
                      " is a head of " + Twine(config.headDim) +
                      "; rotary embedding turns pairs, so it must be even");
  } else if (config.headDim % 2) {
    reader.fail("head_dim", "head_dim=" + Twine(config.headDim) +
                                " must be even: rotary embedding turns pairs");
  }
  return config;
}

StringRef toString(ModelType type) {
  return type == ModelType::GPT2 ? "gpt2" : "llama";
}

int64_t ModelConfig::countParameters() const {
  auto times = [](uint64_t a, uint64_t b) { return SaturatingMultiply(a, b); };
  auto plus = [](auto... terms) {
    uint64_t sum = 0;
    ((sum = SaturatingAdd<uint64_t>(sum, terms)), ...);
    return sum;
  };
  bool gpt2 = type == ModelType::GPT2;
  uint64_t queries = times(heads, headDim), keys = times(kvHeads, headDim);
  uint64_t norm = gpt2 ? times(2, hidden) : hidden;
  // Matrices, then biases.
  uint64_t attention =
      plus(times(hidden, plus(queries, keys, keys)), times(queries, hidden));
  uint64_t feedForward = times(gpt2 ? 2 : 3, times(hidden, mlp));
  if (attentionBias)
    attention = plus(attention, queries, keys, keys, hidden);
  if (mlpBias)
    feedForward = plus(feedForward, times(gpt2 ? 1 : 2, mlp), hidden);
  uint64_t embeddings = times(tied ? 1 : 2, times(vocab, hidden));
  if (gpt2)
    embeddings = plus(embeddings, times(positions, hidden));
  uint64_t total =
      plus(embeddings, norm,
           times(layers, plus(attention, feedForward, norm, norm)));
  return std::min<uint64_t>(total, INT64_MAX);
}

Expected<ModelConfig> parseConfig(StringRef text, StringRef path,
                                  raw_ostream &warnings) {
  KeyLines lines(text);
  if (lines.nesting > maxNesting)
    return makeError(atLine(path, lines.nestingLine) +
                     "error: nested more than " + Twine(maxNesting) + " deep");
  Expected<json::Value> root = json::parse(text);
  if (!root) {
    // The parser says "[line:column, byte=offset]: what".
    std::string message = llvm::toString(root.takeError());
    StringRef rest = message;
    unsigned line = 1;
    if (rest.consume_front("[") && !rest.consumeInteger(10, line))
      rest = rest.split("]: ").second;
    else
      rest = message;
    return makeError(atLine(path, line) + "error: not JSON: " + rest);
  }
  const json::Object *object = root->getAsObject();
  if (!object)
    return makeError(atLine(path, 1) +
                     "error: a model config is a JSON object");

  Reader reader(*object, path, lines);
  const json::Value *type = object->get("model_type");
  std::optional<StringRef> name;
  if (type)
    name = type->getAsString();
  ModelConfig config;
  if (name == StringRef("gpt2")) {
    config = readGPT2(reader);
  } else if (name == StringRef("llama")) {
    config = readLlama(reader);
  } else if (!type) {
    reader.fail("model_type",
                "there is no model_type; it may be gpt2 or llama");
  } else {
    reader.fail("model_type", "model_type=" + show(*type) +
                                  " is not supported; it may be gpt2 or llama");
  }
  if (!reader.failed() &&
      static_cast<uint64_t>(config.countParameters()) > maxElements)
    reader.fail("model_type",
                "this model would have more than 2^48 parameters");
  if (reader.failed())
    return reader.takeError();
  reader.warnUnknown(config.type, warnings);
  return config;
}

Error checkOptions(const ModelConfig &config, const ImportOptions &options) {
  for (auto [flag, value] :
       {std::pair<StringRef, int64_t>("batch", options.batch),
        {"seq", options.seq}})
    if (value < 1 || value > maxSize)
      return makeError("error: --" + flag + "=" + Twine(value) +
                       " must be a whole number from 1 to " + Twine(maxSize));
  if (config.type == ModelType::GPT2 && options.seq > config.positions)
    return makeError(
        "error: --seq=" + Twine(options.seq) +
        " is more than the config's n_positions=" + Twine(config.positions) +
        "; it may be 1 to " + Twine(config.positions));
  // The widest activation, over all ranks.
  uint64_t width = std::max(
      {config.vocab, config.mlp, config.hidden, config.heads * config.headDim});
  uint64_t tokens = SaturatingMultiply<uint64_t>(options.batch, options.seq);
  if (tokens > static_cast<uint64_t>(maxSize) ||
      SaturatingMultiply(tokens, width) > maxElements)
    return makeError("error: --batch=" + Twine(options.batch) +
                     " times --seq=" + Twine(options.seq) +
                     " is too large: at most 2^31-1 tokens "
                     "and 2^48 elements in an activation");
  if (!(options.labelSmoothing >= 0 && options.labelSmoothing < 1)) {
    std::string value;
    raw_string_ostream(value) << format("%g", options.labelSmoothing);
    return makeError("error: --label-smoothing=" + value +
                     " must be a number at least 0 and below 1");
  }
  return Error::success();
}

} // namespace dtc
