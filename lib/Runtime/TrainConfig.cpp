//===- TrainConfig.cpp - train.json ---------------------------------------===//

#include "dtc/Runtime/TrainConfig.h"
#include "dtc/Runtime/Error.h"
#include "dtc/Runtime/JsonInput.h"

#include <cmath>
#include <limits>

using namespace dtc::rt;

double TrainConfig::lrAt(int64_t t) const {
  int64_t warmup = schedule.warmupSteps, decay = schedule.decaySteps;
  if (t < warmup)
    return lr * double(t + 1) / double(warmup);
  if (schedule.kind == Schedule::Kind::Constant)
    return lr;
  if (t >= decay)
    return schedule.minLr;
  double done = double(t - warmup) / double(decay - warmup);
  double left = schedule.kind == Schedule::Kind::Linear
                    ? 1 - done
                    : 0.5 * (1 + std::cos(M_PI * done));
  return schedule.minLr + (lr - schedule.minLr) * left;
}

static Schedule parseSchedule(const Json &json, const std::string &where,
                              double lr) {
  ObjectReader reader(json, where + ": schedule");
  Schedule schedule;
  std::string kind = reader.text("kind");
  if (kind == "linear")
    schedule.kind = Schedule::Kind::Linear;
  else if (kind == "cosine")
    schedule.kind = Schedule::Kind::Cosine;
  else if (kind != "constant")
    throw Error(cat(reader.location(), ": kind '", kind,
                    "' is unknown; it may be constant, linear or cosine"));
  if (reader.has("warmup_steps"))
    schedule.warmupSteps = reader.integer("warmup_steps", 0, INT64_MAX);
  // A constant rate does not decay; the keys are checked and not used.
  if (reader.has("decay_steps") || kind != "constant")
    schedule.decaySteps =
        reader.integer("decay_steps", schedule.warmupSteps, INT64_MAX);
  if (reader.has("min_lr"))
    schedule.minLr = reader.number("min_lr", 0, lr);
  reader.finish("kind, warmup_steps, decay_steps, min_lr");
  return schedule;
}

TrainConfig TrainConfig::parse(std::string_view text, const std::string &where,
                               int64_t batch, int64_t seq) {
  Json json = parseJson(text, where);
  ObjectReader reader(json, where);
  TrainConfig config;
  // Programs take them as f32.
  const double most = std::numeric_limits<float>::max();
  config.lr = reader.number("lr", 0, most);
  const Json &betas = reader.member("betas");
  if (!betas.is_array() || betas.size() != 2 || !betas[0].is_number() ||
      !betas[1].is_number())
    throw Error(where + ": 'betas' must be two numbers");
  config.beta1 = betas[0].get<double>();
  config.beta2 = betas[1].get<double>();
  for (double beta : {config.beta1, config.beta2})
    if (!(beta >= 0 && beta < 1))
      throw Error(cat(where, ": 'betas' are ", betas.dump(),
                      "; each must be at least 0 and less than 1"));
  config.eps = reader.number("eps", 0, most);
  config.weightDecay = reader.number("weight_decay", 0, most);
  config.gradClip = reader.number("grad_clip", 0, most);
  config.steps = reader.integer("steps", 1, INT32_MAX);
  int64_t fileBatch = reader.integer("batch", 1, INT64_MAX);
  int64_t fileSeq = reader.integer("seq", 1, INT64_MAX);
  if (reader.has("schedule"))
    config.schedule =
        parseSchedule(reader.member("schedule"), where, config.lr);
  reader.finish("lr, betas, eps, weight_decay, grad_clip, steps, batch, seq, "
                "schedule");
  if (fileBatch != batch)
    throw Error(cat(where, ": 'batch' is ", fileBatch,
                    ", the program is compiled for ", batch));
  if (fileSeq != seq)
    throw Error(cat(where, ": 'seq' is ", fileSeq,
                    ", the program is compiled for ", seq));
  return config;
}
