//===- Trainer.cpp - The loop over steps ----------------------------------===//

#include "dtc/Runtime/Trainer.h"
#include "dtc/Runtime/AtomicFile.h"
#include "dtc/Runtime/Checkpoint/Resume.h"
#include "dtc/Runtime/Checkpoint/Saver.h"
#include "dtc/Runtime/Error.h"
#include "dtc/Runtime/JsonInput.h"
#include "dtc/Runtime/Log.h"
#include "dtc/Runtime/Signals.h"

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>

using namespace dtc::rt;

namespace {

/// What all ranks stop for.
struct Stop {
  int signal = 0; // 0: none
  bool timeUp = false;

  explicit operator bool() const { return signal || timeUp; }
};

class RankTrainer {
public:
  RankTrainer(dtc_rank &rank, const Setup &setup, const ProgramCode &code)
      : rank(rank), setup(setup), program(setup.program), config(setup.config),
        code(code), places(program.of(rank.id)),
        arena(places.arenaBytes, "a rank's arena"),
        workspace(rank.threads * alignedWorkspace(), "a rank's workspace"),
        filler(setup.program, rank.id) {
    rank.workspace = workspace.data();
    rank.workspaceBytes = alignedWorkspace();
    if (!setup.options.save.empty())
      saver = std::make_unique<Saver>(rank, setup, arena.data());
    if (!setup.options.trace.empty())
      rank.trace = std::make_unique<Trace>();
    if (writes() && !setup.options.profile.empty())
      rank.profile = std::make_unique<Profile>();
  }

  int run();

private:
  int64_t alignedWorkspace() const {
    return (setup.program.workspaceBytes + 63) / 64 * 64;
  }
  bool writes() const { return rank.id == 0; }
  template <typename T> T read(int64_t offset) const {
    T value;
    memcpy(&value, arena.data() + offset, sizeof(T));
    return value;
  }

  void initialize();
  std::vector<int64_t> savingBytes();
  void writeHeader();
  void writeProfile(int64_t steps) const;
  template <typename F> void write(const char *flag, F f) const;
  void writeScalars(int64_t t, int64_t applied);
  StepRecord runStep(const TrainState &state);
  Stop endStep(TrainState state);
  int status(Stop stop, TrainState state);
  const char *findBadTensor();

