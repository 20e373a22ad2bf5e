//===- MpiJob.cpp - One process of a job that mpirun started --------------===//

#include "dtc/Runtime/MpiJob.h"
#include "dtc/Runtime/Error.h"
#include "dtc/Runtime/Signals.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace dtc::rt;

static MpiLibrary *theLibrary;
/// Shared by the processes on this machine; null where that failed.
static JobBoard *board;

static void abortJob(int status) { theLibrary->abort(status); }

static bool claimMessage() {
  return !board || board->messageTold.exchange(1) == 0;
}

/// Before the processes know each other: the first one speaks, and mpirun ends
/// the others before they do, unless only they have the error.
static bool claimByRank() {
  const char *rank = getenv("OMPI_COMM_WORLD_RANK");
  if (!rank || strcmp(rank, "0") == 0)
    return true;
  sleep(2); // a signal ends it early
  return stopSignal() == 0;
}

std::unique_ptr<MpiJob> MpiJob::find() {
  auto set = [](const char *name) {
    const char *value = getenv(name);
    return value && *value;
  };
  if (set("OMPI_COMM_WORLD_SIZE") && set("OMPI_COMM_WORLD_RANK")) {
    setJobHooks({claimByRank, nullptr});
    return std::unique_ptr<MpiJob>(new MpiJob());
  }
  // MPICH and its kin (Intel, MVAPICH, Cray) set these.
  for (const char *name :
       {"PMI_SIZE", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_SIZE", "PALS_RANKID"})
    if (set(name) && strcmp(getenv(name), "1") != 0)
      throw Error(cat("started by the launcher of another MPI than Open MPI (",
                      name,
                      " is set): start this program with Open MPI's "
                      "mpirun, or without one (ranks are threads then)"));
  return nullptr;
}

MpiJob::MpiJob() {
  theLibrary = &mpi;
  meet();
  openBoard();
  setJobHooks({claimMessage, abortJob});
}

void MpiJob::allGather(const void *mine, size_t bytes, void *all) {
  char *out = static_cast<char *>(all);
  constexpr int tag = (1 << 30) + 1;
  std::vector<MpiLibrary::Request> requests;
  for (int peer = 0; peer < mpi.size(); ++peer) {
    if (peer == mpi.rank()) {
      memcpy(out + bytes * size_t(peer), mine, bytes);
      continue;
    }
    requests.push_back(
        mpi.receive(out + bytes * size_t(peer), bytes, peer, tag));
    requests.push_back(mpi.send(mine, bytes, peer, tag));
  }
  // Outside the watchdog: files of the start are read at different speeds.
  for (bool open = true; open;) {
    open = false;
    for (MpiLibrary::Request &request : requests)
      if (request && !mpi.test(request))
        open = true;
    if (open) {
      timespec nap = {0, 100000};
      nanosleep(&nap, nullptr);
    }
  }
}

void MpiJob::meet() {
  Identity me = {};
  gethostname(me.host, sizeof(me.host) - 1);
  me.pid = getpid();
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    memcpy(me.cores, &set, std::min(sizeof(set), sizeof(me.cores)));
  identities.resize(size_t(mpi.size()));
  allGather(&me, sizeof(me), identities.data());
  for (const Identity &other : identities) {
    // Containers may hide processes of the same machine from each other.
    bool local = !strcmp(other.host, me.host) &&
                 (kill(pid_t(other.pid), 0) == 0 || errno == EPERM);
    peers.push_back({other.pid, local});
  }
  char nothing = 0;
  std::vector<char> all(size_t(mpi.size()));
  allGather(&nothing, 1, all.data());
}

void MpiJob::openBoard() {
  const Identity &me = identities[size_t(mpi.rank())];
  int leader = 0;
  while (strcmp(identities[size_t(leader)].host, me.host) != 0)
    ++leader;
  std::string name = cat("/dtc.", identities[size_t(leader)].pid);
  char opened = 0;
  std::vector<char> all(size_t(mpi.size()));
  size_t bytes =
      sizeof(JobBoard) + size_t(mpi.size()) * sizeof(std::atomic<int32_t>);
  auto map = [&](int flags) {
    int fd = shm_open(name.c_str(), flags, 0600);
    if (fd < 0)
      return;
    if (ftruncate(fd, off_t(bytes)) == 0) {
      void *p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
      if (p != MAP_FAILED)
        board = static_cast<JobBoard *>(p);
    }
    close(fd);
  };
  // Without shared memory there may be more than one message; nothing worse.
  if (mpi.rank() == leader) {
    shm_unlink(name.c_str()); // left by a process of the same number
    map(O_RDWR | O_CREAT | O_EXCL);
  }
  allGather(&opened, 1, all.data());
  if (mpi.rank() != leader)
    map(O_RDWR);
  allGather(&opened, 1, all.data());
  if (mpi.rank() == leader)
    shm_unlink(name.c_str());
}

void MpiJob::agreeOnErrors(const std::string &error) {
  struct Message {
    char text[4096];
  };
  std::vector<Message> all(size_t(mpi.size()));
  Message mine = {};
  snprintf(mine.text, sizeof(mine.text), "%s", error.c_str());
  allGather(&mine, sizeof(mine), all.data());
  int failed = 0, first = -1, equal = 0;
  for (int rank = 0; rank < mpi.size(); ++rank) {
    const char *text = all[size_t(rank)].text;
    if (!*text)
      continue;
    ++failed;
    if (first < 0)
      first = rank;
    equal += !strcmp(text, all[size_t(first)].text);
  }
  if (!failed)
    return;
  bool everywhere = equal == mpi.size();
  // A rank's own error is told by it; the others wait for the end.
  fatal(everywhere ? std::string(all[0].text)
                   : cat("rank ", first, ": ", all[size_t(first)].text));
}

/// All ranks print help, or none: the others would wait for those that end.
bool MpiJob::agreeOnHelp(bool help) {
  char mine = help;
  std::vector<char> all(size_t(mpi.size()));
  allGather(&mine, 1, all.data());
  for (int rank = 1; rank < mpi.size(); ++rank)
    if (all[size_t(rank)] != all[0])
      fatal(cat("ranks differ in arguments: rank ", all[0] ? 0 : rank,
                " has --help, rank ", all[0] ? rank : 0, " has not"));
  return help;
}

void MpiJob::compare(const Setup &setup) {
  std::vector<Setup::Part> parts = setup.fingerprint();
  std::vector<uint64_t> mine, all(parts.size() * size_t(mpi.size()));
  for (const Setup::Part &part : parts)
    mine.push_back(part.hash);
  allGather(mine.data(), mine.size() * sizeof(uint64_t), all.data());
  for (size_t i = 0; i < parts.size(); ++i) {
    std::string others;
    for (int rank = 1; rank < mpi.size(); ++rank)
      if (all[size_t(rank) * parts.size() + i] != all[i])
        others += (others.empty() ? "" : ", ") + std::to_string(rank);
    if (!others.empty())
      fatal(cat("ranks differ in ", parts[i].name, ": rank ", others,
                others.find(',') == std::string::npos ? " has" : " have",
                " another than rank 0"));
  }
}

int MpiJob::localRanksOnMyCores() const {
  const Identity &me = identities[size_t(mpi.rank())];
  int count = 0;
  for (const Identity &other : identities) {
    if (strcmp(other.host, me.host) != 0)
      continue;
    bool shared = false;
    for (size_t i = 0; i < sizeof(me.cores); ++i)
      shared |= (me.cores[i] & other.cores[i]) != 0;
    count += shared;
  }
  return std::max(count, 1);
}

int MpiJob::run(const std::vector<std::string> &arguments,
                const char *programJson, const ProgramCode &code) {
  Setup setup;
  std::string error;
  try {
    setup.options = Options::parse(arguments);
    setup.program = Program::parse(programJson);
    if (!setup.options.help) {
      if (setup.program.ranks() != mpi.size())
        throw Error(cat("mpirun started ", mpi.size(),
                        " processes; the program is compiled for ",
                        setup.program.ranks(), " ranks (",
                        setup.program.meshText(), ")"));
      setup.open();
    }
  } catch (const std::exception &e) {
    error = *e.what() ? e.what() : "an exception";
  }
  agreeOnErrors(error);
  if (agreeOnHelp(setup.options.help)) {
    if (mpi.rank() == 0) {
      fputs(helpText(programName()).c_str(), stdout);
      fflush(stdout);
    }
    mpi.finalize();
    return 0;
  }
  compare(setup);

  // mpirun may bind each process to cores of its own.
  int cores = allowedCores(), sharing = localRanksOnMyCores();
  int64_t threads =
      setup.options.threads.value_or(std::max(1, cores / sharing));
  bool oversubscribed = sharing * threads > cores;
  int64_t slots = setup.program.collectiveSlots + controlSlots;
  TransportOptions options = {setup.options.timeout, setup.options.ring};
  MpiTransport transport(mpi, slots, options, peers, board, oversubscribed);
  ControlCollectives control(mpi.size());
  dtc_rank rank;
  rank.id = mpi.rank();
  rank.count = mpi.size();
  rank.transport = &transport;
  rank.control = &control;
  rank.threads = int(threads);
  rank.slots.resize(size_t(slots));
  if (options.ring)
    rank.ringScratch.reset(new char[ringScratchBytes]);
  int status = runRank(rank, setup, code, oversubscribed);
  mpi.finalize();
  return status;
}
