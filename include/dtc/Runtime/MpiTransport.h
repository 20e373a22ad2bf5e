//===- MpiTransport.h - Ranks as MPI processes ------------------*- C++ -*-===//

#ifndef DTC_RUNTIME_MPITRANSPORT_H
#define DTC_RUNTIME_MPITRANSPORT_H

#include "dtc/Runtime/MpiLibrary.h"
#include "dtc/Runtime/Transport.h"

namespace dtc::rt {

/// What a rank knows about another's process.
struct PeerProcess {
  int64_t pid = 0;
  bool local = false; // on this machine, and visible here
};

/// What the processes on one machine share.
struct JobBoard {
  /// Whether one of them has told the user the error.
  std::atomic<uint32_t> messageTold;
  /// By rank, one more than the rank that it waits for; 0: none.
  std::atomic<int32_t> waitsFor[];
};

/// Point-to-point messages; MPI's own collectives and reductions are never
/// used. A collective begins with a message of its description to every member,
/// so that disagreement is found before data is taken for something else; a
/// channel does so when it is opened.
/// Buffers pass in chunks, through staging memory of fixed size where they are
/// not contiguous.
class MpiTransport : public Transport {
public:
  MpiTransport(MpiLibrary &mpi, int64_t slots, TransportOptions options,
               std::vector<PeerProcess> peers, JobBoard *board,
               bool oversubscribed);

  void start(dtc_rank &rank, int slot) override;
  void wait(dtc_rank &rank, int slot) override;
  void shift(dtc_rank &rank, int slot, const void *send, int64_t sendBytes,
             void *recv, int64_t recvBytes) override;
  const void *fetch(dtc_rank &rank, int64_t from, const void *data,
                    int64_t bytes) override;
  std::unique_ptr<ChannelEnd> open(dtc_rank &rank, const dtc_channel &channel,
                                   bool receives) override;
  void confirm(dtc_rank &rank, ChannelEnd &end) override;
  void startMessage(dtc_rank &rank, ChannelEnd &end, void *buffer) override;
  void finishMessage(dtc_rank &rank, ChannelEnd &end) override;
  int64_t scratchBytes() const override;

private:
  /// What members tell each other first.
  struct Description {
    uint64_t signature;
    int64_t step, elements, buffers;
    int32_t kind, dtype;
    char name[64];

    std::string text() const;
  };
  struct Slot {
    int tag = 0;
    Description mine;
    std::vector<Description> theirs; // by rank
  };
  struct Pending {
    MpiLibrary::Request request;
    int peer;
  };

  struct MpiEnd;

  void finish(dtc_rank &rank, const Operation &what,
              std::vector<Pending> &pending);
  void finish(dtc_rank &rank, const Operation &what, Pending *list, size_t n);
  void checkPeers(dtc_rank &rank, const Operation &what, const Pending *list,
                  size_t n, bool late);
  void startShift(dtc_rank &rank, int slot);
  void reducePhase(dtc_rank &rank, int slot);
  void copyPhase(dtc_rank &rank, int slot);
  char *stage(int peer, bool receive);

  MpiLibrary &mpi;
  std::vector<PeerProcess> peers;
  JobBoard *board; // null where there is none
  bool oversubscribed;
  int64_t chunkBytes;
  std::unique_ptr<char[]> staging;
  std::vector<Slot> slots;
  std::vector<std::vector<Pending>> announcements; // by slot
  std::vector<Pending> pending;
  std::map<std::vector<int>, int> sequence; // collectives started, by group
  std::vector<char> fetched;
};

} // namespace dtc::rt
#endif // DTC_RUNTIME_MPITRANSPORT_H
