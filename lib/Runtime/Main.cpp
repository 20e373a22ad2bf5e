//===- Main.cpp - main of every executable that DTC compiles --------------===//

#include "dtc/Runtime/Error.h"
#include "dtc/Runtime/MpiJob.h"
#include "dtc/Runtime/Setup.h"
#include "dtc/Runtime/Signals.h"
#include "dtc/Runtime/ThreadTransport.h"
#include "dtc/Runtime/Trainer.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <thread>

using namespace dtc::rt;

/// Code without unwind tables (the compiled step) cannot pass an exception on:
/// tell what it was all the same.
static void onTerminate() {
  try {
    if (std::exception_ptr current = std::current_exception())
      std::rethrow_exception(current);
  } catch (const std::exception &e) {
    fatal(cat("internal error: ", e.what()));
  } catch (...) {
  }
  fatal("internal error: an unknown exception");
}

static const ProgramCode code = {dtc_program_open, dtc_program_step};

static int runThreads(Setup &setup) {
  setup.open();
  int64_t ranks = setup.program.ranks();
  int cores = allowedCores();
  int64_t threads =
      setup.options.threads.value_or(std::max<int64_t>(1, cores / ranks));
  bool oversubscribed = ranks * threads > cores;
  ThreadWorld world(ranks, setup.program.collectiveSlots,
                    {setup.options.timeout, setup.options.ring},
                    oversubscribed);
  std::vector<std::thread> others;
  for (int64_t i = 0; i < ranks; ++i)
    world.rank(i).threads = int(threads);
  for (int64_t i = 1; i < ranks; ++i)
    others.emplace_back(
        [&, i] { runRank(world.rank(i), setup, code, oversubscribed); });
  int status = runRank(world.rank(0), setup, code, oversubscribed);
  for (std::thread &thread : others)
    thread.join();
  return status;
}

static int run(const std::vector<std::string> &arguments) {
  if (std::unique_ptr<MpiJob> job = MpiJob::find())
    return job->run(arguments, dtc_program_json, code);
  Setup setup;
  setup.options = Options::parse(arguments);
  if (setup.options.help) {
    fputs(helpText(programName()).c_str(), stdout);
    if (fflush(stdout) != 0)
      throw Error("cannot write the help");
    return 0;
  }
  setup.program = Program::parse(dtc_program_json);
  return runThreads(setup);
}

int main(int argc, char **argv) {
  setProgramName(argc ? argv[0] : nullptr);
  std::set_terminate(onTerminate);
  installSignalHandlers();
  try {
    return run({argv + std::min(argc, 1), argv + argc});
  } catch (const std::bad_alloc &) {
    fatal("out of memory");
  } catch (const std::exception &e) {
    fatal(e.what());
  }
}
