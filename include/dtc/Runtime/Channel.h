//===- Channel.h - One end of a channel -------------------------*- C++ -*-===//

#ifndef DTC_RUNTIME_CHANNEL_H
#define DTC_RUNTIME_CHANNEL_H

#include "dtc/Runtime/ABI.h"
#include "dtc/Runtime/Operation.h"

namespace dtc::rt {

/// A rank's end of a channel (dtc_channel): messages of `bytes` bytes from or
/// to rank `peer`, in order. Transports add what they need.
class ChannelEnd : public Operation {
public:
  /// Ends the job where the description is not one of a mesh of `ranks`.
  ChannelEnd(const dtc_channel &channel, int64_t rank, int64_t ranks,
             bool receives);

  /// "'stage 0 to 1: activations' (4096 bytes from rank 1)"
  std::string text() const override;

  const std::string name;
  const int32_t number;
  const int peer;
  const int64_t bytes;
  const bool receives;
  /// Messages posted or sent, and of them those that are complete.
  int64_t started = 0, finished = 0;
};

} // namespace dtc::rt
#endif // DTC_RUNTIME_CHANNEL_H
