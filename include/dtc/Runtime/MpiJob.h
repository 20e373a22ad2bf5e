//===- MpiJob.h - One process of a job that mpirun started ------*- C++ -*-===//

#ifndef DTC_RUNTIME_MPIJOB_H
#define DTC_RUNTIME_MPIJOB_H

#include "dtc/Runtime/MpiLibrary.h"
#include "dtc/Runtime/MpiTransport.h"
#include "dtc/Runtime/Setup.h"
#include "dtc/Runtime/Trainer.h"

#include <memory>
#include <string>
#include <vector>

namespace dtc::rt {

class MpiJob {
public:
  /// Null where no mpirun started this process; throws where that of another
  /// kind of MPI did, or where Open MPI cannot be opened.
  static std::unique_ptr<MpiJob> find();

  /// Everything from the arguments to the exit status.
  int run(const std::vector<std::string> &arguments, const char *programJson,
          const ProgramCode &code);

private:
  /// What processes tell each other at the start.
  struct Identity {
    char host[64];
    int64_t pid;
    unsigned char cores[128]; // affinity mask
  };

  MpiJob();
  void allGather(const void *mine, size_t bytes, void *all);
  void meet();
  void openBoard();
  /// All processes end, with one message, if one of them has an error.
  void agreeOnErrors(const std::string &error);
  bool agreeOnHelp(bool help);
  void compare(const Setup &setup);
  int localRanksOnMyCores() const;

  MpiLibrary mpi;
  std::vector<Identity> identities;
  std::vector<PeerProcess> peers;
};

} // namespace dtc::rt
#endif // DTC_RUNTIME_MPIJOB_H
