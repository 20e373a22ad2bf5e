//===- MessageCases.h - Messages in all orders ------------------*- C++ -*-===//
//
// Runs on one rank; all ranks run the same cases. Shared by the unit test (with
// threads) and by a program that mpirun starts.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_UNITTESTS_MESSAGECASES_H
#define DTC_UNITTESTS_MESSAGECASES_H

#include "dtc/Runtime/Error.h"
#include "dtc/Runtime/Transport.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>

namespace dtc::test {

/// One channel from each rank to each other, of one size. All ranks make it.
class Exchange {
public:
  Exchange(dtc_rank &rank, int firstNumber, int64_t bytes, int window)
      : rank(rank), bytes(bytes), window(window) {
    auto ranks = int(rank.count);
    for (int peer = 0; peer < ranks; ++peer) {
      auto describe = [&](int from, int to) {
        return dtc_channel{"a case", firstNumber + from * ranks + to,
                           0,        {1, ranks},
                           peer,     bytes};
      };
      int me = int(rank.id);
      out.push_back({describe(me, peer), {}});
      in.push_back({describe(peer, me), {}});
    }
    for (int peer = 0; peer < ranks; ++peer) {
      if (peer == rank.id)
        continue;
      dtc_rt_open(&rank, &out[size_t(peer)].channel, false);
      dtc_rt_open(&rank, &in[size_t(peer)].channel, true);
    }
    rt::barrier(rank);
    rt::confirmChannels(rank);
  }

  void post(int peer) {
    End &end = in[size_t(peer)];
    char *buffer = at(end, end.started++);
    memset(buffer, 0x5a, size_t(bytes) + 1);
    dtc_rt_post(&rank, &end.channel, buffer);
  }
  void send(int peer) {
    End &end = out[size_t(peer)];
    char *buffer = at(end, end.started);
    fill(buffer, int(rank.id), peer, end.started++);
    dtc_rt_send(&rank, &end.channel, buffer);
  }
  void sent(int peer) { dtc_rt_sent(&rank, &out[size_t(peer)].channel); }
  void receive(int peer) {
    End &end = in[size_t(peer)];
    int message = end.finished++;
    const char *buffer = at(end, message);
    dtc_rt_receive(&rank, &end.channel);
    std::vector<char> want(size_t(bytes) + 1, 0x5a);
    fill(want.data(), peer, int(rank.id), message);
    if (memcmp(want.data(), buffer, want.size()) != 0 && error.empty())
      error = rt::cat("rank ", rank.id, ": message ", message, " of ", bytes,
                      " bytes from rank ", peer, " is another");
  }

  std::string error; // the first

private:
  struct End {
    dtc_channel channel;
    std::vector<char> buffers;
    int started = 0, finished = 0;
  };
  char *at(End &end, int message) {
    end.buffers.resize(size_t(window * (bytes + 1)));
    return end.buffers.data() + message % window * (bytes + 1);
  }
  void fill(char *buffer, int from, int to, int message) const {
    for (int64_t i = 0; i < bytes; ++i)
      buffer[i] = char(i * 31 + i / 251 + from * 7 + to * 13 + message * 17);
  }

