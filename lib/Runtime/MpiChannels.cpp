//===- MpiChannels.cpp - Messages between MPI processes -------------------===//

#include "dtc/Runtime/Error.h"
#include "dtc/Runtime/Fifo.h"
#include "dtc/Runtime/MpiTransport.h"

#include <cstdio>
#include <cstring>

using namespace dtc::rt;

namespace {

/// Tags of channels lie above those of collectives and of the job. A channel
/// has two, for its description and for its messages.
constexpr int firstTag = (1 << 30) + 16;
constexpr int maxChannels = (INT32_MAX - firstTag) / 2;

/// MPI counts bytes in an int; longer messages pass in parts.
constexpr int64_t partBytes = int64_t(1) << 26;

/// What both ends tell each other first.
struct Announcement {
  int64_t bytes;
  char name[120];
};

} // namespace

struct MpiTransport::MpiEnd : ChannelEnd {
  MpiEnd(const dtc_channel &channel, const dtc_rank &rank, bool receives)
      : ChannelEnd(channel, rank.id, rank.count, receives),
        requests(parts(bytes)) {}

  /// A message without content is one, too: its sender must have come.
  static size_t parts(int64_t bytes) {
    return size_t(std::max<int64_t>(1, (bytes + partBytes - 1) / partBytes));
  }
  int tag() const { return firstTag + 2 * number; }

  Announcement mine = {}, theirs = {};
  Pending greeting[2];
  /// An entry for each message that is not finished, a request for each part.
  Fifo<Pending> requests;
};

std::unique_ptr<ChannelEnd>
MpiTransport::open(dtc_rank &rank, const dtc_channel &channel, bool receives) {
  auto end = std::make_unique<MpiEnd>(channel, rank, receives);
  if (end->number >= maxChannels)
    fatal(cat("internal error: channel ", end->number, " of at most ",
              maxChannels));
  end->mine.bytes = end->bytes;
  snprintf(end->mine.name, sizeof(end->mine.name), "%s", end->name.c_str());
  size_t size = sizeof(Announcement);
  end->greeting[0] = {mpi.receive(&end->theirs, size, end->peer, end->tag()),
                      end->peer};
  end->greeting[1] = {mpi.send(&end->mine, size, end->peer, end->tag()),
                      end->peer};
  return end;
}

void MpiTransport::confirm(dtc_rank &rank, ChannelEnd &base) {
  auto &end = static_cast<MpiEnd &>(base);
  finish(rank, end, end.greeting, 2);
  if (end.theirs.bytes != end.bytes)
    fatal(cat("rank ", rank.id, " and rank ", end.peer,
              " disagree about channel ", end.number, ": rank ", rank.id,
              " has ", end.text(), ", rank ", end.peer, " has '",
              end.theirs.name, "' (", end.theirs.bytes, " bytes)"));
}

void MpiTransport::startMessage(dtc_rank &, ChannelEnd &base, void *buffer) {
  auto &end = static_cast<MpiEnd &>(base);
  Pending *request = end.requests.push();
  int tag = end.tag() + 1;
  int64_t at = 0;
  do {
    size_t n = size_t(std::min(partBytes, end.bytes - at));
    char *data = static_cast<char *>(buffer) + at;
    *request++ = {end.receives ? mpi.receive(data, n, end.peer, tag)
                               : mpi.send(data, n, end.peer, tag),
                  end.peer};
    at += partBytes;
  } while (at < end.bytes);
}

void MpiTransport::finishMessage(dtc_rank &rank, ChannelEnd &base) {
  auto &end = static_cast<MpiEnd &>(base);
  finish(rank, end, end.requests.front(), MpiEnd::parts(end.bytes));
  end.requests.pop();
}
