//===- Channel.cpp - Messages from one rank to one other ------------------===//

#include "dtc/Runtime/Channel.h"
#include "dtc/Runtime/Error.h"
#include "dtc/Runtime/Transport.h"

using namespace dtc::rt;

static int findPeer(const dtc_channel &channel, int64_t rank, int64_t ranks) {
  const dtc_axis &axis = channel.axis;
  bool inMesh = axis.stride >= 1 && axis.size >= 1 &&
                ranks % axis.stride == 0 &&
                ranks / axis.stride % axis.size == 0 && channel.peer >= 0 &&
                channel.peer < axis.size;
  int64_t mine = inMesh ? rank / axis.stride % axis.size : 0;
  if (!inMesh || mine == channel.peer || channel.bytes < 0 ||
      channel.number < 0)
    fatal(cat("internal error: rank ", rank, " of ", ranks, ": channel ",
              channel.number, " has ", channel.bytes,
              " bytes and goes to coordinate ", channel.peer, " of an axis of ",
              axis.size, " (stride ", axis.stride, ")"));
  return int(rank + (channel.peer - mine) * axis.stride);
}

ChannelEnd::ChannelEnd(const dtc_channel &channel, int64_t rank, int64_t ranks,
                       bool receives)
    : name(channel.name ? channel.name : "?"), number(channel.number),
      peer(findPeer(channel, rank, ranks)), bytes(channel.bytes),
      receives(receives) {}

std::string ChannelEnd::text() const {
  return cat("'", name, "' (", bytes, bytes == 1 ? " byte " : " bytes ",
             receives ? "from" : "to", " rank ", peer, ")");
}

static ChannelEnd &find(dtc_rank &rank, const dtc_channel &channel,
                        bool receives) {
  auto it = rank.channels.find({channel.number, receives});
  if (it == rank.channels.end())
    fatal(cat("internal error: ", whereText(rank), ": channel ", channel.number,
              " is not open to ", receives ? "receive" : "send"));
  ChannelEnd &end = *it->second;
  if (end.bytes != channel.bytes)
    fatal(cat("internal error: ", whereText(rank), ": channel ", channel.number,
              " is ", end.text(), " and has ", channel.bytes, " bytes now"));
  return end;
}

void dtc_rt_open(dtc_rank *rank, const dtc_channel *channel, int32_t receives) {
  std::unique_ptr<ChannelEnd> &end =
      rank->channels[{channel->number, receives != 0}];
  if (end)
    fatal(cat("internal error: ", whereText(*rank), ": channel ",
              channel->number, " is opened twice"));
  end = rank->transport->open(*rank, *channel, receives != 0);
}

void dtc::rt::confirmChannels(dtc_rank &rank) {
  for (auto &[key, end] : rank.channels)
    rank.transport->confirm(rank, *end);
}

static void finish(dtc_rank &rank, const dtc_channel &channel, bool receives) {
  ChannelEnd &end = find(rank, channel, receives);
  if (end.started == end.finished)
    fatal(cat("internal error: ", whereText(rank), ": waits for ", end.text(),
              ", of which nothing is ", receives ? "posted" : "sent"));
  TraceSpan span(rank, receives ? "receive" : "sent", end.name.c_str(),
                 TraceLane::Communication);
  rank.transport->finishMessage(rank, end);
  ++end.finished;
}

void dtc_rt_post(dtc_rank *rank, const dtc_channel *channel, void *buffer) {
  ChannelEnd &end = find(*rank, *channel, true);
  TraceSpan span(*rank, "post", end.name.c_str(), TraceLane::Communication);
  rank->transport->startMessage(*rank, end, buffer);
  ++end.started;
}

void dtc_rt_receive(dtc_rank *rank, const dtc_channel *channel) {
  finish(*rank, *channel, true);
}

void dtc_rt_send(dtc_rank *rank, const dtc_channel *channel,
                 const void *buffer) {
  ChannelEnd &end = find(*rank, *channel, false);
  TraceSpan span(*rank, "send", end.name.c_str(), TraceLane::Communication);
  rank->transport->startMessage(*rank, end, const_cast<void *>(buffer));
  ++end.started;
  rank->bytesSent += end.bytes;
  Traffic &traffic = rank->messages[end.number];
  ++traffic.calls;
  traffic.bytes += end.bytes;
}

void dtc_rt_sent(dtc_rank *rank, const dtc_channel *channel) {
  finish(*rank, *channel, false);
}

void dtc::rt::checkMessagesFinished(const dtc_rank &rank) {
  for (const auto &[key, end] : rank.channels)
    if (end->started != end->finished)
      throw Error(cat(whereText(rank), ": the step ends, ",
                      end->started - end->finished, " of ", end->started,
                      " messages of ", end->text(), " are not waited for"));
}
