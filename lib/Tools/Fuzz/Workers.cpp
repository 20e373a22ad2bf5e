//===- Workers.cpp - Cases in processes of their own ----------------------===//

#include "dtc/Tools/Fuzz/Workers.h"
#include "mlir/IR/DialectRegistry.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <poll.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

using namespace dtc::fuzz;
using Clock = std::chrono::steady_clock;

namespace {

/// One pipe each way: numbers of cases down, outcomes up.
struct Worker {
  pid_t pid = 0;
  int down = -1, up = -1;
  std::string folder;
  int64_t current = -1;
  Clock::time_point since;
};

} // namespace

static bool writeAll(int fd, const void *data, size_t size) {
  auto *at = static_cast<const char *>(data);
  while (size > 0) {
    ssize_t n = write(fd, at, size);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    at += n;
    size -= size_t(n);
  }
  return true;
}

static bool readAll(int fd, void *data, size_t size) {
  auto *at = static_cast<char *>(data);
  while (size > 0) {
    ssize_t n = read(fd, at, size);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    at += n;
    size -= size_t(n);
  }
  return true;
}

static bool send(int fd, const Outcome &outcome) {
  uint32_t head[3] = {uint32_t(outcome.verdict), outcome.compiled,
                      uint32_t(outcome.message.size())};
  return writeAll(fd, head, sizeof(head)) &&
         writeAll(fd, outcome.message.data(), outcome.message.size());
}

static bool receive(int fd, Outcome &outcome) {
  uint32_t head[3];
  if (!readAll(fd, head, sizeof(head)))
    return false;
  outcome.verdict = Verdict(head[0]);
  outcome.compiled = head[1];
  outcome.message.resize(head[2]);
  return readAll(fd, outcome.message.data(), head[2]);
}

/// The worker's life: cases until the pipe ends.
[[noreturn]] static void serve(int down, int up, const std::string &folder,
                               RunCase run) {
  llvm::sys::fs::create_directories(folder);
  // What the compiler prints is of no interest, but for its last words. Stacks
  // without names are printed at once.
  setenv("LLVM_DISABLE_SYMBOLIZATION", "1", 1);
  if (int null = open("/dev/null", O_WRONLY); null >= 0)
    dup2(null, STDOUT_FILENO);
  int words = open((folder + "/stderr").c_str(),
                   O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0666);
  if (words >= 0)
    dup2(words, STDERR_FILENO);
  std::unique_ptr<mlir::MLIRContext> context;
  int64_t served = 0, i;
  while (readAll(down, &i, sizeof(i))) {
    if (words >= 0 && ftruncate(words, 0) != 0)
      break;
    // Types live as long as the context.
    if (served++ % 200 == 0) {
      mlir::DialectRegistry registry;
      registerForChecks(registry);
      context = std::make_unique<mlir::MLIRContext>(
          registry, mlir::MLIRContext::Threading::DISABLED);
      context->loadAllAvailableDialects();
      context->printOpOnDiagnostic(false);
    }
    if (!send(up, run(*context, i, folder)))
      break;
  }
  _exit(0);
}

static void start(Worker &worker, llvm::ArrayRef<Worker> all, RunCase run) {
  int down[2], up[2];
  if (pipe2(down, O_CLOEXEC) || pipe2(up, O_CLOEXEC))
    llvm::report_fatal_error("cannot make a pipe");
  pid_t pid = fork();
  if (pid < 0)
    llvm::report_fatal_error("cannot fork");
  if (pid == 0) {
    close(down[1]);
    close(up[0]);
    // Or others would wait for this one to end.
    for (const Worker &other : all)
      if (other.pid) {
        close(other.down);
        close(other.up);
      }
    serve(down[0], up[1], worker.folder, run);
  }
  close(down[0]);
  close(up[1]);
  worker.pid = pid;
  worker.down = down[1];
  worker.up = up[0];
}

/// The first line that a worker left, such as a failed assertion.
static std::string lastWords(const Worker &worker) {
  auto buffer = llvm::MemoryBuffer::getFile(worker.folder + "/stderr");
  if (!buffer)
    return "";
  llvm::StringRef line = (*buffer)->getBuffer().ltrim().split('\n').first;
  return line.empty() ? "" : ": " + line.take_front(300).str();
}

/// Waits for the worker's end; how it ended.
static std::string stop(Worker &worker) {
  close(worker.down);
  close(worker.up);
  int status = 0;
  while (waitpid(worker.pid, &status, 0) < 0 && errno == EINTR)
    ;
  worker.pid = 0;
  if (WIFSIGNALED(status))
    return std::string("signal ") + strsignal(WTERMSIG(status));
  return "status " + std::to_string(WEXITSTATUS(status));
}

void dtc::fuzz::runCases(
    int64_t begin, int64_t end, const WorkerOptions &options, RunCase run,
    llvm::function_ref<bool(int64_t, const Outcome &)> report) {
  // A worker that died is noticed where its answer is missing.
  struct sigaction ignore = {}, before;
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, &before);
  llvm::SmallVector<Worker> workers(std::max(1u, options.jobs));
  for (auto [n, worker] : llvm::enumerate(workers))
    worker.folder = options.folder + "/worker" + std::to_string(n);
  int64_t next = begin;
  bool more = true;
  auto give = [&](Worker &worker) {
    worker.current = -1;
    if (!more || next >= end)
      return;
    if (!worker.pid)
      start(worker, workers, run);
    worker.current = next++;
    worker.since = Clock::now();
    writeAll(worker.down, &worker.current, sizeof(worker.current));
  };
  for (Worker &worker : workers)
    give(worker);
  while (true) {
    llvm::SmallVector<pollfd> files;
    llvm::SmallVector<Worker *> busy;
    for (Worker &worker : workers)
      if (worker.current >= 0) {
        files.push_back({worker.up, POLLIN, 0});
        busy.push_back(&worker);
      }
    if (busy.empty())
      break;
    poll(files.data(), files.size(), 500);
    for (auto [file, worker] : llvm::zip_equal(files, busy)) {
      Outcome outcome;
      if (file.revents) {
        if (!receive(worker->up, outcome)) {
          outcome.verdict = Verdict::Crashed;
          outcome.message = stop(*worker) + lastWords(*worker);
        }
      } else if (Clock::now() - worker->since >
                 std::chrono::seconds(options.secondsPerCase)) {
        kill(worker->pid, SIGKILL);
        stop(*worker);
        outcome.verdict = Verdict::TimedOut;
        outcome.message =
            "more than " + std::to_string(options.secondsPerCase) + " s";
      } else {
        continue;
      }
      more &= report(worker->current, outcome);
      give(*worker);
    }
  }
  for (Worker &worker : workers)
    if (worker.pid)
      stop(worker);
  sigaction(SIGPIPE, &before, nullptr);
}
