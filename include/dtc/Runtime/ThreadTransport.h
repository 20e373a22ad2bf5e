//===- ThreadTransport.h - Ranks as threads of one process ------*- C++ -*-===//

#ifndef DTC_RUNTIME_THREADTRANSPORT_H
#define DTC_RUNTIME_THREADTRANSPORT_H

#include "dtc/Runtime/Transport.h"

#include <array>
#include <mutex>

namespace dtc::rt {

/// Ranks that read each other's buffers. Every member of a group publishes its
/// buffers, waits for the others', reads what it needs, and tells each owner
/// when it has read; an owner waits for all readers. A message is copied once,
/// by whichever of its two ranks comes second.
class ThreadTransport : public Transport {
public:
  /// `slots` counts the runtime's own.
  ThreadTransport(int64_t ranks, int64_t slots, TransportOptions options,
                  bool oversubscribed);
  ~ThreadTransport() override;

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

  /// Makes a rank's step and action known to the others' messages.
  void enroll(const dtc_rank &rank);

private:
  struct Record;
  struct Port;
  struct Mailbox;
  struct ThreadEnd;
  /// What a sleeper waits for a change of.
  struct Bell;

  Record &find(dtc_rank &rank, const Plan &plan, uint64_t tag, int peer,
               int slot);
  void checkAgreement(dtc_rank &rank, const Plan &plan, int peer,
                      const Plan &other);
  template <typename Ready>
  void await(dtc_rank &rank, const Operation &what, Bell &bell, int peer,
             Ready ready);
  void notify(Bell &bell);
  [[noreturn]] void timedOut(dtc_rank &rank, const Operation &what, int peer);
  uint64_t groupOf(const Plan &plan);

  void reduceOwn(dtc_rank &rank, const Plan &plan, Side from, Side to,
                 int64_t begin, int64_t end);
  void copyFrom(dtc_rank &rank, const Plan &plan, int peer);
  void runDirect(dtc_rank &rank, int slot);

  int64_t slots;
  int spins;
  std::vector<std::unique_ptr<Port>> ports;
  std::mutex groupsMutex;
  std::map<std::vector<int>, uint64_t> groups;
  std::mutex mailboxesMutex;
  /// By sender, receiver and number of the channel.
  std::map<std::array<int64_t, 3>, std::unique_ptr<Mailbox>> mailboxes;
};

/// The ranks of one process that runs them all as threads.
class ThreadWorld {
public:
  ThreadWorld(int64_t ranks, int64_t programSlots, TransportOptions options,
              bool oversubscribed = true);

  dtc_rank &rank(int64_t i) { return *list[size_t(i)]; }
  int64_t size() const { return int64_t(list.size()); }
  Transport &transport() { return threads; }

private:
  ThreadTransport threads;
  ControlCollectives control;
  std::vector<std::unique_ptr<dtc_rank>> list;
};

} // namespace dtc::rt
#endif // DTC_RUNTIME_THREADTRANSPORT_H
