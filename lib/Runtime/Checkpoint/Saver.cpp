//===- Saver.cpp - Saving while training goes on --------------------------===//

#include "dtc/Runtime/Checkpoint/Saver.h"
#include "dtc/Runtime/Checkpoint/Checksum.h"
#include "dtc/Runtime/Checkpoint/Folder.h"
#include "dtc/Runtime/Checkpoint/Resume.h"
#include "dtc/Runtime/Checkpoint/SameFolder.h"
#include "dtc/Runtime/Error.h"
#include "dtc/Runtime/FileSystem.h"

#include <algorithm>

using namespace dtc::rt;

Saver::Saver(dtc_rank &rank, const Setup &setup, const char *arena)
    : rank(rank), setup(setup), arena(arena), beside(!setup.options.saveSync),
      layout(setup.program, shardBytes()),
      writer(setup.program, rank.id, layout), memory(plannedBytes(), "saving"),
      sums(layout.files().size() + 1),
      addSums(rank, "checkpoint", DTC_SUM, int64_t(sums.size())) {
  if (beside)
    thread = std::thread([this] { work(); });
}

Saver::~Saver() {
  if (!beside)
    return;
  // After an error of its rank, a save that goes on is of no use.
  abandoned = true;
  wait();
  start(Job::Stop);
  thread.join();
}

void Saver::open() {
  const std::string &folder = setup.options.save;
  proveSameFolder(rank, folder);
  Unwatched fileWork(rank);
  if (rank.id == 0)
    for (const std::string &path : listUnfinished(folder))
      if (!removeFolder(path))
        throw Error(cat("--save: cannot remove '", path,
                        "', which was not "
                        "finished"));
  // Nobody begins while something is removed.
  barrier(rank);
}

// The rank and its thread -----------------------------------------------------

void Saver::start(Job next) {
  if (!beside) {
    error.clear();
    perform(next);
    return;
  }
  std::lock_guard<std::mutex> lock(mutex);
  job = next;
  changed.notify_all();
}

int32_t Saver::busy() {
  std::lock_guard<std::mutex> lock(mutex);
  return job != Job::None;
}

void Saver::wait() {
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [&] { return job == Job::None; });
}

void Saver::work() {
  std::unique_lock<std::mutex> lock(mutex);
  for (;;) {
    changed.wait(lock, [&] { return job != Job::None; });
    if (job == Job::Stop)
      return;
    Job mine = job;
    error.clear();
    lock.unlock();
    perform(mine);
    lock.lock();
    job = Job::None;
    changed.notify_all();
  }
}

std::string Saver::unfinished() const {
  return setup.options.save + "/" + unfinishedName(current.step);
}

void Saver::perform(Job what) {
  try {
    if (what == Job::Write) {
      std::string folder = unfinished();
      makeFolder(folder);
      writer.write(folder, beside ? memory.data() : arena, beside,
                   memory.data() + snapshotBytes(), sums.data(), abandoned);
    } else if (what == Job::Publish) {
      publishFiles();
    } else if (what == Job::Discard) {
      removeFolder(unfinished());
    }
  } catch (const std::exception &e) {
    error = *e.what() ? e.what() : "an exception";
  }
}

void Saver::publishFiles() {
  std::string folder = unfinished();
  Manifest manifest;
  manifest.state = current;
  manifest.seed = setup.options.seed;
  manifest.settings = describeRun(setup);
  for (size_t f = 0; f < layout.files().size(); ++f) {
    const StateFile &file = layout.files()[f];
    manifest.files.push_back(
        {file.name, file.bytes, checksumText(uint64_t(sums[f]))});
  }
  std::pair<std::string, std::string> texts[] = {
      {"model.safetensors.index.json", layout.index()},
      {"config.json", setup.program.config}};
  try {
    for (auto &[name, text] : texts) {
      if (text.empty())
        continue;
      writeText(folder + "/" + name, text);
      manifest.files.push_back({name, int64_t(text.size()), checksumOf(text)});
    }
    writeText(folder + "/" + Manifest::fileName, manifest.text());
    publish(setup.options.save, current.step);
  } catch (...) {
    removeFolder(folder);
    throw;
  }
  if (setup.options.keep)
    removeOld(setup.options.save, *setup.options.keep);
}

// All ranks -------------------------------------------------------------------

void Saver::save(const TrainState &state) {
  finish();
  current = state;
  std::fill(sums.begin(), sums.end(), 0);
  if (beside)
    writer.takeSnapshot(arena, memory.data());
  start(Job::Write);
  phase = Phase::Writing;
  if (!beside)
    finish();
}

void Saver::advance(int32_t anyBusy) {
  if (anyBusy)
    return;
  if (phase == Phase::Writing)
    endWriting();
  else if (phase == Phase::Publishing)
    endPublishing();
}

void Saver::finish() {
  Unwatched fileWork(rank);
  while (phase != Phase::Idle) {
    wait();
    int32_t control[4] = {busy(), 0, 0, 0};
    agree(rank, control);
    advance(control[0]);
  }
}

/// One of the ranks tells what went wrong.
void Saver::endWriting() {
  sums.back() = !error.empty();
  addSums.run(sums.data());
  lastFailed = sums.back() != 0;
  if (lastFailed) {
    int32_t first[4] = {error.empty() ? 0 : int32_t(rank.count - rank.id), 0, 0,
                        0};
    agree(rank, first);
    if (first[0] == rank.count - rank.id)
      printLine(cat(programName(), ": warning: step ", current.step,
                    " is not saved: rank ", rank.id, ": ", error,
                    "; what was saved before stays"));
  }
  phase = Phase::Publishing;
  if (rank.id == 0)
    start(lastFailed ? Job::Discard : Job::Publish);
}

void Saver::endPublishing() {
  phase = Phase::Idle;
  bool mine = rank.id == 0 && !error.empty();
  if (mine)
    printLine(cat(programName(), ": warning: step ", current.step,
                  " is not saved: ", error, "; what was saved before stays"));
  int32_t control[4] = {mine, 0, 0, 0};
  agree(rank, control);
  lastFailed |= control[0] != 0;
  if (rank.id == 0 && !lastFailed)
    printLine(cat(programName(), ": saved '", setup.options.save, "/",
                  checkpointName(current.step), "'"));
}