  dtc_rank &rank;
  const Setup &setup;
  const Program &program;
  const TrainConfig &config;
  const ProgramCode &code;
  const PipelineRank &places;
  GuardedMemory arena, workspace;
  InputFiller filler;
  std::unique_ptr<Saver> saver; // null: no --save
  bool saveDue = false;
  LogFile log;
  int64_t badInARow = 0;
  double profiled = 0; // milliseconds of the steps that the profile counts
};

void RankTrainer::initialize() {
  // A program that reads what nobody wrote meets NaN (as f32 and as bf16).
  if (const char *poison = getenv("DTC_POISON_ARENA");
      poison && !strcmp(poison, "1")) {
    memset(arena.data(), 0xff, size_t(places.arenaBytes));
    memset(workspace.data(), 0xff, size_t(workspace.size()));
  }
  if (saver)
    saver->open();
  if (setup.checkpoint)
    return loadCheckpoint(rank, setup, arena.data());
  initializeParameters(program, rank.id, arena.data(), setup.weights.get(),
                       setup.options.seed);
}

/// The largest of the ranks with each coordinate on the pipeline axis.
std::vector<int64_t> RankTrainer::savingBytes() {
  std::vector<int64_t> bytes(program.pipelineRanks.size());
  if (!saver)
    return bytes;
  bytes[size_t(rank.id / program.ranksPerCoordinate())] = saver->plannedBytes();
  AllReduce largest(rank, "bytes for saving", DTC_MAX, int64_t(bytes.size()));
  Unwatched beginning(rank);
  largest.run(bytes.data());
  return bytes;
}

void RankTrainer::writeHeader() {
  std::vector<int64_t> saving = savingBytes();
  if (!writes() || setup.options.log.empty())
    return;
  Json header;
  header["version"] = program.version;
  for (auto &[axis, size] : program.mesh)
    header["mesh"][axis] = size;
  header["flags"] = program.flags;
  header["cpu"] = program.cpu;
  header["hash"] = program.hash;
  header["seed"] = setup.options.seed;
  header["ranks"] = rank.count;
  header["threads"] = rank.threads;
  header["batch"] = program.batch;
  header["seq"] = program.seq;
  header["microbatches"] = program.microbatches;
  header["steps"] = setup.steps;
  header["collectives"] = setup.options.ring ? "ring" : "direct";
  int64_t scratch = rank.transport->scratchBytes();
  int64_t workspaces = rank.threads * rank.workspaceBytes;
  int64_t trace = rank.trace ? Trace::bytes : 0;
  int64_t beside = workspaces + scratch + trace;
  size_t largest = 0;
  Json perStage = Json::array();
  for (size_t i = 0; i < program.pipelineRanks.size(); ++i) {
    int64_t bytes = program.pipelineRanks[i].arenaBytes + saving[i];
    if (bytes > program.pipelineRanks[largest].arenaBytes + saving[largest])
      largest = i;
    perStage.push_back(bytes + beside);
  }
  header["planned_bytes"] = perStage[largest];
  if (perStage.size() > 1)
    header["planned_bytes_per_stage"] = perStage;
  Json &terms = header["memory"];
  for (auto &[term, bytes] : program.pipelineRanks[largest].memory)
    terms[term] = bytes;
  terms["workspaces"] = workspaces;
  terms["collectives"] = scratch;
  if (rank.trace)
    terms["trace"] = trace;
  if (saver)
    terms["save snapshot"] = saving[largest];
  if (setup.start.step) {
    header["resumed"] = {{"step", setup.start.step},
                         {"samples", setup.start.samples},
                         {"from", setup.checkpoint->path()}};
    return log.resume(setup.options.log, setup.start.step, std::move(header));
  }
  log.open(setup.options.log);
  std::string text =
      header.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  log.line(text.data(), int64_t(text.size()));
}

/// An error says who wrote what, and when.
template <typename F> void RankTrainer::write(const char *flag, F f) const {
  try {
    f();
  } catch (const Error &e) {
    throw Error(cat(whereText(rank), ", ", flag, ": ", e.what()));
  }
}

void RankTrainer::writeProfile(int64_t steps) const {
  std::string text = rank.profile->json(steps, profiled);
  AtomicFile file(setup.options.profile);
  file.write(text.data(), text.size());
  file.commit();
}

void RankTrainer::writeScalars(int64_t t, int64_t applied) {
  int32_t rng[2] = {int32_t(setup.options.seed), int32_t(t)};
  memcpy(arena.data() + places.rng, rng, sizeof(rng));
  // Bias correction counts applied updates, this one included.
  double updates = double(applied + 1);
  float optimizer[8] = {float(config.lrAt(t)),
                        float(config.beta1),
                        float(config.beta2),
                        float(config.eps),
                        float(config.weightDecay),
                        float(1 - std::pow(config.beta1, updates)),
                        float(1 - std::pow(config.beta2, updates)),
                        float(config.gradClip)};
  memcpy(arena.data() + places.optimizer, optimizer, sizeof(optimizer));
}

StepRecord RankTrainer::runStep(const TrainState &state) {
  int64_t t = state.step;
  rank.step = t;
  double began = now();
  TraceSpan span(rank, "step", "step", TraceLane::Compute);
  filler.fill(*setup.data, state.samples, arena.data());
  writeScalars(t, state.updates);
  code.step(&rank, arena.data());
  checkMessagesFinished(rank);

  StepRecord record;
  record.step = t;
  record.loss = read<float>(places.loss);
  record.gradNorm = read<float>(places.gradNorm);
  record.lr = config.lrAt(t);
  record.tokens = program.batch * program.seq;
  record.labels = read<int32_t>(places.labels);
  bool finite = std::isfinite(record.loss) && std::isfinite(record.gradNorm);
  if (record.labels == 0) {
    record.skipped = true;
    record.reason = "no labels";
  } else if (!finite || read<int32_t>(places.skipped)) {
    record.skipped = true;
    record.reason = "not finite";
  }
  record.milliseconds = (now() - began) * 1e3;
  return record;
}

/// Signals and clocks reach ranks at different moments; all stop after the same
/// step, and all save after the same step.
Stop RankTrainer::endStep(TrainState state) {
  bool timeUp = setup.options.stopAfter &&
                now() - setup.began >= *setup.options.stopAfter * 60;
  int32_t control[4] = {stopSignal(), timeUp, saver ? saver->busy() : 0, 0};
  agree(rank, control);
  Stop stop = {control[0], control[1] != 0};
  if (!saver)
    return stop;
  saver->advance(control[2]);
  if (setup.options.saveEvery && state.step % *setup.options.saveEvery == 0)
    saveDue = true;
  bool last = stop || state.step == setup.steps;
  // What led to a loss that is not finite is not worth keeping.
  if ((saveDue || last) && badInARow == 0) {
    saveDue = false;
    if (writes())
      log.sync();
    saver->save(state);
  }
  return stop;
}

const char *RankTrainer::findBadTensor() {
  int64_t count = int64_t(program.tensors.size());
  int64_t bad = firstBadGradient(program, rank.id, arena.data());
  int32_t control[4] = {int32_t(count - bad), 0, 0, 0};
  agree(rank, control);
  if (control[0] == 0)
    return nullptr;
  return program.tensors[size_t(count - control[0])].stored.c_str();
}

/// What the exit status says, and rank 0 tells.
int RankTrainer::status(Stop stop, TrainState state) {
  bool complete = state.step == setup.steps;
  bool saved = saver && saver->newestStep() == state.step && !saver->failed();
  if (writes() && stop && !complete)
    printLine(cat(programName(), ": stopped ",
                  stop.signal == SIGINT    ? "by SIGINT"
                  : stop.signal == SIGTERM ? "by SIGTERM"
                                           : "by --stop-after",
                  " after step ", state.step - 1, ": ", state.step, " of ",
                  setup.steps, " steps are done"));
  if (saver && !saved && state.step > setup.start.step) {
    if (writes())
      printLine(cat(programName(), ": error: the state after the last step, ",
                    state.step - 1, ", is not saved"));
    return 1;
  }
  return stop && !complete && !saved ? 128 + stop.signal : 0;
}

int RankTrainer::run() {
  initialize();
  if (writes())
    for (const std::string &line : setup.notes)
      printLine(cat(programName(), ": ", line));
  writeHeader();
  code.open(&rank);
  {
    Unwatched beginning(rank);
    barrier(rank);
  }
  confirmChannels(rank);
  // Between two barriers: no rank has begun before.
  double start = now();
  barrier(rank);
  TrainState state = setup.start;
  Progress progress(state.step, setup.steps);
  Stop stop;
  while (state.step < setup.steps && !stop) {
    int64_t done = state.step - setup.start.step;
    // The first step warms up, and counts only where there is no other.
    if (rank.profile && done == 1) {
      rank.profile->reset();
      profiled = 0;
    }
    StepRecord record = runStep(state);
    profiled += record.milliseconds;
    bool bad = record.skipped && record.labels != 0;
    if (bad)
      record.badTensor = findBadTensor();
    if (!record.skipped)
      ++state.updates;
    badInARow = bad ? badInARow + 1 : 0;
    if (done == 0 && !setup.options.dumpGrads.empty())
      write("--dump-grads", [&] {
        writeTensors(program, rank, arena.data(), Slot::Grad,
                     setup.options.dumpGrads);
      });
    if (writes()) {
      write("--log", [&] { log.step(record); });
      progress.step(record);
    }
    ++state.step;
    state.samples += program.batch;
    if (badInARow >= setup.options.maxSkipped) {
      // All ranks come here together; one tells.
      if (writes())
        throw Error(cat("step ", record.step, ": the loss (", record.loss,
                        ") or the gradient norm (", record.gradNorm,
                        ") is not finite, for the ", badInARow,
                        badInARow == 1   ? "st"
                        : badInARow == 2 ? "nd"
                        : badInARow == 3 ? "rd"
                                         : "th",
                        " step in a row (--max-skipped); first bad gradient: ",
                        record.badTensor ? record.badTensor : "none"));
      Unwatched untilTheEnd(rank);
      barrier(rank);
    }
    stop = endStep(state);
  }
  if (saver)
    saver->finish();
  if (state.step == setup.steps && !setup.options.saveWeights.empty())
    write("--save-weights", [&] {
      writeTensors(program, rank, arena.data(), Slot::Param,
                   setup.options.saveWeights);
    });
  if (rank.trace)
    write("--trace",
          [&] { writeTrace(rank, program, start, setup.options.trace); });
  if (rank.profile) {
    int64_t steps = state.step - setup.start.step;
    write("--profile", [&] { writeProfile(steps > 1 ? steps - 1 : steps); });
  }
  if (writes()) {
    progress.finish();
    write("--log", [&] { log.close(); });
  }
  int result = status(stop, state);
  Unwatched end(rank);
  barrier(rank);
  return result;
}

} // namespace

int dtc::rt::runRank(dtc_rank &rank, const Setup &setup,
                     const ProgramCode &code, bool oversubscribed) {
  std::string message;
  try {
    setUpThreads(rank.threads, oversubscribed);
    return RankTrainer(rank, setup, code).run();
  } catch (const Error &e) {
    fatal(e.what());
  } catch (const std::bad_alloc &) {
    message = "out of memory";
  } catch (const std::exception &e) {
    message = e.what();
  } catch (...) {
    message = "an unknown exception";
  }
  fatal(cat(whereText(rank), ": ", message));
}