  dtc_rank &rank;
  int64_t bytes;
  int window;
  std::vector<End> out, in;
};

/// Rounds in which every rank exchanges several messages with every other, in
/// an order of its own: all waits of a round come after the rank's posts and
/// sends of it, so every order is right.
inline std::string shuffledRounds(dtc_rank &rank, int firstNumber,
                                  int64_t bytes, int rounds, int window) {
  Exchange exchange(rank, firstNumber, bytes, window);
  std::mt19937 random(unsigned(rank.id * 1000 + firstNumber));
  auto ranks = int(rank.count);
  for (int round = 0; round < rounds; ++round) {
    // Both kinds of start, then both kinds of wait, `window` of each.
    for (bool wait : {false, true}) {
      std::vector<std::pair<int, bool>> list;
      for (int peer = 0; peer < ranks; ++peer)
        for (int i = 0; i < window && peer != rank.id; ++i)
          for (bool receives : {false, true})
            list.push_back({peer, receives});
      std::shuffle(list.begin(), list.end(), random);
      for (auto [peer, receives] : list) {
        if (wait)
          receives ? exchange.receive(peer) : exchange.sent(peer);
        else
          receives ? exchange.post(peer) : exchange.send(peer);
      }
    }
  }
  return exchange.error;
}

/// A rank sends to the next and posts only when that one has told it so, over
/// another channel: no send waits for its post.
inline std::string latePosts(dtc_rank &rank, int firstNumber, int64_t bytes) {
  Exchange data(rank, firstNumber, bytes, 3),
      token(rank, firstNumber + 100, 1, 1);
  int me = int(rank.id), count = int(rank.count);
  int next = (me + 1) % count, previous = (me + count - 1) % count;
  for (int i = 0; i < 3; ++i)
    data.send(next);
  token.send(next);
  token.post(previous);
  token.receive(previous);
  for (int i = 0; i < 3; ++i)
    data.post(previous);
  for (int i = 0; i < 3; ++i) {
    data.receive(previous);
    data.sent(next);
  }
  token.sent(next);
  return data.error + token.error;
}

/// Both ranks of every pair send to each other before either posts.
inline std::string crossSends(dtc_rank &rank, int firstNumber, int64_t bytes) {
  Exchange exchange(rank, firstNumber, bytes, 1);
  int peer = int(rank.id ^ 1);
  if (peer >= rank.count)
    return "";
  for (int i = 0; i < 20; ++i) {
    exchange.send(peer);
    exchange.post(peer);
    exchange.sent(peer);
    exchange.receive(peer);
  }
  return exchange.error;
}

/// Thousands under way from rank 0 to 1 before the first is posted.
inline std::string manyInFlight(dtc_rank &rank, int firstNumber) {
  constexpr int many = 3000;
  Exchange exchange(rank, firstNumber, 40, many);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < many && rank.id == 0; ++i)
      exchange.send(1);
    rt::barrier(rank);
    for (int i = 0; i < many && rank.id == 1; ++i)
      exchange.post(0);
    for (int i = 0; i < many && rank.id == 1; ++i)
      exchange.receive(0);
    for (int i = 0; i < many && rank.id == 0; ++i)
      exchange.sent(1);
  }
  return exchange.error;
}

/// Returns the first error.
inline std::string runMessages(dtc_rank &rank) {
  int64_t before = rank.bytesSent;
  std::string error;
  int number = 0;
  int64_t expected = 0, peers = rank.count - 1;
  for (int64_t bytes : {0, 1, 4096, 70001}) {
    error += shuffledRounds(rank, number += 1000, bytes, 6, 3);
    expected += peers * 18 * bytes;
  }
  error += latePosts(rank, number += 1000, 1 << 20);
  expected += 3 * (1 << 20) + 1;
  error += crossSends(rank, number += 1000, 1 << 20);
  expected += (rank.id ^ 1) < rank.count ? 20 * (1 << 20) : 0;
  error += manyInFlight(rank, number += 1000);
  // More than one part under MPI.
  if (rank.count == 2) {
    error += shuffledRounds(rank, number += 1000, (int64_t(1) << 26) + 5, 1, 1);
    expected += (int64_t(1) << 26) + 5;
  }
  expected += rank.id == 0 ? 2 * 3000 * 40 : 0;
  int64_t traffic = 0;
  for (auto &[key, item] : rank.messages)
    traffic += item.bytes;
  if (error.empty() && traffic != expected)
    error = rt::cat("rank ", rank.id, ": ", traffic, " bytes counted, not ",
                    expected);
  // The rest are those of barriers.
  if (error.empty() && rank.bytesSent - before < traffic)
    error = rt::cat("rank ", rank.id, ": bytesSent lacks messages");
  rt::checkMessagesFinished(rank);
  return error;
}

} // namespace dtc::test
#endif // DTC_UNITTESTS_MESSAGECASES_H
