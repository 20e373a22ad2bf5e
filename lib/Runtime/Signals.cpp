//===- Signals.cpp - SIGINT and SIGTERM -----------------------------------===//

#include "dtc/Runtime/Signals.h"
#include "dtc/Runtime/AtomicFile.h"
#include "dtc/Runtime/Platform.h"

#include <atomic>
#include <csignal>
#include <unistd.h>

using namespace dtc::rt;

static std::atomic<int> received{0};
static std::atomic<double> receivedAt{0};
static_assert(std::atomic<int>::is_always_lock_free &&
              std::atomic<double>::is_always_lock_free);

static void handle(int number) {
  int before = 0;
  if (!received.compare_exchange_strong(before, number)) {
    if (number == SIGINT && before == SIGINT) {
      removeTemporaryFiles();
      _exit(128 + number);
    }
    return;
  }
  receivedAt = now();
}

/// Input files are mapped: one that shrinks while it is read ends here.
static void handleBus(int) {
  static std::atomic<bool> told{false};
  static const char text[] =
      "\nerror: a file that is being read was truncated, or the disk failed "
      "(SIGBUS)\n";
  // Several ranks may read it.
  if (!told.exchange(true)) {
    [[maybe_unused]] ssize_t n = write(STDERR_FILENO, text, sizeof(text) - 1);
  }
  removeTemporaryFiles();
  _exit(1);
}

void dtc::rt::installSignalHandlers() {
  struct sigaction action = {};
  action.sa_handler = handle;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  signal(SIGBUS, handleBus);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

int dtc::rt::stopSignal() { return received; }

double dtc::rt::secondsSinceStopSignal() {
  return received ? now() - receivedAt : 0;
}
