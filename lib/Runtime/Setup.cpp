//===- Setup.cpp - Everything that is read before the first step ----------===//

#include "dtc/Runtime/Setup.h"
#include "dtc/Runtime/Checkpoint/Resume.h"
#include "dtc/Runtime/Error.h"
#include "dtc/Runtime/FileSystem.h"
#include "dtc/Runtime/Hash.h"

#include <algorithm>
#include <cstring>

using namespace dtc::rt;

void Setup::open() {
  if (options.ranks && *options.ranks != program.ranks())
    throw Error(cat("--ranks=", *options.ranks,
                    ": the program is compiled for ", program.ranks(),
                    " ranks (", program.meshText(), ")"));
  checkCpuFeatures(program.cpuFeatures, program.cpu);

  if (!options.config.empty()) {
    MappedFile file(options.config);
    config = TrainConfig::parse({file.data(), size_t(file.size())},
                                options.config, program.batch, program.seq);
  }

  openCheckpoint(*this);
  if (!options.batches.empty())
    data = openBatches(options.batches, program);
  else if (!options.text.empty())
    data = openTokens(options.text, 1, options.seed, program);
  else
    data = openTokens(options.tokens, program.vocab <= 65536 ? 2 : 4,
                      options.seed, program);

  openSteps();

  if (!options.weights.empty())
    weights = std::make_unique<WeightFiles>(options.weights, program);

  describeResume(*this);
  checkSaveFolder(*this);

  checkOutputs();
}

/// Better now than after hours.
void Setup::checkOutputs() const {
  std::vector<std::pair<const char *, std::string>> inputs = {
      {"--batches", options.batches},
      {"--text", options.text},
      {"--tokens", options.tokens},
      {"--config", options.config}};
  if (weights)
    for (const auto &file : weights->files())
      inputs.push_back({"--weights", file->file().path()});
  const std::pair<const char *, const std::string &> outputs[] = {
      {"--log", options.log},
      {"--dump-grads", options.dumpGrads},
      {"--save-weights", options.saveWeights},
      {"--trace", options.trace},
      {"--profile", options.profile}};
  for (auto &[flag, path] : outputs) {
    if (path.empty())
      continue;
    checkWritable(path, flag);
    // Weights that take the place of those that were loaded appear whole, when
    // nobody reads the old ones any more.
    for (auto &[input, inputPath] : inputs)
      if (isSameFile(path, inputPath) &&
          (strcmp(flag, "--save-weights") || strcmp(input, "--weights")))
        throw Error(cat(flag, ": '", path, "' is read by ", input,
                        " and would be overwritten"));
    for (auto &[other, otherPath] : outputs)
      if (flag != other && path == otherPath && path.compare(0, 5, "/dev/"))
        throw Error(
            cat(flag, " and ", other, " name the same file, '", path, "'"));
  }
}

/// How many steps there are, and the data for those that are left.
void Setup::openSteps() {
  steps = options.steps.value_or(config.steps);
  bool endless = data->samples() == INT64_MAX;
  int64_t left =
      std::max<int64_t>(0, data->samples() - start.samples) / program.batch;
  if (steps == 0) {
    if (endless)
      throw Error("the number of steps is not given: give --steps N or "
                  "--config train.json");
    steps = start.step + left;
  }
  if (steps < start.step)
    throw Error(cat("the checkpoint '", checkpoint->path(), "' has ",
                    start.step, " steps, more than the ", steps,
                    " of this run"));
  if (!endless && steps - start.step > left)
    throw Error(start.step == 0
                    ? cat(data->file().path(), ": it has ", left,
                          " batches, fewer than the ", steps, " steps")
                    : cat(data->file().path(), ": it has ", data->samples(),
                          " samples; after the ", start.samples,
                          " that were seen they are enough for step ",
                          start.step + left, ", not for the ", steps,
                          " steps"));
  if (steps == 0)
    throw Error(data->file().path() + ": it has no batches");
  data->check(start.samples,
              start.samples + (steps - start.step) * program.batch);
}

static uint64_t hashFile(const MappedFile &file, uint64_t h) {
  // All of a small file; of a large one its size, both ends and a page of
  // every mebibyte, so that the start does not read a whole corpus.
  constexpr int64_t small = int64_t(256) << 20, step = int64_t(1) << 20;
  if (file.size() <= small)
    return hashBytes(file.data(), size_t(file.size()), h);
  h = hashBytes(file.data(), size_t(step), h ^ uint64_t(file.size()));
  for (int64_t at = step; at + 4096 <= file.size(); at += step)
    h = hashBytes(file.data() + at, 4096, h);
  return hashBytes(file.data() + file.size() - step, size_t(step), h);
}

template <typename T> static uint64_t hashValue(const T &value, uint64_t h) {
  return hashBytes(&value, sizeof(value), h);
}

std::vector<Setup::Part> Setup::fingerprint() const {
  uint64_t text = hashBytes(program.hash.data(), program.hash.size(), 1);
  for (const std::string *part : {&program.version, &program.flags})
    text = hashBytes(part->data(), part->size(), text);

  uint64_t settings = 2;
  for (double x : {config.lr, config.beta1, config.beta2, config.eps,
                   config.weightDecay, config.gradClip, config.schedule.minLr})
    settings = hashValue(x, settings);
  for (int64_t x : {int64_t(config.schedule.kind), config.schedule.warmupSteps,
                    config.schedule.decaySteps})
    settings = hashValue(x, settings);

  uint64_t arguments = 3;
  for (int64_t x :
       {steps, options.saveEvery.value_or(0), options.keep.value_or(0),
        int64_t(options.save.empty()), int64_t(options.saveSync),
        int64_t(options.resume.empty()), int64_t(options.resumeWeightsOnly),
        int64_t(options.seed), int64_t(options.ring), options.maxSkipped,
        int64_t(options.dumpGrads.empty()),
        int64_t(options.saveWeights.empty()), int64_t(options.trace.empty()),
        int64_t(!weights), int64_t(options.batches.empty()),
        int64_t(options.text.empty())})
    arguments = hashValue(x, arguments);

  std::string resumed = checkpoint ? checkpoint->manifest().text() : "";
  uint64_t weightHash = hashBytes(resumed.data(), resumed.size(), 5);
  if (weights)
    for (const auto &file : weights->files())
      weightHash = hashFile(file->file(), weightHash);
  return {{"the compiled program", text},
          {"settings (train.json)", settings},
          {"arguments", arguments},
          {"training data", hashFile(data->file(), 4)},
          {checkpoint ? "the checkpoint" : "weights", weightHash}};
}
