//===- Resume.cpp - Going on from a checkpoint ----------------------------===//

#include "dtc/Runtime/Checkpoint/Resume.h"
#include "dtc/Runtime/Checkpoint/Folder.h"
#include "dtc/Runtime/Checkpoint/SameModel.h"
#include "dtc/Runtime/Error.h"
#include "dtc/Runtime/FileSystem.h"
#include "dtc/Runtime/Setup.h"

#include <unistd.h>

using namespace dtc::rt;

/// The value of a flag of dtc-compile, in a command line of flags.
static std::string compileFlag(const std::string &flags,
                               const std::string &name,
                               const std::string &otherwise) {
  std::string text = " " + flags + " ", wanted = " " + name;
  size_t at = text.rfind(wanted + "=");
  if (at == std::string::npos)
    at = text.rfind(wanted + " ");
  if (at == std::string::npos)
    return otherwise;
  at += wanted.size() + 1;
  return text.substr(at, text.find(' ', at) - at);
}

Json dtc::rt::describeRun(const Setup &setup) {
  const Program &program = setup.program;
  const TrainConfig &config = setup.config;
  const Schedule &schedule = config.schedule;
  Json json;
  json["version"] = program.version;
  json["mesh"] = program.meshText();
  json["batch"] = program.batch;
  json["seq"] = program.seq;
  json["microbatches"] = program.microbatches;
  json["zero"] = compileFlag(program.flags, "--zero", "0");
  json["precision"] = compileFlag(program.flags, "--precision", "f32");
  json["compile flags"] = program.flags;
  json["seed"] = setup.options.seed;
  json["data"] = !setup.options.batches.empty() ? "batches"
                 : !setup.options.text.empty()  ? "text"
                                                : "tokens";
  json["data bytes"] = setup.data->file().size();
  json["steps"] = setup.steps;
  json["lr"] = config.lr;
  json["betas"] = {config.beta1, config.beta2};
  json["eps"] = config.eps;
  json["weight_decay"] = config.weightDecay;
  json["grad_clip"] = config.gradClip;
  static const char *const kinds[] = {"constant", "linear", "cosine"};
  json["schedule"] = kinds[int(schedule.kind)];
  json["warmup_steps"] = schedule.warmupSteps;
  json["decay_steps"] = schedule.decaySteps;
  json["min_lr"] = schedule.minLr;
  json["collectives"] = setup.options.ring ? "ring" : "direct";
  return json;
}

void dtc::rt::openCheckpoint(Setup &setup) {
  const Options &options = setup.options;
  if (options.resume.empty())
    return;
  setup.checkpoint = Checkpoint::open(options.resume, setup.notes);
  for (std::string &line : setup.notes)
    line = "skipped " + line;
  setup.checkpoint->choose(setup.program, options.resumeWeightsOnly);
  if (options.resumeWeightsOnly)
    return;
  const Manifest &manifest = setup.checkpoint->manifest();
  setup.start = manifest.state;
  if (!options.seedGiven)
    setup.options.seed = manifest.seed;
}

/// A model that was written by hand has no config.
static std::vector<std::string> compareConfigs(const Checkpoint &from,
                                               const Program &program) {
  const char *name = "config.json";
  if (!from.manifest().find(name) || program.config.empty())
    return {};
  std::string path = from.path() + "/" + name;
  return compareModels(parseJson(readText(path), path),
                       parseJson(program.config, "the program's config"), path);
}

void dtc::rt::describeResume(Setup &setup) {
  if (!setup.checkpoint)
    return;
  const Checkpoint &from = *setup.checkpoint;
  const TrainState &state = from.manifest().state;
  std::vector<std::string> changes = compareConfigs(from, setup.program);
  if (setup.options.resumeWeightsOnly) {
    setup.notes.push_back(
        cat("weights of '", from.path(), "', step ", state.step));
  } else {
    setup.notes.push_back(cat("resumes '", from.path(), "': ", state.step,
                              " steps and ", state.samples,
                              " samples are done"));
    for (const std::string &line :
         differences(from.manifest().settings, describeRun(setup)))
      changes.push_back(line);
  }
  for (const std::string &line : changes)
    setup.notes.push_back("  " + line);
}

void dtc::rt::checkSaveFolder(const Setup &setup) {
  const std::string &folder = setup.options.save;
  if (folder.empty())
    return;
  if (exists(folder) && !isFolder(folder))
    throw Error(cat("--save: '", folder, "' is not a folder"));
  const std::string &parent = exists(folder) ? folder : folderOf(folder);
  if (access(parent.c_str(), W_OK | X_OK) != 0)
    throw Error(
        cat("--save: cannot create '", folder, "': ", errnoText(errno)));
  for (int64_t step : listCheckpoints(folder)) {
    if (step <= setup.start.step)
      return;
    std::string path = folder + "/" + checkpointName(step);
    try {
      checkComplete(path);
    } catch (const Error &) {
      continue;
    }
    throw Error(cat("--save: '", path, "' is later than step ",
                    setup.start.step,
                    ", where this run begins, and would be "
                    "taken for its newest: resume from it with --resume '",
                    folder, "', remove it, or save to another folder"));
  }
}

void dtc::rt::loadCheckpoint(dtc_rank &rank, const Setup &setup, char *arena) {
  std::vector<uint64_t> mine =
      setup.checkpoint->load(setup.program, rank.id, arena);
  std::vector<int64_t> sums(mine.begin(), mine.end());
  AllReduce add(rank, "checksums", DTC_SUM, int64_t(sums.size()));
  Unwatched fileWork(rank);
  add.run(sums.data());
  std::string damaged =
      setup.checkpoint->findDamage({sums.begin(), sums.end()});
  if (damaged.empty())
    return;
  if (rank.id == 0)
    throw Error(cat("'", damaged,
                    "' is damaged: its tensors do not have the "
                    "checksum that ",
                    Manifest::fileName, " says; remove '",
                    setup.checkpoint->path(),
                    "' to resume from an older "
                    "checkpoint"));
  barrier(rank);
}
