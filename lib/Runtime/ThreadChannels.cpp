//===- ThreadChannels.cpp - Messages between threads ----------------------===//

#include "ThreadPort.h"
#include "dtc/Runtime/Error.h"

#include <cstring>

using namespace dtc::rt;

struct ThreadTransport::ThreadEnd : ChannelEnd {
  ThreadEnd(const dtc_channel &channel, const dtc_rank &rank, bool receives)
      : ChannelEnd(channel, rank.id, rank.count, receives) {}

  Mailbox *mailbox = nullptr;
};

std::unique_ptr<ChannelEnd> ThreadTransport::open(dtc_rank &rank,
                                                  const dtc_channel &channel,
                                                  bool receives) {
  auto end = std::make_unique<ThreadEnd>(channel, rank, receives);
  std::lock_guard<std::mutex> lock(mailboxesMutex);
  std::array<int64_t, 3> key = {receives ? end->peer : rank.id,
                                receives ? rank.id : end->peer, end->number};
  std::unique_ptr<Mailbox> &mailbox = mailboxes[key];
  if (!mailbox)
    mailbox = std::make_unique<Mailbox>();
  end->mailbox = mailbox.get();
  mailbox->ends[receives] = end.get();
  return end;
}

void ThreadTransport::confirm(dtc_rank &rank, ChannelEnd &base) {
  auto &end = static_cast<ThreadEnd &>(base);
  const ThreadEnd *other = end.mailbox->ends[!end.receives];
  if (!other || other->bytes != end.bytes)
    fatal(cat("rank ", rank.id, " and rank ", end.peer,
              " disagree about channel ", end.number, ": rank ", rank.id,
              " has ", end.text(), ", rank ", end.peer, " has ",
              other ? other->text() : "none"));
}

void ThreadTransport::startMessage(dtc_rank &, ChannelEnd &base, void *buffer) {
  auto &end = static_cast<ThreadEnd &>(base);
  Mailbox &mailbox = *end.mailbox;
  Fifo<void *> &mine = end.receives ? mailbox.posted : mailbox.sent;
  Fifo<void *> &theirs = end.receives ? mailbox.sent : mailbox.posted;
  void *other = nullptr;
  uint64_t number;
  {
    std::lock_guard<std::mutex> lock(mailbox.mutex);
    number = mine.pushed();
    *mine.push() = buffer;
    if (theirs.pushed() <= number)
      return; // whoever comes second copies
    other = *theirs.at(number);
  }
  void *from = end.receives ? other : buffer,
       *to = end.receives ? buffer : other;
  if (end.bytes)
    memcpy(to, from, size_t(end.bytes));
  mailbox.delivered.store(number + 1);
  notify(mailbox.bell);
}

void ThreadTransport::finishMessage(dtc_rank &rank, ChannelEnd &base) {
  auto &end = static_cast<ThreadEnd &>(base);
  Mailbox &mailbox = *end.mailbox;
  Port &port = *ports[size_t(rank.id)];
  port.waitingIn.store(&end, std::memory_order_release);
  await(rank, end, mailbox.bell, end.peer, [&] {
    return mailbox.delivered.load(std::memory_order_acquire) >
           uint64_t(end.finished);
  });
  port.waitingIn.store(nullptr, std::memory_order_relaxed);
  std::lock_guard<std::mutex> lock(mailbox.mutex);
  (end.receives ? mailbox.posted : mailbox.sent).pop();
}
